#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares figures of our reports with those of truth.json: inputs whose right answer somebody
worked out from the raw records.

usage: truth.py --program PROGRAM --shared FOLDER [--only TEXT]

One function per input.  It is given the input's entry of truth.json and our report, and says with
`expect` what has to hold.
"""
import argparse
import json
import math
import pathlib
import sys

from reports import Run

CASES = {}


def case(path):
    """Registers the check of one input, such as seeds/inf_con4."""
    def register(check):
        CASES[path] = check
        return check
    return register


class Expect:
    """Collects what does not hold of one input."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def close(self, what, ours, right, within=0.005):
        """Our figure is `right`, up to the share `within` to which the truth is rounded."""
        self.true(f"{what}: {ours}, expected {right}",
                  isinstance(ours, (int, float)) and math.isclose(ours, right, rel_tol=within))

    def equal(self, what, ours, right):
        self.true(f"{what}: {ours!r}, expected {right!r}", ours == right)

    def true(self, what, holds):
        self.count += 1
        if not holds:
            self.wrong.append(what)


@case("public/gh200-fp32-transformer")
def products_on_cuda_cores(expect, truth, report):
    expect.equal("tensor-core use", report.scalars["matrix_unit_share"], truth["tensor_core_share"])
    expect.close("share of peak while busy", report.scalars["busy_peak_share"],
                 truth["mfu_of_fp32_peak"])
    row = report.row("roofline.by_rank")
    window = report.row("gpu_time.program")["window_ns"]
    expect.close("MFU over the program's window", report.scalars["mfu"],
                 row["flop"] / (window / 1e9 * row["peak_flop_rate"]))
    expect.equal("unit", row["unit"], "fp32")
    expect.true("the peak is that of the truth: %s" % truth["peak"],
                truth["peak"].startswith("FP32 %g TFLOP/s" % (row["peak_flop_rate"] / 1e12)))
    for row in report.rows("roofline.by_op", name="aten::addmm"):
        rate = row["flop_rate"] / 1e12
        expect.true(f"addmm runs at {rate:.1f} TFLOP/s, expected {truth['addmm_tflops']}",
                    truth["addmm_tflops"][0] <= round(rate) <= truth["addmm_tflops"][1])
        expect.equal("unit of addmm", row["unit"], "fp32")
    expect.true("TF32 is advised", any('set_float32_matmul_precision("high")' in finding["advice"]
                                       for finding in report.findings))


@case("public/f01_comfyui_console")
def offloaded_weights_of_a_log(expect, truth, report):
    prompts = report.row("iterations.by_name", loop="prompt")
    expect.close("first prompt", prompts["max_ns"] / 1e9, truth["prompts_s"][0], 1e-6)
    expect.close("second prompt", prompts["min_ns"] / 1e9, truth["prompts_s"][1], 1e-6)
    bars = report.rows("progress.bars")
    expect.equal("bars", len(bars), len(truth["s_per_it"]))
    for row, seconds in zip(bars, truth["s_per_it"]):
        expect.close("an iteration", row["mean_ns"] / 1e9, seconds, 1e-6)
    expect.equal("offloaded", max(row["offloaded_bytes"] for row in bars),
                 round(truth["offloaded_MB"] * 2**20))
    expect.equal("the cause", report.findings[0]["id"], "offloaded-weights")


@case("public/k06_recompile")
def steps_that_markers_do_not_cover(expect, truth, report):
    expect.close("step time", report.scalars["step_time_p50_ns"] / 1e6, truth["gpu_step_ms"])


@case("public/pdl-overlap-same-stream")
def overlap_of_dependent_launches(expect, truth, report):
    row = report.row("gpu_time.by_rank")
    expect.close("window", row["window_ns"] / 1e6, truth["window_ms"])
    expect.close("busy", row["busy_ns"] / 1e6, truth["busy_ms"])


