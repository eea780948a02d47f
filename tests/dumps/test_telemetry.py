# SPDX-License-Identifier: GPL-3.0-or-later
"""Telemetry of nvidia-smi with a planted cause of slowness, and without any: what is said about it,
and that nothing is said where nothing happens."""
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from smi_table import LAYOUTS, table

PROGRAM = os.environ["TA_PROGRAM"]
COLUMNS = ("timestamp, index, utilization.gpu [%], utilization.memory [%], memory.total [MiB], "
           "memory.used [MiB], temperature.gpu, power.draw [W], clocks.sm [MHz]")
BUSY = {"used": 97, "activity": 60, "memory": 20000, "heat": 70, "power": 300, "clock": 1800}


def row(second, device=0, reasons=None, **parts):
    at = {**BUSY, **parts}
    return (f"2026/03/01 10:{second // 60:02}:{second % 60:02}.{device:03}, {device}, "
            f"{at['used']} %, {at['activity']} %, 24576 MiB, {at['memory']} MiB, {at['heat']}, "
            f"{at['power']}.00 W, {at['clock']} MHz" + (f", {reasons}" if reasons else ""))


def query(rows, reasons=False):
    return COLUMNS + (", clocks_event_reasons.active" if reasons else "") + "\n" \
        + "\n".join(rows) + "\n"


def tables(rows, driver="525", dated=True, between=""):
    """A loop of nvidia-smi, of one device; rows are (second, readings)."""
    return "".join(table(driver, [{**BUSY, "limit": 350, **parts}], second if dated else None,
                         [(0, "python3", 19990)]) + between for second, parts in rows)


def dmon(rows):
    return ("# gpu    pwr  gtemp     sm    mem   pclk  pviol  tviol     fb  rxpci  txpci\n"
            "# Idx      W      C      %      %    MHz      %   bool     MB   MB/s   MB/s\n"
            + "".join("  0 " + " ".join(str(cell) for cell in cells) + "\n" for cells in rows))


def trace(start, steps):
    """Steps of so many seconds, one kernel each, of a trace that begins at a time in UTC."""
    events, time = [], 0
    for i, length in enumerate(steps):
        events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1,
                    "tid": 1, "ts": time * 1e6, "dur": length * 1e6},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                    "tid": 1, "ts": (time + 0.001) * 1e6, "dur": 20,
                    "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                    "ts": (time + 0.01) * 1e6, "dur": (length - 0.02) * 1e6,
                    "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        time += length
    return json.dumps({"baseTimeNanoseconds": int(start.timestamp()) * 10**9,
                       "traceEvents": events})


