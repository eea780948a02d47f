#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of writers of logs: what is read of each, whatever is in front of it, and what is said.

usage: test_writers.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import checks
import reports
from test_logs import PREFIXES, bar, with_prefix

GIB = 2**30


def statistics(model, hits, diffs, branch="", steps=""):
    """The table of cache-dit's summary."""
    heads = (f"{branch}Cache Steps", *(f"Diffs {word}" for word in
                                       ("P00", "P25", "P50", "P75", "P95", "Min", "Max")))
    values = (hits, *diffs[:5], diffs[0], diffs[5])
    return (f"⚡️{branch}Cache Steps and Residual Diffs Statistics: {model}{steps}\n\n"
            f"| {' | '.join(heads)} |\n|{'|'.join('-' * (len(head) + 2) for head in heads)}|\n"
            f"| {' | '.join(f'{value!s:{len(head)}}' for head, value in zip(heads, values))} |\n\n")


def details(hits, looked_at, branch="", n=None):
    return (f"'{branch}Cache Steps: {len(hits) if n is None else n}, {hits}'\n"
            f"(\"{branch}Residual Diffs: {looked_at}, {{'2': 0.2333984375, '3': 0.1289, '4': \"\n"
            ' "0.09375}")\n')


DIFFS = (0.043, 0.06, 0.089, 0.135, 0.217, 0.285)
CONFIG = ("{'cache_config': DBCacheConfig(cache_type=<CacheType.DBCache: 'DBCache'>, "
          "Fn_compute_blocks=8, residual_diff_threshold=0.03, max_warmup_steps=8, "
          "max_cached_steps=-1), 'name': 'blocks_1'}\n")
DICTIONARY = ("{'name': 'blocks_1', 'Fn_compute_blocks': 1, 'residual_diff_threshold': 0.08, "
              "'alter_residual_diff_threshold': 1.0, 'max_warmup_steps': 2, 'max_cached_steps': 8}")

FLUX = """got prompt
Requested to load FluxClipModel_
loaded completely 5269.104292678833 4777.5 True
Requested to load Flux
loaded partially 7014.618897003174 7013.25 0
100%|##########| 4/4 [00:11<00:00,  2.76s/it]2025-05-08T15:38:48.529837 -
100%|##########| 4/4 [00:11<00:00,  2.77s/it]2025-05-08T15:38:48.529837 -
Requested to load AutoencodingEngine
loaded completely 235.32804107666016 159.5 True
Prompt executed in 17.20 seconds
got prompt
Requested to load FluxClipModel_
loaded completely 5269.104292678833 4777.5 True
loaded partially 7014.618897003174 7013.25 0
100%|##########| 4/4 [00:12<00:00,  3.05s/it]
Requested to load AutoencodingEngine
loaded completely 235.32804107666016 159.5 True
Prompt executed in 16.68 seconds
got prompt
100%|##########| 4/4 [00:13<00:00,  3.28s/it]
Prompt executed in 12.68 seconds
"""
SDXL = """Requested to load SDXLClipModel
Loading 1 new model
Requested to load SDXL
Requested to load ControlNet
Loading 2 new models
100%|##########| 64/64 [00:13<00:00,  4.73it/s]
Requested to load AutoencoderKL
Loading 1 new model
Prompt executed in 22.19 seconds
100%|##########| 64/64 [00:30<00:00,  2.07it/s]
Prompt executed in 31.37 seconds
"""


