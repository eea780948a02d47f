#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of nsys and rocprof as text and CSV, in the forms that locales, spreadsheets, editors and
crashes give a table: each gives the figures of the plain one, or none.

usage: test_sums.py PROGRAM
"""
import csv
import io
import pathlib
import sys
import tempfile

import checks
import reports

KERNELS = [(63.2, 7211034880, 4000, "ampere_sgemm_128x64_tn"),
           (21.3, 2430000000, 790, "void at::native::vectorized<(int)4, Functor<float, float>>"),
           (15.5, 1768000123, 400, 'void f<__half, (bool)0>("x")')]
CALLS = [(48.7, 1575151965, 411939, "cudaLaunchKernel"), (25.4, 820327593, 25013, "cudaFree")]
RANGES = [(100.0, 2272780509, 1, "step 1")]
COPIES = [(90.0, 123456789, 12, "[CUDA memcpy Host-to-Device]")]


def english(value, decimals=0):
    return f"{value:,.{decimals}f}"


def plain(value, decimals=0):
    return f"{value:.{decimals}f}"


def french(value, decimals=0):
    return english(value, decimals).replace(",", " ").replace(".", ",")


def german(value, decimals=0):
    return english(value, decimals).translate(str.maketrans(",.", ".,"))


def columns(headings, rows, ruler=True):
    """Columns as nsys lays them out: numbers to the right, two blanks between them."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    lines = ["  ".join(word.center(width) for word, width in zip(headings, widths))]
    if ruler:
        lines.append("  ".join("-" * width for width in widths))
    lines += ["  ".join([word.rjust(width) for word, width in zip(row[:-1], widths)] +
                        [row[-1].ljust(widths[-1])]) for row in rows]
    return "".join(f" {line}\n" for line in lines)


def table(title, calls, name, rows, form=english, unit="ns", before="\n"):
    words = ["Time (%)", f"Total Time ({unit})", calls, f"Avg ({unit})", name]
    cells = [[form(share, 1), form(total), form(count), form(total / count, 1), text]
             for share, total, count, text in rows]
    return f"{title}{before}{columns(words, cells)}\n"


def new_text(form=english):
    return "".join(
        f"Processing [r.sqlite] with [/opt/nvidia/reports/{report}.py]... \n\n" +
        table(f" ** {title} ({report}):\n", calls, name, rows, form)
        for title, report, calls, name, rows in (
            ("CUDA GPU Kernel Summary", "cuda_gpu_kern_sum", "Instances", "Name", KERNELS),
            ("CUDA API Summary", "cuda_api_sum", "Num Calls", "Name", CALLS),
            ("NVTX Range Summary", "nvtx_sum", "Instances", "Range", RANGES),
            ("CUDA GPU MemOps Summary (by Time)", "cuda_gpu_mem_time_sum", "Count", "Operation",
             COPIES)))


OLD_TEXT = "Exporting 2114 events: [=====100%]\n\nCUDA Kernel Statistics:\n\n" + columns(
    ["Time(%)", "Total Time (ns)", "Instances", "Average", "Name"],
    [[plain(s, 1), plain(t), plain(c), plain(t / c, 1), n] for s, t, c, n in KERNELS]) + \
    "\n\nCUDA API Statistics (nanoseconds)\n\n" + columns(
        ["Time(%)", "Total Time", "Calls", "Average", "Name"],
        [[plain(s, 1), plain(t), plain(c), plain(t / c, 1), n] for s, t, c, n in CALLS])

ALL = {**{name: (count, None, total) for _, total, count, name in KERNELS + COPIES},
       **{name: (count, total, None) for _, total, count, name in CALLS + RANGES}}


def csv_text(rows, form=plain, separator=",", end="\r\n", header=None, quoting=csv.QUOTE_MINIMAL):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(header or ["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Name"])
    for share, total, count, name in rows:
        writer.writerow([form(share, 1), form(total), form(count), form(total / count, 1), name])
    return out.getvalue()


