#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of many ranks that the generator makes: causally consistent, equal for any number of
threads and any part of the ranks, and with the truth beside them."""
import filecmp
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

GENERATOR = os.environ["TA_GENERATOR"]
END_JITTER_NS = 600
ROUNDING_NS = 4


def generate(folder, *options):
    """The truth of a new run in this folder."""
    subprocess.run([GENERATOR, "cluster", "-o", str(folder), *options], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(Path(str(folder) + ".truth.json").read_text())


def read(folder):
    """The traces by rank."""
    traces = {}
    for path in sorted(Path(folder).glob("*.json.gz")):
        with gzip.open(path) as file:
            trace = json.load(file)
        traces.setdefault(trace["distributedInfo"]["rank"], []).append(trace)
    return traces


def ns(text):
    return round(float(text) * 1000)


def kernels(trace):
    """Kernels as (start, end, name, arguments), in the order of time."""
    found = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"], e["args"])
             for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    return sorted(found, key=lambda k: k[:2])


def meetings(traces):
    """(group, number within it) -> [(rank, start, end)] of collectives of whole groups."""
    found = defaultdict(list)
    for rank, (trace, *_) in traces.items():
        count = defaultdict(int)
        for start, end, _, args in kernels(trace):
            if args.get("Collective name") in (None, "send", "recv"):
                continue
            group = args["Process Group Name"]
            found[group, count[group]].append((rank, start, end))
            count[group] += 1
    return found


class Cluster(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)

    def path(self, name):
        return Path(self.root.name) / name

    def test_parts_and_threads_give_equal_bytes(self):
        options = ("--ranks", "16", "--groups", "tp=2,sp=2,ring=2/sp=4,cfg=2", "--steps", "5",
                   "--layers", "1", "--clock-offset-us", "200", "--clock-drift-ppm", "20",
                   "--ranks-per-host", "4", "--straggler", "3:copy:30:2")
        whole = generate(self.path("whole"), *options, "-j", "3")
        part = generate(self.path("part"), *options, "-j", "1", "--rank-range", "6-9")
        self.assertEqual(whole, part)
        files = sorted(path.name for path in self.path("part").iterdir())
        self.assertEqual(len(files), 4)
        for name in files:
            self.assertTrue(filecmp.cmp(self.path("part") / name, self.path("whole") / name,
                                        shallow=False), name)

    def test_collectives_start_last_and_end_together(self):
        generate(self.path("run"), "--ranks", "16", "--groups", "tp=2,sp=4,cfg=2", "--steps", "4",
                 "--layers", "2", "--straggler", "5:kernels:30")
        traces = read(self.path("run"))
        met = meetings(traces)
        sizes = {name["pg_name"]: name["pg_size"] for trace, in traces.values()
                 for name in trace["distributedInfo"]["pg_config"]}
        self.assertGreater(len(met), 200)
        for (group, number), members in met.items():
            self.assertEqual(len(members), sizes[group], (group, number))
            ends = [end for _, _, end in members]
            self.assertLessEqual(max(ends) - min(ends), END_JITTER_NS + ROUNDING_NS)
            self.assertLess(max(start for _, start, _ in members), min(ends))

    def test_streams_do_not_overlap(self):
        generate(self.path("run"), "--ranks", "8", "--groups", "sp=2,ring=4", "--steps", "2")
        for trace, in read(self.path("run")).values():
            last = defaultdict(int)
            names = set()
            for start, end, _, args in kernels(trace):
                self.assertGreaterEqual(start + ROUNDING_NS, last[args["stream"]])
                last[args["stream"]] = end
                names.add(args.get("Collective name"))
            self.assertLessEqual({"send", "recv", "all_to_all", "allreduce"}, names)

    def test_each_send_has_its_receive(self):
        generate(self.path("run"), "--ranks", "4", "--groups", "ring=4", "--steps", "2")
        sent, received = defaultdict(list), defaultdict(list)
        for rank, (trace, *_) in read(self.path("run")).items():
            for _, end, _, args in kernels(trace):
                if args.get("Collective name") == "send":
                    sent[rank, args["Dst Rank"]].append(end)
                if args.get("Collective name") == "recv":
                    received[args["Src Rank"], rank].append(end)
        self.assertEqual(len(sent), 4)
        self.assertEqual(sent.keys(), received.keys())
        for pair, ends in sent.items():
            self.assertEqual(len(ends), len(received[pair]))
            for end, other in zip(ends, received[pair]):
                self.assertLessEqual(abs(end - other), END_JITTER_NS + ROUNDING_NS)

    def test_clocks_are_off_as_the_truth_says(self):
        options = ("--ranks", "8", "--ranks-per-host", "2", "--steps", "12", "--layers", "1")
        generate(self.path("right"), *options)
        truth = generate(self.path("wrong"), *options, "--clock-offset-us", "5000",
                         "--clock-drift-ppm", "20")
        right, wrong = read(self.path("right")), read(self.path("wrong"))
        self.assertGreater(len({host["ahead_ns"] for host in truth["hosts"]}), 1)
        for rank, (trace, *_) in wrong.items():
            host = truth["hosts"][rank // truth["ranks_per_host"]]
            for shown, real in zip(kernels(trace), kernels(right[rank][0])):
                for place in (0, 1):
                    since = real[place] - truth["clock_origin_ns"]
                    error = host["ahead_ns"] + since * host["drift_ppb"] * 1e-9
                    self.assertAlmostEqual(shown[place] - real[place], error, delta=ROUNDING_NS)

    def test_stragglers_cost_what_they_take(self):
        for cause in ("kernels", "copy", "host", "sync", "pseudo-fast"):
            with self.subTest(cause=cause):
                truth = generate(self.path(cause), "--straggler", f"5:{cause}:20:4", "--steps",
                                 "12")
                (straggler,) = truth["stragglers"]
                share = straggler["cost_ns"] / 8 / truth["sound_step_ns"]
                self.assertGreater(share, 0.12)
                self.assertLess(share, 0.24)
                ends = truth["step_end_ns"]
                before = (ends[3] - ends[0]) / 3
                after = (ends[11] - ends[3]) / 8
                self.assertAlmostEqual((after - before) / truth["sound_step_ns"], share, delta=0.03)
                waits = [rank["waited_ns"] for rank in truth["ranks"]]
                self.assertEqual(waits.index(min(waits)), 5)

    def test_a_run_without_faults_has_no_late_rank(self):
        truth = generate(self.path("run"), "--steps", "20")
        last = [rank["last_arrivals"] for rank in truth["ranks"]]
        self.assertLess(max(last), 2.5 * sum(last) / len(last))

    def test_a_slow_link_slows_its_groups_only(self):
        generate(self.path("run"), "--ranks", "16", "--ranks-per-host", "16", "--groups", "sp=4",
                 "--steps", "2", "--slow-link", "6:300")
        transfers = defaultdict(list)
        for (group, _), members in meetings(read(self.path("run"))).items():
            ranks = frozenset(rank for rank, _, _ in members)
            transfers[ranks].append(min(end for *_, end in members) -
                                    max(start for _, start, _ in members))
        totals = {ranks: sum(times) for ranks, times in transfers.items() if len(ranks) == 4}
        slow = [ranks for ranks in totals if 6 in ranks]
        others = [total for ranks, total in totals.items() if 6 not in ranks and 0 not in ranks]
        self.assertAlmostEqual(totals[slow[0]] / (sum(others) / len(others)), 3, delta=0.5)

    def test_files_and_records_that_are_gone(self):
        truth = generate(self.path("run"), "--ranks", "8", "--groups", "sp=4", "--steps", "2",
                         "--missing-ranks", "6-7", "--duplicate-ranks", "1", "--lost-kernels", "2",
                         "--lost-collective", "0:3", "--lacking", "sequence", "--lacking",
                         "all@4")
        traces = read(self.path("run"))
        self.assertEqual(truth["missing_ranks"], [6, 7])
        self.assertEqual(sorted(traces), [0, 1, 2, 3, 4, 5])
        self.assertEqual(len(traces[1]), 2)
        self.assertEqual(*(trace["traceEvents"] for trace in traces[1]))
        counts = {rank: len(kernels(trace)) for rank, (trace, *_) in traces.items()}
        self.assertEqual(counts[0], counts[3] - 1)
        self.assertLess(counts[2], 0.8 * counts[3])
        collectives = [args for _, _, name, args in kernels(traces[3][0]) if "nccl" in name]
        self.assertTrue(all("Seq" not in args and "dtype" in args for args in collectives))
        for _, _, _, args in kernels(traces[4][0]):
            self.assertFalse({"Collective name", "dtype", "Process Group Name"} & args.keys())

    def test_what_cannot_be(self):
        for options in (("--groups", "sp=3"), ("--groups", "ring=1,xx=2"),
                        ("--straggler", "1:no:5"), ("--straggler", "9:host:5"),
                        ("--rank-range", "5-3"), ("--missing-ranks", "8"), ("--lacking", "colour")):
            with self.subTest(options=options):
                done = subprocess.run([GENERATOR, "cluster", "-o", str(self.path("no")), *options],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith("traceanalyze-generate: "), done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
