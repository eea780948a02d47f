#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the documents name only what exists, and that what exists is documented.

usage: docs.py --root REPOSITORY [--compiler CC] [--program TRACEANALYZE] [--input TRACES]

  * paths, functions, types, macros, options, table ids and plugin settings that README.md, docs/
    and CONTRIBUTING.md cite in backticks, and links between documents, lead somewhere;
  * so do functions, types and macros of ours that comments of the code name;
  * every code of data quality, with its severity, and every plugin is documented;
  * the texts of manual pages name only options and pages that there are, and no command lacks one;
  * every function of the public headers has a comment;
  * presets and packages are those of CMake;
  * the example of README.md compiles (with --compiler);
  * every scalar, finding and chart that the program writes about TRACES is in docs/RESULTS.md
    (results.py makes its tables), and the excerpt of the summary in README.md is what the program
    prints about them; the lists of README.md, docs/QUESTIONS.md and docs/RULES.md are those of the
    program (with --program and --input).
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Words in backticks that look like paths but belong to the reader.
OF_THE_READER = re.compile(r"^(/tmp|traces/|out/.*|build[-\w]*/.*|(.*/)?traceanalyze/plugins|"
                           r"rank.*\d.*|plugins/analysis/streams.c)$")
PATH = re.compile(r"^[\w.-]+(/[\w.-]+)+/?$|^[\w.-]+/$|"
                  r"^[\w-]+\.(c|h|md|py|txt|cmake|css|js|json|html|pdf)$")
SYMBOL = re.compile(r"^(?:(?:struct|enum) )?((?:ta|TA)_\w+)(?:\(\))?$")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OURS = re.compile(r"\b(?:ta|TA)_\w+")
CALL = re.compile(r"^(\w+)\(\)$")
OPTION = re.compile(r"^(--[a-z][a-z-]*)\b")
SETTING = re.compile(r"^([a-z_]+)\.([a-z_]+)(?:=.*)?$")

# Functions whose name and type say everything; all others of the public headers need a comment.
PLAIN = {
    "ta_add_finding", "ta_add_scalar", "ta_dist_count", "ta_kernel_classify", "ta_map_free",
    "ta_partial_rows", "ta_report_accounts", "ta_report_run", "ta_report_section",
    "ta_report_section_count", "ta_report_verdict", "ta_trace_activities", "ta_trace_asyncs",
    "ta_trace_categories", "ta_trace_counters", "ta_trace_file", "ta_trace_flows",
    "ta_trace_instants", "ta_trace_kind_counts", "ta_trace_origin", "ta_trace_spans",
    "ta_trace_text", "ta_trace_tracks", "ta_ctx_limit",
}


class Lint:
    def __init__(self, root):
        self.root = root
        self.faults = []
        sources = [p for folder in ("src", "include", "plugins", "samples", "cmake", "tests")
                   for p in (root / folder).rglob("*")
                   if p.suffix in (".c", ".h", ".in", ".cmake", ".txt") and p.is_file()
                   and "node_modules" not in p.parts]
        self.code = {p: p.read_text(encoding="utf-8", errors="replace") for p in sources}
        self.words = set(re.findall(r"\w+", COMMENT.sub(" ", "\n".join(self.code.values()))))
        self.literals = set(re.findall(r'"([^"\\\n]*)"', "\n".join(self.code.values())))
        self.documents = [p for p in [root / "README.md", root / "CONTRIBUTING.md",
                                      *sorted((root / "docs").rglob("*.md"))] if p.exists()]

    def fault(self, where, what):
        self.faults.append(f"{where.relative_to(self.root)}: {what}")

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")


# ---- what documents cite ---------------------------------------------------------------------

def exists(lint, path):
    """A path of the repository, or the name of a product that some source writes."""
    return (lint.root / path).exists() or path in lint.literals or any(
        literal.endswith("/" + path) for literal in lint.literals)


KINDS = ("input", "log", "analysis", "advice", "headline", "output")


def plugin_folders(lint, kinds=KINDS):
    return {p.stem for kind in kinds
            for p in (lint.root / "plugins" / kind).iterdir() if p.suffix != ".h"}


