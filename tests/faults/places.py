# SPDX-License-Identifier: GPL-3.0-or-later
"""Odd files and folders, too little memory, and every command where it cannot write."""
import gzip
import os
import random
import resource
import signal
import socket
import subprocess

from damage import folder_of, one
from judge import Case
from made import trace

NAMES = ["new\nline.json", "tab\t.json", "quote\"'`$(id).json", "-o.json", "--help", "a=b.json",
         "*?[x].json", "back\\slash.json", "\x1b[31mred\x1b[0m.json", "\u202egnp.json",
         "caf\u00e9.json", "cafe\u0301.json", "%s%n%d.json", "=1+1.json", "<b onclick=1>.json",
         " space .json", "trailing.", "\u0130\u0131.json", "\U0001f525.json", "a|b.json", "#.json",
         "@x.json", "x" * 250 + ".json", "rank99999999999999999999.json", "rank-1.json",
         "rank_007.json", "report.json", "merged.json.gz", "traceanalyze.yaml", ".hidden.json",
         "~", "CON", "json", "\x7f.json", "\u2028.json"]


def names(_):
    for name in NAMES:
        data = trace(5, 10).text
        yield Case(f"name-{NAMES.index(name)}", one(data, name), kept=(11, 11),
                   args=("report", "-q", "--format", "json", "-o", "OUT", "--", "IN"))
    raw = [b"\xff\xfe.json", b"\xc3(.json", b"\xed\xa0\x80.json", b"a\x80b\x1b.json"]

    def build(folder):
        place = os.path.join(os.fsencode(folder), b"run")
        os.mkdir(place)
        for i, name in enumerate(NAMES + [os.fsdecode(name) for name in raw]):
            with open(os.path.join(place, os.fsencode(name)), "wb") as file:
                file.write(trace(100 + i, 10).text)
        return folder / "run"
    n = 11 * (len(NAMES) + len(raw) - 1)
    yield Case("name-all", build, kept=(n, n), codes=("skipped-file",), says=(".hidden.json",))
    for command in (("check", "--json", "IN"), ("report", "--json", "IN")):
        yield Case(f"name-all-{command[0]}", build, args=command, product=None)
    yield Case("name-all-merge", build, args=("merge", "-q", "-o", "OUT/m.json.gz", "IN"),
               product="m.json.gz", exits=(0, 5))


PAIR = {"a.json": trace(1, 30).text,
        "b.json": trace(2, 60, rank=1).text.replace(b'"world_size": 1', b'"world_size": 2')}


# ---- what is no file -----------------------------------------------------------------------------

def odd_tree(folder):
    run = folder / "run"
    run.mkdir()
    (run / "rank0.json").write_bytes(trace(1, 10).text)
    (run / "trace.json").mkdir()
    (run / "trace.json" / "rank1.json").write_bytes(trace(2, 10, rank=1).text)
    (run / "loop").symlink_to(run)
    (run / "self").symlink_to("self")
    (run / "a").symlink_to("b")
    (run / "b").symlink_to("a")
    (run / "up").symlink_to("..")
    (run / "gone.json").symlink_to("nowhere.json")
    (run / "again.json").symlink_to("rank0.json")
    os.link(run / "rank0.json", run / "linked.json")
    os.mkfifo(run / "pipe.json")
    (run / "empty").mkdir()
    (run / "empty.json").write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(run / "s.json"))
        except OSError:
            pass  # the path is too long for a socket
    return run


