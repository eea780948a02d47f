# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows gates: exit codes, and files and lines for services that run jobs."""
import json
import re
import xml.etree.ElementTree as ElementTree

from support import ProcessTest, environment, main

# Names that would be a command in the log of a job, end a tag, a code span, a table or a string.
HOSTILE = ["::error::forged", "a\n::error::forged", "x ##[error]forged", "\r\n::set-env name=A::b",
           "</failure>]]>&amp;<b>", "\ufffe\uffff\x00\x1b[31m", "`a` | b\n\n# c", '"}], "x": [{"',
           "%0A::error::forged"]


def trace(factor, names=("kernel",)):
    events, at = [], 0
    for step in range(6):
        start = at
        for name in names:
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at,
                           "dur": 1000 * factor, "args": {"device": 0, "stream": 7}})
            at += 1000 * factor + 10
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                       "pid": 1, "tid": 1, "ts": start, "dur": at - start})
    return {"traceEvents": events}


def obeyed(log):
    """The commands that a runner takes from lines of a log: ::x:: at the start, ##[x] anywhere."""
    commands, stop = [], None
    for line in log.splitlines():
        text = line.lstrip()
        if stop:
            stop = None if text == f"::{stop}::" else stop
        elif text.startswith("::stop-commands::"):
            stop = text.removeprefix("::stop-commands::")
        elif text.startswith("::") or "##[" in line:
            commands.append(text)
    return commands


