# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of this folder find what they are there to find."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LICENCE = "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"

# A tree that keeps the rules: the table of docs/ARCHITECTURE.md, and files by name.
TABLE = """
| `src/base` | – |
| `src/base/yaml` | `src/base` |
| `src/read` | `src/base` |
| `src/render` | – |
| `src/ingest` | `src/read` |
| `plugins/output` | `src/render` |
| `src/cli` | `src/base` |
"""
FILES = {
    "include/traceanalyze/base.h": "",
    "plugins/output/html/html.h": '#include "render/sink.h"\n',
    "src/base/vec.h": "",
    "src/base/yaml/yaml.c": '#include "base/vec.h"\n',
    "src/read/reader.h": '#include "base/vec.h"\n',
    "src/render/sink.h": "",
    "src/ingest/crew.h": '#include "read/reader.h"\n',
    "src/base/suggest.h": "",
    "src/cli/main.c": '#include "base/suggest.h"\n',
}


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/ARCHITECTURE.md", TABLE)
        for name, text in FILES.items():
            self.write(name, LICENCE + text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_check(self, name):
        done = subprocess.run([sys.executable, "-B", HERE / name, self.root],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def expect(self, check, name, text, is_right):
        self.write(name, text)
        code, output = self.run_check(check)
        self.assertEqual(code, 0 if is_right else 1, output)
        if not is_right:
            self.assertIn(name, output)
        (self.root / name).unlink()

    def test_layers(self):
        for name, line, is_right in (
                ("src/read/x.c", '#include "base/vec.h"', True),
                ("src/read/x.c", '#include "traceanalyze/base.h"', True),
                ("src/read/x.c", '#include "render/sink.h"', False),
                ("src/read/x.c", '#include "pipeline.h"', False),
                ("src/read/x.c", '#include "base/missing.h"', False),
                ("src/read/x.c", '#include <gsl/gsl_sort.h>', False),
                ("src/read/x.c", '#include <yaml.h>', False),
                ("src/base/yaml/x.c", '#include <yaml.h>', True),
                ("src/base/yaml/x.c", '#include "read/reader.h"', False),
                ("src/base/x.h", '#include "read/reader.h"', False),
                ("src/new/x.c", '#include "base/vec.h"', False),
                ("src/ingest/x.c", '#include "read/reader.h"', True),
                ("src/ingest/x.c", '#include "render/sink.h"', False),
                ("src/cli/x.c", '#include "base/suggest.h"', True),
                ("src/cli/x.c", '#include "traceanalyze/base.h"', True),
                ("src/cli/x.c", '#include "base/context.h"', False),
                ("src/cli/x.c", '#include "render/sink.h"', False),
                ("plugins/output/x.c", "#include <traceanalyze/base.h>", True),
                ("plugins/output/x.c", '#include "base/vec.h"', False),
                ("plugins/output/x.c", '#include "render/sink.h"', True),
                ("plugins/output/html/x.c", '#include "render/sink.h"', True),
                ("plugins/output/x.c", '#include "render/missing.h"', False),
                ("plugins/input/x.c", '#include "render/sink.h"', False),
                ("plugins/output/x.c", "#include <traceanalyze/missing.h>", False),
                ("plugins/output/html/x.c", '#include "html.h"', True),
                ("plugins/output/html/x.c", '#include "../../../src/base/vec.h"', False),
                ("plugins/input/x.c", "#include <cairo.h>", False),
                ("include/traceanalyze/x.h", '#include "base.h"', True),
                ("include/traceanalyze/x.h", '#include "read/reader.h"', False)):
            with self.subTest(name=name, line=line):
                self.expect("layers.py", name, f"{LICENCE}{line}\n", is_right)

    def run_layers_linked(self, sources):
        """What layers.py says of sources that are compiled: their names and texts."""
        commands = []
        for name, text in sources.items():
            self.write(name, LICENCE + text)
            made = name.replace("/", "_") + ".o"
            command = ["cc", "-c", str(self.root / name), "-o", made]
            subprocess.run(command, cwd=self.root, check=True)
            commands.append({"directory": str(self.root), "file": str(self.root / name),
                             "arguments": command})
        self.write("compile_commands.json", json.dumps(commands))
        done = subprocess.run([sys.executable, "-B", HERE / "layers.py", self.root, self.root],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    @unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "no compiler or no nm")
    def test_table_of_folders(self):
        for row, is_right in (
                ("| `src/read` | `src/base` |", True),
                ("| `src/read` | `src/base`, `src/ingest` |", False),  # a cycle
                ("| `src/read` | `src/base`, `src/base/yaml` |", False),  # used by no file
                ("| `src/read` | `src/base`, `src/new` |", False),
                ("| `src/read` | – |", False)):                        # reader.h includes base/
            with self.subTest(row=row):
                table = TABLE.replace("| `src/read` | `src/base` |", row)
                self.write("docs/ARCHITECTURE.md", table)
                code, output = self.run_layers_linked({"src/base/x.c": "int ta_x;\n"})
                self.assertEqual(code, 0 if is_right else 1, output)

    def test_cycle_through_folders(self):
        self.write("src/read/late/late.h", LICENCE + '#include "ingest/crew.h"\n')
        self.write("docs/ARCHITECTURE.md", TABLE + "| `src/read/late` | `src/ingest` |\n")
        code, output = self.run_check("layers.py")
        self.assertEqual(code, 1, output)
        self.assertIn("src/read/ uses folders that use src/read/", output)

    @unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "no compiler or no nm")
    def test_programs_and_plugins_use_what_is_public(self):
        self.write("include/traceanalyze/x.h", LICENCE + "TA_API int *ta_x(void);\n")
        code, output = self.run_layers_linked({
            "src/read/x.c": "int *ta_x(void) { return 0; }\n",
            "src/cli/y.c": "int *ta_x(void);\nint *ta_y(void) { return ta_x(); }\n",
            "plugins/output/z.c": "int *ta_x(void);\nint *ta_z(void) { return ta_x(); }\n"})
        self.assertEqual(code, 0, output)

    @unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "no compiler or no nm")
    def test_linked_symbols(self):
        definition = "int ta_x(void) { return 1; }\n"
        use = "int ta_x(void);\nint ta_y(void) { return ta_x(); }\n"
        for definer, user, is_right in (
                ("src/read/x.c", "src/ingest/y.c", True),
                ("src/read/x.c", "src/read/y.c", True),
                ("src/ingest/x.c", "src/read/y.c", False),
                ("src/read/x.c", "src/cli/y.c", False),
                ("src/base/x.c", "src/cli/y.c", False),
                ("src/base/suggest.c", "src/cli/y.c", True),
                ("src/render/x.c", "plugins/output/y.c", True),
                ("src/read/x.c", "plugins/output/y.c", False),
                ("src/render/x.c", "plugins/input/y.c", False),
                ("plugins/output/x.c", "plugins/output/html/y.c", False),
                ("plugins/output/x.c", "src/read/y.c", False)):
            with self.subTest(definer=definer, user=user):
                code, output = self.run_layers_linked(
                    {definer: definition, user: use})
                self.assertEqual(code, 0 if is_right else 1, output)
                if not is_right:
                    self.assertIn(f"{user}: ta_x() of {definer}", output)
                (self.root / definer).unlink()
                (self.root / user).unlink()

    def test_licence_and_form(self):
        for text, is_right in (
                (f"{LICENCE}int x;\n", True),
                ("int x;\n", False),
                (f"int x;\n{LICENCE}", False),
                (f"{LICENCE}int x; \n", False),
                (f"{LICENCE}int x;", False),
                (f"{LICENCE}int x;\n\n", False),
                (f"{LICENCE}/* {'x' * 100} */\n", False)):
            with self.subTest(text=text):
                self.expect("spdx.py", "src/base/x.c", text, is_right)

    def test_words(self):
        self.write("docs/WORDS.md", "| behind | after | 1 |\n| that of | the noun | 0 |\n")
        for text, is_right in (("/* It comes behind. */\n", True),
                               ("int behind, that_of;\n", True),
                               ("/* Behind, and behind. */\n", False),
                               ("/* Its end is that\n * of the other. */\n", False)):
            with self.subTest(text=text):
                self.expect("words.py", "src/base/x.c", LICENCE + text, is_right)

    def test_literals(self):
        plugin = LICENCE + 'static const struct ta_table_def small = {"small.kernels", "Small"};\n'
        self.write("plugins/analysis/small.c", plugin + "TA_PLUGIN(analysis, small_ones, &ops);\n")
        self.expect("literals.py", "src/render/draw.c", 'puts("kernels");', True)
        for code in ('use(ta_report_table(report, "kernels"));', 'puts("small.kernels");',
                     'n = ta_row_number(table, row, "calls", 0);', 'puts("small_ones");',
                     'if (strcmp(table->id, "kernels") == 0) stop();'):
            self.expect("literals.py", "src/render/draw.c", code, False)

    def run_undefined(self, text, suffix="c"):
        """What undefined.py says of a source, or of a header that one includes."""
        self.write(f"src/base/x.{suffix}", LICENCE + text)
        if suffix == "h":
            self.write("src/base/x.c", LICENCE + '#include "x.h"\n')
        command = {"directory": str(self.root), "file": str(self.root / "src/base/x.c"),
                   "command": "cc -c src/base/x.c"}
        self.write("build/compile_commands.json", json.dumps([command]))
        done = subprocess.run([sys.executable, "-B", HERE / "undefined.py", self.root,
                               self.root / "build"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    @unittest.skipUnless(shutil.which("clang-query"), "clang-query is not installed")
    def test_results(self):
        column = {"key": "rank", "type": "integer", "unit": "none", "polarity": "lower",
                  "doc": "Rank of the trace"}
        table = {"id": "a.b", "doc": "One row per rank.\n\n* `rank`", "section": "x", "maker": "m",
                 "charts": [{"id": "bars"}], "columns": [column]}
        declared = {"sections": [{"id": "x", "title": "X"}], "tables": [table]}
        program, document = self.root / "program", self.root / "RESULTS.md"

        def check(*options):
            program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(declared)}\nEND\n")
            program.chmod(0o755)
            done = subprocess.run([sys.executable, "-B", HERE / "results.py", "--program", program,
                                   "--document", document, *options],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

        document.write_text("Before\n<!-- tables: sections -->\n<!-- end -->\nAfter\n")
        self.assertIn("--update", check()[1])
        self.assertEqual(check("--update"), (0, ""))
        self.assertEqual(check(), (0, ""))
        text = document.read_text()
        for part in ("Before\n", "\nAfter", "#### `a.b`\n\nOne row per rank.\n\n* `rank`\n\n"
                     "Chart `bars`. Analysis `m`.\n", "| `rank` | integer |  | lower | Rank of "):
            self.assertIn(part, text)
        column["key"] = "rnak"
        self.assertEqual(check()[0], 1)
        column["key"] = "rank"
        declared["tables"].append({**table, "id": "b.a", "section": None})
        self.assertIn("has no part for: b.a", check()[1])

    def test_undefined(self):
        for text, is_right in (
                ("long f(int x) { return (long)x; }", True),
                ("double f(long x) { return x; }", True),
                ("float f(double x) { return (float)x; }", True),
                ("long ta_whole(double x) { return (long)x; }", True),
                ("long ta_whole_int(double x) { return (int)x; }", False),
                ("long f(double x) { return (long)x; }", False),
                ("long f(double x) { return x; }", False),            # by returning
                ("void g(int); void f(float x) { g(x); }", False),    # by passing
                ("void f(char *p, long double x) { *p = x; }", False),
                ("void f(int *p, double x) { *p += x; }", False),
                ("struct s { unsigned n; } f(double x) { return (struct s){.n = x}; }", False),
                ("#define WHOLE(x) ((int)(x))\nint f(double x) { return WHOLE(x); }", False),
                ("long lrint(double); long f(double x) { return lrint(x); }", False),
                ("long long llroundf(float); long long f(float x) { return llroundf(x); }",
                 False),
                ("#include <stddef.h>\nstruct ta_slice { const char *ptr; size_t len; };\n"
                 "const char *f(struct ta_slice *s, size_t i) { return &s->ptr[i]; }", True),
                ("#include <stddef.h>\nstruct ta_slice { const char *ptr; size_t len; };\n"
                 "const char *ta_slice_at(struct ta_slice s) { return s.ptr + s.len; }", True),
                ("#include <stddef.h>\nstruct ta_slice { const char *ptr; size_t len; };\n"
                 "const char *f(struct ta_slice s) { return s.ptr + s.len; }", False),
                ("#include <stddef.h>\nstruct ta_slice { const char *ptr; size_t len; };\n"
                 "const char *f(struct ta_slice *s) { return 1 + (s->ptr); }", False)):
            for suffix in "c", "h":
                with self.subTest(text=text, suffix=suffix):
                    code, output = self.run_undefined(text + "\n", suffix)
                    self.assertEqual(code, 0 if is_right else 1, output)
                    if not is_right:
                        self.assertRegex(output, rf"(?m)^src/base/x\.{suffix}:[2-4]:\d+: ")


if __name__ == "__main__":
    unittest.main()
