# SPDX-License-Identifier: GPL-3.0-or-later
"""Merged traces: every event is there once with all it had, and what connects events of one rank
connects those and no others.

The reference is Python's own JSON and decimal arithmetic.
"""
import decimal
import gzip
import json
import os
import random
import re
import tarfile
import unittest

from support import PAIR, ROOT, SAMPLE, TINY, ProcessTest, contents, main

decimal.getcontext().prec = 60

IDS_OF_EVENTS = ("id", "bind_id")
IDS_OF_ARGS = ("correlation", "External id", "external id", "Python id", "Python parent id",
               "wait_on_cuda_event_record_corr_id")

def load(path, parse_float=decimal.Decimal):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=parse_float)


def events_of(document):
    return document["traceEvents"] if isinstance(document, dict) else document


def ns(value):
    """µs to ns, halves away from zero."""
    return int((decimal.Decimal(str(value)) * 1000).quantize(decimal.Decimal(1),
                                                             decimal.ROUND_HALF_UP))


def is_place(event):
    return event.get("ph") == "M" and event.get("name") in ("process_name", "process_sort_index")


def connects(value):
    try:
        return int(value) > 0
    except (TypeError, ValueError):
        return isinstance(value, str)


class Mapping:
    """A function that must not have two values, nor two arguments for one value."""
    def __init__(self, test):
        self.test, self.there, self.back = test, {}, {}

    def pair(self, old, new):
        self.test.assertEqual(self.there.setdefault(old, new), new, old)
        self.test.assertEqual(self.back.setdefault(new, old), old, new)


