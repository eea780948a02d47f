#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Console logs of known content: what is read of them, whatever is around their lines, and that no
prefix of a log gives a wrong figure.

usage: test_logs.py PROGRAM
"""
import pathlib
import random
import subprocess
import sys
import tempfile

import checks
import reports

GIB = 2**30
PREFIXES = ("", "2025-09-30 21:14:00,123 INFO server.main: ", "[12-16 08:13:02] ",
            "INFO 09-30 21:14:00 [worker.py:123] ", "\x1b[36mINFO\x1b[0m: ")


def clock(seconds):
    minutes = int(seconds) // 60
    return f"{minutes // 60}:{minutes % 60:02d}:{int(seconds) % 60:02d}" if minutes >= 60 else \
        f"{minutes:02d}:{int(seconds) % 60:02d}"


def bar(name, times, end="\r"):
    """tqdm's states of a loop whose iterations take these times."""
    elapsed, smooth, out, n = 0.0, None, [], len(times)
    for done in range(n + 1):
        if done:
            elapsed += times[done - 1]
            smooth = times[done - 1] if smooth is None else 0.3 * times[done - 1] + 0.7 * smooth
        rate = "?it/s" if smooth is None else \
            f"{1 / smooth:5.2f}it/s" if smooth < 1 else f"{smooth:5.2f}s/it"
        left = "?" if smooth is None else clock((n - done) * smooth)
        title = f"{name}: " if name else ""
        out.append(f"{title}{100 * done // n:3d}%|{'█' * (10 * done // n):10s}| {done}/{n} "
                   f"[{clock(elapsed)}<{left}, {rate}]")
    return end.join(out) + "\n"


NEW_ERROR = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a "
             "total capacity of 23.50 GiB of which 512.00 MiB is free. Including non-PyTorch "
             "memory, this process has 22.75 GiB memory in use. Of the allocated memory 20.25 GiB "
             "is allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated. If "
             "reserved but unallocated memory is large try setting …")
OLD_ERROR = ("RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.50 GiB total "
             "capacity; 20.00 GiB already allocated; 1.25 GiB free; 21.00 GiB reserved in total "
             "by PyTorch) If reserved memory is >> allocated memory …")
LISTED_ERROR = """Allocation on device 0 would exceed allowed memory. (out of memory)
Currently allocated : 11.50 GiB
Requested : 128.00 MiB
Device limit : 12.00 GiB
Free (according to CUDA): 0 bytes
PyTorch limit (set by user-supplied memory fraction)
: 17179869184.00 GiB
"""
TRACE = '  File "/home/user/app/vae.py", line 291, in decode\n' \
        '  File "/usr/lib/python3/site-packages/torch/nn/conv.py", line 7, in forward\n'


GLOG = "V1103 02:48:08.805986 34281 site-packages/torch/_dynamo/guards.py:2813] [0/1] "
GUARD = "tensor 'L['x']' size mismatch at index 0. expected 16, actual 1"


def recompilation(place, guards, prefix=GLOG + "[__recompiles] "):
    """What torch logs of one; the guards of all versions that did not fit."""
    return "".join(f"{prefix}{line}\n" for line in (
        f"Recompiling function {place}", "    triggered by the following guard failure(s):",
        *(f"    - 0/{i}: {guard}" for i, guard in enumerate(guards))))


def graph_break(place, reason, prefix=GLOG + "[__graph_breaks] ", word="Graph Break Reason"):
    return f"{prefix}Graph break in user code at {place}\n{prefix}{word}: {reason}\n" \
           f"{prefix}User code traceback:\n"


COMFY = """Total VRAM 12282 MB, total RAM 32581 MB
Device: cuda:0 NVIDIA GeForce RTX 4070 : cudaMallocAsync
got prompt
CLIP/text encoder model load device: cpu, offload device: cpu, current: cpu, dtype: torch.float16
model_type FLOW
Requested to load Transformer
Requested to load ControlNet
loaded partially; 4096.00 MB usable, 3072.00 MB loaded, 9216.00 MB offloaded, 64.00 MB buffer \
reserved, lowvram patches: 12
loaded completely; 1024.00 MB usable, 512.00 MB loaded, full load: True
100%|##########| 10/10 [03:20<00:00, 20.04s/it]
Requested to load VAE
loaded completely; 949.90 MB usable, 256.00 MB loaded, full load: True
Prompt executed in 250.50 seconds
got prompt
Requested to load Transformer
loaded completely; 28100.00 MB usable, 12288.00 MB loaded, full load: True
100%|##########| 10/10 [00:40<00:00,  4.02s/it]
Prompt executed in 60.25 seconds
"""
STAGES = """[InputValidationStage] started...
[InputValidationStage] finished in 0.0021 seconds
[DenoisingStage] started...
[DenoisingStage] average time per step: 0.5342 seconds
[DenoisingStage] finished in 26.7157 seconds
Peak GPU memory: 54.50 GB, Remaining GPU memory at peak: 24.25 GB. Components that can stay: []
"""