@case("seeds/dx_period")
def exports_of_one_run_count_once(expect, truth, report):
    stages = report.tables["stages.by_name"]
    tokens = report.tables["sections.tokens"]
    total_s = sum(row["total_ns"] for row in stages) / 1e9
    expect.equal("sections", sum(row["calls"] for row in stages), truth["sections"])
    expect.close("time of the sections", total_s, truth["total_s"])
    expect.close("tokens over their time", sum(row["tokens"] for row in tokens) / total_s,
                 truth["tokens_per_s"])
    expect.close("the figure that people see",
                 report.row("throughput.values", metric="tokens_per_s", basis="sections")["value"],
                 truth["tokens_per_s"])
    found = [note["text"] for note in report.document["data_quality"]["findings"]
             if note["code"] == "earlier-export"]
    expect.true(f"the data quality names the exports: {found}",
                len(found) == 1 and "profile_20261124_103005.json" in found[0])


def site_bytes(report, place):
    """Bytes that a site such as "optimizers.py:82 step" holds at the peak."""
    file, function = place.split(" ")
    return sum(row["peak_block_bytes"] for row in report.rows("memory.sites")
               if row["site"].startswith(f"{function} (") and row["site"].endswith(f"{file})"))


@case("public/memory-cpp-frames")
def memory_of_an_optimizer(expect, truth, report):
    row, peaks = report.row("memory.by_rank"), report.row("memory.peaks")
    expect.equal("peak", row["peak_allocated_bytes"], truth["peak_allocated_bytes"])
    expect.equal("peak in use", report.scalars["peak_allocated_bytes"],
                 truth["peak_allocated_bytes"])
    expect.close("asked for before the history", peaks["start_allocated_bytes"],
                 truth["held_at_start_bytes"])
    for place, size in truth["sites_at_peak"].items():
        expect.close(place, site_bytes(report, place), size)
    one_peak(expect, report)


@case("public/m01_snapshot_cpp_stacks")
def memory_of_a_forward_pass(expect, truth, report):
    peaks = report.row("memory.peaks")
    expect.close("peak", peaks["peak_block_bytes"] / 2**30, truth["peak_GiB"], 1e-4)
    expect.close("before the history", peaks["start_block_bytes"] / 2**30,
                 truth["before_history_GiB"], 1e-3)
    for place, size in truth["sites_GiB"].items():
        expect.close(place, site_bytes(report, place) / 2**30, size, 1e-3)
    one_peak(expect, report)


def one_peak(expect, report):
    """Sites and tables of one snapshot agree on its peak, and no frame of the recorder is one."""
    peak = report.row("memory.peaks")["peak_block_bytes"]
    expect.equal("sum of the sites", report.total("memory.sites", "peak_block_bytes"), peak)
    expect.equal("peak by rank", report.row("memory.by_rank")["peak_allocated_bytes"], peak)
    expect.true("a site is a frame of the recorder or the allocator",
                not any("gather" in row["site"] or "c10::" in row["site"]
                        for row in report.rows("memory.sites")))


@case("seeds/dx_pyt")
def headings_wider_than_their_columns(expect, _truth, report):
    """What the table prints, which is not kept in truth.json."""
    total = report.row("ops.totals")
    expect.equal("device", total["device"], "CUDA")
    expect.equal("device time", total["device_ns"], 630_800_000)
    expect.equal("host time", total["host_ns"], 34_100_000)
    expect.equal("what limits the run", total["limit"], "device")
    row = report.row("ops.summed", name="aten::mm")
    expect.equal("calls", row["calls"], 1200)
    expect.equal("self time on the device", row["self_device_ns"], 310_500_000)
    expect.close("share", row["device_share"], 0.4922, within=1e-4)
    expect.equal("rows", len(report.rows("ops.summed")), 5)


@case("public/t02_table_annotations")
def kernels_operators_and_annotations(expect, truth, report):
    rows = report.rows("ops.summed")
    total = report.row("ops.totals")
    expect.equal("device time", total["device_ns"], truth["cuda_total_s"] * 1e9)
    expect.close("waits", total["wait_share"], 0.8857, within=1e-3)
    expect.equal("what limits the run", total["limit"], "device")
    annotations = [row["name"] for row in rows if row["kind"] == "annotation"]
    for name in truth["annotation_rows"]:
        start = name.split(" ...")[0]
        expect.true(f"{name} is an annotation: {annotations}",
                    any(found.startswith(start) for found in annotations))
    kernels = [row for row in rows if row["kind"] == "kernel"]
    gemms = [row["self_device_ns"] / 1e9 for row in kernels if "gemm" in row["name"]]
    expect.equal("GEMM kernels", sorted(gemms), sorted(truth["gemm_rows_s"]))
    expect.true("kernels add up to no more than the total",
                sum(row["self_device_ns"] for row in kernels) <= total["device_ns"])
    verdict = report.document["verdict"]["headline"]
    expect.true(f"the headline names the GPU first: {verdict}", "The GPU limits the run" in verdict)


