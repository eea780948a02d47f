# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans, predicted from a made run and held against another made run that does what was planned."""
import json
import os
import pathlib
import random
import subprocess
import tempfile

PROGRAM = os.environ["TA_PROGRAM"]
MS = 10**6
START = 1795221177


class Machine:
    """Takes rest + steps · step for a block, both by its frames, with noise of so much."""

    def __init__(self, chance, noise):
        self.chance, self.noise = chance, noise
        self.rest = [chance.uniform(20, 80) * MS, chance.uniform(2, 15) * MS]
        self.step = [chance.uniform(10, 40) * MS, chance.uniform(3, 20) * MS]

    def some(self, law, frames):
        return max(1, round((law[0] + law[1] * frames) * (1 + self.chance.gauss(0, self.noise))))

    def block(self, frames, steps):
        """Times of its steps, and what else it takes."""
        return [self.some(self.step, frames) for _ in range(steps)], self.some(self.rest, frames)


def write(folder, blocks, records=1):
    """A report with these (frames, times of steps, rest), and so many records of a step."""
    now, events, steps, listed = 0, [], [], []
    for number, (frames, times, rest) in enumerate(blocks):
        begin = now + rest // 3  # two thirds of the rest are in the block, the others before it
        now = begin
        for step, time in ((s, t / records) for s, t in enumerate(times) for _ in range(records)):
            now += time
            steps.append({"step": step, "timestep": 1 - step / 100, "block_size": frames,
                          "computation_time_ms": time / MS, "guidance_scale": 3.0})
            events.append({"name": "diffusion_step", "timestamp": START + now / 1e9,
                           "data": steps[-1]})
        now += rest - rest // 3
        listed.append({"block_index": number, "block_size": frames,
                       "computation_time_ms": (now - begin) / MS, "memory_usage_mb": 1.0})
        events.append({"name": "block_computation", "timestamp": START + now / 1e9,
                       "data": listed[-1]})
    written = {"session_info": {"id": "s", "start_time": float(START),
                                "end_time": START + now / 1e9, "duration": now / 1e9,
                                "tags": {"rank": 0}},
               "summary": {}, "events": events, "recommendations": [],
               "diffusion_analysis": {"total_steps": len(steps), "steps": steps},
               "block_analysis": {"total_blocks": len(listed), "blocks": listed}}
    path = pathlib.Path(folder, "profiling_report_s_20261121_003326.json")
    path.write_text(json.dumps(written))


def table(name, blocks, *options, records=1):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, blocks, records)
        done = subprocess.run([PROGRAM, "report", *options, folder, "--json", "--no-config"],
                              capture_output=True, text=True, check=True)
    for section in json.loads(done.stdout)["sections"]:
        for item in section["items"]:
            if item["id"] == name:
                keys = [column["key"] for column in item["columns"]]
                return [dict(zip(keys, row)) for row in item["rows"]]
    return []


def plans(blocks, *options, records=1):
    return table("diffusion.plan", blocks, "--plan", *options, records=records)


def mean(values):
    return sum(values) / len(values)


def hold_out(runs=100):
    """Runs of other steps and blocks take what was predicted, and lie within the intervals."""
    held = cases = 0
    for seed in range(runs):
        chance = random.Random(seed)
        machine = Machine(chance, .03)
        sizes = [chance.choice((2, 3, 4, 6)) for _ in range(24)] + [2, 3, 4, 6]
        rows = plans([(b, *machine.block(b, 4)) for b in sizes], "steps=2,8", "block=3,5")
        assert len(rows) == 5, rows
        for row in rows[1:]:
            frames, steps = int(row["block"]), int(row["steps"])
            run = [machine.block(frames, steps) for _ in sizes]
            truth = mean([sum(times) + rest for times, rest in run])
            off = abs(row["time_ns"] / truth - 1)
            assert off < .05, (seed, row, truth)
            assert abs(row["fps"] - frames * 1e9 / row["time_ns"]) < 1e-6 * row["fps"]
            held += row["time_low_ns"] <= truth <= row["time_high_ns"]
            cases += 1
            assert "steps" in row["extrapolated"]
            assert "block" not in row["extrapolated"], row
    assert held >= .9 * cases, (held, cases)


