# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes one allocation or system call after the other fail, and looks at what the program does.

    torture.py PROGRAM LIBRARY [--kind KIND] [--scenario NAME]... [--points N] [--total SECONDS]

Each scenario runs once as it is.  Then it runs again for as many numbers n as there is time for,
spread over all calls: the n-th call fails, alone or with all that follow.  Such a run has to end
with the same products and exit code as the first one, or with the code that belongs to the
failure, a message, and no trace of a product.  --points=0 means every call.
"""
import argparse
import concurrent.futures
import errno
import hashlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUTS = ROOT / "tests/golden/inputs"
GATES = INPUTS.parent / "gates/in"
SAMPLES = ROOT / "samples"

# Names of errors by kind; all but alloc may be one of several.
ERRORS = {"alloc": [errno.ENOMEM],
          "open": [errno.EIO, errno.EMFILE, errno.EINTR, errno.ENOSPC],
          "read": [errno.EIO, errno.EINTR],
          "write": [errno.EIO, errno.ENOSPC, errno.EINTR],
          "fsync": [errno.EIO, errno.ENOSPC, errno.EINTR],
          "close": [errno.EIO, errno.ENOSPC, errno.EINTR],
          "rename": [errno.EIO, errno.ENOSPC],
          "mkdir": [errno.EIO, errno.ENOSPC],
          "mmap": [errno.ENOMEM]}
# Exit codes that a failure of a kind may have besides that of the first run.
CODES = {"alloc": {70}, "mmap": {70}}
OTHER_CODES = {2, 3, 5, 70}


# The libraries that draw and choose fonts pass over what they find no memory for, and end threads
# of their own when it stays away: here a call fails once, and products may look otherwise.
DRAWN = {"pdf", "chart"}


def scenarios():
    """Name, and arguments; OUT is the place of products, TMP a folder for anything else."""
    tiny = str(INPUTS / "tiny.json")
    report = ["report", "-q", "-j1"]
    yield "json", [*report, "--format=json", "-o", "OUT", tiny]
    yield "ranks", ["report", "-j2", "--format=json", "-o", "OUT", str(INPUTS / "pair")]
    yield "damaged", ["report", "--format=json,csv", "-o", "OUT", str(INPUTS / "damaged.json"),
                      tiny]
    yield "gzip", [*report, "--format=json", "-o", "OUT", "TMP/tiny.json.gz"]
    yield "stdout", ["report", "--json", tiny]
    yield "text", ["report", "-j1", "--format=md,csv,text", "-o", "OUT", tiny]
    yield "html", [*report, "--format=html", "-o", "OUT", tiny]
    yield "pdf", [*report, "--format=pdf", "-o", "OUT", tiny]
    yield "chart", ["chart", "-q", "-j1", "all", "--format=png,svg,pdf", "-o", "OUT", tiny]
    runs = [str(GATES / f"{side}-{n}.json") for side in ("base", "new") for n in (1, 2, 3)]
    yield "diff", ["diff", "-q", "-j1", "--format=json,md", "-o", "OUT", *runs[:3], "--vs",
                   *runs[3:], "--fail-on", "regression>50%", "--fail-on", "total@op:*>90%",
                   "--noise-floor", str(GATES.parent / "expect/baseline.json"),
                   "--junit", "OUT/junit.xml", "--bmf-json", "OUT/bmf.json"]
    yield "check", ["check", "-j1", "--json", str(INPUTS / "mixed")]
    yield "config", ["--config", "TMP/config.yaml", *report, "--format=json", "-o", "OUT", tiny]
    yield "config-show", ["--config", "TMP/config.yaml", "config", "show"]
    for sample in ("inferix-4ranks", "framepack-pair", "diffulex"):
        yield sample, [*report, "--format=json", "-o", "OUT", str(SAMPLES / sample)]
    yield "dumps", [*report, "--format=json,csv", "-o", "OUT", "TMP/dumps"]


def make_inputs(folder):
    """What the scenarios need besides the inputs of the golden tests and the samples."""
    import gzip
    import pickle
    (folder / "tiny.json.gz").write_bytes(gzip.compress((INPUTS / "tiny.json").read_bytes()))
    (folder / "config.yaml").write_text(
        "traceanalyze:\n  output: {title: Torture}\n  analysis: {top: 5}\n"
        "  jobs: 1\n")
    dumps = folder / "dumps"
    dumps.mkdir()
    frame = {"filename": "model.py", "line": 3, "name": "forward"}
    block = {"address": 4096, "size": 512, "requested_size": 500, "state": "active_allocated",
             "frames": [frame]}
    segment = {"device": 0, "address": 4096, "total_size": 2048, "allocated_size": 512,
               "active_size": 512, "requested_size": 500, "stream": 0, "segment_type": "small",
               "blocks": [block], "frames": [frame]}
    history = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": [frame],
               "time_us": 5}
    with open(dumps / "run-memory-rank0.pickle", "wb") as out:
        pickle.dump({"segments": [segment], "device_traces": [[history]]}, out)
    (dumps / "dmon.txt").write_text(
        "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
        "# Idx      W      C      C      %      %    MHz    MHz\n"
        "    0     83     45     44     30      5   9501   1800\n"
        "    0     93     46     44     40      6   9501   1810\n")


def contents(folder):
    """SHA-256 of every file below a folder, and the text of some."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            text = data if path.suffix in (".json", ".md", ".html") else b""
            found[str(path.relative_to(folder))] = (hashlib.sha256(data).hexdigest(), text)
    return found


