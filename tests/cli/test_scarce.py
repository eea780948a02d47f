# SPDX-License-Identifier: GPL-3.0-or-later
"""Little address space (`ulimit -v`), and inputs of very many ranks, devices and names: what a run
takes is in proportion to what it reads."""
import json
import os
import resource
import subprocess
import unittest

from support import IS_SANITIZED, PROGRAM, SAMPLE, ProcessTest, contents, environment, main

SPACE = 1000000 << 10  # `ulimit -v 1000000`


def kernel(name, start_us, device):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": 7, "ts": start_us,
            "dur": 1, "args": {"device": device, "stream": 7}}


def write_trace(path, events, rank=0, world_size=1):
    document = {"distributedInfo": {"rank": rank, "world_size": world_size}, "traceEvents": events}
    path.write_text(json.dumps(document), encoding="ascii")


def peak_of(folder, *args):
    """Largest resident memory of a run that ends well, in MiB."""
    with subprocess.Popen([PROGRAM, *args], cwd=folder, env=environment()) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        raise AssertionError(f"{args}: exit code {running.returncode}")
    return usage.ru_maxrss / 1024


# Sanitizers reserve terabytes by themselves.
@unittest.skipIf(IS_SANITIZED, "limits and measures memory")
class AddressSpace(ProcessTest):
    COMMANDS = {
        "report": ("report", str(SAMPLE), "-q", "--format", "html,json,csv,pdf"),
        "diff": ("diff", str(SAMPLE), f"{SAMPLE}-optimized", "-q"),
        "chart": ("chart", "gpu-utilization", str(SAMPLE), "-q", "--format", "png"),
    }

    def test_the_same_bytes_in_little_space(self):
        def before():
            resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
        for name, command in self.COMMANDS.items():
            free = self.folder / f"{name}-free"
            self.expect(0, *command, "-o", str(free))
            for jobs in ("1", "8", "64"):
                out = self.folder / f"{name}-{jobs}"
                self.expect(0, *command, "-j", jobs, "-o", str(out), preexec_fn=before)
                if free.is_dir():
                    self.assertEqual(contents(out), contents(free))
                else:
                    self.assertEqual(out.read_bytes(), free.read_bytes())


@unittest.skipIf(IS_SANITIZED, "limits and measures memory")
class ManyOfAKind(ProcessTest):
    """What is kept for each rank or device is of its own rows, not of those of all."""

    def assert_in_proportion(self, base, new):
        report = peak_of(self.folder, "report", str(base), "-q", "-o", "report")
        diff = peak_of(self.folder, "diff", str(base), str(new), "-q", "-o", "diff")
        self.assertLess(diff, 3 * report, "MiB of diff against those of report")
        return report

    def test_ranks(self):
        ranks = 2048
        for side in ("base", "new"):
            (self.folder / side).mkdir()
            for rank in range(ranks):
                events = [kernel(f"kernel{i}", 10 * i + (side == "new"), 0) for i in range(8)]
                write_trace(self.folder / side / f"rank{rank}.json", events, rank, ranks)
        self.assert_in_proportion(self.folder / "base", self.folder / "new")

    def devices(self, name, n, more=0):
        path = self.folder / name
        write_trace(path, [kernel(f"kernel{i % 9}", 2 * i + more, i) for i in range(n)])
        return path

    def test_devices(self):
        few = peak_of(self.folder, "report", str(self.devices("few.json", 2500)), "-q", "-o", "few")
        many = self.assert_in_proportion(self.devices("base.json", 10000),
                                         self.devices("new.json", 10000, 1))
        self.assertLess(many, 4.5 * few)


if __name__ == "__main__":
    main()