def products_beside(folder):
    """A folder that was analyzed before, with all that was written into it."""
    for name, data in PAIR.items():
        (folder / name).write_bytes(data)
    formats = "html,json,pdf,csv,md,summary,folded,text,junit,bench_github,bench_bencher"
    for args in (("report", "--format", formats, "-o", "traceanalyze-report"),
                 *(("report", "--format", form, "-o", "report-" + form)
                   for form in formats.split(",")),
                 ("chart", "all", "--format", "svg", "-o", "charts"),
                 ("diff", "a.json", "b.json", "-o", "traceanalyze-diff"),
                 ("reduce", "-o", "traceanalyze-summaries"), ("merge", "-o", "merged.json.gz"),
                 ("check", "--json")):
        inputs = () if args[0] == "diff" else ("a.json", "b.json")
        done = subprocess.run([os.environ["TA_PROGRAM"], *args, "-q", *inputs], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    (folder / "check.json").write_bytes(done.stdout)
    return folder


def kinds(_):
    yield Case("tree", odd_tree, kept=(22, 22), says=("empty.json",))
    yield Case("products-beside", products_beside, kept=(92, 92), clean=True,
               codes=("skipped-file",), without=("rank-duplicate",))
    yield Case("tree-check", odd_tree, args=("check", "--json", "IN"), product=None)
    for name, path in (("fifo", "pipe.json"), ("loop", "self"), ("gone", "gone.json")):
        yield Case(f"tree-{name}", lambda folder, path=path: odd_tree(folder) / path, exits=(3,),
                   says=(path,), product=None)
    yield Case("tree-empty", lambda folder: odd_tree(folder) / "empty", exits=(3,),
               says=("empty",), product=None)
    for path in ("/dev/null", "/dev/zero", "/dev/random", "/proc/self/mem", "/proc/1/root", "/"):
        if path != "/":
            yield Case(f"device-{path}", lambda folder, path=path: path, exits=(3,),
                       says=(path,), product=None)
    deep = os.path.join(*["d" * 200] * 18)

    def deep_tree(folder):
        place = os.open(folder, os.O_RDONLY)
        for part in deep.split("/"):
            os.mkdir(part, dir_fd=place)
            inner = os.open(part, os.O_RDONLY, dir_fd=place)
            os.close(place)
            place = inner
        with os.fdopen(os.open("rank0.json", os.O_CREAT | os.O_WRONLY, dir_fd=place), "wb") as out:
            out.write(trace(1, 10).text)
        os.close(place)
        return folder
    yield Case("deep-tree", deep_tree, kept=(11, 11))
    if os.geteuid() != 0:
        def closed(folder):
            odd_tree(folder)
            (folder / "run" / "rank0.json").chmod(0)
            return folder / "run"
        yield Case("unreadable", closed, kept=(11, 11), says=("rank0.json",))


def many(chance):
    files = {f"rank{i}.json": trace(chance.random(), 2, rank=i).text for i in range(400)}
    n = 3 * len(files)
    yield Case("many-files", folder_of(files), kept=(n, n), clean=True, seconds=120)
    files = dict(files)
    for i in chance.sample(range(400), 100):
        files[f"rank{i}.json"] = files[f"rank{i}.json"][:chance.randrange(60)]
    yield Case("many-damaged", folder_of(files), kept=(n - 300, n - 300), seconds=120)


# ---- memory --------------------------------------------------------------------------------------

def memory(chance):
    """Each limit gives the same report, or a message and exit code 70."""
    large = gzip.compress(trace(9, 4000).text, 1)
    found = {}

    def same(run):
        if run.code == 0:
            found.setdefault("report", (run.out / "report.json").read_bytes())
            if (run.out / "report.json").read_bytes() != found["report"]:
                return "another report under a limit of memory"
        return None
    sizes = [0, 1, 1000, "1MiB", "4MiB", "8MiB", "16MiB", "24MiB", "32MiB", "64MiB", "1GiB",
             "8EiB", *(f"{chance.randint(5, 60)}MiB" for _ in range(8))]
    for size in sizes:
        yield Case(f"memory-{size}", folder_of({"rank0.json.gz": large}), exits=(0, 2, 70),
                   args=(*Case.args, "-j2", "--memory-limit", str(size), "--tmpdir",
                         "IN/../../tmp"), check=same)
    for size in (40, 60, 90, 150, 400):
        def few(size=size):
            resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20))
        if "ASAN_OPTIONS" not in os.environ and os.environ.get("TA_SANITIZED") != "1":
            yield Case(f"address-space-{size}", folder_of({"rank0.json.gz": large}),
                       exits=(0, 70, 127), before=few, product=None)
    for n in (4, 5, 6, 8, 12, 20):
        def files(n=n):
            resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))
        yield Case(f"descriptors-{n}", folder_of({"rank0.json.gz": large}), before=files,
                   exits=(0, 2, 3, 5, 70), product=None)
    for name, folder in (("missing", "IN/nope"), ("file", "IN/rank0.json.gz"), ("empty", "")):
        yield Case(f"tmpdir-{name}", folder_of({"rank0.json.gz": large}), exits=(2,),
                   args=(*Case.args, "--tmpdir", folder), product=None)


