#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants renamed, fused and split kernels and operators between two traces and counts how many are
found.

usage: test_match.py --program PROGRAM [--seeds N] [-v]

A program of random operators runs twice, the second time with some kernels of other names: other
template arguments, sizes of tiles, hashes and numbers; another library; a word more or less; two or
three kernels of an operator in one, or one in two or three; and some gone or new.  The same without
any operator around the kernels.  Then one of operators within operators, the second time with more
layers and with some of the operators called something else, fused, split, gone or new.  Of the
planted renames and of the fusions at least 95 % must be found, names that stay must stay, and every
window must close.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import reports

LEAST = 0.95

WORDS = ("norm", "gelu", "rope", "gather", "scatter", "modulate", "patchify", "upsample", "pad",
         "quantize", "blend", "shift", "window", "permute", "softcap", "gate", "mask", "embed")


def name_of(rng, number):
    """A kernel's name in one of the styles of the libraries."""
    a, b = rng.sample(WORDS, 2)
    tile = rng.choice((32, 64, 128, 256))
    return rng.choice((
        f"void at::native::{a}_{b}_kernel_{number}x<{tile}, 4, float>(int, float*)",
        f"triton_poi_fused_{a}_{b}_{number}",
        f"sm90_xmma_{a}_{b}_bf16_tilesize{tile}x{tile}x64_stage3_{chr(97 + number % 26)}q{a}",
        f"lib{number % 7}::{a}::{b}_forward_kernel<bfloat16_t, {tile}>(Params)",
    ))


class Planted:
    """The kernels of each operator before and after, and what became of which."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.renamed, self.sets, self.gone, self.new, self.kept = {}, [], [], [], []
        self.before, self.after = [], []
        self.number = 0
        for number in range(self.rng.randint(14, 26)):
            op = f"video::{self.rng.choice(WORDS)}_{chr(97 + number)}"
            self.plant(op)

    def fresh(self):
        self.number += 1
        return name_of(self.rng, self.number)

    def foreign(self):
        self.number += 1
        return f"vendorkernel{self.number}_{self.rng.getrandbits(40):x}zz"

    def plant(self, op):
        kernels = [self.fresh() for _ in range(self.rng.choice((1, 1, 1, 2, 3)))]
        now = list(kernels)
        what = self.rng.choice(("keep", "keep", "keep", "numbers", "library", "word", "fuse",
                                "split", "gone", "new"))
        if what == "numbers":
            now = [self.renumber(name) for name in kernels]
        elif what == "library" and len(kernels) == 1:
            now = [self.foreign()]
        elif what == "word" and len(kernels) == 1:
            now = [kernels[0].replace("_", "_fast_", 1)]
        elif what == "fuse" and len(kernels) > 1:
            now = [self.foreign()]
            self.sets.append((frozenset(kernels), frozenset(now)))
        elif what == "split" and len(kernels) == 1:
            now = [self.foreign() for _ in range(self.rng.choice((2, 3)))]
            self.sets.append((frozenset(kernels), frozenset(now)))
        elif what == "gone":
            self.gone += kernels
            now = []
        elif what == "new":
            extra = self.foreign()
            self.before.append((op, kernels))
            self.kept += kernels
            self.after += [(op, kernels), (f"{op}::extra", [extra])]
            self.new.append(extra)
            return
        if what in ("numbers", "library", "word") and now != kernels:
            self.renamed.update(zip(kernels, now))
        elif now == kernels:
            self.kept += kernels
        self.before.append((op, kernels))
        self.after.append((op, now))

    def renumber(self, name):
        """Another size of tile, another running number."""
        for old in ("32", "64", "128", "256"):
            if f"<{old}" in name or f"{old}x{old}" in name or f", {old}>" in name:
                new = "512"
                return (name.replace(f"<{old}", f"<{new}").replace(f"{old}x{old}", f"{new}x{new}")
                        .replace(f", {old}>", f", {new}>"))
        self.number += 1
        head = name.rstrip("0123456789")
        return f"{head}{9000 + self.number}" if head != name else name


class PlantedOps:
    """Operators that run others before and after, [(outer, [(inner, kernel)])]."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.renamed, self.sets, self.gone, self.new, self.kept = {}, [], [], [], []
        self.before, self.after = [], []
        self.number = 0
        for _ in range(self.rng.randint(5, 9)):
            self.plant()

    def fresh(self):
        self.number += 1
        return f"aten::{'_'.join(self.rng.sample(WORDS, 2))}_{chr(97 + self.number % 26)}" \
               f"{self.number}"

    def foreign(self):
        self.number += 1
        return f"vendor{self.number}::{self.rng.getrandbits(40):x}zz"

    def rename(self, name):
        self.renamed[name] = self.foreign()
        return self.renamed[name]

    def plant(self):
        outer, inner = self.fresh(), [self.fresh() for _ in range(self.rng.choice((2, 3, 4)))]
        self.before.append((outer, [(name, f"k_{name}") for name in inner]))
        what = self.rng.choice(("keep", "keep", "outer", "inner", "both", "fuse", "split", "gone",
                                "new"))
        first, last = self.rng.choice(((0, 2), (len(inner) - 2, len(inner))))
        now, kernels = list(inner), {name: f"k_{name}" for name in inner}
        if what in ("inner", "both"):
            now[first] = self.rename(inner[first])
            kernels[now[first]] = kernels[inner[first]]
        elif what == "fuse":
            now[first:last] = [self.foreign()]
            self.sets.append((frozenset(inner[first:last]), frozenset((now[first],))))
        elif what == "split":
            now[first:first + 1] = [self.foreign(), self.foreign()]
            self.sets.append((frozenset((inner[first],)), frozenset(now[first:first + 2])))
        elif what == "gone":
            self.gone.append(now.pop(first))
        elif what == "new":
            now.insert(first, self.foreign())
            self.new.append(now[first])
        self.kept += [name for name in inner if name in now]
        if what in ("outer", "both"):
            self.after.append((self.rename(outer), [(n, kernels[n]) for n in now]))
        else:
            self.kept.append(outer)
            self.after.append((outer, [(n, kernels.get(n, f"k_{n}")) for n in now]))