class Telemetry(unittest.TestCase):
    def report(self, text, sections=False):
        """Of a text, or of several by the names of their files."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "in").mkdir()
            for name, content in ({"gpu.log": text} if isinstance(text, str) else text).items():
                (folder / "in" / name).write_text(content, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", folder / "in", "-o", folder / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.whole = (folder / "out" / "report.json").read_text(encoding="utf-8")
            report = json.loads(self.whole)
            if sections:
                return {table["id"]: [dict(zip((c["key"] for c in table["columns"]), row))
                                      for row in table["rows"]]
                        for section in report["sections"] for table in section["items"]
                        if table["kind"] == "table"}
            return done.stdout, [finding["id"] for section in report["sections"]
                                 if section["id"] == "findings" for finding in section["items"]]

    def said(self, text):
        """Findings about limits, and the first ten lines."""
        stdout, ids = self.report(text)
        return ([name for name in ids if name in ("heat-slowdown", "hardware-slowdown",
                                                  "power-cap", "host-memory", "little-work")],
                " ".join("\n".join(stdout.splitlines()[:10]).split()))

    def test_nothing_happens(self):
        rows = [row(i, power=300 + i % 7, clock=1800 + 15 * (i % 3)) for i in range(90)]
        self.assertEqual(self.said(query(rows))[0], [])
        rows = [row(i, reasons="0x0") for i in range(90)]
        self.assertEqual(self.said(query(rows, reasons=True))[0], [])
        # Full memory, as allocators leave it, is no overflow.
        rows = [row(i, memory=24500, activity=60 - i % 9) for i in range(90)]
        self.assertEqual(self.said(query(rows))[0], [])

    def test_an_idle_device_lowers_its_clock(self):
        rows = [row(i) for i in range(45)]
        rows += [row(i, used=0, activity=0, power=60, clock=210, reasons=None)
                 for i in range(45, 90)]
        self.assertEqual(self.said(query(rows))[0], [])

    def test_a_cool_device_lowers_its_clock(self):
        rows = [row(i, clock=1800 if i < 45 else 1400) for i in range(90)]
        self.assertEqual(self.said(query(rows))[0], [])

    def test_heat_with_a_reason(self):
        rows = [row(i, device=d, reasons="0x20" if d == 1 and i >= 30 else "0x0",
                    heat=88 if d == 1 and i >= 30 else 70,
                    clock=1200 if d == 1 and i >= 30 else 1800)
                for i in range(90) for d in range(2)]
        ids, head = self.said(query(rows, reasons=True))
        self.assertEqual(ids, ["heat-slowdown"])
        self.assertIn("Heat lowers the GPU clock from 1 800 MHz to 1 200 MHz in 66.7 % of the busy "
                      "samples, from 30.0 s on at 88 °C", head.replace("\u00a0", " "))
        self.assertIn("(device 1)", head.replace("\u00a0", " "))
        # A third of the clock is lost for a minute.
        saving = next(item["saving_ns"] for section in json.loads(self.whole)["sections"]
                      for item in section["items"] if item.get("id") == "heat-slowdown")
        self.assertLessEqual(saving["low"], 20e9)
        self.assertGreaterEqual(saving["high"], 20e9)

    def test_heat_without_a_reason(self):
        rows = [row(i, heat=72 if i < 40 else 86, clock=1800 if i < 40 else 1300)
                for i in range(90)]
        ids, head = self.said(query(rows))
        self.assertEqual(ids, ["heat-slowdown"])
        self.assertIn("from 40.0 s on at 86 °C", head.replace("\u00a0", " "))

    def test_a_violation_flag(self):
        rows = [(300, 70 if i < 20 else 90, 99, 60, 1800 if i < 20 else 1100, 0, int(i >= 20),
                 20000, 50, 40) for i in range(60)]
        self.assertEqual(self.said(dmon(rows))[0], ["heat-slowdown"])

    def test_overflow(self):
        def rows(pcie, activity=2):
            return [(300, 70, 99, 60, 1800, 0, 0, 12000, 90, 40) if i < 20 else
                    (80, 60, 100, activity, 1800, 0, 0, 16000, pcie, pcie) for i in range(60)]
        ids, head = self.said(dmon(rows(5000)))
        self.assertEqual(ids, ["host-memory"])
        self.assertIn("GPU memory overflows into host memory in 66.7 % of the busy samples", head)
        self.assertNotIn("in use 99", head.split("GPU utilization")[0])
        # Without traffic it waits for something else, and while the memory works it works.
        self.assertEqual(self.said(dmon(rows(60)))[0], ["little-work"])
        self.assertEqual(self.said(dmon(rows(5000, activity=50)))[0], [])

    def test_copies_over_pcie(self):
        def titles(received):
            self.report(dmon([(90, 55, 25, 8, 1800, 0, 0, 9000, received, 40)] * 60))
            return " ".join(self.whole.replace("\u00a0", " ").split())
        self.assertIn("The GPU waits for copies over PCIe and is idle 75.0 % of the sampled time: "
                      "its utilization is 25.0 % on average", titles(12000))
        self.assertIn("The GPU is idle 75.0 % of the sampled time", titles(300))

    def test_held_by_the_power_cap(self):
        """Power at the cap all the time, and no clock to compare with."""
        self.report(dmon([(298, 70, 99, 60, 1400, 80, 0, 9000, 50, 40)] * 60))
        found = [item["severity"] for section in json.loads(self.whole)["sections"]
                 for item in section["items"] if item.get("id") == "power-cap"]
        self.assertEqual(found, ["low"])

    def test_slower_from_run_to_run(self):
        """Loops of a log that get slower, and what the samples of the GPU say meanwhile."""
        log = "".join(f"100%|██████████| 20/20 [00:{20 + 2 * i:02}<00:00,  {1 + i / 10:.2f}s/it]\n"
                      for i in range(6))

        def why(**parts):
            rows = [row(i, **{name: at(i) for name, at in parts.items()}) for i in range(150)]
            self.report({"run.log": log, "gpu.csv": query(rows)})
            return next(" ".join((item["title"], item["why"])).replace("\u00a0", " ")
                        for section in json.loads(self.whole)["sections"]
                        for item in section["items"] if item.get("id") == "slower-runs")
        self.assertIn("Heat lowers the GPU's clock: each run of the loop is slower than the one "
                      "before (20.0 s to 30.0 s in 6)",
                      why(clock=lambda i: 1900 - 5 * i, heat=lambda i: 60 + i // 5))
        self.assertIn("The GPU's clock falls: each run", why(clock=lambda i: 1900 - 5 * i))
        self.assertIn("GPU memory grows: each run", why(memory=lambda i: 8000 + 90 * i))
        # Loading, and a clock that falls by less than the runs take more, are no cause.
        for parts in ({}, {"memory": lambda i: 500 if i < 20 else 18000},
                      {"clock": lambda i: 1900 - i // 10}):
            self.assertTrue(why(**parts).startswith("Each run of the loop is slower"), parts)

    def signals(self, text):
        """The mean of each signal of device 0, and how many samples it is of."""
        found = self.report(text, sections=True)["telemetry.by_rank"]
        return {row["signal"]: (round(row["mean"], 9), row["samples"]) for row in found
                if row["device"] == 0}

    def test_tables_of_all_drivers(self):
        devices = [{"used": 97, "memory": 20000, "heat": 70, "power": 300, "limit": 350},
                   {"used": None, "memory": 4, "heat": None, "power": "ERR!", "limit": None,
                    "fan": "N/A"}]
        for driver in LAYOUTS:
            text = "".join(table(driver, devices, i, [(0, "python3", 19990)]) for i in range(4))
            found = self.signals(text)
            self.assertEqual(found, {"gpu_utilization": (0.97, 4),
                                     "gpu_memory_used": (20000 * 2**20, 4),
                                     "gpu_memory_total": (24576 * 2**20, 4),
                                     "gpu_temperature": (70, 4), "gpu_power": (300, 4),
                                     "gpu_power_limit": (350, 4)}, driver)
            rows = self.report(text, sections=True)["telemetry.by_rank"]
            self.assertEqual({row["signal"] for row in rows if row["device"] == 1},
                             {"gpu_memory_used", "gpu_memory_total"}, driver)

    def test_tables_inside_a_log(self):
        bar = "\r 35%|███▌      | 7/20 [00:16<00:31,  2.41s/it]"
        found = self.signals(tables([(i, {}) for i in range(5)], between=bar))
        self.assertEqual(found["gpu_power"], (300, 5))
        labeled = "\n".join("0: " + line for line in tables([(0, {}), (3, {})]).splitlines())
        self.assertEqual(self.signals(labeled)["gpu_power"], (300, 2))

    def test_dates_of_tables(self):
        energy = self.report(tables([(2 * i, {}) for i in range(6)]), sections=True)
        self.assertEqual(energy["energy.by_rank"][0]["span_ns"], 10 * 10**9)
        # Without dates they are in order.
        energy = self.report(tables([(2 * i, {}) for i in range(6)], dated=False), sections=True)
        self.assertEqual(energy["energy.by_rank"][0]["samples"], 6)

    def test_one_table(self):
        stdout, ids = self.report(tables([(0, {"used": 3})]))
        self.assertNotIn("of the time", "\n".join(stdout.splitlines()[:6]))
        self.assertNotIn("gpu-utilization", ids)

    def test_tables_with_limits(self):
        def said(*rows):
            return self.said(tables(list(enumerate(row for many, row in rows
                                                   for _ in range(many)))))
        self.assertEqual(said((60, {}))[0], [])
        self.assertEqual(said((30, {"used": 99, "power": 280}), (30, {"used": 100}))[0], [])
        # Allocators fill the memory; that is no overflow.
        self.assertEqual(said((60, {"memory": 24500}))[0], [])
        ids, head = said((60, {"power": 347}))
        self.assertEqual(ids, ["power-cap"])
        ids, head = said((40, {}), (40, {"power": 190, "heat": 88}))
        self.assertEqual(ids, ["heat-slowdown"])
        self.assertIn("Heat lowers the GPU power from 300 W to 190 W", head)
        ids, head = said((30, {}), (60, {"power": 80, "memory": 24400, "heat": 60, "used": 100}))
        self.assertEqual(ids, ["host-memory"])
        ids, head = said((60, {"power": 98, "heat": 55, "used": 100}))
        self.assertEqual(ids, ["little-work"])
        self.assertIn("shows 100 % utilization but does little", head.replace("\u00a0", " "))
        self.assertNotIn("in use 100", head.split("GPU utilization")[0].replace("\u00a0", " "))
        # Less to do lowers the power, too.
        self.assertEqual(said((40, {}), (40, {"power": 98, "heat": 55, "used": 60}))[0], [])

    def test_utilization_without_work(self):
        rows = [row(i, power=300 if i < 20 else 90, activity=60 if i < 20 else 1, used=100)
                for i in range(90)]
        self.assertEqual(self.said(query(rows))[0], ["little-work"])
        # Decoding tokens is bound by memory: low power, but the memory works.
        rows = [row(i, power=120, activity=70, used=100) for i in range(90)]
        self.assertEqual(self.said(query(rows))[0], [])

    def test_full_from_the_start(self):
        rows = [row(i, power=50, activity=i % 2, used=99, memory=24000) for i in range(60)]
        limit = [line + ", 250.00 W" for line in query(rows).splitlines()]
        limit[0] = limit[0].replace("250.00 W", "power.limit [W]")
        text = "\n".join(limit) + "\n"
        ids, head = self.said(text)
        self.assertEqual(ids, ["host-memory"])
        self.assertIn("it is full (23.4 GiB of 24.0 GiB), and it draws 50 W of 250 W",
                      head.replace("\u00a0", " "))
        self.assertNotIn("gpu-memory", self.report(text)[1])
        # Of several devices one may wait for the others.
        more = [line.replace(", 0, ", ", 1, ", 1).replace(" 50.00 W", " 240.00 W")
                for line in limit[1:]]
        ids, head = self.said("\n".join(limit + more) + "\n")
        self.assertEqual(ids, ["little-work"])
        self.assertIn("(device 0), while device 1 draws 240 W", head.replace("\u00a0", " "))

    def test_an_idle_device(self):
        rows = [row(i, device=d, used=97 if d < 2 else 0) for i in range(30) for d in range(3)]
        _, head = self.said(query(rows))
        self.assertIn("2 of 3 devices are in use 97.0 % of the time; device 2 runs nothing",
                      head.replace("\u00a0", " "))

    def test_cut_anywhere(self):
        rows = [(300, 70, 99, 60, 1800, 0, 0, 12000, 90, 40)] * 6
        texts = [dmon(rows), query([row(i) for i in range(6)]),
                 query([row(i) for i in range(6)]).replace(" MHz\n", "\n").replace(" [MHz]", "")]
        for text in texts:
            whole = self.signals(text)
            for cut in range(1, 16):
                for name, (mean, _) in self.signals(text[:-cut]).items():
                    self.assertEqual(mean, whole[name][0], (name, text[-cut - 20:-cut]))

    def test_gpm(self):
        head = ("# gpu    pwr  gtemp  mtemp     sm    mem    enc   mclk   pclk      gract    smutil"
                "     smocc    mmaact      dram     pcitx     nvlrx   fancy\n"
                "# Idx      W      C      C      %      %      %    MHz    MHz      GPM:%     GPM:%"
                "     GPM:%     GPM:%     GPM:% GPM:MiB/s GPM:MiB/s    GPM:%\n")
        text = head + "    0    200     50     60    100      9      0   2619   1980          -" \
            + "         -" * 7 + "\n"
        text += ("    0    200     50     60    100      9      0   2619   1980        100"
                 "         2         1         0         3        10        20         7\n") * 40
        found = self.signals(text)
        self.assertEqual({name[4:]: found[name] for name in found if found[name][1] == 40},
                         {"graphics_activity": (1, 40), "sm_activity": (0.02, 40),
                          "sm_occupancy": (0.01, 40), "tensor_activity": (0, 40),
                          "dram_activity": (0.03, 40), "pcie_sent": (10 * 2**20, 40),
                          "nvlink_received": (20 * 2**20, 40)})
        self.assertEqual(found["gpu_memory_temperature"], (60, 41))
        self.assertEqual(self.said(text)[0], ["little-work"])
        self.assertIn("Columns that are not read: enc, fancy", self.whole)

    def test_two_tools_of_one_device(self):
        rows = [row(i, power=300 + i % 9, heat=60 + i // 10, memory=8000 + 100 * i)
                for i in range(40)]
        head = ("#Date       Time        gpu    pwr  gtemp     sm     fb  rxpci\n"
                "#YYYYMMDD   HH:MM:SS    Idx      W      C      %     MB   MB/s\n")
        at = [f"{310 - i % 7:>4} {60 + i // 10} {97} {8000 + 100 * i + 40} 55" for i in range(36)]
        dated = head + "".join(f" 20260301   10:00:{i + 2:02}      0 {values}\n"
                               for i, values in enumerate(at))
        found = self.signals({"query.csv": query(rows), "dmon.txt": dated})
        self.assertEqual(found["gpu_power"][1], 40)
        self.assertEqual(found["gpu_utilization"][1], 40)
        self.assertEqual(found["gpu_pcie_received"], (55e6, 36))
        # Without dates both begin at once.
        undated = head.replace("Date       Time        ", " ").replace(
            "YYYYMMDD   HH:MM:SS    ", " ") + "".join(f"  0 {values}\n" for values in at)
        self.assertEqual(self.signals({"query.csv": query(rows), "dmon.txt": undated})
                         ["gpu_power"][1], 40)
        # Device 0 of another host has its own heat.
        other = [row(i, heat=50) for i in range(40)]
        self.assertEqual(self.signals({"a.csv": query(rows), "b.csv": query(other)})
                         ["gpu_power"][1], 80)

    def zoned(self, hours, steps, more=()):
        """A query from half a minute before 10:00 on, and a trace from 10:00 on in that zone."""
        total = sum(steps)
        rows = []
        for i in range(-30, int(total) + 30):
            inside, hot = 0 <= i < total, i >= 20
            parts = {} if inside else {"used": 0, "power": 40, "clock": 210, "heat": 45}
            if inside and hot and more:
                parts = {"power": 250, "clock": 1185, "heat": 88}
            text = row(i % 60, reasons="0x20" if "clock" in parts and inside else "0x0", **parts)
            rows.append(text.replace(" 10:00", " 09:59") if i < 0 else
                        text.replace(" 10:00", f" 10:{i // 60:02}"))
        start = datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.timezone(
            datetime.timedelta(hours=hours)))
        return {"trace.json": trace(start, steps), "gpu.csv": query(rows, reasons=True)}

    def test_beside_a_trace(self):
        for hours in (0, 2, -7, 5.5):
            found = self.report(self.zoned(hours, [1] * 40), sections=True)
            row_of = found["telemetry.window"][0]
            self.assertEqual((row_of["zone_hours"], row_of["samples"], row_of["outside"]),
                             (hours, 40, 60))
            self.assertEqual(row_of["gpu_power"], 300)
            self.assertEqual({row["samples"] for row in found["telemetry.by_rank"]}, {40})
        # Traces of older profilers have absolute times.
        files = self.zoned(9, [1] * 40)
        old = json.loads(files["trace.json"])
        start = old.pop("baseTimeNanoseconds") // 1000
        for event in old["traceEvents"]:
            event["ts"] += start
        found = self.report({**files, "trace.json": json.dumps(old)}, sections=True)
        self.assertEqual(found["telemetry.window"][0]["zone_hours"], 9)
        # In a zone that no clock has they are of another time.
        found = self.report(self.zoned(0.2, [1] * 40), sections=True)
        self.assertNotIn("telemetry.window", found)
        self.assertEqual({row["samples"] for row in found["telemetry.by_rank"]
                          if row["signal"] == "gpu_power"}, {100})

    def test_slowed_steps(self):
        ids, _ = self.said(self.zoned(2, [1] * 40))
        self.assertEqual(ids, [])
        files = self.zoned(2, [1] * 20 + [1.5] * 20, more=(20,))
        stdout, ids = self.report(files)
        self.assertIn("heat-slowdown", ids)
        self.assertIn("steps take 1.50 s from there on, 1.00 s before",
                      " ".join(stdout.split()).replace("\u00a0", " "))

    def test_beside_a_log(self):
        bars = "".join(f"2026-03-01 10:00:{10 + i:02},000 INFO  {5 * i:3}%|#| {i}/20 "
                       f"[00:{i:02}<00:{20 - i:02},  1.00s/it]\n" for i in range(1, 21))
        rows = [row(i, power=300 if 10 <= i <= 30 else 50) for i in range(60)]
        found = self.report({"run.log": bars, "gpu.csv": query(rows)}, sections=True)
        row_of = found["telemetry.window"][0]
        self.assertEqual((row_of["of"], row_of["zone_hours"], row_of["samples"],
                          row_of["outside"], row_of["gpu_power"]), ("log", 0, 21, 39, 300))

    def test_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "gpu.csv"
            path.write_text("2025/09/30 21:14:00.412, 0, 46, 7, 804, 61.20\n" * 3,
                            encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", path, "-o", pathlib.Path(folder) / "out"],
                                  capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nvidia-smi --query-gpu without a header", done.stderr)
        self.assertIn("--format=csv", done.stderr)
        named = self.report({"gpu.csv": "timestamp, index, temperature.gpu, utilization.gpu, "
                             "memory.used, power.draw\n" +
                             "2025/09/30 21:14:00.412, 0, 46, 7, 804, 61.20\n" * 3}, sections=True)
        self.assertEqual({row["signal"]: row["max"] for row in named["telemetry.by_rank"]}[
            "gpu_power"], 61.2)


if __name__ == "__main__":
    unittest.main()
