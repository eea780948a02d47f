# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs traceanalyze, builds samples/plugin against it, and uses the plugin.

Ends with 77, "skipped", when the build lies where plugins may not come from, such as /tmp.
"""
import argparse
import json
import os
import pathlib
import re
import shutil

import reports
from installs import need_trust, run

TRACE = {
    "distributedInfo": {"rank": 3, "world_size": 4},
    "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "long", "pid": 0, "tid": 7, "ts": 100, "dur": 50,
         "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "short", "pid": 0, "tid": 7, "ts": 200, "dur": 15,
         "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "short", "pid": 0, "tid": 7, "ts": 300, "dur": 5,
         "args": {"device": 0, "stream": 7}},
    ],
}


def report_of(program, trace, *options):
    done = run(program, "report", "--json", trace, *options)
    return reports.Report(done.stdout).tables["short_kernels.by_rank"]


def build_sample(args, prefix):
    build = args.work / "sample"
    run(args.cmake, "-S", args.source / "samples/plugin", "-B", build,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={args.compiler}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Werror")
    run(args.cmake, "--build", build)
    return build / "short_kernels.so"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cmake", "compiler"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("build", "source", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    os.umask(0o022)
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    need_trust(args.work)

    prefix = args.work / "prefix"
    run(args.cmake, "--install", args.build, "--prefix", prefix)
    program = prefix / "bin/traceanalyze"
    plugin = build_sample(args, prefix)
    trace = args.work / "rank3.json"
    trace.write_text(json.dumps(TRACE), encoding="utf-8")

    # By file, by folder with an option, and by the environment.
    rows = report_of(program, trace, "--plugin-path", plugin)
    assert rows == [{"rank": 3, "kernels": 3, "short": 1, "short_share": 1 / 3,
                     "short_total_ns": 5000, "time_share": 5 / 70}], rows
    rows = report_of(program, trace, "--plugin-path", plugin.parent,
                     "--set", "short_kernels.below=20us")
    assert (rows[0]["short"], rows[0]["short_total_ns"]) == (2, 20000), rows
    listed = run(program, "plugins", "--json",
                 env={**os.environ, "TRACEANALYZE_PLUGIN_PATH": str(plugin.parent)})
    origins = {p["id"]: p["origin"] for p in json.loads(listed.stdout)["plugins"]}
    assert origins["short_kernels"] == str(plugin), origins

    # Plugins against other headers: older ones that are kept, and these with one change.
    changed = args.work / "changed"
    shutil.copytree(prefix / "include", changed)
    made = changed / "traceanalyze/headers.h"
    made.write_text(re.sub(r"0x[0-9a-f]{16}", "0x0123456789abcdef", made.read_text()))
    for headers, source in ((args.source / "tests/plugin/older", "tests/plugin/older.c"),
                            (changed, "samples/plugin/short_kernels.c")):
        other = args.work / "other.so"
        run(args.compiler, "-shared", "-fPIC", "-I", headers, "-o", other, args.source / source)
        done = run(program, "report", "--json", trace, "--plugin-path", other, expect=2)
        assert f"{other} was built with other headers" in done.stderr, done.stderr


if __name__ == "__main__":
    main()
