# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program wrote before, damaged or made up: reports and summaries."""
import gzip
import json
import os
import pathlib
import random
import subprocess
import tempfile

from damage import TOKENS, folder_of, one
from judge import Case, strict
from made import trace
from values import TEXTS, clean

DIFF = ("diff", "-q", "--format", "json", "-o", "OUT", "IN/a.json", "IN/b.json")
AGGREGATE = ("aggregate", "-q", "--format", "json", "-o", "OUT", "IN")


def made_by(*args):
    """What the program writes for a small trace."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        path = pathlib.Path(folder, "trace.json")
        path.write_bytes(trace(7, 24).text)
        done = subprocess.run([os.environ["TA_PROGRAM"], *args, "-q", "-o", "-", path],
                              stdin=subprocess.DEVNULL, capture_output=True, check=True,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        return done.stdout


def places(value, path=()):
    """Paths of all values below a value."""
    yield path
    children = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def changed(document, path, text):
    """The document with other text in the place of a value."""
    copy = json.loads(json.dumps(document))
    if not path:
        return text
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = "\ufdd0"
    return json.dumps(copy).replace(json.dumps("\ufdd0"), text)


def is_whole(run):
    """A comparison or report that comes of hostile input is valid JSON and holds no raw text."""
    if run.code == 0:
        path = run.out / "report.json"
        path = path if path.exists() else run.out / "diff.json"
        strict(path.read_bytes())
    return None


def damaged(chance, data, n):
    """Bytes cut, overwritten or repeated somewhere."""
    for _ in range(n):
        at = chance.randrange(len(data))
        length = chance.choice([0, 1, 1, 3, 30, 400])
        kind = chance.randrange(3)
        if kind == 0:
            yield data[:at]
        elif kind == 1:
            yield data[:at] + chance.choice(TOKENS) + data[at + length:]
        else:
            yield data[:at] + data[max(0, at - length):at] * 3 + data[at:]


def reports(chance):
    report = made_by("report", "--format", "json")
    document = json.loads(report)
    everywhere = [path for path in places(document) if path]
    page = made_by("report", "--format", "html")
    hostile = [text for text in TEXTS if clean(text) or text in ("NaN", "Infinity")]
    for i in range(60):
        text = changed(document, chance.choice(everywhere), chance.choice(hostile))
        files = {"a.json": report, "b.json": text.encode()}
        yield Case(f"report-value-{i}", folder_of(files), args=DIFF, exits=(0, 3), product=None,
                   check=is_whole)
    for i, data in enumerate(damaged(chance, report, 30)):
        yield Case(f"report-damaged-{i}", folder_of({"a.json": report, "b.json": data}), args=DIFF,
                   exits=(0, 3), product=None, check=is_whole)
    for i, data in enumerate(damaged(chance, page, 15)):
        yield Case(f"page-damaged-{i}", folder_of({"a.json": report, "b.json": data}), args=DIFF,
                   exits=(0, 3), product=None, check=is_whole)
    for name, data in {
            "schema-only": b'{"schema": "traceanalyze.report/1"}', "newer": report.replace(
                b"report/1", b"report/2", 1), "empty-sections": json.dumps(
                    {**document, "sections": []}).encode(),
            "no-schema": json.dumps({k: v for k, v in document.items() if k != "schema"}).encode(),
            "twice": report + report, "utf16": b"\xff\xfe" + report.decode().encode("utf-16-le"),
            "sections-twice": json.dumps({**document,
                                          "sections": document["sections"] * 2}).encode(),
            "deep": b'{"schema": "traceanalyze.report/1", "a": ' + b"[" * 90000}.items():
        files = {"a.json": report, "b.json": data}
        exits = (0,) if name in ("utf16",) else (3,)
        if name in ("empty-sections", "utf16"):
            exits = (0, 3)
        yield Case(f"report-{name}", folder_of(files), args=DIFF, exits=exits, product=None,
                   check=is_whole, says=("b.json",) if exits == (3,) else ())


def summaries(chance):
    packed = made_by("reduce")
    summary = gzip.decompress(packed)
    good = {"rank-00000.tas.json.gz": packed}
    yield Case("summary-good", folder_of(good), args=AGGREGATE, kept=(25, 25), clean=True)
    for i, data in enumerate(damaged(chance, summary, 60)):
        name = f"rank-{i:05}.tas.json"
        yield Case(f"summary-damaged-{i}", folder_of({**good, name: data}), args=AGGREGATE,
                   exits=(0, 3))
    for i, data in enumerate(damaged(chance, packed, 15)):
        name = f"rank-{i + 1:05}.tas.json.gz"
        yield Case(f"summary-packed-{i}", folder_of({**good, name: data}), args=AGGREGATE,
                   exits=(0, 3))
    try:
        document = json.loads(summary)
    except ValueError:
        return
    everywhere = [path for path in places(document) if path]
    for i in range(60):
        text = changed(document, chance.choice(everywhere), chance.choice(
            [text for text in TEXTS if clean(text)]))
        files = {**good, "rank-00001.tas.json": text.encode()}
        yield Case(f"summary-value-{i}", folder_of(files), args=AGGREGATE, exits=(0, 3))
    yield Case("summary-twice", folder_of({**good, "copy.tas.json.gz": packed}), args=AGGREGATE,
               exits=(0,), kept=(25, 25))
    yield Case("summary-newer", one(summary.replace(b"summary/1", b"summary/9", 1),
                                    "rank-00000.tas.json"), args=AGGREGATE, exits=(3,),
               says=("rank-00000.tas.json",), product=None)


def cases(chance):
    for group in (reports, summaries):
        yield from group(random.Random(chance.random()))
