#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes reports and holds them against schemas/report-1.schema.json.

usage: check_reports.py --program PROGRAM --root REPOSITORY WHAT

  samples    reports of the samples
  inputs     reports of the inputs of the golden tests, damaged ones among them
  shared     reports of real traces in ../shared; skipped (77) without that folder
  printed    `traceanalyze schema` prints the schemas as they lie in schemas/
  mutations  a report with one thing wrong must be refused, for many things: the schema bites
"""
import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

REAL = ("mi300_ddp_resnet18", "mtia_inference", "tb_resnet50_early_schema", "synthetic_nccl_4rank",
        "cpu_only_five_steps")


def fail(text):
    print(text)
    sys.exit(1)


def report_of(args, source, folder, number):
    """Path of a fresh report.json, or None when the input was refused as a whole."""
    path = folder / f"{number}.json"
    done = subprocess.run([args.program, "report", source, "-q", "-o", path], check=False,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        fail(f"{source}: exit code {done.returncode}\n{done.stderr}")
    return path if done.returncode == 0 else None


def faults_of(args, paths):
    """Exit code of the validator, and what it says."""
    done = subprocess.run([sys.executable, "-B", args.root / "tests/schema/validate.py",
                           args.root / "schemas/report-1.schema.json", *paths],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def check_inputs(args, folder, sources, refused=0):
    reports = [report_of(args, source, folder, number) for number, source in enumerate(sources)]
    made = [path for path in reports if path]
    if len(made) != len(reports) - refused:
        fail(f"{len(made)} of {len(reports)} inputs gave a report")
    code, text = faults_of(args, made)
    if code != 0:
        fail(text)
    graded = sum(check_severities(path) for path in made)
    print(f"{len(made)} reports fit the schema, and the severities of {graded} findings")


def check_severities(path):
    """Severities of what would save time go by the measure that ranks it."""
    items = [item for section in json.loads(path.read_text())["sections"]
             for item in section["items"]]
    window = [item["value"] for item in items if item.get("id") == "program_window_ns"]
    graded, last = 0, None
    for found in items:
        if found["kind"] != "finding" or not found["saving_ns"] or not window:
            continue
        saving = found["saving_ns"]
        worth = found["confidence"] * (saving["low"] + saving["high"]) / 2
        if last is not None and worth > last:
            fail(f"{path}: {found['id']} would save more than the one above it")
        last = worth
        share = worth / window[0]
        wanted = "high" if share >= 0.075 and worth >= 1e5 else \
            "medium" if share >= 0.02 and worth >= 1e4 else "low"
        if found["severity"] not in (wanted, "info"):
            fail(f"{path}: {found['id']} is {found['severity']}, and worth {share:.4f} of the run")
        graded += found["severity"] == wanted
    return graded


def check_samples(args, folder):
    check_inputs(args, folder, sorted((args.root / "samples").glob("video-*")))


def check_golden_inputs(args, folder):
    # page.json is no trace; all others give a report.
    check_inputs(args, folder, sorted((args.root / "tests/golden/inputs").iterdir()), refused=1)


def check_shared(args, folder):
    traces = args.root.parent / "shared/data/traces"
    if not traces.is_dir():
        print(f"skipped: there is no folder {traces} with real traces")
        sys.exit(SKIPPED)
    check_inputs(args, folder, [traces / name for name in REAL])


def check_printed(args, _folder):
    def printed(*words):
        return subprocess.run([args.program, "schema", *words], check=True, capture_output=True,
                              text=True).stdout
    names = printed().split()
    files = sorted((args.root / "schemas").glob("*.schema.json"))
    if names != [file.name.removesuffix(".schema.json") for file in files]:
        fail(f"the program lists {names}")
    for name, file in zip(names, files):
        if printed(name) != file.read_text(encoding="utf-8"):
            fail(f"schema {name} is not printed as it lies in {file}")


# ---- mutations ----------------------------------------------------------------------------------

def items(report, kind):
    return [item for section in report["sections"] for item in section["items"]
            if item["kind"] == kind]


def table(report, key="gpu_time.by_rank"):
    return next(item for item in items(report, "table") if item["id"] == key)


def account(report):
    return report["data_quality"]["files"][0]


def column_type(report, kind):
    """A column of this type and its place."""
    found = table(report)
    return next((n, c) for n, c in enumerate(found["columns"]) if c["type"] == kind)


def set_cell(report, kind, value):
    table(report)["rows"][0][column_type(report, kind)[0]] = value


def set_evidence(report, **members):
    items(report, "finding")[0]["evidence"][0].update(members)


MUTATIONS = {
    "no schema": lambda r: r.pop("schema"),
    "another schema": lambda r: r.update(schema="traceanalyze.report/2"),
    "no sections": lambda r: r.pop("sections"),
    "sections are no list": lambda r: r.update(sections={}),
    "no verdict": lambda r: r.pop("verdict"),
    "no accounts": lambda r: r.pop("data_quality"),
    "unknown state": lambda r: account(r).update(state="fine"),
    "unknown status": lambda r: r["data_quality"].update(status="good"),
    "negative count": lambda r: account(r).update(events_kept=-1),
    "fractional count": lambda r: account(r).update(events_kept=0.5),
    "accounts do not add up": lambda r: account(r).update(
        events_dropped=account(r)["events_dropped"] + 1),
    "more repaired than kept": lambda r: account(r).update(
        events_repaired=account(r)["events_kept"] + 1),
    "unknown kind of item": lambda r: r["sections"][0]["items"][0].update(kind="picture"),
    "id twice": lambda r: items(r, "table")[1].update(id=items(r, "table")[0]["id"]),
    "column key twice": lambda r: table(r)["columns"][1].update(key=table(r)["columns"][0]["key"]),
    "column without unit": lambda r: table(r)["columns"][0].pop("unit"),
    "unknown unit": lambda r: table(r)["columns"][0].update(unit="furlong"),
    "unknown type": lambda r: table(r)["columns"][0].update(type="date"),
    "unknown polarity": lambda r: table(r)["columns"][0].update(polarity="sideways"),
    "cell missing": lambda r: table(r)["rows"][0].pop(),
    "text in a number": lambda r: set_cell(r, "number", "1.5"),
    "fraction in an integer": lambda r: set_cell(r, "integer", 1.5),
    "boolean in an integer": lambda r: set_cell(r, "integer", True),
    "list in a cell": lambda r: set_cell(r, "integer", [1]),
    "NaN": lambda r: set_cell(r, "number", float("nan")),
    "unknown severity": lambda r: items(r, "finding")[0].update(severity="terrible"),
    "confidence above 1": lambda r: items(r, "finding")[0].update(confidence=2),
    "no evidence": lambda r: items(r, "finding")[0].update(evidence=[]),
    "evidence of no table": lambda r: set_evidence(r, table="no.such_table"),
    "evidence of no column": lambda r: set_evidence(r, column="no_such_column"),
    "evidence with another value": lambda r: set_evidence(r, value=123456789),
    "bottleneck is no finding": lambda r: r["verdict"].update(bottleneck="no-such-finding"),
}


def check_mutations(args, folder):
    path = report_of(args, args.root / "tests/golden/inputs/tiny.json", folder, 0)
    good = json.loads(path.read_text(encoding="utf-8"))
    accepted = []
    for name, mutate in MUTATIONS.items():
        bad = copy.deepcopy(good)
        mutate(bad)
        if bad == good:
            fail(f"the mutation \"{name}\" changes nothing")
        path.write_text(json.dumps(bad), encoding="utf-8")
        code, text = faults_of(args, [path])
        if code == 0:
            accepted.append(name)
        elif code != 1 or not text.startswith(str(path)):
            fail(f"{name}: the validator ended with {code}\n{text}")
    if accepted:
        fail("accepted though wrong: " + ", ".join(accepted))
    print(f"{len(MUTATIONS)} wrong reports were refused")


def main():
    checks = {"samples": check_samples, "inputs": check_golden_inputs, "shared": check_shared,
              "printed": check_printed, "mutations": check_mutations}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("what", choices=checks)
    args = parser.parse_args()
    args.root = args.root.resolve()
    try:
        import jsonschema  # noqa: F401, validate.py needs it
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="schema-") as folder:
        checks[args.what](args, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
