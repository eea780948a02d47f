#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank that is late because its GPU runs at a lower clock: nvidia-smi's samples of all devices
and the traces of the ranks are one story.  Controls: the same clock everywhere, a rank that is late
by a copy, a clock that explains too little.

usage: test_hot_gpu.py PROGRAM GENERATOR
"""
import datetime
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import reports

RANKS, LATE = 4, 2
BEGIN = datetime.datetime(2026, 3, 1, 10, 0, 0, tzinfo=datetime.timezone.utc)
BEST = 1980
COLUMNS = ("timestamp, index, utilization.gpu [%], temperature.gpu, power.draw [W], "
           "clocks.current.sm [MHz], clocks.max.sm [MHz], clocks_event_reasons.active\n")


def sample(device, clock, heat, reasons, ms):
    moment = BEGIN + datetime.timedelta(milliseconds=ms)
    return (f"{moment:%Y/%m/%d %H:%M:%S}.{moment.microsecond // 1000:03}, {device}, 100 %, "
            f"{heat}, 500.00 W, {clock} MHz, {BEST} MHz, 0x{reasons:016x}\n")


def samples(late_device, clock, is_hot):
    text = COLUMNS
    for period in range(60):
        for device in range(RANKS):
            slow = device == late_device and clock < BEST
            text += sample(device, clock if slow else BEST - 15, 91 if slow and is_hot else 64,
                           0x20 if slow and is_hot else 0, 100 + 2 * period)
    return text


def date_traces(folder, device_of):
    """The traces begin with the samples, and each rank works on its device."""
    for path in sorted(folder.glob("*.json.gz")):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        rank = trace["distributedInfo"]["rank"]
        first = min(event["ts"] for event in trace["traceEvents"] if event["ph"] == "X")
        trace["baseTimeNanoseconds"] = int(BEGIN.timestamp() * 1e9 + 1e8 - first * 1e3)
        for event in trace["traceEvents"]:
            if "device" in event.get("args", {}):
                event["args"]["device"] = device_of(rank)
        path.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))


def straggler(program, generator, cause, clock, is_hot=True, device_of=lambda rank: rank):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        subprocess.run([generator, "cluster", "-o", folder, "--ranks", str(RANKS), "--layers", "2",
                        "--steps", "12", "--straggler", f"{LATE}:{cause}:40"], check=True,
                       stdout=subprocess.DEVNULL)
        date_traces(folder, device_of)
        late_device = LATE if device_of(0) == device_of(1) else device_of(LATE)
        (folder / "gpu.csv").write_text(samples(late_device, clock, is_hot))
        report = reports.read(program, folder)
    at = {(row["rank"], row["device"]) for row in report.rows("telemetry.by_rank",
                                                             signal="gpu_clock")}
    return report, report.finding("straggler"), at


def main():
    program, generator = sys.argv[1:]
    faults = []

    def expect(is_true, what, seen):
        if not is_true:
            faults.append(f"{what}: {seen}")

    for name, device_of in (("device = rank", lambda rank: rank),
                            ("turned around", lambda rank: RANKS - 1 - rank),
                            ("each sees device 0", lambda rank: 0)):
        report, found, at = straggler(program, generator, "kernels", 1410, device_of=device_of)
        owners = {(r, r if device_of(0) == device_of(1) else device_of(r)) for r in range(RANKS)}
        expect(at == owners, f"{name}: each device has the rank that works on it", at)
        title = found["title"]
        expect("because heat (91" in title and "1\u202f410" in title.replace(" ", "\u202f"),
               f"{name}: heat is the cause", title)
        expect("cooling" in found["advice"], f"{name}: what to do", found["advice"])
        expect(report.finding("heat-slowdown") is None, f"{name}: one story", "two findings")

    _, found, _ = straggler(program, generator, "kernels", 1410, is_hot=False)
    expect("lower clock" in found["title"] and "heat" not in found["title"],
           "a clock that nobody explains", found["title"])
    for name, cause, clock in (("same clock", "kernels", BEST), ("late by a copy", "copy", 1410),
                               ("clock explains little", "kernels", 1890)):
        _, found, _ = straggler(program, generator, cause, clock)
        expect("clock" not in found["title"], name, found["title"])
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
