# SPDX-License-Identifier: GPL-3.0-or-later
"""The program from outside: exit codes, messages, where products go, signals."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()

EVENT = ('{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":5,'
         '"args":{"device":0,"stream":7}}')
GOOD = '{"traceEvents":[%s]}' % ",".join(EVENT % (10 * i) for i in range(20))


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("rank0.json", GOOD)
        self.write("cut.json", GOOD[:len(GOOD) // 2])

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_program(self, *args, **options):
        options.setdefault("stdout", subprocess.PIPE)
        environment = {**os.environ, **options.pop("environment", {})}
        folder = self.folder / options.pop("folder", ".")
        return subprocess.run([PROGRAM, *args], cwd=folder, stderr=subprocess.PIPE,
                              env=environment, text=True, check=False, timeout=60, **options)

    def expect(self, code, *args, says=(), **options):
        done = self.run_program(*args, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        return done

    def names(self, folder="."):
        return sorted(p.name for p in (self.folder / folder).iterdir())

    # ---- exit codes and messages --------------------------------------------------------

    def test_success_is_silent_on_stderr(self):
        done = self.expect(0, "report", "rank0.json")
        self.assertEqual(done.stderr, "")
        self.assertIn("traceanalyze-report", done.stdout)
        self.assertIn("report.json", self.names("traceanalyze-report"))

    def test_usage_errors(self):
        for args, text in [
                ((), "No command"),
                (("reprot", "rank0.json"), "did you mean 'report'?"),
                (("report", "rank0.json", "--fromat=json"), "did you mean --format?"),
                (("report", "rank0.json", "--format=jsn"), "did you mean 'json'?"),
                (("report", "rank0.json", "--limit=depth=1"), "depth=1"),
                (("report", "rank0.json", "--set=nothing.here=1"), "nothing"),
                (("report", "rank0.json", "--input=chrome"), "chrome"),
                (("report", "rank0.json", "-o", "-"), "--format"),
                (("report", "rank0.json", "-o", "run.htm"), "did you mean 'html'?"),
                (("report", "rank0.json", "-o", "run.xlsx"), "expected one of "),
                (("chart", "roofline", "rank0.json", "-o", "one.JPEG"), "one of png, svg, pdf"),
                (("chart", "nonsense", "rank0.json"), "nonsense"),
                (("schema", "nonsense"), "nonsense")]:
            with self.subTest(args=args):
                self.expect(2, *args, says=("traceanalyze: error TA-E002: ", text))
        self.assertEqual(self.names(), ["cut.json", "rank0.json"])

    def test_a_folder_is_called_by_its_name(self):
        (self.folder / "run7" / "steps").mkdir(parents=True)
        self.write("run7/steps/rank0.json", GOOD)
        for folder, operand in [("run7", "."), ("run7", "./"), (".", "run7/"),
                                ("run7/steps", "..")]:
            with self.subTest(operand=operand):
                done = self.expect(0, "report", operand, "--json", folder=folder)
                self.assertEqual(json.loads(done.stdout)["run"]["title"], "run7")

    def test_no_usable_input(self):
        self.write("page.json", "<html></html>")
        self.expect(3, "report", "page.json", says=("TA-E003", "page.json"))
        self.expect(3, "report", "missing.json", says=("TA-E003", "missing.json"))
        self.assertNotIn("traceanalyze-report", self.names())

    def test_strict_ends_with_4_and_writes_the_report(self):
        self.expect(0, "report", "cut.json", "--json", says=("[truncated]", "byte offset"))
        done = self.expect(4, "report", "cut.json", "--json", "--strict")
        self.assertTrue(json.loads(done.stdout))
        self.expect(4, "check", "cut.json", "--strict")
        self.expect(0, "check", "rank0.json", "--strict")

    def test_output_errors(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.expect(5, "report", "rank0.json", "--json", stdout=full, says=("TA-E005",))
            self.expect(5, "help", stdout=full, says=("TA-E005",))
        # Nothing is read for a place that nothing can go to.
        for place in ("rank0.json/x", "rank0.json/x.html"):
            self.expect(5, "report", "missing.json", "-o", place, says=("TA-E005", "rank0.json"))
        self.expect(5, "merge", "missing.json", "-o", "rank0.json/x.json", says=("TA-E005",))
        self.write("report.csv", "mine")
        self.expect(5, "report", "rank0.json", "-o", "report.csv/x")

    def test_messages_are_safe_for_a_terminal(self):
        self.write("\x1b[31mred\u202e.json", "nothing")
        done = self.expect(3, "report", "\x1b[31mred\u202e.json", says=("\\x1b[31mred\\u202e",))
        self.assertNotIn("\x1b", done.stderr)
        self.assertNotIn("\u202e", done.stderr)

    def test_warnings_are_bounded(self):
        for i in range(60):
            self.write(f"rank{i + 1}.json", GOOD[:len(GOOD) // 2])
        done = self.expect(0, "report", ".", "--json")
        self.assertRegex(done.stderr, "rank[0-9]+.json and 5[0-9] more: ")
        self.assertLess(len(done.stderr.splitlines()), 10)

    def test_log_as_json(self):
        done = self.expect(3, "report", "missing.json", "--log-format=json")
        line = json.loads(done.stderr)
        self.assertEqual((line["level"], line["code"]), ("error", "TA-E003"))

    # ---- where products go --------------------------------------------------------------

    def test_output_places(self):
        self.expect(0, "report", "rank0.json", "-q", "-o", "new/deep", "--format=json,csv")
        self.assertIn("report.json", self.names("new/deep"))
        self.expect(0, "report", "rank0.json", "-q", "-o", "one.html")
        self.assertTrue((self.folder / "one.html").is_file())
        self.expect(0, "report", "rank0.json", "-q", "-o", "one.json", "--format", "json")
        self.assertTrue((self.folder / "one.json").is_file())
        self.expect(0, "report", "rank0.json", "-q", "-o", "two.json", "--format=json,csv")
        self.expect(2, "report", "rank0.json", "-q", "-o", "other.json", "--format=html")
        self.expect(0, "report", "rank0.json", "-q", "-o", "two.json", "--format=html")
        self.assertTrue((self.folder / "two.json").is_dir())
        done = self.expect(0, "report", "rank0.json", "-o", "-", "--format", "json")
        one = json.loads((self.folder / "one.json").read_text())
        self.assertEqual(json.loads(done.stdout), one)

    def test_long_places_do_not_hide_what_is_wrong(self):
        for place in ("x" * 3000, "folder/" * 600 + "one.json", "ä" * 1500 + ".json"):
            self.expect(5, "report", "rank0.json", "-q", "-o", place,
                        says=["Cannot", place[:100], " … ", "reason=File name too long"])

    def test_a_cut_document_is_said_to_be_cut(self):
        document = ('{"timestamp": 1700000009.25, "timing_stats": {"load": {"count": 1, '
                    '"total": 0.25, "mean": 0.25, "min": 0.25, "max": 0.25}}, '
                    '"memory_snapshots": []}')
        for cut, state in ((0, "ok"), (3, "truncated")):
            (self.folder / "dump").mkdir(exist_ok=True)
            self.write("dump/report.json", document[:len(document) - cut])
            done = self.expect(0, "report", "--json", "-q", "dump")
            files = json.loads(done.stdout)["data_quality"]["files"]
            self.assertEqual([file["state"] for file in files], [state])

    def test_standard_input(self):
        with open(self.folder / "rank0.json", encoding="utf-8") as trace:
            done = self.expect(0, "report", "--json", "-", stdin=trace)
        self.assertEqual(json.loads(done.stdout)["data_quality"]["totals"]["events_kept"], 20)

    def test_charts(self):
        listed = self.expect(0, "chart", "--list", "rank0.json").stdout.split("\n")
        ids = [line.split()[0] for line in listed if line]
        self.assertTrue(ids)
        self.expect(0, "chart", ids[0], "rank0.json", "-o", "one.svg")
        self.assertIn("<svg", (self.folder / "one.svg").read_text())
        self.expect(0, "chart", ",".join(ids), "rank0.json", "-o", "all", "--format=png,pdf")
        self.assertEqual(len(self.names("all")), 2 * len(ids))

    def test_date_of_products(self):
        def report(epoch):
            return self.run_program("report", "rank0.json", "--format=html", "-o", "-",
                                    environment={"SOURCE_DATE_EPOCH": epoch})
        self.assertEqual(report("1700000000").stdout, report("1700000000").stdout)
        self.assertEqual(report("yesterday").returncode, 2)

    # ---- help ---------------------------------------------------------------------------

    def test_help_and_version(self):
        overview = self.expect(0, "--help").stdout
        for command in ("report", "chart", "check", "plugins", "schema"):
            self.assertIn(command, overview)
            text = self.expect(0, command, "--help").stdout
            self.assertEqual(text, self.expect(0, "help", command).stdout)
            self.assertIn(f"traceanalyze {command}", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertRegex(self.expect(0, "--version").stdout, r"^traceanalyze [0-9.]+\n$")
        self.assertIn("cairo", self.expect(0, "-v", "--version").stdout)

    def test_schemas_are_json(self):
        for name in self.expect(0, "schema").stdout.split():
            self.assertIn("$schema", json.loads(self.expect(0, "schema", name).stdout))

    # ---- signals ------------------------------------------------------------------------

    def wait_for_handler(self, running, number):
        """Until the program has seen to it that it hears of a signal."""
        status = pathlib.Path(f"/proc/{running.pid}/status")
        for _ in range(600):
            caught = re.search(r"SigCgt:\s*([0-9a-f]+)", status.read_text())
            if int(caught[1], 16) >> (number - 1) & 1:
                return
            time.sleep(0.1)
        self.fail("no handler after a minute")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                # Standard input stays open and empty: the run waits for it.
                with subprocess.Popen([PROGRAM, "report", "-"], cwd=self.folder,
                                      stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as running:
                    self.wait_for_handler(running, number)
                    running.send_signal(number)
                    self.assertEqual(running.wait(60), 128 + number)
        self.assertNotIn("traceanalyze-report", self.names())

    def test_a_closed_pipe_ends_quietly(self):
        read, write = os.pipe()
        os.close(read)
        done = self.run_program("report", "rank0.json", "--json", stdout=write)
        os.close(write)
        self.assertEqual(done.returncode, -signal.SIGPIPE)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