class MergeTest(ProcessTest):
    def merge(self, *args, out="merged.json", code=0):
        done = self.expect(code, "merge", *map(str, args), "-o", out)
        path = self.folder / out
        return (load(path) if code == 0 and not out.endswith(".tar") else path), done

    def write(self, name, document):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document),
                        encoding="utf-8")
        return path

    # ---- the reference --------------------------------------------------------------------

    def check_event(self, source, old, new, offset, pids, ids):
        """`new` is `old` but for what a merged file has to say in another way."""
        old, new = dict(old), dict(new)
        pids.pair((source, str(old.pop("pid", ""))), new.pop("pid"))
        if offset and "ts" in old and old["ph"] != "M":
            self.assertEqual(ns(old.pop("ts")) + offset, ns(new.pop("ts")))
        for key in IDS_OF_EVENTS:
            if key in old:
                ids.pair((source, str(old.pop(key))), int(new.pop(key)))
        if isinstance(old.get("args"), dict):
            old["args"], new["args"] = dict(old["args"]), dict(new["args"])
            for key in IDS_OF_ARGS:
                if connects(old["args"].get(key)):
                    ids.pair((source, str(old["args"].pop(key))), int(new["args"].pop(key)))
        self.assertEqual(old, new)

    def check_all(self, paths, merged, offsets=None):
        """The merged file holds the events of these files in this order, and names of processes."""
        pids, ids = Mapping(self), Mapping(self)
        rest = iter([e for e in merged["traceEvents"] if not is_place(e)])
        names = {e["pid"]: e["args"]["name"] for e in merged["traceEvents"] if is_place(e)
                 and e["name"] == "process_name"}
        for i, path in enumerate(paths):
            for event in events_of(load(path)):
                if not is_place(event):
                    offset = offsets[i] if offsets else 0
                    self.check_event(i, event, next(rest), offset, pids, ids)
        self.assertEqual(list(rest), [])
        for (i, pid), number in pids.there.items():
            self.assertIn(number, names)
            if pid:
                self.assertTrue(names[number].endswith(f"[pid {pid}]"), names[number])

    def kernels(self, *paths):
        done = self.expect(0, "report", "--json", *map(str, paths))
        report = json.loads(done.stdout)
        return [item for section in report["sections"] for item in section["items"]
                if item["id"] in ("kernels.by_name", "kernels.by_class", "ops.by_name")]

    # ---- all of it ------------------------------------------------------------------------

    def test_samples(self):
        paths = []
        for path in sorted(SAMPLE.iterdir())[:2]:
            document = load(path, float)
            document["traceEvents"] = document["traceEvents"][::16]
            paths.append(self.write(path.name.replace(".gz", ""), document))
        merged, done = self.merge(*paths)
        self.check_all(paths, merged)
        total = sum(len(events_of(load(path))) for path in paths)
        self.assertIn(f"{total} events of 2 traces".encode(), done.stdout)
        again, _ = self.merge("merged.json", out="again.json")
        self.assertTrue([e for e in merged["traceEvents"] if not is_place(e)] ==
                        [e for e in again["traceEvents"] if not is_place(e)])

    def test_small_traces(self):
        for paths in ([TINY], sorted(PAIR.iterdir())):
            merged, _ = self.merge(*paths)
            self.check_all(paths, merged)

    def test_packed_is_the_same(self):
        self.expect(0, "merge", str(SAMPLE), "-o", "a.json")
        for jobs in ("1", "3"):
            self.expect(0, "merge", str(SAMPLE), "-j", jobs, "-o", f"{jobs}.json.gz")
        plain = (self.folder / "a.json").read_bytes()
        self.assertEqual(gzip.decompress((self.folder / "1.json.gz").read_bytes()), plain)
        self.assertEqual((self.folder / "1.json.gz").read_bytes(),
                         (self.folder / "3.json.gz").read_bytes())
        done = self.expect(0, "merge", str(SAMPLE), "-o", "-")
        self.assertEqual(done.stdout, plain)

    def test_figures_stay(self):
        for inputs in ([SAMPLE], [PAIR]):
            self.expect(0, "merge", *map(str, inputs), "-o", "again.json.gz")
            apart = self.kernels(*inputs)
            together = self.kernels("again.json.gz")
            self.assertEqual([t["id"] for t in apart], [t["id"] for t in together])
            for before, after in zip(apart, together):
                self.assertTrue(before["rows"])
                self.assertTrue(before["rows"] == after["rows"], before["id"])

    # ---- ids ------------------------------------------------------------------------------

    def test_ids_of_all_kinds(self):
        def events(shift):
            flow = {"cat": "ac2g", "name": "launch", "pid": 1, "tid": 2}
            return [{**flow, "ph": "s", "ts": 1 + shift, "id": 7},
                    {**flow, "ph": "f", "ts": 2 + shift, "id": "7"},
                    {**flow, "ph": "s", "ts": 3, "id": "0x7f12ab34c000"},
                    {**flow, "ph": "f", "ts": 4, "id": "0x7f12ab34c000"},
                    {**flow, "ph": "s", "ts": 5, "id": 123456789012345678901},
                    {**flow, "ph": "s", "ts": 6, "id": "007"},
                    {**flow, "ph": "s", "ts": 7, "id": -3},
                    {**flow, "ph": "X", "ts": 8, "dur": 1, "bind_id": "0x7f12ab34c000"},
                    {"ph": "X", "name": "k", "pid": "Spans", "tid": 0, "ts": 9, "dur": 1,
                     "args": {"correlation": 12, "External id": "3", "Python id": 0,
                              "Python parent id": None, "stream": 7}},
                    {"ph": "i", "name": "nowhere", "ts": 10, "s": "g"},
                    {"ph": "b", "cat": "a", "name": "b", "pid": -1, "tid": 0, "ts": 11, "id": "x",
                     "id2": {"local": "0x1"}}]
        paths = [self.write(f"rank{i}.json", {"traceEvents": events(i)}) for i in range(3)]
        merged, _ = self.merge(*paths, "--align=none")
        self.check_all(paths, merged)
        numbers = [e["id"] for e in merged["traceEvents"] if "id" in e]
        self.assertLess(max(int(n) for n in numbers), 2 ** 53)
        self.assertEqual(numbers[0], 7)
        self.assertEqual(numbers[1], "7")

    def test_global_ids(self):
        paths = [self.write(f"rank{i}.json", [{"ph": "b", "cat": "a", "name": "b", "pid": 1,
                                               "tid": i, "ts": 11, "id2": {"global": "0x1"}}])
                 for i in range(2)]
        merged, _ = self.merge(*paths)
        ids = [e["id2"]["global"] for e in merged["traceEvents"] if "id2" in e]
        self.assertEqual(len(set(ids)), 2)

    def test_numbers_of_processes(self):
        def trace(*pids):
            return [{"ph": "i", "name": "x", "pid": pid, "tid": 0, "ts": 1} for pid in pids]
        paths = [self.write("rank0.json", trace(0, 1, "Spans", 10000000)),
                 self.write("rank1.json", trace(0, 4037, 10000001, "4037"))]
        merged, _ = self.merge(*paths, "--align=none")
        self.check_all(paths, merged)
        pids = [e["pid"] for e in merged["traceEvents"] if e["ph"] == "i"]
        self.assertEqual(pids[:2], [0, 1])
        self.assertEqual(pids[5], 4037)
        self.assertEqual(pids[5], pids[7])

    def test_names_and_order(self):
        def meta(what, pid, **args):
            return {"ph": "M", "name": what, "pid": pid, "tid": 0, "args": args}
        events = [{"ph": "i", "name": "x", "pid": pid, "tid": 0, "ts": 1} for pid in (5, 6)] + [
            meta("process_name", 5, name="first"),
            meta("process_name", 5, name="py\"thon\n<\u202e"),
            meta("process_sort_index", 6, sort_index=1),
            meta("process_sort_index", 5, sort_index=9)]
        paths = [self.write(f"rank{i}.json", [*events, meta("thread_name", 5, name=f"main {i}")])
                 for i in (0, 1)]
        merged, _ = self.merge(*paths)
        named = [e for e in merged["traceEvents"] if e["name"] == "process_name"]
        self.assertEqual([e["args"]["name"] for e in named],
                         ["rank 0 [pid 6]", "rank 0: py\"thon\n<\u202e [pid 5]",
                          "rank 1 [pid 6]", "rank 1: py\"thon\n<\u202e [pid 5]"])
        order = [e["args"]["sort_index"] for e in merged["traceEvents"]
                 if e["name"] == "process_sort_index"]
        self.assertEqual(order, [0, 1, 2, 3])
        self.assertEqual(sum(e["name"] == "thread_name" for e in merged["traceEvents"]), 2)

    def test_two_traces_of_a_rank(self):
        event = {"ph": "i", "name": "x", "pid": 5, "tid": 0, "ts": 1}
        for name in ("rank0-a.json", "rank0-b.json"):
            self.write(f"in/{name}", [event, {**event, "name": name}])
        merged, _ = self.merge("in", out="m.json")
        names = [e["args"]["name"] for e in merged["traceEvents"] if e["name"] == "process_name"]
        self.assertEqual(names, ["rank 0 (rank0-a.json) [pid 5]", "rank 0 (rank0-b.json) [pid 5]"])
        path, _ = self.merge("in", out="m.tar")
        with tarfile.open(path) as archive:
            self.assertEqual(archive.getnames(), ["perfetto_manifest.json", "rank-00000.json",
                                                  "rank-00000-2.json"])

    # ---- times ----------------------------------------------------------------------------

    def dated(self, base, *times):
        events = [{"ph": "X", "name": f"e{i}", "pid": 1, "tid": 1, "ts": decimal.Decimal(t),
                   "dur": 1} for i, t in enumerate(times)]
        text = json.dumps(events, default=str).replace('"ts": "', '"ts": ')
        text = text.replace('", "dur"', ', "dur"')
        return f'{{"baseTimeNanoseconds": {base}, "traceEvents": {text}}}'

    def test_dates_align_exactly(self):
        base = 1700000000000000000
        times = ("0.001", "1234567890123.457", "17", "1.5e3", "-2.25", "99999999999.9")
        paths = [self.write("rank0.json", self.dated(base + 1000000001, *times)),
                 self.write("rank1.json", self.dated(base, *times)),
                 self.write("rank2.json", self.dated(base + 7, *times))]
        merged, done = self.merge(*paths)
        self.assertEqual(merged["baseTimeNanoseconds"], base)
        self.check_all(paths, merged, [1000000001, 0, 7])
        self.assertIn(b"aligned by their dates, moved by up to 1.00 s", done.stdout)

    def test_dates_of_both_kinds(self):
        base = 1700000000000000000
        absolute = [{"ph": "i", "name": "x", "pid": 1, "tid": 1, "ts": base // 1000 + 5}]
        paths = [self.write("rank0.json", self.dated(base, "1")),
                 self.write("rank1.json", absolute)]
        merged, _ = self.merge(*paths)
        self.assertNotIn("baseTimeNanoseconds", merged)
        times = [ns(e["ts"]) for e in merged["traceEvents"] if "ts" in e]
        self.assertEqual(times, [base + 1000, base + 5000])

    def test_clocks_without_dates(self):
        paths = [self.write(f"rank{i}.json", [{"ph": "i", "name": "x", "pid": 1, "tid": i,
                                               "ts": "5.25"}]) for i in range(2)]
        _, done = self.merge(*paths)
        self.assertIn(b"counts from an unknown moment", done.stderr)
        self.assertIn(b"clocks are not aligned", done.stdout)
        _, done = self.merge(*paths, "--align=clock", out="other.json", code=3)
        self.assertIn(b"TA-E003", done.stderr)
        self.assertFalse((self.folder / "other.json").exists())
        _, done = self.merge(*paths, "--align=none")
        self.assertEqual(done.stderr, b"")

    def collectives(self, rank, place):
        """40 all-reduces of two ranks that end together; `place` is the clock of the rank."""
        rng, events = random.Random(5), []
        for i in range(40):
            end = 1000000 + 250000 * i + rng.randrange(0, 1000)
            dur = 300 + (100 if (i + rank) % 2 else 0)
            args = {"device": 0, "stream": 7, "correlation": i + 1, "Collective name": "allreduce",
                    "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2,
                    "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
            start = place(1000 * (end - dur))
            events.append({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": start / 1000,
                           "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "dur": dur,
                           "args": args})
        return {"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 2}}

    def test_collectives_align(self):
        """A clock that is ahead by 0.1 s and gains 20 µs in a second is put back to 2 µs."""
        paths = [self.write("rank0.json", self.collectives(0, lambda t: t)),
                 self.write("rank1.json", self.collectives(
                     1, lambda t: t + 123456789 + round(20e-6 * t)))]
        merged, done = self.merge(*paths)
        self.assertIn(b"aligned by collectives, moved by up to 123 ms", done.stdout)
        ends = {}
        for event in merged["traceEvents"]:
            if event["ph"] == "X":
                ends.setdefault(int(event["args"]["correlation"]) % 1000, []).append(
                    ns(event["ts"]) + ns(event["dur"]))
        self.assertEqual(len(ends), 40)
        self.assertLess(max(abs(a - b) for a, b in ends.values()), 2000)
        path, _ = self.merge(*paths, out="run.tar")
        with tarfile.open(path) as archive:
            manifest = json.load(archive.extractfile("perfetto_manifest.json"))
            parts = [json.load(archive.extractfile(n)) for n in archive.getnames()[1:]]
        offsets = [f.get("clocks", {}).get("offset_ns", 0)
                   for f in manifest["perfetto_manifest"]["files"]]
        self.assertGreater(offsets[0] - offsets[1], 123000000)
        places = [[ns(e["ts"]) + offset for e in part["traceEvents"]]
                  for part, offset in zip(parts, offsets)]
        apart = [abs(a - b) for a, b in zip(*places)]  # starts differ by the wait of 100 µs
        self.assertLess(max(abs(d - 100000) for d in apart), 2000)
        _, done = self.merge(TINY, PAIR / "rank1.json", "--align=collectives", out="x.json", code=3)
        self.assertIn(b"clocks can be compared by, try --align=clock", done.stderr)

    # ---- what is left out -----------------------------------------------------------------

    def made_trace(self, seed):
        """Spans, pairs, flows and instants at random, some in odd order."""
        rng = random.Random(seed)
        events = []
        for i in range(120):
            start, length = rng.randrange(0, 900), rng.randrange(0, 120)
            place = {"pid": rng.choice([1, 2]), "tid": rng.choice([1, "main"]),
                     "cat": rng.choice(["cpu_op", "kernel", "Python_Function", "a,kernel"]),
                     "name": f"n{i}"}
            kind = rng.choice("XXXXBbi")
            if kind == "X":
                events.append({**place, "ph": "X", "ts": start, "dur": length})
            elif kind == "B":
                events += [{**place, "ph": "B", "ts": start},
                           {"ph": "E", "ts": start + length, "pid": place["pid"],
                            "tid": place["tid"]}]
            elif kind == "b":
                events += [{**place, "ph": "b", "ts": start, "id": i},
                           {**place, "ph": "e", "ts": start + length, "id": i}]
            else:
                events.append({**place, "ph": rng.choice("isfC"), "ts": start, "id": i,
                               "args": {"n": i}})
        events.insert(0, {"ph": "i", "name": "zero", "pid": 1, "tid": 1, "ts": 0})
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "t"}})
        return events

    @staticmethod
    def wanted(events, begin, end, dropped):
        """By the definition, one event after the other; times in µs."""
        kept, stacks, running = [], {}, set()
        for event in events:
            ph, ts = event["ph"], event.get("ts")
            inside = ph == "M" or begin <= ts < end or (
                ph == "X" and ts < begin < ts + event["dur"])
            inside = inside and not {c.lower() for c in event.get("cat", "").split(",")} & dropped
            thread, name = (event["pid"], str(event["tid"])), (event.get("cat"), event.get("id"))
            if ph == "B":
                stacks.setdefault(thread, []).append(inside)
            elif ph == "E" and stacks.get(thread):
                inside = stacks[thread].pop()
            elif ph == "b" and inside:
                running.add(name)
            elif ph == "e":
                inside = name in running
                running.discard(name)
            if inside:
                kept.append(event)
        return kept

    def test_ranges_and_categories(self):
        for seed in range(12):
            rng = random.Random(1000 + seed)
            events = self.made_trace(seed)
            path = self.write("rank0.json", {"traceEvents": events})
            begin = rng.randrange(0, 800)
            end = begin + rng.randrange(1, 400)
            dropped = rng.choice([set(), {"kernel"}, {"python_function", "cpu_op"}])
            args = [path, f"--time-range={begin}us,{end}us"]
            args += [f"--drop-category={','.join(sorted(dropped))}"] if dropped else []
            merged, done = self.merge(*args)
            kept = self.wanted(events, begin, end, dropped)
            names = [(e["ph"], e.get("name"), e.get("ts"))
                     for e in merged["traceEvents"] if not is_place(e)]
            self.assertEqual(names, [(e["ph"], e.get("name"), e.get("ts")) for e in kept],
                             f"seed {seed}")
            self.assertIn(f"{len(kept)} event".encode(), done.stdout)

    def test_open_ranges(self):
        events = [{"ph": "i", "name": str(i), "pid": 1, "tid": 1, "ts": i * 1000000}
                  for i in range(10)]
        path = self.write("rank0.json", events)
        for text, expected in ((",3s", "012"), ("7s,", "789"), ("2s,4000ms", "23"),
                               (",", "0123456789"), ("100ns,1000001us", "1")):
            merged, _ = self.merge(path, f"--time-range={text}")
            self.assertEqual("".join(e["name"] for e in merged["traceEvents"] if e["ph"] == "i"),
                             expected)

    def test_ranks(self):
        event = {"ph": "i", "name": "x", "pid": 5, "tid": 0, "ts": 1}
        paths = [self.write(f"rank{i}.json", [{**event, "name": str(i)}]) for i in range(12)]
        merged, _ = self.merge(*paths, "--rank", "1,3-5,11", "--align=none")
        self.assertEqual([t["rank"] for t in merged["traceanalyze"]["traces"]], [1, 3, 4, 5, 11])
        self.assertEqual([e["name"] for e in merged["traceEvents"] if e["ph"] == "i"],
                         ["1", "3", "4", "5", "11"])
        _, done = self.merge(*paths, "--rank=17", out="none.json", code=3)
        self.assertIn(b"No trace to merge: --rank=17", done.stderr)

    def test_steps(self):
        def step(number, start, name="ProfilerStep#{}"):
            """100 µs on the host; its kernel begins when the next step is half over."""
            host, number = {"pid": 1, "tid": 1, "ph": "X"}, number
            return [{**host, "cat": "user_annotation", "name": name.format(number),
                     "ts": start, "dur": 100},
                    {**host, "cat": "cuda_runtime", "name": f"launch{number}", "ts": start + 10,
                     "dur": 5, "args": {"correlation": number}},
                    {"ph": "X", "cat": "kernel", "name": f"kernel{number}", "pid": 0, "tid": 7,
                     "ts": start + 150, "dur": 20, "args": {"correlation": number, "device": 0}}]
        for rank, shift in ((0, 0), (1, 5000)):
            self.write(f"rank{rank}.json",
                       [e for n in range(1, 7) for e in step(n, 1000 + shift + 100 * n)])
        merged, done = self.merge("rank0.json", "rank1.json", "--steps=2-3", "--align=none")
        names = [e["name"] for e in merged["traceEvents"] if e["ph"] == "X"]
        # The window goes from the marker of step 2 to the end of the kernel of step 3.
        once = ["kernel1", "ProfilerStep#2", "launch2", "kernel2", "ProfilerStep#3", "launch3",
                "kernel3", "ProfilerStep#4", "launch4"]
        self.assertEqual(names, 2 * once)
        self.assertIn(b"outside the range", done.stdout)
        _, done = self.merge("rank0.json", "--steps=9-12", out="none.json", code=3)
        self.assertIn(b"--steps=9-12, marked are 1 to 6", done.stderr)
        _, done = self.merge(TINY, "--steps=900", out="none.json", code=3)
        # Steps that have no number of their own are counted from 1.
        self.write("decode.json", [e for n in range(1, 7)
                                   for e in step(n, 1000 + 100 * n, "step[DECODE bs=8]")])
        merged, _ = self.merge("decode.json", "--steps=2-3", "--align=none")
        names = [e["name"] for e in merged["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(names, [re.sub("ProfilerStep#.", "step[DECODE bs=8]", n) for n in once])

    def test_wrong_options(self):
        for args in (("--rank=a",), ("--rank=3-1",), ("--rank=1,,2",), ("--steps=x",),
                     ("--time-range=5",), ("--time-range=2s,1s",), ("--time-range=1MiB,2s",),
                     ("--align=clocks",)):
            with self.subTest(args=args):
                done = self.expect(2, "merge", str(TINY), *args, "-o", "x.json")
                self.assertIn(b"TA-E002", done.stderr)
        self.assertIn(b"expected a name that ends in",
                      self.expect(2, "merge", str(TINY), "-o", "x.html").stderr)
        with open(TINY, "rb") as file:
            done = self.run_program("merge", "-o", "x.json", "-", stdin=file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(contents(self.folder), {})

    # ---- archives -------------------------------------------------------------------------

    def test_archive(self):
        base = 1700000000000000000
        paths = [self.write("rank3.json", self.dated(base + 250, "1", "2.5")),
                 self.write("rank7.json", self.dated(base, "1", "3.5"))]
        path, _ = self.merge(*paths, out="run.perfetto.tar")
        with tarfile.open(path) as archive:
            self.assertEqual(archive.getnames(), ["perfetto_manifest.json", "rank-00003.json",
                                                  "rank-00007.json"])
            parts = {name: archive.extractfile(name).read() for name in archive.getnames()}
        manifest = json.loads(parts["perfetto_manifest.json"])["perfetto_manifest"]
        self.assertTrue(parts["perfetto_manifest.json"].startswith(b'{"perfetto_manifest"'))
        self.assertEqual(manifest["version"], 1)
        self.assertEqual(manifest["files"], [
            {"path": "rank-00003.json", "machine": {"name": "rank 3"},
             "clocks": {"sync_to": {"file": "rank-00007.json"}, "offset_ns": 250}},
            {"path": "rank-00007.json", "machine": {"name": "rank 7"}}])
        for source, name in zip(paths, ("rank-00003.json", "rank-00007.json")):
            text = parts[name].decode()
            self.assertEqual(events_of(json.loads(text, parse_float=decimal.Decimal)),
                             events_of(load(source)))
            self.assertEqual(json.loads(text)["baseTimeNanoseconds"],
                             load(source)["baseTimeNanoseconds"])

    def test_archive_needs_a_file(self):
        os.mkfifo(self.folder / "pipe.tar")
        reader = os.open(self.folder / "pipe.tar", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        done = self.expect(5, "merge", str(TINY), "-o", "pipe.tar")
        self.assertIn(b"A tar goes to a file", done.stderr)

    # ---- places ---------------------------------------------------------------------------

    def test_products_are_ours(self):
        for name in ("merged.json", "merged.json.gz", "run.tar"):
            self.merge(PAIR, out=name)
            before = contents(self.folder)
            self.merge(PAIR, out=name)
            self.assertEqual(contents(self.folder), before)
            (self.folder / name).write_bytes(b"someone else's")
            done = self.expect(5, "merge", str(PAIR), "-o", name)
            self.assertIn(b"Not overwriting a file that is not ours", done.stderr)
            (self.folder / name).unlink()

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            self.expect(5, "merge", str(PAIR), "-o", "-", stdout=full)

    # ---- damage ---------------------------------------------------------------------------

    def test_damage_is_repaired_or_said(self):
        good = '{"ph": "X", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'
        text = "[" + ",\n".join([
            good % ("a", 1),
            '{"ph": "X", "name": "tab\there", "pid": 1, "tid": 1, "ts": 2, "dur": 1}',
            '{"ph": "X", "name": "nan", "pid": 1, "tid": 1, "ts": 3, "dur": 1, '
            '"args": {"v": NaN, "w": [1,, 2,], /* why */ "correlation": 9, "deep": {"x": inf}}}',
            '{"ph": "X", "name": "bad \\q escape", "pid": 1, "tid": 1, "ts": 4, "dur": 1}',
            '{"ph": "X", "name": "no time", "pid": 1, "tid": 1, "dur": 1}',
            '{"ph": "X", "name": "broken, "pid": 1}',
            good % ("z", 9)]) + "]"
        paths = [self.write("rank0.json", text), self.write("rank1.json", text + " ")]
        merged, done = self.merge(*paths, "--align=none")
        names = [e["name"] for e in merged["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(names, 2 * ["a", "tab\there", "nan", "bad \\q escape", "z"])
        nan = [e["args"] for e in merged["traceEvents"] if e["name"] == "nan"]
        self.assertEqual(nan[0], {"v": None, "w": [1, 2], "correlation": 9, "deep": {"x": None}})
        self.assertEqual(nan[1]["correlation"], 10000000009)
        self.assertIn(b"lost: 4 events", done.stdout)
        self.assertIn(b"syntax", done.stderr)
        self.assertIn(b"bad-ts", done.stderr)
        self.expect(4, "merge", *map(str, paths), "--strict", "-o", "s.json")
        self.assertTrue((self.folder / "s.json").exists())

    def test_every_damage_gives_json(self):
        """What the reader keeps of damaged traces is written as JSON, as many events as it says."""
        cases = ROOT / "tests/golden/damaged/in"
        for path in sorted(p for p in cases.rglob("*") if p.is_file()):
            with self.subTest(path=path.name):
                done = self.run_program("merge", str(path), "-o", "m.json")
                if done.returncode == 3:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                kept = [e for e in load(self.folder / "m.json")["traceEvents"] if not is_place(e)]
                check = self.expect(0, "check", "--json", str(path))
                file, = json.loads(check.stdout)["data_quality"]["files"]
                self.assertGreaterEqual(file["events_kept"], len(kept))

    def test_dumps_are_no_traces(self):
        _, done = self.merge(ROOT / "samples/diffulex", code=3)
        self.assertIn(b"No trace to merge", done.stderr)


if __name__ == "__main__":
    main()
