# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured tables of docs/CAUSES.md and docs/FINDINGS.md, between the marks of each."""
import collections

import causes

MARKS = ("<!-- measured: begin -->\n", "<!-- measured: end -->\n")


def share(part, whole):
    return f"{part / whole:.0%} of {whole}" if whole else "–"


def width(value):
    return "–" if value is None else "open" if value == float("inf") else f"{value:.1f}"


def row(*cells):
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |\n"


def table(heads, rows):
    return row(*heads) + row(*("---" for _ in heads)) + "".join(row(*r) for r in rows)


def common(values, most=3, least=0.05):
    """The values that occur most, in backticks."""
    counts = collections.Counter(values)
    total = sum(counts.values())
    return ", ".join(f"`{value}`" for value, n in counts.most_common(most) if n >= least * total)


def named(results, kind):
    """The findings that name the causes of these runs."""
    for result in results:
        if result.kind() == kind:
            for cause in result.causes:
                place = result.place(cause)
                if place is not None:
                    yield result.findings[place]


def of_controls(groups):
    """Of causes that have a control: amounts and advice, and runs without."""
    rows = []
    for name, group in groups.items():
        control = groups.get(causes.CONTROL + name)
        if control:
            rows.append((name, share(group.faultless, group.right),
                         share(control.right, control.runs)))
    return "\n" + table(("", "Amounts and advice right", "Silent in the control"), rows) \
        if rows else ""


def of_causes(results, groups):
    rows = []
    for name, cause in causes.CAUSES.items():
        if name not in groups:
            continue
        group, found = groups[name], list(named(results, name))
        rows.append((name, cause.title, common(f["id"] for f in found),
                     common((e["table"] for f in found for e in f["evidence"]), 2),
                     share(group.right, group.runs), share(group.savings, group.runs),
                     share(group.within, group.savings), width(group.width)))
    text = table(("", "Cause", "Finding", "Evidence in", "First", "With a saving",
                  "Gain within it", "Width"), rows) + of_controls(groups)
    pairs = [group for kind, group in groups.items() if "+" in kind]
    if pairs:
        text += (f"\nBoth causes of a pair are among the first three findings in "
                 f"{share(sum(g.right for g in pairs), sum(g.runs for g in pairs))} runs")
        if "clean" in groups:
            text += (f"; {share(groups['clean'].right, groups['clean'].runs)} runs without a cause "
                     "have no finding of medium severity or more")
        text += ".\n"
    return text


def of_findings(results):
    found, savings = {}, collections.defaultdict(list)
    for result in results:
        for cause in result.causes:
            place = result.place(cause)
            if place is None:
                continue
            finding = result.findings[place]
            found.setdefault(finding["id"], []).append((finding, cause))
            if finding.get("saving_ns") and cause in result.gain:
                saving = finding["saving_ns"]
                savings[finding["id"]].append((result.gain[cause], saving["low"], saving["high"]))
    rows = []
    for id_ in sorted(found):
        finding = found[id_][0][0]
        within, middle = causes.fit(savings[id_])
        said = len(savings[id_])
        rows.append((f"`{id_}`", f"`{finding['rule']}`",
                     finding.get("threshold", ""),
                     ", ".join(sorted({c for _, c in found[id_]}, key=list(causes.CAUSES).index)),
                     len(found[id_]), said or "–", share(within, said), width(middle)))
    return table(("Finding", "Rule", "Condition", "Cause", "Runs", "With a saving",
                  "Gain within it", "Width"), rows)


def write(path, text):
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    path.write_text(before + MARKS[0] + text + MARKS[1] + after, encoding="utf-8")
