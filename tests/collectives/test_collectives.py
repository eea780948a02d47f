#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the program says of simulated runs with what happened in them.

usage: test_collectives.py TRACEANALYZE
"""
import argparse
import collections
import pathlib
import random
import sys
import tempfile
import unittest

import reports
import simulate

PROGRAM = None


def report(ranks):
    with tempfile.TemporaryDirectory() as folder:
        simulate.write(ranks, pathlib.Path(folder))
        return reports.read(PROGRAM, folder)


def rank_of(rank, events):
    """A rank as simulate.write() wants it."""
    return argparse.Namespace(rank=rank, events=events)


def named(plan, op, group):
    """How the program calls it: without facts, what the kernel is called."""
    return (op, str(group)) if plan.facts else (op.strip("_").split("_base")[0], "")


def instances(ranks):
    """(group, op, number) → rank → (start, end), in true time."""
    found = collections.defaultdict(dict)
    for r in ranks:
        for group, op, start, end, _elements, index in r.comm:
            found[group, op, index][r.rank] = (start, end)
    return found


class Truth(unittest.TestCase):
    """Figures against the simulation, up to the error of the clocks."""

    CLOCK = 2000  # ns

    def check(self, plan):
        ranks = simulate.simulate(plan)
        document = report(ranks)
        self.check_clocks(ranks, document)
        self.check_lateness(ranks, document)
        self.check_kinds(plan, ranks, document)

    def check_clocks(self, ranks, document):
        rows = {r["rank"]: r for r in document.rows("collectives.clocks")}
        reference = [r for r in rows.values() if r["state"] == "reference"]
        self.assertEqual(len(reference), 1)
        zero = ranks[reference[0]["rank"]]
        self.assertEqual(len(rows), len(ranks))
        for r in ranks:
            if r is zero:
                continue
            row, first, last = rows[r.rank], r.comm[0][3], r.comm[-1][3]
            for time in (first, last):
                true = r.local(time) - zero.local(time)
                said = row["offset_ns"] + (row["drift"] or 0) * (time - first)
                self.assertLess(abs(true - said), self.CLOCK + abs(time - first) * 2e-9,
                                f"rank {r.rank}: {row}")
            self.assertLess(row["uncertainty_ns"], self.CLOCK)

    def check_lateness(self, ranks, document):
        rows = {r["rank"]: r for r in document.rows("stragglers.by_rank")}
        late = collections.defaultdict(list)
        last = collections.Counter()
        for (_group, op, _), of in instances(ranks).items():
            if op == "broadcast" or len(of) < 2:
                continue
            first = min(s for s, _ in of.values())
            for rank, (start, _) in of.items():
                late[rank].append(start - first)
            order = sorted(of, key=lambda r: of[r][0])
            if of[order[-1]][0] - of[order[-2]][0] > 3 * self.CLOCK:
                last[order[-1]] += 1
        self.assertEqual(set(rows), set(late))
        for rank, values in late.items():
            row = rows[rank]
            self.assertEqual(row["collectives"], len(values))
            self.assertLess(abs(row["mean_lateness_ns"] - sum(values) / len(values)), self.CLOCK)
            self.assertLess(abs(row["max_lateness_ns"] - max(values)), 2 * self.CLOCK)
            self.assertGreaterEqual(row["last_arrivals"], last[rank])

    def check_kinds(self, plan, ranks, document):
        rows = {(r["op"], r["group"]): r for r in document.rows("collectives.by_kind")}
        sums = collections.defaultdict(lambda: collections.Counter())
        moving = collections.defaultdict(list)
        for (group, op, _), of in instances(ranks).items():
            key = named(plan, op, group)
            s = sums[key]
            last = max(start for start, _ in of.values())
            s["count"] += 1
            s["total"] += sum(end - start for start, end in of.values())
            s["wait"] += sum(last - start for start, _ in of.values())
            s["bytes"] += (1 << 20) * 2 * (len(of) if op == "_allgather_base" else 1)
            ends = sorted(end for _, end in of.values())
            moving[key].append(ends[len(ends) // 2] - last)
        self.assertEqual(set(rows), set(sums))
        for key, s in sums.items():
            row, n = rows[key], len(plan.groups[int(key[1] or 0)])
            slack = self.CLOCK * s["count"] * n
            self.assertEqual(row["count"], s["count"])
            self.assertEqual(row["ranks"], n)
            self.assertLess(abs(row["total_ns"] - s["total"]), s["count"] * n * 50)
            if key[0] == "broadcast":
                self.assertIsNone(row["wait_ns"])
                continue
            self.assertLess(abs(row["wait_ns"] - s["wait"]), slack)
            self.assertEqual(row["wait_ns"] + row["transfer_ns"], row["total_ns"])
            if not plan.facts:
                self.assertIsNone(row["bus_bandwidth"])
                continue
            self.assertEqual(row["bytes"], s["bytes"])
            factor = {"allreduce": 2 * (n - 1) / n}.get(key[0], (n - 1) / n)
            rate = s["bytes"] * factor / (sum(moving[key]) / 1e9)
            self.assertLess(abs(row["bus_bandwidth"] / rate - 1), 0.03)

    def test_one_group_with_clocks_that_drift(self):
        self.check(simulate.Plan(ranks=6, steps=24, seed=3, culprit=(4, "kernel", 0.3, 0)))

    def test_all_operations(self):
        self.check(simulate.Plan(ranks=4, steps=15, seed=4,
                                 ops=("allreduce", "all_to_all", "broadcast", "_allgather_base")))

    def test_no_facts_but_names(self):
        """Kernels tell what they are, not of which group: one group."""
        self.check(simulate.Plan(ranks=4, steps=15, seed=5, facts=False,
                                 ops=("allreduce", "_allgather_base")))


class Matching(unittest.TestCase):
    """Records that are not there, and groups of their own."""

    def test_groups_that_nothing_connects(self):
        plan = simulate.Plan(ranks=6, steps=12, seed=6, groups=[[0, 2, 4], [1, 3, 5]])
        document = report(simulate.simulate(plan))
        axes = {r["rank"]: r["axis"] for r in document.rows("collectives.clocks")}
        self.assertEqual(len(set(axes.values())), 2)
        self.assertEqual(axes[0], axes[4])
        self.assertNotEqual(axes[0], axes[1])
        self.assertEqual({r["group"] for r in document.rows("collectives.by_kind")}, {"0", "1"})

    def test_recording_begins_later_on_one_rank(self):
        """Of equal collectives one rank lacks the first three: the ends tell which is which."""
        full = simulate.Plan(ranks=4, steps=30, seed=7, ops=("allreduce",), noise=0.05)
        cut = simulate.Plan(ranks=4, steps=30, seed=7, ops=("allreduce",), noise=0.05,
                            drop=[(2, 0), (2, 1), (2, 2)])
        ranks = simulate.simulate(cut)
        rows = {r["rank"]: r for r in report(ranks).rows("stragglers.by_rank")}
        whole = {r["rank"]: r for r in report(simulate.simulate(full)).rows("stragglers.by_rank")}
        self.assertEqual(rows[2]["collectives"], 27)
        self.assertEqual(rows[0]["collectives"], 30)
        for rank in rows:
            self.assertLess(abs(rows[rank]["mean_lateness_ns"] - whole[rank]["mean_lateness_ns"]),
                            10_000)

    def test_records_lost_in_the_middle(self):
        """Operations alternate, so the longest common sequence finds the hole."""
        plan = simulate.Plan(ranks=4, steps=20, seed=8, drop=[(1, 11), (3, 20)])
        rows = {r["op"]: r for r in report(simulate.simulate(plan)).rows("collectives.by_kind")}
        self.assertEqual(rows["allreduce"]["count"], 20)
        self.assertEqual(rows["_allgather_base"]["count"], 20)
        self.assertLess(rows["allreduce"]["wait_share"], 0.6)

    def test_one_rank_alone_waits_for_nobody_known(self):
        document = report(simulate.simulate(simulate.Plan(ranks=8, steps=5, seed=9))[:1])
        rows = document.rows("collectives.by_kind")
        self.assertTrue(rows)
        self.assertTrue(all(r["wait_ns"] is None and r["bus_bandwidth"] is None for r in rows))
        self.assertEqual(document.rows("stragglers.by_rank"), [])


class Blame(unittest.TestCase):
    """The planted cause comes first, with nearly all of the time that it cost."""

    def check(self, kind, name, within):
        plan = simulate.Plan(ranks=5, steps=20, seed=10, culprit=(3, kind, 0.25, 0), noise=0.005)
        document = report(simulate.simulate(plan))
        late = [r["rank"] for r in document.rows("stragglers.by_rank") if r["is_late"]]
        self.assertEqual(late, [3])
        rows = document.rows("stragglers.blame")
        planted = 250_000 * 2 * plan.steps
        own = [r for r in rows if r["rank"] == 3]
        self.assertEqual((own[0]["kind"], own[0]["name"], own[0]["within"]), (kind, name, within))
        self.assertLess(abs(own[0]["excess_ns"] / planted - 1), 0.1)
        self.assertLess(sum(r["excess_ns"] for r in rows) / planted, 1.1)

    def test_kernel(self):
        self.check("kernel", "flash_fwd_kernel", "aten::sdpa")

    def test_copy(self):
        self.check("copy", "Memcpy HtoD (Pageable -> Device)", "aten::copy_")

    def test_gap(self):
        self.check("gap", "operator dispatch", "tokenize")

    def test_since_when(self):
        plan = simulate.Plan(ranks=6, steps=30, seed=11, culprit=(1, "gap", 0.3, 18))
        rows = [r for r in report(simulate.simulate(plan)).rows("stragglers.by_rank")
                if r["is_late"]]
        self.assertEqual([r["rank"] for r in rows], [1])
        self.assertEqual(rows[0]["since"], "change")
        self.assertLessEqual(abs(rows[0]["since_step"] - 18), 1)


class Hosts(unittest.TestCase):
    """Ranks without devices, whose collectives are spans of a thread of their own."""

    def late(self, excess_us, name):
        """The report of five ranks; one takes longer for an operator, or for no known reason."""
        rng, events, now = random.Random(13), [[] for _ in range(5)], [1000.0] * 5

        def span(rank, name, tid, dur, cat="cpu_op"):
            events[rank].append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
                                 "ts": round(now[rank], 3), "dur": round(dur, 3)})

        for _ in range(20):
            for rank in range(5):
                late = {name: excess_us} if rank == 3 else {}
                parts = [(op, us * (1 + rng.gauss(0, 0.005)) + late.get(op, 0))
                         for op, us in (("aten::mm", 300), ("aten::softmax", 200))]
                span(rank, "forward", 1, sum(us for _, us in parts) + late.get(None, 0),
                     "user_annotation")
                for op, us in parts:
                    span(rank, op, 1, us)
                    now[rank] += us
                now[rank] += late.get(None, 0)
            last = max(now)
            for rank in range(5):
                span(rank, "gloo:all_reduce", 2, last + 100 - now[rank])
                now[rank] = last + 100
        document = report([rank_of(rank, of) for rank, of in enumerate(events)])
        late = [r["rank"] for r in document.rows("stragglers.by_rank") if r["is_late"]]
        self.assertEqual(late, [3])
        row = document.rows("stragglers.blame", rank=3)[0]
        self.assertLess(abs(row["excess_ns"] / (excess_us * 1e3 * 19) - 1), 0.1)
        return document, (row["kind"], row["name"], row["within"])

    def test_an_operator(self):
        document, blamed = self.late(120, "aten::softmax")
        self.assertEqual(blamed, ("host", "aten::softmax", "forward"))
        self.assertIn("mainly for its host in `aten::softmax` in `forward`",
                      document.finding("straggler")["title"])

    def test_nothing_recorded(self):
        self.assertEqual(self.late(120, None)[1], ("gap", "host untraced", "forward"))


class OneOfMany(unittest.TestCase):
    """Of many ranks some have a long pause: over several collectives, but only once."""

    def late(self, late_steps, steps):
        plan = simulate.Plan(ranks=40, steps=steps, seed=12,
                             ops=("allreduce", "_allgather_base") * 2,
                             culprit=(7, "gap", 0.6, 1, late_steps), noise=0.005)
        document = report(simulate.simulate(plan))
        row = document.row("stragglers.by_rank", rank=7)
        self.assertGreater(row["z"], 3.5)
        self.assertGreater(row["excess"], 0.02)
        return [r["rank"] for r in document.rows("stragglers.by_rank") if r["is_late"]]

    def test_a_pause(self):
        self.assertEqual(self.late(1, 8), [])

    def test_steps_in_a_row(self):
        self.assertEqual(self.late(4, 8), [7])

    def test_a_recording_of_few_steps(self):
        """There the parts of a step count, of which a pause takes one."""
        self.assertEqual(self.late(2, 3), [7])


class Steps(unittest.TestCase):
    """Lateness by rank and step, of many ranks by neighbors."""

    def check(self, plan, together):
        ranks = simulate.simulate(plan)
        document = report(ranks)
        rows = document.rows("stragglers.by_step")
        order = [row["rank"] for row in document.rows("stragglers.by_rank")]
        worst = [plan.culprit[0]] if plan.ranks > 64 else [0, 1, 2]
        self.assertEqual(order[:len(worst)], worst)
        late = collections.defaultdict(list)
        for (_group, _op, index), of in instances(ranks).items():
            first = min(start for start, _ in of.values())
            for rank, (start, _) in of.items():
                late[rank, index // len(plan.ops)].append(start - first)
        expected = collections.defaultdict(float)
        for (rank, step), values in late.items():
            key = (rank // together * together, step)
            expected[key] = max(expected[key], sum(values) / len(values))
        self.assertEqual({(r["rank"], r["part"]) for r in rows}, set(expected))
        self.assertTrue(all(r["is_step"] for r in rows))
        for row in rows:
            self.assertLess(abs(row["lateness_ns"] - expected[row["rank"], row["part"]]), 4000)

    def test_few_ranks(self):
        self.check(simulate.Plan(ranks=5, steps=15, seed=60, culprit=(2, "gap", 0.2, 7)), 1)

    def test_many_ranks(self):
        self.check(simulate.Plan(ranks=70, steps=10, seed=61, ops=("allreduce", "all_to_all"),
                                 culprit=(33, "kernel", 0.2, 3)), 2)


class Ladder(unittest.TestCase):
    """Factors of efficiency: their product, and what a run without the loss really takes."""

    def rungs(self, document):
        return {r["term"]: r for r in document.rows("efficiency.ladder")}

    def window(self, plan):
        return max(max(e["ts"] + e["dur"] for e in r.events if e["pid"] == 0) -
                   min(e["ts"] for e in r.events if e["pid"] == 0)
                   for r in simulate.simulate(plan)) * 1000

    def check(self, seed, culprit):
        def made(transfer, late):
            return simulate.Plan(ranks=4, steps=15, seed=seed, culprit=late, noise=0.03,
                                 transfer=transfer, clocks=False)
        rungs = self.rungs(report(simulate.simulate(made(180_000, culprit))))
        product = 1
        for term in ("transfer", "host", "serialization", "balance"):
            self.assertLessEqual(rungs[term]["efficiency"], 1 + 1e-12)
            product *= rungs[term]["efficiency"]
        self.assertAlmostEqual(product, rungs["parallel"]["efficiency"], delta=1e-12)
        free = self.window(made(0, culprit))
        self.assertLess(abs(rungs["transfer"]["without_ns"] / free - 1), 0.01)
        return rungs, made

    def test_compute_alone(self):
        rungs, _ = self.check(20, (2, "kernel", 0.3, 0))
        self.assertGreater(rungs["host"]["efficiency"], 0.999)
        self.assertLess(rungs["balance"]["efficiency"], 0.85)

    def test_a_host_that_is_late(self):
        rungs, made = self.check(21, (1, "gap", 0.4, 0))
        never = self.window(made(0, None))
        self.assertLess(abs(rungs["host"]["without_ns"] / never - 1), 0.01)


class Links(unittest.TestCase):
    """Bandwidth beside that of peers, messages that are all latency, and exposed time."""

    def test_slow_group(self):
        groups = [[2 * g, 2 * g + 1] for g in range(7)]
        plan = simulate.Plan(ranks=14, steps=10, seed=30, groups=groups, slow={4: 1.6})
        document = report(simulate.simulate(plan))
        rows = document.rows("collectives.links")
        self.assertEqual(len(rows), 14)
        self.assertEqual({r["group"] for r in rows if r["is_slow"]}, {"4"})
        for row in rows:
            expected = 1 / 1.6 if row["group"] == "4" else 1
            self.assertLess(abs(row["ratio"] - expected), 0.05)
        self.assertTrue(document.finding("slow-link"))
        even = report(simulate.simulate(simulate.Plan(ranks=14, steps=10, seed=31, groups=groups)))
        self.assertFalse([r for r in even.rows("collectives.links") if r["is_slow"]])
        self.assertFalse(even.finding("slow-link"))

    def test_small_messages(self):
        plan = simulate.Plan(ranks=4, steps=20, seed=32, ops=["allreduce"] * 4,
                             elements=[1 << 20, 256, 256, 256], transfer=800_000)
        document = report(simulate.simulate(plan))
        rows = document.rows("collectives.small")
        self.assertEqual(len(rows), 1)
        self.assertEqual((rows[0]["small"], rows[0]["largest"]), (60, 512))
        self.assertLess(abs(rows[0]["latency_ns"] / 40_000 - 1), 0.1)
        self.assertLess(abs(rows[0]["tax_ns"] / (60 * 40_000) - 1), 0.1)
        self.assertLess(abs(document.finding("small-messages")["saving_ns"]["high"]
                            / (60 * 40_000) - 1), 0.2)
        even = report(simulate.simulate(simulate.Plan(ranks=4, steps=20, seed=33)))
        self.assertEqual(even.rows("collectives.small"), [])
        self.assertFalse(even.finding("small-messages"))

    def test_exposed_adds_up(self):
        plan = simulate.Plan(ranks=5, steps=12, seed=34, culprit=(2, "kernel", 0.3, 0))
        ranks = simulate.simulate(plan)
        document = report(ranks)
        rows = {r["rank"]: r for r in document.rows("collectives.exposed")}
        gpu = {r["rank"]: r for r in document.rows("gpu_time.by_rank")}
        waits = collections.Counter()
        for of in instances(ranks).values():
            last = max(start for start, _ in of.values())
            for rank, (start, _) in of.items():
                waits[rank] += last - start
        for rank, row in rows.items():
            self.assertEqual(row["wait_ns"] + row["transfer_ns"] + row["unknown_ns"],
                             row["exposed_ns"])
            self.assertEqual(row["exposed_ns"], gpu[rank]["comm_exposed_ns"])
            self.assertEqual(row["unknown_ns"], 0)
            self.assertLess(abs(row["wait_ns"] - waits[rank]), 2000 * len(instances(ranks)))


class Even(unittest.TestCase):
    """all_to_allv whose recorded sizes are equal shows clocks, waits and late ranks as all_to_all
    does; where one rank divides its data otherwise, it does not."""

    def rows(self, splits):
        plan = simulate.Plan(ranks=4, steps=10, seed=90, ops=("all_to_allv",), splits=splits)
        document = report(simulate.simulate(plan))
        (kind,) = document.rows("collectives.by_kind")
        self.assertEqual((kind["op"], kind["count"]), ("all_to_allv", 10))
        return document, kind

    def test_equal_sizes(self):
        for size in ("[4096, 4096, 4096, 4096]", "[]"):
            document, kind = self.rows(lambda _, size=size: {"In split size": size,
                                                             "Out split size": size})
            self.assertGreater(kind["transfer_ns"], 0)
            states = [r["state"] for r in document.rows("collectives.clocks")]
            self.assertEqual(states.count("reference"), 1)
            self.assertNotIn("not_compared", states)
            self.assertEqual({r["collectives"] for r in document.rows("stragglers.by_rank")}, {10})

    def test_one_rank_differs(self):
        sizes = ("[4096, 4096, 4096, 4096]", "[4096, 4096, 4096, 1024]")
        document, kind = self.rows(lambda rank: {"In split size": sizes[rank == 2],
                                                 "Out split size": sizes[rank == 2]})
        self.assertIsNone(kind["transfer_ns"])
        states = {r["state"] for r in document.rows("collectives.clocks")}
        self.assertEqual(states, {"not_compared"})

    def test_sizes_not_recorded(self):
        self.assertIsNone(self.rows(None)[1]["transfer_ns"])


class LinkUse(unittest.TestCase):
    """What collectives reach of the link between devices, and what a low figure fits."""

    def report(self, rate, device, ranks=2, only=None, spread=None, op="allreduce"):
        """All-reduces of 64 MiB at a bus bandwidth in bytes per ns."""
        elements = 32 << 20
        moved = elements * 2 * 2 * (ranks - 1) / ranks
        plan = simulate.Plan(ranks=ranks, steps=12, seed=91, ops=(op,), elements=[elements],
                             transfer=round(moved / rate / (elements >> 20)), device=device,
                             culprit=spread)
        simulated = simulate.simulate(plan)
        return report([r for r in simulated if only is None or r.rank in only])

    def limit(self, *args, **named):
        document = self.report(*args, **named)
        (row,) = document.rows("collectives.link_use")
        finding = document.finding("link-bandwidth")
        self.assertEqual(bool(row["limit"]), bool(finding))
        if finding:  # one finding for one time
            self.assertFalse(document.finding("exposed-comm"))
        return row, finding

    def test_host_memory(self):
        row, finding = self.limit(3, "NVIDIA A800-SXM4-80GB")
        self.assertEqual((row["link"], row["limit"]), ("NVLink", "host_memory"))
        self.assertLess(abs(row["bus_bandwidth"] / 3e9 - 1), 0.05)
        self.assertRegex(finding["title"], r"P2P.* 2\.9\d GB/s where NVLink can move 200 GB/s")
        self.assertLess(finding["saving_ns"]["high"], row["exposed_ns"])
        self.assertGreater(finding["saving_ns"]["low"], 0.9 * row["exposed_ns"])

    def test_pcie(self):
        row, finding = self.limit(50, "NVIDIA H100 80GB HBM3")
        self.assertEqual(row["limit"], "pcie")
        self.assertIn("PCIe", finding["title"])

    def test_between_cards(self):
        row, finding = self.limit(4, "NVIDIA GeForce RTX 4090")
        self.assertEqual((row["link"], row["limit"]), ("PCIe", "host_memory"))
        self.assertIn("P2P", finding["title"])

    def test_protocol(self):
        self.assertEqual(self.limit(70, "NVIDIA H100 80GB HBM3", ranks=4)[0]["limit"], "protocol")

    def test_network(self):
        row, finding = self.limit(3, "NVIDIA H100 80GB HBM3", ranks=16)
        self.assertEqual((row["link"], row["limit"]), ("network", "network"))
        self.assertIn("network", finding["title"])

    def test_good_links(self):
        for rate, device in ((150, "NVIDIA A800-SXM4-80GB"), (12, "NVIDIA GeForce RTX 4090"),
                             (20, "Tesla V100-SXM2-32GB"), (45, "AMD Instinct MI300X")):
            self.assertIsNone(self.limit(rate, device)[0]["limit"], device)

    def test_one_rank(self):
        row, finding = self.limit(3, "NVIDIA A800-SXM4-80GB", only={0})
        self.assertEqual((row["basis"], row["limit"]), ("duration", "host_memory"))
        self.assertIn("cannot be told from transfer", finding["details"])

    def test_one_rank_that_waits(self):
        """Long for another reason: it waits for a rank that is late in some steps."""
        document = self.report(100, "NVIDIA A800-SXM4-80GB", only={0},
                               spread=(1, "gap", 30, 0, 8))
        (row,) = document.rows("collectives.link_use")
        self.assertIsNone(row["limit"], row)
        self.assertFalse(document.finding("link-bandwidth"))


class Places(unittest.TestCase):
    """Where exposed collectives are launched, and why nothing is computed meanwhile."""

    def report(self, ahead_us):
        """Ten layers: a kernel, an all-reduce, the next kernel is launched `ahead_us` before the
        all-reduce ends."""
        rank, now = simulate.Rank(0, random.Random(1), simulate.Plan()), 1000
        for layer in range(10):
            names = (("nn.Module: Attention_0", "python_function"),
                     ("c10d::allreduce_", "cpu_op"))
            for name, cat in names:
                rank.span(cat, name, 1, 1, now, 40_000)
            rank.now = now + 60_000
            rank.launch(simulate.COMM["allreduce"], 500_000, 50_000, stream=20,
                        **{"Collective name": "allreduce"})
            rank.now += 1000 if ahead_us > 0 else 5000 - ahead_us * 1000
            rank.launch("gemm", 300_000, ahead_us * 1000 + 1000 if ahead_us > 0 else 5000,
                        op="aten::mm")
            now = rank.now + 10_000
        return report([rank])

    def test_dependency(self):
        document = self.report(200)
        (row,) = document.rows("collectives.exposed_by_place")
        self.assertEqual((row["op"], row["place"], row["cause"], row["calls"], row["exposed_ns"]),
                         ("allreduce", "nn.Module: Attention_0", "dependency", 10, 5_000_000))
        finding = document.finding("exposed-comm")
        self.assertIn("allreduce", finding["title"])
        self.assertIn("`Attention_0`", finding["why"])
        self.assertIn("needs the result", finding["why"])

    def test_host(self):
        document = self.report(-100)
        (row,) = document.rows("collectives.exposed_by_place")
        self.assertEqual((row["cause"], row["exposed_ns"]), ("host", 5_000_000))
        self.assertIn("host", document.finding("exposed-comm")["why"])


class Clusters(unittest.TestCase):
    """Average linkage against the plain algorithm; ranks have a kernel, a collective, a gap."""

    def linkage(self, points, cut):
        """Joins the two clusters with the least mean distance until none is within the cut."""
        clusters = [[i] for i in range(len(points))]

        def mean(a, b):
            return sum(sum(abs(x - y) for x, y in zip(points[i], points[j]))
                       for i in a for j in b) / (len(a) * len(b))

        while len(clusters) > 1:
            least, a, b = min((mean(a, b), a, b) for i, a in enumerate(clusters)
                              for b in clusters[:i])
            if least > cut:
                break
            clusters = [c for c in clusters if c not in (a, b)] + [sorted(a + b)]
        return {tuple(c) for c in clusters}

    def test_like_the_plain_algorithm(self):
        rng = random.Random(70)
        ranks, points = [], []
        for rank in range(40):
            r = simulate.Rank(rank, rng, simulate.Plan(clocks=False))
            kernel, gap, comm = (rng.randint(1, 9) * 100_000 for _ in range(3))
            r.launch("gemm", kernel, 5000)
            r.now += gap
            r.launch(simulate.COMM["allreduce"], comm, 5000)
            ranks.append(r)
            points.append([x / (kernel + gap + comm) for x in (kernel, comm, gap)])
        rows = report(ranks).rows("ranks.clusters")
        expected = self.linkage(points, 0.1)
        self.assertEqual(sum(r["devices"] for r in rows), 40)
        found = set()
        for row in rows:
            members = set()
            for part in row["ranks"].split(", "):
                first, _, last = part.partition("–")
                members |= set(range(int(first), int(last or first) + 1))
            found.add(tuple(sorted(members)))
            total = {i: sum(sum(abs(x - y) for x, y in zip(points[i], points[j]))
                            for j in members) for i in members}
            self.assertLess(total[row["rank"]], min(total.values()) + 1e-9)
        self.assertEqual(found, expected)
        self.assertGreater(len(found), 5)


class Layout(unittest.TestCase):
    """What groups of ranks are for, by their name or by what they do."""

    def rows(self, **plan):
        plan = simulate.Plan(ranks=8, steps=6, seed=80, **plan)
        return report(simulate.simulate(plan)).rows("collectives.layout")

    def check(self, row, dimension, groups, size, stride, basis):
        self.assertEqual([row[key] for key in ("dimension", "groups", "size", "stride", "basis")],
                         [dimension, groups, size, stride, basis])

    def test_names_win(self):
        (row,) = self.rows(groups=[[i, i + 4] for i in range(4)], ops=("all_to_all",))
        self.check(row, "tensor", 4, 2, 4, "description")
        self.assertEqual((row["ranks"], row["op"], row["count"]), ("[0, 4]", "all_to_all", 24))
        self.assertEqual(row["bytes"], 24 * (1 << 21))

    def test_operations_tell(self):
        pairs = [[i, i + 1] for i in range(0, 8, 2)]
        for ops, dimension in ((("all_to_all",), "sequence"), (("allreduce",) * 6, "tensor"),
                               (("allreduce",), "data"), (("_allgather_base",), "guidance")):
            (row,) = self.rows(groups=pairs, ops=ops, description="undefined")
            self.check(row, dimension, 4, 2, 1, "operations")
            self.assertLess(row["confidence"], 0.9)

    def test_all_ranks(self):
        (row,) = self.rows(ops=("allreduce",), description="default_pg")
        self.check(row, "world", 1, 8, 1, "description")
        (row,) = self.rows(ops=("allreduce",) * 6, description="default_pg")
        self.check(row, "tensor", 1, 8, 1, "operations")

    def test_uneven_distances(self):
        (row,) = self.rows(groups=[[0, 1, 4], [2, 3, 5, 6, 7]][:1] + [[2, 3, 6]])
        self.check(row, "tensor", 2, 3, None, "description")


class Numbers(unittest.TestCase):
    """Records with Seq are matched by it, whatever is lost."""

    def test_lost_records(self):
        """Equal collectives in a row: only their numbers tell which ones are lost."""
        plan = simulate.Plan(ranks=4, steps=20, seed=81, ops=("allreduce",) * 3, noise=0.05,
                             drop=[(1, 10), (1, 11), (3, 40), (0, 0)])
        ranks = simulate.simulate(plan)
        for r in ranks:  # as torch counts: from 1 on in each group, what is lost included
            numbers = [index + 1 for *_, index in r.comm]
            kernels = [e for e in r.events if "Collective name" in e["args"]]
            self.assertEqual(len(kernels), len(numbers))
            for event, number in zip(kernels, numbers):
                event["args"]["Seq"] = number
        document = report(ranks)
        rows = {r["rank"]: r for r in document.rows("stragglers.by_rank")}
        late = collections.defaultdict(list)
        for of in instances(ranks).values():
            first = min(start for start, _ in of.values())
            for rank, (start, _) in of.items():
                late[rank].append(start - first)
        for rank, values in late.items():
            self.assertEqual(rows[rank]["collectives"], len(values))
            self.assertLess(abs(rows[rank]["mean_lateness_ns"] - sum(values) / len(values)), 2000)
        (kind,) = document.rows("collectives.by_kind")
        self.assertEqual(kind["count"], 60)
        self.assertFalse([r for r in rows.values() if r["is_late"]])


class Rules(unittest.TestCase):
    """Findings where something is planted, and none where nothing is."""

    def test_straggler(self):
        plan = simulate.Plan(ranks=6, steps=20, seed=40, culprit=(5, "copy", 0.2, 0))
        found = report(simulate.simulate(plan))
        title = found.finding("straggler")["title"]
        self.assertIn("Rank 5", title)
        self.assertIn("mainly for a pageable host-to-device copy in `aten::copy_`", title)
        planted = 200_000 * 2 * plan.steps
        self.assertLess(abs(found.finding("straggler")["saving_ns"]["high"] / planted - 1), 0.1)

    def test_balance(self):
        plan = simulate.Plan(ranks=4, steps=10, seed=41, culprit=(0, "kernel", 0.5, 0))
        found = report(simulate.simulate(plan))
        planted = 500_000 * 2 * plan.steps
        self.assertLess(abs(found.finding("straggler")["saving_ns"]["high"] / planted - 1), 0.2)
        self.assertFalse(found.finding("load-balance"))  # the same time once more

    def test_clean(self):
        found = report(simulate.simulate(simulate.Plan(ranks=6, steps=20, seed=42)))
        for rule in ("straggler", "slow-link", "small-messages", "load-balance"):
            self.assertFalse(found.finding(rule))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
