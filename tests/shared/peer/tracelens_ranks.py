# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of TraceLens about the collectives of several ranks."""
import collections
import statistics

from .ledger import DESCRIBES, DIFFERS, RESTATED, THEIRS, Rule, is_number
from .trace import trace_at

MIB, GIB = 2.0 ** 20, 2.0 ** 30
BYTES = {"BFloat16": 2, "Half": 2, "Float": 4, "Int": 4, "Long": 8, "Double": 8, "Byte": 1}
BUS = {"allreduce": 2}  # of all others 1, times (n - 1) / n

LAST_END = Rule(
    DIFFERS, "Transfers to the last end",
    "A transfer ends when the last rank leaves; ours at the median of the ends, which one late "
    "stamp does not move. Bandwidths follow from it.")
EACH = Rule(
    THEIRS, "Each collective by itself",
    "Start, duration and waiting of each rank in each collective; our tables have their sums.")
BY_RANK = Rule(
    THEIRS, "Durations of collectives by rank",
    "Per rank and kind; collectives.by_kind has the sum over ranks.")
SUMS = Rule(
    RESTATED, "Sums and means",
    "The same figure in another unit, or its mean where ours is the sum.")
UNEVEN = Rule(
    THEIRS, "Uneven all-to-all by rank",
    "Bytes between each pair of ranks by the splits, and throughput from the first start to the "
    "last end: waiting counts as transfer.")
SINGLE = Rule(
    THEIRS, "Collectives of one rank",
    "Kernels of communication that say what they move, by group, operation, type, sizes and "
    "stream. collectives.by_kind and collectives.by_size have sums by operation and by size.")
NAMES = Rule(DESCRIBES, "Settings and remarks", "", proved=False)


class Call:
    """A collective of one rank; times in µs."""

    def __init__(self, rank, span):
        self.rank, self.op, self.dtype = rank, span.args["Collective name"], span.args["dtype"]
        self.start, self.dur = span.ts / 1e3, span.dur / 1e3
        self.end, self.size = self.start + self.dur, BYTES[self.dtype]
        self.into, self.out = span.args["In msg nelems"], span.args["Out msg nelems"]
        self.split = str(span.args.get("In split size", "[]"))
        self.splits = [int(n) for n in self.split.strip("[]").split(",") if n.strip()]


class Meeting:
    """One collective: the n-th of its group on all ranks."""

    def __init__(self, calls):
        self.calls, self.op, self.n = calls, calls[0].op, len(calls)
        starts, ends = [c.start for c in calls], [c.end for c in calls]
        self.first, self.last, self.end = min(starts), max(starts), max(ends)
        elements = calls[0].out if "gather" in self.op else calls[0].into
        self.full = elements * calls[0].size
        self.latency = self.end - self.last
        self.algo = self.full / GIB / (self.latency / 1e6)
        self.figures = {
            "comm_latency": self.latency, "skew in start time": self.last - self.first,
            "skew in end time": self.end - min(ends), "algo bw (GB/s)": self.algo,
            "bus bw (GB/s)": self.algo * BUS.get(self.op, 1) * (self.n - 1) / self.n}

    def each(self):
        """The row of implicit_sync."""
        row = {**self.figures, "Full msg size (MB)": self.full / MIB, "Group size": self.n,
               "In msg nelems": self.calls[0].into, "Out msg nelems": self.calls[0].out,
               "In msg size (MB)": self.calls[0].into * self.calls[0].size / MIB,
               "Out msg size (MB)": self.calls[0].out * self.calls[0].size / MIB,
               "earliest arrival rank": min(self.calls, key=lambda c: c.start).rank,
               "avg_wait_time": statistics.mean(self.last - c.start for c in self.calls)}
        for c in self.calls:
            row |= {f"rank_{c.rank}_ts": c.start, f"rank_{c.rank}_dur": c.dur,
                    f"rank_{c.rank}_wait_time": self.last - c.start}
        return row

    def uneven(self):
        """The row of all_to_allv."""
        parts = [c.into * c.size for c in self.calls]
        wall, durs = self.end - self.first, [c.dur for c in self.calls]
        rates = [part / GIB / (c.dur / 1e6) for part, c in zip(parts, self.calls)]
        row = {"Group size": self.n, "stream": 20, "wall_time (us)": wall,
               "total data communicated (MB)": sum(parts) / MIB,
               "total nelems communicated": sum(c.into for c in self.calls),
               "max_rank_dur (us)": max(durs), "min_rank_dur (us)": min(durs),
               "avg_rank_dur (us)": statistics.mean(durs),
               "throughput (GB/s)": sum(parts) / GIB / (wall / 1e6),
               "max_rank_throughput (GB/s)": max(rates), "min_rank_throughput (GB/s)": min(rates),
               "size_imbalance": max(parts) / statistics.mean(parts),
               "skew in start time": self.figures["skew in start time"],
               "skew in end time": self.figures["skew in end time"]}
        for c in self.calls:
            row |= {f"rank_{c.rank}_ts": c.start, f"rank_{c.rank}_dur": c.dur,
                    f"rank_{c.rank}_skew in start time": c.start - self.first,
                    f"rank_{c.rank}_skew in end time": self.end - c.end,
                    f"rank_{c.rank}_In msg nelems": c.into, f"rank_{c.rank}_Out msg nelems": c.out,
                    f"rank_{c.rank}_In msg size (MB)": c.into * c.size / MIB,
                    f"rank_{c.rank}_Out msg size (MB)": c.out * c.size / MIB}
        return row


