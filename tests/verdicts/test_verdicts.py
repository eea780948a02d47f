#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what the terminal says of real traces against what an expert says of them.

usage: test_verdicts.py --program PROGRAM --data FOLDER [--write DOCUMENT] [CASE...]

verdicts.json has the expert's sentence and the figures that it rests on, both from the raw events
(raw.py prints them), and patterns: `head` must match title and verdict, `findings` these and the
findings, `text` all that is printed; `not_head`, `not_findings` and `not_text` must not.  Patterns
under `open` do not hold yet: they are listed, and the test does not fail for them; one that holds
by now is listed, too, to be moved up.  With --write, the document is written anew from the file
and from what the program says.  Ends with 77, skipped, without the folder.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
WHERE = ("head", "findings", "text", "not_head", "not_findings", "not_text")


def flat(text):
    return re.sub(r"[\s\u00a0\u202f\u2009]+", " ", text).strip()


def said(program, data, case):
    """The verdict and the whole text, blanks made one."""
    paths = [data / path for path in case["in"]]
    done = subprocess.run([program, "report", *paths, "-v", "--format", "text", "-o", "-"],
                          check=False, capture_output=True, encoding="utf-8", errors="replace",
                          timeout=300)
    if done.returncode != 0:
        return None
    head = "\n".join(done.stdout.split("\n\n")[:2])
    findings = re.search(r"^Findings\n((?: .*)?\n)*", done.stdout, re.MULTILINE)
    return {"head": flat(head),
            "findings": flat(head + "\n" + (findings[0] if findings else "")),
            "text": flat(done.stdout + done.stderr),
            "verdict": flat(done.stdout.split("\n\n")[1])}


def holds(texts, where, pattern):
    found = re.search(pattern, texts[where.removeprefix("not_")]) is not None
    return found != where.startswith("not_")


def patterns(case):
    return [(where, pattern) for where in WHERE for pattern in case.get(where, [])]


def shares_above_the_run(text):
    """Savings of more than the run."""
    return [found[0] for found in re.finditer(r"([\d.]+) % of the run", text)
            if float(found[1]) > 100]


def check(case, everywhere, texts):
    faults = ["%s: %s %r" % (case["name"], "no" if not where.startswith("not_") else where, pattern)
              for where, pattern in patterns(case) + patterns(everywhere)
              if not holds(texts, where, pattern)]
    faults += ["%s: %s" % (case["name"], share) for share in shares_above_the_run(texts["text"])]
    return faults


def print_open(results, everywhere):
    """What is missing, by area."""
    lines = []
    for case, texts in results:
        for item in case.get("open", []) + everywhere.get("open", []):
            state = "holds" if holds(texts, item["where"], item["pattern"]) else "open"
            if state == "open" or item not in everywhere.get("open", []):
                lines.append((state, item["area"], case["name"], item["where"], item["pattern"]))
    for line in sorted(lines):
        print("%-6s %-9s %-28s %-9s %s" % line)
    print("%d of %d open patterns hold by now"
          % (sum(line[0] == "holds" for line in lines), len(lines)))


INTRODUCTION = """\
# What an expert says of real traces, and what the program says

Each sentence of an expert was computed from the raw events, without the program: by
`tests/verdicts/raw.py`, which prints window, busy time by class, idle time and what the host did
meanwhile, and the longest gaps. `tests/verdicts/verdicts.json` holds the sentences, the figures
and patterns that the program's text must and must not match; `tests/verdicts/test_verdicts.py`
checks them, and writes this page. The traces and cases are in the folders `traces`, `public` and
`seeds` of `../shared/data`; unit traces of a few events are left out.
"""


def document(results):
    out = [INTRODUCTION]
    for case, texts in results:
        out += ["## " + case["name"], "",
                "**Expert.** " + case["truth"], "",
                "**Figures.** %s." % case["figures"].rstrip("."), "",
                "**Program.** " + texts["verdict"], ""]
        if "judgement" in case:
            out += ["**Judgement.** " + case["judgement"], ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    if not args.data.is_dir():
        print("skipped: no folder %s" % args.data)
        return 77
    verdicts = json.loads((HERE / "verdicts.json").read_text(encoding="utf-8"))
    cases = [case for case in verdicts["cases"] if not args.cases or case["name"] in args.cases]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda case: said(args.program, args.data, case), cases))
    faults = ["%s: no report" % case["name"] for case, said_of in zip(cases, texts) if not said_of]
    results = [(case, said_of) for case, said_of in zip(cases, texts) if said_of]
    everywhere = verdicts["everywhere"]
    print_open(results, everywhere)
    for case, said_of in results:
        faults += check(case, everywhere, said_of)
    if args.write:
        args.write.write_text(document(results), encoding="utf-8")
    print("%d cases, %d statements" % (len(cases), sum(len(patterns(case)) for case in cases)))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