def check_word(lint, document, word, options, plugins):
    symbol, call, option, setting = (p.match(word) for p in (SYMBOL, CALL, OPTION, SETTING))
    if symbol or call:
        name = (symbol or call)[1]
        if name not in lint.words and not name.endswith("_"):
            lint.fault(document, f"names {name}, which no source has")
    elif option:
        if option[1] not in options:
            lint.fault(document, f"names the option {option[1]}, which the program lacks")
    elif PATH.match(word) and not OF_THE_READER.match(word):
        if not exists(lint, word.removesuffix("/")):
            lint.fault(document, f"names the path {word}, which does not exist")
    elif setting and not any(f'"{setting[0]}"' in text or f'"{setting[2]}"' in text
                             for text in lint.code.values()):
        lint.fault(document, f"names {word}, which no source has")
    elif setting and setting[0] != word and setting[1] not in plugins:
        lint.fault(document, f"sets an option of {setting[1]}, which is no plugin")


def check_citations(lint):
    options = {"--" + name for name in re.findall(
        r'^    \{"([a-z-]+)", ', lint.text("src/cli/options.c"), re.MULTILINE)}
    options |= {"--preset", "--install", "--prefix", "--build", "--config"}  # of CMake and cpack
    plugins = plugin_folders(lint) | {"short_kernels"}
    for document in lint.documents:
        text = document.read_text(encoding="utf-8")
        prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
        for word in re.findall(r"`([^`\n]+)`", prose):
            check_word(lint, document, word, options, plugins)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
            if "://" not in target and not (document.parent / target).exists():
                lint.fault(document, f"links to {target}, which does not exist")


def check_comments(lint):
    for path, text in lint.code.items():
        if path.suffix not in (".c", ".h"):
            continue
        for name in {name for comment in COMMENT.findall(text) for name in OURS.findall(comment)}:
            if name not in lint.words and not name.endswith("_"):
                lint.fault(path, f"a comment names {name}, which no source has")


# ---- what must be documented -------------------------------------------------------------------

def check_quality_codes(lint):
    document = lint.root / "docs/RESULTS.md"
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (info|notice|loss|error) \|",
                           document.read_text(encoding="utf-8"), re.MULTILINE))
    codes = dict(re.findall(r'\[TA_Q_\w+\] =\s+\{"([a-z0-9-]+)",\s*TA_QUALITY_(\w+)',
                            lint.text("src/base/quality.c")))
    for code, severity in codes.items():
        if rows.get(code) != severity.lower():
            lint.fault(document, f"code {code} is {severity.lower()}, documented as "
                                 f"{rows.get(code, 'nothing')}")
    for code in rows.keys() - codes.keys():
        lint.fault(document, f"documents the code {code}, which does not exist")


def check_plugins(lint):
    text = "".join(lint.text(page) for page in ("README.md", "docs/RESULTS.md", "docs/INPUTS.md",
                                                "docs/QUESTIONS.md", "docs/RULES.md"))
    listed = [kind for kind in KINDS if kind != "headline"]  # sentences are not asked for by name
    for plugin in sorted(plugin_folders(lint, listed)):
        if f"`{plugin}`" not in text:
            lint.fault(lint.root / "README.md", f"does not name the plugin {plugin}")


DIRECTIVES = {"options", "commands", "limits", "exit-codes", "plugins", "settings"}


def check_page(lint, page, options, pages):
    """What the text of a manual page cites exists; the headings of options are those of one."""
    text = page.read_text(encoding="utf-8")
    for option in set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", text)):
        if option not in options:
            lint.fault(page, f"names the option --{option}, which the program lacks")
    for name in set(re.findall(r"^@(.*)", text, re.MULTILINE)) - DIRECTIVES:
        lint.fault(page, f"says @{name}, which nothing stands for")
    for name, section in set(re.findall(r"\b(traceanalyze(?:-[a-z]+)?)\((\d)\)", text)):
        if f"{name}.{section}" not in pages:
            lint.fault(page, f"refers to {name}({section}), which there is not")
    if not re.search(r"^# SEE ALSO$", text, re.MULTILINE):
        lint.fault(page, "has no section SEE ALSO")


