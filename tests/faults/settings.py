# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations, rules, peaks of devices and plug-ins that are wrong, too large or hostile."""
import pathlib
import random
import shutil
import subprocess

from judge import Case
from made import trace

REPORT = ("report", "-q", "--format", "json", "-o", "OUT", "IN/trace.json")


def beside(name, data, mode=None):
    """A builder of a folder with a good trace and one more file."""
    def build(folder):
        (folder / "trace.json").write_bytes(trace(3, 12).text)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        if mode is not None:
            path.chmod(mode)
        return folder
    return build


def aliases(depth):
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, depth)]
    return "\n".join(lines)


WRONG = {  # what is refused, and how it has to be named besides the file and the line
    "aliases": aliases(60), "alias-of-itself": "a: &a [*a]", "anchor": "traceanalyze: &x {jobs: 1}",
    "merge-key": "traceanalyze: {<<: {jobs: 1}}",
    "tag": "traceanalyze: !!python/object:os.system x",
    "local-tag": "traceanalyze: !foo {jobs: 1}", "str-tag": "traceanalyze: {jobs: !!str 1}",
    "tab": "traceanalyze:\n\tjobs: 1", "same-key": "traceanalyze: {jobs: 1, jobs: 2}",
    "same-key-apart": "traceanalyze:\n  jobs: 1\n  strict: true\n  jobs: 2\n",
    "same-root": "traceanalyze: {jobs: 1}\ntraceanalyze: {jobs: 2}",
    "unknown": "traceanalyze: {jbos: 1}",
    "unknown-root": "traceanalize: {jobs: 1}", "list-root": "- 1\n- 2", "text-root": "jobs",
    "number-root": "17", "list-for-map": "traceanalyze: [jobs]",
    "map-for-text": "traceanalyze: {jobs: {a: 1}}",
    "list-for-number": "traceanalyze: {jobs: [1, 2]}", "negative": "traceanalyze: {jobs: -1}",
    "zero": "traceanalyze: {jobs: 0}", "huge": "traceanalyze: {jobs: 99999999999999999999}",
    "fraction": "traceanalyze: {jobs: 1.5}", "octal": "traceanalyze: {jobs: 0o0}",
    "utf16": "traceanalyze: {jobs: 1}".encode("utf-16"),
    "text-for-number": "traceanalyze: {jobs: many}", "nan": "traceanalyze: {analysis: {top: .nan}}",
    "two-documents": "traceanalyze: {jobs: 1}\n---\ntraceanalyze: {jobs: 2}",
    "directive": "%YAML 2.0\n---\ntraceanalyze: {jobs: 1}", "unclosed": "traceanalyze: {jobs: 1",
    "unclosed-quote": 'traceanalyze: {output: {title: "x', "nul": b"traceanalyze: {jobs: 1}\n\0\n",
    "bytes": b"traceanalyze: {output: {title: \xff\xfe}}",
    "escape": b"traceanalyze: {output: {title: \x1b[31m}}",
    "deep": "traceanalyze: " + "[" * 5000 + "]" * 5000, "deep-maps": "a: {" * 3000 + "}" * 3000,
    "deep-blocks": "".join(" " * i + "a:\n" for i in range(200)), "long": "# x\n" * 400000,
    "long-line": "traceanalyze: {output: {title: '" + "x" * 2000000 + "'}}",
    "binary": bytes(range(256)) * 8, "elf": b"\x7fELF" + bytes(64),
    "json-trailing": '{"traceanalyze": {"jobs": 1}} x',
    "complex-key": "? [a, b]\n: 1", "null-key": "traceanalyze: {~: 1}",
    "colon": "traceanalyze: jobs: 1",
    "choice": "traceanalyze: {output: {theme: pink}}",
    "plugin": "traceanalyze: {plugins: {nope: {a: 1}}}",
    "plugin-option": "traceanalyze: {plugins: {gpu_idle: {nope: 1}}}",
    "plugin-value": "traceanalyze: {plugins: {gpu_idle: {threshold: x}}}",
    "limit": "traceanalyze: {limits: {nope: 1}}", "hostile-key": b'"\\e]0;x\\a\\u202e": 1',
}
RIGHT = {"empty": "", "comment": "# nothing\n", "null": "traceanalyze:\n", "tilde": "~",
         "bom": "\ufefftraceanalyze: {jobs: 1}",
         "crlf": "traceanalyze:\r\n  jobs: 1\r\n", "json": '{"traceanalyze": {"jobs": 1}}',
         "markers": "---\ntraceanalyze: {jobs: 1}\n...\n",
         "folded": "traceanalyze:\n  output:\n    title: >\n      a\n      b\n",
         "hex": "traceanalyze: {jobs: 0x4}", "octal": "traceanalyze: {jobs: 0o4}",
         "hostile-title": 'traceanalyze: {output: {title: "<script>\\e[31m%s%n\\u202e=1+1"}}'}