class Checks(checks.Checks):
    def refuses(self, what, text):
        done = reports.call(self.program, "report", self.log_of(text))
        self.expect(f"{what}: exit", done.returncode == 0, False)

    # ---- caches ----------------------------------------------------------------------------------

    def caches_of(self, text):
        return [(row["cache"], row["hits"], row["misses"])
                for row in self.read(text).rows("caches.by_name")]

    def cache_dit(self):
        summary = ("🤗Cache Options: Model\n\n" + DICTIONARY + "\n\n" +
                   statistics("Model", 5, DIFFS) + details([6, 8, 10, 12, 14], 13) +
                   statistics("Model", 4, DIFFS, "CFG ") + details([6, 8, 10, 12], 13, "CFG "))
        for prefix in PREFIXES:
            self.expect(f"a summary after {prefix!r}", self.caches_of(with_prefix(prefix, summary)),
                        [("Model", 5, 8), ("Model (CFG)", 4, 9)])
        report = self.read(summary)
        self.expect("settings and differences",
                    [report.reported("Model", figure) for figure in
                     ("residual_diff_threshold", "max_warmup_steps", "residual_diff_min",
                      "residual_diff_p50", "residual_diff_p95", "residual_diff_max")],
                    [0.08, 2, 0.043, 0.089, 0.217, 0.285])
        self.expect("silence", [report.finding("step-cache"), report.finding("cache-hits")],
                    [None, None])
        self.expect("without details", self.caches_of(statistics("Model", 5, DIFFS)),
                    [("Model", 5, None)])
        counted = ", Executed Steps: 28, Transformer Executed Steps: 56"
        self.expect("with steps", self.caches_of(
            statistics("Model", 13, DIFFS, steps=counted) + statistics("Model", 12, DIFFS, "CFG ") +
            details([9], 20, "CFG ", 12)), [("Model", 13, 15), ("Model (CFG)", 12, 16)])
        self.expect("details alone", self.caches_of("[Cache-DiT] Cached Steps: 2, [9, 14]\n"
                                                    "Residual Diffs: 12, {'8': 0.1}\n"),
                    [("step cache", 2, 10)])
        pruned = (statistics("Model", 120, DIFFS).replace("Cache Steps and", "Pruned Blocks and")
                  .replace("| Cache Steps ", "| Pruned Blocks ") +
                  "Dynamic Block Prune Ratio: 23.44% (120/512)\n")
        self.expect("pruned blocks", self.caches_of(pruned), [("Model, pruned blocks", 120, 392)])

    def cache_that_skips_nothing(self):
        loop = bar("", [0.75] * 28)
        report = self.read(loop + "🤗Context Options: Model\n\n" + CONFIG +
                           "WARNING 12-03 06:53:00 [summary.py:284] Can't find Parallelism Config\n"
                           + statistics("Model", 0, DIFFS) +
                           statistics("Model", 0, DIFFS, "CFG "))
        finding = report.finding("step-cache")
        self.expect("its finding", finding["title"],
                    "The step cache of Model never hits, and another one does no better: steps "
                    "differ by at least 0.043, its threshold is 0.03")
        self.expect("its cure", [word in finding["advice"] for word in ("0.089",
                                                                        "max_warmup_steps (8)")],
                    [True] * 2)
        # Half of the 20 iterations after the warm-up, at most.
        self.expect("its saving", [round(finding["saving_ns"][end] / 1e9, 2)
                                   for end in ("low", "high")], [2.51, 7.52])
        self.expect("one finding about it", report.finding("cache-hits"), None)
        self.expect("the headline has it", finding["title"] in report.document["headline"]["text"]
                    if isinstance(report.document.get("headline"), dict)
                    else finding["title"] in str(report.document), True)
        warm = self.read("🤗Context Options: Model\n\n" + CONFIG.replace("=0.03", "=0.35") +
                         statistics("Model", 0, DIFFS)).finding("step-cache")
        self.expect("a threshold that is not the cause",
                    "although its threshold is 0.35" in warm["title"] and
                    "warm-up" in warm["advice"], True)

    def step_caches(self):
        self.expect("a ratio", self.caches_of("Teacache Skipped Steps:12/30\n"
                                              "[INFO] EasyCache - skipped 9/20 steps (1.82x).\n"),
                    [("EasyCache", 9, 11), ("Teacache", 12, 18)])
        listed = "TeaCache skipped:\n6 cond steps\n5 uncond step\nout of 20 steps\n"
        for prefix in PREFIXES:
            self.expect(f"a list after {prefix!r}", self.caches_of(with_prefix(prefix, listed)),
                        [("TeaCache (cond)", 6, 14), ("TeaCache (uncond)", 5, 15)])
        self.refuses("another thing that is skipped", "The cache was skipped 3/4\n")

    # ---- ComfyUI ---------------------------------------------------------------------------------

    def comfyui(self):
        report = self.read(FLUX)
        self.expect("a model that is loaded again without a request",
                    [row["model"] for row in report.rows("models.loads")],
                    ["FluxClipModel_", "Flux", "AutoencodingEngine"] * 2)
        self.expect("models of its bars", [row["model"] for row in report.rows("progress.bars")],
                    ["Flux"] * 3)
        report = self.read(SDXL)
        self.expect("models without sizes", [row["model"] for row in report.rows("models.loads")],
                    ["SDXLClipModel", "SDXL", "ControlNet", "AutoencoderKL"])
        self.expect("their bars", [row["model"] for row in report.rows("progress.bars")],
                    ["SDXL"] * 2)
        report = self.read("Requested to load WanTEModel\nloaded completely 9.5e+25 6419.5 True\n" +
                           bar("", [26] * 4))
        self.expect("an encoder runs no loop", report.row("progress.bars")["model"], None)
        report = self.read("Requested to load A\nloaded completely 100.0 80.5 True\n"
                           "Requested to load B\nloaded completely 100.0 80.5 True\n"
                           "Prompt executed in 3.00 seconds\nloaded completely 100.0 80.5 True\n")
        self.expect("two models of one size", [row["model"] for row in report.rows("models.loads")],
                    ["A", "B", None])

    # ---- times and rates -------------------------------------------------------------------------

    def times(self):
        text = ("Model loading took 23.5 seconds\nInference time: 54.25 seconds\n"
                "Video saved in 2 s\nTotal time: 80.5 s\n")
        for prefix in PREFIXES:
            self.expect(f"times after {prefix!r}",
                        {row["stage"]: (row["calls"], row["total_ns"] / 1e9) for row in
                         self.read(with_prefix(prefix, text)).rows("stages.by_name")},
                        {"Model loading": (1, 23.5), "Inference": (1, 54.25),
                         "Video saved": (1, 2.0), "total": (1, 80.5)})
        report = self.read("Time cost: 11.54s\nElapsed time: 12.46 s\n")
        self.expect("times of nothing", report.row("iterations.by_name", loop="run")["total_ns"],
                    24_000_000_000)
        for prefix in ("INFO main: ", "[2025-09-30 21:14:00] INFO app: "):
            self.expect(f"times of a logger, {prefix!r}",
                        self.read(with_prefix(prefix, text)).row("stages.by_name",
                                                                 stage="Inference")["calls"], 1)
        for line in ("Retry in 5 seconds", "Timeout: 30 s", "ETA time: 30 s", "time limit: 3 s",
                     "Estimated time: 40 seconds", "Time: 3", "took off at 12 s", "time: 12:30:41",
                     "Restarting took 3 steps", "Uptime: 3 s", "| `all_reduce` took 3 s |",
                     "The first step took 904 ms, then the others 32 ms", "It takes 3 s",
                     "On my card the decoder took 3 s.", "**Total time:** 3 s"):
            self.refuses(line, line + "\n")

    def steps(self):
        lines = [f"[Step {i + 1}/6] loss: 0.{i}, time: {time} s, eta: 30 s"
                 for i, time in enumerate((12.5, 2.25, 2.5, 2.25, 2.5, 2.25))]
        for prefix in PREFIXES:
            row = self.read(with_prefix(prefix, "\n".join(lines))).row("progress.bars")
            self.expect(f"steps after {prefix!r}",
                        [row["loop"], row["done"], row["total"], row["elapsed_ns"] / 1e9,
                         row["mean_ns"], row["first_ns"] / 1e9, row["rest_ns"] / 1e9],
                        ["Step", 6, 6, 24.25, 24.25e9 / 6, 12.5, 2.35])
        report = self.read("step 10/100 took 2.5 s\nstep 20/100 took 2.5 s\nInference time: 3 s\n")
        self.expect("steps with others between them", report.rows("progress.bars"), [])

    def rates(self):
        text = "Average FPS: 12.5\nThroughput: 45.25 tokens/s\n4.5 images/sec\n"
        for prefix in PREFIXES:
            report = self.read(with_prefix(prefix, text))
            self.expect(f"rates after {prefix!r}",
                        {row["metric"]: row["value"] for row in report.rows("throughput.values")},
                        {"fps": 12.5, "tokens_per_s": 45.25, "images_per_s": 4.5})
        report = self.read("FPS: 12.5\nFPS: 13.5\nFPS: 11.5\n")
        self.expect("a rate again and again",
                    [report.reported(group, "fps") for group in ("log", "log, least", "log, most")],
                    [12.5, 11.5, 13.5])
        for line in ("fps: 16", "sample_fps: 16", "Saving video at 16 fps", "FPS: 24",
                     "exporting 3.5 frames/s", "It ran at 12.5 fps on the card",
                     "12.5 fps is what I get", "A good rate would be: 12.5 tokens/s",
                     "the server gives 12.5 tokens/s", "| fast | 628.5 tokens/s |"):
            self.refuses(line, line + "\n")

    # ---- servers ---------------------------------------------------------------------------------

    def serving(self):
        vllm = [f"Engine 000: Avg prompt throughput: 100.0 tokens/s, Avg generation throughput: "
                f"{speed:.1f} tokens/s, Running: {runs} reqs, Waiting: {waits} reqs, GPU KV cache "
                f"usage: {used:.1f}%, Prefix cache hit rate: 12.5%"
                for speed, runs, waits, used in ((5.0, 0, 0, 0), *[(800.0, 8, 0, 60)] * 3,
                                                 *[(360.0, 8, 15, 99.5)] * 2)]
        for prefix in ("(APIServer pid=158) INFO 09-02 13:08:10 [loggers.py:123] ", *PREFIXES):
            report = self.read(with_prefix(prefix, "\n".join(vllm)))
            figures = {row["figure"]: row["value"] for row in report.rows("figures.reported")}
            self.expect(f"vLLM after {prefix!r}",
                        [figures[name] for name in
                         ("tokens_per_s", "tokens_per_s_without_queue", "tokens_per_s_with_queue",
                          "prefill_tokens_per_s", "intervals", "intervals_with_queue",
                          "most_running", "most_waiting", "most_kv_cache_used",
                          "prefix_cache_hits")],
                        [800, 800, 360, 100, 6, 2, 8, 15, 0.995, 0.125])
        self.expect("a full cache", report.finding("request-queue")["title"],
                    "The KV cache is full (99.5 %) and up to 15 requests wait: generation falls "
                    "from 800 to 360 tokens/s")
        sglang = [f"[2025-05-07 09:50:0{i} TP0] Decode batch. #running-req: 2, #token: 99, token "
                  f"usage: 0.25, cuda graph: {graph}, gen throughput (token/s): {speed}, "
                  f"#queue-req: {queue}\n"
                  for i, (graph, speed, queue) in enumerate((("True", 0.96, 0), ("True", 77.5, 0),
                                                             ("False", 78.5, 3),
                                                             ("True", 76.5, 4)))]
        report = self.read("".join(sglang))
        figures = {row["figure"]: row["value"] for row in report.rows("figures.reported")}
        self.expect("SGLang", [figures[name] for name in
                               ("tokens_per_s", "most_tokens_per_s", "most_kv_cache_used",
                                "batches_with_cuda_graph", "batches_without_cuda_graph")],
                    [77, 78.5, 0.25, 3, 1])
        self.expect("a limit on requests", report.finding("request-queue")["title"],
                    "At most 2 requests run at a time, and up to 4 requests wait")
        self.expect("no queue", self.read("".join(sglang[:2])).finding("request-queue"), None)

    # ---- torch.compile ---------------------------------------------------------------------------

    def recompile_limit(self):
        place = "/repos/diffusers/transformers/transformer_hunyuan_video.py:386"
        guard = "___check_obj_id(L['self']._modules['attn'].processor, 131625166360736)"
        for prefix in ("W0228 19:40:01.093000 1516 torch/_dynamo/convert_frame.py:844] [2/8] ", "",
                       "[rank0]:"):
            report = self.read(with_prefix(
                prefix, "torch._dynamo hit config.recompile_limit (8)\n"
                f"   function: 'forward' ({place})\n   last reason: 2/7: {guard}\nTo log all "
                'recompilation reasons, use TORCH_LOGS="recompiles".\n'))
            self.expect(f"a limit after {prefix!r}", report.finding("recompile-limit")["title"],
                        "torch.compile gave up on forward in transformers/transformer_hunyuan_video"
                        ".py:386 after 8 compilations and runs it uncompiled")
            self.expect(f"its guard after {prefix!r}", report.finding("recompile-limit")["why"],
                        "The last guard that failed: "
                        "___check_obj_id(L['self']._modules['attn'].processor).")
        old = self.read("torch._dynamo hit config.cache_size_limit (64)\n   function: 'step' "
                        "(/a/b/train.py:7)\n   last reason: L['n'] == 3\n")
        self.expect("an older limit", old.finding("recompile-limit")["title"],
                    "torch.compile gave up on step in b/train.py:7 after 64 compilations and runs "
                    "it uncompiled")

    # ---- memory ----------------------------------------------------------------------------------

    def memory(self):
        text = ("Memory allocated: 3.5 GB\nMax memory allocated: 14.25 GB\n"
                "Max memory reserved: 16.5 GiB\n")
        for prefix in PREFIXES:
            row = self.read(with_prefix(prefix, text)).row("memory.by_rank")
            self.expect(f"memory after {prefix!r}",
                        [row["peak_allocated_bytes"] / GIB, row["peak_reserved_bytes"] / GIB,
                         row["snapshots"]], [14.25, 16.5, 1])
        report = self.read("[MemoryTracker] Started: decode, initial=512.0MB\n"
                           "[MemoryTracker] decode: used=12.25MB, peak=4512.5MB\n"
                           "[VRAM load] allocated=1.5GB peak=3.5GB free=5GB total=24GB\n")
        self.expect("labels", [(row["label"], row["allocated_bytes"],
                                row["max_allocated_bytes"] / 2**20)
                               for row in report.rows("memory.snapshots")],
                    [("decode", 512 * 2**20, 4512.5), ("VRAM load", 1.5 * GIB, 3584)])
        report = self.read("Peak VRAM usage: 12.5 GB\nGPU peak: 13.5GB\n")
        self.expect("peaks in other words", report.scalars["peak_allocated_bytes"] / GIB, 13.5)
        report = self.read("-" * 48 + "\nThe number of cuda retries are: 3\nTop 20 ops that "
                           "generates memory are:\nroot.blocks.0.forward.mm.default_12: 96.5MB\n"
                           "root.norm.forward.add.Tensor_3: 4.25MB\n" + "-" * 48 + "\n")
        self.expect("torch's tracker", [report.row("memory.by_rank")["retries"],
                                        [row["name"] for row in report.rows("operators.summary")]
                                        if "operators.summary" in report.tables else None][:1],
                    [3])
        for line in ("Free memory: 12.5 GB", "CPU memory peak: 3.5 GB", "peak memory: 12.5",
                     "Max memory budget: 12 GB", "peak gpu memory 12M",
                     "Memory peaks at 13.5 GiB in use", "the allocator reserved at most 13.5 GiB",
                     "Peak memory was 13.5 GiB, reserved memory 20 GiB",
                     "Peak memory: 13.5 GiB, which is more than before"):
            self.refuses(line, line + "\n")

    # ---- files of their own ----------------------------------------------------------------------

    def write(self, name, text):
        path = self.scratch / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def dashboard(self):
        runs = [{"benchmark_params": {"test_name": name, "num_prompts": 10},
                 "result": {"backend": "vllm-omni", "model": "Qwen/Qwen-Image",
                            "duration": 10 * mean, "completed_requests": 10,
                            "throughput_qps": 1 / mean,
                            "latency_mean": mean, "stage_durations_mean": {"diffuse": mean / 2}}}
                for name, mean in (("large", 12.5), ("small", 4.25))]
        report = reports.read(self.program, self.write("dash.json", json.dumps(runs)))
        self.expect("latency of each run", [report.reported(f"requests, {name}", "latency_mean_ns")
                                            for name in ("large", "small")], [12.5e9, 4.25e9])
        self.expect("stages of each run", sorted((row["stage"], row["calls"], row["total_ns"])
                                                 for row in report.rows("stages.by_name")),
                    [("large/diffuse", 10, 62.5e9), ("small/diffuse", 10, 21.25e9)])
        report = reports.read(self.program, self.write("dash.json", json.dumps(runs[:1])))
        self.expect("a single run", report.reported("requests", "latency_mean_ns"), 12.5e9)

    def diffusers(self):
        report = reports.read(self.program, self.write("bench.csv", (
            "scenario,model_cls,num_params_B,flops_G,time_plain_s,mem_plain_GB,time_compile_s,"
            "mem_compile_GB,fullgraph,mode\n"
            "a-bf16,Flux,11.5,59532.5,0.5,23.5,0.25,23.5,True,default\n"
            "b-nf4,Wan,14.25,,3.5,8.5,,,,\n")))
        self.expect("models of runs of their own are not added up", report.scalars["parameters"],
                    14_250_000_000)
        self.expect("operations of a call", report.reported("a-bf16", "flops"), 59532.5e9)
        self.expect("settings", [(row["key"], row["value"]) for row in report.rows("run.tags")],
                    [("a-bf16, fullgraph", "True"), ("a-bf16, mode", "default")])

    def inferix_page(self):
        card = '<div class="metric-value">{}</div>\n<div class="metric-label">{}</div>\n'
        page = ("<!DOCTYPE html>\n<html>\n<title>Inferix Profiling Report - mine</title>\n"
                "<h2>📦 Block Computation Analysis</h2>\n" +
                card.format("30.5", "FPS (Frames/Second)") +
                card.format("97.25ms", "Avg Block Time") +
                "<h2>🧠 Model Analysis</h2>\n<tr>\n<td>Wan</td>\n<td>1,418,996,800</td>\n"
                "<td>diffusion</td>\n</tr>\n<h2>⏱️ Pipeline Stage Analysis</h2>\n<tr>\n"
                "<td>vae_decode</td>\n<td>0.250</td>\n<td>0.125</td>\n<td>2</td>\n"
                "<td>16.5%</td>\n</tr>\n<h2>ℹ️ Session Information</h2>\n"
                "<p><strong>Session ID:</strong> mine</p>\n"
                "<p><strong>Duration:</strong> 1.75 seconds</p>\n<p><strong>Tags:</strong> "
                '{"rank": 2, "world_size": 4, "scale": 0.5, "mode": "t2v"}</p>\n')
        report = reports.read(self.program, self.write("page/r.html", page))
        row = report.row("stages.by_name")
        self.expect("a stage", [row["rank"], row["stage"], row["calls"], row["total_ns"]],
                    [2, "vae_decode", 2, 250_000_000])
        self.expect("cards", [report.reported("block", figure) for figure in
                              ("fps", "avg_computation_time_ns")], [30.5, 97_250_000])
        self.expect("a model", report.row("models.parameters")["parameters"], 1_418_996_800)
        self.expect("tags", {row["key"]: row["value"] for row in report.rows("run.tags")},
                    {"rank": "2", "world_size": "4", "scale": "0.5", "mode": "t2v"})
        self.write("page/r.json", json.dumps({
            "session_info": {"id": "mine", "duration": 1.7526, "tags": {"rank": 2}}, "events": [],
            "summary": {}, "stage_analysis": {"stages": {"vae_decode": {
                "total_time": 0.2504, "call_count": 2}}}}))
        for inputs in ((self.scratch / "page",),
                       (self.scratch / "page/r.html", self.scratch / "page/r.json")):
            row = reports.read(self.program, *inputs).row("stages.by_name")
            self.expect(f"a page next to its report, {len(inputs)}",
                        [row["calls"], row["total_ns"]], [2, 250_400_000])
        for n in range(0, len(page), 5):
            cut = reports.call(self.program, "report", self.write("cut.html", page[:n]))
            for row in [] if cut.returncode else reports.Report(cut.stdout).rows("stages.by_name"):
                self.expect(f"{n} characters", row["total_ns"], 250_000_000)

    # ---- what is said ----------------------------------------------------------------------------

    def first_lines(self, text):
        path = self.scratch / "run.log"
        path.write_bytes(text.encode())
        done = subprocess.run([self.program, "--no-config", "report", "-o", self.scratch / "out",
                               path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=240)
        return " ".join(" ".join(done.stdout.splitlines()[:24]).split())

    def causes(self):
        """The cause is in the first lines of the terminal, with its figures."""
        again = SDXL.replace("Requested to load ControlNet\n", "").replace("2 new models",
                                                                          "1 new model")
        for what, text, words in (
                ("a loop that is slower the second time", again,
                 ("SDXL", "211 ms", "483 ms", "slower from run to run")),
                ("a first iteration that compiles", bar("", [92] + [0.25] * 20),
                 ("The first iteration takes 92", "the others 250 ms")),
                ("a change of speed", bar("", [2.5] * 12 + [8] * 20),
                 ("From iteration 13 on", "8.00 s instead of 2.51 s")),
                ("a step cache that skips nothing",
                 bar("", [0.75] * 28) + "🤗Cache Options: Model\n\n" + CONFIG +
                 statistics("Model", 0, DIFFS), ("never hits", "0.043", "threshold is 0.03")),
                ("a full KV cache",
                 "".join("Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
                         f"throughput: {speed}.0 tokens/s, Running: 8 reqs, Waiting: {waits} reqs, "
                         f"GPU KV cache usage: {used}.5%, Prefix cache hit rate: 0.0%\n"
                         for speed, waits, used in ((800, 0, 60), (400, 12, 99), (400, 15, 99))),
                 ("KV cache is full (99.5 %)", "up to 15 requests wait", "800 to 400 tokens/s")),
                ("a script of diffusers",
                 "Loading pipeline components...: 100%|#####| 7/7 [00:03<00:00,  2.10it/s]\n" +
                 bar("", [2.5] * 20) + "Model loading took 23.4 seconds\nInference time: 54.32 "
                 "seconds\nMax memory allocated: 14.25 GB\nTotal time: 80.1 seconds\n",
                 ("2.50 s", "Inference takes 67.8 %", "14.2 GiB")),
                ("two prompts, the first with loading",
                 "got prompt\n" + bar("", [2.5] * 20) + "Prompt executed in 90.5 seconds\n"
                 "got prompt\n" + bar("", [2.5] * 20) + "Prompt executed in 65.25 seconds\n",
                 ("The first prompt took 90.5 s, the second 65.2 s",)),
                ("memory alone", "[MemoryTracker] decode: used=12.25MB, peak=4512.5MB\n",
                 ("Memory in use peaks at 4.41 GiB",)),
                ("disks alone", "Total DISK READ: 100.00 M/s | Total DISK WRITE: 0.00 B/s\n"
                 "Total DISK READ: 50.00 M/s | Total DISK WRITE: 0.00 B/s\n",
                 ("78.6 MB/s are read from disks on average, up to 105 MB/s",)),
                ("a rate", "Average FPS: 12.5\n", ("12.5 frames per second as the log says",)),
                ("a loop of two ranks",
                 "".join(f"[rank{rank}]: {line}\n" for rank in (0, 1) for line in
                         bar("Denoising", [2] * 15 + [6] * 15, "\n").splitlines()),
                 ("6.00 s instead of 2.00 s",))):
            head = self.first_lines(text)
            self.expect(f"{what} in {head!r}", [word for word in words if word not in head], [])

    def ranks(self):
        """A rank that is late by what nobody notices is not named."""
        stages = (("Encoding", (0.0002, 0.0003)), ("Denoising", (80.25, 80.5)))
        text = "".join(f"[rank{rank}] [{name}Stage] finished in {times[rank]:.4f} seconds\n"
                       for name, times in stages for rank in (0, 1))
        self.expect("late by 100 us", self.read(text).finding("late-rank"), None)
        self.expect("late by 30 s", self.read(text.replace("80.5000", "110.5000"))
                    .finding("late-rank") is None, False)

    # ---- cut logs --------------------------------------------------------------------------------

    def prefixes(self):
        """What a log begins with gives figures of the whole log, or none."""
        text = ("Context Options: Model\n\n" + CONFIG +
                statistics("Model", 13, DIFFS, steps=", Executed Steps: 28, Transformer Executed "
                           "Steps: 28") + details([9, 11], 20, n=13) +
                "Teacache Skipped Steps:12/30 \nInference time: 54.25 seconds\n"
                "Max memory allocated: 14.25 GB\n[MemoryTracker] decode: peak=4512.5MB\n"
                "Throughput: 45.25 tokens/s\nstep 1/2, time: 12.5 s\nstep 2/2, time: 2.25 s\n"
                ).encode()
        path = self.scratch / "cut.log"
        for n in range(0, len(text), 3):
            path.write_bytes(text[:n])
            done = reports.call(self.program, "report", path)
            if done.returncode:
                continue
            report = reports.Report(done.stdout)
            for row in report.rows("caches.by_name"):
                self.expect(f"{n} bytes, {row['cache']}", (row["hits"], row["misses"]) in
                            ((13, 15), (12, 18)), True)
            for row in report.rows("figures.reported"):
                self.expect(f"{n} bytes, {row['figure']}", row["value"] in
                            (0.03, 8, *DIFFS, 45.25), True)
            for row in report.rows("stages.by_name"):
                self.expect(f"{n} bytes, {row['stage']}", row["total_ns"], 54_250_000_000)
            for row in report.rows("memory.snapshots"):
                self.expect(f"{n} bytes, {row['label']}", row["max_allocated_bytes"] in
                            (14.25 * GIB, 4512.5 * 2**20), True)
            for row in report.rows("progress.bars"):
                self.expect(f"{n} bytes, steps", row["elapsed_ns"] / 1e9 in (12.5, 14.75), True)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        all_checks = Checks(sys.argv[1], pathlib.Path(scratch))
        all_checks.cache_dit()
        all_checks.cache_that_skips_nothing()
        all_checks.step_caches()
        all_checks.comfyui()
        all_checks.times()
        all_checks.ranks()
        all_checks.steps()
        all_checks.rates()
        all_checks.serving()
        all_checks.recompile_limit()
        all_checks.memory()
        all_checks.dashboard()
        all_checks.diffusers()
        all_checks.inferix_page()
        all_checks.causes()
        all_checks.prefixes()
    return 1 if all_checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
