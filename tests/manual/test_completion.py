# SPDX-License-Identifier: GPL-3.0-or-later
"""Completions in their shells: all options of all commands, their values, files where files can be.

bash is asked for real. So is fish where it is installed; zsh reads its script (-n).
"""
import re
import shutil
import tempfile
import unittest
import pathlib

import manual

# Completes the words that it is given and prints what bash would offer, one per line.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_traceanalyze
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell):
    name = {"bash": "traceanalyze", "zsh": "_traceanalyze", "fish": "traceanalyze.fish"}[shell]
    return manual.BUILD / "completions" / shell / name


def words_of(command, argument):
    """Words of the help of a command behind an option: "--theme=auto|light|dark"."""
    head = re.search(rf"--{argument}=(\S+)", manual.printed(command, "--help"))
    return sorted(word for word in head[1].split("|") if word)


class Bash(unittest.TestCase):
    def setUp(self):
        if not shutil.which("bash"):
            self.skipTest("no bash")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "traces").mkdir()
        (self.folder / "two words.json").write_text("{}", encoding="utf-8")

    def complete(self, *words):
        done = manual.run("bash", "--norc", "-c", BASH, "bash", script("bash"), "traceanalyze",
                          *words, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return sorted(done.stdout.splitlines())

    def test_script_is_bash(self):
        done = manual.run("bash", "-n", script("bash"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_commands(self):
        self.assertEqual(self.complete(""), sorted(manual.commands()))
        self.assertEqual(self.complete("re"), ["reduce", "report"])
        self.assertEqual(self.complete("--jobs", "3", "--log-format", "=", "json", "rep"),
                         ["report"])
        self.assertEqual(self.complete("help", "me"), ["merge"])

    def test_all_options_of_all_commands(self):
        for command in manual.commands():
            self.assertEqual({word[2:] for word in self.complete(command, "--")},
                             manual.options()[command], command)
        self.assertIn("-o", self.complete("report", "-"))
        self.assertEqual(self.complete("report", "--", "--th"), [])

    def test_choices(self):
        for command, option in (("report", "theme"), ("chart", "theme"), ("merge", "align"),
                                ("diff", "gate"), ("check", "progress")):
            wanted = words_of(command, option)
            self.assertGreater(len(wanted), 1)
            for words in ((f"--{option}", ""), (f"--{option}", "="), (f"--{option}", "=", "")):
                self.assertEqual(self.complete(command, *words), wanted, (command, words))
            self.assertEqual(self.complete(command, f"--{option}={wanted[0][:-1]}"),
                             [f"--{option}={wanted[0]}"])

    def test_lists_and_settings(self):
        self.assertEqual(self.complete("report", "--format", "html,pd"), ["html,pdf"])
        self.assertEqual(self.complete("chart", "--format", ""), ["pdf", "png", "svg"])
        self.assertEqual(self.complete("report", "--set", "gpu_idle.t"), ["gpu_idle.threshold="])
        self.assertIn("depth=", self.complete("check", "--limit", ""))
        self.assertIn("straggler", self.complete("report", "--disable-rule", ""))
        self.assertIn("chrome_json", self.complete("check", "--input", "chrome"))

    def test_operands(self):
        everything = ["traces", "two words.json"]
        self.assertEqual(self.complete("report", ""), everything)
        self.assertEqual(self.complete("report", "-o", "out", "--top", "3", "tr"), ["traces"])
        self.assertEqual(self.complete("config", ""), ["init", "show", "validate"])
        self.assertEqual(self.complete("config", "validate", ""), everything)
        self.assertEqual(self.complete("completion", ""), ["bash", "fish", "zsh"])
        self.assertIn("report-1", self.complete("schema", ""))
        self.assertEqual(self.complete("chart", "a"), ["all"])
        self.assertEqual(self.complete("plugins", ""), [])

    def test_files_of_options(self):
        self.assertEqual(self.complete("report", "--tmpdir", ""), ["traces"])
        self.assertEqual(self.complete("report", "--rules", "two"), ["two words.json"])
        self.assertEqual(self.complete("diff", "--noise-floor", ""),
                         ["auto", "traces", "two words.json"])
        self.assertEqual(self.complete("report", "--title", ""), [])


class Zsh(unittest.TestCase):
    def test_all_options_of_all_commands(self):
        text = script("zsh").read_text(encoding="utf-8")
        for command in manual.commands():
            part = re.search(rf"(?ms)^        {command}\)\n(.*?)^            ;;\n", text)[1]
            found = re.findall(r"--([a-z-]+)=?\}?'?\[", part)
            self.assertEqual(set(found), manual.options()[command], command)
            self.assertEqual(len(found), len(set(found)), command)

    def test_script_is_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        done = manual.run("zsh", "-n", script("zsh"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Fish(unittest.TestCase):
    def test_all_options_of_all_commands(self):
        found = {command: set() for command in manual.commands()}
        for line in script("fish").read_text(encoding="utf-8").splitlines():
            option = re.search(r" -l (\S+)", line)
            where = re.search(r"__fish_seen_subcommand_from ([^']*)'", line)
            for command in (where[1].split() if where else manual.commands()) if option else ():
                found[command].add(option[1])
        self.assertEqual(found, manual.options())

    def test_completes(self):
        if not shutil.which("fish"):
            self.skipTest("no fish")
        self.assertEqual(manual.run("fish", "-n", script("fish")).returncode, 0)

        def complete(line):
            done = manual.run("fish", "--no-config", "-c",
                              f"source {script('fish')}; complete -C '{line}'")
            return sorted(row.split("\t")[0] for row in done.stdout.splitlines())

        self.assertEqual(complete("traceanalyze re"), ["reduce", "report"])
        self.assertEqual(complete("traceanalyze report --theme "), words_of("report", "theme"))
        self.assertEqual(complete("traceanalyze report --format html,pd"), ["html,pdf"])
        self.assertEqual(complete("traceanalyze completion "), ["bash", "fish", "zsh"])


class Shells(unittest.TestCase):
    def test_program_prints_what_is_installed(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertEqual(manual.printed("completion", shell),
                             script(shell).read_text(encoding="utf-8"))
        done = manual.run(manual.PROGRAM, "completion", "fisch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'fish'?", done.stderr)


if __name__ == "__main__":
    unittest.main()