def configurations(_):
    for name, data in WRONG.items():
        yield Case(f"config-{name}", beside("c.yaml", data),
                   args=("--config", "IN/c.yaml", *REPORT),
                   exits=(2,), says=("c.yaml",), product=None,
                   check=lambda run: None if b"c.yaml:" in run.stderr or b"1048576" in run.stderr
                   else f"no line: {run.stderr[:200]}")
        yield Case(f"validate-{name}", beside("c.yaml", data),
                   args=("config", "validate", "IN/c.yaml"),
                   exits=(2,), says=("c.yaml",), product=None)
    for name, data in RIGHT.items():
        yield Case(f"config-{name}", beside("c.yaml", data),
                   args=("--config", "IN/c.yaml", *REPORT),
                   kept=(13, 13))


# ---- rules and devices ---------------------------------------------------------------------------

def rule_files(chance):
    good = ("rules:\n  my_rule:\n    table: gpu_time.by_rank\n    column: busy_share\n"
            "    threshold: 0.5\n    title: \"{rank}\"\n    advice: Do it.\n")
    words = ["{", "}", "[", "]", "%s%n", "{rank", "{{}}", "null", "-1", "9e999", ".nan", "~", "'",
             "&a", "*a",
             "!!x", "\t", "gpu_time.nope", "", "rules:", "\x1b", "\u202e"]
    for i in range(30):
        lines = good.split("\n")
        at = chance.randrange(len(lines) - 1)
        head = lines[at].split(":")[0]
        lines[at] = chance.choice([head + ": " + chance.choice(words), chance.choice(words),
                                   lines[at] * 2])
        yield Case(f"rules-{i}", beside("r.yaml", "\n".join(lines)),
                   args=("--rules", "IN/r.yaml", *REPORT),
                   exits=(0, 2), product=None)
        yield Case(f"devices-{i}", beside("d.yaml", "\n".join(lines)),
                   args=(*REPORT, "--hardware", "IN/d.yaml"),
                   exits=(2,), says=("d.yaml",), product=None)


# ---- what stands in a hostile working folder -----------------------------------------------------

def working_folder(_):
    def here(data):
        def build(folder):
            (folder / "trace.json").write_bytes(trace(3, 12).text)
            (folder.parent / "cwd" / "traceanalyze.yaml").write_text(data, encoding="utf-8")
            return folder
        return build
    for name, data in {"plugins": "plugin_path: [/tmp]", "output": "output: {dir: /tmp/nope}",
                       "tmpdir": "tmpdir: /", "junit": "output: {junit: /tmp/x.xml}"}.items():
        yield Case(f"here-{name}", here(f"traceanalyze: {{{data}}}"), args=REPORT, exits=(2,),
                   says=("traceanalyze.yaml",), product=None, stays=("traceanalyze.yaml",))


