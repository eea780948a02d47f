#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the schemas of Inferix's files against documents: what fits, and what must not.

usage: check_inferix.py --root REPOSITORY

Real dumps in ../shared are checked as well where that folder is.
"""
import argparse
import json
import pathlib
import sys

SKIPPED = 77

SAMPLE = {"timestamp": 1.5, "metrics": {"gpu_devices": {"gpu_0": {"device_id": 0}}}}

# By schema: names of real files, documents that fit, documents that must not.
FORMATS = {
    "inferix-report-1": ("profiling_report_*.json", [
        {"session_info": {}},
        {"session_info": {"id": "a", "tags": {"rank": "3"}}, "events": [
            {"name": "diffusion_step", "data": {"step": "3", "timestep": None}}]},
        {"session_info": {}, "gpu_metrics": {"timeline": []}, "cache_analysis": {}},
    ], [
        [], {}, {"session_info": []}, {"session_info": {}, "events": {}},
        {"session_info": {}, "events": [{"data": {}}]},
        {"session_info": {}, "events": [{"name": "a", "data": {"step": "x"}}]},
        {"session_info": {}, "stage_analysis": {"stages": {"a": {"total_time": []}}}},
        {"session_info": {}, "recommendations": [{"issue": 5}]},
    ]),
    "inferix-raw-1": ("raw_profiling_data_*.json", [
        {"gpu_data": [SAMPLE], "cpu_data": [], "session_id": "a", "saved_at": 2},
        {"cpu_data": [{"timestamp": 1, "metrics": {"cpu_usage_percent": 0.0}}]},
    ], [
        {}, {"gpu_data": {}}, {"gpu_data": [{"timestamp": 1}]},
        {"gpu_data": [{"timestamp": [], "metrics": {}}]},
        {"gpu_data": [{"timestamp": 1, "metrics": {"gpu_devices": []}}]},
    ]),
    "inferix-flat-1": ("summary_rank*.json", [
        {"profiling_enabled": False},
        {"profiling_enabled": True, "gpu": {"memory_used_mb": 1}, "tags": {"rank": 0}},
    ], [{}, {"profiling_enabled": "yes"}, {"profiling_enabled": True, "gpu": 5}]),
    "inferix-aggregate-1": ("aggregated_report.json", [
        {"aggregated_gpu_metrics": {}},
        {"aggregated_cpu_metrics": {"a_max": 1}, "reports_summary": [{"rank": "unknown"}]},
    ], [{}, {"aggregated_gpu_metrics": {"a": []}},
        {"aggregated_gpu_metrics": {}, "reports_summary": {}}]),
    "inferix-stream-1": ("benchmark_results.json", [
        {"block_level": {"fps": 0}, "segment_level": {}},
    ], [{}, {"block_level": {}}, {"block_level": {"fps": {}}, "segment_level": {}}]),
}


def fail(text):
    print(text)
    sys.exit(1)


def check_format(validator, name, fits, wrong):
    for document in fits:
        if not validator.is_valid(document):
            fail(f"{name} refuses {document}")
    for document in wrong:
        if validator.is_valid(document):
            fail(f"{name} accepts {document}")


def check_real(validator, name, pattern, dumps):
    """Number of real files, which fit; NaN and infinities are read as missing."""
    files = sorted(dumps.rglob(pattern))
    for path in files:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
        for error in validator.iter_errors(document):
            fail(f"{path} does not fit {name}: {list(error.path)}: {error.message[:200]}")
    return len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    root = parser.parse_args().root.resolve()
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return SKIPPED
    real = 0
    for name, (pattern, fits, wrong) in FORMATS.items():
        schema = json.loads((root / f"schemas/{name}.schema.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        check_format(validator, name, fits, wrong)
        real += check_real(validator, name, pattern, root.parent / "shared/data/dumps/inferix")
    print(f"{len(FORMATS)} schemas accept and refuse what they should; {real} real files fit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