def with_prefix(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


WAN_WRAPPER = """got prompt
Swapping 40 transformer blocks
Initializing block swap: 100%|█████| 40/40 [00:02<00:00, 14.94it/s]
Block swap memory summary:
Transformer blocks on cpu: 12288.00MB
Transformer blocks on cuda:0: 1024.00MB
Total memory used by transformer blocks: 13312.00MB
Non-blocking memory transfer: False
Sampling 81 frames at 768x432 with 20 steps
100%|█████| 20/20 [05:16<00:00, 15.80s/it]
TeaCache skipped: 5 conditional steps: [3, 5, 7, 9, 11]
TeaCache skipped: 0 unconditional steps: []
Allocated memory: memory=0.081 GB
Max allocated memory: max_memory=20.500 GB
Max reserved memory: max_reserved=21.250 GB
"""

FRAMEPACK = """Loaded CLIPTextModel to cuda:0 as complete.
Unloaded CLIPTextModel as complete.
Moving DynamicSwap_Packed to cuda:0 with preserved memory: 6 GB
100%|█████| 25/25 [01:59<00:00,  4.76s/it]
Offloading DynamicSwap_Packed from cuda:0 to preserve memory: 8 GB
"""


def pause_log(prefix):
    """15 minutes of lines with a clock; a bar accounts for two minutes of them."""
    lines = [(0, "Starting"), (0, "Creating pipeline"), (60, "Created"), (60, "Compiling model"),
             (150, "Generating"), (300, "Saved"), (900, "got prompt")]
    text = ""
    for seconds, line in lines:
        text += prefix % f"2025-09-30 21:{14 + seconds // 60}:{seconds % 60:02}" + line + "\n"
        if line == "Generating":
            text += "100%|█| 10/10 [02:00<00:00, 12.00s/it]\n"
    return text


class Checks(checks.Checks):
    def bars(self, what, text, expected):
        rows = self.read(text).rows("progress.bars")
        self.expect(what, [(row["loop"], row["done"], row["total"], row["elapsed_ns"] / 1e9)
                           for row in rows], expected)
        return rows

    # ---- bars of progress ------------------------------------------------------------------------

    def progress(self):
        for prefix in PREFIXES:
            for end in ("\r", "\n"):
                self.bars(f"a bar after {prefix!r}", "hello\n" + prefix +
                          bar("Denoising", [2.5] * 20, end + (prefix if end == "\n" else "")),
                          [("Denoising", 20, 20, 50)])
        self.bars("two turns", bar("", [1] * 4) + "saved\n" + bar("", [2] * 4),
                  [(None, 4, 4, 4), (None, 4, 4, 8)])
        self.bars("last states alone", "100%|█| 10/10 [04:02<00:00, 24.20s/it]\n"
                  "100%|█| 10/10 [04:10<00:00, 25.03s/it]\n",
                  [(None, 10, 10, 242), (None, 10, 10, 250)])
        self.bars("without a total", "frames: 7it [00:16, 2.41s/it]\n", [("frames", 7, None, 16)])
        self.bars("two bars in turns", "a:  50%|█ | 1/2 [00:04<00:04,  4.00s/it]\n"
                  "b:  50%|█ | 1/2 [00:02<00:02,  2.00s/it]\n"
                  "a: 100%|██| 2/2 [00:08<00:00,  4.00s/it]\n"
                  "b: 100%|██| 2/2 [00:04<00:00,  2.00s/it]\n", [("a", 2, 2, 8), ("b", 2, 2, 4)])
        report = self.read("Loading checkpoint shards: 100%|█| 3/3 [00:21<00:00,  7.00s/it]\n"
                           "model: 100%|█| 1.2G/1.2G [00:09<00:00, 133MB/s]\n")
        self.expect("loading", [(row["stage"], row["total_ns"] / 1e9)
                                for row in report.rows("stages.by_name")],
                    [("Loading checkpoint shards", 21.0), ("model", 9.0)])
        self.expect("loading is no loop", report.rows("progress.bars"), [])

    def turns(self):
        """Logs that keep the last states of each turn alone."""
        self.bars("a turn as fast as the one before", "100%|█| 28/28 [00:04<00:00,  5.63it/s]\n"
                  "100%|█| 28/28 [00:04<00:00,  5.64it/s]\n",
                  [(None, 28, 28, 4), (None, 28, 28, 4)])
        self.bars("closed on a line of its own", " 95%|█| 19/20 [00:45<00:02,  2.14s/it]\n"
                  "100%|█| 20/20 [00:48<00:00,  2.15s/it]\n"
                  "100%|█| 20/20 [00:48<00:00,  2.41s/it]\n",
                  [(None, 20, 20, 48)])
        self.bars("closed after a smoothed rate", "100%|█| 20/20 [00:48<00:00,  2.15s/it]\n"
                  "100%|█| 20/20 [00:48<00:00,  2.41s/it]\n", [(None, 20, 20, 48)])
        self.bars("some states, then the last of the next turn",
                  "\r".join([" 28%|█| 7/25 [00:31<01:20,  4.48s/it]",
                             "100%|█| 25/25 [03:58<00:00,  9.53s/it]"]) + "\nOffloading\n"
                  "100%|█| 25/25 [04:02<00:00,  9.68s/it]\n",
                  [(None, 25, 25, 238), (None, 25, 25, 242)])

    def speeds(self):
        rows = self.bars("a change of speed", bar("", [9] + [2.3] * 10 + [7.9] * 19),
                         [(None, 30, 30, 182)])
        self.expect("the first iteration", rows[0]["first_ns"], 9_000_000_000)
        self.expect("where the speed changed", rows[0]["change_at"], 12)
        self.expect("speeds", [round(rows[0][key] / 1e9, 1) for key in ("before_ns", "after_ns")],
                    [2.3, 7.9])
        for slow_from in (5, 12, 13, 27):
            rows = self.read(bar("", [2.3] * (slow_from - 1) + [7.9] * (31 - slow_from))).rows(
                "progress.bars")
            self.expect(f"slow from {slow_from}", rows[0]["change_at"], slow_from)
        rows = self.bars("few states", "\r".join(
            [" 28%|█| 7/25 [00:31<01:20,  4.48s/it]", " 92%|█| 23/25 [03:39<00:24, 12.10s/it]",
             "100%|█| 25/25 [03:58<00:00,  9.53s/it]"]), [(None, 25, 25, 238)])
        self.expect("where it became slower", [rows[0]["change_at"],
                                               round(rows[0]["before_ns"] / 1e9, 2),
                                               round(rows[0]["after_ns"] / 1e9, 2)],
                    [8, 4.43, 11.5])
        rows = self.read("\r".join([" 50%|█| 14/28 [01:34<00:19,  1.42s/it]",
                                    "100%|█| 28/28 [01:37<00:00,  3.48s/it]"])).rows(
                                        "progress.bars")
        self.expect("a first half that compiles", rows[0]["change_at"], None)
        noise = random.Random(3)
        for _ in range(20):
            times = [2.3 * noise.uniform(0.9, 1.1) for _ in range(noise.randrange(3, 60))]
            rows = self.read(bar("", times)).rows("progress.bars")
            self.expect("an even speed", rows[0]["change_at"], None)

    def advice(self):
        found = self.read(bar("", [9] + [2.3] * 10 + [7.9] * 19))
        words = "From iteration 12 on an iteration takes 7.9"
        self.expect("a change", found.finding("speed-change")["title"][:len(words)], words)
        first = self.read(bar("Denoising", [31] + [2.5] * 20)).finding("slow-first")
        self.expect("a slow first iteration", first["title"],
                    "The first iteration of Denoising takes 31.0 s, the others 2.50 s each")
        self.expect("what that costs", first["saving_ns"]["high"], 28_500_000_000)
        saving = found.finding("speed-change")["saving_ns"]["high"]
        self.expect("saving of an even speed", abs(saving - 19 * 5.6e9) < 5e9, True)
        clean = self.read(bar("", [2.3] * 20))
        for id_ in ("speed-change", "slow-first", "offloaded-weights", "text-encoder-cpu"):
            self.expect(f"{id_} of an even bar", clean.finding(id_), None)

    # ---- pipelines -------------------------------------------------------------------------------

    def comfyui(self):
        for prefix in PREFIXES:
            report = self.read(with_prefix(prefix, COMFY))
            self.expect(f"models after {prefix!r}",
                        [(row["model"], row["where"], row["extent"], row["loaded_bytes"],
                          row["offloaded_bytes"]) for row in report.rows("models.loads")],
                        [("text encoder", "cpu", None, None, None),
                         ("Transformer", None, "partial", 3 * GIB, 9 * GIB),
                         ("ControlNet", None, "complete", GIB // 2, 0),
                         ("VAE", None, "complete", GIB // 4, 0),
                         ("Transformer", None, "complete", 12 * GIB, 0)])
            self.expect("bars", [(row["model"], row["mean_ns"] / 1e9, row["offloaded_bytes"])
                                 for row in report.rows("progress.bars")],
                        [("Transformer", 20.04, 9 * GIB), ("Transformer", 4.02, 0)])
            row = report.row("iterations.by_name", loop="prompt")
            self.expect("prompts", [row["count"], row["max_ns"] / 1e9, row["min_ns"] / 1e9],
                        [2, 250.5, 60.25])
            finding = report.finding("offloaded-weights")
            self.expect("offloaded weights", finding["title"],
                        "Transformer has 9.00 GiB of its 12.0 GiB of weights offloaded to host "
                        "memory and copies them in every iteration: 20.0 s each, 4.02 s with all "
                        "weights on the GPU")
            self.expect("what that saves at most", finding["saving_ns"]["high"], 160_200_000_000)
            self.expect("text encoder", report.finding("text-encoder-cpu")["title"],
                        "The text encoder runs on the CPU, in the 70.8 s that prompts take "
                        "outside their loops (22.8 % of the prompts' time)")
        report = self.read("Requested to load Flux\nloaded partially 5640.8 5640.5 0\n"
                           "Requested to load Flux\nloaded partially 4096.0 2048.0 1024.0\n"
                           "Requested to load VAE\n"
                           "loaded completely 9.5367431640625e+25 256.0 True\n"
                           "Prompt executed in 00:10:41\n")
        self.expect("earlier versions", [(row["model"], row["loaded_bytes"] / 2**20,
                                          row["offloaded_bytes"], row["usable_bytes"] is None)
                                         for row in report.rows("models.loads")],
                    [("Flux", 5640.5, None, False), ("Flux", 2048, GIB, False),
                     ("VAE", 256, 0, True)])
        self.expect("a long prompt", report.row("iterations.by_name", loop="prompt")["total_ns"],
                    641 * 10**9)

    def wan_wrapper(self):
        for prefix in PREFIXES:
            report = self.read(with_prefix(prefix, WAN_WRAPPER))
            self.expect(f"blocks after {prefix!r}",
                        [(row["model"], row["extent"], row["loaded_bytes"], row["offloaded_bytes"])
                         for row in report.rows("models.loads")],
                        [("Transformer", "partial", GIB, 12 * GIB)])
            self.expect("offloaded weights", report.finding("offloaded-weights")["title"],
                        "Transformer has 12.0 GiB of its 13.0 GiB of weights offloaded to host "
                        "memory and copies them in every iteration of 15.8 s")
            row = report.row("caches.by_name", cache="TeaCache")
            self.expect("steps that were skipped", [row["hits"], row["misses"]], [5, 35])
            row = report.row("memory.by_rank")
            self.expect("peaks", [row["peak_allocated_bytes"] / GIB,
                                  row["peak_reserved_bytes"] / GIB], [20.5, 21.25])
            self.expect("no rate without a prompt's time", report.rows("throughput.values"), [])
            self.expect("one loop", [row["done"] for row in report.rows("progress.bars")], [20])

        report = self.read(2 * (WAN_WRAPPER + "Sampling 81 frames at 768x432 with 20 steps\n"
                                "Prompt executed in 400.00 seconds\n"))
        self.expect("frames per second of prompts", report.reported("log", "fps"), 162 / 800)

    def framepack(self):
        report = self.read(FRAMEPACK)
        self.expect("models", [(row["model"], row["where"], row["extent"])
                               for row in report.rows("models.loads")],
                    [("CLIPTextModel", "cuda:0", "complete"),
                     ("DynamicSwap_Packed", "cuda:0", None)])
        self.expect("the model of the loop", report.rows("progress.bars")[0]["model"],
                    "DynamicSwap_Packed")

    # ---- pauses ----------------------------------------------------------------------------------

    def pauses(self):
        for kind in ("[%s,123] INFO: ", "%s - ", "INFO %s [a.py:3] ", "[%s TP0] "):
            report = self.read(pause_log(kind))
            self.expect(f"pauses with {kind!r}",
                        [(row["before"], row["work"], row["pause_ns"] / 1e9)
                         for row in report.rows("progress.pauses")],
                        [("Creating pipeline", "loading", 60), ("Compiling model", "compiling", 90),
                         ("Generating", "none", 30), ("Saved", "none", 600)])
        report = self.read(pause_log("%s - ").replace("29:00 - got prompt", "19:30 - got prompt"))
        self.expect("findings",
                    [report.finding(id_)["title"] for id_ in ("long-loading", "long-compiling")],
                    ["Loading models takes 18.2 % of the log (60.0 s of 330 s)",
                     "Compilation takes 27.3 % of the log (90.0 s of 330 s)"])
        self.expect("their places",
                    [report.finding(id_)["why"] for id_ in ("long-loading", "long-compiling")],
                    ['All of this time follows the line "Creating pipeline".',
                     'All of this time follows the line "Compiling model".'])
        quick = self.read("".join(f"2025-01-01 10:00:{n:02} INFO answering {n}\n"
                                  for n in range(50)) + bar("", [1] * 4))
        self.expect("no pause", [row["pause_ns"] for row in quick.rows("progress.pauses")],
                    [10**9] * 32)
        self.expect("silence", quick.finding("long-loading"), None)
        midnight = self.read("23:59:50 loading a\n00:00:20 loaded\n" + bar("", [1] * 4))
        self.expect("over midnight", [row["pause_ns"] for row in midnight.rows("progress.pauses")],
                    [30 * 10**9])
        # After some years midnight does not count any more: the sum would leave its range.
        years = self.read(bar("Denoising", [2.5] * 6) + "23:00:00 loading\n01:00:00 b\n" * 120000)
        self.expect("many midnights", [row["log_ns"] > 0 for row in years.rows("progress.pauses")],
                    [True] * 32)

    def stages(self):
        for prefix in PREFIXES:
            report = self.read(with_prefix(prefix, STAGES + "warm\n" + STAGES))
            self.expect(f"stages after {prefix!r}",
                        [(row["stage"], row["calls"], row["total_ns"])
                         for row in report.rows("stages.by_name")],
                        [("DenoisingStage", 2, 53_431_400_000),
                         ("InputValidationStage", 2, 4_200_000)])
            self.expect("time of a step", report.reported("DenoisingStage", "step_mean_ns"),
                        534_200_000)
            self.expect("peak", [report.row("memory.by_rank")[key] / GIB for key in
                                 ("peak_reserved_bytes", "total_bytes")], [54.5, 78.75])
        report = self.read(STAGES + "Pixel data generated successfully in 30.00 seconds\n")
        row = report.row("stages.by_name", stage="DenoisingStage")
        self.expect("share of a request", [row["share_of"], round(row["share"], 6)],
                    ["session", round(26.7157 / 30, 6)])
        fast = "".join(f"(FVWorkerProc-{rank} pid=28) INFO 07-25 01:23:24 [base.py:156] {line}\n"
                       for line in ("[DenoisingStage] Starting execution",
                                    "[DenoisingStage] Execution completed in 25344.12 ms")
                       for rank in (0, 1))
        self.expect("stages of FastVideo", [(row["rank"], row["total_ns"]) for row in
                                            self.read(fast).rows("stages.by_name")],
                    [(0, 25_344_120_000), (1, 25_344_120_000)])
        both = "".join(f"[rank{rank}]: {line}\n" for line in STAGES.splitlines()
                       for rank in (0, 1))
        self.expect("ranks in turns", [(row["rank"], row["total_ns"]) for row in
                                       self.read(both).rows("stages.by_name",
                                                            stage="DenoisingStage")],
                    [(0, 26_715_700_000), (1, 26_715_700_000)])

    # ---- errors ----------------------------------------------------------------------------------

    def errors(self):
        wrapped = NEW_ERROR.replace("this process", "this\n process").replace(" GiB is", "\nGiB is")
        for prefix in PREFIXES:
            for error in (NEW_ERROR, wrapped):
                row = self.read(TRACE + prefix + error + "\nUnloaded.\n").row("memory.failures")
                self.expect(f"an error after {prefix!r}",
                            [row[key] for key in ("device", "site", "wanted_bytes", "device_bytes",
                                                  "device_free_bytes", "allocated_bytes",
                                                  "reserved_bytes")],
                            [1, "vae.py:291 decode", 2.5 * GIB, 23.5 * GIB, 0.5 * GIB, 20.25 * GIB,
                             21.75 * GIB])
        row = self.read(OLD_ERROR + "\n").row("memory.failures")
        self.expect("an older error",
                    [row[key] for key in ("device", "wanted_bytes", "device_bytes",
                                          "device_free_bytes", "allocated_bytes",
                                          "reserved_bytes")],
                    [0, 2 * GIB, 23.5 * GIB, 1.25 * GIB, 20 * GIB, 21 * GIB])

        report = self.read(NEW_ERROR.replace("22.75 GiB memory in use.", "10.00 GiB memory in use. "
                                             "Process 40 has 12.75 GiB memory in use.") + "\n")
        self.expect("other processes", [report.row("memory.failures")["others_bytes"] / GIB,
                                        report.finding("failed-allocations")["title"]],
                    [13, "GPU memory ran out: an allocation of 2.50 GiB failed while other "
                     "processes hold 13.0 GiB of the GPU's 23.5 GiB (device 1)"])
        report = self.read(NEW_ERROR.replace("allocate 2.50 GiB", "allocate 30.00 GiB") + "\n")
        self.expect("more than the device", report.finding("failed-allocations")["title"],
                    "GPU memory ran out: an allocation of 30.0 GiB failed, more than the whole GPU "
                    "has (23.5 GiB) (device 1)")
        row = self.read("CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 11.00 GiB total "
                        "capacity; 10.00 GiB already allocated; 256.00 MiB free; 128.00 MiB "
                        "cached)\n").row("memory.failures")
        self.expect("an early error", row["reserved_bytes"], 10.125 * GIB)
        row = self.read(LISTED_ERROR).row("memory.failures")
        self.expect("an error in lines",
                    [row[key] for key in ("device", "wanted_bytes", "device_bytes",
                                          "device_free_bytes", "allocated_bytes")],
                    [0, GIB // 8, 12 * GIB, 0, 11.5 * GIB])
        row = self.read(NEW_ERROR.replace("512.00 MiB is", "17179869184.00 GiB is").replace(
            "capacity", "capacty") + "\n").row("memory.failures")
        self.expect("memory that the host shares", [row["device_bytes"], row["device_free_bytes"]],
                    [23.5 * GIB, None])
        report = self.read("Warning: Ran out of memory when regular VAE decoding, retrying with "
                           "tiled VAE decoding.\n")
        self.expect("a decoding that was done again", report.finding("failed-allocations")["title"],
                    "GPU memory ran out in regular VAE decoding, done again in tiles: the first "
                    "attempt was lost")

    # ---- torch.compile ---------------------------------------------------------------------------

    def compiled(self):
        place = "forward in /usr/lib/transformers/mpnet/modeling_mpnet.py:502"
        short = "forward in mpnet/modeling_mpnet.py:502"
        for prefix in (GLOG + "[__recompiles] ", "[rank0]:" + GLOG + "[__recompiles] ", "",
                       "[__recompiles] "):
            report = self.read("hello\n" + recompilation(place, [GUARD], prefix) * 3 +
                               recompilation("step in /a/b/adam.py:191", ["lr == 0.1", "lr == 1"],
                                             prefix) + bar("", [1] * 3))
            self.expect(f"recompilations after {prefix!r}",
                        [row["data"] for row in report.rows("run.happenings")],
                        [f"{short}: {GUARD}"] * 3 + ["step in b/adam.py:191: lr == 0.1"])
            self.expect("a bar after them", len(report.rows("progress.bars")), 1)
            finding = report.finding("recompilations")
            self.expect("place, count and guard of the finding",
                        [short in finding["title"], "3 times" in finding["title"],
                         GUARD in finding["why"]], [True] * 3)
            self.expect("the cure", "mark_dynamic" in finding["advice"], True)
        report = self.read(recompilation("step in /a/b/adam.py:191", ["lr == 0.1"]))
        self.expect("another guard", "mark_dynamic" in report.finding("recompilations")["advice"],
                    False)
        for word in ("Reason", "Graph Break Reason"):
            report = self.read(graph_break("/home/m/model.py:102", "Data dependent operator",
                                           word=word))
            self.expect("a graph break", [row["data"] for row in report.rows("run.happenings")],
                        ["m/model.py:102: Data dependent operator"])
            self.expect("its finding", "model.py:102" in report.finding("graph-breaks")["title"],
                        True)
        report = self.read('[2023-03-31 05:57:27,551] torch._dynamo.symbolic_convert: [WARNING] '
                           'Graph break: call_function f from user code at   File '
                           '"/a/b/models/bart.py", line 1839, in forward\n')
        self.expect("a graph break of torch 2.0",
                    [row["data"] for row in report.rows("run.happenings")],
                    ["models/bart.py:1839: call_function f"])
        report = self.read("Recompiling function cut in /a/b.py:4\n" + bar("", [1] * 3))
        self.expect("without a guard", [row["data"] for row in report.rows("run.happenings")],
                    ["cut in a/b.py:4"])
        report = self.read(bar("", [1] * 3) + "Recompiling function cut in /a/b.py:4")
        self.expect("a cut place", report.rows("run.happenings"), [])
        self.expect("silence", report.finding("recompilations"), None)

    # ---- cut logs --------------------------------------------------------------------------------

    def prefixes(self):
        """What a log begins with gives figures of the whole log, or none."""
        text = (bar("Denoising", [2.5] * 6) + TRACE + NEW_ERROR + "\n" + OLD_ERROR + "\n" + COMFY +
                "loaded partially 4096.0 3072.0 9216.0\n" + STAGES).encode()
        path = self.scratch / "cut.log"
        for n in range(0, len(text), 7):
            path.write_bytes(text[:n])
            done = subprocess.run([self.program, "report", "--format", "json", "-o", "-", path],
                                  capture_output=True, text=True, check=False)
            if done.returncode not in (0, 3):
                self.expect(f"{n} bytes", done.returncode, 0)
            if done.returncode:
                continue
            report = reports.Report(done.stdout)
            for row in report.rows("progress.bars", loop="Denoising"):
                self.expect(f"{n} bytes, elapsed", row["elapsed_ns"] // 10**9,
                            int(2.5 * row["done"]))
            for row in report.rows("models.loads"):
                self.expect(f"{n} bytes, offloaded", row["offloaded_bytes"] in
                            (None, 0, 9 * GIB), True)
                self.expect(f"{n} bytes, loaded", row["loaded_bytes"] in
                            (None, 3 * GIB, 12 * GIB, GIB // 2, GIB // 4), True)
                self.expect(f"{n} bytes, where", row["where"] in (None, "cpu"), True)
            for row in report.rows("stages.by_name"):
                self.expect(f"{n} bytes, {row['stage']}", row["total_ns"] in
                            (250_500_000_000, 310_750_000_000, 2_100_000, 26_715_700_000), True)
            for row in report.rows("memory.failures"):
                self.expect(f"{n} bytes, wanted", row["wanted_bytes"] in (2.5 * GIB, 2 * GIB), True)
                for key, values in {"device_bytes": (23.5 * GIB,),
                                    "device_free_bytes": (0.5 * GIB, 1.25 * GIB),
                                    "allocated_bytes": (20.25 * GIB, 20 * GIB)}.items():
                    self.expect(f"{n} bytes, {key}", row[key] in (None, *values), True)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        all_checks = Checks(sys.argv[1], pathlib.Path(scratch))
        all_checks.progress()
        all_checks.turns()
        all_checks.speeds()
        all_checks.advice()
        all_checks.comfyui()
        all_checks.wan_wrapper()
        all_checks.framepack()
        all_checks.pauses()
        all_checks.stages()
        all_checks.errors()
        all_checks.compiled()
        all_checks.prefixes()
    return 1 if all_checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