def check_manual(lint):
    folder = lint.root / "src/cli/manual"
    source = lint.text("src/cli/options.c")
    options = set(re.findall(r'^    \{"([a-z-]+)", ', source, re.MULTILINE))
    commands = re.findall(r'\[TA_COMMAND_\w+\] =\s*\{"(\w+)"', source)
    pages = {page.name.removesuffix(".txt"): page for page in sorted(folder.glob("*.txt"))}
    for command in commands:
        if f"traceanalyze-{command}.1" not in pages:
            lint.fault(folder, f"no page is about {command}")
    for page in pages.values():
        check_page(lint, page, options, pages)


def check_headers(lint):
    """A comment stands before each function or before the first one of its paragraph."""
    for header in sorted((lint.root / "include/traceanalyze").glob("*.h")):
        documented, before = False, ""
        for line in lint.text(header.relative_to(lint.root)).splitlines():
            if line.startswith("TA_API"):
                if before.rstrip().endswith("*/"):
                    documented = True
                elif not before.strip():
                    documented = False
                name = re.search(r"(ta_\w+)\(", line)
                if name and not documented and name[1] not in PLAIN:
                    lint.fault(header, f"{name[1]} has no comment")
            before = line


def check_presets(lint):
    """CONTRIBUTING.md lists the presets with their folders."""
    presets = json.loads(lint.text("CMakePresets.json"))["configurePresets"]
    folders = {p["name"]: pathlib.PurePath(p.get("binaryDir", f"build-{p['name']}")).name
               for p in presets if not p.get("hidden")}
    listed = dict(re.findall(r"^\| `([\w-]+)` \| `([\w-]+)/` \|", lint.text("CONTRIBUTING.md"),
                             re.MULTILINE))
    for name in sorted(folders.keys() | listed.keys()):
        if folders.get(name) != listed.get(name):
            lint.fault(lint.root / "CONTRIBUTING.md", f"has {listed.get(name)} for the folder of "
                                                      f"the preset {name}: {folders.get(name)}")


def check_packages(lint):
    """What CMake looks for is in the package lists of ./run, by the names that Debian has."""
    debian = {"zlib": "zlib1g-dev", "yaml-0.1": "libyaml-dev", "gsl": "libgsl-dev",
              "jansson": "libjansson-dev", "libutf8proc": "libutf8proc-dev",
              "cairo": "libcairo2-dev", "pangocairo": "libpango1.0-dev",
              "fontconfig": "libpango1.0-dev", "libisal": "libisal-dev"}  # Pango's brings it
    packages = lint.text("run").split("test_packages=")[0]
    lists = re.findall(r"set\(TA_\w+_PACKAGES (.*)\)", lint.text("cmake/TaDependencies.cmake"))
    for names in lists:
        for name in re.findall(r"[a-z][\w.-]*", re.sub(r">=[\d.]+", "", names)):
            if debian.get(name, name) not in packages:
                lint.fault(lint.root / "run", f"does not install {debian.get(name, name)}")


# ---- what only tools can tell ----------------------------------------------------------------

def check_example(lint, compiler, program):
    blocks = re.findall(r"^```c\n(.*?)^```", lint.text("README.md"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        if "TA_PLUGIN(" not in block:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as source:
            source.write(block)
            source.flush()
            done = subprocess.run([compiler, "-std=c17", "-fsyntax-only", "-Wall", "-Wextra",
                                   "-Werror", f"-I{lint.root}/include",
                                   f"-I{pathlib.Path(program).parent}/include", source.name],
                                  capture_output=True, text=True, check=False)
        if done.returncode:
            lint.fault(lint.root / "README.md", f"its example does not compile:\n{done.stderr}")


def check_report(lint, program, traces):
    document = lint.root / "docs/RESULTS.md"
    text = document.read_text(encoding="utf-8")
    done = subprocess.run([program, "report", "--json", "--quiet", traces], capture_output=True,
                          check=False)
    if done.returncode:
        lint.fault(document, f"no report of {traces}: {done.stderr.decode()}")
        return
    for section in json.loads(done.stdout)["sections"]:
        for item in section["items"]:
            if f"`{item['id']}`" not in text:
                lint.fault(document, f"{item['kind']} {item['id']} is not documented")
            if item.get("chart") and f"`{item['chart']['id']}`" not in text:
                lint.fault(document, f"chart {item['chart']['id']} is not documented")


def check_excerpt(lint, program, traces):
    """The block that begins like the summary; a line … stands for lines left out."""
    readme = lint.root / "README.md"
    block = re.search(r"^```\n(traceanalyze \d.*?)^```", lint.text("README.md"),
                      re.MULTILINE | re.DOTALL)
    if not block:
        lint.fault(readme, "shows nothing of the summary")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "report", traces, "-o", f"{folder}/out"], text=True,
                              env={**os.environ, "COLUMNS": "96", "NO_COLOR": "1"},
                              capture_output=True, check=False)
    printed = done.stdout.splitlines()
    for line in block[1].splitlines():
        if line.strip() not in ("", "…") and line not in printed:
            lint.fault(readme, f"shows a line that the program does not print: {line}")


