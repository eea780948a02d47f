#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parallel degrees that make ranks communicate more than they need to, in simulated runs, and right
ones, of which nothing is said.

usage: test_degrees.py TRACEANALYZE
"""
import pathlib
import sys

import simulate
import test_collectives

OPS = ("all_to_all",) * 4


def finding(**plan):
    plan = simulate.Plan(**{"steps": 6, "ops": OPS, "description": "ulysses", "transfer": 900_000,
                            "spread": 0, **plan})
    found = test_collectives.report(simulate.simulate(plan)).finding("exposed-comm")
    return found and {key: (found[key] or "").replace("\u00a0", " ")
                      for key in ("title", "advice")}


def main():
    test_collectives.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    wrong = []

    def expect(what, found, title, advice=""):
        if not found or title not in found["title"] or advice not in found["advice"]:
            wrong.append(f"{what}: {found}")

    def silent(what, found):
        if not found or "span" in found["title"] or "guidance" in found["title"]:
            wrong.append(f"{what}: {found}")

    apart = [[i, i + 8] for i in range(8)]
    expect("groups across nodes", finding(ranks=16, groups=apart),
           "Groups of sequence parallelism span 2 nodes: all_to_all is exposed for ",
           "Order the ranks so that the 2 of each group share a node")
    expect("one group over all nodes", finding(ranks=16),
           "Groups of sequence parallelism span 2 nodes",
           "Keep its degree to the 8 GPUs of a node")
    expect("both passes on all ranks", finding(ranks=4, passes="transformer"),
           "Both guidance passes of a step run on all 4 ranks: all_to_all is exposed for ",
           "Run each pass on half of the ranks (CFG parallel, degree 2): groups of 2 send 33.3 % "
           "less.")
    expect("on two ranks", finding(ranks=2, passes="transformer"),
           "Both guidance passes of a step run on all 2 ranks",
           "then only the results of a step are exchanged")
    silent("groups in nodes",
           finding(ranks=16, groups=[[2 * i, 2 * i + 1] for i in range(8)]))
    silent("one node", finding(ranks=8))
    silent("one pass", finding(ranks=4))
    silent("groups of half of the ranks",
           finding(ranks=4, groups=[[0, 1], [2, 3]], passes="transformer"))
    silent("ring attention across nodes", finding(ranks=16, groups=apart, description="ring"))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
