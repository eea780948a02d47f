# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read holds no names for programs: no key of a column, id of a table, unit or signal
as report.json spells them.  Names from the input are left as they are, and what has to be typed,
such as the id of a rule, stands in <code>."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = os.environ["TA_PROGRAM"]
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"

# A word of a programmer: lower case parts joined by "_" or, for tables, by ".".
WORD = re.compile(r"(?<![\w./-])[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+(?![\w/(-]|\.\w)")
# Columns whose values are words of ours; all other texts are names from the input or sentences.
OF_OURS = {"metric", "basis", "signal", "figure", "group", "unit", "format"}


class Visible(html.parser.HTMLParser):
    """The text of a page as a reader sees it, one run per line; the text of tags in HIDDEN is
    not."""
    HIDDEN = {"script", "style", "code", "title", "desc"}
    VOID = {"meta", "link", "br", "img", "input", "path", "rect", "line", "circle", "polyline",
            "polygon", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.hidden, self.runs = [], 0, []

    def handle_starttag(self, tag, attributes):
        if tag in self.VOID:
            return
        hides = tag in self.HIDDEN or "hidden" in dict(attributes)
        self.open.append((tag, hides))
        self.hidden += hides

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        while self.open and tag not in self.VOID:
            name, hid = self.open.pop()
            self.hidden -= hid
            if name == tag:
                break

    def handle_data(self, data):
        if not self.hidden and data.strip():
            self.runs.append(data.strip())


def words_for_programs(report):
    """All names that report.json has for programs, and the texts that come from the input."""
    ours, names = set(), set()
    for section in report["sections"]:
        for item in section["items"]:
            ours.add(item["id"])
            for i, column in enumerate(item.get("columns", [])):
                ours.add(column["key"])
                values = {row[i] for row in item["rows"] if isinstance(row[i], str)}
                (ours if column["key"] in OF_OURS else names).update(values)
    return ours, names


def parts(texts):
    return {word for text in texts for word in re.split(r"[^\w.]+", text)} | set(texts)


def raw_words(text, ours, of_input):
    """Words of a programmer that no input wrote."""
    found = set()
    for word in WORD.findall(text):
        ends_in_unit = re.search(r"_(ns|bytes|ratio|per_s)$", word)
        if word in ours or ends_in_unit or "as_reported" in word:
            if word not in of_input:
                found.add(word)
    return found


def check(sample, folder):
    run = subprocess.run([PROGRAM, "report", str(sample), "--format", "html,json", "-o", folder],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, "COLUMNS": "120", "SOURCE_DATE_EPOCH": "0"})
    report = json.loads((pathlib.Path(folder) / "report.json").read_text(encoding="utf-8"))
    ours, names = words_for_programs(report)
    of_input = parts(names)
    page = Visible()
    page.feed((pathlib.Path(folder) / "report.html").read_text(encoding="utf-8"))
    assert len(page.runs) > 100, "the page has hardly any text"
    faults = {("terminal", word) for word in raw_words(run.stdout, ours, of_input)}
    for text in page.runs:
        faults |= {("page", word) for word in raw_words(text, ours, of_input)}
    return sorted(faults)


def main():
    # The check itself sees what it is to find.
    assert raw_words("see block_max_ns in diffusion.by_rank", {"diffusion.by_rank"}, set()) == {
        "block_max_ns", "diffusion.by_rank"}
    assert not raw_words("vae_decode takes 2 s", {"vae_decode"}, {"vae_decode"})
    failed = 0
    for sample in sorted(path for path in SAMPLES.iterdir() if path.is_dir()):
        if sample.name in ("embed", "generator", "plugin"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for place, word in check(sample, folder):
                print(f"{sample.name}: {place} shows {word}")
                failed += 1
    print(f"{failed} raw words")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
