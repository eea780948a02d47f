#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One whole for the first screen: what verdict, picture, findings and figures say of one quantity
agree, and a figure of steps says which steps it is of.

Whatever a reader may add up or compare on the first screen is computed here from the segments of
the picture and from the rows of the steps, and held against the figures and the sentences."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 0.006  # of the run: figures are said to three digits
WORK = ("gemm", "attention", "convolution", "pointwise", "kernels", "communication", "copies",
        "compute", "waiting")

# What a finding about one GPU calls its idle time, and the class of the picture that shows it.
SAME = (("launches kernels too slowly, which leaves the GPU idle for", "launch"),
        ("late between graphs, which leaves the GPU idle for", "launch"),
        ("What the host does while the GPU idles for", "host"),
        ("data is too slow, which leaves the GPU idle for", "input"),
        ("on the CPU, which leaves the GPU idle for", "host computation"))


class Screen:
    """What is on the first screen of a report."""

    def __init__(self, document):
        self.rows, self.scalars, self.findings = {}, {}, []
        self.headline = document["verdict"]["headline"] or ""
        self.figures = document["verdict"].get("figures", [])
        for section in document["sections"]:
            for item in section["items"]:
                if item["kind"] == "table":
                    keys = [column["key"] for column in item["columns"]]
                    self.rows[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
                elif item["kind"] == "scalar":
                    self.scalars[item["id"]] = item
                elif item["kind"] == "finding":
                    self.findings.append(item["title"])
        self.segments = [row for row in self.rows.get("overview.picture", ())
                         if row["class"] != "phase"]
        self.lanes = {row["lane"] for row in self.segments}

    def value(self, scalar):
        return self.scalars[scalar]["value"] if scalar in self.scalars else None

    def share(self, *classes):
        """Of all lanes: what the legend says."""
        whole = sum(row["dur_ns"] for row in self.segments)
        return sum(row["dur_ns"] for row in self.segments if row["class"] in classes) / whole


def near(one, other, limit=LIMIT):
    return abs(one - other) <= limit


def check_picture(screen, fail):
    """Work in the picture is what the devices are busy, and what is exposed in it the figures."""
    busy = screen.value("gpu_busy_share")
    if busy is None or not screen.segments or len(screen.rows["gpu_time.program"]) > 8:
        return
    if not near(screen.share(*WORK), busy):
        fail(f"the picture has {screen.share(*WORK):.4f} of work, GPU busy is {busy:.4f}")
    exposed = screen.value("comm_exposed_share")
    if not near(screen.share("communication", "waiting"), exposed):
        fail(f"the picture has {screen.share('communication', 'waiting'):.4f} of communication, "
             f"the figure is {exposed:.4f}")
    waits = screen.share("waiting") > 0.01
    if waits != screen.scalars["comm_exposed_share"]["title"].startswith("Waiting"):
        fail("the figure of communication does not say whether waiting is in it")


def percents(pattern, text):
    return [float(found) / 100 for found in re.findall(pattern, text)]


def check_sentences(screen, fail):
    busy = screen.value("gpu_busy_share")
    if busy is None:
        return
    for said in percents(r"busy (?:at least )?([\d.]+)\s%(?! of the other)", screen.headline):
        if not near(said, busy):
            fail(f"the verdict has {said:.4f} of GPU busy, the figure {busy:.4f}")
    if len(screen.lanes) != 1 or not screen.segments:
        return
    for title in [screen.headline, *screen.findings]:
        for words, kind in SAME:
            for said in percents(re.escape(words) + r" ([\d.]+)\s%", title):
                if not near(said, screen.share(kind)):
                    fail(f"{title!r}: the picture has {screen.share(kind):.4f} of {kind}")
        for said in percents(r"waits ([\d.]+)\s% for launches", title):
            if not near(said, screen.share("launch")):
                fail(f"{title!r}: the picture has {screen.share('launch'):.4f} of launch")


def check_steps(screen, fail):
    """A median that is not the mean, or is not of all steps, says so, and so does a window that
    steps do not fill."""
    scalar = screen.scalars.get("step_time_p50_ns")
    if scalar is None or "steps.by_step" not in screen.rows:
        return
    title, median = scalar["title"], scalar["value"]
    steps = screen.rows["steps.by_step"]
    counted = [row["counted_ns"] for row in steps if row["counted_ns"] is not None]
    times = counted or [row["host_dur_ns"] for row in steps if row["host_dur_ns"] is not None]
    ranks = len({row["rank"] for row in steps})
    is_plain = re.search(r"\(p50 of (\d+)\)|^[^()]*$", title) and "," not in title
    if is_plain and len(times) > ranks and not near(median * len(times), sum(times),
                                                    0.08 * sum(times)):
        fail(f"{title!r}: {len(times)} × {median:.0f} ns is not {sum(times):.0f} ns")
    found = re.search(r"\(p50 of (\d+)\b(?! of| ×| ranks)", title)
    if found and int(found.group(1)) != len(times):
        fail(f"{title!r}: there are {len(times)} steps")
    windows = sum(row["window_ns"] for row in screen.rows.get("run.window", ()))
    window = screen.scalars.get("program_window_ns")
    filled = sum(times) / windows if windows else 1
    if window and "program_window_ns" in screen.figures and filled < 0.88 and \
            "of it steps" not in window["title"] and " of " not in title.split("(p50 of ")[-1]:
        fail(f"{window['title']!r}: steps are {filled:.3f} of it")


def read(program, source):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "report", source, "--no-config", "--format", "json", "-o",
                               folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False)
        return [json.loads(path.read_text(encoding="utf-8"))
                for path in sorted(pathlib.Path(folder).rglob("report.json"))
                if done.returncode in (0, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    data = arguments.root.parent / "shared" / "data"
    inputs = sorted((arguments.root / "samples").glob("video-4ranks*"))
    for folder in ("traces", "public"):
        if (data / folder).is_dir():
            inputs += sorted(path for path in (data / folder).iterdir() if path.is_dir())
    faults, reports = [], 0
    for source in inputs:
        for document in read(arguments.program, source):
            reports += 1
            screen = Screen(document)
            for check in (check_picture, check_sentences, check_steps):
                check(screen, lambda text, name=source.name: faults.append(f"{name}: {text}"))
    print(f"{reports} first screens, {len(faults)} faults")
    for fault in faults:
        print(fault)
    if faults or reports < 2:
        sys.exit(1)
    if not data.is_dir():
        print("of the samples alone: ../shared is not there")


if __name__ == "__main__":
    main()
