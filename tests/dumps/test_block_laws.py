# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth with the context and time by size, planted in reports of Inferix."""
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

PROGRAM = os.environ["TA_PROGRAM"]
MS = 10**6


def report(blocks, *options):
    """Tables and findings of a run with these (frames, ns), one after the other."""
    start, now, events, listed = 1795221177, 0, [], []
    for number, (frames, dur) in enumerate(blocks):
        now += dur
        data = {"block_index": number, "block_size": frames, "computation_time_ms": dur / MS,
                "memory_usage_mb": 1.0}
        listed.append(data)
        events.append({"name": "block_computation", "timestamp": start + now / 1e9, "data": data})
    written = {"session_info": {"id": "s", "start_time": float(start),
                                "end_time": start + now / 1e9, "duration": now / 1e9,
                                "tags": {"rank": 0}},
               "summary": {}, "events": events, "recommendations": [],
               "block_analysis": {"total_blocks": len(listed), "blocks": listed}}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "profiling_report_s_20261121_003326.json")
        path.write_text(json.dumps(written))
        done = subprocess.run([PROGRAM, "report", str(path), "--json", "--no-config", *options],
                              capture_output=True, text=True, check=True)
    items = [item for section in json.loads(done.stdout)["sections"] for item in section["items"]]
    tables = {item["id"]: [dict(zip((c["key"] for c in item["columns"]), row))
                           for row in item["rows"]] for item in items if item["kind"] == "table"}
    return tables, {item["id"]: item for item in items if item["kind"] == "finding"}


def grown(n, base, slope, window=math.inf, noise=lambda: 1):
    return [round((base + slope * min(i, window)) * noise()) for i in range(n)]


def near(what, ours, planted, share=1e-6):
    assert abs(ours - planted) <= share * abs(planted) + 1, "%s: %s, not %s" % (what, ours, planted)


def exact():
    """Without noise the fit is what was planted, and the horizon is counted."""
    for slope, window, rate in ((20, math.inf, 12), (20, 6, 16), (35, 9, 10), (15, math.inf, 20)):
        times = grown(14, 150 * MS, slope * MS, window)
        tables, _ = report([(4, t) for t in times], "--playback-fps", str(rate))
        row, = tables["diffusion.context_growth"]
        near("base", row["base_ns"], 150 * MS)
        near("growth", row["growth_ns"], slope * MS)
        assert row["window"] == (None if window == math.inf else window), row
        limit = 4 * 1e9 / rate
        near("limit", row["limit_ns"], limit)
        above = [i for i, t in enumerate(grown(1000, 150 * MS, slope * MS, window)) if t > limit]
        assert row["real_time_until"] == (above[0] if above else None), (row, above[:1])


def five_are_too_few():
    tables, findings = report([(4, t) for t in grown(5, 100 * MS, 20 * MS)])
    assert "diffusion.context_growth" not in tables
    assert "context-growth" not in findings
    tables, findings = report([(3 + i % 2, t) for i, t in enumerate(grown(12, 90 * MS, 9 * MS))])
    assert "diffusion.context_growth" not in tables, "blocks of several sizes"
    assert "diffusion.block_law" not in tables, "two sizes"


def noisy(runs=60):
    """Intervals hold what was planted; no growth is said of steady blocks."""
    holds = windows = false = finds = 0
    for seed in range(runs):
        chance = random.Random(seed)
        noise = lambda: 1 + chance.gauss(0, .01)
        times = grown(16, 300 * MS, 15 * MS, noise=noise)
        row, = report([(4, t) for t in times])[0]["diffusion.context_growth"]
        holds += row["growth_low_ns"] <= 15 * MS <= row["growth_high_ns"]
        windows += row["window"] is not None
        row, = report([(4, t) for t in grown(16, 300 * MS, 0, noise=noise)])[0][
            "diffusion.context_growth"]
        false += row["added_ns"] > 0
        tables, findings = report([(4, t) for t in grown(16, 300 * MS, 20 * MS, 8, noise)])
        row, = tables["diffusion.context_growth"]
        finds += abs(row["window"] - 8) <= 1 if row["window"] else 0
        saving = findings["context-growth"]["saving_ns"]
        planted = sum(20 * MS * min(i, 8) for i in range(16))
        assert saving["low"] <= planted and saving["high"] <= 1.1 * planted, (saving, planted)
    assert holds >= .85 * runs, holds
    assert windows <= .1 * runs, windows
    assert false <= .1 * runs, false
    assert finds >= .9 * runs, finds


def sizes(runs=40):
    """Time of a block = fixed part + frames · time of a frame."""
    holds = 0
    for seed in range(runs):
        chance = random.Random(seed)
        blocks = [(b, round((120 * MS + b * 40 * MS) * (1 + chance.gauss(0, .01))))
                  for b in (2, 3, 4, 6, 8) for _ in range(6)]
        chance.shuffle(blocks)
        tables, _ = report(blocks)
        row, = tables["diffusion.block_law"]
        holds += (row["fixed_low_ns"] <= 120 * MS <= row["fixed_high_ns"]) + (
            row["per_frame_low_ns"] <= 40 * MS <= row["per_frame_high_ns"])
        near("half", row["half_size"], 3, .2)
        near("rate", row["largest_rate"], 25, .05)
        assert row["sizes"] == 5 and row["blocks"] == 29, row
        for size in tables["diffusion.by_block_size"]:
            near("fitted", size["fitted_ns"], 120 * MS + size["frames"] * 40 * MS, .03)
    assert holds >= .85 * 2 * runs, holds


def main():
    exact()
    five_are_too_few()
    noisy()
    sizes()


main()
