# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command has a page, and every option of every command stands in its page and its --help.

What the build wrote is what the program writes, whatever other makers of pages are around.
"""
import os
import pathlib
import re
import tempfile
import unittest

import manual


def plain(page):
    """A page without the marks of roff."""
    return re.sub(r"\\f[BIR]|\\&", "", page).replace("\\-", "-")


class Pages(unittest.TestCase):
    def test_each_command_has_a_page_with_all_its_options(self):
        pages = manual.printed("help", "--list").split()
        for command in manual.commands():
            self.assertIn(f"traceanalyze-{command}.1", pages)
            page = plain(manual.printed("help", "--man", command))
            for option in manual.options()[command]:
                self.assertRegex(page, rf"(?m)^\.TP\n(-\w, )?--{option}(=.*)?$",
                                 f"page of {command}")
        self.assertGreater(len(manual.options()["report"]), 30)

    def test_help_has_all_options(self):
        for command in manual.commands():
            text = manual.printed(command, "--help")
            for option in manual.options()[command]:
                self.assertRegex(text, rf"(?m)^  (-\w, |    )--{option}(=|  |$)",
                                 f"help of {command}")

    def test_each_page_has_its_sections(self):
        for name in manual.printed("help", "--list").split():
            page = manual.printed("help", "--man", name)
            section = name[-1]
            title = name[:-2].upper().replace("-", "\\-")
            self.assertIn(f'\n.TH "{title}" {section} ', page)
            wanted = ["NAME", "DESCRIPTION", "SEE ALSO"] + ["SYNOPSIS"] * (section == "1")
            for heading in wanted:
                self.assertEqual(page.count(f"\n.SH {heading}\n"), 1, f"{heading} of {name}")

    def test_texts_are_about_options_of_their_command(self):
        texts = manual.ROOT / "src/cli/manual"
        for command in manual.commands():
            text = (texts / f"traceanalyze-{command}.1.txt").read_text(encoding="utf-8")
            for option in re.findall(r"(?m)^# --(.*)$", text):
                self.assertIn(option, manual.options()[command], f"text of {command}")
        text = (texts / "traceanalyze.1.txt").read_text(encoding="utf-8")
        page = plain(manual.printed("help", "--man"))
        for option in re.findall(r"(?m)^# --(.*)$", text):
            self.assertIn(f"--{option}", page)

    def test_pages_have_names(self):
        self.assertEqual(manual.printed("help", "--man"),
                         manual.printed("help", "--man", "traceanalyze.1"))
        self.assertEqual(manual.printed("help", "--man", "config.5"),
                         manual.printed("help", "--man", "traceanalyze-config.5"))
        done = manual.run(manual.PROGRAM, "help", "--man", "reprot")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'report'?", done.stderr)

    def test_tables_stand_in_their_pages(self):
        main = plain(manual.printed("help", "--man"))
        for limit in re.findall(r"(?m)^  ([a-z-]+)=", manual.printed("help", "report")):
            self.assertIn(f"\n.TP\n{limit} (", main)
        for code in ("0", "1", "2", "3", "4", "5", "6", "70", "128+N"):
            self.assertIn(f"\n.TP\n{code}\n", main)
        plugins = plain(manual.printed("help", "--man", "plugins.7"))
        listed = manual.printed("plugins", "--no-config")
        for option in re.findall(r"(?m)^      ([a-z_]+\.[a-z_]+)=", listed):
            self.assertIn(f"\n.TP\n{option} (", plugins)


class Build(unittest.TestCase):
    """The files of the build, written anew with a scdoc at hand that fails, and with none."""

    def written(self, path):
        with tempfile.TemporaryDirectory() as folder:
            done = manual.run(os.environ["TA_CMAKE"], f"-DTA_PROGRAM={manual.PROGRAM}",
                              f"-DTA_OUTPUT={folder}", "-P", manual.ROOT / "cmake/TaManual.cmake",
                              env={**os.environ, "PATH": path})
            self.assertEqual(done.returncode, 0, done.stderr)
            return {str(p.relative_to(folder)): p.read_bytes()
                    for p in pathlib.Path(folder).rglob("*") if p.is_file()}

    def test_other_makers_of_pages_make_no_difference(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder, "scdoc")
            fake.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            fake.chmod(0o755)
            with_fake = self.written(f"{folder}:{os.environ['PATH']}")
        without = self.written("/nonexistent")
        self.assertEqual(with_fake, without)
        self.assertEqual({name.split("/")[0] for name in without}, {"man", "completions"})
        for name, content in without.items():
            self.assertEqual(content, (manual.BUILD / name).read_bytes(), name)


class CrossCompiling(unittest.TestCase):
    """A program for another machine cannot write its pages on this one."""

    def configure(self, folder, *options):
        done = manual.run(os.environ["TA_CMAKE"], "-S", manual.ROOT, "-B", folder,
                          "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=other",
                          f"-DCMAKE_C_COMPILER={os.environ['TA_CC']}", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_native_program_writes_them_or_their_lack_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("No manual pages and completions", self.configure(folder))
            self.assertNotIn("TaManual", self.rules(folder))
            self.assertEqual(self.configure(folder, f"-DTRACEANALYZE_NATIVE={manual.PROGRAM}"), "")
            self.assertIn(f"-DTA_PROGRAM={manual.PROGRAM}", self.rules(folder))

    def rules(self, folder):
        """What the build runs, by make or ninja."""
        return "".join(p.read_text(encoding="utf-8") for pattern in ("build.make", "build.ninja")
                       for p in pathlib.Path(folder).rglob(pattern))


if __name__ == "__main__":
    unittest.main()
