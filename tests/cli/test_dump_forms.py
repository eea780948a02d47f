# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps as other systems and tools leave them: the same figures, however the bytes are dressed."""
import gzip
import json
import random
import unittest

from support import ROOT, ProcessTest, main

SAMPLES = ["inferix-4ranks", "framepack-pair/baseline", "diffulex"]
# What tells files and their bytes apart; and free text of the user, shown as the file has it.
OF_FILES = {"run.files", "run.clocks", "run.happenings"}


def shuffled(value, chance):
    """Of timed operations the order is that in which they first ended, so it stays."""
    if isinstance(value, dict):
        keys = sorted(value)
        chance.shuffle(keys)
        return {key: value[key] if key == "timing_stats" else shuffled(value[key], chance)
                for key in keys}
    return [shuffled(v, chance) for v in value] if isinstance(value, list) else value


def as_texts(value):
    """Numbers as the texts that json.dumps(default=str) makes of those of NumPy."""
    if isinstance(value, dict):
        return {key: as_texts(v) for key, v in value.items()}
    if isinstance(value, list):
        return [as_texts(v) for v in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else value


def of_document(change):
    """Applies a change to what is a document of a profiler, and leaves the rest as it is."""
    def apply(data):
        if data[:1] not in (b"{", b"["):
            return data
        document = json.loads(data)
        is_trace = isinstance(document, dict) and "traceEvents" in document
        is_trace |= isinstance(document, list) and bool(document) and "ph" in document[0]
        return data if is_trace else change(document)
    return apply


def of_text(change):
    return lambda data: data if data[:2] == b"\x1f\x8b" else change(data)


def is_console(data):
    line = data.split(b"\n")[0]
    return data[:1] not in (b"{", b"[", b"|", b"\x1f") and b"," not in line


def colored(data):
    return b"\n".join(b"\x1b[1;32m" + line + b"\x1b[0m" for line in data.split(b"\n"))


FORMS = {
    "a byte order mark": of_text(lambda data: b"\xef\xbb\xbf" + data),
    "CRLF": of_text(lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")),
    "colors": lambda data: colored(data) if is_console(data) else data,
    "gzip without a name": of_text(gzip.compress),
    "other order of keys": of_document(
        lambda d: json.dumps(shuffled(d, random.Random(4)), indent=1).encode()),
    "no blanks": of_document(lambda d: json.dumps(d, separators=(",", ":")).encode()),
    "unescaped names": of_document(lambda d: json.dumps(d, ensure_ascii=False).encode()),
    "numbers as texts": of_document(lambda d: json.dumps(as_texts(d)).encode()),
}


def misnamed(path):
    """The suffix of another kind of file; files of one base name keep different ones."""
    other = {".json": ".txt", ".txt": ".csv", ".csv": ".json"}
    return path.with_suffix(other.get(path.suffix, path.suffix))


def rows_of(table):
    """The rows, but for the order in which a file names things: that of its keys may be another."""
    kept = [place for place, column in enumerate(table["columns"]) if column["key"] != "order"]
    return [[row[place] for place in kept] for row in table["rows"]]


class DumpForms(ProcessTest):
    def tables(self, folder):
        self.expect(0, "report", folder, "-q", "--format", "json", "-o", self.folder / "out.json")
        report = json.loads((self.folder / "out.json").read_bytes())
        (self.folder / "out.json").unlink()
        items = [item for section in report["sections"] for item in section["items"]]
        self.assertNotEqual(report["data_quality"]["status"], "lossy")
        return {item["id"]: sorted(rows_of(item), key=json.dumps) for item in items
                if item["kind"] == "table" and item["id"] not in OF_FILES}

    def dress(self, sample, form, name=lambda path: path):
        to = self.folder / "dressed" / sample
        for path in sorted((ROOT / "samples" / sample).rglob("*")):
            if path.is_file():
                out = to / name(path.relative_to(ROOT / "samples" / sample))
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(form(path.read_bytes()))
        return to

    def test_forms(self):
        for sample in SAMPLES:
            plain = self.tables(ROOT / "samples" / sample)
            self.assertGreater(len(plain), 3)
            for what, form in FORMS.items():
                with self.subTest(sample=sample, form=what):
                    self.assertEqual(self.tables(self.dress(sample, form)), plain)

    def test_places(self):
        """Deeper folders; names that end in what the file is not."""
        for sample in SAMPLES:
            plain = self.tables(ROOT / "samples" / sample)
            for name in (lambda path: "läufe/1" / path, misnamed):
                folder = self.dress(sample, bytes, name)
                with self.subTest(sample=sample, folder=sorted(folder.rglob("*"))[-1].name):
                    self.assertEqual(self.tables(folder), plain)
                for path in sorted(folder.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()


if __name__ == "__main__":
    unittest.TestCase.maxDiff = 2000
    main()
