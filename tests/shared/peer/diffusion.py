# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of denoising in a trace without markers of steps, computed apart from any tool."""
from .ledger import DESCRIBES, THEIRS, Case, Ledger, Rule
from .trace import trace_at, length, union

TITLE = "steps of diffusion, by the module of the denoiser"
FOLDER = "diffusion"

PHASES = Rule(
    THEIRS, "Steps and phases by module",
    "Calls of the denoiser, the text encoders and the decoder as modules in Python frames. "
    "Diffusion steps are read from dumps of other profilers, not yet found in traces.")
SETTING = Rule(DESCRIBES, "What was run", "", proved=False)


class Work:
    """Device work that calls within a range of a thread launched."""

    def __init__(self, trace):
        self.trace = trace
        self.work = {}
        for span in trace.device:
            self.work.setdefault(span.correlation, []).append(span)
        self.calls = [span for span in trace.spans if span.is_call and span.correlation > 0]
        self.origin = min(span.ts for span in trace.spans)

    def of(self, span):
        inside = [work for call in self.calls if span.ts <= call.ts < span.end
                  for work in self.work.get(call.correlation, ())]
        if not inside:
            return {}
        first, last = min(w.ts for w in inside), max(w.end for w in inside)
        return {"host_start_us": (span.ts - self.origin) / 1e3, "host_dur_ms": span.dur / 1e6,
                "gpu_first_us": (first - self.origin) / 1e3,
                "gpu_last_us": (last - self.origin) / 1e3, "gpu_span_ms": (last - first) / 1e6,
                "gpu_busy_ms": length(union([(w.ts, w.end) for w in inside])) / 1e6,
                "gpu_events": len(inside), "graph_launches": 0}


def phases(case, trace, report):
    work = Work(trace)
    told = {part: case.golden.get(part) or [] for part in ("steps", "text_encoders", "vae_decoder")}
    found = [span for span in trace.spans if span.name.startswith("nn.Module: ")]
    for part, rows in told.items():
        for index, row in enumerate(rows):
            near = [span for span in found
                    if abs((span.ts - work.origin) / 1e3 - row["host_start_us"]) < .01
                    and abs(span.dur / 1e6 - row["host_dur_ms"]) < .001]
            mine = work.of(near[0]) if near else {}
            for key in row:
                case.check((part, index, key), None, [(PHASES, mine.get(key))], .00051)
    busy, window = (report.total("gpu_time.by_rank", column) / 1e6
                    for column in ("busy_ns", "window_ns"))
    case.check(("gpu_busy_ms",), busy, (), .00051)
    case.check(("gpu_total_ms",), window, (), .00051)


def check(goldens, traces, run, only=""):
    ledger = Ledger(TITLE)
    for path, golden in goldens:
        if only not in path.stem:
            continue
        case = Case(path.stem, golden)
        ledger.cases.append(case)
        file = traces / golden["trace"] / golden["files"][0]
        report = run.report(file)
        phases(case, trace_at(file), report)
        derived(case)
        for part in golden:
            case.say(SETTING, part)
    return ledger


def derived(case):
    """Periods and rates, from the figures of the steps."""
    steps = case.golden["steps"]
    for part, key in (("step_period_host_ms", "host_start_us"),
                      ("step_period_gpu_ms", "gpu_first_us")):
        for index in range(len(case.golden[part])):
            value = (steps[index + 1][key] - steps[index][key]) / 1e3
            case.check((part, index), None, [(PHASES, value)], .002)
    for part, periods in (("steps_per_s_from_host", "step_period_host_ms"),
                          ("steps_per_s_from_gpu", "step_period_gpu_ms")):
        values = case.golden[periods]
        case.check((part,), None, [(PHASES, 1e3 * len(values) / sum(values))], .01)
