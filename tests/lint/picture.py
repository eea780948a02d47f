#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the README's picture shows what the report of the sample says now.

usage: picture.py --program TRACEANALYZE [--root REPOSITORY] [--record]

The picture is the first screen of the sample's page, which `./run gallery --picture` takes; it
records the words of that screen as a hash (docs/img/report.sha256, --record).  Ends with 1 where
the page says something else by now.
"""
import argparse
import hashlib
import html
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = "samples/video-4ranks"
RECORD = "docs/img/report.sha256"
HERO = re.compile(r'<header class="hero.*?</header>', re.DOTALL)


def words(page):
    """What a reader sees on the first screen of a page, without its markup."""
    hero = HERO.search(page)
    if not hero:
        sys.exit("picture.py: the page has no first screen")
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", hero[0])).split())


def hash_of(program, root):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "report", root / SAMPLE, "--no-config", "--format", "html",
                        "-o", folder], check=True, capture_output=True)
        page = (pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    return hashlib.sha256(words(page).encode()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--record", action="store_true", help="record what the page says now")
    options = parser.parse_args()
    record = options.root / RECORD
    now = hash_of(options.program.resolve(), options.root)
    if options.record:
        record.write_text(now + "\n")
    elif not record.exists() or record.read_text().strip() != now:
        sys.exit("docs/img/report.png shows an older page; take it again: ./run gallery --picture")


if __name__ == "__main__":
    main()