class Checks(checks.Checks):
    @staticmethod
    def sums(report):
        return {row["name"]: (row["calls"], row["cpu_ns"], row["device_ns"])
                for row in report.rows("ops.summed")}

    def same(self, what, data, expected):
        report = self.read(data)
        self.expect(what, self.sums(report), expected)
        return report

    # ---- text ------------------------------------------------------------------------------------

    def text(self):
        for form in (english, plain, french, german):
            self.same(f"new text, {form.__name__}", new_text(form), ALL)
        self.same("old text", OLD_TEXT, {name: ALL[name] for _, _, _, name in KERNELS + CALLS})
        self.same("in a log", "".join(f"[rank0]: {line}\n" for line in new_text().splitlines()),
                  ALL)
        self.same("between lines of a program", "loading\n" + new_text() + "saved 3 files\n", ALL)
        self.same("twice", new_text() + new_text(), ALL)
        bars = "".join("|" + "|".join(line.split("  ")) + "|\n" if line.strip() else "\n"
                       for line in ("63.2  7211034880  4000  1.0  ampere_sgemm_128x64_tn",))
        self.same("a table with bars", "| Time (%) | Total Time (ns) | Instances | Avg (ns) | "
                  "Name |\n+---+---+---+---+---+\n" + bars,
                  {"ampere_sgemm_128x64_tn": (4000, None, 7211034880)})
        self.same("microseconds", table("x\n", "Instances", "Name", [(100.0, 5, 2, "k")],
                                        unit="us"), {"k": (2, None, 5000)})
        wrapped = columns(["Time (%)", "Total Time (ns)", "Instances", "Name"],
                          [["60.0", "6", "1", "void f<int,"], ["40.0", "4", "2", "g"]])
        at = wrapped.index("void f<int,") - wrapped.rindex("\n", 0, wrapped.index("void f<int,"))
        wrapped = wrapped.replace("void f<int,", "void f<int,\n" + " " * (at - 1) + " char>", 1)
        self.same("a name of two lines", wrapped, {"void f<int,char>": (1, None, 6),
                                                   "g": (2, None, 4)})
        sizes = self.read(columns(["Total (MB)", "Count", "Avg (MB)", "Operation"],
                                  [["4,063.983", "12", "338.665", "[CUDA memcpy HtoD]"]]) + "\n" +
                          new_text())
        self.expect("copied bytes", sizes.reported("[CUDA memcpy HtoD]", "copied_bytes"),
                    4_063_983_000)

    def prefixes(self):
        """What a file begins with gives sums of the whole file, or none."""
        for what, step, data in (("text", 31, new_text()), ("French", 37, new_text(french)),
                                 ("csv", 5, csv_text(KERNELS[:2])), ("rocprof", 3, csv_text(
                                     KERNELS[:2], header=["Percentage", "TotalDurationNs", "Calls",
                                                      "AverageNs", "Name"]))):
            path = self.scratch / "cut.txt"
            for n in range(0, len(data.encode()), step):
                path.write_bytes(data.encode()[:n])
                done = reports.call(self.program, "report", path)
                if done.returncode not in (0, 3):
                    self.expect(f"{what}, {n} bytes", done.returncode, 0)
                for name, row in (self.sums(reports.Report(done.stdout)).items()
                                  if done.returncode == 0 else ()):
                    self.expect(f"{what}, {n} bytes, {name}", row, ALL.get(name))

    # ---- CSV -------------------------------------------------------------------------------------

    def dialects(self):
        expected = {name: ALL[name] for _, _, _, name in KERNELS}
        text = csv_text(KERNELS)
        variants = {
            "semicolons and decimal commas": csv_text(KERNELS, german, ";"),
            "semicolons": csv_text(KERNELS, plain, ";"),
            "tabs": csv_text(KERNELS, english, "\t"),
            "thousands": csv_text(KERNELS, english),
            "French": csv_text(KERNELS, french),
            "narrow blanks": csv_text(KERNELS, lambda *a: french(*a).replace(" ", "\u202f")),
            "Latin-1": csv_text(KERNELS, lambda *a: french(*a).replace(" ", "\u00a0")).encode(
                "latin-1"),
            "all quoted": csv_text(KERNELS, quoting=csv.QUOTE_ALL),
            "carriage returns": text.replace("\r\n", "\r"),
            "byte order mark": "\ufeff" + text,
            "UTF-16": text.encode("utf-16"),
            "blanks after commas": text.replace(",", ", ") if '"' not in text else
                "\r\n".join(line.replace(',"', ', "') for line in text.split("\r\n")),
            "trailing separators": text.replace("\r\n", ",\r\n"),
            "a preamble": "sep=,\r\nProcessing [r.sqlite]\r\n\r\n" + text,
            "empty lines": text.replace("\r\n", "\r\n\r\n"),
            "the header again": text + text.split("\r\n", 1)[0] + "\r\n",
        }
        for what, data in variants.items():
            self.same(what, data, expected)
        lines = text.split("\r\n")
        self.same("a cell of two lines", "\r\n".join(
            [lines[0], lines[1].replace("ampere_sgemm", '"ampere\r\nsgemm') + '"', *lines[2:]]),
            {**{k: v for k, v in expected.items() if "sgemm" not in k},
             "ampere\nsgemm_128x64_tn": (4000, None, 7211034880)})
        damaged = self.read("\r\n".join(
            [*lines[:2], "1.0,5", "2.0,n/a,3,1.0,a", "3.0,inf,3,1.0,b", "4.0,-,3,1.0,c",
             "5.0,7,nan,1.0,d", '6.0,8,9,1.0,"e', "7,8,0,9,1.0,1.0,f", *lines[2:]]).encode() +
            b"\0\0\0\r\n8.0,6,5,1.0,n\0l\xe9\r\n")
        found = self.sums(damaged)
        self.expect("damaged rows", {name: found.get(name) for name in expected}, expected)
        self.expect("rows without a number", [name for name in "abcd" if name in found], [])
        self.expect("bytes that are no text", found.get("n\ufffdl\ufffd"), (5, None, 6))
        file = damaged.document["data_quality"]["files"][0]
        self.expect("rows kept and dropped", [file["events_kept"], file["events_dropped"]],
                    [5, 7])
        codes = {finding["code"] for finding in file["findings"]}
        self.expect("accounts", {"bad-record", "bad-number", "text-encoding"} <= codes, True)

    def unread(self):
        report = self.read("Name,Calls,TotalDurationNs,Color\nk,1,2,red\n")
        finding = report.document["data_quality"]["files"][0]["findings"][0]
        self.expect("unread columns", [finding["code"], finding["text"]],
                    ["unread-columns", "Columns that are not read: Color"])

    def rocprof(self):
        head = '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs"\n'
        self.same("kernels", head + '"Cijk_Ailk",4,1200,300.000000,75.00,290,310\n'
                  '"hipFooKernel(float*)",1,400,400.000000,25.00,400,400\n',
                  {"Cijk_Ailk": (4, None, 1200), "hipFooKernel(float*)": (1, None, 400)})
        self.same("calls", "Name,Calls,TotalDurationNs,AverageNs,Percentage\n"
                  "hipLaunchKernel,9,900,100,90\nhsa_queue_create,1,100,100,10\n",
                  {"hipLaunchKernel": (9, 900, None), "hsa_queue_create": (1, 100, None)})
        report = self.read(head + '"KERNEL_DISPATCH",5,1600,320,100.0,290,400\n')
        self.expect("a domain is no kernel", self.sums(report), {})
        self.expect("but a figure", report.reported("rocprof", "KERNEL_DISPATCH"), 1600)


    def iotop(self):
        text = "".join(
            f"21:14:{at:02} Total DISK READ :     {at}.50 M/s | Total DISK WRITE :      2.00 K/s\n"
            f"21:14:{at:02} Actual DISK READ:       {at}.25 M/s | Actual DISK WRITE:    0.00 B/s\n"
            "    TIME  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND\n"
            f"21:14:{at:02}  4711 be/4 me          {at}.00 M/s    1.00 K/s  0.00 % 93.10 % python\n"
            f"21:14:{at:02}    12 rt/0 root       512.00 K/s    3.00 K/s  0.00 %  0.00 % [jbd2]\n"
            for at in (1, 2, 3, 5))
        no_actual = "".join(line + "\n" for line in text.splitlines() if "Actual" not in line)
        rows = "".join(line + "\n" for line in text.splitlines() if "DISK" not in line)
        for what, data, read, written in (
                ("disks", text, [1.25, 2.25, 3.25, 5.25], [0] * 4),
                ("iotop-c", text.replace("Actual", "Current"), [1.25, 2.25, 3.25, 5.25], [0] * 4),
                ("processes", no_actual, [1.5, 2.5, 3.5, 5.5], [2] * 4),
                ("rows", rows, [1.5, 2.5, 3.5, 5.5], [4] * 4)):
            for cut in (len(data), len(data) - 1):
                report = self.read(data[:cut])
                for signal, values, unit in (("disk_read", read, 2**20),
                                             ("disk_written", written, 2**10)):
                    row = report.row("telemetry.by_rank", signal=signal)
                    self.expect(f"{what}, {signal}",
                                [row["samples"], row["device"], row["min"], row["max"],
                                 row["mean"]],
                                [4, None, min(values) * unit, max(values) * unit,
                                 sum(values) / 4 * unit])


def main():
    with tempfile.TemporaryDirectory() as scratch:
        all_checks = Checks(sys.argv[1], pathlib.Path(scratch))
        all_checks.text()
        all_checks.dialects()
        all_checks.unread()
        all_checks.rocprof()
        all_checks.iotop()
        all_checks.prefixes()
    return 1 if all_checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