def write_trace(path, program, rng, layers=4, has_ops=True):
    """Operators with the names of their kernels, or with operators that run one kernel each."""
    events, now, correlation = [], 1000.0, 0
    gpu = now

    def span(category, name, start, dur, tid, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1 if tid < 50 else 0,
                       "tid": tid, "ts": round(start, 3), "dur": round(dur, 3), "args": args})

    for _ in range(layers):
        begin, at = now, now + 1
        for op, kernels in program:
            first = at
            for kernel in kernels:
                inner = None
                if isinstance(kernel, tuple):
                    inner, kernel = kernel
                    span("cpu_op", inner, at, 5, 10)
                correlation += 1
                span("cuda_runtime", "cudaLaunchKernel", at + 1, 3, 10, correlation=correlation)
                gpu = max(gpu + rng.uniform(0, 3), at + 6)
                dur = rng.uniform(5, 60)
                span("kernel", kernel, gpu, dur, 70, device=0, stream=7, correlation=correlation)
                gpu += dur
                at += 6
            if has_ops:
                span("cpu_op", op, first, at - first + 1, 10)
            at += 3
        if has_ops:
            span("user_annotation", "layer", begin, at - begin, 10)
        now = at + 5
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


class Comparison:
    def __init__(self, program, before, after, table):
        self.tables = reports.read(program, before, after, command="diff").tables
        self.rows = self.tables[table]

    def mates(self):
        return {row["name"]: row["matched_as"] or row["name"]
                for row in self.rows if row["status"] in ("same", "changed")}

    def sets(self):
        found = {}
        for row in self.rows:
            if row["set"] is not None:
                sides = found.setdefault(row["set"], (set(), set()))
                sides[row["status"] == "added"].add(row["name"])
        return {(frozenset(a), frozenset(b)) for a, b in found.values()}

    def closes(self):
        window = self.tables["diff.windows"][0]
        total = sum(row["delta_ns"] for row in self.tables["diff.waterfall"])
        return total == window["delta_ns"] and window["residual_ns"] == 0


