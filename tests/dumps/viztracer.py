# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces of functions as VizTracer writes them: by exit, with recursion and noise in durations."""
import decimal
import fractions
import json

import dress
import figures as f


class Process:
    """One process: its events, and the calls of each function with their self time."""

    def __init__(self, chance, pid):
        self.chance, self.pid, self.events, self.calls = chance, pid, [], {}
        self.now = 2886866907173 + chance.randrange(10**9)  # ns
        for name, value in (("process_name", "rank %d" % pid), ("thread_name", "MainThread")):
            self.events.append({"ph": "M", "pid": pid, "tid": pid, "name": name,
                                "args": {"name": value}})

    def call(self, depth):
        """A call, with those that it makes before it."""
        name = "%s (/src/видео %d.py:%d)" % (self.chance.choice("fgh"), depth % 3, depth % 3 + 4)
        start = self.now
        self.now += self.chance.randrange(300, 10**6)
        inside = 0
        while depth < 9 and self.chance.random() < 0.5:
            inside += self.call(depth + self.chance.randrange(1, 3))
            self.now += self.chance.randrange(0, 10**5)
        self.now += self.chance.randrange(300, 10**6)
        spent = self.now - start
        self.events.append({"pid": self.pid, "tid": self.pid, "ts": start / 1000, "ph": "X",
                            "dur": spent / 1000 + self.chance.choice([0, 1.3e-8, -1.1e-8]),
                            "name": name, "cat": "FEE"})
        self.calls.setdefault(name, []).append((spent, spent - inside))
        return spent


def rows_of(processes):
    rows = []
    for name in sorted({name for p in processes for name in p.calls}):
        calls = [call for p in processes for call in p.calls.get(name, [])]
        spent = [c[0] for c in calls]
        rows.append({"category": "FEE", "name": name, "calls": len(spent), "total_ns": sum(spent),
                     "self_ns": sum(c[1] for c in calls), "min_ns": min(spent),
                     "max_ns": max(spent),
                     "mean_ns": f.plain(fractions.Fraction(sum(spent), len(spent))),
                     "p50_ns": f.plain(f.quantile(spent, decimal.Decimal("0.5")))})
    return rows


def make(chance, folder):
    """One file per process, sometimes with the one that holds them all; no event counts twice."""
    processes = [Process(chance, pid) for pid in range(chance.choice([1, 1, 2, 5]))]
    documents = []
    for process in processes:
        for _ in range(chance.randrange(1, 6)):
            process.call(0)
            process.now += chance.randrange(0, 10**6)
        documents.append({"traceEvents": process.events, "viztracer_metadata": {
            "version": "1.1.1", "overflow": False, "baseTimeNanoseconds": 1795219294474513083}})
        dress.write_json(chance, folder / ("part_%d.json" % process.pid), documents[-1])
    if len(documents) > 1:
        shift = chance.choice([0, 0, 12345.5])  # starts may have been aligned
        events = [{**e, "ts": e["ts"] - shift} if "ts" in e else e
                  for d in documents for e in json.loads(json.dumps(d["traceEvents"]))]
        dress.write_json(chance, folder / "combined.json", {**documents[0], "traceEvents": events})
    return {"ops.by_name": rows_of(processes)}