@case("public/f03_sglang_perf_dump")
def request_of_a_server(expect, truth, report):
    stages = {row["stage"]: row["total_ns"] / 1e6 for row in report.rows("stages.by_name")}
    steps = report.rows("diffusion.steps")
    expect.close("request", report.row("run.sessions")["dur_ns"] / 1e6, truth["total_ms"], 1e-6)
    expect.close("text encoding", stages["TextEncodingStage"], truth["text_encoding_ms"], 1e-6)
    expect.close("denoising", stages["DenoisingStage"], truth["denoising_ms"], 1e-6)
    expect.close("decoding", stages["DecodingStage"], truth["decoding_ms"], 1e-6)
    expect.equal("steps", len(steps), truth["steps"])
    expect.close("first step", steps[0]["step_ns"] / 1e6, truth["first_step_ms"], 1e-4)
    outside = report.row("figures.reported", figure="outside_stages_ns")["value"] / 1e6
    expect.close("outside of the stages", outside, truth["total_ms"] - sum(stages.values()), 1e-4)
    found = report.finding("first-step")
    expect.true("a finding says how steps are timed",
                found is not None and "without synchronizing with the GPU" in found["title"])
    found = report.finding("text-encoding")
    expect.true("a finding names the text encoder",
                found is not None and "42.6 %" in found["title"])


@case("seeds/inf_agg")
def sessions_of_an_aggregated_report(expect, truth, report):
    times = report.row("figures.aggregated", metric="session_duration")
    headline = report.document["verdict"]["headline"]
    expect.equal("sessions", len(report.rows("figures.reported", figure="duration_ns")),
                 truth["ranks"])
    expect.close("shortest session", times["min"] / 1e9, 12.5)
    expect.close("longest session", times["max"] / 1e9, 13.2)
    expect.true(f"the headline tells the sessions: {headline}",
                "8 ranks take 12.5 s to 13.2 s" in headline and "85.2 %" in headline)


@case("seeds/fp_cache")
def hits_of_a_cache_timeline(expect, truth, report):
    headline = report.document["verdict"]["headline"]
    caches = report.tables["caches.by_name"]
    expect.equal("hits", sum(row["hits"] for row in caches), truth["hits"])
    expect.true("misses are not known", all(row["misses"] is None for row in caches))
    expect.true(f"the headline tells hits by cache: {headline}",
                headline.startswith(f"{truth['hits']} cache hits") and
                all(f"{row['cache']} {row['hits']}" in headline for row in caches))


@case("seeds/dx_basic")
def tokens_that_were_not_stored(expect, truth, report):
    row = report.row("sections.without_tokens")
    found = report.finding("tokens-recorded")
    expect.close("time without tokens", row["total_ns"] / 1e9, truth["duration_s"])
    expect.equal("sections with tokens", report.rows("sections.tokens"), [])
    expect.true("a finding says how to record them",
                found is not None and "record_throughput(tokens, duration)" in found["advice"])


def value(report, metric, basis):
    return report.row("throughput.values", metric=metric, basis=basis)["value"]


@case("seeds/inf_con4")
def session_and_pipeline_are_one_run(expect, truth, report):
    expect.close("session", report.row("run.sessions")["dur_ns"] / 1e9, truth["session_s"])
    stage = report.row("stages.by_name", stage="Diffusion generation")
    expect.close("diffusion", stage["total_ns"] / 1e9, truth["diffusion_s"])
    expect.close("its share", stage["share"], truth["diffusion_share"], 1e-3)
    expect.equal("of what", stage["share_of"], "session")
    expect.close("blocks per second", value(report, "bps", "wall"), truth["session_bps"], 1e-3)


