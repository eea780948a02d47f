# SPDX-License-Identifier: GPL-3.0-or-later
"""The committed samples: the generator writes the same bytes again, and reports find what is
planted, figures as they are beside those that the profilers got wrong."""
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import reports

PROGRAM = pathlib.Path(os.environ["TA_PROGRAM"]).resolve()
GENERATOR = pathlib.Path(os.environ["TA_GENERATOR"]).resolve()
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
REPORT_SIZE = 300_000


def contents(folder):
    """Bytes of every file, inflated: another zlib may compress differently."""
    return {str(path.relative_to(folder)):
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def report(*inputs):
    return reports.read(PROGRAM, *inputs)


def only(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} rows of {wanted}")
    return found[0]


class Same(unittest.TestCase):
    def check(self, name, *options):
        with tempfile.TemporaryDirectory(prefix="samples-") as folder:
            subprocess.run([GENERATOR, *options, "-o", folder], stdout=subprocess.DEVNULL,
                           check=True, timeout=240)
            made, committed = contents(pathlib.Path(folder)), contents(SAMPLES / name)
        self.assertEqual(sorted(made), sorted(committed))
        self.assertEqual([path for path in made if made[path] != committed[path]], [])

    def test_traces(self):
        self.check("video-4ranks", "--variant", "baseline")
        self.check("video-4ranks-optimized", "--variant", "optimized")

    def test_dumps(self):
        for kind, name in (("inferix", "inferix-4ranks"), ("framepack", "framepack-pair"),
                           ("diffulex", "diffulex")):
            with self.subTest(kind):
                self.check(name, "--dumps", kind)
                size = sum(path.stat().st_size for path in (SAMPLES / name).rglob("*")
                           if path.is_file())
                self.assertLess(size, REPORT_SIZE)


class Stragglers(unittest.TestCase):
    def test_copies_of_a_straggler(self):
        """Rank 2 is late for pageable copies: those of the others are the same finding."""
        of = report(SAMPLES / "video-4ranks")
        self.assertRegex(of.finding("straggler")["title"], "Rank 2 .* pageable host-to-device copy")
        self.assertIsNone(of.finding("pageable-copy"))
        self.assertRegex(of.finding("straggler")["details"],
                         "Copies of pageable memory hold up the host and the GPU of rank [013]:")


class Inferix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = report(SAMPLES / "inferix-4ranks")
        cls.dumps = [json.loads(next(SAMPLES.glob(
            f"inferix-4ranks/rank_{rank}/profiling_report_*.json")).read_text())
            for rank in range(4)]

    def rows(self, name):
        return self.report.rows(name)

    def test_stages(self):
        for rank, dump in enumerate(self.dumps):
            for name, stage in dump["stage_analysis"]["stages"].items():
                row = only(self.rows("stages.by_name"), rank=rank, stage=name)
                self.assertEqual(row["total_ns"], round(stage["total_time"] * 1e9))
                self.assertEqual(row["calls"], 7 if name == "vae_decode" else 1)
            row = only(self.rows("stages.by_name"), rank=rank, stage="run_inference")
            self.assertIsNone(row["share"])

    def test_blocks(self):
        rows = self.rows("diffusion.blocks")
        self.assertEqual([(row["rank"], row["block"], row["frames"]) for row in rows],
                         [(rank, block, 3) for rank in range(4) for block in range(7)])
        first = self.dumps[0]["block_analysis"]["blocks"][0]["computation_time_ms"]
        self.assertEqual(rows[0]["dur_ns"], round(first * 1e6))

    def test_late_rank(self):
        rows = self.rows("diffusion.by_rank")
        times = [row["step_mean_ns"] for row in rows]
        others = (times[0] + times[1] + times[3]) / 3
        self.assertEqual([(row["passes"], row["steps_per_pass"]) for row in rows], [(7, 4)] * 4)
        self.assertAlmostEqual(times[2] / others, 1.09, delta=0.01)
        clocks = {row["device"]: row["mean"] for row in self.rows("telemetry.by_rank")
                  if row["rank"] == 0 and row["signal"] == "gpu_clock"}
        self.assertEqual([clocks[device] for device in (0, 1, 3)], [1.98e9] * 3)
        self.assertLess(clocks[2], 1.75e9)

    def test_speed_and_what_was_reported(self):
        rows = self.rows("throughput.values")
        for rank, dump in enumerate(self.dumps):
            blocks = sum(block["computation_time_ms"] for block in
                         dump["block_analysis"]["blocks"])
            own = only(rows, rank=rank, metric="fps", basis="blocks")["value"]
            theirs = only(rows, rank=rank, metric="fps", basis="as_reported")["value"]
            self.assertAlmostEqual(own, 21 / blocks * 1e3, places=6)
            self.assertAlmostEqual(theirs, dump["diffusion_analysis"]["fps"], places=6)
            self.assertGreater(theirs, 4 * own)

    def test_energy_and_what_was_reported(self):
        row = only(self.rows("energy.by_rank"), rank=1, device=None)
        theirs = self.dumps[1]["gpu_metrics"]["power_analysis"]["total_energy_wh"]
        self.assertAlmostEqual(row["energy_j"], row["mean_w"] * row["covered_ns"] / 1e9, places=3)
        self.assertGreater(theirs, 40 * row["energy_wh"])

    def test_caches_streaming_and_files(self):
        self.assertEqual([(row["hits"], row["misses"], row["evictions"])
                          for row in self.rows("caches.by_name")], [(21, 7, 1)] * 4)
        self.assertEqual([(row["frames"], row["dropped"]) for row in
                          self.rows("streaming.by_rank")], [(81, 2)] * 4)
        self.assertEqual(sorted({row["format"] for row in self.rows("run.files")}),
                         ["inferix_aggregate", "inferix_flat", "inferix_raw", "inferix_report",
                          "inferix_stream", "log"])
        self.assertEqual(self.report.document["data_quality"]["status"], "clean")


class FramePack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = [report(SAMPLES / "framepack-pair" / name)
                    for name in ("baseline", "regressed")]

    def stage(self, run, name):
        return only(self.runs[run].rows("stages.by_name"), stage=name)

    def test_regression(self):
        for name, calls, before, after in (("vae_decode", 12, 2.61, 3.76),
                                           ("transformer_forward", 216, 0.402, 0.523)):
            for run, mean in enumerate((before, after)):
                row = self.stage(run, name)
                self.assertEqual(row["calls"], calls)
                self.assertAlmostEqual(row["mean_ns"] / 1e9 / mean, 1, delta=0.015)
        self.assertEqual([self.stage(run, "vae_encode")["total_ns"] for run in (0, 1)],
                         [self.stage(0, "vae_encode")["total_ns"]] * 2)

    def test_memory(self):
        for run, name in enumerate(("baseline", "regressed")):
            marks = json.loads((SAMPLES / "framepack-pair" / name / "memory_log.json").read_text())
            peak = max(mark["max_allocated_mb"] for mark in marks)
            row, = self.runs[run].rows("memory.by_rank")
            self.assertAlmostEqual(row["peak_allocated_bytes"] / 2**20, peak, places=3)
            self.assertEqual(row["snapshots"], len(marks))

    def test_tables(self):
        for run in self.runs:
            row, = run.rows("iterations.by_name")
            self.assertEqual(row["count"], 300)
            self.assertEqual(len(run.rows("caches.hits")), 96)
            self.assertEqual(len(run.rows("run.files")), 4)
            self.assertEqual(run.document["data_quality"]["status"], "clean")


class Diffulex(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = report(SAMPLES / "diffulex")

    def rows(self, name):
        return self.report.rows(name)

    def test_sections(self):
        dump = json.loads((SAMPLES / "diffulex/profile_20260115_103000.json").read_text())
        for section in dump["metrics"]:
            row = only(self.rows("stages.by_name"), stage=section["name"])
            self.assertEqual(row["total_ns"], round(section["duration_sec"] * 1e9))
        batch = only(self.rows("sections.tokens"), section="batch_3")
        self.assertEqual(batch["tokens"], 1024)

    def test_stage_timing(self):
        sums = {}
        with open(SAMPLES / "diffulex/stage_timing.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (int(row["rank"] or -1), f"{row['scope']}/{row['stage']}")
                sums[key] = sums.get(key, 0) + round(float(row["cpu_ms"]) * 1e6)
        for (rank, stage), total in sums.items():
            row = only(self.rows("stages.by_name"), stage=stage, rank=None if rank < 0 else rank)
            self.assertEqual(row["total_ns"], total)
        prepare = [sums[rank, "multi_block/prepare_sample"] for rank in range(4)]
        self.assertEqual(prepare.index(max(prepare)), 2)
        self.assertGreater(prepare[2], 3.5 * prepare[0])

    def test_operators_and_requests(self):
        reduce = [only(self.rows("ops.summed"), name="nccl:all_reduce", rank=rank)["self_device_ns"]
                  for rank in range(4)]
        self.assertEqual(reduce, [225_000_000, 225_000_000, 164_000_000, 225_000_000])
        row, = self.rows("requests.by_rank")
        self.assertEqual((row["requests"], row["tokens"]), (8, 917))
        reported = only(self.rows("throughput.values"), metric="ttft_ns", basis="as_reported")
        self.assertAlmostEqual(row["ttft_mean_ns"], reported["value"], delta=1e3)
        self.assertEqual(self.report.document["data_quality"]["status"], "clean")


if __name__ == "__main__":
    sys.stdout.flush()
    unittest.main()
