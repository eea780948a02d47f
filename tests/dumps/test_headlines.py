# SPDX-License-Identifier: GPL-3.0-or-later
"""The first sentence about inputs of one kind each: it says the figure that tells most, and the
terminal shows the table that holds it."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]
START = 1764000000.0
RULE = "=" * 80


def session(**parts):
    """A report of Inferix with these parts only."""
    return json.dumps({
        "session_info": {"id": "t2v", "start_time": START, "end_time": START + 9.0,
                         "duration": 9.0, "tags": {}},
        "summary": {}, "gpu_metrics": {}, "cpu_metrics": {}, "stage_analysis": {}, "events": [],
        "recommendations": [], "cache_analysis": {}, **parts})


def layer(ms, calls):
    return {"avg_time_ms": ms / calls, "min_time_ms": ms / calls, "max_time_ms": ms / calls,
            "total_time_ms": ms, "call_count": calls}


def model(name, parameters):
    return {"name": "model_parameters", "timestamp": START,
            "data": {"model_name": name, "parameters_count": parameters, "model_type": "DiT"}}


def aggregate(gpu, durations):
    return json.dumps({
        "total_reports": len(durations), "rank_count": len(durations),
        "aggregated_gpu_metrics": gpu, "aggregated_cpu_metrics": {},
        "reports_summary": [{"report_index": i, "session_id": "s", "duration": duration,
                             "rank": i if duration else "unknown"}
                            for i, duration in enumerate(durations)]})


def over(metric, least, mean, most):
    return {metric + "_min": least, metric + "_max": most, metric + "_avg": mean,
            metric + "_sum": 4 * mean}


def framepack(**parts):
    return json.dumps({"timestamp": START, "timing_stats": {}, "memory_snapshots": [],
                       "iteration_stats": {}, **parts})


def hits(*caches):
    return "| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n" + "".join(
        f"| {i / 10:.2f} | {3 * i} | {cache} | step: {i} |\n" for i, cache in enumerate(caches))


def requests(n):
    steps = [{"step_id": i, "step_time": 0.02, "is_prefill": i == 0,
              "num_generated_tokens": 4 * (i > 0), "block_size": 32} for i in range(20)]
    return json.dumps([{"req_id": i, "trajectory": steps} for i in range(n)])


def trace(*events):
    return json.dumps({"traceEvents": [{"pid": 1, "tid": 1, "ts": i, **event}
                                       for i, event in enumerate(events)]})


REPORT = "profiling_report_t2v_20260101_000000.json"
ITERATIONS = {"count": 48, "total": 1.165, "mean": 0.0243, "min": 0.02, "max": 0.05,
              "median": 0.024}
# name of the file, content, how the headline begins, title of a table on the terminal
INPUTS = [
    ("aggregated_profiling_report.json",
     aggregate({**over("utilization_percent", 75.2, 85.2, 92.1),
                **over("memory_used_mb", 7200, 8420, 9800),
                **over("memory_total_mb", 24564, 24564, 24564)}, [12.5, 13.2, 12.6]),
     "The sessions of 3 ranks take 12.5 s to 13.2 s, that of rank 1 the longest. The GPUs are in "
     "use 85.2 % of the time (75.2 % to 92.1 % by rank).", "Metrics over all ranks"),
    ("aggregated_profiling_report.json", aggregate({}, [12.5]), "The session takes 12.5 s.",
     "Metrics over all ranks"),
    ("aggregated_profiling_report.json", aggregate({}, [0, 0]),
     "No timed events were recorded (aggregated_profiling_report.json: no metric was aggregated, "
     "as happens with session reports", None),
    (REPORT, session(computation_analysis={"layer_performance": {"attn": layer(600, 20),
                                                                 "ffn": layer(400, 20)}}),
     "The layer attn takes 60.0 % of the time in the layers (600 ms).", "Layers"),
    (REPORT, session(events=[model("wan", 1300000000), model("vae", 126900000)]),
     "The models have 1.43 billion parameters, most of them in wan; no time was recorded.",
     "Models"),
    (REPORT, session(cache_analysis={"cache_performance": {
        "hits": 30, "misses": 70, "evictions": 2, "total_requests": 102}}),
     "The caches answer 30.0 % of 100 lookups.", "Caches"),
    (REPORT, session(streaming_analysis={
        "total_streaming_events": 100, "total_frames_streamed": 1600, "total_dropped_frames": 3,
        "current_fps": 14.2, "avg_encoding_time_ms": 12.0, "avg_network_latency_ms": 4.0,
        "drop_rate_percent": 0.19}),
     "14.2 frames per second are streamed, as the profiler reports. 3 of 1 603 streamed frames "
     "were dropped (0.19 %).", "Streaming"),
    (REPORT, session(memory_analysis={"allocation_patterns": {"cuda": {
        "total_allocations": 500, "total_deallocations": 480, "total_bytes_allocated": 2**31,
        "avg_allocation_size_bytes": 2**22, "max_allocation_size_bytes": 2**28,
        "min_allocation_size_bytes": 512}}}),
     "The allocator cuda serves 500 requests of 2.00 GiB in all, the largest of 256 MiB.",
     "Allocations by allocator"),
    (REPORT, session(cpu_metrics={"timeline": [
        {"timestamp": START + i, "cpu_usage": 30 + i, "memory_used_mb": 8000,
         "memory_total_mb": 32768} for i in range(9)]}),
     "The processors of the host are in use 34.0 % of the time; no device was sampled.",
     "Device telemetry"),
    (REPORT, session(), "The session takes 9.00 s; nothing in it was timed.", None),
    ("profiling_report.json", framepack(iteration_stats=ITERATIONS),
     "The loop runs 41.2 iterations per second: 48 of 24.3 ms each.", "Iterations"),
    ("timing_summary.txt",
     f"{RULE}\nITERATION PROFILING: diffusion_step\n{RULE}\nTotal iterations: 48\n"
     "Total time:       1.165s\nMean time/iter:   0.024s (41.21 it/s)\nMin time:         0.020s\n"
     f"Max time:         0.050s\nMedian time:      0.024s\n{RULE}\n",
     "The loop diffusion_step runs 41.2 iterations per second: 48 of 24.3 ms each.", "Iterations"),
    ("profiling_report.json", framepack(),
     "No timed events were recorded (profiling_report.json: it holds no records).", None),
    ("cache.md", hits("teacache", "fbcache", "teacache"),
     "3 cache hits in 200 ms of video: teacache 2, fbcache 1. Misses are not recorded, so there "
     "is no hit ratio.", "Caches"),
    ("diffulex_stats.json", json.dumps({
        "total_samples": 10, "total_tokens": 2560, "total_nfe": 800, "total_time": 20.0,
        "e2e_total_time_s": 8.0, "e2e_throughput_tok_s": 320.0, "ttft_s": 0.21, "tpf": 3.2,
        "nfe_per_token": 0.31}),
     "320 tokens per second end to end, as the profiler reports.", "Throughput and latency"),
    ("0x3_decode_trajectory.json", requests(4),
     "The first tokens of 4 requests come after 40.0 ms, then one each 4.80 ms (means).",
     "Requests"),
    ("pytorch_stacks_gen.stacks", "main;forward;aten::mm 6000\nmain;sampler 3000\n"
     "main;vae;aten::mm 1000\n", "aten::mm itself takes 70.0 % of the time of all call stacks "
     "(7.00 ms).", "Call stacks"),
    ("py-spy.out", "main (a.py:1);data (b.py:2) 20\nmain (a.py:1);step (c.py:3) 57\n",
     "c.py:3 (step) itself is in 74.0 % of the samples of all call stacks (57 of 77).",
     "Call stacks"),
    ("trace.json", trace(*({"ph": "C", "name": "mem", "args": {"v": i}} for i in range(5))),
     "Only counters were recorded: mem runs from 0 to 4.", "Counters"),
    ("trace.json", trace(*({"ph": "i", "s": "t", "name": "tick"} for _ in range(5))),
     "Only instants were recorded: tick 5 times.", "Instants"),
    ("bench.json", json.dumps({"duration": 40.0, "completed_requests": 4, "failed_requests": 1,
                               "throughput_qps": 0.1, "latency_mean": 9.5,
                               "stage_durations_mean": {}}),
     "A request takes 9.50 s (mean of 4); 0.100 requests are answered per second, "
     "and 1 failed.", "Figures the profiler reported"),
    ("bench.csv", "scenario,model_cls,num_params_B,time_plain_s,time_compile_s\n"
     "flux-bf16,Flux,11.9,0.519,0.379\nflux-int8,Flux,11.9,,0.4\n",
     "flux-bf16 takes 519 ms.", None),
    ("run.log", "V1103 02:48:08.805986 3 guards.py:2813] [0/1] [__recompiles] Recompiling function "
     "f in /a/b/c.py:5\n    triggered by the following guard failure(s):\n    - 0/0: n == 1\n",
     "The log has 1 recompilation of torch.compile.", None),
]


class Headlines(unittest.TestCase):
    def text(self, name, content):
        with tempfile.TemporaryDirectory(prefix="headlines-") as folder:
            path = pathlib.Path(folder) / name
            path.write_text(content, encoding="utf-8")
            done = subprocess.run(
                [PROGRAM, "--no-config", "report", "-q", "--format", "text", "-o", "-", folder],
                check=True, capture_output=True, encoding="utf-8",
                env={**os.environ, "COLUMNS": "120"})
        return done.stdout

    def test_all(self):
        for name, content, headline, table in INPUTS:
            with self.subTest(headline=headline):
                text = self.text(name, content)
                said = " ".join(text.split("\n\n")[1].split())
                self.assertTrue(said.startswith(headline), f"it begins: {said}")
                if table:
                    self.assertIn(f"\n{table}\n", text)


if __name__ == "__main__":
    unittest.main()
