# SPDX-License-Identifier: GPL-3.0-or-later
"""Delays of operators and their first kernels, as Holistic Trace Analysis has them."""
import bisect
import collections
import re

from .ledger import THEIRS, Rule
from .trace import mean

DELAYS = Rule(
    THEIRS, "Delays of the first kernel of an operator",
    "The operator is the one that started last on any thread, and its delay that of its first "
    "kernel. launches.by_rank has delays by launch.")
LAUNCH = re.compile(r"cuda\w*LaunchKernel|cuLaunchKernel|runFunction - job_prep_and_submit")


def instances(model):
    """[operator, [kernel], delay of launch, delay of kernel] of each call of an operator."""
    ops = [row for row in model.rows if row.name.startswith("aten::") and row.stream == -1]
    ops.sort(key=lambda row: row.ts)
    starts = [row.ts for row in ops]
    kernels = {row.correlation: row for row in model.device if row.correlation >= 0}
    found = {}
    launches = sorted((row for row in model.rows if row.stream == -1 and LAUNCH.match(row.name)
                       and row.correlation in kernels), key=lambda row: row.ts)
    for launch in launches:
        op = next((op for op in reversed(ops[:bisect.bisect_right(starts, launch.ts)])
                   if op.end >= launch.end), None)
        if op is not None:
            kernel = kernels[launch.correlation]
            call = found.setdefault(op, [op.name, [], launch.ts - op.ts, kernel.ts - launch.ts])
            call[1].append(kernel.name)
    return list(found.values())


def groups(models):
    """{(operator, [kernels]): (count, mean delay of the launch, mean delay of the kernel)}, each of
    the first rank that has it."""
    out = {}
    for model in models:
        own = collections.defaultdict(list)
        for name, kernels, op_delay, kernel_delay in instances(model):
            own[name, tuple(kernels)].append((op_delay, kernel_delay))
        for key, delays in own.items():
            out.setdefault(key, (len(delays), mean([a for a, _ in delays]),
                                 mean([b for _, b in delays])))
    return out


def check(case, at, models):
    """Claims the figures of a table, whose names of kernels are cut after 300 characters."""
    found = groups(models)
    if len(models) == 1 and (*at, "rows") in case.leaves:
        case.check((*at, "rows"), None, [(DELAYS, len(found))])
    named = collections.defaultdict(list)
    for (name, kernels), row in found.items():
        named[name, " -> ".join(kernels)[:300]].append(row)
    for index, row in enumerate(case.at(*at).get("top", ())):
        columns = zip(("occurrence_count", "avg_aten_op_launch_delay", "avg_runtime_delay"),
                      zip(*named[row["aten_op_name"], row["kernel_sequence"]]))
        for key, values in columns:
            case.check((*at, "top", index, key), None,
                       [(DELAYS, round(value, 3)) for value in values], 1e-3)
