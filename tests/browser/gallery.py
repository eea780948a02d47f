#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders what the program shows of the samples into one folder, to be looked at: pages at two
widths in both themes, their sections and states, charts, paper and the terminal.

usage: gallery.py --program TRACEANALYZE --generator TRACEANALYZE-GENERATE --modules FOLDER
                  [-o FOLDER] [--picture] [INPUT...]

FOLDER/index.html shows all pictures.  With inputs only they are rendered, without them the samples,
a trace of nothing and a run of 4,096 ranks.  --picture renders one sample and takes its first
screen for the README.
"""
import argparse
import html
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"
PAIRS = {"framepack-pair": ("framepack-pair/baseline", "framepack-pair/regressed"),
         "video-4ranks-optimized": ("video-4ranks", "video-4ranks-optimized")}
SINGLES = ("video-4ranks", "inferix-4ranks", "framepack-pair/regressed", "diffulex", "console-logs")
MANY_RANKS = 4096
THEMES = ("light", "dark")
PICTURE = "video-4ranks"  # of the README
PAPER_DPI = 60


def call(*command, into=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False,
                          env={**os.environ, "COLUMNS": "96"})
    if done.returncode not in (0, 1):  # 1: a comparison that found a regression
        sys.exit(f"gallery.py: {' '.join(map(str, command))}\n{done.stderr.decode()}")
    if into:
        into.write_bytes(done.stdout)


class Gallery:
    def __init__(self, options):
        self.program, self.out = options.program, options.output
        self.pages = []

    def folder(self, name):
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def paper(self, folder):
        paper = folder / "report.pdf"
        if paper.exists():
            call("pdftoppm", "-r", PAPER_DPI, "-png", paper, folder / "paper")

    def report(self, name, source, is_large=False):
        """Charts of a large input are drawn from its report, which lacks the timeline alone."""
        folder = self.folder(name)
        call(self.program, "report", source, "--no-config", "--format", "html,pdf,json", "-o",
             folder, into=folder / "terminal.txt")
        for theme in THEMES:
            call(self.program, "chart", "all", folder / "report.json" if is_large else source,
                 "--no-config", "--theme", theme, "-o", folder / f"charts-{theme}")
        self.paper(folder)
        self.pages.append(folder / "report.html")

    def compare(self, name, before, after):
        folder = self.folder(name)
        call(self.program, "diff", before, after, "--no-config", "--format", "html,pdf",
             "-o", folder, into=folder / "terminal.txt")
        call(self.program, "chart", "all", before, "--vs", after, "--no-config",
             "-o", folder / "charts")
        self.paper(folder)
        self.pages += folder.glob("*.html")

    def many_ranks(self, generator):
        made = self.out / "many-ranks-input"
        if not made.exists():
            call(generator, "cluster", "--ranks", MANY_RANKS, "--steps", 3, "--layers", 1,
                 "--straggler", f"{MANY_RANKS // 3}:kernels:20", "-o", made)
        self.report("many-ranks", made, is_large=True)

    def empty(self):
        """A trace of nothing has a page, and no chart."""
        folder = self.folder("empty")
        source = folder / "empty.json"
        source.write_text('{"traceEvents": []}')
        call(self.program, "report", source, "--no-config", "--format", "html,pdf", "-o", folder,
             into=folder / "terminal.txt")
        self.paper(folder)
        self.pages.append(folder / "report.html")

    def screens(self, modules):
        done = subprocess.run(["node", HERE / "gallery.mjs", *self.pages], check=False,
                              env={**os.environ, "TA_NODE_MODULES": str(modules)})
        if done.returncode:
            print("gallery.py: no pictures of pages", file=sys.stderr)

    def take_picture(self):
        """The first screen of a sample as the picture of the README, and what it says."""
        root = SAMPLES.parent
        shutil.copy(self.out / PICTURE / "first-1280-light.png", root / "docs/img/report.png")
        call(sys.executable, root / "tests/lint/picture.py", "--program", self.program, "--record")

    def index(self):
        """One page with all pictures, folder by folder."""
        parts = ["<!doctype html><meta charset=utf-8><title>Gallery</title><style>"
                 "body{font:14px sans-serif;margin:2em}figure{display:inline-block;margin:4px;"
                 "vertical-align:top}img{max-width:300px;max-height:400px;border:1px solid #999}"
                 "</style>"]
        for folder in sorted({path.parent for path in self.out.rglob("*.png")}):
            parts.append(f"<h2>{html.escape(str(folder.relative_to(self.out)))}</h2>")
            for path in sorted(folder.glob("*.png")):
                link = html.escape(str(path.relative_to(self.out)))
                parts.append(f'<figure><a href="{link}"><img loading=lazy src="{link}" '
                             f'alt="{link}"></a><figcaption>{path.stem}</figcaption></figure>')
        (self.out / "index.html").write_text("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--generator", type=pathlib.Path, required=True)
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("gallery"),
                        help="its index.html shows all pictures (default: %(default)s)")
    parser.add_argument("--picture", action="store_true",
                        help="render one sample and take its first screen for the README")
    parser.add_argument("inputs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    gallery = Gallery(options)
    if options.picture:
        options.inputs = [SAMPLES / PICTURE]
    for source in options.inputs:
        gallery.report(source.name.split(".")[0], source)
    if not options.inputs:
        for name in SINGLES:
            gallery.report(name.replace("/", "-"), SAMPLES / name)
        for name, (before, after) in PAIRS.items():
            gallery.compare(f"diff-{name}", SAMPLES / before, SAMPLES / after)
        gallery.empty()
        gallery.many_ranks(options.generator)
    gallery.screens(options.modules)
    gallery.index()
    if options.picture:
        gallery.take_picture()
    print(options.output / "index.html")


if __name__ == "__main__":
    main()
