# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration from outside: which layer wins, what `config` says, what the schema allows."""
import json
import os
import re

import support
from support import ProcessTest, TINY

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None


RULE = {"table": "ops.by_name", "column": "calls", "threshold": 5}


class Config(ProcessTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        (self.folder / "work").mkdir()
        self.layers = {"user": self.home / ".config/traceanalyze/config.yaml",
                       "here": self.folder / "work/traceanalyze.yaml",
                       "named": self.folder / "named.yaml"}
        for path in self.layers.values():
            path.parent.mkdir(parents=True, exist_ok=True)

    def run_program(self, *args, **options):
        kept = {k: v for k, v in support.environment().items()
                if not k.startswith(("TRACEANALYZE_", "XDG_"))}
        kept.update(HOME=str(self.home), **options.pop("variables", {}))
        return super().run_program(*args, cwd=self.folder / "work", env=kept, **options)

    def write(self, layer, text):
        self.layers[layer].write_text(text, encoding="utf-8")

    def settings(self, *args, **options):
        done = self.expect(0, "config", "show", "--json", *args, **options)
        rows = json.loads(done.stdout)["settings"]
        found = {row["key"]: row for row in rows}
        self.assertEqual(len(found), len(rows), "a key stands twice")
        return found

    def refuse(self, text, *args, says=(), **options):
        done = self.expect(2, *args, **options)
        for part in (text, *says):
            self.assertIn(part, done.stderr.decode())

    # ---- layers -------------------------------------------------------------------------------

    def top(self, *args, **options):
        row = self.settings(*args, **options)["analysis.top"]
        return int(row["value"]), row["origin"]

    def test_each_layer_beats_those_before(self):
        self.assertEqual(self.top(), (15, "default"))
        for number, layer in enumerate(self.layers, 1):
            self.write(layer, f"traceanalyze:\n  analysis: {{top: {number}}}\n")
        named = ("--config", "../named.yaml")
        self.assertEqual(self.top(), (2, "traceanalyze.yaml:2:19"))
        self.assertEqual(self.top(*named), (3, "../named.yaml:2:19"))
        self.assertEqual(self.top(variables={"TRACEANALYZE_CONFIG": "../named.yaml"})[0], 3)
        variables = {"TRACEANALYZE_ANALYSIS_TOP": "4"}
        self.assertEqual(self.top(*named, variables=variables), (4, "TRACEANALYZE_ANALYSIS_TOP"))
        self.assertEqual(self.top("--no-config", variables=variables), (15, "default"))
        self.layers["here"].unlink()
        value, origin = self.top()
        self.assertEqual((value, origin), (1, f"{self.layers['user']}:2:19"))
        moved = self.folder / "xdg"
        (moved / "traceanalyze").mkdir(parents=True)
        self.layers["user"].rename(moved / "traceanalyze/config.yaml")
        self.assertEqual(self.top()[0], 15)
        self.assertEqual(self.top(variables={"XDG_CONFIG_HOME": str(moved)})[0], 1)
        self.assertEqual(self.top(variables={"XDG_CONFIG_HOME": "../xdg"})[0], 15)

    def test_the_command_line_wins(self):
        self.write("here", "traceanalyze:\n  plugins: {gpu_idle: {threshold: 0.3}}\n"
                           "  limits: {depth: 100}\n")
        variables = {"TRACEANALYZE_PLUGINS_GPU_IDLE_THRESHOLD": "0.4"}
        key = "plugins.gpu_idle.threshold"
        self.assertEqual(self.settings()[key]["value"], "0.3")
        self.assertEqual(self.settings(variables=variables)[key]["value"], "0.4")
        row = self.settings("--set", "gpu_idle.threshold=50%", variables=variables)[key]
        self.assertEqual((row["value"], row["origin"]), ("0.5", "command line"))
        row = self.settings("--limit", "depth=200")["limits.depth"]
        self.assertEqual((row["value"], row["origin"]), ("200", "command line"))
        self.assertEqual(self.settings(variables={"TRACEANALYZE_LIMITS_DEPTH": "300"})
                         ["limits.depth"]["value"], "300")

    def test_a_flag_can_be_taken_back(self):
        self.write("user", "traceanalyze: {strict: true}\n")
        self.assertEqual(self.settings()["strict"]["value"], "true")
        self.write("here", "traceanalyze: {strict: false}\n")
        self.assertEqual(self.settings()["strict"]["value"], "false")
        cut = self.folder / "cut.json"
        cut.write_bytes(TINY.read_bytes()[:-40])
        self.expect(0, "check", cut)
        self.layers["here"].unlink()
        self.expect(4, "check", cut)

    # ---- what it does to a run ----------------------------------------------------------------

    def products(self, place):
        found = sorted(p.relative_to(self.folder / "work/" / place).as_posix()
                       for p in (self.folder / "work" / place).rglob("*") if p.is_file())
        return [name for name in found if not name.startswith("tables/")]

    def test_formats_are_defaults(self):
        self.write("here", "traceanalyze:\n  output: {formats: [md, json]}\n  quiet: true\n")
        self.assertEqual(self.expect(0, "report", TINY, "-o", "a").stdout, b"")
        self.assertEqual(self.products("a"), ["report.json", "report.md"])
        self.expect(0, "report", TINY, "-o", "b", "--format", "text")
        self.assertEqual(self.products("b"), ["report.txt"])
        self.expect(2, "report", TINY, "-o", "c.csv", "--format", "json")
        self.expect(0, "report", TINY, "-o", "c.csv/", "--format", "json")
        self.assertEqual(self.products("c.csv"), ["report.json"])
        self.expect(0, "report", TINY, "-o", "d.html")
        self.assertTrue((self.folder / "work/d.html").is_file())
        done = self.expect(0, "report", TINY, "--json")
        self.assertEqual(json.loads(done.stdout)["schema"], "traceanalyze.report/1")

    def test_a_place_from_a_named_file(self):
        self.write("named", "traceanalyze: {output: {dir: there, formats: json}}\n")
        self.expect(0, "report", TINY, "--config", "../named.yaml")
        self.assertEqual(self.products("there"), ["report.json"])
        done = self.expect(0, "report", TINY, "--config", "../named.yaml", "--json")
        self.assertTrue(json.loads(done.stdout))

    def tables(self, *args):
        report = json.loads(self.expect(0, "report", TINY, "--json", *args).stdout)
        return {item["id"] for section in report["sections"] for item in section["items"]}

    def test_what_is_turned_off_is_not_there(self):
        self.assertIn("gpu_time.by_rank", self.tables())
        self.assertIn("gpu-idle", " ".join(self.tables()).replace("_", "-"))
        self.write("named", "traceanalyze: {plugins: {gpu_time: {enabled: false}}}\n")
        without = self.tables("--config", "../named.yaml")
        self.assertNotIn("gpu_time.by_rank", without)
        self.assertIn("kernels.by_name", without)
        self.assertNotIn("gpu_time.by_rank", self.tables("--set", "gpu_time.enabled=false"))
        self.assertFalse([i for i in self.tables("--set", "gpu_idle.enabled=false")
                          if i.startswith("gpu-idle")])

    def test_a_profilers_block(self):
        self.write("named", "profiling:\n  enabled: true\n  report_format: json\n"
                            "  output_dir: ./reports\n  profile_diffusion_steps: false\n"
                            "  profile_model_parameters: false\n  display_interval: 3.0\n")
        found = self.settings("--config", "../named.yaml")
        self.assertEqual(found["output.dir"]["value"], "./reports")
        self.assertEqual(found["output.formats"]["value"], "json")
        for key in ("plugins.diffusion.steps", "plugins.models.enabled"):
            if key in found:
                self.assertEqual(found[key]["value"], "false")
                self.assertTrue(found[key]["origin"].startswith("../named.yaml:"))
        done = self.expect(0, "report", TINY, "--config", "../named.yaml", "-v")
        self.assertIn("display_interval is about recording", done.stderr.decode())
        self.assertEqual(self.products("reports"), ["report.json"])

    # ---- what is refused ----------------------------------------------------------------------

    def test_the_working_folder_is_not_trusted(self):
        for text in ("traceanalyze: {output: {dir: x}}", "traceanalyze: {plugin_path: .}",
                     "traceanalyze: {tmpdir: x}", "profiling: {output_dir: x}"):
            self.write("here", text + "\n")
            with self.subTest(text):
                self.refuse("traceanalyze.yaml:1:", "report", TINY, says=("names a place",))
                self.refuse("names a place", "config", "validate")
                self.refuse("names a place", "config", "validate", "./traceanalyze.yaml")
                self.expect(0, "report", TINY, "--no-config", "-q", "-o", "x.json")
        self.layers["here"].unlink()
        os.mkfifo(self.layers["here"])
        self.refuse("no regular file", "report", TINY)

    def test_errors_have_a_place(self):
        for text, place, says in (
                ("traceanalyze:\n  jbos: 3\n", "2:3", "did you mean 'jobs'?"),
                ("traceanalyze:\n  output: {formats: [htm]}\n", "2:21", "did you mean 'html'?"),
                ("traceanalyze:\n  analysis: {memory_limit: much}\n", "2:28", "8GiB"),
                ("traceanalyze:\n  limits: {dept: 9}\n", "2:12", "Unknown limit"),
                ("traceanalyze:\n  input: {plugin: chrom_json}\n", "2:19", "chrome_json"),
                ("traceanalyze:\n  plugins:\n    gpu_idl: {threshold: 1}\n", "3:5", "gpu_idle"),
                ("traceanalyze:\n  plugins: {gpu_idle: {threshold: 7}}\n", "2:24", "from 0 to 1")):
            with self.subTest(text):
                self.write("named", text)
                self.refuse(f"../named.yaml:{place}: ", "report", TINY, "--config",
                            "../named.yaml", says=(says,))
                self.refuse(f"../named.yaml:{place}: ", "config", "validate", "../named.yaml",
                            says=(says,))
        self.refuse("missing.yaml", "report", TINY, "--config", "missing.yaml")
        self.refuse("TRACEANALYZE_JOBS: ", "report", TINY, variables={"TRACEANALYZE_JOBS": "0"})
        self.refuse("TRACEANALYZE_STRICT", "report", TINY, variables={"TRACEANALYZE_STRICT": "y"})

    def test_a_large_file_is_refused(self):
        self.write("named", "# " + "x" * (1 << 20) + "\n")
        self.refuse("config-size", "config", "validate", "../named.yaml")
        self.expect(0, "config", "validate", "../named.yaml", "--limit", "config-size=2MiB")

    def test_a_broken_configuration_stops_no_help(self):
        self.write("here", "{\n")
        for args in (("help",), ("--version",), ("schema",), ("report", "--help"),
                     ("config", "init", "-")):
            self.expect(0, *args)

    # ---- init and the schema ------------------------------------------------------------------

    def test_a_first_configuration_changes_nothing(self):
        before = self.settings()
        self.expect(0, "config", "init")
        self.expect(0, "config", "validate")
        self.assertEqual(self.settings(), before)
        self.expect(2, "config", "init")
        text = self.layers["here"].read_text(encoding="utf-8")
        self.assertEqual(self.expect(0, "config", "init", "-").stdout.decode(), text)
        settings = re.sub(r"(?m)^( *)#([a-z])", r"\1\2", text)
        self.assertNotEqual(settings, text)
        self.write("here", settings)
        self.expect(0, "config", "validate")
        after = self.settings()
        self.assertEqual({key: row["value"] for key, row in after.items()},
                         {key: row["value"] for key, row in before.items()})
        changed = [key for key, row in after.items() if row["origin"] != "default"]
        unset = [key for key, row in before.items() if row["value"] is None]
        self.assertEqual(sorted(changed + unset), sorted(before))

    def schema(self):
        return json.loads(self.expect(0, "schema", "config-1").stdout)

    def test_the_schema_has_every_key(self):
        def keys(properties, prefix=""):
            for name, value in properties.items():
                if name in ("plugins", "rules"):
                    continue
                below = value.get("properties")
                yield from keys(below, f"{prefix}{name}.") if below else (prefix + name,)
        own = self.schema()["properties"]["traceanalyze"]["properties"]
        shown = {key for key in self.settings() if not key.startswith("plugins.")}
        self.assertEqual(set(keys(own)), shown)

    def test_the_schema_says_what_the_program_does(self):
        if not Draft202012Validator:
            self.skipTest("python3-jsonschema is not installed")
        schema = self.schema()
        schema.pop("$id")  # a relative one, which some versions resolve "#/…" against twice
        validator = Draft202012Validator(schema)
        own = lambda value: {"traceanalyze": value}
        for right, document in (
                (True, None), (True, {}), (True, own(None)), (True, {"profiling": None}),
                (True, own({"jobs": 4, "strict": False, "output": None})),
                (True, own({"output": {"formats": ["html", "csv"], "theme": "dark"}})),
                (True, own({"output": {"formats": "html,csv", "title": 3.5}})),
                (True, own({"charts": {"size": "800x600", "scale": 1.5, "formats": "svg"}})),
                (True, own({"limits": {"depth": 64, "string": "4MiB"}})),
                (True, own({"plugins": {"gpu_idle": {"threshold": "20%", "enabled": False}}})),
                (True, own({"rules": {"gpu_idle": {"threshold": "20%", "severity": "high"}}})),
                (True, own({"rules": {"gpu_idle": False, "step_time": None}})),
                (True, own({"rules": {"mine": RULE, "yours": {**RULE, "where": {"calls": 1}}}})),
                (True, {"profiling": {"enabled": True, "session_tags": {"a": 1}}}),
                (False, []), (False, {"jobs": 4}), (False, own([])), (False, own({"job": 4})),
                (False, own({"jobs": "4"})), (False, own({"jobs": 4.5})),
                (False, own({"jobs": 0})),
                (False, own({"strict": 1})), (False, own({"output": {"theme": "drak"}})),
                (False, own({"output": {"title": True}})),
                (False, own({"output": {"formats": []}})),
                (False, own({"charts": {"scale": 11}})), (False, own({"limits": {"dept": 3}})),
                (False, own({"plugins": {"gpu_idle": {"enabled": "no"}}})),
                (False, own({"plugins": {"gpu_idle": 3}})),
                (False, own({"rules": []})), (False, own({"rules": {"gpu_idle": 3}})),
                (False, own({"rules": {"gpu_idle": {"severity": "hgih"}}})),
                (False, own({"rules": {"gpu_idle": {"title": ""}}})),
                (False, own({"rules": {"gpu_idle": {"advice": True}}})),
                (False, own({"rules": {"gpu_idle": {"enabled": "no"}}})),
                (False, own({"rules": {"Mine": RULE}})),
                (False, own({"rules": {"mine": {**RULE, "colunm": "a"}}})),
                (False, own({"rules": {"mine": {**RULE, "comparison": "over"}}})),
                (False, own({"rules": {"mine": {**RULE, "where": "rank"}}})),
                (False, own({"rules": {"mine": {"table": "ops.by_name", "column": "calls"}}})),
                (False, {"profiling": {"enabled": "x"}}), (False, {"profiling": {"unknown": 1}}),
                (False, {"profiling": {"report_format": "pdf"}})):
            with self.subTest(document):
                self.write("named", json.dumps(document))
                done = self.run_program("config", "validate", "../named.yaml")
                self.assertEqual(done.returncode, 0 if right else 2, done.stderr)
                self.assertEqual(validator.is_valid(document), right)

    # ---- rules --------------------------------------------------------------------------------

    def rules(self, *args, **options):
        done = self.expect(0, "rules", "--json", *args, **options)
        return {rule["id"]: rule for rule in json.loads(done.stdout)["rules"]}

    def limit(self, *args, **options):
        option = self.rules(*args, **options)["step_time"]["options"][0]
        self.assertEqual((option["name"], option["default"]), ("limit", 2e8))
        return option["value"], option["origin"]

    def test_each_source_of_a_threshold_beats_those_before(self):
        folder, variables = self.folder / "work", {}
        for name, number in (("a", 3), ("b", 6), ("c", 7)):
            (folder / f"{name}.yaml").write_text(
                f"rules:\n  step_time:\n    limit: {number}ms\n", encoding="utf-8")
        self.assertEqual(self.limit(), (2e8, "default"))
        self.write("named", "traceanalyze:\n  plugins: {step_time: {limit: 1ms}}\n")
        named = ("--config", "../named.yaml")
        self.assertEqual(self.limit(*named), (1e6, "../named.yaml:2:25"))
        self.write("named", "traceanalyze:\n  plugins: {step_time: {limit: 1ms}}\n"
                            "  rules: {step_time: {limit: 2ms}}\n")
        self.assertEqual(self.limit(*named), (2e6, "../named.yaml:3:23"))
        self.write("named", "traceanalyze:\n  rules: {step_time: {limit: 2ms}}\n"
                            "  rule_files: [a.yaml]\n")
        self.assertEqual(self.limit(*named), (3e6, "a.yaml:3:5"))
        variables["TRACEANALYZE_PLUGINS_STEP_TIME_LIMIT"] = "5ms"
        self.assertEqual(self.limit(*named, variables=variables),
                         (5e6, "TRACEANALYZE_PLUGINS_STEP_TIME_LIMIT"))
        given = (*named, "--rules", "b.yaml")
        self.assertEqual(self.limit(*given, variables=variables), (6e6, "b.yaml:3:5"))
        given += ("--rules", "c.yaml")
        self.assertEqual(self.limit(*given, variables=variables), (7e6, "c.yaml:3:5"))
        given += ("--set", "step_time.limit=8ms")
        self.assertEqual(self.limit(*given, variables=variables), (8e6, "command line"))

    def test_a_rule_is_no_analysis(self):
        self.write("named", "traceanalyze: {rules: {copies: false}}\n")
        rule = self.rules("--config", "../named.yaml")["copies"]
        self.assertEqual((rule["enabled"], rule["enabled_origin"]), (False, "../named.yaml:1:24"))
        shown = self.settings("--config", "../named.yaml")
        self.assertEqual(shown["plugins.copies.enabled"]["value"], "true")
        self.assertEqual(shown["rules.copies.enabled"]["value"], "false")

    def test_a_new_rule_is_one_among_others(self):
        path = self.folder / "work/mine.yaml"
        path.write_text(json.dumps({"rules": {"mine": {
            **RULE, "threshold": 0, "where": {"name": "aten::copy_"}, "severity": "high",
            "title": "{name} ran {value} times{owner}", "advice": "{{ {threshold} }"}}}))
        rule = self.rules("--rules", "mine.yaml")["mine"]
        self.assertEqual(rule["defined"], {"table": "ops.by_name", "column": "calls",
                                           "comparison": "above", "where": {"name": "aten::copy_"}})
        report = ("report", "--json", TINY, "--rules", "mine.yaml")
        found = self.findings(*report)["rule.mine"]
        self.assertEqual((found["rule"], found["severity"]), ("mine", "high"))
        self.assertEqual(found["title"], "aten::copy_ ran 1 times")
        self.assertEqual(found["advice"], "{ ops.by_name.calls > 0 }")
        self.assertEqual(found["evidence"][0]["value"], 1)
        for off in (("--disable-rule", "mine"), ("--set", "mine.threshold=1"),
                    ("--set", "mine.enabled=false")):
            self.assertNotIn("rule.mine", self.findings(*report, *off))

    def findings(self, *args):
        report = json.loads(self.expect(0, *args).stdout)
        return {item["id"]: item for section in report["sections"]
                for item in section["items"] if item["kind"] == "finding"}

    def test_the_schema_of_plugins_says_what_is_printed(self):
        if not Draft202012Validator:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(self.expect(0, "schema", "plugins-1").stdout)
        schema.pop("$id")
        printed = json.loads(self.expect(0, "plugins", "--json").stdout)
        Draft202012Validator(schema).validate(printed)
        tables = {table["id"]: table for table in printed["tables"]}
        scalars = {scalar["id"] for scalar in printed["scalars"]}
        self.assertEqual(len(tables), len(printed["tables"]))
        for reader in printed["readers"]:
            for ref in reader["reads"]:
                if "scalar" in ref:
                    self.assertIn(ref["scalar"], scalars)
                    continue
                keys = [column["key"] for column in tables[ref["table"]]["columns"]]
                self.assertIn(ref["column"] or keys[0], keys)
        printed["tables"][0]["columns"][0].pop("doc")
        self.assertFalse(Draft202012Validator(schema).is_valid(printed))

    def test_the_schema_of_rules_says_what_the_program_does(self):
        if not Draft202012Validator:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(self.expect(0, "schema", "rules-1").stdout)
        schema.pop("$id")
        validator = Draft202012Validator(schema)
        for right, document in (
                (True, None), (True, {}), (True, {"rules": None}), (True, {"rules": {"a": RULE}}),
                (True, {"rules": {"copies": False, "step_time": {"limit": "9ms"}}}),
                (False, []), (False, {"rule": {}}), (False, {"rules": {"a": {**RULE, "b": 1}}}),
                (False, {"rules": {"a": {**RULE, "severity": "bad"}}}),
                (False, {"traceanalyze": {"rules": {}}})):
            with self.subTest(document):
                (self.folder / "work/some.yaml").write_text(json.dumps(document))
                done = self.run_program("rules", "--rules", "some.yaml")
                self.assertEqual(done.returncode, 0 if right else 2, done.stderr)
                self.assertEqual(validator.is_valid(document), right)

    def test_errors_in_rules_have_a_place(self):
        path = self.folder / "work/bad.yaml"
        new = "rules:\n  mine: {table: ops.by_name, column: %s, threshold: %s}\n"
        for text, *says in (
                ("rules:\n  step_tme: {limit: 1}\n", "bad.yaml:2:3", "'step_time'"),
                ("rules:\n  step_time: {limti: 1}\n", "bad.yaml:2:15", "'limit'"),
                ("rules:\n  step_time: {limit: soon}\n", "bad.yaml:2:15", "limit=soon"),
                ("rules:\n  step_time: {severity: hihg}\n", "bad.yaml:2:15", "'high'"),
                ("rules:\n  step_time: {title: '{titel}'}\n", "bad.yaml:2:15", "{titel}"),
                ("rules:\n  step_time: [1]\n", "bad.yaml:2:14", "a list"),
                ("rule: {}\n", "bad.yaml:1:1", "expected rules"),
                ("[]\n", "bad.yaml:1:1", "a list"),
                ("rules:\n  mine: {limit: 3}\n", "bad.yaml:2:3", "a new rule needs a table"),
                ("rules:\n  gpu_idle: {table: a, column: b, threshold: 1}\n", "bad.yaml:2:3",
                 "that of a plugin"),
                (new % ("calls", "soon"), "bad.yaml:2:3", "threshold=soon"),
                (new % ("calls, comparison: over", 1), "bad.yaml:2:57", "above or below"),
                (new % ("calls, were: {a: 1}", 1), "bad.yaml:2:45", "'where'"),
                (new % ("call", 0), "bad.yaml:2:3", "'calls'"),
                (new % ("calls, title: '{cals}'", 0), "bad.yaml:2:3", "'calls'"),
                (new % ("self_ns", "5%"), "bad.yaml:2:3", "another unit"),
                (new % ("calls, where: {nmae: a}", 0), "bad.yaml:2:3", "'name'")):
            with self.subTest(text):
                path.write_text(text, encoding="utf-8")
                self.refuse(says[0], "report", "--json", TINY, "--rules", "bad.yaml",
                            says=says[1:])

    def test_columns_of_declared_tables_are_checked_before_anything_is_read(self):
        path = self.folder / "work/early.yaml"
        rule = "rules: {mine: {table: launches.by_rank, column: %s, threshold: 1}}\n"
        for names in ("cals", "'calls', where: {rnak: 0}", "'calls', title: '{lauches}'"):
            with self.subTest(names):
                path.write_text(rule % names, encoding="utf-8")
                self.refuse("early.yaml:1:9", "report", "--json", "no/such/folder", "--rules",
                            "early.yaml", says=("launches.by_rank has no column",))

    def test_a_rule_without_rows_is_silent(self):
        path = self.folder / "work/other.yaml"
        path.write_text("rules: {mine: {table: stages.by_name, column: calls, threshold: 1}}\n")
        report = ("report", "--json", TINY, "--rules", "other.yaml")
        self.assertEqual(self.expect(0, *report).stderr, b"")
        self.assertIn("no row of stages.by_name", self.expect(0, *report, "-v").stderr.decode())
        path.write_text("rules: {mine: {table: stages.by_name, column: cals, threshold: 1}}\n")
        self.refuse("other.yaml:1:9", *report, says=("'calls'",))
        path.write_text("rules: {mine: {table: ops.by_nmae, column: calls, threshold: 1}}\n")
        self.refuse("other.yaml:1:9", *report, says=("'ops.by_name'",))
        done = self.expect(0, *report, "--set", "models.enabled=false")
        self.assertIn("no table ops.by_nmae", done.stderr.decode())

    def test_rules_of_the_working_folder_name_no_places(self):
        self.write("here", "traceanalyze: {rule_files: [a.yaml]}\n")
        self.refuse("traceanalyze.yaml:1:29", "rules", says=("names a place",))


if __name__ == "__main__":
    support.main()
