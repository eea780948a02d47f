# SPDX-License-Identifier: GPL-3.0-or-later
"""A report that is stopped at any moment leaves the old products or the new ones, whole."""
import random
import shutil
import signal
import subprocess
import time

from support import IS_SANITIZED, PROGRAM, SAMPLE, ProcessTest, contents, environment, main

MOMENTS = 4 if IS_SANITIZED else 20  # per signal
STOP_S = 20  # a run that takes longer hangs: it gives up after a second
FORMATS = "html,json,pdf,csv,md"


class Signals(ProcessTest):
    def command(self, title, out):
        return ["report", str(SAMPLE), "-q", "-j", "2", "--format", FORMATS, "--title", title,
                "-o", str(out)]

    def setUp(self):
        super().setUp()
        self.expect(0, *self.command("old", self.folder / "old"))
        start = time.monotonic()
        self.expect(0, *self.command("new", self.folder / "new"))
        self.duration = time.monotonic() - start
        self.old, self.new = contents(self.folder / "old"), contents(self.folder / "new")
        self.assertEqual(self.old.keys(), self.new.keys())

    def stop_after(self, delay, number, out):
        """Exit code of a report over `out` that gets a signal, and how long it took to end."""
        with subprocess.Popen([PROGRAM, *self.command("new", out)], env=environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            try:
                running.wait(delay)
            except subprocess.TimeoutExpired:
                pass
            sent = time.monotonic()
            running.send_signal(number)
            code = running.wait(60)
            return code, time.monotonic() - sent

    def check_products(self, out, code, number):
        found = contents(out)
        left = {name for name in found if name not in self.old}
        if number == signal.SIGKILL:
            # Nothing can tidy up: temporary files may stay, and some products may be new.
            self.assertFalse({name for name in left if "/." not in f"/{name}"}, left)
            for name in self.old:
                self.assertIn(found.get(name), (self.old[name], self.new[name]), name)
            return
        self.assertEqual(left, set())
        wanted = "new" if code == 0 else "old"
        self.assertEqual(found, getattr(self, wanted), self.differences(out, self.folder / wanted))

    @staticmethod
    def differences(out, wanted):
        """Where files of the same name begin to differ, with the bytes there."""
        said = []
        for path in sorted(wanted.rglob("*")):
            other = out / path.relative_to(wanted)
            if not path.is_file() or not other.is_file():
                continue
            ours, theirs = other.read_bytes(), path.read_bytes()
            if ours != theirs:
                at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]),
                          min(len(ours), len(theirs)))
                start = max(0, at - 40)
                said.append(f"{path.name}: {len(ours)} and {len(theirs)} bytes, from {at} on "
                            f"{ours[start:at + 80]!r} and {theirs[start:at + 80]!r}")
        return "\n".join(said)

    def check_moments(self, number):
        moments = random.Random(number)
        stopped = 0
        for _ in range(MOMENTS):
            out = self.folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(self.folder / "old", out)
            delay = moments.uniform(0, 1.1 * self.duration)
            with self.subTest(delay=f"{delay / self.duration:.2f} of a whole run"):
                code, took = self.stop_after(delay, number, out)
                ends = (0, -number, 128 + number)  # the handlers may not be there yet
                self.assertIn(code, ends)
                self.assertLess(took, STOP_S)
                self.check_products(out, code, number)
                stopped += code != 0
        self.assertGreater(stopped, 0, "every run had ended before its signal")

    def test_interrupt(self):
        self.check_moments(signal.SIGINT)

    def test_terminate(self):
        self.check_moments(signal.SIGTERM)

    def test_kill(self):
        self.check_moments(signal.SIGKILL)


if __name__ == "__main__":
    main()
