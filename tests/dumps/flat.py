# SPDX-License-Identifier: GPL-3.0-or-later
"""What users of Inferix save by hand and what its tools make of it: flat summaries of ranks, their
aggregate, and the extract of the benchmark."""
import fractions

import dress
import figures as f

GPU = {"utilization_percent": ("gpu_utilization", "ratio", fractions.Fraction(1, 100)),
       "memory_used_mb": ("gpu_memory_used", "bytes", f.MIB),
       "temperature_celsius": ("gpu_temperature", "celsius", 1)}
CPU = {"usage_percent": ("cpu_utilization", "ratio", fractions.Fraction(1, 100)),
       "memory_used_mb": ("cpu_memory_used", "bytes", f.MIB)}


def reading(chance, signals, total):
    """Members of one reading; any of them may be absent, or be no number."""
    members = {key: chance.choice([chance.randrange(1, 90), chance.uniform(1, 90)])
               for key in signals}
    members["memory_total_mb"] = total
    for key in list(members):
        draw = chance.random()
        if draw < 0.06:
            del members[key]
        elif draw < 0.1:
            members[key] = chance.choice([float("nan"), None, "tensor(1.)"])
        elif draw < 0.14:
            members[key] = str(members[key])
    return members


def rows_of(rank, signals, members):
    rows = []
    for key, (name, unit, factor) in signals.items():
        value = f.number(members.get(key))
        if value is not None and unit == "bytes":
            rows += f.signal(rank, None, name, unit, [f.scaled(members[key], factor)])
        elif value is not None:
            rows += f.signal(rank, None, name, unit, [fractions.Fraction(value) * factor])
    return rows


def summary(chance, rank, is_named):
    has_gpu = chance.random() < 0.8
    gpu = reading(chance, GPU, 81559) if has_gpu else dict.fromkeys([*GPU, "memory_total_mb"], 0)
    cpu = reading(chance, CPU, 32768)
    duration = chance.uniform(0.1, 900)
    document = {"profiling_enabled": True, "timestamp": 1795221165.25 + rank, "gpu": gpu,
                "cpu": cpu, "session_id": "t2v_%d" % rank, "duration": duration}
    if is_named:
        document["tags"] = {"rank": chance.choice([rank, str(rank)])}
    rows = {"telemetry.by_rank": rows_of(rank, CPU, cpu),
            "run.sessions": [{"rank": rank, "index": 0, "session": "t2v_%d" % rank,
                              "dur_ns": f.scaled(duration, 10**9)}]}
    if has_gpu:
        rows["telemetry.by_rank"] += rows_of(rank, GPU, gpu)
    return dress.add_unknown(chance, document), rows


def aggregate(chance, n, tables):
    """Figures over the ranks, which stand as reported and belong to no rank."""
    def over(of, metric, shown, unit, factor):
        values = [chance.uniform(1, 90) for _ in range(n)]
        made = {"min": min(values), "max": max(values), "avg": sum(values) / n, "sum": sum(values)}
        for way, value in made.items():
            exact = f.scaled(value, factor) if unit == "bytes" else f.plain(
                fractions.Fraction(f.number(value)) * factor)
            tables.setdefault("figures.reported", []).append({
                "rank": None, "group": "aggregate", "figure": "%s/%s_%s" % (of, shown, way),
                "value": exact, "unit": unit})
        return {"%s_%s" % (metric, way): value for way, value in made.items()}
    percent = fractions.Fraction(1, 100)
    return {"total_reports": n, "rank_count": n,
            "aggregated_gpu_metrics": {
                **over("gpu", "memory_used_mb", "memory_used_bytes", "bytes", f.MIB),
                **over("gpu", "utilization_percent", "utilization_ratio", "ratio", percent)},
            "aggregated_cpu_metrics": over("cpu", "usage_percent", "usage_ratio", "ratio", percent),
            "reports_summary": [{"report_index": i, "session_id": "unknown", "duration": 0,
                                 "rank": "unknown"} for i in range(n)]}


def extract(chance):
    """The keys that the tool asks for and no report has are 0, and missing here."""
    level = {"total_steps": 40, "avg_block_size": 3.0, "fps": chance.uniform(1, 400),
             "bps": chance.uniform(1, 90), "avg_step_time_ms": 0, "total_blocks": 10,
             "block_fps": chance.uniform(1, 90), "peak_memory_mb": chance.uniform(1, 70000),
             "avg_block_time_ms": chance.uniform(1, 900)}
    values = [("fps", "as_reported", level["fps"]), ("bps", "as_reported", level["bps"]),
              ("fps", "as_reported (block)", level["block_fps"])]
    document = {"timestamp": "", "system_info": {}, "block_level": level, "segment_level": {},
                "overall": {"peak_memory_mb": 0, "avg_gpu_utilization": 0,
                            "peak_temperature_c": 0}}
    return document, {"throughput.values": [
        {"rank": 0, "metric": metric, "basis": basis, "value": value, "unit": "per_s"}
        for metric, basis, value in values]}


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    if chance.random() < 0.2:
        document, tables = extract(chance)
        dress.write_json(chance, folder / chance.choice(["benchmark_results.json", "b.txt"]),
                         document)
        return tables
    tables = {}
    ranks = sorted(chance.sample(range(70), chance.choice([1, 2, 5, 8])))
    in_folders = chance.random() < 0.5
    for rank in ranks:
        document, rows = summary(chance, rank, chance.random() < 0.5)
        path = "rank_%d/summary.json" % rank if in_folders else "summary_rank%d.json" % rank
        dress.write_json(chance, folder / path, document)
        for table, more in rows.items():
            tables.setdefault(table, []).extend(more)
    if chance.random() < 0.5:
        dress.write_json(chance, folder / chance.choice(["aggregated_profiling_report.json", "a"]),
                         aggregate(chance, len(ranks), tables))
    return tables