class Torture:
    def __init__(self, options):
        self.program, self.library, self.kind = options.program, options.library, options.kind
        self.timeout = options.timeout
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="torture-"))
        (self.base / "inputs").mkdir()
        make_inputs(self.base / "inputs")
        self.numbers = itertools.count()

    def run(self, args, **variables):
        """Exit code, standard output, messages, products, and names of anything left behind."""
        work = self.base / str(next(self.numbers))
        (work / "home").mkdir(parents=True)
        args = [arg.replace("TMP/", f"{self.base}/inputs/").replace("OUT", "out") for arg in args]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "CI": "true",
                       "HOME": os.environ.get("HOME", "/"), "SOURCE_DATE_EPOCH": "1700000000",
                       "LD_PRELOAD": self.library, "TA_FAIL": self.kind, "TMPDIR": str(work),
                       **{name: os.environ[name] for name in os.environ if "SAN_OPTIONS" in name},
                       **{name: str(value) for name, value in variables.items()}}
        try:
            done = subprocess.run([self.program, *args], env=environment, cwd=work, check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.timeout)
            code, out, messages = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as hung:
            code, out, messages = "hangs", b"", hung.stderr or b""
        products = contents(work)
        shutil.rmtree(work)
        return code, out, messages.decode("utf-8", "replace"), products

    def judge(self, first, again):
        """What is wrong with a run, or an empty text."""
        code, out, messages, products = again
        if not isinstance(code, int) or code < 0 or "Sanitizer" in messages:
            return f"ends with {code}"
        if code == first[0] and products == first[3] and out == first[1]:
            return ""
        if (
            code == first[0]
            and self.kind in ("open", "read")
            and self.names_loss(first, out, products)
        ):
            return ""
        if code == first[0] and self.name in DRAWN and products.keys() == first[3].keys():
            return ""
        if code == first[0]:
            return "other products"
        if code not in CODES.get(self.kind, OTHER_CODES):
            return f"exit code {code}"
        if "error" not in messages:
            return "no message"
        # A summary on standard output may fail when all products are in place.
        if {name: digest for name, (digest, _) in products.items()} not in (
                {}, {name: digest for name, (digest, _) in first[3].items()}):
            return "leaves " + " ".join(products)
        return ""

    @staticmethod
    def names_loss(first, out, products):
        """Whether a report says that a file could not be read: the others are worth one."""
        texts = [out] + [text for _, text in products.values()]
        words = (b"lossy", b"truncated", b"skipped-file")
        # The script of a page has the words, too: it must have more of them than by itself.
        page = first[3].get("out/report.html", ("", b""))[1]
        return any(text.count(word) > page.count(word) for text in texts for word in words)

    def count(self, args):
        path = self.base / "count"
        first = self.run(args, TA_FAIL_COUNT=path)
        return first, int(path.read_text())


