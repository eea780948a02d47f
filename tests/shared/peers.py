#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares each figure of other tools about real traces with ours.

usage: peers.py --program PROGRAM --shared FOLDER [--document docs/PEERS.md] [--tool NAME]
       [--only TEXT] [--jobs N] [-v]

A figure is equal to one of our report, follows from the trace by the definition of the other tool -
then a rule tells why ours is another - or is a fault. The tables of the document must be what comes
out here; with TA_UPDATE_PEERS=1 they are written.
"""
import argparse
import collections
import concurrent.futures
import gc
import json
import os
import pathlib
import sys

from peer import diffs, diffusion, document, hta, tb_plugin, tracelens
from reports import Run

TOOLS = {"hta": hta, "tracelens": tracelens, "tb_plugin": tb_plugin, "diffusion": diffusion,
         "diffs": diffs}


def show(ledger, everything):
    """Prints what became of the figures of a tool; the number of those that are not explained."""
    faulty = 0
    print(f"{ledger.name}: " + ", ".join(f"{count} {verdict}"
                                         for verdict, count in ledger.counts().most_common()))
    for rule, entries in ledger.by_rule():
        print(f"  {len(entries):6} {rule.verdict:14} {rule.title}")
    for case in ledger.cases:
        left = case.unexplained()
        faulty += len(left)
        for path, value in left if everything else left[:6]:
            print(f"{case.trace}: {'/'.join(map(str, path))}: {value!r} is not explained")
        if len(left) > 6 and not everything:
            print(f"{case.trace}: {len(left)} in all")
    return faulty


def check_document(args, ledgers, reports):
    path = args.document
    text = path.read_text(encoding="utf-8")
    wanted = document.filled(text, document.blocks(
        ledgers, reports, args.shared / "data/traces", Run(args.program)))
    if text == wanted:
        return 0
    if os.environ.get("TA_UPDATE_PEERS"):
        path.write_text(wanted, encoding="utf-8")
        print(f"{path}: written")
        return 0
    print(f"{path}: its tables are not what came out; TA_UPDATE_PEERS=1 writes them")
    return 1


def check_trace(goldens, args):
    """[(tool, ledger)] of the goldens of one trace, which is read once, and the reports that were
    made, by their folder."""
    run, ledgers = Run(args.program), []
    gc.disable() # millions of objects that stay until the end
    for tool, path in goldens:
        golden = json.loads(path.read_text(encoding="utf-8"))
        ledgers.append((tool, TOOLS[tool].check([(path, golden)], args.shared / "data/traces", run,
                                                args.only)))
    gc.enable()
    gc.collect()
    return ledgers, {file.parent.name: report for file, report in run.made.items()}


def check_all(args):
    """{tool: ledger} and the reports, one trace after the other on each process."""
    tools = [args.tool] if args.tool else list(TOOLS)
    goldens = [(tool, path) for tool in tools for path in
               sorted((args.shared / "data/goldens" / TOOLS[tool].FOLDER).rglob("*.json"))]
    traces = collections.defaultdict(list)
    for tool, path in goldens:
        traces[tool == "diffs", path.stem].append((tool, path))
    parts, reports = {}, {}
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        work = pool.map(check_trace, traces.values(), [args] * len(traces))
        for key, (ledgers, made) in zip(traces, work):
            reports.update(made)
            for (tool, path), (_, ledger) in zip(traces[key], ledgers):
                parts[tool, path] = ledger
    ledgers = {}
    for tool, path in goldens:
        ledger = ledgers.setdefault(tool, parts[tool, path])
        if ledger is not parts[tool, path]:
            ledger.cases += parts[tool, path].cases
    return ledgers, reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--document", type=pathlib.Path)
    parser.add_argument("--tool", choices=sorted(TOOLS))
    parser.add_argument("--only", default="", help="goldens whose name holds this text")
    parser.add_argument("--jobs", type=int, help="processes; without, one per core")
    parser.add_argument("-v", action="store_true", help="show all that is not explained")
    args = parser.parse_args()
    ledgers, reports = check_all(args)
    faulty = sum(show(ledger, args.v) for ledger in ledgers.values())
    if args.document and not args.tool and not args.only:
        faulty += check_document(args, ledgers, reports)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
