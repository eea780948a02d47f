# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays of graphs in TraceLens 0.1.0: the kernels of a replay are aligned with the launches of a
trace of the capture, by name and in their order, so that operators and modules return."""
import collections

from .ledger import THEIRS, Rule
from .trace import Trace, length, union
from .tracelens_model import Frames, Settings, Tree, module_name

MERGED = Rule(
    THEIRS, "Modules of replayed graphs",
    "Kernels of a replay are aligned with the launches of a trace of the capture, by name. So are "
    "ours, by order and by name, where the capture is in the folder or named with `--map`: "
    "launches.replays, ops.by_module.")

CATEGORIES = {"aten::mm": "GEMM", "aten::addmm": "GEMM", "aten::copy_": "elementwise",
              "sgl_kernel::silu_and_mul": "elementwise",
              "sgl_kernel::rotary_embedding": "RoPE_fwd",
              "sglang::store_cache": "InferenceAttention",
              "vllm::unified_attention_with_output": "InferenceAttention",
              "_C_cache_ops::reshape_and_cache_flash": "InferenceAttention"}


def category_of(name):
    """A table of operator names, as far as it is needed."""
    if name.startswith("triton_"):
        return "triton"
    if name.startswith("aiter::") and "norm" in name:
        return "RMSNorm"
    if name.startswith("sglang_profiler::attention"):
        return "InferenceAttention"
    return CATEGORIES.get(name, "other")


def aligned(work, calls):
    """Pairs of work and the next call that launched a kernel of its name; None when one has
    none."""
    out, place = [], 0
    for one in work:
        while place < len(calls) and calls[place].args["kernel"] != one.name:
            place += 1
        if place == len(calls):
            return None
        out.append((one, calls[place]))
        place += 1
    return out


def by_category_and_module(model, capture, known):
    """{(category, module): number, sum of the unions of each} of a replay and what is beside it;
    `known` has categories of operators outside of the graph."""
    tree = Tree(capture)
    captured = Frames(capture, lambda name: name.startswith("nn.Module: "))
    modules = Frames(model.trace, lambda name: name.startswith("nn.Module: "))
    calls = sorted((span for span in capture.spans
                    if span.is_call and "Launch" in span.name and "kernel" in span.args),
                   key=lambda span: span.us)
    replayed = [work for work in model.work if "GraphLaunch" in model.links.call[work.span].name]
    pairs = aligned(sorted(replayed, key=lambda work: work.start), calls)
    units = collections.defaultdict(list)
    for work, call in pairs or ():
        units[tree.launcher(call)].append(work)
    groups = [(category_of(op.name), module_name(captured.around(op)), works)
              for op, works in units.items()]
    groups += [(known.get(op.name), module_name(modules.around(op)), works)
               for op, works in model.launchers.items() if "GraphLaunch" not in op.name]
    sums = collections.defaultdict(lambda: [0, 0.0])
    for category, module, works in groups:
        row = sums[category, module]
        row[0] += 1
        row[1] += length(union([(work.start, work.end) for work in works])) / 1e3
    return sums


def check(case, model, folder, known):
    """Claims the table of a report that merged the one capture that lies beside the trace."""
    at = ("published_inference_report", "ops_by_category_and_module")
    captures = sorted((folder / "capture_traces").glob("*"))
    if not case.has(*at) or len(captures) != 1:
        return
    sums = by_category_and_module(model(Settings(linked=True)), Trace(captures[0]), known)
    total = sum(row["sum_ms"] for row in case.at(*at))
    for index, row in enumerate(case.at(*at)):
        count, time = sums[row["category"], row["module"]]
        for key, value in (("count", count), ("sum_ms", time),
                           ("pct", 100 * row["sum_ms"] / total)):
            case.check((*at, index, key), None, [(MERGED, value)],
                       1e-3 if key == "pct" else 1e-6 * max(count, 1))
    case.label(*at)
