# SPDX-License-Identifier: GPL-3.0-or-later
"""Videos in traces that are denoised and decoded block by block, played frame by frame: when they
can be watched and with which stalls, as playback.by_video says it; single images are silent."""
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from watched import SECOND, first_start, play

PROGRAM = os.environ["TA_PROGRAM"]
MS = 10**6
CHANNELS, HEIGHT, WIDTH = 16, 60, 104


class Recording:
    """Host and device of one trace; `now` in ns."""

    def __init__(self):
        self.events, self.now, self.number = [], 1000 * MS, 0

    def add(self, name, cat, at, dur, tid, args=None, pid=1):
        self.events.append({"ph": "X", "name": name, "cat": cat, "ts": at / 1000,
                            "dur": dur / 1000, "pid": pid, "tid": tid, "args": args or {}})

    def convolve(self, shape, weight, stride, padding, dur):
        """An operator and its kernel, which begins when the host has launched it and ends after
        `dur`; the host waits for it."""
        self.number += 1
        self.add("aten::convolution", "cpu_op", self.now, dur, 1,
                 {"Input Dims": [shape, weight, [weight[0]], *[[]] * 6],
                  "Input type": [*["c10::BFloat16"] * 3, *[""] * 6],
                  "Concrete Inputs": ["", "", "", str(stride), str(padding), "[1, 1, 1]", "False",
                                      "[0, 0, 0]", "1"],
                  "External id": self.number})
        self.add("cudaLaunchKernel", "cuda_runtime", self.now + 1000, 2000, 1,
                 {"correlation": self.number, "External id": self.number})
        self.add("implicit_gemm_conv", "kernel", self.now + 4000, dur - 5000, 7,
                 {"device": 0, "stream": 7, "correlation": self.number,
                  "External id": self.number}, pid=0)
        self.now += dur
        return self.now - 1000  # when the kernel is done

    def mark(self, name, since):
        self.add(name, "user_annotation", since, self.now - since + 500, 1)
        self.now += 1000

    def encode(self, dur=5 * MS):
        since = self.now
        self.convolve([1, 4, 1, 8, 8], [4, 4, 1, 1, 1], [1, 1, 1], [0, 0, 0], dur)
        self.mark("text_encode", since)

    def denoise(self, latents, steps, dur, pause=0):
        """Returns the start of the first kernel; before the other steps the device waits."""
        first = self.now + 4000
        for step in range(steps):
            if step > 0 and pause:
                self.add("aten::sort", "cpu_op", self.now, pause, 1)
                self.now += pause + 1000
            since = self.now
            self.convolve([1, CHANNELS, latents, HEIGHT, WIDTH], [1536, CHANNELS, 1, 2, 2],
                          [1, 2, 2], [0, 0, 0], dur)
            self.mark("denoise_step", since)
        return first

    def decode(self, latents, frames, dur):
        """Returns when its last kernel is done, and what its kernels take, without gaps."""
        since = self.now
        self.convolve([1, CHANNELS, latents, HEIGHT, WIDTH], [384, CHANNELS, 3, 3, 3],
                      [1, 1, 1], [1, 1, 1], dur // 2)
        done = self.convolve([1, 96, frames, 8 * HEIGHT, 8 * WIDTH], [3, 96, 3, 3, 3],
                             [1, 1, 1], [1, 1, 1], dur - dur // 2)
        self.mark("vae_decode", since)
        return done, done - since - 4000


def report(recording, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": recording.events}))
        done = subprocess.run([PROGRAM, "report", str(path), "--json", "--no-config", *options],
                              capture_output=True, text=True, check=True)
    items = [item for section in json.loads(done.stdout)["sections"] for item in section["items"]]
    tables = {item["id"]: [dict(zip((c["key"] for c in item["columns"]), row))
                           for row in item["rows"]]
              for item in items if item["kind"] == "table"}
    return tables, [item for item in items if item["kind"] == "finding"]


def near(what, ours, theirs, most=10):
    assert abs(ours - theirs) <= most, "%s: %s, not %s" % (what, ours, float(theirs))


def fewest(savings, needed):
    """How many of these reach it together, by what each saves at least, else at most."""
    for which in ("low", "high"):
        for n in range(1, len(savings) + 1):
            if any(sum(saving[which] for saving in some) >= needed
                   for some in itertools.combinations(savings, n)):
                return n, which == "low"
    return None, False


def inside(saving, blocks, run):
    """What of a saving is of the blocks: what the rest of the run has no room for, at most all."""
    low = max(0, saving["low"] - max(0, run - blocks))
    high = min(saving["high"], blocks)
    return {"low": min(low, high), "high": high}


def check_goal(finding, findings, needed, blocks, run):
    """The fewest other findings that reach the goal are named; returns whether there are any."""
    savings = [inside(item["saving_ns"], blocks, run) for item in findings
               if item is not finding and item["saving_ns"] and item["saving_ns"]["high"] > 0
               and item["rule"] != "repeated_encodes"]
    n, is_sure = fewest(savings, needed)
    named = (finding.get("details") or "").count("Toward the goal: ")
    assert named == (n or 0), (finding, savings, needed, n)
    if savings:
        is_one = (n or len(savings)) == 1
        word = (("saves that" if is_one else "save that") if is_sure else
                "may save that" if n else "saves at most" if is_one else "save at most")
        assert word in finding["why"], (finding, word)
        assert ("may save that" in finding["why"]) == (word == "may save that"), finding
    return bool(n)


def check(chance):
    recording = Recording()
    blocks, latents, steps = chance.randrange(2, 8), chance.randrange(1, 4), chance.randrange(2, 6)
    ratio, causal = 4, chance.random() < .5
    pause = chance.choice([0, 50 * MS, 400 * MS])
    videos = []
    for _ in range(chance.randrange(1, 3)):
        recording.encode()
        zero, ready, decodes = None, [], []
        for number in range(blocks):
            frames = latents * ratio - (ratio - 1 if causal and number == 0 else 0)
            start = recording.denoise(latents, steps, chance.randrange(20, 300) * MS, pause)
            zero = start if zero is None else zero
            done, took = recording.decode(latents, frames, chance.randrange(10, 200) * MS)
            ready.append((done - zero, frames))
            decodes.append(took)
        videos.append((ready, decodes))
    rate = chance.choice([8, 12, 16, 24, 30])
    tables, findings = report(recording, "--playback-fps", str(rate))
    rows = tables["playback.by_video"]
    assert len(rows) == len(videos), (len(rows), len(videos), tables["diffusion.loops"],
                                      tables["diffusion.tokens"])
    factors = []
    for row, (ready, decodes) in zip(rows, videos):
        frames = [moment for moment, n in ready for _ in range(n)]
        assert (row["frames"], row["blocks"]) == (len(frames), blocks), row
        assert (row["ready"], row["origin"]) == ("decoded", "first block"), row
        near("first", row["first_ns"], frames[0])
        near("wait", row["wait_ns"], first_start(frames, rate))
        stalls = play(frames, rate, frames[0])
        near("stalled", row["stalled_ns"], sum(stalls), 100)
        near("decode", row["decode_ns"], sum(decodes) / blocks)
        made = (len(frames) - ready[0][1]) * SECOND / (ready[-1][0] - ready[0][0])
        near("rate", row["rate"], made, made * 1e-6)
        factors.append(rate / made)
    slow = [item for item in findings if item["rule"] == "frame_rate"]
    assert bool(slow) == (max(factors) > 1), (slow, factors)
    if not slow:
        return False
    needed = sum(max(row["frames"] / row["rate"] * SECOND * (1 - 1 / row["real_time_factor"]), 0)
                 for row in rows)
    blocks = sum(row["frames"] / row["rate"] * SECOND for row in rows)
    return check_goal(slow[0], findings, needed, blocks,
                      tables["gpu_time.program"][0]["window_ns"])


def only_of_blocks():
    """A prompt that is encoded three times, each longer than a block, and steps that wait: the
    encoder saves most, and none of it toward the goal.  Without the waits nothing is named."""
    for pause, dur in ((400 * MS, 50 * MS), (0, 200 * MS)):
        recording = Recording()
        for _ in range(3):
            recording.encode(2000 * MS)
        for _ in range(4):
            recording.denoise(2, 4, dur, pause)
            recording.decode(2, 8, 20 * MS)
        tables, findings = report(recording, "--playback-fps", "24")
        by_rule = {item["rule"]: item for item in findings}
        goal, encodes = by_rule["frame_rate"], by_rule["repeated_encodes"]
        named = goal["details"].split("Toward the goal: ")[1:]
        assert encodes["saving_ns"]["high"] > 1500 * MS, encodes
        assert not any(text.startswith(encodes["title"]) for text in named), (goal, encodes)
        assert encodes["title"] not in (goal["details"] or ""), goal
        rows = tables["playback.by_video"]
        blocks = sum(row["frames"] / row["rate"] * SECOND for row in rows)
        needed = sum(row["frames"] / row["rate"] * SECOND * (1 - 1 / row["real_time_factor"])
                     for row in rows)
        reaches = check_goal(goal, findings, needed, blocks,
                             tables["gpu_time.program"][0]["window_ns"])
        assert reaches == bool(pause) == bool(named), (pause, goal, findings)


def silent():
    """A single image by a decoder of videos, several images of one prompt, a video that is decoded
    as a whole, and one whose decoder is not of known shapes."""
    image = Recording()
    image.encode()
    image.denoise(1, 4, 50 * MS)
    image.decode(1, 1, 20 * MS)
    images = Recording()
    images.encode()
    for _ in range(4):
        images.denoise(1, 4, 50 * MS)
        images.decode(1, 1, 20 * MS)
    whole = Recording()
    whole.encode()
    whole.denoise(3, 4, 50 * MS)
    whole.decode(3, 9, 20 * MS)
    unknown = Recording()
    unknown.encode()
    for _ in range(4):
        unknown.denoise(3, 4, 50 * MS)
        unknown.decode(3, 9, 20 * MS)
    for event in unknown.events:
        for key in ("Input Dims", "Input type", "Concrete Inputs"):
            event["args"].pop(key, None)
    for name, recording in (("image", image), ("images", images), ("whole", whole),
                            ("unknown", unknown)):
        tables, findings = report(recording)
        assert not tables.get("playback.by_video"), (name, tables["playback.by_video"])
        said = [item["rule"] for item in findings
                if item["rule"] in ("frame_rate", "playback_start")]
        assert not said, (name, said)


def main():
    chance = random.Random(26)
    reached = sum(check(chance) for _ in range(25))
    only_of_blocks()
    silent()
    assert reached > 0, "no finding reaches a goal"
    print("25 recordings of videos,", reached, "with findings that reach their goal; 4 of what is",
          "no video, or none made in blocks")


if __name__ == "__main__":
    sys.exit(main())