def one_size():
    """Of blocks of one size only bounds are said of another, and the truth is between them."""
    for seed in range(20):
        machine = Machine(random.Random(seed), .01)
        rows = plans([(3, *machine.block(3, 4)) for _ in range(12)], "block=6", "steps=4,8")
        for row in rows[1:]:
            steps = int(row["steps"])
            truth = mean([sum(times) + rest
                          for times, rest in (machine.block(6, steps) for _ in range(200))])
            assert row["time_ns"] is None and row["note"].startswith("Bounds"), row
            assert row["time_low_ns"] <= truth <= row["time_high_ns"], (row, truth)


def passes():
    """More passes than recorded have bounds, with few steps too; another block widens them."""
    for n_blocks, steps in ((2, 1), (6, 4)):
        machine = Machine(random.Random(steps), .01)
        blocks = [(4, *machine.block(4, steps)) for _ in range(n_blocks)]
        once, twice, halved = plans(blocks, "guidance=4", "block=4,2", records=2)
        assert once["guidance"] == 2, once
        assert twice["time_ns"] is None and twice["note"].startswith("Bounds: further"), twice
        assert twice["time_low_ns"] <= once["time_ns"] <= twice["time_high_ns"], (once, twice)
        assert abs(halved["time_low_ns"] / twice["time_low_ns"] - .5) < 1e-9, (twice, halved)
        assert abs(halved["time_high_ns"] / twice["time_high_ns"] - 1) < 1e-9, (twice, halved)
        assert "further" in halved["note"] and "sizes" in halved["note"], halved


def cached():
    """Shortened steps are told apart, and another share of them is predicted."""
    for seed in range(10):
        chance = random.Random(seed)
        machine = Machine(chance, .01)
        def block(share):
            times, rest = machine.block(4, 20)
            return [t if i % 20 >= 20 * share else round(.3 * t) for i, t in enumerate(times)], rest
        recorded = [(4, *block(.4)) for _ in range(10)]
        rows = plans(recorded, "cached=0,0.6")
        assert abs(rows[0]["cached"] - .4) < .03, rows[0]
        for row in rows[1:]:
            truth = mean([sum(times) + rest
                          for times, rest in (block(row["cached"]) for _ in range(50))])
            assert abs(row["time_ns"] / truth - 1) < .03, (row, truth)


def timesteps():
    """The first, second … step of all blocks, with their median."""
    for seed in range(10):
        machine = Machine(random.Random(seed), .05)
        blocks = [(4, *machine.block(4, 5)) for _ in range(9)]
        rows = table("diffusion.by_timestep", blocks)
        assert [row["place"] for row in rows] == [1, 2, 3, 4, 5], rows
        for row in rows:
            times = sorted(block[1][row["place"] - 1] for block in blocks)
            assert row["steps"] == 9 and abs(row["step_p50_ns"] - times[4]) < 10, (row, times)
            assert times[0] - 10 <= row["p50_low_ns"] <= times[4] <= row["p50_high_ns"], row
            assert abs(row["timestep"] - (1 - (row["place"] - 1) / 100)) < 1e-9, row
        assert abs(sum(row["share"] for row in rows) - 1) < 1e-9
    assert not table("diffusion.by_timestep", blocks[:1]), "one pass"


def said():
    """What cannot be predicted says why; unusable plans are refused at once."""
    machine = Machine(random.Random(1), .01)
    blocks = [(3, *machine.block(3, 4)) for _ in range(6)]
    row = plans(blocks, "guidance=2")[1]
    assert row["time_ns"] is None and row["note"], row
    rows = plans(blocks, "steps=4", "frames=30,300")
    assert rows[1]["extrapolated"] == "frames" and rows[2]["video_ns"] > 9 * rows[1]["video_ns"]
    assert rows[0]["time_ns"] == rows[1]["time_ns"]
    for wrong in ("steps", "stepz=3", "steps=", "steps=0", "steps=4,", "steps=-1", "cached=1.5",
                  "block=2.5", "steps=nan", "frames=1e99"):
        done = subprocess.run([PROGRAM, "report", "--plan=" + wrong, "--no-config", "."],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "Unusable plan" in done.stderr, (wrong, done)


def main():
    said()
    timesteps()
    one_size()
    passes()
    cached()
    hold_out()


main()
