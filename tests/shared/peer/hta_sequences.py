# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel sequences below operators of Holistic Trace Analysis 0.6.1."""
import collections

from .ledger import THEIRS, Rule

SEQUENCES = Rule(
    THEIRS, "Kernel sequences below operators of a name",
    "What the outermost operators of a name launch, in the order of start. Fails on most traces of "
    "today. fusion.chains has what runs in a row on a stream, with what one kernel in its place "
    "would save.")
COUNT, DEVICE, HOST = "count", "GPU kernel duration (us)", "CPU op duration (us)"


def nested(rows, work, root_depth):
    """(row, depth, rows of the device below) of one thread, whose outermost rows have a depth of
    `root_depth` of them."""
    out, stack = [], []
    for row in sorted(rows, key=lambda row: (row.ts, -row.dur)):
        while stack and stack[-1][0].end <= row.ts:
            stack.pop()
        depth = stack[-1][1] + 1 if stack else root_depth(row)
        entry = row, depth, []
        out.append(entry)
        stack.append(entry)
        for _, _, below in stack:
            below.extend(work.get(row, ())[-1:])
    return out


def stacks(model):
    """All of the host. Threads of the backward pass hang below its marker, or below that of the
    step."""
    work, threads = collections.defaultdict(list), collections.defaultdict(list)
    for row, call in model.launch.items():
        if row.stream > 0:
            work[call].append(row)
    for row in model.rows:
        if row.stream == -1:
            threads[row.span.pid, row.span.tid].append(row)
    backward = [rows for rows in threads.values()
                if any(row.name.startswith("autograd::engine") for row in rows)
                and not any(row.name.startswith("ProfilerStep") for row in rows)]
    out = []
    for rows in threads.values():
        if rows not in backward:
            out += nested(rows, work, lambda row: 0)
    marks = [(row, depth) for row, depth, _ in out
             if row.name.startswith(("## backward ##", "ProfilerStep"))]

    def below_mark(row):
        return max((depth + 1 for mark, depth in marks if mark.ts <= row.ts <= mark.end),
                   default=0)

    for rows in backward:
        out += nested(rows, work, below_mark)
    return out


def sequences(stacked, name):
    """{names: [number, time of the device, time of the host]}"""
    found = [entry for entry in stacked if name in entry[0].name and entry[2]]
    least = min((depth for _, depth, _ in found), default=None)
    out = collections.defaultdict(lambda: [0, 0, 0])
    for row, depth, below in found:
        if depth == least:
            below = sorted(below, key=lambda row: row.ts)
            sums = out["|".join([row.name, *(work.name for work in below)])]
            sums[0] += 1
            sums[1] += sum(work.dur for work in below)
            sums[2] += row.dur
    return out


def check(case, at, model):
    stacked = None
    for name, entry in case.at(*at).items():
        if "error" in entry:
            continue
        stacked = stacked or stacks(model)
        found = sequences(stacked, name)
        case.check((*at, name, "patterns"), None, [(SEQUENCES, len(found))])
        for index, row in enumerate(entry["top"]):
            if row["pattern"] in found:
                for key, value in zip((COUNT, DEVICE, HOST), found[row["pattern"]]):
                    case.check((*at, name, "top", index, key), None, [(SEQUENCES, value)])
