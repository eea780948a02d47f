# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of FramePack: the report, copies of parts of it, and the timeline of its caches."""
import fractions

import dress
import figures as f


def operations(chance):
    """timing_stats in the order of first completion; a clock that was set gives negative times."""
    found, taken = {}, set()
    for _ in range(chance.randrange(1, 30)):
        calls = chance.choice([1, 1, 4, 36, 5000])
        low = chance.choice([chance.uniform(1e-6, 2), -0.5, 5e-7])
        high = low + chance.uniform(0, 3)
        total = chance.uniform(low, high) * calls if calls > 1 else low
        found[dress.new_name(chance, taken)] = {
            "count": calls, "total": total, "mean": total / calls, "min": low,
            "max": high if calls > 1 else low, "last": low}
    if chance.random() < 0.3:
        for row in found.values():
            del row["last"]
    return found


def snapshots(chance):
    rows, peak = [], 0
    for i in range(chance.choice([0, 1, 5, 40])):
        allocated = chance.uniform(1, 70000)
        peak = max(peak, allocated)
        rows.append({"label": "after_%d %s" % (i, chance.choice(dress.WORDS)),
                     "timestamp": 1795221500.25 + i * 1.7 + chance.random(),
                     "allocated_mb": allocated, "reserved_mb": allocated * chance.uniform(1, 1.5),
                     "max_allocated_mb": chance.choice([peak, peak * 1.1])})
    return rows


def printed(name, row):
    cells = "".join(" %9.3fs" % row[key] for key in ("total", "mean", "min", "max"))
    return "%-50s %8d%s" % (name[:48], row["count"], cells)


def summary(stats):
    """The table that a user keeps: printed precision, the first rows, names that are cut."""
    rows = sorted(stats.items(), key=lambda item: -item[1]["total"])[:20]
    return "\n".join(["=" * 80, "PROFILING SUMMARY - Top Operations by Total Time", "=" * 80,
                      "Operation   Count   Total   Mean   Min   Max", "-" * 80,
                      *(printed(*item) for item in rows), "=" * 80, ""])


def iterations(chance):
    """iteration_stats, empty where nobody fed the profiler, and the rows of iterations.by_name."""
    if chance.random() < 0.4:
        return {}, []
    times = sorted(chance.uniform(1e-4, 3) for _ in range(chance.randrange(1, 50)))
    stats = {"count": len(times), "total": sum(times), "mean": sum(times) / len(times),
             "min": times[0], "max": times[-1], "median": times[len(times) // 2]}
    total = f.scaled(stats["total"], 10**9)
    return stats, [{
        "rank": 0, "loop": "iterations", "count": len(times), "total_ns": total,
        "per_s": f.rate(len(times), total),
        "mean_ns": f.plain(fractions.Fraction(total, len(times))),
        "min_ns": f.scaled(times[0], 10**9), "max_ns": f.scaled(times[-1], 10**9),
        "median_reported_ns": f.scaled(stats["median"], 10**9)}]


def printed_iterations(stats):
    """What the profiler prints of them, which is a copy."""
    return "\n".join(["=" * 80, "ITERATION PROFILING: diffusion_step", "=" * 80,
                      "Total iterations: %d" % stats["count"],
                      "Total time:       %.3fs" % stats["total"],
                      "Mean time/iter:   %.3fs (%.2f it/s)" % (stats["mean"], 1 / stats["mean"]),
                      "Min time:         %.3fs" % stats["min"],
                      "Max time:         %.3fs" % stats["max"],
                      "Median time:      %.3fs" % stats["median"], "=" * 80, ""])


def cache_timeline(chance):
    """The Markdown table, and rows of caches.hits."""
    lines = ["| Time (s) | Frame | Cache | Details |", "| --- | --- | --- | --- |"]
    rows, frame = [], 0
    for i in range(chance.randrange(1, 12)):
        frame += chance.randrange(1, 20)
        cache = chance.choice(["teacache", "first_block_cache", "similarity_cache"])
        lines.append("| %.2f | %d | %s | step: %d |" % (frame / 30, frame, cache, i))
        rows.append({"rank": 0, "cache": cache, "frame": frame,
                     "video_ns": f.scaled("%.2f" % (frame / 30), 10**9)})
    return "\n".join(lines) + "\n", rows


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    stats, shots = operations(chance), snapshots(chance)
    loops, rows = iterations(chance)
    report = dress.add_unknown(chance, {
        "timestamp": 1795221517.2436497, "timing_stats": stats, "memory_snapshots": shots,
        "iteration_stats": loops})
    dress.write_json(chance, folder / chance.choice(["profiling_report.json", "old.txt"]), report,
                     {"timing_stats"})
    if shots and chance.random() < 0.5:
        dress.write_json(chance, folder / "memory_log.json", shots)
    if chance.random() < 0.5:
        dress.write_text(chance, folder / "timing_summary.txt",
                         summary(stats) + (printed_iterations(loops) if loops else ""))
    tables = {"stages.by_name": [
        f.stage(0, name, row["count"], f.scaled(row["total"], 10**9), f.scaled(row["min"], 10**9),
                f.scaled(row["max"], 10**9)) for name, row in stats.items()]}
    if rows:
        tables["iterations.by_name"] = rows
    if chance.random() < 0.5:
        text, tables["caches.hits"] = cache_timeline(chance)
        dress.write_text(chance, folder / "cache_timeline.md", text)
        names = [row["cache"] for row in tables["caches.hits"]]
        tables["caches.by_name"] = [
            {"rank": 0, "cache": name, "hits": names.count(name), "misses": None,
             "hit_ratio": None} for name in sorted(set(names))]
    if not shots:
        return tables
    first = f.number(shots[0]["timestamp"])
    tables["memory.snapshots"] = [
        {"rank": 0, "index": i, "label": shot["label"], "device": None,
         "time_ns": f.scaled(str(f.number(shot["timestamp"]) - first), 10**9),
         "allocated_bytes": f.scaled(shot["allocated_mb"], f.MIB),
         "reserved_bytes": f.scaled(shot["reserved_mb"], f.MIB),
         "max_allocated_bytes": f.scaled(shot["max_allocated_mb"], f.MIB)}
        for i, shot in enumerate(shots)]
    rows = tables["memory.snapshots"]
    tables["memory.by_rank"] = [{
        "rank": 0, "device": None, "total_bytes": None,
        "peak_allocated_bytes": max(max(r["allocated_bytes"], r["max_allocated_bytes"])
                                    for r in rows),
        "peak_reserved_bytes": max(r["reserved_bytes"] for r in rows)}]
    return tables
