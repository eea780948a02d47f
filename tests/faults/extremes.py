# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole inputs, as profilers write them, with numbers beyond every range in one field after the
other: figures may be missing then, but nothing may be undefined.

Inputs are the samples, those of the golden tests and, where it is, the real ones of ../shared/data.
Each case takes one of them and a field, the key of a JSON object or a column of a text, and puts an
extreme into all places of the field, or into a few of them.
"""
import gzip
import pathlib
import re

from judge import Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
FOLDERS = (ROOT / "samples", ROOT / "tests/golden/inputs", SHARED / "traces", SHARED / "dumps",
           SHARED / "seeds", SHARED / "public")
LONGEST = 400_000  # of an input, unpacked
EXTREMES = ("9223372036854775807", "-9223372036854775808", "9223372036854774784",
            "4611686018427387904", "1e308", "-1e308", "1e19", "-1e19", "18446744073709551615",
            "4294967296", "4294967295", "2147483648", "-2147483649", "9007199254740993", "-0", "0",
            "-1", "0.5", "5e-324", "NaN", "Infinity", "-Infinity")

# Texts, which are passed over but for a key; numbers.
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"(?P<colon>\s*:)?|'
                   r'(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)')


def unpack(path):
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError):
        return b""


def inputs():
    """Name and text of each input that is a text of a fitting length."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if not path.is_file() or path.stat().st_size > LONGEST or path.suffix in (".md", ".c"):
                continue
            data = unpack(path)
            if not 20 <= len(data) <= LONGEST or b"\0" in data:
                continue
            name = path.name[:-3] if path.name.endswith(".gz") else path.name
            yield f"{folder.name}/{path.relative_to(folder)}", name, data.decode("utf-8", "replace")


def fields(text):
    """Places of the numbers by field: the key before a number in JSON, else the number of the
    column in its line."""
    found, key, is_json = {}, "", text.lstrip()[:1] in ("{", "[")
    start = column = 0
    for match in TOKEN.finditer(text):
        if match["colon"]:
            key = match[0]
        if not match["number"]:
            continue
        if not is_json:
            if "\n" in text[start:match.start()]:
                column = 0
            start, column = match.end(), column + 1
            key = str(column)
        found.setdefault(key, []).append(match.span("number"))
    return found


def put(text, places, values):
    parts, at = [], 0
    for (first, end), value in zip(places, values):
        parts += [text[at:first], value]
        at = end
    return "".join(parts + [text[at:]])


def mutants(chance, text):
    for key, places in fields(text).items():
        extreme = chance.choice(EXTREMES)
        yield f"{key}={extreme}", put(text, places, [extreme] * len(places))
        some = sorted(chance.sample(places, min(len(places), chance.randint(1, 4))))
        drawn = [chance.choice(EXTREMES) for _ in some]
        yield f"{key}~{','.join(drawn)}", put(text, some, drawn)


def build(name, text):
    def into(folder):
        path = folder / name
        path.write_text(text, encoding="utf-8", newline="")
        return path
    return into


def pair(name, text, changed):
    def into(folder):
        (folder / "before").mkdir()
        build(name, text)(folder / "before")
        return build(name, changed)(folder)
    return into


def cases(chance):
    for label, name, text in inputs():
        for what, changed in mutants(chance, text):
            case = f"{label}:{what}"
            if chance.random() < 0.25:
                yield Case(case, pair(name, text, changed), exits=(0, 3), product=None, seconds=60,
                           args=("diff", "--no-config", "-q", "--format", "json,text,html", "-o",
                                 "OUT", f"IN/../before/{name}", "IN"))
            else:
                yield Case(case, build(name, changed), exits=(0, 3), product="report.json",
                           seconds=60, args=("report", "--no-config", "-q", "--format",
                                             "json,html,text,csv,md", "-o", "OUT", "IN"))
