# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of docs/PEERS.md: blocks between marks, written from the ledgers."""
import re

from .hta import rounded_idle
from .ledger import DIFFERS, EQUAL, OTHER, RESTATED, THEIRS, is_number

COLUMNS = (EQUAL, RESTATED, DIFFERS, THEIRS, OTHER)
CLASSES = {"GEMM": "gemm", "SDPA_fwd": "attention", "NORM_fwd": "norm", "triton": "triton",
           "CONV_fwd": "conv"}
PLAIN = ("percentage", "stddev", "std", "pct", "count", "events")

# Figures that show best what a rule is about: tool, trace, end of the path.
SHOWN = {
    ("hta", "triton_example", "exact/temporal_breakdown/0/compute_time(us)"),
    ("hta", "mi300_resnet_act_ckpt_rank0", "default/temporal_breakdown/0/idle_time(us)"),
    ("hta", "ns_resolution", "exact/temporal_breakdown/0/kernel_time(us)"),
    ("hta", "trace_diff_test", "default/temporal_breakdown/0/idle_time(us)"),
    ("hta", "b200_eager_rank0", "exact/temporal_breakdown/0/compute_time(us)"),
    ("tracelens", "mi300_resnet_act_ckpt_rank0", "gpu_timeline_linked_only/idle_time/ms"),
    ("tracelens", "mi300_qwen1.5_0.5b", "gpu_timeline_linked_only/busy_time/ms"),
    ("tracelens", "b200_eager_rank0", "gpu_timeline_all_events/computation_time/ms"),
    ("tb_plugin", "torch_compile_triton", "operators/0/host_self"),
}


def number(value):
    if isinstance(value, int) or float(value).is_integer():
        return str(int(value))
    return f"{value:.3f}".rstrip("0").rstrip(".")


def figures(entries):
    return [entry for entry in entries if is_number(entry.theirs)]


def counts(ledgers):
    lines = ["| tool | " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * len(COLUMNS)]
    for ledger in ledgers.values():
        entries = figures(ledger.entries)
        cells = [str(sum(entry.verdict == verdict for entry in entries)) for verdict in COLUMNS]
        lines.append(f"| {ledger.name} | " + " | ".join(cells) + " |")
    return lines


def example(tool, entries):
    """The entry to show: a chosen one, else the one with the largest difference."""
    both = [entry for entry in figures(entries) if is_number(entry.ours)
            and not any(word in str(entry.path[-1]) for word in PLAIN)] or \
        [entry for entry in figures(entries) if is_number(entry.ours)]
    if not both:
        return None
    chosen = [entry for entry in both for name, trace, end in SHOWN
              if name == tool and trace == entry.trace and path_of(entry).endswith(end)]
    return max(chosen or both, key=lambda entry: (abs(entry.theirs - entry.ours), entry.trace,
                                                  path_of(entry)))


def path_of(entry):
    return "/".join(map(str, entry.path))


def differences(tool, ledger):
    lines = ["| what and why | figures | for example | theirs | ours |", "|---|---:|---|---:|---:|"]
    for rule, entries in ledger.by_rule():
        if rule.verdict not in (DIFFERS, RESTATED):
            continue
        shown = example(tool, entries)
        cells = [f"`{shown.trace}`: {path_of(shown).replace('/', ' › ')}", number(shown.theirs),
                 number(shown.ours)] if shown else ["", "", ""]
        mark = "" if rule.proved else " †"
        lines.append(f"| **{rule.title}**{mark}. {rule.why} | {len(figures(entries))} | " +
                     " | ".join(cells) + " |")
    return lines


def others(ledger):
    lines = ["| theirs | figures | and ours |", "|---|---:|---|"]
    for rule, entries in ledger.by_rule():
        if rule.verdict in (THEIRS, OTHER) and figures(entries):
            mark = "" if rule.proved else " †"
            lines.append(f"| {rule.title}{mark} | {len(figures(entries))} | {rule.why} |")
    return lines


def classes(ledger, subjects):
    """Sums by category of operator beside ours by class of kernel."""
    equal, lines = 0, ["| trace | category | theirs | ours |", "|---|---|---:|---:|"]
    for case in ledger.cases:
        report = subjects.get(case.trace)
        for row in case.golden.get("unified_by_category", ()) if report else ():
            kind = CLASSES.get(row["category"])
            if not kind:
                continue
            ours = report.total("kernels.by_class", "total_ns", **{"class": kind}) / 1e3
            if abs(ours - row["sum_us"]) <= 1e-3 + 1e-6 * ours:
                equal += 1
            else:
                lines.append(f"| `{case.trace}` | {row['category']} | {number(row['sum_us'])} | "
                             f"{number(ours)} |")
    return [f"Equal in {equal} sums; the others:", "", *lines]


def decode(traces, run):
    """What rounding makes of a decode step that is a row of short kernels."""
    path = next((traces / "vllm_decode_full_graph").glob("*.json.gz"))
    theirs, ours = rounded_idle(path, run)
    return [f"Of the vLLM decode step `{path.parent.name}`, for which there are no figures of the",
            f"tool, the same computation gives {number(theirs)} µs of idle time with times rounded",
            f"inward; our report has {number(ours)}."]


def blocks(ledgers, reports, traces, run):
    out = {"counts": counts(ledgers), "decode": decode(traces, run)}
    for tool, ledger in ledgers.items():
        out[f"differences {tool}"] = differences(tool, ledger)
        out[f"others {tool}"] = others(ledger)
    out["classes"] = classes(ledgers["tracelens"], reports)
    return out


def filled(text, made):
    """The document with each block as it should be."""
    def fill(match):
        lines = made.get(match[1])
        if lines is None:
            raise LookupError(f"docs/PEERS.md has an unknown block \"{match[1]}\"")
        return "\n".join([f"<!-- begin: {match[1]} -->", *lines, "<!-- end -->"])

    found = set(re.findall(r"<!-- begin: (.*?) -->", text))
    if found != set(made):
        raise LookupError(f"docs/PEERS.md lacks {sorted(set(made) - found)}")
    return re.sub(r"<!-- begin: (.*?) -->.*?<!-- end -->", fill, text, flags=re.S)
