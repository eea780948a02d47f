# SPDX-License-Identifier: GPL-3.0-or-later
"""What the process tests share: the program, a scratch folder, and looking at what is in it."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TA_PROGRAM"]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ROOT / "tests/golden/inputs/tiny.json"
PAIR = ROOT / "tests/golden/inputs/pair"
SAMPLE = ROOT / "samples/video-4ranks"
IS_SANITIZED = os.environ.get("TA_SANITIZED") == "1"
EPOCH = "1700000000"


def environment(**changes):
    return {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, **changes}


def contents(folder):
    """SHA-256 of every file below a folder, links by what they point to."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = pathlib.Path(base, name)
            data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest()
    return found


class ProcessTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="process-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *args, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("cwd", self.folder)
        options.setdefault("env", environment())
        return subprocess.run([PROGRAM, *args], stderr=subprocess.PIPE, check=False, timeout=240,
                              **options)

    def expect(self, code, *args, **options):
        done = self.run_program(*args, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode("utf-8", "replace"))
        return done


def main():
    sys.stdout.flush()
    unittest.main()
