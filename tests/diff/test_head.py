#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first line of a comparison: the stage that changed, by how much, and what came with it.

usage: test_head.py --program PROGRAM

Runs of FramePack in which decoding became slow as the transformer stayed in the memory of the
device, the same the other way around, and runs in which nothing or only noise changed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import reports

PROGRAM = None

STAGES = {"text_encoding_positive": (1, 2.5), "vae_encode": (1, 0.4),
          "transformer_forward": (36, 96.0)}
LABELS = ("worker_start", "after_text_encoding", "after_sampling_chunk_0", "after_vae_decode_0")


def run(folder, decode_s, held_mib, factor=1.0, steady=0):
    """A dump of one run: `decode_s` of decoding, `held_mib` allocated behind the sampling, and
    `steady` more labels."""
    stages = {name: (calls, total * factor) for name, (calls, total) in STAGES.items()}
    stages["vae_decode"] = (12, decode_s)
    timing = {name: {"count": calls, "total": total, "mean": total / calls,
                     "min": total / calls, "max": total / calls, "last": total / calls}
              for name, (calls, total) in stages.items()}
    levels = {f"steady_{number}": 1500.0 for number in range(steady)}
    levels.update(zip(LABELS, (1024.0, 4096.0, held_mib, 2048.0)))
    snapshots, peak = [], 0.0
    for number, (label, level) in enumerate(levels.items()):
        peak = max(peak, level)
        snapshots.append({"label": label, "timestamp": 1795221500.0 + number, "allocated_mb": level,
                          "reserved_mb": level + 512, "max_allocated_mb": peak})
    folder.mkdir()
    (folder / "profiling_report.json").write_text(json.dumps(
        {"timestamp": 1795221599.0, "timing_stats": timing, "memory_snapshots": snapshots,
         "iteration_stats": {}}), encoding="utf-8")
    return folder


