# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures reading and reports beside what bounds them, and prints one table of ratios.

Programs run in rounds (A B C, A B C, …), and each ratio is taken within a round: whatever else the
machine does slows both sides.  README.md says what each row means."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple, Optional

sys.dont_write_bytecode = True  # the folder of the sources stays clean
import inputs
import measure
from inputs import Trace

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# Memory that every run needs, however small its trace: code, libraries, blocks of input.
BASE_BYTES = 16 * 10**6
# Targets are for large files; a smaller run, such as the smoke test, judges nothing.
JUDGED_FROM_BYTES = 500 * 10**6


class Scale(NamedTuple):
    """How much is measured."""
    sizes: list
    layout_size: str
    ranks: int
    rank_size: str
    rounds: int
    tree_rounds: int  # of jansson's tree, which takes as long as all the others


FULL = Scale(["10M", "100M", "1G"], "100M", 8, "100M", 7, 3)
SMOKE = Scale(["100M"], "100M", 2, "50M", 2, 1)


class Run(NamedTuple):
    command: list
    events: int = 1
    rounds: Optional[int] = None  # fewer than the others


class Row(NamedTuple):
    """`over` by `under`, each the name of a run; a row without `under` is a figure of its own."""
    what: str
    quantity: str
    over: str
    under: Optional[str]
    target: float
    stretch: Optional[float] = None
    at_least: bool = False  # or else at most


QUANTITIES = {  # how a sample becomes a number
    "wall": lambda sample, run: sample.wall_s,
    "CPU": lambda sample, run: sample.cpu_s,
    "CPU per event": lambda sample, run: sample.cpu_s / run.events,
    "memory per event": lambda sample, run: (sample.peak_bytes - BASE_BYTES) / run.events,
}


# ---- what is run ----------------------------------------------------------------------------


class Bench:
    """The programs, the inputs and the runs made of them."""

    def __init__(self, build, cache, scale):
        self.build, self.cache, self.scale = build, cache, scale
        self.program = build / "traceanalyze"
        self.runs = {}
        self.events = {}

    def tool(self, name):
        path = shutil.which(name)
        if not path:
            print(f"bench: no {name}, its rows are left out", file=sys.stderr)
        return path

    def files(self, trace):
        return inputs.make(self.build / "traceanalyze-generate", self.cache, trace)

    def count_events(self, trace):
        """Events in the files of a trace, which are as many in every packing."""
        key = trace._replace(packed=False)
        if key not in self.events:
            done = subprocess.run([self.program, "check", "--json", *self.files(trace)], check=True,
                                  stdout=subprocess.PIPE)
            totals = json.loads(done.stdout)["data_quality"]["totals"]
            self.events[key] = totals["events_kept"]
        return self.events[key]

    def read(self, name, trace, jobs, *options):
        """Reading alone; --strict, so that a run that lost data is no result."""
        command = [self.program, "check", "-q", "--strict", "-j", jobs, *options,
                   *self.files(trace)]
        self.runs[name] = Run(command, self.count_events(trace))

    def report(self, name, trace, jobs, folder):
        command = [self.program, "report", "-q", "--strict", "-j", jobs, "--format", "html,json",
                   "-o", folder / name.replace(" ", "-"), *self.files(trace)]
        self.runs[name] = Run(command, self.count_events(trace))

    def other(self, name, tool, trace, *options, rounds=None):
        if tool:
            self.runs[name] = Run([tool, *options, *self.files(trace)], rounds=rounds)


