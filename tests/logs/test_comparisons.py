#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs compared with logs, gates on their figures, and products made of them.

usage: test_comparisons.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import reports
from test_logs import COMFY, GIB, GUARD, NEW_ERROR, STAGES, TRACE, bar, recompilation

PROMPT = """got prompt
Requested to load Wan21
{load}
100%|##########| 20/20 [{elapsed}<00:00, {rate}s/it]
Prompt executed in {prompt} seconds
"""
SLOW = PROMPT.format(load="loaded partially; 4821.43 MB usable, 4050.79 MB loaded, 23200.62 MB "
                          "offloaded, 840.08 MB buffer reserved, lowvram patches: 370",
                     elapsed="04:52", rate="14.60", prompt="330.50")
FAST = PROMPT.format(load="loaded completely; 28100.00 MB usable, 27251.41 MB loaded, full load: "
                          "True", elapsed="00:48", rate=" 2.40", prompt="60.50")


def telemetry(clock, reason, temperature):
    return "timestamp, index, name, temperature.gpu, utilization.gpu [%], power.draw [W], " \
           "clocks.current.sm [MHz], clocks_throttle_reasons.active\n" + "".join(
               f"2025/09/30 21:14:{i:02d}.412, 0, NVIDIA GPU, {temperature}, 99 %, 300.00 W, "
               f"{clock} MHz, {reason}\n" for i in range(60))


