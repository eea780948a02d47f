# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of Diffulex: sections in three forms, stage timing of an engine and its runners, and the
trajectories of requests."""
import dress
import figures as f

ENGINE = ["scheduler_schedule", "prepare_reqs_for_execution", "model_runner_run"]
RUNNER = ["prepare_chunked_prefill", "before_model_forward", "model_forward", "sampler"]


def export(chance, path, rows):
    """Writes what was recorded so far as one export; returns its duration and tokens."""
    spent, tokens = sum(r["duration_sec"] for r in rows), sum(r["total_tokens"] for r in rows)
    dress.write_json(chance, path.parent / (path.name + ".json"), {"metrics": rows, "summary": {
        "total_sections": len(rows), "total_duration_sec": spent, "total_tokens": tokens,
        "avg_throughput_tokens_per_sec": tokens / spent}})
    if chance.random() < 0.5:
        dress.write_csv(chance, path.parent / (path.name + ".csv"), [
            {key: repr(row[key]) if key != "name" else row[key]
             for key in ("duration_sec", "name", "throughput_tokens_per_sec", "total_tokens")}
            for row in rows], may_reorder=False)
    return spent, tokens


def sections(chance, folder, tables):
    rows, samples, taken = [], {}, set()
    names = [dress.new_name(chance, taken) for _ in range(chance.randrange(1, 9))]
    for _ in range(chance.randrange(1, 25)):
        name, spent = chance.choice(names), chance.uniform(1e-4, 30)
        tokens = chance.choice([0, 0, 64, 10**6])
        rows.append(dress.add_unknown(chance, {
            "name": name, "metadata": {}, "duration_sec": spent, "total_tokens": tokens,
            "throughput_tokens_per_sec": tokens / spent, "gpu_utilization": -8.0,
            "memory_delta_mb": -1.25, "custom_metrics": {"n": float("nan"), "m": 1},
            "backend_data": None}))
        samples.setdefault(name, []).append(f.scaled(spent, 10**9))
    base = chance.choice(["profile_20261121_004633", "sweep-1", "läufe.2"])
    earlier = sorted(chance.sample(range(1, len(rows)), chance.randrange(min(3, len(rows)))))
    for i, n in enumerate(earlier):  # exported while the run went on
        export(chance, folder / f"{base}_{i}", rows[:n])
    spent, tokens = export(chance, folder / base, rows)
    tables.setdefault("stages.by_name", []).extend(
        f.stage_of_samples(0, name, values) for name, values in samples.items())
    if tokens:
        tables["throughput.values"] = [{"rank": 0, "metric": "tokens_per_s",
                                        "basis": "as_reported", "value": tokens / spent,
                                        "unit": "per_s"}]


def stage_timing(chance, folder, tables):
    ranks = sorted(chance.sample(range(40), chance.choice([1, 2, 4, 7])))
    rows, samples = [], {}
    for step in range(chance.randrange(1, 12)):
        for rank in [None, *ranks]:
            scope, stages = ("engine", ENGINE) if rank is None else ("multi_block", RUNNER)
            total = 0
            for stage in [*stages, "total"]:
                ms = total if stage == "total" else chance.uniform(0.001, 900)
                total += ms
                is_empty = stage != "total" and chance.random() < 0.03
                rows.append({"scope": scope, "rank": "" if rank is None else str(rank),
                             "pid": str(6349 + (rank or 0)), "step": str(step), "stage": stage,
                             "cpu_ms": "" if is_empty else repr(ms),
                             "cuda_ms": chance.choice(["", repr(ms / 2)]), "device": "",
                             "exception": chance.choice(["", "", "", "RuntimeError"])})
                if not is_empty:
                    samples.setdefault((rank, scope + "/" + stage), []).append(
                        f.scaled(ms, 10**6))
    dress.write_csv(chance, folder / chance.choice(["stage_timing.csv", "timing.log"]), rows)
    tables.setdefault("stages.by_name", []).extend(
        f.stage_of_samples(rank, name, values) for (rank, name), values in samples.items())


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    tables = {}
    makers = chance.choice([[sections], [stage_timing], [sections, stage_timing]])
    for maker in makers:
        maker(chance, folder, tables)
    return tables