def expressions(chance):
    """Expressions that cost a careless matcher gigabytes or minutes: used or refused at once."""
    def here(expression):
        def build(folder):
            (folder / "trace.json").write_bytes(trace(3, 12).text)
            (folder.parent / "cwd" / "traceanalyze.yaml").write_text(
                f"traceanalyze: {{input: {{rank_regex: '{expression}'}}}}", encoding="utf-8")
            return folder
        return build
    known = ["(d{1,1000}){1,1000}", "((a{1,99}){1,99}){1,99}", "(((a{9}){9}){9}){9}", "(a)\\1",
             "((a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*))*", "(" * 1000 + ")" * 1000,
             "(.*)*(.*)*(.*)*x", "(a" + "+" * 40 + ")", "([ab]*?{1,3}{2,}{0,2})"]
    tokens = ["(", ")", "|", "*", "+", "?", "{9}", "{1,99}", "{2,}", "a", "[a-z]", ".", "^",
              "$", "\\1"]
    made = ["(" + "".join(chance.choices(tokens, k=chance.randrange(4, 40))) + ")"
            for _ in range(60)]
    for i, expression in enumerate(known + made):
        yield Case(f"expression-{i}", here(expression), args=REPORT, exits=(0, 2), product=None,
                   stays=("traceanalyze.yaml",), seconds=1.5, memory_mb=100)


# ---- plug-ins ------------------------------------------------------------------------------------

SOURCE = """
#include <stdio.h>
__attribute__((constructor)) static void loaded(void)
{ FILE *f = fopen(MARK, "w"); if (f) fclose(f); }
"""


def plugin(folder, mode=0o755, place="x.so"):
    """A shared object that makes a file when it is loaded, in a place of some mode."""
    (folder / "trace.json").write_bytes(trace(3, 12).text)
    source = folder / "x.c"
    source.write_text(SOURCE, encoding="utf-8")
    mark = folder / "mark"
    out = folder / place
    out.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", f'-DMARK="{mark}"', "-o", out, source], check=True)
    source.unlink()
    out.chmod(mode)
    out.parent.chmod(0o777 if mode == 0o777 else 0o755)
    return folder


def plugins(_):
    if not shutil.which("cc"):
        return
    load = ("--plugin-path", "IN/sub/x.so", *REPORT)

    def is_untouched(run):
        return "code ran" if (run.folder / "in/mark").exists() else None
    # Writable by others: never opened.
    yield Case("plugin-open-to-all", lambda folder: plugin(folder, 0o777, "sub/x.so"), args=load,
               exits=(2,),
               says=("x.so",), product=None, check=is_untouched)
    # Beside the traces: never looked for.
    yield Case("plugin-beside", lambda folder: plugin(folder, 0o755, "sub/libtraceanalyze_x.so"),
               args=("report", "-q", "--format", "json", "-o", "OUT", "IN"), kept=(13, 13),
               check=is_untouched)
    for name, data in {"text": b"hello", "empty": b"", "header": b"\x7fELF\x02\x01\x01" + bytes(9),
                       "zeros": bytes(8192), "script": b"#!/bin/sh\ntouch mark\n"}.items():
        yield Case(f"plugin-{name}", beside("sub/x.so", data, 0o755), args=load, exits=(2,),
                   says=("x.so",),
                   product=None)
    real = pathlib.Path("/lib/x86_64-linux-gnu/libz.so.1")
    if real.exists():
        yield Case("plugin-other-library", beside("sub/x.so", real.read_bytes(), 0o755), args=load,
                   exits=(2,),
                   says=("x.so",), product=None)
        yield Case("plugin-cut", beside("sub/x.so", real.read_bytes()[:5000], 0o755), args=load,
                   exits=(2,),
                   says=("x.so",), product=None)
    yield Case("plugin-missing", beside("y", b""), args=load, exits=(2,), says=("x.so",),
               product=None)
    yield Case("plugin-folder-of-others", beside("sub/x.txt", b""),
               args=("--plugin-path", "IN/sub", *REPORT),
               exits=(0, 2), product=None)


def cases(chance):
    for group in (configurations, rule_files, working_folder, expressions, plugins):
        yield from group(random.Random(chance.random()))
