# SPDX-License-Identifier: GPL-3.0-or-later
"""--memory-limit and --tmpdir: the same report from less memory, or a reason why not."""
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from support import IS_SANITIZED, PROGRAM, ProcessTest, contents, environment, main

EVENTS = 250000  # columns of 10 MB
LIMIT_MIB = 14


def write_trace(path):
    """Spans of two threads, the second behind the first in the file, with launches."""
    with open(path, "w", encoding="ascii") as out:
        out.write('{"traceEvents": [\n')
        for i in range(EVENTS):
            place = i % (EVENTS // 2)
            cat, name = (("cpu_op", "op"), ("cuda_runtime", "cudaLaunchKernel"),
                         ("kernel", "gemm"))[i % 3]
            out.write(f'{{"ph":"X","cat":"{cat}","name":"{name}{i % 5}","pid":0,'
                      f'"tid":{1 + i * 2 // EVENTS},"ts":{place}.5,"dur":{i % 7},'
                      f'"args":{{"correlation":{i // 3 + 1}}}}},\n')
        out.write('{"ph":"X","name":"last","pid":0,"tid":1,"ts":1,"dur":1}]}\n')


# Sanitizers need more memory by themselves.
@unittest.skipIf(IS_SANITIZED, "measures memory")
class Memory(ProcessTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="memory-")
        cls.addClassCleanup(folder.cleanup)
        cls.trace = pathlib.Path(folder.name, "trace.json")
        write_trace(cls.trace)

    def setUp(self):
        super().setUp()
        self.spill = self.folder / "spill"
        self.spill.mkdir()

    def command(self, *args):
        return ["report", str(self.trace), "-q", "-j", "1", "--format", "json,csv", *args]

    def limited(self, tmpdir, *args):
        return self.command("--memory-limit", f"{LIMIT_MIB}MiB", "--tmpdir", str(tmpdir), *args)

    def peak(self, *args):
        """Largest amount of memory without files behind it, in MiB, and the files in use then."""
        most, files = 0, set()
        with subprocess.Popen([PROGRAM, *args], env=environment(), cwd=self.folder) as running:
            while running.poll() is None:
                try:
                    with open(f"/proc/{running.pid}/statm", encoding="ascii") as statm:
                        pages = [int(n) for n in statm.read().split()[1:3]]
                    opened = f"/proc/{running.pid}/fd"
                    files |= {os.readlink(f"{opened}/{fd}") for fd in os.listdir(opened)}
                except (OSError, ValueError):
                    continue
                most = max(most, pages[0] - pages[1])
                time.sleep(0.002)
            self.assertEqual(running.returncode, 0)
        return most * resource.getpagesize() / 2**20, files

    def test_the_same_bytes(self):
        free, files = self.peak(*self.command("-o", "free"))
        self.assertFalse([name for name in files if "deleted" in name])
        limited, files = self.peak(*self.limited(self.spill, "-o", "limited"))
        self.assertEqual(contents(self.folder / "free"), contents(self.folder / "limited"))
        self.assertGreater(free, LIMIT_MIB)
        self.assertLess(limited, LIMIT_MIB * 1.1)
        self.assertTrue([name for name in files if name.startswith(str(self.spill))], files)
        self.assertEqual(contents(self.spill), {})

    def refuse(self, tmpdir, reason, **options):
        environ = environment(TMPDIR=str(tmpdir))
        done = self.expect(70, *self.command("--memory-limit", f"{LIMIT_MIB}MiB", "-o", "out"),
                           env=environ, **options)
        for part in ("TA-E070", "--memory-limit", "--tmpdir", f"limit={LIMIT_MIB << 20} bytes",
                     "needed=", f'folder="{tmpdir}"', f"reason={reason}"):
            self.assertIn(part.encode(), done.stderr)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(contents(self.spill), {})

    def test_no_such_folder(self):
        self.refuse(self.folder / "missing", "No such file or directory")
        self.refuse(self.trace, "Not a directory")

    def test_an_option_is_checked_at_once(self):
        for tmpdir, reason in ((self.folder / "missing", "No such file or directory"),
                               (self.trace, "Not a directory")):
            done = self.expect(2, *self.limited(tmpdir, "-o", "out"))
            self.assertIn(f"--tmpdir={tmpdir}: {reason}".encode(), done.stderr)
            self.assertFalse((self.folder / "out").exists())

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_folder_without_permission(self):
        self.spill.chmod(0o500)
        self.refuse(self.spill, "Permission denied")

    def test_no_place(self):
        self.refuse(self.spill, "File too large",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20)))

    def test_a_signal_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with subprocess.Popen([PROGRAM, *self.limited(self.spill, "-o", "out")],
                                  cwd=self.folder, env=environment()) as running:
                time.sleep(0.1)
                running.send_signal(number)
                running.wait(60)
            self.assertEqual(contents(self.spill), {})

    def test_a_limit_that_nothing_helps(self):
        done = self.expect(70, *self.command("--memory-limit", "1MiB", "-o", "out"))
        self.assertIn(b"more memory than --memory-limit allows", done.stderr)


if __name__ == "__main__":
    main()
