# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of TraceLens about records of rocprofv3, from the records."""
import collections
import gzip
import json
import statistics

from .ledger import OTHER, Rule, is_number

RECORDS = Rule(
    OTHER, "rocprofv3 records",
    "No trace of Chrome events; not read. The kernel tables of the tool are nanoseconds in columns "
    "called µs and ms, its window is that of the profiler, and percentages are summed up before "
    "the rows are sorted.")
# The first whose part of the name is found.
CATEGORIES = (("GEMM", ("gemm", "matmul", "cijk")), ("Elementwise", ("elementwise",)),
              ("Reduction", ("reduce", "sum")), ("Convolution", ("conv",)),
              ("Normalization", ("norm",)), ("Attention", ("flash", "attn", "fmha")),
              ("Memory", ("copy", "memcpy")), ("COMM", ("nccl", "rccl")))


def category_of(name):
    lower = name.lower()
    return next((category for category, parts in CATEGORIES
                 if any(part in lower for part in parts)), "Other")


def union(spans):
    time, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            time += stop - start
        elif stop > end:
            time += stop - end
        end = stop if end is None else max(end, stop)
    return time


def running(times):
    """{key: percentage of the sum up to it}, by key."""
    total, sums, seen = sum(times.values()), {}, 0
    for key in sorted(times):
        seen += times[key]
        sums[key] = 100 * seen / total
    return sums


class Records:
    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            tool = json.load(file)["rocprofiler-sdk-tool"][0]
        symbols = {symbol["kernel_id"]: symbol for symbol in tool["kernel_symbols"]}
        self.extent = tool["metadata"]["fini_time"] - tool["metadata"]["init_time"]
        self.spans, self.short = [], collections.defaultdict(list)
        self.whole = collections.defaultdict(list)
        for record in tool["buffer_records"]["kernel_dispatch"]:
            start, end = record["start_timestamp"], record["end_timestamp"]
            symbol = symbols[record["dispatch_info"]["kernel_id"]]
            self.spans.append((start, end))
            self.short[symbol["truncated_kernel_name"]].append(end - start)
            self.whole[symbol["formatted_kernel_name"]].append(end - start)
        self.total = sum(end - start for start, end in self.spans)
        self.window = max(end for _, end in self.spans) - min(start for start, _ in self.spans)
        self.busy = union(self.spans)


def columns_of(times, total, upto):
    return {"Count": len(times), "Mean Kernel Time (µs)": sum(times) / len(times),
            "Median Kernel Time (µs)": statistics.median(times),
            "Std Kernel Time (µs)": statistics.stdev(times) if len(times) > 1 else 0,
            "Min Kernel Time (µs)": min(times), "Max Kernel Time (µs)": max(times),
            "Percentage (%)": 100 * sum(times) / total, "Cumulative Percentage (%)": upto,
            "Total Kernel Time (ms)": sum(times) / 1e3}


class Check:
    def __init__(self, case, folder):
        self.case, self.records = case, Records(next(folder.glob("*.json.gz")))

    def figure(self, path, value):
        self.case.check(path, None, [(RECORDS, value)])

    def timeline(self):
        records = self.records
        times = {"total_time": records.extent, "kernel": records.busy, "memory": 0,
                 "busy_time": records.busy, "idle": records.extent - records.busy}
        for row, time in times.items():
            self.figure(("gpu_timeline", row, "ms"), time / 1e6)
            self.figure(("gpu_timeline", row, "pct"), 100 * time / records.extent)

    def kernels(self):
        records = self.records
        upto = running({name: sum(times) for name, times in records.short.items()})
        for index, row in enumerate(self.case.at("kernel_summary")):
            name = row["name"]
            columns = columns_of(records.short[name], records.total, upto[name])
            for key, value in columns.items():
                self.figure(("kernel_summary", index, key), value)
        self.figure(("kernel_summary_rows",), len(records.short))
        self.figure(("dispatches",), len(records.spans))

    def categories(self):
        records = self.records
        count, time = collections.Counter(), collections.Counter()
        for name, times in records.short.items():
            count[category_of(name)] += len(times)
            time[category_of(name)] += sum(times)
        upto = running(time)
        for index, row in enumerate(self.case.at("by_category")):
            name = row["op category"]
            for key, value in (("Count", count[name]),
                               ("total_direct_kernel_time_ms", time[name] / 1e3),
                               ("Percentage (%)", 100 * time[name] / records.total),
                               ("Cumulative Percentage (%)", upto.get(name))):
                self.figure(("by_category", index, key), value)

    def independent(self):
        records = self.records
        for key, time in (("total_time", records.window), ("kernel_union", records.busy),
                          ("idle", records.window - records.busy)):
            self.figure(("independent", "gpu_timeline_ms", key), time / 1e6)
        for key, value in (("kernel_sum_ms", records.total / 1e6),
                           ("dispatches", len(records.spans)),
                           ("distinct_kernels", len(records.whole))):
            self.figure(("independent", key), value)
        for index, row in enumerate(self.case.at("independent", "kernels")):
            times = records.whole[row["name"]]
            for key, value in (("count", len(times)), ("sum_us", sum(times) / 1e3),
                               ("mean_us", sum(times) / len(times) / 1e3 if times else None)):
                self.figure(("independent", "kernels", index, key), value)

    def check(self, settings):
        self.timeline()
        self.kernels()
        self.categories()
        self.independent()
        self.case.label()
        for path, value in self.case.unexplained():
            if not is_number(value):
                self.case.say(settings, *path)