# ---- every command where it cannot write ---------------------------------------------------------

def writers():
    yield "report", ("report", "-q", "--format", "html,json,pdf,csv,md", "-o", "OUT", "IN/a.json")
    yield "aggregate", ("aggregate", "-q", "-o", "OUT", "IN")
    yield "diff", ("diff", "-q", "-o", "OUT", "IN/a.json", "IN/b.json")
    yield "scaling", ("scaling", "-q", "-o", "OUT", "IN/a.json", "IN/b.json")
    yield "reduce", ("reduce", "-q", "-o", "OUT", "IN")
    yield "merge", ("merge", "-q", "-o", "OUT", "IN")
    yield "chart", ("chart", "all", "-q", "-o", "OUT", "IN/a.json")
    yield "config", ("config", "init", "OUT")


def stdouts():
    yield "report", ("report", "IN/a.json", "--json")
    yield "report-html", ("report", "IN/a.json", "-o", "-", "--format", "html")
    yield "diff", ("diff", "IN/a.json", "IN/b.json", "--json")
    yield "scaling", ("scaling", "IN/a.json", "IN/b.json", "--json")
    yield "reduce", ("reduce", "IN/a.json", "-o", "-")
    yield "merge", ("merge", "IN", "-o", "-")
    yield "check", ("check", "IN")
    yield "check-json", ("check", "--json", "IN")
    yield "chart", ("chart", "gpu-time-breakdown", "IN/a.json", "-o", "-")
    yield "chart-list", ("chart", "--list", "IN/a.json")
    for words in ("plugins", "plugins --json", "rules", "rules --json", "schema", "schema report-1",
                  "config show", "config init -", "help", "help report", "--version", "--help"):
        yield words.replace(" ", "-"), tuple(words.split())


def outputs(_):
    for name, args in writers():
        if name == "merge":
            args = tuple(arg.replace("OUT", "OUT.json.gz") for arg in args)

        def small(size=300):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        yield Case(f"size-limit-{name}", folder_of(PAIR), args=args, before=small, exits=(5,),
                   says=("File too large",), product=None)
        elsewhere = tuple(arg.replace("OUT", "/proc/nope") for arg in args)
        yield Case(f"no-place-{name}", folder_of(PAIR), args=elsewhere, exits=(5,),
                   says=("/proc/nope",), product=None)
    for name, args in stdouts():
        def full():
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

        def closed():
            os.close(1)

        def pipe():
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            readable, writable = os.pipe()
            os.close(readable)
            os.dup2(writable, 1)
            os.close(writable)
        yield Case(f"full-{name}", folder_of(PAIR), args=args, before=full, exits=(5,),
                   says=("No space left",), product=None)
        yield Case(f"closed-{name}", folder_of(PAIR), args=args, before=closed, exits=(5,),
                   product=None)
        yield Case(f"pipe-{name}", folder_of(PAIR), args=args, before=pipe,
                   exits=(-signal.SIGPIPE, 141), product=None)


def cases(chance):
    for group in (names, kinds, many, memory, outputs):
        yield from group(random.Random(chance.random()))
