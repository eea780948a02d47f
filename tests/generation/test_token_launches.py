#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helps a program that launches too slowly: a language model that makes token after token
needs a cache of fixed size before a graph can be replayed, other programs do not.

usage: test_token_launches.py --program PROGRAM
"""
import argparse
import json
import pathlib
import sys
import tempfile

import reports


def trace(rows, with_attention):
    """Operators of 5 µs of GPU time, launched every 50 µs; `rows` of each GEMM."""
    events, now, number = [], 100, 0

    def add(category, name, start, length, args, thread=1):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if thread == 7 else 1,
                       "tid": thread, "ts": start, "dur": length, "args": args})

    for i in range(200):
        is_attention = with_attention and i % 5 == 4
        name = "aten::_flash_attention_forward" if is_attention else "aten::mm"
        kernel = "flash_fwd_splitkv_kernel" if is_attention else "nvjet_sm90_tst_64x8_64x16"
        dims = [[1, 16, rows, 64]] * 3 if is_attention else [[rows, 2048], [2048, 2048]]
        number += 1
        add("cpu_op", name, now, 45, {"Input Dims": dims,
                                      "Input type": ["c10::BFloat16"] * len(dims)})
        add("cuda_runtime", "cudaLaunchKernel", now + 30, 10, {"correlation": number})
        add("kernel", kernel, now + 45, 5, {"correlation": number, "device": 0, "stream": 7,
                                            "grid": [64, 1, 1], "block": [128, 1, 1]}, 7)
        now += 50
    return {"schemaVersion": 1, "traceEvents": events}


def advice(program, rows, with_attention):
    with tempfile.TemporaryDirectory(prefix="tokens-") as folder:
        path = pathlib.Path(folder, "rank0.json")
        path.write_text(json.dumps(trace(rows, with_attention)), encoding="utf-8")
        found = [f for f in reports.read(program, path).findings if f["id"] == "launch-bound"]
    assert found, (rows, with_attention)
    return found[0]["advice"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    for rows, with_attention, is_tokens in ((1, True, True), (1, False, False), (64, True, False)):
        text = advice(program, rows, with_attention)
        assert ("KV cache" in text) == is_tokens, (rows, with_attention, text)
        assert ("Capture the step" in text) != is_tokens, (rows, with_attention, text)


if __name__ == "__main__":
    sys.exit(main())