def fits_tree(size):
    """Whether jansson's tree, seven times the text, has room."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    return 9 * inputs.size_bytes(size) < free


def plan_runs(bench, folder):
    """Both sides of a ratio stand close together: what disturbs lasts longer than a run."""
    scale = bench.scale
    for size in scale.sizes:
        bench.read(f"json {size}", Trace(size), 1)
    largest = scale.sizes[-1]
    plain, packed = Trace(largest), Trace(largest, packed=True)
    bench.other("read()", bench.build / "bench/readloop", plain)
    bench.report("report json", plain, 1, folder)
    if any(part.startswith("isal ") for part in parts(bench.program)):
        bench.other("igzip", bench.tool("igzip"), packed, "-dc")
    bench.read("gz", packed, 2)
    bench.report("report gz", packed, 2, folder)
    bench.read("gz zlib", packed, 2, "--inflater", "zlib")
    bench.other("gzip", bench.tool("gzip"), packed, "-dc")
    if fits_tree(largest):
        bench.other("tree", bench.build / "bench/jansson_tree", plain, rounds=scale.tree_rounds)
    for layout in ("indent2", "oneline", inputs.MIXED):
        bench.read(layout, Trace(scale.layout_size, layout), 1)
    ranks = Trace(scale.rank_size, packed=True, ranks=scale.ranks)
    bench.read("ranks, one worker", ranks, 1)
    bench.read("ranks, two workers", ranks, 2)


# ---- what is told -----------------------------------------------------------------------------


def list_rows(scale):
    """The targets.  Rows whose runs are missing are left out."""
    largest, json_run = scale.sizes[-1], f"json {scale.sizes[-1]}"
    middle = f"json {scale.layout_size}"
    ranks = f"{scale.ranks} × {scale.rank_size} .json.gz"
    rows = [
        Row(f"{largest} .json.gz → model, × igzip -dc", "wall", "gz", "igzip", 1.5, 1.2),
        Row(f"{largest} .json.gz → model by zlib, × gzip -dc", "wall", "gz zlib", "gzip", 0.4, 0.3),
        Row(f"{largest} JSON → model, × read() loop", "CPU", json_run, "read()", 7, 5),
        Row(f"{largest} JSON, jansson's tree × → model", "CPU", "tree", json_run, 25, 40, True),
        Row(f"{ranks}, one worker × two", "wall", "ranks, one worker", "ranks, two workers",
            1.5, 1.9, True),
        Row(f"{largest} JSON → model, bytes", "memory per event", json_run, None, 48, 35),
        Row(f"{largest} complete report, bytes", "memory per event", "report json", None, 100),
        Row(f"JSON → model, {largest} × {scale.layout_size}", "CPU per event", json_run, middle,
            1.2, 1.05),
        Row(f"{largest} .json.gz, complete report × reading", "wall", "report gz", "gz", 2, 1.5),
        Row(f"{largest} JSON, complete report × reading", "wall", "report json", json_run, 2, 1.5),
        Row(f"{scale.layout_size} indent=2 × Kineto layout", "CPU per event", "indent2", middle, 2),
        Row(f"{scale.layout_size} one line × Kineto layout", "CPU per event", "oneline", middle, 2),
        Row(f"{scale.layout_size} keys in no order × Kineto layout", "CPU per event", inputs.MIXED,
            middle, 4),
    ]
    return [row for row in rows if row.over != row.under]


def values_of(row, runs, samples):
    """The figure of each round that has both sides."""
    figure = QUANTITIES[row.quantity]
    over = [figure(sample, runs[row.over]) for sample in samples[row.over]]
    if not row.under:
        return over
    under = [figure(sample, runs[row.under]) for sample in samples[row.under]]
    return [a / b for a, b in zip(over, under)]


def judge(row, value):
    return value >= row.target if row.at_least else value <= row.target


def evaluate(rows, runs, samples, judged):
    """The rows as they are told and saved."""
    told = []
    for row in rows:
        if row.over not in samples or row.under and row.under not in samples:
            continue
        values = values_of(row, runs, samples)
        told.append({"what": row.what, "quantity": row.quantity,
                     "median": statistics.median(values), "min": min(values), "max": max(values),
                     "target": row.target, "stretch": row.stretch, "at_least": row.at_least,
                     "met": judge(row, statistics.median(values)) if judged else None})
    return told


def number(value):
    return "–" if value is None else f"{value:.0f}" if value >= 20 else f"{value:.3g}"


def bound(value, at_least):
    return "–" if value is None else f"{'≥' if at_least else '≤'} {number(value)}"


HEAD = ["what", "of", "median", "min–max", "target", "stretch", "met"]
SIDES = [str.ljust, str.ljust, str.rjust, str.rjust, str.rjust, str.rjust, str.ljust]


def to_cells(row):
    return [row["what"], row["quantity"], number(row["median"]),
            f"{number(row['min'])}–{number(row['max'])}", bound(row["target"], row["at_least"]),
            bound(row["stretch"], row["at_least"]), {True: "yes", False: "no"}.get(row["met"], "")]


def to_text(rows):
    table = [HEAD, *map(to_cells, rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    return "\n".join("  ".join(map(lambda cell, side, width: side(cell, width), line, SIDES,
                                   widths)).rstrip() for line in table)


def to_markdown(rows):
    table = [HEAD, ["---"] * 2 + ["---:"] * 4 + ["---"], *map(to_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


# ---- measuring --------------------------------------------------------------------------------


def warm(runs):
    """Brings all inputs into the page cache: disks are not what is measured."""
    for path in {word for run in runs.values() for word in run.command[1:]
                 if isinstance(word, pathlib.Path) and word.is_file()}:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def show(text):
    """What is going on, in one line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", flush=True, file=sys.stderr)