class Head(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-head-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, before, after):
        """The verdict; what people see and the document are kept."""
        done = subprocess.run([PROGRAM, "--no-config", "diff", "-v", before, after, "-o",
                               self.folder / "out"], check=True, capture_output=True, text=True)
        self.diff = reports.Report((self.folder / "out/diff.json").read_text(encoding="utf-8"))
        self.headline = self.diff.document["verdict"]["headline"]
        self.lines = done.stdout.splitlines()
        return self.headline

    def test_lost_offloading(self):
        first = self.compare(run(self.folder / "a", 45.0, 8396.8),
                             run(self.folder / "b", 428.0, 24064.0))
        self.assertIn("266 % more time (one run each, so noise is unknown)", first)
        self.assertIn("comes from vae_decode, which takes 428 s instead of 45 s, and models are no "
                      "longer offloaded.", first)
        self.assertTrue(self.diff.finding("offloading-lost"))
        change = {row["term"]: row["delta_ns"] for row in self.diff.rows("diff.waterfall")}
        self.assertEqual(change["vae_decode"], 383 * 10**9)
        memory = self.diff.total("diff.memory", "delta_bytes")
        self.assertEqual(memory, round(24064.0 * 2**20) - round(8396.8 * 2**20))

    def test_gate(self):
        """A single run each fails a gate only where that was allowed."""
        sides = (run(self.folder / "a", 45.0, 8396.8), run(self.folder / "b", 428.0, 24064.0))
        for number, (order, options, code) in enumerate((
                (1, ["--allow-single-run"], 1), (1, [], 0), (1, ["--fail-on", "inconclusive"], 6),
                (-1, ["--allow-single-run"], 0), (1, ["--gate=point"], 1))):
            out = self.folder / f"gate-{number}"
            done = subprocess.run([PROGRAM, "--no-config", "diff", *sides[::order], "-o", out,
                                   "--fail-on", "regression>5%", *options],
                                  check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, (order, options, done.stderr))
            title, said = done.stdout.split("\n\n")[:2] # the verdict comes after the title
            self.assertTrue(title.startswith("traceanalyze "), title)
            wanted = "428 s instead of 45 s" if order == 1 else "45 s instead of 428 s"
            self.assertIn(f"vae_decode, which takes {wanted}, and models are ",
                          " ".join(said.split()))

    def test_gained_offloading(self):
        first = self.compare(run(self.folder / "a", 428.0, 24064.0),
                             run(self.folder / "b", 45.0, 8396.8))
        self.assertIn("72.7 % less time", first)
        self.assertIn("vae_decode, which takes 45 s instead of 428 s, and models are offloaded now",
                      first)

    def test_largest_changes_first(self):
        """Of many labels those are shown that changed most, whichever way."""
        self.compare(run(self.folder / "a", 428.0, 24064.0, steady=9),
                     run(self.folder / "b", 45.0, 8396.8, steady=9))
        at = self.lines.index("Memory at labels")
        self.assertIn("after_sampling_chunk_0", "".join(self.lines[at + 2:at + 4]))

    def test_charts(self):
        """`chart` draws a comparison, each side of one run or several."""
        sides = [run(self.folder / name, decode_s, 8396.8)
                 for name, decode_s in (("a", 45.0), ("b", 46.0), ("c", 428.0))]
        out = self.folder / "charts"
        subprocess.run([PROGRAM, "--no-config", "chart", "all", *sides[:2], "--vs", sides[2],
                        "-o", out], check=True, capture_output=True)
        self.assertTrue((out / "diff-waterfall.png").read_bytes().startswith(b"\x89PNG"))
        listed = subprocess.run([PROGRAM, "--no-config", "chart", "--list", sides[0], "--vs",
                                 sides[2]], check=True, capture_output=True, text=True)
        self.assertIn("diff-waterfall", listed.stdout)
        nothing = subprocess.run([PROGRAM, "--no-config", "chart", "all", "--vs", sides[2]],
                                 check=False, capture_output=True, text=True)
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("no run stands before --vs", nothing.stderr)

    def test_narrow_pages(self):
        """The waterfall is on the first screen, drawn for narrow pages as well; tables
        of names have what changed before what has room on wide pages only."""
        self.compare(run(self.folder / "a", 45.0, 8396.8), run(self.folder / "b", 428.0, 24064.0))
        page = (self.folder / "out/diff.html").read_text(encoding="utf-8")
        figure = page[page.index('<figure id="c-diff-waterfall"'):]
        self.assertLess(page.index('<figure id="c-diff-waterfall"'), page.index("</header>",
                        page.index("hero")))
        self.assertEqual(page.count('id="c-diff-waterfall"'), 1)
        self.assertRegex(figure, r'^[^\0]*?<div class="picture-narrow">')
        columns = list(self.diff.rows("diff.stages")[0])
        self.assertLess(columns.index("change"), columns.index("base_calls"))

    def test_the_same(self):
        first = self.compare(run(self.folder / "a", 45.0, 8396.8),
                             run(self.folder / "b", 45.0, 8396.8))
        self.assertEqual(first, "Nothing changed: the run takes 144 s in both.")
        self.assertEqual(self.diff.findings, [])

    def write_hosts(self, name, decode, rename=None, shapes="[[8], [4]]", times=1,
                    category="cpu_op"):
        """Traces of two ranks without a device; operators hold others."""
        folder = self.folder / name
        folder.mkdir()
        for rank in range(2):
            events, at = [], 1000
            for op, dur, inner in (("pipeline", 900 + decode, 0), ("vae_decode", decode, 1),
                                   *[("denoise", 800 // times, 1)] * times):
                at += inner
                events.append({"ph": "X", "cat": category, "name": (rename or {}).get(op, op),
                               "pid": 1, "tid": 1, "ts": at, "dur": dur,
                               "args": {"Input Dims": json.loads(shapes)}})
                at += inner * dur
            (folder / f"rank{rank}.json").write_text(json.dumps(
                {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}),
                encoding="utf-8")
        return folder

    def test_hosts_of_several_ranks(self):
        """No window is made of their spans, and still it is said what changed."""
        sides = self.write_hosts("a", 5000), self.write_hosts("b", 700)
        self.assertIn("VAE decode, which takes 0.7 ms instead of 5 ms", self.compare(*sides))
        self.assertNotIn("diff.windows", self.diff.tables)
        sides = self.write_hosts("c", 700), self.write_hosts("d", 5000)
        first = self.compare(*sides)
        self.assertIn("% more time", first)
        self.assertIn("VAE decode, which takes 5 ms instead of 0.7 ms", first)

    def test_other_work(self):
        """That runs have little in common is said."""
        other = {"pipeline": "train", "denoise": "backward"}
        sides = (self.write_hosts("a", 500),
                 self.write_hosts("b", 900, other, times=40, category="python_function"))
        self.compare(*sides)
        self.assertRegex(self.headline,
            r"\S+ % more time \(.*only \S+ % of the time is in work that both runs have; only "
            r"the baseline recorded operators and input shapes, only the new run Python stacks\)")

    def test_one_for_another(self):
        """What took the place of another is told with the times of both."""
        sides = (self.write_hosts("a", 500, times=8),
                 self.write_hosts("b", 500, {"denoise": "solver_loop"}, times=1))
        sides[1].joinpath("rank0.json").write_bytes(
            sides[1].joinpath("rank0.json").read_bytes().replace(b'"dur": 800', b'"dur": 4800'))
        self.compare(*sides)
        self.assertIn("solver_loop, which replaced denoise and takes 5.6 ms instead of 1.6 ms on "
                      "all ranks", self.headline)

    def test_sides_are_shown(self):
        """What the runs were of is shown of both sides, however long it is."""
        long_ = json.dumps([[4096 + i, 3072] for i in range(12)])
        self.compare(self.write_hosts("a", 5000), self.write_hosts("b", 700, shapes=long_))
        at = self.lines.index("Environment of the runs")
        self.assertRegex(self.lines[at + 1], "Property +Before +After")
        self.compare(self.write_hosts("c", 5000, shapes=long_), self.write_hosts("d", 700))
        self.assertRegex(self.lines[self.lines.index("Environment of the runs") + 1],
                         "Property +Before +After")

    def test_renamed_stage(self):
        """A stage with another name is one term."""
        sides = [run(self.folder / name, 45.0, 8396.8) for name in "ab"]
        path = sides[1] / "profiling_report.json"
        path.write_text(path.read_text(encoding="utf-8").replace('"vae_encode"', '"latents_of"'),
                        encoding="utf-8")
        self.compare(*sides)
        terms = {row["term"]: row["delta_ns"] for row in self.diff.rows("diff.waterfall")}
        self.assertNotIn("vae_encode", terms)
        self.assertNotIn("latents_of", terms)
        self.assertEqual(sum(terms.values()), 0)
        self.assertEqual(self.diff.cell("diff.stages", "matched_as", name="vae_encode"),
                         "latents_of")

    def test_more_memory_alone(self):
        """A tenth more memory is no model."""
        self.compare(run(self.folder / "a", 45.0, 8396.8), run(self.folder / "b", 90.0, 9300.0))
        self.assertNotIn("offloading", self.headline)
        self.assertIn("vae_decode, which takes 90 s instead of 45 s (7.5 s instead of 3.75 s in "
                      "each of 12 calls)", self.headline)


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1], verbosity=1)