@case("seeds/inf_dec")
def denoising_is_a_stage(expect, truth, report):
    expect.close("session", report.row("run.sessions")["dur_ns"] / 1e9, truth["session_s"])
    stages = {row["stage"]: row["share"] for row in report.rows("stages.over_ranks")}
    expect.close("denoising", stages["denoising"], truth["blocks_share"], 1e-3)
    expect.close("loading", stages["checkpoint_loading"], truth["checkpoint_loading_share"], 1e-3)
    expect.true(f"shares add up to {sum(stages.values())}", sum(stages.values()) < 1 + 1e-6)


@case("seeds/inf_dec_cfg")
def guidance_has_two_records_per_step(expect, truth, report):
    row = report.row("diffusion.by_rank")
    expect.equal("steps", row["steps_per_pass"], truth["steps_per_block"])
    expect.equal("records", row["steps_per_pass"] * row["records_per_step"],
                 truth["records_per_block"])
    expect.close("time of a step", row["step_mean_ns"] / 1e6, 200, 1e-6)
    expect.true("the rule on many steps fires", report.finding("diffusion-steps") is not None)


@case("public/f05_nvidia_smi_query")
def heat_lowers_the_clock(expect, truth, report):
    heat = report.row("telemetry.limits", limit="gpu_thermal_slowdown")
    cap = report.row("telemetry.limits", limit="gpu_power_cap")
    clock = report.row("telemetry.by_rank", signal="gpu_clock")
    expect.equal("samples", clock["samples"], truth["samples"])
    said = "from %g C thermal slow-down (0x20), clock %g to %g MHz; before it the power cap (0x4)" \
        % (heat["temperature"], cap["clock"] / 1e6, heat["clock"] / 1e6)
    expect.equal("what is said", said, truth["say"])
    expect.true("the cap comes first", cap["sample"] < heat["sample"])
    expect.true("heat is the worst finding", report.findings[0]["id"] == "heat-slowdown")


@case("public/f07_oom_message")
def amounts_of_an_error(expect, truth, report):
    row = report.row("memory.failures")
    for key, unit, name in (("wanted_bytes", 2**30, "wanted_GiB"),
                            ("device_free_bytes", 2**30, "free_GiB"),
                            ("device_bytes", 2**30, "capacity_GiB"),
                            ("allocated_bytes", 2**30, "allocated_GiB")):
        expect.close(name, row[key] / unit, truth[name], 1e-6)
    expect.close("unused_MiB", (row["reserved_bytes"] - row["allocated_bytes"]) / 2**20,
                 truth["unused_MiB"], 1e-6)
    expect.true("the request is beyond the device",
                "more than the whole GPU has" in report.findings[0]["title"])


@case("public/d02_dmon_sysmem_fallback")
def memory_overflows_into_the_host(expect, truth, report):
    row = report.row("telemetry.limits", limit="host_memory")
    received = report.row("telemetry.by_rank", signal="gpu_pcie_received")
    expect.equal("change", row["sample"], truth["change_at_sample"])
    expect.close("power before", row["power_else"], truth["power_W"][0])
    expect.close("power after", row["power"], truth["power_W"][1])
    expect.close("memory", row["memory_used"] / 2**20, truth["memory_MB"])
    expect.close("received", received["p95"] / 1e6, truth["pcie_in_MBps_after"], 0.02)
    expect.true("it is the worst finding", report.findings[0]["id"] == "host-memory")


def run_case(run, shared, path, check):
    folder, name = path.split("/")
    data = shared / "data" / folder
    truth = json.loads((data / "truth.json").read_text(encoding="utf-8"))[name]
    expect = Expect()
    report = run.report(data / name)
    if report is None:
        expect.true("the input is refused", False)
    else:
        check(expect, truth, report)
    for wrong in expect.wrong:
        print(f"{path}: {wrong}")
    return expect


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="inputs whose path contains this")
    args = parser.parse_args()
    run = Run(args.program)
    done = [run_case(run, args.shared, path, check) for path, check in sorted(CASES.items())
            if args.only in path]
    failed = sum(len(expect.wrong) for expect in done)
    print(f"{sum(expect.count for expect in done) - failed} passed, {failed} failed")
    return 0 if done and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
