# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens, streams and caches of the dumps of ../shared, calculated once more from what is in the
files: rates are sums over sums, what is dropped is over what was sent and dropped, and hits are
over lookups.

usage: test_counters.py DATA
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

PROGRAM = os.environ["TA_PROGRAM"]
SKIPPED = 77


def report(path):
    done = subprocess.run([PROGRAM, "report", str(path), "--json", "--no-config"],
                          capture_output=True, text=True, check=True)
    return {item["id"]: [dict(zip((c["key"] for c in item["columns"]), row))
                         for row in item["rows"]]
            for section in json.loads(done.stdout)["sections"] for item in section["items"]
            if item["kind"] == "table"}


def near(what, ours, theirs):
    assert ours is not None and abs(ours - theirs) <= 1e-6 * max(abs(theirs), 1e-9), \
        (what, ours, theirs)


def check_tokens(path):
    """Sections of an export of Diffulex; those without tokens recorded none."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for metric in json.loads(path.read_text())["metrics"]:
        if metric.get("total_tokens", 0) > 0 and metric["duration_sec"] > 0:
            of = sums[metric["name"]]
            of[0] += 1
            of[1] += metric["total_tokens"]
            # The recorder is told its own duration, a little shorter than the section.
            of[2] += metric["total_tokens"] / metric["throughput_tokens_per_sec"]
    rows = {row["section"]: row for row in report(path).get("sections.tokens", [])}
    assert set(rows) == set(sums), (path, sorted(rows), sorted(sums))
    for name, (calls, tokens, seconds) in sums.items():
        assert (rows[name]["calls"], rows[name]["tokens"]) == (calls, tokens), (path, rows[name])
        near((path, name), rows[name]["tokens_per_s"], tokens / seconds)
    return len(sums)


def check_stream(path, stream, rows):
    sent, dropped = stream["total_frames_streamed"], stream["total_dropped_frames"]
    assert len(rows) == 1, (path, rows)
    row = rows[0]
    assert (row["frames"], row["dropped"]) == (sent, dropped), (path, row)
    near(path, row["drop_ratio"], dropped / (sent + dropped))
    near(path, row["encode_mean_ns"], stream["avg_encoding_time_ms"] * 1e6)
    near(path, row["network_mean_ns"], stream["avg_network_latency_ms"] * 1e6)


def check_cache(path, events, told, rows):
    """Lookups one by one where they are recorded, else as the profiler counted them."""
    counts = collections.Counter(event["data"]["event_type"] for event in events
                                 if event["name"] == "cache_event")
    told = told.get("cache_performance", {})
    hits = counts["hit"] + counts["hits"] if counts else told["hits"]
    misses = counts["miss"] + counts["misses"] if counts else told["misses"]
    evictions = counts["eviction"] + counts["evictions"] if counts else told["evictions"]
    assert hits == sum(row["hits"] or 0 for row in rows), (path, hits, rows)
    assert misses == sum(row["misses"] or 0 for row in rows), (path, misses, rows)
    assert evictions == sum(row["evictions"] or 0 for row in rows), (path, evictions, rows)
    if len(rows) == 1 and hits + misses:
        near(path, rows[0]["hit_ratio"], hits / (hits + misses))


def main():
    data = pathlib.Path(sys.argv[1])
    if not (data / "dumps").is_dir():
        print("no dumps at", data)
        return SKIPPED
    done = collections.Counter()
    for path in sorted(data.glob("dumps/diffulex/*/profile_*.json")) + \
            sorted(data.glob("seeds/dx_*/profile_*.json")):
        if "overwritten" not in path.parent.name and re.search(r"\d\.json$", path.name):
            done["sections"] += check_tokens(path)
    for path in sorted(data.glob("dumps/inferix/*/**/profiling_report_*.json")) + \
            sorted(data.glob("seeds/inf_*/profiling_report_*.json")):
        text = json.loads(path.read_text())
        stream, cache = text.get("streaming_analysis"), text.get("cache_analysis")
        if not stream and not cache:
            continue
        tables = report(path)
        if stream:
            check_stream(path, stream, tables.get("streaming.by_rank", []))
            done["streams"] += 1
        if cache:
            check_cache(path, text.get("events", []), cache, tables.get("caches.by_name", []))
            done["caches"] += 1
    print(dict(done))
    assert min(done[what] for what in ("sections", "streams", "caches")) > 3, done
    return 0


if __name__ == "__main__":
    sys.exit(main())
