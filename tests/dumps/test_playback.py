# SPDX-License-Identifier: GPL-3.0-or-later
"""Videos in reports of Inferix, played frame by frame: when they can be watched, and with which
stalls, as the tables of the program say it."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from watched import SECOND, first_start, play

PROGRAM = os.environ["TA_PROGRAM"]
START = 1795221177


def report(folder, *options):
    done = subprocess.run([PROGRAM, "report", str(folder), "--json", "--no-config", *options],
                          capture_output=True, text=True, check=True)
    tables = {item["id"]: item for section in json.loads(done.stdout)["sections"]
              for item in section["items"] if item["kind"] == "table"}
    return {name: [dict(zip((c["key"] for c in item["columns"]), row)) for row in item["rows"]]
            for name, item in tables.items()}


class Video:
    """Blocks with the end of their denoising, in ns since the start of the session."""

    def __init__(self, chance, now, size):
        self.blocks = []
        for number in range(chance.randrange(2, 15)):
            dur = chance.randrange(50, 2000) * 10**6
            now += dur + chance.randrange(0, 100) * 10**6
            self.blocks.append((number, size, dur, now))
        self.end = now


def write(folder, videos, decode, per_block, shape, sent):
    events = []
    for video in videos:
        for number, size, dur, end in video.blocks:
            events.append({"name": "block_computation", "timestamp": START + end / SECOND,
                           "data": {"block_index": number, "block_size": size,
                                    "computation_time_ms": dur / 10**6,
                                    "memory_usage_mb": 1.0}})
    last = videos[-1].end
    if shape:
        events.append({"name": "generation_completed", "timestamp": START + last / SECOND,
                       "data": {"output_shape": shape}})
    stages = {}
    if decode:
        calls = sum(len(video.blocks) for video in videos) if per_block else len(videos)
        stages["vae_decode"] = {"total_time": decode * calls / SECOND, "call_count": calls,
                                "avg_time": decode / SECOND, "min_time": decode / SECOND,
                                "max_time": decode / SECOND, "percentage_of_total": 100.0}
    blocks = [{"block_index": number, "block_size": size, "computation_time_ms": dur / 10**6,
               "memory_usage_mb": 1.0}
              for video in videos for number, size, dur, _ in video.blocks]
    written = {"session_info": {"id": "s", "start_time": float(START),
                                "end_time": START + last / SECOND + 5,
                                "duration": last / SECOND + 5, "tags": {"rank": 0}},
               "summary": {}, "events": events, "recommendations": [],
               "stage_analysis": {"total_stages": len(stages), "total_time": 1.0,
                                  "stages": stages},
               "block_analysis": {"total_blocks": len(blocks), "blocks": blocks}}
    if sent:
        written["streaming_analysis"] = {"total_streaming_events": len(blocks),
                                         "total_frames_streamed": sent,
                                         "total_dropped_frames": 0}
    (folder / "profiling_report_s_20261121_003326.json").write_text(json.dumps(written))


def near(what, ours, theirs, most):
    assert abs(ours - theirs) <= most, "%s: %s, not %s" % (what, ours, float(theirs))


def check(chance, folder):
    size, ratio = chance.randrange(2, 6), 4
    per_block = chance.random() < .5
    causal = chance.random() < .5
    told = chance.choice(["shape", "sent", None])
    decode = chance.choice([0, chance.randrange(20, 300) * 10**6])
    now, videos = 300 * 10**6, []
    for _ in range(chance.randrange(1, 4)):
        videos.append(Video(chance, now, size))
        now = videos[-1].end + 2 * SECOND
    if per_block and decode:
        # The decoder runs between blocks: they begin later.
        for video in videos:
            video.blocks = [(n, s, d, e + decode * n) for n, s, d, e in video.blocks]
            video.end += decode * (len(video.blocks) - 1)
        for before, video in zip(videos, videos[1:]):
            shift = before.end + SECOND
            video.blocks = [(n, s, d, e + shift) for n, s, d, e in video.blocks]
            video.end += shift
    def shown(number):
        return size * ratio - (ratio - 1 if causal and number == 0 else 0)
    lengths = [sum(shown(n) for n, *_ in video.blocks) for video in videos]
    write(folder, videos, decode, per_block,
          [1, lengths[0], 3, 64, 64] if told == "shape" else None,
          sum(lengths) if told == "sent" else 0)
    rate = chance.choice([8, 12, 16, 24, 30])
    tables = report(folder, "--playback-fps", str(rate))
    rows = tables["playback.by_video"]
    assert len(rows) == len(videos), (len(rows), len(videos))
    for row, video, length in zip(rows, videos, lengths):
        first = video is videos[0]
        zero = 0 if first else video.blocks[0][3] - video.blocks[0][2]
        ready = []
        for number, _, _, end in video.blocks:
            at = end if per_block or not decode else video.end
            frames = shown(number) if told else size
            ready += [at + decode - zero] * frames
        assert row["frames"] == (length if told else size * len(video.blocks)), (row, length)
        assert row["ratio"] == (ratio if told else None), row
        assert row["origin"] == ("session" if first else "first block"), row
        # Stamps of a dump are floats of seconds: some 240 ns apart.
        near("first", row["first_ns"], ready[0], 2000)
        near("wait", row["wait_ns"], first_start(ready, rate), 2000)
        stalls = play(ready, rate, ready[0])
        near("stalled", row["stalled_ns"], sum(stalls), 2000)
        if all(stall > 4000 for stall in stalls):
            assert row["stalls"] == len(stalls), (row, stalls)
        near("longest", row["longest_ns"], max(stalls, default=0), 2000)
    parts = tables["playback.first_frames"]
    near("parts", sum(row["time_ns"] for row in parts), rows[0]["first_ns"], 10)
    assert abs(sum(row["share"] for row in parts) - 1) < 1e-6, parts
    decoded = [row["time_ns"] for row in parts if row["part"] == "VAE decoding"]
    assert decoded == ([decode] if decode else []), (decoded, decode)
    for row in tables.get("playback.by_rate", []):
        assert row["wait_ns"] >= rows[row["video"]]["first_ns"] - 1
    waits = [row["wait_ns"] for row in tables.get("playback.by_rate", [])]
    assert waits == sorted(waits), "faster playback waits longer"
    return told


def main():
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(random.Random(seed), pathlib.Path(folder))
            except Exception:
                print("seed", seed)
                raise


main()