# What the schema of JUnit's results that services go by allows: elements, and their attributes.
JUNIT = {"testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
         "testsuite": {"name", "tests", "failures", "errors", "time", "disabled", "skipped",
                       "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
         "testcase": {"name", "classname", "assertions", "time", "status", "file", "line"},
         "failure": {"message", "type"}, "skipped": {"message", "type"}}


def check_tables(test, text):
    """Every row of a table of GitHub's Markdown has the cells of its head."""
    cells, rows = None, 0
    for line in text.splitlines():
        if not line.startswith("|"):
            cells = None
            continue
        n = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
        test.assertEqual(n, cells or n, line)
        test.assertTrue(line.endswith("|"), line)
        cells, rows = n, rows + 1
    return rows


class Gates(ProcessTest):
    def setUp(self):
        super().setUp()
        for side, factor in (("base", 1), ("new", 1.2)):
            for run, noise in enumerate((1, 1.01, 0.99)):
                self.write(f"{side}-{run}.json", trace(factor * noise, HOSTILE))
        self.runs = ([f"base-{i}.json" for i in range(3)] + ["--vs"] +
                     [f"new-{i}.json" for i in range(3)])

    def write(self, name, document):
        (self.folder / name).write_text(json.dumps(document), encoding="utf-8")

    def diff(self, code, *args, **options):
        return self.expect(code, "diff", *self.runs, "-o", "out", "--no-config", *args, **options)

    # ---- exit codes -----------------------------------------------------------------------

    def test_the_first_reason_counts(self):
        cut = json.dumps(trace(1.2, HOSTILE))[:-20]
        (self.folder / "new-0.json").write_text(cut, encoding="utf-8")
        lost, failed = ("--fail-on", "incomplete"), ("--fail-on", "regression>5%")
        self.diff(4, "-q", "--format=json", *lost)
        self.diff(4, "-q", "--format=json", "--strict")
        self.diff(1, "-q", "--format=json", *lost, *failed, "--fail-on", "inconclusive")
        self.runs = ["base-0.json", "new-0.json"]
        self.diff(4, "-q", "--format=json", *lost, *failed, "--fail-on", "inconclusive")
        self.diff(6, "-q", "--format=json", *failed, "--fail-on", "inconclusive")
        self.diff(0, "-q", "--format=json", *failed)

    # ---- lines for GitHub -----------------------------------------------------------------

    def lines(self, *args, github=None):
        env = {key: value for key, value in environment().items() if key != "GITHUB_ACTIONS"}
        if github:
            env["GITHUB_ACTIONS"] = github
        done = self.diff(1, "--fail-on", "total@kernel:*>5%", "--fail-on", "fps<3",
                         "--fail-on", "regression>90%", *args, env=env)
        return done.stdout.decode(), done.stderr.decode()

    def test_names_forge_no_commands(self):
        out, err = self.lines("--annotate=github")
        commands = obeyed(out)
        self.assertEqual([command.split(" ")[0] for command in commands],
                         ["::error", "::warning"])
        self.assertTrue(commands[0].startswith("::error title=gate total@kernel%3A*>5%25::Failed."))
        self.assertNotIn("forged", "".join(obeyed(err)))
        for command in commands:
            self.assertIsNone(re.search(r"[\r\n\x00-\x1f]", command))

    def test_every_name_forges_nothing(self):
        for name in HOSTILE:
            self.write("base-0.json", trace(1, [name]))
            self.write("new-0.json", trace(1.5, [name]))
            done = self.expect(1, "diff", "base-0.json", "new-0.json", "-o", "one", "--no-config",
                               "--fail-on", "total@kernel:*>5%", "--allow-single-run",
                               "--annotate=github")
            self.assertEqual(len(obeyed(done.stdout.decode())), 1, name)

    def test_they_are_printed_within_jobs(self):
        self.assertNotIn("::stop-commands::", self.lines()[0])
        self.assertNotIn("::stop-commands::", self.lines("--annotate=none", github="true")[0])
        first, second = (self.lines(github="true")[0].splitlines()[0] for _ in range(2))
        self.assertRegex(first, r"^::stop-commands::[0-9a-f]{32}$")
        self.assertNotEqual(first, second)  # no trace can know it

    def test_products_on_standard_output_stay_whole(self):
        done = self.expect(1, "diff", *self.runs, "--json", "--no-config", "--annotate=github",
                           "--fail-on", "regression>5%")
        json.loads(done.stdout)
        self.assertEqual(len(obeyed(done.stderr.decode())), 1)

    def test_commands_are_taken_up_after_a_failure(self):
        done = self.expect(3, "report", "missing.json", "-o", "out", "--annotate=github")
        stop = done.stdout.decode().splitlines()[0].removeprefix("::stop-commands::")
        self.assertEqual(done.stdout.decode().splitlines()[-1], f"::{stop}::")

    # ---- files ----------------------------------------------------------------------------

    def test_junit_is_xml(self):
        self.diff(1, "-q", "--format=json", "--title", HOSTILE[4], "--junit", "junit.xml",
                  "--fail-on", "total@kernel:*>5%", "--fail-on", "fps<3",
                  "--fail-on", "calls@kernel:</x>&\n*>5%", "--fail-on", "regression>90%")
        root = ElementTree.parse(self.folder / "junit.xml").getroot()
        suite, = root
        self.assertEqual(suite.get("name"), HOSTILE[4])
        for counted in (root, suite):
            self.assertEqual([counted.get(key) for key in ("tests", "failures", "errors")],
                             ["4", "1", "0"])
        self.assertEqual(suite.get("skipped"), "2")
        for element in root.iter():
            self.assertLessEqual(set(element.keys()), JUNIT[element.tag])
        cases = list(suite)
        self.assertEqual([[child.tag for child in case] for case in cases],
                         [["failure"], ["skipped"], ["skipped"], []])
        self.assertEqual(cases[2].get("name"), "calls@kernel:</x>&\\x0a*>5%")
        self.assertIn("20.0 %", cases[0][0].get("message"))

    def test_every_name_is_xml(self):
        for name in HOSTILE:
            self.write("base-0.json", trace(1, [name]))
            self.write("new-0.json", trace(1.5, [name]))
            self.expect(1, "diff", "base-0.json", "new-0.json", "-o", "one", "-q", "--format=json",
                        "--fail-on", "total@kernel:*>5%", "--allow-single-run",
                        "--junit", "junit.xml")
            root = ElementTree.parse(self.folder / "junit.xml").getroot()
            self.assertEqual(root.get("failures"), "1", name)

    def test_benchmark_files_have_their_shape(self):
        self.diff(0, "-q", "--format=json", "--bench-json", "b.json", "--bmf-json", "m.json")
        bench = json.loads((self.folder / "b.json").read_text(encoding="utf-8"))
        self.assertGreater(len(bench), 5)
        for entry in bench:
            self.assertTrue({"name", "unit", "value"} <= set(entry))
            self.assertIsInstance(entry["value"], (int, float))
        run = next(entry for entry in bench if entry["name"] == "traceanalyze/run_time")
        report = json.loads((self.folder / "out/diff.json").read_text(encoding="utf-8"))
        rows = {row[0]: row for section in report["sections"] for item in section["items"]
                if item["id"] == "diff.metrics" for row in item["rows"]}
        self.assertAlmostEqual(run["value"] * 1e6, rows["run_time"][3], delta=1)
        self.assertEqual(run["unit"], "ms")
        self.assertRegex(run["range"], r"^± [0-9.]+$")
        measures = json.loads((self.folder / "m.json").read_text(encoding="utf-8"))
        latency = measures["traceanalyze/run_time"]["latency"]
        self.assertEqual(latency["value"], rows["run_time"][3])
        self.assertLess(latency["lower_value"], latency["value"])
        self.assertGreater(latency["upper_value"], latency["value"])

    def test_figures_of_one_run(self):
        self.expect(0, "report", "base-0.json", "-o", "one", "-q", "--format=json", "--no-config",
                    "--bench-json", "b.json", "--bmf-json", "m.json", "--junit", "j.xml",
                    "--summary-md", "s.md")
        names = [entry["name"] for entry in json.loads((self.folder / "b.json").read_text())]
        self.assertIn("traceanalyze/step_time_p50_ns", names)
        self.assertNotIn("traceanalyze/gpu_busy_share", names)  # more is better
        self.assertIn("traceanalyze/gpu_busy_share",
                      json.loads((self.folder / "m.json").read_text()))
        self.assertEqual(ElementTree.parse(self.folder / "j.xml").getroot().get("tests"), "0")
        self.assertIn("Step time (p50 of 6)", (self.folder / "s.md").read_text(encoding="utf-8"))

    def test_summaries_are_added(self):
        path = self.folder / "summary.md"
        path.write_text("# Mine\n", encoding="utf-8")
        for n in (1, 2):
            self.diff(0, "-q", "--format=json", "--summary-md", path.name)
            text = path.read_text(encoding="utf-8")
            self.assertTrue(text.startswith("# Mine\n"))
            self.assertEqual(text.count("% more time"), n)
        self.assertGreater(check_tables(self, text), 40)
        outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
        self.assertNotIn("<b>", outside)
        self.assertNotIn("\n# c", text)

    def test_summaries_name_what_changed(self):
        """Kernels go by what people call them, and those that stay are left out."""
        long_ = "void at::native::vectorized_kernel<4, " + "a::b<c>, " * 40 + "int>(int, float*)"
        stays, base, new = "Cijk_Alik_Bljk_BBS_MT64x64x64_MI16x16x1_SN_LDSB1", "attn_fwd", \
            "void cutlass::device_kernel<flash::enable_sm90_or_later<f::FlashAttnFwdSm90<2>>>(P)"
        before, after = trace(1, [stays, base, long_]), trace(1, [stays, new, long_])
        for event in after["traceEvents"]:
            if event["name"] == stays:
                event["dur"] = 1000
            elif event["cat"] == "kernel":
                event["dur"] = 700
        self.write("base-0.json", before)
        self.write("new-0.json", after)
        self.expect(0, "diff", "base-0.json", "new-0.json", "-o", "one", "-q", "--format=json",
                    "--no-config", "--summary-md", "s.md")
        text = (self.folder / "s.md").read_text(encoding="utf-8")
        kernels = text[text.index("**Kernels**"):].splitlines()[4:]
        self.assertTrue(kernels[0].startswith("| `attn_fwd → FlashAttnFwdSm90<2>` | Changed |"))
        self.assertTrue(kernels[1].startswith("| `vectorized_kernel` | Changed |"))
        self.assertEqual(kernels[2], "")
        self.assertIn("\n| `attn_fwd → FlashAttnFwdSm90<2>` | Compute |", text)
        self.expect(1, "diff", "base-0.json", "new-0.json", "-o", "two", "-q", "--format=json",
                    "--no-config", "--summary-md", "gates.md", "--gate=point",
                    "--fail-on", "total@kernel:*vectorized*<99%")
        gates = (self.folder / "gates.md").read_text(encoding="utf-8")
        judged = gates[gates.index("**Gates**"):].splitlines()[4].split(" | ")[2]
        self.assertEqual(judged, "`vectorized_kernel`")

    def test_links_and_foreign_files_are_left_alone(self):
        target = self.folder / "target"
        target.write_text("mine", encoding="utf-8")
        (self.folder / "link.md").symlink_to(target)
        for option, name in (("--summary-md", "link.md"), ("--junit", "target"),
                             ("--bench-json", "target"), ("--bmf-json", "target"),
                             ("--save-baseline", "target")):
            done = self.diff(5, "-q", "--format=json", option, name)
            self.assertIn(b"TA-E005", done.stderr)
            self.assertEqual(target.read_text(encoding="utf-8"), "mine")

    def test_a_saved_baseline_judges_single_runs(self):
        self.diff(0, "-q", "--format=json", "--save-baseline", "noise.json")
        self.runs = ["base-0.json", "new-0.json"]
        gate = ("-q", "--format=json", "--fail-on", "regression>5%", "--fail-on", "inconclusive")
        self.diff(6, *gate)
        self.diff(1, *gate, "--noise-floor", "noise.json")
        self.runs = ["base-0.json", "base-1.json"]
        self.diff(6, *gate, "--noise-floor", "noise.json")
        text = (self.folder / "noise.json").read_text(encoding="utf-8")
        for broken in (text[:-30], text.replace("baseline/1", "baseline/2"),
                       re.sub(r'"spread": [0-9.e-]+', '"spread": -1', text)):
            (self.folder / "broken.json").write_text(broken, encoding="utf-8")
            done = self.diff(2, *gate, "--noise-floor", "broken.json")
            self.assertIn(b"Unusable noise floor", done.stderr)


if __name__ == "__main__":
    main()
