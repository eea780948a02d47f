# SPDX-License-Identifier: GPL-3.0-or-later
"""Telemetry of nvidia-smi with a planted cause of slowness, and without any: what is said about it,
and that nothing is said where nothing happens."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

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


def dmon(rows):
    return ("# gpu    pwr  gtemp     sm    mem   pclk  pviol  tviol     fb  rxpci  txpci\n"
            "# Idx      W      C      %      %    MHz      %   bool     MB   MB/s   MB/s\n"
            + "".join("  0 " + " ".join(str(cell) for cell in cells) + "\n" for cells in rows))


class Telemetry(unittest.TestCase):
    def report(self, text):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "in").mkdir()
            (folder / "in" / "gpu.log").write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", folder / "in", "-o", folder / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
            return done.stdout, [finding["id"] for section in report["sections"]
                                 if section["id"] == "findings" for finding in section["items"]]

    def said(self, text):
        """Findings about limits, and the first ten lines."""
        stdout, ids = self.report(text)
        return ([name for name in ids if name in ("heat-slowdown", "hardware-slowdown",
                                                  "power-cap", "host-memory")],
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
                      "samples, first after 30.0 s at 88 °C", head.replace("\u00a0", " "))
        self.assertIn("(device 1)", head.replace("\u00a0", " "))

    def test_heat_without_a_reason(self):
        rows = [row(i, heat=72 if i < 40 else 86, clock=1800 if i < 40 else 1300)
                for i in range(90)]
        ids, head = self.said(query(rows))
        self.assertEqual(ids, ["heat-slowdown"])
        self.assertIn("first after 40.0 s at 86 °C", head.replace("\u00a0", " "))

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
        self.assertIn("The GPU waits for host memory in 66.7 % of the busy samples", head)
        self.assertNotIn("in use 99", head.split("Devices in use")[0])
        # Without traffic, or while the memory works, something else takes the time.
        self.assertEqual(self.said(dmon(rows(60)))[0], [])
        self.assertEqual(self.said(dmon(rows(5000, activity=50)))[0], [])

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


if __name__ == "__main__":
    unittest.main()