class Score:
    def __init__(self, what):
        self.what, self.found, self.all = what, 0, 0

    def add(self, found):
        self.found += found
        self.all += 1

    def fails(self, least):
        print(f"{self.what}: {self.found} of {self.all}")
        return not self.all or self.found < least * self.all


class Scores:
    """`is_loose`: nothing tells what belongs together but the order, so that what was renamed is
    found, too, where it is in one set with its neighbor that is gone or new."""

    def __init__(self, of, is_loose=False):
        self.is_loose = is_loose
        self.renames, self.sets = Score(f"renamed {of} found"), Score(f"sets of {of} found")
        self.kept, self.alone = Score(f"{of} that stay"), Score(f"{of} left alone")
        self.open = 0

    def add(self, found, planted, seed, verbose):
        mates, in_sets = found.mates(), found.sets()
        for old, new in planted.renamed.items():
            is_found = mates.get(old) == new or \
                (self.is_loose and any(old in a and new in b for a, b in in_sets))
            self.renames.add(is_found)
            if verbose and not is_found:
                print(f"seed {seed}: {old} is {mates.get(old)}, not {new}")
        for pair in planted.sets:
            is_found = pair in in_sets or \
                (self.is_loose and any(pair[0] <= a and pair[1] <= b for a, b in in_sets))
            self.sets.add(is_found)
            if verbose and not is_found:
                print(f"seed {seed}: no set {[sorted(side) for side in pair]}")
        for name in planted.kept:
            self.kept.add(mates.get(name) == name)
        taken = set(mates.values()).union(*(a | b for a, b in in_sets))
        for name in planted.gone:
            self.alone.add(name not in mates and name not in taken)
        for name in planted.new:
            self.alone.add(name not in taken)
        if not found.closes():
            print(f"seed {seed}: the waterfall does not close")
            self.open += 1

    def fail(self, sets, alone):
        # All scores are said, whichever fails.
        return any([self.open, self.renames.fails(LEAST), self.sets.fails(sets),
                    self.kept.fails(1), self.alone.fails(alone)])


def compare(options, folder, planted, seed, table, **how):
    rng = random.Random(seed + 1000)
    paths = [folder / "before.json", folder / "after.json"]
    for path, program, layers in zip(paths, (planted.before, planted.after),
                                     how.pop("layers", (4, 4))):
        write_trace(path, program, rng, layers, **how)
    return Comparison(options.program, *paths, table)


def run(options, folder):
    kernels, ops = Scores("kernels"), Scores("operators")
    bare = Scores("kernels without operators", is_loose=True)
    for seed in range(options.seeds):
        planted = Planted(seed)
        kernels.add(compare(options, folder, planted, seed, "diff.kernels"), planted, seed,
                    options.verbose)
        if seed % 3 == 0:
            bare.add(compare(options, folder, planted, seed, "diff.kernels", has_ops=False),
                     planted, seed, options.verbose)
            continue
        planted = PlantedOps(seed)
        ops.add(compare(options, folder, planted, seed, "diff.ops", layers=(4, 6)), planted, seed,
                options.verbose)
    # What is gone where something new came was replaced, for all that can be seen, so that not all
    # of it is left alone.
    return any([kernels.fail(LEAST, 0.8), bare.fail(0.9, 0.5), ops.fail(LEAST, 0.8)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("-v", action="store_true", dest="verbose")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="traceanalyze-match-") as scratch:
        return 1 if run(options, pathlib.Path(scratch)) else 0


if __name__ == "__main__":
    sys.exit(main())
