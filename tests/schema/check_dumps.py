#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds every dump of ../shared and of samples/ against the schema of its format.

usage: check_dumps.py --root REPOSITORY

A JSON, CSV or pickle file that no schema is for fails the test, as does a schema without a file
where ../shared is there.  Pickles are read by an unpickler that knows no classes.
"""
import argparse
import collections
import csv
import gzip
import io
import json
import pathlib
import pickle
import re
import sys

SKIPPED = 77
EVENTS = 300

# By the name of the file; the first that fits.
SCHEMAS = (
    (r"(raw_profiling_data_.*)\.json", "inferix-raw-1"),
    (r"summary_rank.*\.json", "inferix-flat-1"),
    (r"aggregated_(profiling_)?report\.json", "inferix-aggregate-1"),
    (r"benchmark_results\.json", "inferix-stream-1"),
    (r"profiling_report_.+\.json", "inferix-report-1"),
    (r"profiling_report\.json", "framepack-report-1"),
    (r"memory_log\.json", "framepack-memory-log-1"),
    (r"diffulex_stats\.json", "diffulex-statistics-1"),
    (r".*_decode_trajectory\.json", "diffulex-trajectories-1"),
    (r".*\.summary\.json", "diffulex-operators-1"),
    (r"profile_[0-9_]+\.json", "diffulex-sections-1"),
    (r"(wan_step_profile|sglang-perf)\.json", "sglang-perf-1"),
    (r"vllm-omni.*\.json", "vllm-omni-benchmark-1"),
    (r"profiler_info(_\d+)?\.json", "ascend-profiler-info-1"),
    (r"(viztracer/.*|viztracer_.*)\.json(\.gz)?", "viztracer-1"),
    (r".*trace.*\.json(\.gz)?", "chrome-trace-1"),
    (r".*\.pickle", "torch-memory-snapshot-1"),
    (r"profile_[0-9_]+\.csv", "diffulex-sections-table-1"),
    (r"stage_timing\.csv", "diffulex-stage-timing-1"),
    (r"(.*\.summary|torch_profile_(markers|top_ops))\.csv", "diffulex-operators-table-1"),
    (r"kernel_details\.csv", "ascend-kernel-details-1"),
    (r"op_statistic\.csv", "ascend-op-statistic-1"),
    (r"step_trace_time\.csv", "ascend-step-trace-1"),
)
# The columns of nvidia-smi are whatever was asked for.
NOT_A_DUMP = re.compile(r"nvidia-smi\.csv|expected\.json|contract\.json|.*_expected_diff\.json")
# A text was written over this trace, as its README says.
BROKEN = "viztracer_v3_overwritten/viztracer_batch_1.json"
# Traces of the samples have megabytes each; tests/samples has them.
LARGE = "video-4ranks"


class NoClasses(pickle.Unpickler):
    def find_class(self, module, name):
        raise ValueError(f"the pickle names {module}.{name}")


def plain(value):
    """Tuples as arrays and keys as texts, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): plain(below) for key, below in value.items()}
    return [plain(below) for below in value] if isinstance(value, (list, tuple)) else value


def load(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if path.suffix == ".pickle":
        return plain(NoClasses(io.BytesIO(data)).load())
    text = data.decode("utf-8-sig")
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(text)))
    return json.loads(text, parse_constant=lambda _: None)


def beginning(document):
    """The first events of a trace stand for all of them."""
    if isinstance(document, list):
        return document[:EVENTS]
    return {**document, "traceEvents": document["traceEvents"][:EVENTS]}


def schema_of(path):
    for pattern, name in SCHEMAS:
        named = f"{path.parent.name}/{path.name}" if "/" in pattern else path.name
        whole = f"{path.parent.parent.name}/{path.name}" if "/" in pattern else path.name
        if re.fullmatch(pattern, named) or re.fullmatch(pattern, whole):
            return name
    return None


def dumps(root):
    for folder in (root / "samples", root.parent / "shared/data/dumps"):
        for path in sorted(folder.rglob("*")):
            if (path.is_file() and re.search(r"\.(json|json\.gz|csv|pickle)$", path.name)
                    and not NOT_A_DUMP.fullmatch(path.name) and LARGE not in str(path)
                    and not str(path).endswith(BROKEN)):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    root = parser.parse_args().root.resolve()
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return SKIPPED
    validators, used, faults = {}, collections.Counter(), 0
    for name in {name for _, name in SCHEMAS}:
        schema = json.loads((root / f"schemas/{name}.schema.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        schema.pop("$id")  # a relative one, which some versions resolve "#/…" against twice
        validators[name] = Draft202012Validator(schema)
    for path in dumps(root):
        name = schema_of(path)
        if not name:
            print(f"{path}: there is no schema for it")
            faults += 1
            continue
        used[name] += 1
        document = load(path)
        if name in ("chrome-trace-1", "viztracer-1"):
            document = beginning(document)
        for error in list(validators[name].iter_errors(document))[:2]:
            print(f"{path}: {name}: {error.json_path}: {error.message[:200]}")
            faults += 1
    if (root.parent / "shared/data/dumps").is_dir():
        for name in sorted(set(validators) - set(used)):
            print(f"{name}: no dump was held against it")
            faults += 1
    print(f"{used.total()} dumps and {len(used)} schemas, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
