#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what reports say of the rules that found nothing.

usage: test_rules.py --program PROGRAM --root REPOSITORY

findings.rules has every rule once.  The rule of each finding has found something, a rule that is
switched off is off, rules about telemetry have no data where none was sampled, and the sentences of
HTML, Markdown and terminal have the numbers of the table.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import reports
from test_cells import SAMPLES

OFF = "exposed_comm"
SENTENCE = re.compile(r"(\d+) (more )?rules? found nothing to improve; "
                      r"(\d+) needs? data that was not recorded\.")


def output(program, *words):
    done = subprocess.run([program, *words], check=True, capture_output=True, text=True)
    return done.stdout


def rules_of(report):
    """Rule -> outcome and number of findings."""
    for section in report.document["sections"]:
        for item in section["items"]:
            if item.get("id") == "findings.rules":
                keys = [column["key"] for column in item["columns"]]
                return {row[keys.index("rule")]: (row[keys.index("outcome")],
                                                  row[keys.index("findings")])
                        for row in item["rows"]}
    return {}


def check_outcomes(program, sample, known):
    report = reports.read(program, sample)
    rules = rules_of(report)
    if set(rules) != known:
        yield f"not the rules that there are: {sorted(set(rules) ^ known)}"
        return
    for rule, (outcome, findings) in rules.items():
        if (outcome == "found") != (findings > 0):
            yield f"{rule}: {outcome} with {findings} findings"
    told = [item["rule"] for section in report.document["sections"] for item in section["items"]
            if item["kind"] == "finding"]
    yield from (f"{rule} has a finding, and {rules[rule][0]}" for rule in told
                if rules[rule][0] != "found")
    tables = {item.get("id") for section in report.document["sections"]
              for item in section["items"] if item.get("rows")}
    is_sampled = any(name.startswith("telemetry.") for name in tables if name)
    if (rules["device_limits"][0] == "no data") == is_sampled:
        yield f"device_limits has {rules['device_limits'][0]}, telemetry: {is_sampled}"


def check_off(program, sample):
    rules = rules_of(reports.read(program, sample, f"--disable-rule={OFF}"))
    if rules[OFF] != ("off", 0):
        yield f"a rule that is switched off is {rules[OFF]}"


def check_sentences(program, sample):
    outcomes = [outcome for outcome, _ in rules_of(reports.read(program, sample)).values()]
    wanted = (str(outcomes.count("nothing")), "more " if "found" in outcomes else None,
              str(outcomes.count("no data")))
    with tempfile.TemporaryDirectory() as folder:
        output(program, "report", "--no-config", "-q", str(sample), "--format", "html,md", "-o",
               folder)
        texts = {path.name: path.read_text(encoding="utf-8") for path in
                 pathlib.Path(folder).glob("report.*")}
        texts["terminal"] = output(program, "report", "--no-config", "-v", "--format", "json",
                                   str(sample), "-o", folder)
    for name, text in texts.items():
        found = SENTENCE.search(re.sub(r"\s+", " ", text))
        said = found and (found[1], found[2], found[3])
        if said != wanted:
            yield f"{name} says {said}, the table {wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    args = parser.parse_args()
    known = {rule["id"] for rule in
             json.loads(output(args.program, "rules", "--json", "--no-config"))["rules"]}
    faults = []
    for name in SAMPLES:
        sample = args.root / "samples" / name
        for check in (lambda: check_outcomes(args.program, sample, known),
                      lambda: check_off(args.program, sample),
                      lambda: check_sentences(args.program, sample)):
            faults += [f"{name}: {fault}" for fault in check()]
    print("\n".join(faults) or f"ok: {len(known)} rules, {len(SAMPLES)} samples")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
