#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions and options of the recording are in the first line, however exporters write them.

usage: test_identity.py --program TRACEANALYZE
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

KERNEL = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": 10,
          "args": {"device": 0, "stream": 7}}
# members of the trace → what the line says and does not say
CASES = (
    ({"cuda_runtime_version": 12080, "cuda_driver_version": 13000},
     ("CUDA 12.8 (driver 13.0)",), ()),
    ({"cuda_runtime_version": "12.8", "cuda_driver_version": "13.0"},
     ("CUDA 12.8 (driver 13.0)",), ()),
    ({"cuda_runtime_version": "12080"}, ("CUDA 12.8",), ("driver",)),
    ({"hip_runtime_version": "6.4.43483"}, ("HIP 6.4",), ("6.4.4",)),
    ({"hip_runtime_version": 60443483}, ("HIP 6.4",), ()),
    ({"cuda_runtime_version": "unknown"}, (), ("CUDA",)),
    ({"cuda_runtime_version": "12.x"}, (), ("CUDA",)),
    ({"cuda_runtime_version": "-12.8"}, (), ("CUDA",)),
    ({"cuda_runtime_version": 3}, (), ("CUDA",)),
    ({"with_stack": 1, "record_shapes": 0}, ("recorded with Python stacks",), ("shapes",)),
    ({"with_stack": True, "record_shapes": False}, ("recorded with Python stacks",), ("shapes",)),
    ({"with_stack": "True", "record_shapes": "False"}, ("recorded with Python stacks",),
     ("shapes",)),
    ({"with_stack": 1, "record_shapes": True, "profile_memory": "true"},
     ("recorded with Python stacks, shapes and memory",), ()),
    ({"with_stack": None, "record_shapes": []}, (), ("recorded with",)),
)


def line(program, members, folder):
    path = folder / "rank0.json"
    path.write_text(json.dumps({"schemaVersion": 1, **members, "traceEvents": [KERNEL]}),
                    encoding="utf-8")
    text = subprocess.run([program, "--no-config", "report", "-q", path, "--format", "text",
                           "-o", "-"], check=True, capture_output=True, text=True,
                          timeout=120).stdout
    return re.sub(r"\s+", " ", text.split("\n\n")[0])


def main():
    program, faults = sys.argv[2], []
    with tempfile.TemporaryDirectory(prefix="identity-") as folder:
        for members, there, absent in CASES:
            said = line(program, members, pathlib.Path(folder))
            faults += [f"{members}: {said!r} lacks {part!r}" for part in there if part not in said]
            faults += [f"{members}: {said!r} has {part!r}" for part in absent if part in said]
    print("\n".join(faults) or f"{len(CASES)} recordings")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