def run_rounds(runs, rounds):
    samples = {name: [] for name in runs}
    for turn in range(rounds):
        for name, run in runs.items():
            if turn < (run.rounds or rounds):
                show(f"round {turn + 1} of {rounds}: {name}")
                samples[name].append(measure.run(run.command))
    show("")
    return samples


def machine():
    """What the figures depend on; nothing that names the machine."""
    cpu = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {"cpu": cpu, "cores": os.cpu_count(),
            "kernel": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"}


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], check=False, capture_output=True, text=True)
    return done.stdout.strip()


def revision():
    """Of the sources of the program; a change elsewhere does not make it dirty."""
    changed = git("status", "--porcelain", "--", "CMakeLists.txt", "cmake", "include", "plugins",
                  "src")
    return (git("describe", "--always") or "unknown") + ("-dirty" if changed else "")


def parts(program):
    """Versions of the program and of what it is built from, as it tells them."""
    done = subprocess.run([program, "--version", "-v"], check=True, capture_output=True, text=True)
    return re.findall(r"^(?:traceanalyze|isal|zlib) [0-9].*", done.stdout, re.MULTILINE)


def list_lines(key, brackets, lines):
    """A member of the saved file with one line per item, so that results can be compared."""
    body = ",\n".join(f"    {line}" for line in lines)
    return f'  "{key}": {brackets[0]}\n{body}\n  {brackets[1]}'


def save(name, about, rows, samples):
    path = HERE / "results" / f"{name}.json"
    facts = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in about.items()]
    short = [{key: round(value, 4) if isinstance(value, float) else value
              for key, value in row.items()} for row in rows]
    raw = [f"{json.dumps(run)}: "
           f"{json.dumps([[round(s.wall_s, 4), round(s.cpu_s, 4), s.peak_bytes] for s in taken])}"
           for run, taken in samples.items()]
    members = [*facts,
               list_lines("rows", "[]", (json.dumps(row, ensure_ascii=False) for row in short)),
               list_lines("samples", "{}", raw)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(members) + "\n}\n", encoding="utf-8")
    print(f"saved as bench/results/{path.name}", file=sys.stderr)


# ---- the command line -------------------------------------------------------------------------


def options():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="FOLDER",
                        help="folder with the built programs (default: build)")
    parser.add_argument("--inputs", type=pathlib.Path, metavar="FOLDER",
                        help="where generated traces are kept (default: bench-inputs in the build)")
    parser.add_argument("--sizes", metavar="LIST",
                        help="sizes of the plain files, ascending, such as 100M,1G,4G")
    parser.add_argument("--rounds", type=int, metavar="N", help="repeats of everything")
    parser.add_argument("--smoke", action="store_true",
                        help="a small run that shows that everything works, under a minute")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--save", metavar="NAME", help="write bench/results/NAME.json")
    return parser.parse_args()


def choose_scale(args):
    scale = SMOKE if args.smoke else FULL
    if args.sizes:
        sizes = sorted(args.sizes.split(","), key=inputs.size_bytes)
        scale = scale._replace(sizes=sizes)
        if scale.layout_size not in sizes:
            scale = scale._replace(layout_size=sizes[0])
    if args.rounds:
        scale = scale._replace(rounds=args.rounds)
    return scale


def main():
    args = options()
    scale = choose_scale(args)
    build = args.build.resolve()
    bench = Bench(build, args.inputs or build / "bench-inputs", scale)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        plan_runs(bench, pathlib.Path(folder))
        warm(bench.runs)
        bystanders = measure.Bystanders()
        samples = run_rounds(bench.runs, scale.rounds)
        busy_cores = round(bystanders.cores(), 2)
    judged = inputs.size_bytes(scale.sizes[-1]) >= JUDGED_FROM_BYTES
    rows = evaluate(list_rows(scale), bench.runs, samples, judged)
    about = {**machine(), "revision": revision(), "parts": parts(bench.program),
             "date": datetime.date.today().isoformat(), "rounds": scale.rounds,
             "cores_busy_with_others": busy_cores}
    print((to_markdown if args.markdown else to_text)(rows))
    print(f"\n{about['cpu']}, {about['cores']} cores, {about['kernel']}, {scale.rounds} rounds, "
          f"revision {about['revision']}, {', '.join(about['parts'])}; "
          f"other programs kept {busy_cores} cores busy")
    if args.save:
        save(args.save, about, rows, samples)


if __name__ == "__main__":
    main()
