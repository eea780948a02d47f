# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders in which only texts for people are left: what stands there is what counts, at the
precision that is printed."""
import decimal
import fractions

import dress
import figures as f
import framepack

SUFFIX = 1024  # of units of memory in torch's summary


def cut(name):
    """The table has the first 48 code points; blanks at their end are lost in it."""
    return name[:48].rstrip()


def seconds(value):
    return f.scaled("%.3f" % value, 10**9)


def stages(stats):
    """The rows that are printed, of the largest totals."""
    rows = sorted(stats.items(), key=lambda item: -item[1]["total"])[:20]
    return [f.stage(0, cut(name), row["count"], seconds(row["total"]), seconds(row["min"]),
                    seconds(row["max"])) for name, row in rows]


def memory(shots):
    """The table of labels: it has no times."""
    lines = ["=" * 80, "MEMORY USAGE SUMMARY", "=" * 80,
             "Label                 Allocated     Reserved    Max Alloc", "-" * 80]
    rows = []
    for i, shot in enumerate(shots):
        cells = ["%.1f" % shot[key] for key in ("allocated_mb", "reserved_mb", "max_allocated_mb")]
        lines.append("%-40s %11sM %11sM %11sM" % (shot["label"], *cells))
        sizes = [f.scaled(cell, f.MIB) for cell in cells]
        rows.append({"rank": 0, "index": i, "label": shot["label"], "device": None,
                     "time_ns": None, "allocated_bytes": sizes[0], "reserved_bytes": sizes[1],
                     "max_allocated_bytes": sizes[2]})
    return "\n".join([*lines, "=" * 80, ""]), rows


def loop(stats):
    total = seconds(stats["total"])
    return {"rank": 0, "loop": "diffusion_step", "count": stats["count"], "total_ns": total,
            "min_ns": seconds(stats["min"]), "max_ns": seconds(stats["max"]),
            "median_reported_ns": seconds(stats["median"])}


def framepack_console(chance, folder):
    """Everything on one console, between progress bars, or in a file for each table."""
    stats, shots = framepack.operations(chance), framepack.snapshots(chance)
    for row in stats.values():
        row["min"], row["max"] = abs(row["min"]), abs(row["max"]) + abs(row["min"])
        row["total"] = row["max"] * row["count"]
    loops, _ = framepack.iterations(chance)
    tables = {"stages.by_name": stages(stats)}
    parts = [framepack.summary(stats)]
    if shots:
        text, tables["memory.snapshots"] = memory(shots)
        parts.append(text)
    if loops:
        parts.append(framepack.printed_iterations(loops))
        tables["iterations.by_name"] = [loop(loops)]
    if chance.random() < 0.5:
        bar = "\r 50%|█████     | 2/4 [00:00<00:00,  3.40it/s]\n"
        tables.setdefault("iterations.by_name", []).append(
            {"rank": 0, "loop": "iterations", "count": 2, "total_ns": 0})
        dress.write_text(chance, folder / "baseline_profile.txt", bar.join(["Prompt: a cat\n",
                                                                            *parts]))
    else:
        for i, part in enumerate(parts):
            dress.write_text(chance, folder / ("part_%d.txt" % i), part)
    return tables


def diffulex_summary(chance, folder):
    """Zeros are not printed, so tokens are missing there."""
    names, taken, samples = [], set(), {}
    for _ in range(chance.randrange(1, 7)):
        names.append(dress.new_name(chance, taken))
    lines, tokens, spent = [], 0, fractions.Fraction(0)
    for name in names + chance.choices(names, k=chance.randrange(0, 4)):
        duration, n = "%.4f" % chance.uniform(0.0001, 90), chance.choice([0, 64, 12345])
        lines += ["Section: %s" % name, "  Duration: %s seconds" % duration]
        if n:
            lines += ["  Tokens: %d" % n, "  Throughput: %.2f tokens/sec" % (n / float(duration))]
        lines += chance.choice([[], ["  GPU Utilization: -8.00%"], ["  Memory Delta: -1.25 MB"]])
        lines += chance.choice([[], ["  Custom Metrics: {'a, b': nan, 'c': [1, 2]}"],
                                ["  Metadata: {'model': \"it's\", 'n': None}"]]) + [""]
        samples.setdefault(name, []).append(f.scaled(duration, 10**9))
        tokens, spent = tokens + n, spent + fractions.Fraction(decimal.Decimal(duration))
    rate = "%.2f" % (tokens / spent)
    head = ["=" * 80, "Diffulex Profiling Summary", "=" * 80, "",
            "Total Sections: %d" % len(lines), "Total Duration: %.2f seconds" % spent,
            "Total Tokens: %d" % tokens, "Average Throughput: %s tokens/sec" % rate, "", "-" * 80,
            "Section Details:", "-" * 80, ""]
    dress.write_text(chance, folder / chance.choice(["profile.txt", "viztracer_batch_1.json"]),
                     "\n".join(head + lines))
    tables = {"stages.by_name": [f.stage_of_samples(0, name, values)
                                 for name, values in samples.items()]}
    if tokens:
        tables["throughput.values"] = [{"rank": 0, "metric": "tokens_per_s",
                                        "basis": "as_reported", "unit": "per_s",
                                        "value": f.plain(decimal.Decimal(rate))}]
    return tables


def amount(chance):
    """(what is printed of a number of bytes, which is cut and not rounded, and its bytes)"""
    unit = chance.randrange(0, 4)
    number = chance.randrange(1, 1024)
    names = chance.choice([["B", "KB", "MB", "GB"], ["B", "KiB", "MiB", "GiB"]])
    return "%d %s" % (number, names[unit]), number * SUFFIX**unit


def torch_memory(chance, folder):
    """torch.cuda.memory_summary() of each rank; units may differ within a row."""
    rows = []
    for rank in sorted(chance.sample(range(12), chance.choice([1, 2, 4]))):
        cells = {name: [amount(chance) for _ in range(4)] for name in
                 ("Allocated memory", "Active memory", "GPU reserved memory")}
        device = chance.randrange(0, 8)
        lines = ["|" + "=" * 75 + "|",
                 "|%s|" % ("PyTorch CUDA memory summary, device ID %d" % device).center(75),
                 "|" + "-" * 75 + "|",
                 "|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |",
                 "|" + "=" * 75 + "|",
                 "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |"]
        for name, four in cells.items():
            lines.append("|" + "-" * 75 + "|")
            for label in (name, "      from large pool", "      from small pool"):
                lines.append("| %-22s|%s |" % (label, " |".join("%11s" % text for text, _ in four)))
        lines.append("|" + "=" * 75 + "|")
        dress.write_text(chance, folder / ("wan.v2-rank%d-memory-1795222559.txt" % rank),
                         "\n".join(lines) + "\n")
        rows.append({"rank": rank, "index": 0, "device": device,
                     "allocated_bytes": cells["Allocated memory"][0][1],
                     "max_allocated_bytes": cells["Allocated memory"][1][1],
                     "reserved_bytes": cells["GPU reserved memory"][0][1]})
    return {"memory.snapshots": rows}


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    return chance.choice([framepack_console, diffulex_summary, torch_memory])(chance, folder)