def read(folder):
    """The meetings of all ranks, in their order."""
    ranks = []
    for rank, path in enumerate(sorted(folder.glob("rank*_trace.json.gz"))):
        spans = [span for span in trace_at(path).spans
                 if span.kind == "kernel" and "Collective name" in span.args]
        ranks.append([Call(rank, span) for span in sorted(spans, key=lambda span: span.ts)])
    return [Meeting(list(calls)) for calls in zip(*ranks, strict=True)]


def spread(values):
    return {"mean": statistics.mean(values), "median": statistics.median(values),
            "min": min(values), "max": max(values),
            "std": statistics.stdev(values) if len(values) > 1 else 0.0}


class Check:
    def __init__(self, case, folder, run):
        self.case, self.report, self.meetings = case, run.report(folder), read(folder)
        self.even = [m for m in self.meetings if m.op != "all_to_allv"]
        self.uneven = [m for m in self.meetings if m.op == "all_to_allv"]

    def row(self, path, values, rule, ours=()):
        """Claims the numbers of a row: ours by their name, else what the model makes of them."""
        for leaf in self.case.below(*path):
            name = leaf[len(path)]
            if len(leaf) == len(path) + 1 and is_number(self.case.leaves[leaf]) and name in values:
                self.case.check(leaf, dict(ours).get(name), [(rule, values[name])])

    def summaries(self):
        for index, row in enumerate(self.case.golden["summary_implicit_sync"]):
            of = [m for m in self.even if m.op == row["Collective name"]]
            values = {"In msg nelems": of[0].calls[0].into, "Group size": of[0].n}
            for name in of[0].figures:
                for what, value in spread([m.figures[name] for m in of]).items():
                    values[f"{name}_{what}"] = value
            values["Total comm latency (ms)"] = sum(m.latency for m in of) / 1e3
            mine = self.report.row("collectives.by_kind", op=of[0].op)
            ours = {"count": mine["count"], "Group size": mine["size"],
                    "Full msg size (MB)": mine["bytes"] / mine["count"] / MIB,
                    "skew in start time_mean": mine["skew_mean_ns"] / 1e3,
                    "comm_latency_mean": mine["transfer_mean_ns"] / 1e3,
                    "Total comm latency (ms)": mine["transfer_mean_ns"] * mine["count"] / 1e6,
                    "bus bw (GB/s)_mean": mine["bus_bandwidth"] / GIB}
            self.row(("summary_implicit_sync", index), {**ours, **values}, LAST_END, ours)

    def ranks(self):
        for index, row in enumerate(self.case.golden["straggler_summary"]):
            calls = [c for m in self.even for c in m.calls if c.rank == row["rank"]]
            mine = self.report.row("stragglers.by_rank", rank=row["rank"])
            ours = {"rank": mine["rank"], "total_wait_time_us": mine["wait_ns"] / 1e3,
                    "times_arrived_last": mine["last_arrivals"],
                    "num_collectives": mine["collectives"],
                    "pct_arrived_last": 100 * mine["last_share"]}
            first = sum(m.first == c.start for m, c in zip(self.even, calls))
            values = {"mean_wait_time_us": mine["wait_ns"] / 1e3 / mine["collectives"],
                      "total_nccl_dur_us": sum(c.dur for m in self.meetings for c in m.calls
                                               if c.rank == row["rank"]),
                      "times_arrived_first": first}
            self.row(("straggler_summary", index), {**ours, **values}, SUMS, ours)
        for index, row in enumerate(self.case.golden["summary_long"]):
            calls = [c for m in self.meetings for c in m.calls
                     if c.rank == row["rank"] and c.op == row["Collective name"]
                     and c.split == row["In split size"]]
            values = {f"dur_{what}": value for what, value in
                      spread([c.dur for c in calls]).items()}
            size = calls[0].size / MIB
            values |= {"rank": calls[0].rank, "stream": 20, "Group size": self.meetings[0].n,
                       "In msg nelems": calls[0].into, "Out msg nelems": calls[0].out,
                       "In msg size (MB)_first": calls[0].into * size,
                       "Out msg size (MB)_first": calls[0].out * size,
                       "dur_sum": sum(c.dur for c in calls), "operation_count": len(calls)}
            self.row(("summary_long", index), values, BY_RANK)

    def all_to_allv(self):
        for index, meeting in enumerate(self.uneven):
            self.row(("all_to_allv", index), meeting.uneven(), UNEVEN)
        rows = [meeting.uneven() for meeting in self.uneven]
        values = {"count": len(rows), "Group size": self.uneven[0].n}
        for name in rows[0]:
            for what, value in spread([row[name] for row in rows]).items():
                values[f"{name}_{what}"] = value
        total = sum(row["wall_time (us)"] for row in rows)
        values |= {"Total wall_time (us)": total, "Total wall_time (ms)": total / 1e3}
        mine = self.report.row("collectives.by_kind", op="all_to_allv")
        self.row(("all_to_allv_summary", 0), values, UNEVEN,
                 {"count": mine["count"], "Group size": mine["size"],
                  "skew in start time_mean": mine["skew_mean_ns"] / 1e3})
        sent = collections.Counter()
        for meeting in self.uneven:
            for call in meeting.calls:
                for to, elements in enumerate(call.splits):
                    sent[call.rank, to] += elements * call.size / MIB
        for index, row in enumerate(self.case.golden["all_to_allv_heatmap"]):
            whole = sent[row["src_rank"], row["dst_rank"]]
            self.row(("all_to_allv_heatmap", index),
                     {"src_rank": row["src_rank"], "dst_rank": row["dst_rank"],
                      "total_sent_MB": whole, "avg_sent_MB": whole / len(self.uneven),
                      "count": len(self.uneven)}, UNEVEN)

    def check(self):
        self.summaries()
        self.ranks()
        for index, meeting in enumerate(self.even):
            self.row(("implicit_sync", index), meeting.each(), EACH)
        self.all_to_allv()
        self.case.label()
        for part in ("trace", "what", "tool", "units", "independent_check_mismatches"):
            self.case.say(NAMES, part)


