# SPDX-License-Identifier: GPL-3.0-or-later
"""How cmake/TaEmbed.cmake turns files into arrays: all bytes of most, style sheets and scripts
without comments and indentation.

usage: embed.py CMAKE
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EMBED = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "TaEmbed.cmake"


class Embed(unittest.TestCase):
    def embed(self, name, data):
        """The embedded bytes; None when the file is refused."""
        with tempfile.TemporaryDirectory() as folder:
            file, output = pathlib.Path(folder, name), pathlib.Path(folder, "out.c")
            file.write_bytes(data)
            done = subprocess.run([CMAKE, f"-DTA_FILE={file}", "-DTA_SYMBOL=text",
                                   f"-DTA_OUTPUT={output}", "-P", EMBED],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                self.assertIn("goes over several lines", " ".join(done.stderr.split()))
                return None
            code = output.read_text(encoding="ascii")
            return bytes.fromhex("".join(re.findall(r"\\x(..)", code)))

    def test_other_files_stay_as_they_are(self):
        data = b"  a: [1; 2] # \\ \"$x\" \xc3\xa4\n\n  /* b */\n" + bytes(range(1, 256))
        self.assertEqual(self.embed("a.yaml", data), data)
        self.assertEqual(self.embed("a.txt", b""), b"")

    def test_comments_and_indentation_go(self):
        self.assertEqual(
            self.embed("a.css", b"/* License */\n/* Two\n * lines **/\n\n/* three */\na,\nb {\n"
                                b"  /* why; [c] */\n\n  d: \"  \xc3\xa4\"; /* e */\n}\n"),
            b"a,\nb {\nd: \"  \xc3\xa4\"; /* e */\n}\n")
        self.assertEqual(
            self.embed("a.js", b"if (a) {\n\tb(`  ${c}`, /* d */ \"\\\\\", '/*')\n  [e] = f;\n}\n"),
            b"if (a) {\nb(`  ${c}`, /* d */ \"\\\\\", '/*')\n[e] = f;\n}\n")

    def test_texts_over_several_lines_are_refused(self):
        self.assertIsNone(self.embed("a.js", b"a = `b\n  c`;\n"))
        self.assertIsNone(self.embed("a.js", b"a = \"b\\\n  c\";\n"))


CMAKE = sys.argv.pop(1)
unittest.main()
