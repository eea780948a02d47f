# SPDX-License-Identifier: GPL-3.0-or-later
"""vmstat, sar, dstat and iotop while a host loads from a slow disk, swaps, or does neither: what is
read of them, and what is said."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]
VMSTAT = ("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
          " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n")
DSTAT = ("You did not select any stats, using -cdngy by default.\n"
         "----total-usage---- -dsk/total- -net/total- ---paging-- ---system--\n"
         "usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw \n")
BANNER = "Linux 5.15.0-107-generic (host) \t10/01/2026 \t_x86_64_\t(16 CPU)\n\n"


def vmstat(*rows, stamped=False):
    """Rows of (b, si, so, bi); the first that is printed is the mean since the start."""
    lines = [(0, 3, 4, 99999), *rows]
    text = ""
    for i, (b, si, so, bi) in enumerate(lines):
        if i % 20 == 0:
            text += VMSTAT.replace("st\n", "st                 UTC\n") if stamped else VMSTAT
        text += (f" 2 {b:2} 8123452  61232   1204  98340 {si:4} {so:4} {bi:5}    10 9012 12011  4"
                 f"  6 78 12  0" + (f" 2026-03-01 23:59:{i + 30:02}" if stamped else "") + "\n")
    return text


def sar_disks(*rates, clock="06:10:{:02} PM"):
    text = BANNER
    for i, rate in enumerate(rates):
        stamp = clock.format(i)
        text += (f"{stamp}       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz"
                 f"     await     %util\n"
                 f"{stamp}   nvme0n1   2310.00 {rate:9.2f}      8.00      0.00    135.28      8.31"
                 f"      3.60     99.20\n"
                 f"{stamp}      dm-0   2310.00 {rate:9.2f}      8.00      0.00    135.28      8.31"
                 f"      3.60     99.20\n"
                 f"{stamp}       sda      0.00      0.00      0.00      0.00      0.00      0.00"
                 f"      0.00      0.00\n\n")
    return text + "Average:          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    "\
        "aqu-sz     await     %util\nAverage:      nvme0n1   1 1 1 1 1 1 1 1\n"


class Monitors(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "monitor.log"
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", path, "-o", pathlib.Path(folder) / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            report = json.loads((pathlib.Path(folder) / "out/report.json").read_text())
        items = [item for section in report["sections"] for item in section["items"]]
        rows = [dict(zip((c["key"] for c in item["columns"]), row)) for item in items
                if item.get("id") == "telemetry.by_rank" for row in item["rows"]]
        self.said = {item["id"]: " ".join((item["title"], item.get("why") or ""))
                     .replace("\u00a0", " ") for item in items if "advice" in item}
        return {row["signal"]: (row["samples"], row["mean"]) for row in rows}

    def test_vmstat(self):
        for stamped in (False, True):
            rows = [(1, 0, 0, 300000 + i) for i in range(25)]
            found = self.read(vmstat(*rows, stamped=stamped))
            self.assertEqual(found["disk_read"], (25, 300012 * 1024))
            self.assertEqual(found["disk_wait"], (25, 1))
            self.assertEqual(found["swap_read"], (25, 0))
            self.assertIn("The host waits for the disk in 100 % of the samples (25.0 s): it "
                          "delivers 307 MB/s", self.said["disk-bound"])

    def test_swap(self):
        self.read(vmstat(*[(3, 8120, 9340, 12030)] * 20, *[(0, 0, 0, 0)] * 20))
        self.assertNotIn("disk-bound", self.said)
        self.assertEqual(self.said["swapping"], "Host memory is full and the host swaps in 50.0 % "
                         "of the samples (20.0 s) Meanwhile 8.31 MB/s are read from swap space and "
                         "9.56 MB/s written to it.")

    def test_a_quiet_host(self):
        for rows in ([(0, 0, 0, 20)] * 40,                 # nothing happens
                     [(0, 0, 0, 900000)] * 40,             # a fast disk, for which nobody waits
                     [(1, 0, 0, 3)] * 40,                  # who waits does so for little
                     [(0, 2, 2, 20)] * 40,                 # some pages
                     [(2, 0, 0, 400000)] * 4 + [(0, 0, 0, 0)] * 40):  # loaded once
            self.read(vmstat(*rows))
            self.assertEqual(self.said, {}, rows[0])

    def test_sar(self):
        for clock in ("06:10:{:02} PM", "18:10:{:02}", "06:10:{:02} PM IST"):
            found = self.read(sar_disks(*[312500] * 9, clock=clock))
            self.assertEqual(found["disk_read"], (9, 312500 * 1024), clock)
            self.assertAlmostEqual(found["disk_wait"][1], 0.992)
            self.assertIn("(9.00 s): it delivers 320 MB/s", self.said["disk-bound"])

    def test_tables_of_sar(self):
        """Of two tables that say what is read the first counts; a wait is of one processor."""
        text = BANNER
        for i in range(8):
            text += (f"12:17:{i:02}        CPU     %user     %nice   %system   %iowait    %steal"
                     f"     %idle\n"
                     f"12:17:{i:02}        all      1.00      0.00      1.00      6.25      0.00"
                     f"     91.75\n\n"
                     f"12:17:{i:02}     pswpin/s pswpout/s\n12:17:{i:02}       256.00     512.00"
                     f"\n\n"
                     f"12:17:{i:02}     pgpgin/s pgpgout/s   fault/s  majflt/s  pgfree/s\n"
                     f"12:17:{i:02}       500.00     80.00      2.00      0.00      0.00\n\n"
                     f"12:17:{i:02}          tps      rtps      wtps   bread/s   bwrtn/s\n"
                     f"12:17:{i:02}         1.00      1.00      0.00      9.00      0.00\n\n")
        found = self.read(text)
        self.assertEqual(found["disk_wait"], (8, 1))
        self.assertEqual(found["swap_read"], (8, 256 * 4096))
        self.assertEqual(found["swap_written"], (8, 512 * 4096))
        self.assertEqual(found["disk_read"], (8, 500 * 1024))
        self.assertIn("swapping", self.said)

    def test_dstat(self):
        row = "  6   3  90   1   0|{}   16k| 150M  162M| 2048k    0 |  47k   31k\n"
        found = self.read(DSTAT + row.format("  77M") + row.format(" 300M") * 9)
        self.assertEqual(found["disk_read"], (9, 300 * 2**20))
        self.assertEqual(found["disk_written"], (9, 16 * 2**10))
        self.assertEqual(found["swap_read"], (9, 2**21))
        # Nothing says that anybody waits for the disk.
        self.assertNotIn("disk-bound", self.said)
        timed = DSTAT.replace("----total-usage----", "-system- ----total-usage----").replace(
            "usr sys", "  time  |usr sys")
        found = self.read(timed + "".join(f"07:31:{i:02}|" + row.format(" 300M")
                                          for i in range(10)))
        self.assertEqual(found["disk_read"], (9, 300 * 2**20))

    def test_iotop(self):
        text = "".join(
            f"21:14:{i:02} Total DISK READ :     312.50 M/s | Total DISK WRITE :       0.00 B/s\n"
            f"21:14:{i:02} Actual DISK READ:     312.50 M/s | Actual DISK WRITE:       0.00 B/s\n"
            "    TIME  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND\n"
            f"21:14:{i:02}  4711 be/4 me       312.50 M/s    0.00 B/s  0.00 % 93.10 % python a.py\n"
            f"21:14:{i:02}    12 rt/0 root       0.00 K/s    3.00 K/s  0.00 %  1.00 % [jbd2]\n"
            for i in range(12))
        found = self.read(text)
        self.assertEqual(found["disk_wait"][0], 12)
        self.assertAlmostEqual(found["disk_wait"][1], 0.931)
        self.assertIn("(12.0 s): it delivers 328 MB/s", self.said["disk-bound"])


if __name__ == "__main__":
    unittest.main()