def printed(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def check_questions(lint, tables):
    """Tables that answer a question are declared, and each analysis beside them makes one."""
    page = lint.root / "docs/QUESTIONS.md"
    makers = {table["id"]: table["maker"] for table in tables}
    for row in re.findall(r"^\| [^|]*\? \|(.*)\|$", lint.text("docs/QUESTIONS.md"), re.MULTILINE):
        named, _, analyses = ([word for word in re.findall(r"`([\w.]+)`", cell)]
                              for cell in row.split("|")[:3])
        for table in named:
            if "." in table and table not in makers:
                lint.fault(page, f"names the table {table}, which is none")
        for analysis in analyses:
            if analysis not in {makers.get(table) for table in named}:
                lint.fault(page, f"says that {analysis} makes one of {', '.join(named)}")


def check_rules(lint, plugins, values):
    """Each rule is listed with its first option, and the defaults that are said are those."""
    page = lint.root / "docs/RULES.md"
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| (`[^|]*`) \|$", lint.text("docs/RULES.md"),
                           re.MULTILINE))
    for plugin in plugins:
        if plugin["kind"] != "advice":
            continue
        said = dict(re.findall(r"`([\w.]+)=([^`]*)`", rows.get(plugin["id"], "")))
        if not said:
            lint.fault(page, f"does not list the rule {plugin['id']} and its first option")
        for name, value in said.items():
            actual = values.get(name)
            if value != actual and not is_number(value, actual):
                lint.fault(page, f"says {name}={value}, which is {actual}")


def check_lists(lint, program):
    """Exit codes and formats of README.md; questions and rules on their pages."""
    readme, text = lint.root / "README.md", lint.text("README.md")
    codes = re.findall(r"^  ([0-9+N]+) ", printed(program, "help").split("Exit codes:")[1],
                       re.MULTILINE)
    for code in codes:
        if f"\n| {code.replace('+N', ' + n')} | " not in text:
            lint.fault(readme, f"does not list the exit code {code}")
    declared = json.loads(printed(program, "plugins", "--json", "--no-config"))
    plugins = declared["plugins"]
    check_questions(lint, declared["tables"])
    formats = text[text.index("| `--format` |"):].split("\n\n")[0]
    for plugin in plugins:
        if plugin["kind"] == "output" and f"`{plugin['id']}`" not in formats:
            lint.fault(readme, f"does not list the format {plugin['id']}")
    check_rules(lint, plugins, dict(re.findall(r"^      ([\w.]+)=(\S+)",
                                               printed(program, "rules", "--no-config"),
                                               re.MULTILINE)))


def is_number(text, other):
    try:
        return float(text) == float(other)
    except (TypeError, ValueError):
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    for name in ("compiler", "program", "input"):
        parser.add_argument(f"--{name}")
    args = parser.parse_args()
    lint = Lint(args.root.resolve())
    check_citations(lint)
    check_comments(lint)
    check_quality_codes(lint)
    check_plugins(lint)
    check_manual(lint)
    check_headers(lint)
    check_presets(lint)
    check_packages(lint)
    if args.compiler and args.program:
        check_example(lint, args.compiler, args.program)
    if args.program and args.input:
        check_report(lint, args.program, args.input)
        check_excerpt(lint, args.program, args.input)
        check_lists(lint, args.program)
    for fault in lint.faults:
        print(fault)
    print(f"{len(lint.documents)} documents, {len(lint.faults)} faults")
    return 1 if lint.faults else 0


if __name__ == "__main__":
    sys.exit(main())
