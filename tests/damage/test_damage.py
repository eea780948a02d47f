#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged times and missing device work: counted, set apart, and nothing computed from them.

usage: test_damage.py --program PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import reports
from recording import Recording, sum_ns, window_ns

PROGRAM = None


class Damage(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-damage-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def report(self, *recordings, options=(), code=0):
        for rank, recording in enumerate(recordings):
            recording.write(self.folder / f"rank{rank}.json")
        done = subprocess.run([PROGRAM, "--no-config", "report",
                               *(self.folder / f"rank{rank}.json" for rank in
                                 range(len(recordings))), "-o", self.folder / "out", *options],
                              check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.text = " ".join(done.stdout.split())
        return reports.Report((self.folder / "out/report.json").read_text(encoding="utf-8"))

    def damage(self, report, kind):
        rows = [row for row in report.rows("health.damage") if row["damage"] == kind]
        self.assertEqual(len(rows), 1, report.rows("health.damage"))
        return rows[0]

    def silent(self, report):
        self.assertEqual(report.rows("health.damage"), [])
        for code in ("zero-time", "overlong", "overlap"):
            self.assertNotIn(code, json.dumps(report.document["data_quality"]["files"]))
        self.assertNotIn("damage-", json.dumps(report.findings))

    # ---- sound recordings --------------------------------------------------------------------

    def test_sound(self):
        """Nothing is said of a sound recording, whatever its clock counts from."""
        for vendor in ("cuda", "hip"):
            for base in (0.0, 1000.0, 3.4e12, 1.7e15):
                with self.subTest(vendor=vendor, base=base):
                    recording = Recording(base_us=base, vendor=vendor)
                    report = self.report(recording)
                    self.silent(report)
                    self.assertEqual(report.row("gpu_time.by_rank")["window_ns"],
                                     window_ns(recording.of("kernel")))

    def test_legal_overlap(self):
        """Early launches, several contexts and branches of a graph may overlap."""
        early = Recording()
        for event in early.of("kernel")[::2]:
            event["dur"] += 60.0  # 10 µs into the next one
        self.silent(self.report(early))
        contexts = Recording()
        for i, event in enumerate(contexts.of("kernel")):
            event["args"]["context"] = 1 + i % 2
            event["dur"] += 5000.0 * (i % 2)
        self.silent(self.report(contexts))
        several = Recording()  # two streams under one number, without contexts
        for i, event in enumerate(several.of("kernel")):
            del event["args"]["context"]
            event["dur"] += 450.0 * (i % 4 == 0)
        self.silent(self.report(several))
        graphs = Recording(steps=1, kernels=4)
        for replay in range(4):
            graphs.call(20_000.0 + replay * 9000, graphs.graph)
            start = 20_100.0 + replay * 9000
            for i in range(20):
                graphs.span("kernel", "branch", 7, start + i * 100, 4000.0 if i == 0 else 90.0,
                            device=0, stream=7, correlation=graphs.correlation)
        self.silent(self.report(graphs))

    def test_ranges_and_functions(self):
        """Ranges cross the Python functions that open and close them; no other spans may cross."""
        recording = Recording(steps=0)
        for category in ("user_annotation", "cpu_op"):
            start = len(recording.events) * 10_000.0
            recording.span("python_function", "enter", 4242, start, 40.0)
            recording.span(category, "range", 4242, start + 20, 5000.0)
            recording.span("python_function", "exit", 4242, start + 5000, 60.0)
        self.silent(self.report(recording))
        recording.span("cpu_op", "first", 4242, 1e6, 50.0)
        recording.span("cpu_op", "second", 4242, 1e6 + 40, 50.0)
        recording.span("python_function", "third", 4242, 2e6, 50.0)
        recording.span("python_function", "fourth", 4242, 2e6 + 40, 50.0)
        recording.span("user_annotation", "fourth", 4242, 3e6, 50.0)
        recording.span("cpu_op", "fifth", 4242, 3e6 + 40, 50.0)
        quality = self.report(recording).document["data_quality"]["files"][0]["findings"]
        self.assertEqual([found["count"] for found in quality if found["code"] == "overlap"], [2])

    # ---- events without a time ---------------------------------------------------------------

    def without_time(self, recording, events, stamp):
        for event in events:
            event["ts"], event["dur"] = stamp, 0

    def test_no_time(self):
        """The second half of a recording has no times, with each base of the clock."""
        for base, stamp in ((5e6, 0), (3.4e12, 0.0), (1.7e15, 0), (0.0, 0), (200.0, -1.7e15)):
            with self.subTest(base=base):
                recording = Recording(base_us=base)
                spans = len(recording.events)
                damaged = recording.events[spans // 2:]
                self.without_time(recording, damaged, stamp)
                kept = [e for e in recording.of("kernel") if e not in damaged]
                report = self.report(recording, options=["--strict"], code=4)
                row = self.damage(report, "no time")
                self.assertEqual((row["count"], row["of"]), (len(damaged), spans))
                gpu = report.row("gpu_time.by_rank")
                self.assertEqual(gpu["window_ns"], window_ns(kept))
                self.assertEqual(gpu["busy_ns"], sum_ns(kept))
                self.assertEqual(len(report.rows("steps.by_step")), 3)
                totals = report.document["data_quality"]["totals"]
                self.assertEqual(totals["events_dropped"], len(damaged))
                self.assertEqual(totals["events_seen"], spans)
                self.assertIn(f"{len(damaged)} of {spans} spans were written without a time",
                              report.document["verdict"]["headline"])
                self.assertNotIn(" min", self.text.split("Findings")[0])

    def test_no_time_in_a_step(self):
        """A step of which calls and kernels have no time does not count, the others do."""
        recording = Recording(base_us=1.7e15)
        inside = [e for e in recording.events if e["name"] != "ProfilerStep#2" and
                  2e4 <= e["ts"] - recording.base < 2.9e4]
        self.without_time(recording, inside[::2], 0)
        report = self.report(recording)
        counted = {row["step"]: row["counted_ns"] for row in report.rows("steps.by_step")}
        self.assertIsNone(counted.pop("ProfilerStep#2"))
        self.assertEqual(set(counted.values()), {9_900_000})

    def test_instants_without_time(self):
        recording = Recording(base_us=1.7e15)
        for _ in range(3):
            recording.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]",
                                     "pid": 4242, "tid": 4242, "ts": 0, "s": "t"})
        report = self.report(recording)
        self.assertEqual(report.document["data_quality"]["totals"]["events_dropped"], 3)
        self.assertEqual(report.row("gpu_time.by_rank")["window_ns"],
                         window_ns(recording.of("kernel")))

    # ---- activities that last too long -------------------------------------------------------

    def test_overlong(self):
        for category in ("kernel", "gpu_memcpy"):
            for vendor in ("cuda", "hip"):
                with self.subTest(category=category, vendor=vendor):
                    recording = Recording(vendor=vendor)
                    kernels = recording.of("kernel")
                    for i in (3, 90):
                        kernels[i]["cat"] = category
                    true = sum_ns(kernels) + 2 * 50_000  # up to the start of the next one
                    kernels[3]["dur"] = 30_000.0
                    kernels[90]["dur"] = 1_600_000.0
                    report = self.report(recording)
                    row = self.damage(report, "overlong")
                    self.assertEqual((row["count"], row["of"]), (2, len(kernels)))
                    self.assertEqual(row["raw_ns"], sum_ns(kernels))
                    self.assertEqual(row["kept_ns"], true)
                    self.assertEqual(report.row("gpu_time.by_rank")["busy_ns"], true)

    def test_overlong_collective(self):
        """One wrong end of an all-reduce makes no straggler."""
        recordings = []
        for rank in range(2):
            recording = Recording()
            for step in range(6):
                for i in range(4):
                    recording.call(step * 10_000.0 + 1000 + i * 2000)
                    recording.kernel(step * 10_000.0 + 1100 + i * 2000, 400.0,
                                     recording.correlation,
                                     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", stream=20)
            recordings.append(recording)
        collectives = [e for e in recordings[1].of("kernel") if "nccl" in e["name"]]
        collectives[5]["dur"] = 40_000.0
        report = self.report(*recordings)
        self.assertEqual(self.damage(report, "overlong")["count"], 1)
        self.assertNotIn("straggler", json.dumps(report.findings))

    # ---- ranks -------------------------------------------------------------------------------

    def ranks(self, late_us=0.0, silent=None, steps=6, n=4):
        """Ranks that reduce once a step; the recording of the last one begins `late_us` after the
        others', in its first step, and so does its work."""
        recordings = []
        for rank in range(n):
            recording = Recording(steps=0)
            recording.span("cpu_op", "before", 4242, late_us * (rank == n - 1), 5.0)
            arrivals = [step * 10_000.0 + 3000 + (late_us if step == 0 else 0)
                        for step in range(steps)]
            for step in range(steps):
                own = late_us if rank == n - 1 and step == 0 else 0.0
                start = step * 10_000.0 + own
                recording.span("user_annotation", f"ProfilerStep#{step}", 4242, start,
                               9_500.0 - own)
                recording.call(start + 100)
                recording.kernel(start + 200, 2500.0, recording.correlation)
                recording.call(start + 150)
                if rank != silent:
                    begin = start + 3000
                    recording.kernel(begin, arrivals[step] + 500 - begin, recording.correlation,
                                     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", stream=20)
            recordings.append(recording)
        return recordings

    def test_later_recording(self):
        """Waits for a rank whose recording began later are no exposed communication to save."""
        for late_us in (2000.0, 6000.0):
            report = self.report(*self.ranks(late_us))
            for row in report.rows("collectives.exposed"):
                before = 0 if row["rank"] == 3 else round(late_us * 1000)
                self.assertEqual(row["before_ns"], before, row)
                self.assertEqual(row["wait_ns"], 0)
            self.assertEqual(sum(row["total_ns"] for row in report.rows("run.bound")),
                             sum(row["window_ns"] for row in report.rows("run.window")))
            self.assertNotIn("straggler", json.dumps(report.findings))
        for row in self.report(*self.ranks()).rows("collectives.exposed"):
            self.assertEqual(row["before_ns"], 0)

    def test_one_step(self):
        """One recorded step cannot say which rank is late."""
        self.report(*self.ranks(steps=1, n=3))
        self.assertNotIn("probably arrives last", self.text)

    def test_rank_without_communication(self):
        report = self.report(*self.ranks(silent=2))
        advice = json.dumps(report.findings)
        self.assertNotIn("Look at rank 2", advice)
        self.assertNotIn("straggler", advice)

    def test_launched_before(self):
        """What was launched before the recording explains no idle time."""
        recording = Recording()
        for i in range(3):
            recording.span("kernel", "early", 7, -900.0 + 300 * i, 100.0, device=0, context=1,
                           stream=7, correlation=90_000 + i)
        report = self.report(recording)
        causes = {row["cause"]: row["total_ns"] for row in report.rows("gpu_idle.by_cause")}
        self.assertEqual(causes["began before the recording"], 400_000)

    # ---- host work before the devices' -------------------------------------------------------

    def test_host_before(self):
        """Operators that compute nothing are not said to compute on the CPU."""
        for name, computes in (("aten::addmm", True), ("aten::empty", False),
                               ("Torch-Compiled Region: 0/0", False)):
            recording = Recording()
            recording.span("cpu_op", name, 4242, -90_000.0, 80_000.0)
            report = self.report(recording)
            self.assertEqual(report.finding("host-computation") is not None, computes, name)
            self.assertEqual("on the CPU" in self.text, computes, name)

    # ---- cost of recording -------------------------------------------------------------------

    def test_cost_of_recording(self):
        """A host that waits because of recorded stacks is said to; its saving is the rest."""
        for calls in (0, 40, 400, 1600):
            apart = 20 if calls <= 400 else 5
            recording = Recording(kernels=20)
            for event in recording.of("kernel"):
                event["dur"] = 20.0
            for step in range(6):
                for i in range(calls):
                    recording.span("python_function", f"train.py({i}): f", 4242,
                                   step * 10_000.0 + 50 + i * apart, apart - 1.0)
            report = self.report(recording)
            found = report.finding("launch-bound")
            cost = {row["part"]: row for row in report.rows("recording.overhead")}
            if calls == 0:
                self.assertEqual(cost, {})
                self.assertNotIn("Record without", found["advice"])
                continue
            self.assertEqual(cost["Python stacks"]["count"], 6 * calls)
            estimate = sum(row["cost_ns"] for row in cost.values())
            self.assertEqual(report.scalars["recorder_cost_ns"], estimate)
            explained = report.cell("recording.explained", "explained_ns", kind="dispatch")
            self.assertTrue(0.8 * estimate <= explained <= estimate, (explained, estimate))
            # Named is what could be left out, where that is most of the cost.
            named = cost["Python stacks"]["cost_ns"] >= estimate / 2
            self.assertEqual(named, calls >= 400)
            self.assertEqual("profiling itself causes" in found["title"], named)
            self.assertEqual(found["advice"].startswith("Record without Python stacks"), named)
            owned = found["evidence"][0]["value"]
            if named:
                high = found["saving_ns"]["high"]
                self.assertAlmostEqual(high / (owned - explained / 2), 1, delta=0.05)
            else:
                self.assertEqual(found["saving_ns"]["high"], owned)

    def busy_while_recorded(self, waits=False, loads=False):
        """A report on steps of one long kernel, behind which Python runs: all that is recorded is
        recorded while the device works; then the host waits for it, or for its data."""
        recording = Recording(steps=0)
        for step in range(6):
            start = step * 10_000.0
            recording.span("user_annotation", f"ProfilerStep#{step}", 4242, start, 9_990.0)
            recording.call(start + 10)
            recording.kernel(start + 40, 7_000.0, recording.correlation)
            for i in range(400):
                recording.span("python_function", f"train.py({i}): f", 4242, start + 50 + 15 * i,
                               10.0)
            if waits:
                recording.call(start + 6_500, recording.sync, duration=560.0)
            if loads:
                recording.span("user_annotation", "enumerate(DataLoader)#"
                               "_MultiProcessingDataLoaderIter.__next__", 4242, start + 7_050,
                               2_900.0)
        report = self.report(recording)
        self.assertGreater(report.scalars["recorder_cost_ns"], 3_000_000)
        return report

    def test_cost_of_recording_ends_with_waits(self):
        """A wait for a busy device is as long without recording: what was recorded before explains
        nothing after it."""
        explained = {row["kind"]: row["explained_ns"]
                     for row in self.busy_while_recorded(waits=True).rows("recording.explained")}
        self.assertLess(sum(explained.values()), 50_000, explained)

    def test_cost_of_recording_is_no_loading(self):
        """Data that other processes load come no earlier."""
        report = self.busy_while_recorded(loads=True)
        found = report.finding("input-bound")
        self.assertTrue(found["title"].startswith("Loading data"), found["title"])
        self.assertNotIn("Record without", found["advice"])
        self.assertEqual(found["saving_ns"]["high"],
                         report.cell("gpu_idle.by_cause", "total_ns", cause="data loading"))

    # ---- witnesses beside a trace ------------------------------------------------------------

    def test_samples_beside_a_trace(self):
        """Samples of more than the trace do not say that the device is idle in it."""
        (self.folder / "dmon.txt").write_text(
            "#Time         gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa"
            "   mclk   pclk\n"
            "#HH:MM:SS     Idx      W      C      C      %      %      %      %      %      %"
            "    MHz    MHz\n" +
            "".join(f" 05:29:{i:02}       0    {90 + i % 3}     32     36 {5 if i % 2 else 0:6}"
                    "      0      0      0      0      0   3201    345\n" for i in range(50)),
            encoding="utf-8")
        Recording().write(self.folder / "rank0.json")
        report = reports.read(PROGRAM, self.folder)
        found = report.finding("gpu-utilization")
        self.assertTrue(found["title"].startswith("Over all samples, not only while the trace"))
        self.assertEqual(found["severity"], "info")
        self.assertNotIn(found["title"], report.document["verdict"]["headline"])

    def test_table_of_events_beside_a_trace(self):
        """Device times between events around operators hold waits: they do not say what limits."""
        columns = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
                   "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg", "# of Calls")
        for empty, limits in (("0.000us", True), ("12.000ms", False)):
            rows = (("aten::empty", "10.00%", "3.000ms", "10.00%", "3.000ms", "30.000us", empty,
                     "5.00%", empty, "120.000us", "100"),
                    ("aten::mm", "90.00%", "27.000ms", "90.00%", "27.000ms", "270.000us",
                     "240.000ms", "95.00%", "240.000ms", "2.400ms", "100"))
            line = "  ".join("-" * 14 for _ in columns)
            (self.folder / "ops.table.txt").write_text("\n".join(
                [line, "  ".join(f"{c:>14}" for c in columns), line,
                 *("  ".join(f"{c:>14}" for c in row) for row in rows), line,
                 "Self CPU time total: 30.000ms", "Self CUDA time total: 252.000ms", ""]),
                encoding="utf-8")
            report = reports.read(PROGRAM, self.folder)
            totals = report.row("ops.totals")
            self.assertEqual((totals["by_events"], totals["limit"]),
                             (False, "device") if limits else (True, None))
            self.assertEqual("limits the run" in report.document["verdict"]["headline"], limits)

    def test_copies_over_lost_kernels(self):
        """Nor is it known what the device did while a copy waited for such kernels."""
        recording, before = Recording(kernels=4), []
        for step in range(6):
            start = step * 10_000.0 + 5_000
            recording.call(start)
            before.append(recording.kernel(start + 20, 300.0, recording.correlation))
            recording.call(start + 10, "cudaMemcpy", duration=400.0)
            recording.kernel(start + 325, 40.0, recording.correlation, category="gpu_memcpy",
                             name="Memcpy DtoH (Device -> Pageable)", bytes=1 << 20)
        whole = self.report(recording).row("copies.blocking")
        for kernel in before[1::2]:
            recording.events.remove(kernel)
        part = self.report(recording).row("copies.blocking")
        self.assertLessEqual(part["idle_ns"], whole["idle_ns"])

    def test_waits_over_lost_kernels(self):
        """What a wait costs is not known where kernels before it were not recorded."""
        recording = Recording()
        for step in range(6):
            recording.call(step * 10_000.0 + 7_870, recording.sync, duration=250.0)
        whole = self.report(recording).rows("sync.by_kind")
        kernels = recording.of("kernel")
        for kernel in kernels[1::2]:
            recording.events.remove(kernel)
        part = self.report(recording).rows("sync.by_kind")
        self.assertLessEqual(part[0]["idle_during_ns"], whole[0]["idle_during_ns"])

    # ---- missing device work -----------------------------------------------------------------

    def replays(self, recorded, n=40, sizes=(300, 20)):
        """Steps that replay a large or a small graph each, of which few have kernels."""
        recording = Recording(steps=0)
        for step in range(n):
            size = sizes[step % len(sizes)]
            start = step * 20_000.0
            recording.span("user_annotation", f"decode bs={size}", 4242, start, 19_000.0)
            recording.call(start + 100, recording.graph, duration=300.0)
            graph = recording.correlation
            recording.call(start + 600)
            recording.kernel(start + 700, 5.0, recording.correlation, stream=8)
            recording.span(recording.runtime, recording.sync, 4242, start + 1000, 17_000.0)
            if step in recorded:
                for i in range(size):
                    recording.kernel(start + 1000 + i * 50, 45.0, graph)
        return recording

    def test_lost_replays(self):
        report = self.report(self.replays(recorded=(0, 1, 2, 3)))
        row = self.damage(report, "graph replays lost")
        self.assertEqual((row["count"], row["of"]), (36, 40))
        self.assertAlmostEqual(row["share"], 18 * 320 / (20 * 320 + 40))
        self.assertIn("36 of 40 graph replays have no kernels",
                      report.document["verdict"]["headline"])
        self.assertNotIn("saves", self.text)

    def test_all_replays(self):
        self.silent(self.report(self.replays(recorded=range(40))))

    def lose(self, gone):
        """A recording without the kernels that `gone` picks by their number."""
        recording = Recording()
        drop = [id(e) for i, e in enumerate(recording.of("kernel")) if gone(i)]
        recording.events = [e for e in recording.events if id(e) not in drop]
        return recording, len(drop)

    def test_reasons(self):
        for gone, reason in ((lambda i: i >= 150, "buffers of the profiler were full"),
                             (lambda i: i < 60, "began after they were launched"),
                             (lambda i: i % 3 == 0, "lie between launches")):
            recording, n = self.lose(gone)
            row = self.damage(self.report(recording), "kernels lost")
            self.assertEqual((row["count"], row["of"]), (n, 240))
            self.assertIn(reason, row["reason"])
        # Of a device of which only copies were recorded the kernels were switched off.
        recording, n = self.lose(lambda i: i % 4)
        for event in recording.of("kernel"):
            event["cat"] = "gpu_memcpy"
        self.assertIn("only copies", self.damage(self.report(recording), "kernels lost")["reason"])

    # ---- order -------------------------------------------------------------------------------

    def test_out_of_order(self):
        """Kernels that were moved past later ones: idle time around them is not known."""
        recording = Recording()
        kernels = recording.of("kernel")
        for i in range(10, 200, 20):
            kernels[i]["ts"] += 1160.0  # between two later ones
            kernels[i]["dur"] = 20.0
        report = self.report(recording)
        self.assertEqual(self.damage(report, "out of order")["count"], 10)
        causes = {row["cause"]: row["total_ns"] for row in report.rows("gpu_idle.by_cause")}
        self.assertGreater(causes["out of order"], 0)


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1], verbosity=1)
