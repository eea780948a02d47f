# SPDX-License-Identifier: GPL-3.0-or-later
"""Readings of AMD GPUs, in the forms that versions of rocm-smi and amd-smi print."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]
RULE = "=" * 80 + "\n"
OLD = "GPU  Temp   AvgPwr   SCLK    MCLK     Fan    Perf  PwrCap  VRAM%  GPU%  \n"
NEW = ("Device  Node  IDs              Temp        Power     Partitions          SCLK     MCLK     "
       "Fan  Perf  PwrCap  VRAM%  GPU%  \n"
       "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)\n")


def table(heading, *rows):
    return ("======= ROCm System Management Interface =======\n======= Concise Info =======\n"
            + heading + RULE + "".join(row + "\n" for row in rows) + RULE
            + "======= End of ROCm SMI Log =======\n")


class AmdSmi(unittest.TestCase):
    def signals(self, text, device=0):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "gpu.log"
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", path, "-o", pathlib.Path(folder) / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            report = json.loads((pathlib.Path(folder) / "out/report.json").read_text())
        rows = [dict(zip((c["key"] for c in item["columns"]), row))
                for section in report["sections"] for item in section["items"]
                if item.get("id") == "telemetry.by_rank" for row in item["rows"]]
        return {row["signal"]: (row["samples"], round(row["mean"], 6)) for row in rows
                if row["device"] == device}

    def test_table_of_rocm_smi(self):
        expected = {"gpu_temperature": (5, 71), "gpu_power": (5, 682), "gpu_clock": (5, 1653e6),
                    "gpu_memory_clock": (5, 1300e6), "gpu_power_limit": (5, 750),
                    "gpu_utilization": (5, 1)}
        for heading, row in (
                (OLD,
                 "1    71.0c  682.0W  1653Mhz  1300Mhz  29.8%  auto  750.0W    43%   100%    "),
                (NEW, "1       2     0x74a1,   47056  71.0°C      682.0W    NPS1, SPX, 0        "
                 "1653Mhz  1300Mhz  0%   auto  750.0W  43%    100%   ")):
            first = row.replace("1 ", "0 ", 1)
            found = self.signals(table(heading, first, row) * 5, device=1)
            self.assertEqual(found, expected, heading)
        # What is not known is no zero, and shifts nothing.
        row = "0    23.0c  N/A  300Mhz  300Mhz  42.75%  auto  150.0W  N/A    N/A    "
        self.assertEqual(self.signals(table(OLD, row) * 3),
                         {"gpu_temperature": (3, 23), "gpu_clock": (3, 300e6),
                          "gpu_memory_clock": (3, 300e6), "gpu_power_limit": (3, 150)})

    def test_csv_of_rocm_smi(self):
        heading = ("device,Temperature (Sensor edge) (C),Temperature (Sensor junction) (C),Average "
                   "Graphics Package Power (W),GPU use (%),VRAM Total Memory (B),"
                   "VRAM Total Used Memory (B)\n")
        rows = "card0,45.0,61.0,812.0,82,1000,700\ncard1,44.0,60.0,798.0,79,1000,500\n"
        self.assertEqual(self.signals((heading + rows + "\n") * 4),
                         {"gpu_temperature": (4, 45), "gpu_power": (4, 812),
                          "gpu_utilization": (4, 0.82), "gpu_memory_total": (4, 1000),
                          "gpu_memory_used": (4, 700)})
        apart = ("device,GPU use (%)\ncard0,42%\ncard1,17\n\n"
                 "device,Temperature (Sensor junction) (C)\ncard0,72.5\ncard1,69.0\n\n")
        self.assertEqual(self.signals(apart * 3), {"gpu_utilization": (3, 0.42),
                                                   "gpu_temperature": (3, 72.5)})

    def test_amd_smi_monitor(self):
        old = ("GPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  MEM_CLOCK\n"
               "  0  182 W     42 °C     41 °C      83 %   1613 MHz       0 %   1230 MHz\n"
               "  1  143 W     40 °C       N/A      13 %    358 MHz       0 %   1173 MHz\n")
        self.assertEqual(self.signals(old * 3),
                         {"gpu_power": (3, 182), "gpu_temperature": (3, 42),
                          "gpu_memory_temperature": (3, 41), "gpu_utilization": (3, 0.83),
                          "gpu_clock": (3, 1613e6), "gpu_memory_activity": (3, 0),
                          "gpu_memory_clock": (3, 1230e6)})
        timed = ("TIMESTAMP  GPU  POWER  GPU_TEMP  MEM_TEMP  VRAM_USED  VRAM_TOTAL\n"
                 "1772359200    0  248 W     55 °C     48 °C     283 MB   196300 MB\n"
                 "1772359201    0  248 W     55 °C     48 °C     283 MB   196300 MB\n")
        self.assertEqual(self.signals(timed)["gpu_memory_used"], (2, 283 * 2**20))


if __name__ == "__main__":
    unittest.main()