def points(total, most):
    """Numbers of calls, spread evenly, both ends among them."""
    if most == 0 or total <= most:
        return list(range(1, total + 1))
    return sorted({1 + i * (total - 1) // (most - 1) for i in range(most)})


def list_jobs(kind, total, options, modes):
    """Variables of the runs to make, in an order that covers everything early."""
    jobs = [{"TA_FAIL_AT": n, "TA_FAIL_ERRNO": error, **mode}
            for n in points(total, options.points) for error in ERRORS[kind]
            for mode in modes
            # A call that is interrupted each time is one that never comes to an end.
            if not (mode and error == errno.EINTR)]
    ordered, seen = [], set()
    for step in (7, 5, 3, 2, 1):
        for job in jobs[::step]:
            key = tuple(sorted(job.items()))
            if key not in seen:
                seen.add(key)
                ordered.append(job)
    return ordered


def sweep(torture, name, args, options, seconds):
    """Number of runs and of those that were wrong."""
    torture.name = name
    modes = [{}] if torture.kind == "alloc" and name in DRAWN else [{}, {"TA_FAIL_ON": 1}]
    first, total = torture.count(args)
    if first[0] != 0:
        print(f"{name}: ends with {first[0]} by itself: {first[2]}")
        return 1, 1
    end = time.monotonic() + seconds if seconds else None
    wrong, runs = {}, 0

    def one(job):
        if end and time.monotonic() > end:
            return job, None
        return job, torture.judge(first, torture.run(args, **job))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, fault in pool.map(one, list_jobs(torture.kind, total, options, modes)):
            runs += fault is not None
            if fault:
                wrong.setdefault(fault, []).append(job)
    bad = sum(len(found) for found in wrong.values())
    print(f"{torture.kind} {name}: {total} calls, {runs} runs, {bad} wrong", flush=True)
    for fault, found in wrong.items():
        print(f"  {len(found)} x {fault}: " +
              ", ".join(str(job["TA_FAIL_AT"]) + ("+" if "TA_FAIL_ON" in job else "") +
                        f":{errno.errorcode[job['TA_FAIL_ERRNO']]}" for job in found[:12]),
              flush=True)
    return runs, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("library", help="torture.so, tests/torture/ in the build folder")
    parser.add_argument("--kind", choices=["io", *ERRORS], default="alloc",
                        help="what fails; io: all but alloc (default: alloc)")
    parser.add_argument("--scenario", action="append", help="default: all")
    parser.add_argument("--points", type=int, default=2000,
                        help="calls per scenario, 0: all (default: 2000)")
    parser.add_argument("--total", type=float, help="seconds that all may take (default: no end)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds of one run")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.library = str(pathlib.Path(options.library).resolve())
    torture = Torture(options)
    kinds = [kind for kind in ERRORS if kind != "alloc"] if options.kind == "io" else [options.kind]
    # Files that could not be compared for a moment may count twice: not of this pair of folders.
    chosen = [(kind, name, args) for kind in kinds for name, args in scenarios()
              if (kind == "alloc" or name != "framepack-pair")
              and (not options.scenario or name in options.scenario)]
    start, found = time.monotonic(), []
    try:
        for left, (torture.kind, name, args) in zip(range(len(chosen), 0, -1), chosen):
            seconds = (options.total - (time.monotonic() - start)) / left if options.total else None
            found.append(sweep(torture, name, args, options, seconds))
    finally:
        shutil.rmtree(torture.base)
    runs, bad = (sum(column) for column in zip(*found))
    print(f"{runs} runs, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