class Checks:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.faults = program, scratch, 0

    def expect(self, what, found, expected):
        if found != expected:
            print(f"{what}: {found} instead of {expected}")
            self.faults += 1

    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text, encoding="utf-8")
        return path

    def diff(self, base, new):
        return reports.read(self.program, self.file("base.log", base), self.file("new.log", new),
                            command="diff")

    def says(self, what, base, new, *texts):
        """What the verdict of a comparison has in it, in this order."""
        verdict = self.diff(base, new).document["verdict"]["headline"]
        at = 0
        for text in texts:
            place = verdict.find(text, at)
            self.expect(f"{what}: {text!r} in {verdict!r}", place >= 0, True)
            at = max(place, at)

    # ---- comparisons -----------------------------------------------------------------------------

    def loops(self):
        slow, fast = bar("Denoising", [9] + [2.5] * 20), bar("Denoising", [4] + [1.25] * 20)
        self.says("faster", slow, fast, "An iteration of Denoising takes 1.25 s instead of 2.5 s",
                  "2.0 times faster", "one run each")
        self.says("slower", fast, slow, "takes 2.5 s instead of 1.25 s", "2.0 times as long")
        self.says("equal", slow, slow, "takes as long as before (2.50 s)")
        again = recompilation("forward in /a/b/model.py:12", [GUARD])
        self.says("recompilations", again * 3 + slow, fast, "faster",
                  "Recompilations fell from 3 to 0.")
        self.says("less than whole seconds tell", bar("", [1] * 10), bar("", [1.05] * 10),
                  "takes as long as before")
        row = self.diff(slow, bar("Denoising", [4] + [1.25] * 8)).row("diff.loops")
        self.expect("fewer iterations", [row[key] for key in (
            "loop", "base_count", "new_count", "base_ns", "new_ns", "base_first_ns",
            "new_first_ns")], ["Denoising", 21, 9, 2.5e9, 1.25e9, 9e9, 4e9])
        self.says("a speed that changed before", bar("", [9] + [2.3] * 10 + [7.9] * 19),
                  bar("", [9] + [2.3] * 29), "Before, it took 7.9", "from iteration 12 on")
        report = self.diff(bar("a", [2] * 9) + bar("b", [3] * 9), bar("b", [1] * 9))
        self.expect("loops of one run alone are no pair",
                    [row["loop"] for row in report.rows("diff.loops")], ["b"])
        report = self.diff(bar("old", [2] * 9), bar("new", [1] * 9))
        self.expect("the only loops are one", report.row("diff.loops")["loop"], "old → new")

    def prompts(self):
        self.says("offloading lost", SLOW, FAST,
                  "A prompt takes 60.5 s instead of 330 s: 5.5 times faster",
                  "An iteration of Wan21 takes 2.4 s instead of 14.6 s: 6.1 times faster",
                  "22.7 GiB of its weights are no longer offloaded")
        self.says("offloading gained", FAST, SLOW,
                  "takes 14.6 s instead of 2.4 s: 6.1 times as long",
                  "22.7 GiB of its weights are offloaded now")
        report = self.diff(COMFY, COMFY)
        self.expect("nothing changed", {row["delta_ns"] for row in report.rows("diff.loops")}, {0})
        self.expect("weights of both", [row[key] for row in report.rows("diff.loops")
                                        if row["loop"] == "Transformer"
                                        for key in ("base_offloaded_bytes", "new_offloaded_bytes")],
                    [9 * GIB, 9 * GIB])

    def errors(self):
        whole, failed = bar("", [2] * 20), bar("", [2] * 5) + TRACE + NEW_ERROR + "\n"
        self.says("an error came", whole, failed,
                  "The program runs out of memory now: an allocation of 2.50 GiB fails")
        self.says("an error went", failed, whole,
                  "The program no longer runs out of memory: an allocation of 2.50 GiB failed")
        self.says("both", failed, failed, "Both runs are out of memory")

    def others(self):
        self.says("stages", STAGES, STAGES.replace("26.7157", "52.1"), ": 95.0 % more time",
                  "DenoisingStage, which takes 52.1 s instead of 26.7 s")
        hot, cool = telemetry(1200, "0x0000000000000020", 88), telemetry(1980, "0x0", 60)
        self.says("heat", cool, hot, "The devices are slowed now", "GPU thermal slowdown",
                  "The mean GPU clock is 1\u202f200 MHz instead of 1\u202f980 MHz")
        row = self.diff(cool, hot).row("diff.telemetry", signal="gpu_clock")
        self.expect("clocks", [row["base"], row["new"]], [1.98e9, 1.2e9])
        self.says("nothing in common", SLOW, cool, "The runs cannot be compared")

    # ---- gates -----------------------------------------------------------------------------------

    def gate(self, expression, code, *words):
        done = subprocess.run([self.program, "--no-config", *words[:1], "-q", "--json", "--fail-on",
                               expression, *map(str, words[1:])], capture_output=True, check=False)
        self.expect(f"{words[0]} --fail-on {expression!r}", done.returncode, code)
        return done.stderr.decode()

    def gates(self):
        base = self.file("base.log", bar("Denoising", [4] + [1.25] * 20))
        new = self.file("new.log", bar("Denoising", [9] + [2.5] * 20) + TRACE + NEW_ERROR + "\n")
        slow = self.file("slow.log", SLOW)
        for expression, code in (("later_iteration_time>2s", 1), ("later_iteration_time>3s", 0),
                                 ("later_iteration_time@Denoising>2s", 1),
                                 ("first_iteration_time<=9s", 1), ("failed_allocations>0", 1),
                                 ("finding>=high", 1), ("iteration_tme>2s", 2),
                                 ("iteration_time@Denoisng>2s", 2), ("regression>5%", 2)):
            self.gate(expression, code, "report", new)
        self.gate("offloaded_bytes>1GiB", 1, "report", slow)
        self.gate("iteration_time@prompt>5min", 1, "report", slow)
        for name, near in (("iteration_tme>2s", "iteration_time"),
                           ("iteration_time@Denoisng>2s", "iteration_time@Denoising")):
            said = self.gate(name, 2, "report", new)
            self.expect(f"a near name of {name}: {said}", near in said, True)
        for expression, one, several in (("iteration_time>5%", 0, 1), ("regression>5%", 0, 1)):
            self.gate(expression, one, "diff", base, new) # one run each is no evidence
            self.gate(expression, several, "diff", "--gate=point", base, new)
        self.gate("iteration_time>5%", 0, "diff", "--gate=point", new, base)
        self.gate("inconclusive", 6, "diff", base, new)

    # ---- products --------------------------------------------------------------------------------

    def products(self):
        logs = [self.file("slow.log", SLOW + bar("Denoising", [9] + [2.5] * 20)),
                self.file("gpu.csv", telemetry(1200, "0x0000000000000020", 88))]
        for log in logs:
            out = self.scratch / f"out-{log.name}"
            done = subprocess.run([self.program, "--no-config", "report", "-q", "-o", out,
                                   "--format", "json,csv,md,html,pdf", log],
                                  capture_output=True, check=False)
            self.expect(f"products of {log.name}: {done.stderr}", done.returncode, 0)
            json.loads((out / "report.json").read_text(encoding="utf-8"))
            for name in ("report.html", "report.md", "tables"):
                self.expect(f"{name} of {log.name}", (out / name).exists(), True)
            ids = subprocess.run([self.program, "--no-config", "chart", "--list", log],
                                 capture_output=True, check=False, text=True)
            self.expect(f"charts of {log.name}: {ids.stderr}", ids.returncode, 0)
            saved = self.scratch / f"{log.name}.tas.json.gz"
            subprocess.run([self.program, "--no-config", "reduce", "-q", "-o", saved, log],
                           check=True)
            self.expect(f"a summary of {log.name} has the same",
                        reports.read(self.program, saved).tables.keys(),
                        reports.read(self.program, log).tables.keys())
            merged = subprocess.run([self.program, "--no-config", "merge", "-q", "-o",
                                     self.scratch / "merged.json.gz", log],
                                    capture_output=True, check=False, text=True)
            self.expect(f"logs are not merged: {merged.stderr}", merged.returncode, 3)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(sys.argv[1], pathlib.Path(scratch))
        for part in (checks.loops, checks.prompts, checks.errors, checks.others, checks.gates,
                     checks.products):
            part()
    print("logs compared" if not checks.faults else f"{checks.faults} faults")
    return checks.faults > 0


if __name__ == "__main__":
    sys.exit(main())
