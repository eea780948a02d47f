# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of Holistic Trace Analysis about the raw memory timeline of PyTorch."""
import gzip
import itertools
import json

from .ledger import THEIRS, Rule

TIMELINE = Rule(
    THEIRS, "Memory timeline of raw events",
    "A list of times, actions and sizes that PyTorch writes apart; no trace, and not read.")


def rows_of(path, categories):
    """[time, bytes of each category] after each time of the list; what was there before the list
    comes first, at the smallest time."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)
    first = min(event[0] for event in events if event[0] > 0)
    sums, rows = [0] * categories, []
    for time, group in itertools.groupby(events, key=lambda event: event[0]):
        for _, _, size, category in group:
            sums[category] += size
        rows.append([time if time > 0 else first, *sums])
    return rows


def check(case, path):
    names = case.at("columns")[1:]
    rows = rows_of(path, len(names))
    peak = max(rows, key=lambda row: sum(row[1:]))
    figures = {("rows_after_merging_equal_times",): len(rows), ("time_min",): rows[0][0],
               ("time_max",): rows[-1][0], ("final_total_bytes",): sum(rows[-1][1:]),
               ("peak_total_bytes",): sum(peak[1:]), ("peak_total_at_time",): peak[0]}
    for i, name in enumerate(names, 1):
        figures["final_bytes", name] = rows[-1][i]
        figures["peak_bytes_per_category", name] = max(row[i] for row in rows)
        figures["breakdown_at_peak", name] = peak[i]
    for part, chosen in (("first_rows", rows), ("row_every_1000", rows[::1000])):
        for leaf in case.below(part):
            figures[leaf] = chosen[leaf[1]][leaf[2]]
    for leaf, value in figures.items():
        case.check(leaf, None, [(TIMELINE, value)])
