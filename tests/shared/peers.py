#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares each figure of other tools about real traces with ours.

usage: peers.py --program PROGRAM --shared FOLDER [--tool NAME] [--only TEXT] [-v]
"""
import argparse
import json
import pathlib
import sys

from peer import hta, tracelens
from reports import Run

TOOLS = {"hta": hta, "tracelens": tracelens}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--tool", choices=sorted(TOOLS))
    parser.add_argument("--only", default="", help="goldens whose name holds this text")
    parser.add_argument("-v", action="store_true", help="show all that is not explained")
    args = parser.parse_args()
    run, faulty = Run(args.program), 0
    for name in [args.tool] if args.tool else TOOLS:
        tool = TOOLS[name]
        goldens = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in
                   sorted((args.shared / "data/goldens" / tool.FOLDER).rglob("*.json"))]
        ledger = tool.check(goldens, args.shared / "data/traces", run, args.only)
        print(ledger.name, dict(ledger.counts()))
        for rule, entries in ledger.by_rule():
            print(f"  {len(entries):6} {rule.verdict:10} {rule.title}")
        for case in ledger.cases:
            left = case.unexplained()
            faulty += len(left)
            for path, value in left if args.v else left[:6]:
                print(f"{case.trace}: {'/'.join(map(str, path))}: {value!r} is not explained")
            if len(left) > 6 and not args.v:
                print(f"{case.trace}: {len(left)} in all")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
