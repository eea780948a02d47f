# SPDX-License-Identifier: GPL-3.0-or-later
"""No network, no other programs, and no file written but those that were asked for."""
import os
import pathlib
import subprocess
import sys
import unittest

from support import IS_SANITIZED, PROGRAM, SAMPLE, TINY, ProcessTest, environment, main

SANDBOX, SPY = os.environ["TA_SANDBOX"], os.environ["TA_SPY"]
CANNOT = 77  # of the sandbox: the kernel has no filters

COMMANDS = (
    ("report", str(SAMPLE), "-o", "out", "--format", "html,json,pdf,csv,md,text"),
    ("report", str(TINY), "--json"),
    ("chart", "all", str(TINY), "-o", "out", "--format", "png,svg,pdf"),
    ("chart", "--list", str(TINY)),
    ("check", str(SAMPLE)),
    ("plugins",),
    ("schema", "report-1"),
    ("--help",),
    ("-v", "--version"),
)


class Sandbox(ProcessTest):
    def confined(self, *command, **changes):
        changes = {"ASAN_OPTIONS": "detect_leaks=0", **changes}
        done = subprocess.run([SANDBOX, *command], cwd=self.folder, capture_output=True,
                              env=environment(**changes), check=False, timeout=240)
        if done.returncode == CANNOT:
            self.skipTest(done.stderr.decode())
        return done

    def test_the_sandbox_bites(self):
        for script in ("import socket; socket.socket()",
                       "import subprocess; subprocess.run(['true'])",
                       "import os; os.fork()",
                       "import os; os.execv('/bin/true', ['true'])"):
            with self.subTest(script):
                done = self.confined(sys.executable, "-c", script)
                self.assertLess(done.returncode, 0)
        self.assertEqual(self.confined(sys.executable, "-c", "pass").returncode, 0)

    def test_no_network_and_no_programs(self):
        for command in COMMANDS:
            with self.subTest(command):
                done = self.confined(str(PROGRAM), *command)
                self.assertEqual(done.returncode, 0, done.stderr.decode())

    # ---- files ------------------------------------------------------------------------------

    def written(self, *command):
        """Files that a command opened for writing, made, renamed or removed."""
        log = self.folder / "spy.log"
        log.write_bytes(b"")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False,
                              timeout=240, env=environment(LD_PRELOAD=SPY, TA_SPY_LOG=str(log)))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        names = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return {pathlib.PurePath(os.path.normpath(self.folder / name)) for name in names}

    @unittest.skipIf(IS_SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_the_spy_sees(self):
        script = "open('a', 'w'); import os; os.mkdir('b'); os.rename('a', 'b/c'); open('b/c')"
        self.assertEqual(self.written(sys.executable, "-c", script),
                         {self.folder / "a", self.folder / "b", self.folder / "b/c"})

    @unittest.skipIf(IS_SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_no_file_elsewhere(self):
        for command in COMMANDS:
            with self.subTest(command):
                names = self.written(str(PROGRAM), *command)
                out = self.folder / "out"
                elsewhere = {n for n in names if n != out and out not in n.parents}
                self.assertEqual(elsewhere, set())
                self.assertEqual(bool(names), "-o" in command)


if __name__ == "__main__":
    main()
