#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the last page of report.pdf is worth its paper: of the samples, none ends on a page
that is hardly used, and every page but the first has the head and the foot of one.

usage: test_paper.py --program PROGRAM --root REPOSITORY
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SAMPLES = ("console-logs", "diffulex", "inferix-4ranks", "framepack-pair/baseline",
           "framepack-pair/regressed", "video-4ranks", "video-4ranks-optimized")
LEAST = 0.25  # of the height between head and foot
TOP, BOTTOM = 58, 40  # of an A4 page in points

WORD = re.compile(r'<word xMin="[\d.]+" yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">([^<]*)')


def pages(program, sample):
    """Of each page its height, and the lower edges and texts of its words."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.pdf"
        subprocess.run([program, "-q", "report", sample, "--format", "pdf", "-o", file],
                       check=True, stderr=subprocess.DEVNULL)
        text = subprocess.run(["pdftotext", "-bbox", file, "-"], check=True,
                              capture_output=True).stdout.decode("utf-8")
    for page in text.split("<page ")[1:]:
        height = float(re.search(r'height="([\d.]+)"', page)[1])
        yield height, [(float(low), word) for _, low, word in WORD.findall(page)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    args = parser.parse_args()
    if not shutil.which("pdftotext"):
        print("skipped: pdftotext is not installed")
        sys.exit(77)
    for name in SAMPLES:
        found = list(pages(args.program, args.root / "samples" / name))
        for number, (height, words) in enumerate(found, 1):
            foot = [word for low, word in words if low > height - BOTTOM]
            assert foot[-1] == f"{number}/{len(found)}", (name, number, foot)
        height, words = found[-1]
        lowest = max(low for low, _ in words if low < height - BOTTOM)
        used = (lowest - TOP) / (height - TOP - BOTTOM)
        assert len(found) == 1 or used >= LEAST, (name, len(found), used)
    print(f"{len(SAMPLES)} papers end on a page that is used")


main()