KEYS = ("Process Group Name", "Collective name", "Group size", "dtype", "In msg nelems",
        "Out msg nelems", "In split size", "Out split size", "stream")


def check_single(case, kernels):
    """Rows of one trace; its rank is the place of the file in the list, which is always 0."""
    told = [span for span in kernels if span.args.get("Collective name")]
    case.check(("collective_kernels_all", "with_collective_args"), None, [(SINGLE, len(told))])
    groups = collections.defaultdict(list)
    for span in told:
        groups[tuple(str(span.args.get(key)) for key in KEYS)].append(span)
    for index, row in enumerate(case.golden.get("collectives_single_rank", ())):
        own = groups.get(tuple(str(row[key]) for key in KEYS), [])
        if not own:
            continue
        times, args = [span.dus for span in own], own[0].args
        size = BYTES.get(args["dtype"], 0) / MIB
        figures = {key: args[key] for key in KEYS} | {
            "Process Group Name": int(args["Process Group Name"]), "rank": 0,
            "In msg size (MB)_first": args["In msg nelems"] * size,
            "Out msg size (MB)_first": args["Out msg nelems"] * size,
            "dur_sum": sum(times), "dur_mean": statistics.fmean(times), "dur_min": min(times),
            "dur_max": max(times), "operation_count": len(own),
            "dur_std": statistics.stdev(times) if len(own) > 1 else None}
        for key, value in figures.items():
            if is_number(row.get(key)):
                case.check(("collectives_single_rank", index, key), None, [(SINGLE, value)])
