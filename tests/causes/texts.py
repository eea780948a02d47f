# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs and tools write next to a trace, or instead of one: logs, telemetry, dumps.

Each function draws the files of a run with a cause; clean() draws a run without one.
"""
import dataclasses
import json
import pathlib
import pickle
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "logs"))
from gpus import GPUS  # noqa: E402
from test_logs import bar, graph_break, recompilation  # noqa: E402
from test_writers import DICTIONARY, statistics  # noqa: E402

GIB = 2**30


@dataclasses.dataclass
class Files:
    """By name, with the seconds that the run takes and that the cause costs, where they tell."""
    content: dict
    seconds: float = 0
    gain: float = 0


MODELS = ("Flux", "WAN21", "SD3", "HunyuanVideo", "QwenImage")
CONSOLE = """Total VRAM {vram} MB, total RAM 64211 MB
pytorch version: 2.8.0+cu129
Set vram state to: NORMAL_VRAM
Device: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync
"""


def steps_of(rng, n, seconds, first=1.0):
    """Times of the steps of a loop; the first may take longer."""
    return [seconds * rng.gauss(1, 0.01) * (first if i == 0 else 1) for i in range(n)]


# ---- ComfyUI -----------------------------------------------------------------------------------

def prompt(rng, model, times, loads=(), offloaded=0.0, size=22700.0):
    """The lines of one, and its seconds."""
    lines = ["got prompt"]
    for what, seconds in loads:
        lines.append(bar(what, [seconds / 3] * 3).rstrip("\n"))
    lines.append(f"Requested to load {model}")
    if offloaded:
        lines.append(f"loaded partially; {size - offloaded + 400:.2f} MB usable, "
                     f"{size - offloaded:.2f} MB loaded, {offloaded:.2f} MB offloaded, 96.00 MB "
                     "buffer reserved, lowvram patches: 0")
    else:
        lines.append(f"loaded completely; {size + 4000:.2f} MB usable, {size:.2f} MB loaded, full "
                     "load: True")
    lines.append(bar("", times).rstrip("\n"))
    total = sum(times) + sum(seconds for _, seconds in loads) + rng.uniform(0.8, 1.6)
    lines.append(f"Prompt executed in {total:.2f} seconds")
    return "\n".join(lines) + "\n", total


def console(prompts, vram=24564):
    return {"comfyui.log": CONSOLE.format(vram=vram) + "".join(text for text, _ in prompts)}


def slower_prompts(rng):
    """Each prompt takes longer than the one before."""
    n, steps, rate = rng.randint(4, 7), rng.randint(10, 30), rng.uniform(0.06, 0.25)
    first, model = rng.uniform(0.4, 3), rng.choice(MODELS)
    prompts = [prompt(rng, model, steps_of(rng, steps, first * (1 + rate * i)))
               for i in range(n)]
    total = sum(seconds for _, seconds in prompts)
    return Files(console(prompts), total, total - n * prompts[0][1])


def slower_bars(rng):
    """The same loop again and again, without a line between."""
    n, steps, rate = rng.randint(4, 8), rng.randint(10, 40), rng.uniform(0.06, 0.25)
    first = rng.uniform(0.8, 4)
    times = [steps_of(rng, steps, first * (1 + rate * i)) for i in range(n)]
    total = sum(sum(t) for t in times)
    return Files({"run.log": "".join(bar("", t) for t in times)}, total,
                 total - n * sum(times[0]))


def slower_runs(rng):
    return rng.choice((slower_prompts, slower_prompts, slower_bars))(rng)


def loads_in_each_prompt(rng):
    n, steps = rng.randint(3, 5), rng.randint(4, 20)
    seconds, load, model = rng.uniform(0.3, 2), rng.uniform(15, 90), rng.choice(MODELS)
    loads = [load * rng.gauss(1, 0.05) for _ in range(n)]
    prompts = [prompt(rng, model, steps_of(rng, steps, seconds), [("Loading checkpoint shards", t)])
               for t in loads]
    total = sum(seconds for _, seconds in prompts)
    return Files(console(prompts), total, sum(loads[1:]))


def offloaded(rng):
    """Copies of pageable memory, tensor by tensor, before each layer computes."""
    n, model, steps = rng.randint(1, 3), rng.choice(MODELS), rng.randint(8, 30)
    computes, rate = rng.uniform(1, 15), rng.uniform(3, 7.5) * 1e9
    sizes = [rng.uniform(6, 20) * 1000 for _ in range(n)]  # MiB
    copies = [size * 2**20 / rate for size in sizes]
    prompts = [prompt(rng, model, steps_of(rng, steps, computes + copy), offloaded=size)
               for size, copy in zip(sizes, copies)]
    return Files(console(prompts, rng.choice((12282, 16376))),
                 sum(seconds for _, seconds in prompts), steps * sum(copies))


def encoder_on_cpu(rng):
    model, steps = rng.choice(MODELS), rng.randint(8, 30)
    text, total = prompt(rng, model, steps_of(rng, steps, rng.uniform(0.5, 2)))
    line = ("CLIP/text encoder model load device: cpu, offload device: cpu, current: cpu, dtype: "
            "torch.float16\nRequested to load WanTEModel\nloaded completely; 9.5367431640625e+25 "
            "MB usable, 10835.48 MB loaded, full load: True\n")
    return Files(console([(text.replace("got prompt\n", "got prompt\n" + line), total)]))


# ---- TORCH_LOGS --------------------------------------------------------------------------------

def recompiles(rng):
    place = "forward in /app/diffusers/models/transformers/transformer_flux.py:" \
        f"{rng.randint(200, 700)}"
    sizes = [rng.randint(2, 60) * 64 for _ in range(rng.randint(2, 6))]
    text, guards, total, gain, slower = "", [], 0, 0, rng.uniform(8, 60)
    for old, new in zip(sizes, sizes[1:]):
        guards.insert(0, f"tensor 'hidden_states' size mismatch at index 1. expected {old}, "
                         f"actual {new}")
        text += recompilation(place, guards)
        times = steps_of(rng, 20, 0.5, slower * rng.uniform(0.8, 1.2))
        text += bar("", times)
        total += sum(times)
        gain += times[0] - sum(times[1:]) / 19
    return Files({"run.log": text}, total, gain)


def broken_graphs(rng):
    text = ""
    for _ in range(rng.randint(2, 8)):
        reason = rng.choice(("Unsupported Tensor.item() call with capture_scalar_outputs=False",
                             "Attempted to call function marked as skipped",
                             "Data-dependent branching"))
        text += graph_break(f"/app/models/transformer.py:{rng.randint(100, 900)}", reason)
    text += bar("", steps_of(rng, 20, 0.7))
    return Files({"run.log": text})


# ---- step caches -------------------------------------------------------------------------------

def idle_cache(rng):
    """cache-dit's summary of a cache that never skipped a step."""
    steps, model = rng.choice((20, 28, 50)), rng.choice(("FluxTransformer2DModel",
                                                          "WanTransformer3DModel",
                                                          "QwenImageTransformer2DModel"))
    least = rng.uniform(0.1, 0.3)
    diffs = [round(least * f, 3) for f in (1, 1.2, 1.6, 2.1, 2.6, 3.2)]
    seconds = rng.uniform(0.2, 2)
    text = bar("", steps_of(rng, steps, seconds))
    # Of DICTIONARY: 2 steps of warm-up, 8 that are skipped at most.  After a step that is skipped
    # the next ones differ more; of a skipped one the first blocks are computed.
    skipped = min(8, rng.uniform(0.2, 0.5) * (steps - 2)) * rng.uniform(0.85, 0.97)
    text += "🤗Cache Options: " + model + "\n\n" + DICTIONARY.replace(
        "'residual_diff_threshold': 0.08", f"'residual_diff_threshold': "
        f"{round(least * rng.uniform(0.1, 0.8), 3)}") + "\n\n"
    text += statistics(model, 0, diffs)
    if rng.random() < 0.5:
        text += statistics(model, 0, diffs, "CFG ")
    return Files({"run.log": text}, steps * seconds, skipped * seconds)


# ---- timing ------------------------------------------------------------------------------------

def unsynchronized(rng):
    """sglang's dump of durations that the host measured without waiting for the device."""
    steps, real = rng.choice((20, 30, 50)), rng.uniform(60, 400)
    queue = rng.randint(1, 6)  # steps whose launches fit in the queue
    durations = []
    for i in range(steps):
        if i == 0:
            durations.append(real * rng.uniform(6, 15))
        elif i <= queue:
            durations.append(real * rng.uniform(0.02, 0.4))
        else:
            durations.append(real * rng.gauss(1, 0.01))
    stages = [("InputValidationStage", 0.05), ("TextEncodingStage", rng.uniform(80, 400)),
              ("LatentPreparationStage", 0.3), ("DenoisingStage", sum(durations) * 1.01),
              ("DecodingStage", real * 2)]
    dump = {"timestamp": "2025-12-20T16:45:15.602292+00:00", "request_id": "offline", "commit_hash":
            "N/A", "tag": "cli_generate", "total_duration_ms": sum(ms for _, ms in stages) + 30,
            "steps": [{"name": name, "duration_ms": ms} for name, ms in stages],
            "denoise_steps_ms": [{"step": i, "duration_ms": ms} for i, ms in enumerate(durations)],
            "memory_checkpoints": {}, "meta": {"model": "Wan2.1-T2V-1.3B"}}
    return Files({"perf.json": json.dumps(dump, indent=2)})


# ---- memory ------------------------------------------------------------------------------------

def frames(*places):
    return [{"name": name, "filename": file, "line": line} for file, line, name in places]


DECODER = frames(("/app/diffusers/models/autoencoders/vae.py", 291, "forward"),
                 ("/app/torch/nn/modules/module.py", 1747, "_call_impl"),
                 ("/app/run.py", 61, "main"))
TRANSFORMER = frames(("/app/diffusers/models/transformers/transformer_flux.py", 178, "forward"),
                     ("/app/torch/nn/modules/module.py", 1747, "_call_impl"),
                     ("/app/run.py", 40, "main"))
WEIGHTS = frames(("/app/diffusers/models/modeling_utils.py", 1204, "from_pretrained"),
                 ("/app/run.py", 12, "main"))


class Allocator:
    """Segments, blocks and history of a caching allocator; blocks are never split."""

    def __init__(self):
        self.address, self.now = 0x7f3a00000000, 1764000000000000
        self.segments, self.history, self.live = [], [], {}

    def entry(self, action, address, size, place, **more):
        self.now += 37
        self.history.append({"action": action, "addr": address, "size": size, "stream": 0,
                             "time_us": self.now, "frames": place, **more})

    def allocate(self, size, place):
        size = (size + 511) // 512 * 512
        for segment in self.segments:
            block = segment["blocks"][0]
            if block["state"] == "inactive" and size <= block["size"] <= 1.5 * size:
                break
        else:
            total = (size + 2 * 2**20 - 1) // (2 * 2**20) * 2 * 2**20
            block = {"address": self.address, "size": total, "requested_size": 0,
                     "state": "inactive", "frames": []}
            segment = {"device": 0, "address": self.address, "total_size": total, "stream": 0,
                       "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                       "frames": place, "blocks": [block]}
            self.segments.append(segment)
            self.entry("segment_alloc", self.address, total, place)
            self.address += total + 2 * 2**20
        block.update(state="active_allocated", requested_size=size, frames=place)
        self.live[block["address"]] = block
        self.entry("alloc", block["address"], size, place)
        return block["address"]

    def free(self, address):
        block = self.live.pop(address)
        for action in ("free_requested", "free_completed"):
            self.entry(action, address, block["requested_size"], block["frames"])
        block.update(state="inactive", requested_size=0, frames=[])

    def reserved(self):
        return sum(segment["total_size"] for segment in self.segments)

    def fails(self, size, capacity, place):
        self.now += 11
        self.history.append({"action": "oom", "device_free": capacity - self.reserved(),
                             "size": size, "stream": 0, "time_us": self.now, "frames": place})

    def snapshot(self):
        for segment in self.segments:
            active = [b for b in segment["blocks"] if b["state"] == "active_allocated"]
            segment.update(allocated_size=sum(b["size"] for b in active),
                           active_size=sum(b["size"] for b in active),
                           requested_size=sum(b["requested_size"] for b in active))
        return pickle.dumps({
            "segments": self.segments, "device_traces": [self.history], "external_annotations": [],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False,
                                   "max_split_size": -1, "garbage_collection_threshold": 0.0}}, 4)


def out_of_memory(rng):
    """The snapshot or the log of a run that ended at the decoder's peak."""
    capacity = rng.choice((24, 32, 48, 80)) * GIB
    allocator = Allocator()
    weights = int(capacity * rng.uniform(0.35, 0.55))
    for _ in range(40):
        allocator.allocate(weights // 40, WEIGHTS)
    for step in range(rng.randint(3, 6)):
        blocks = [allocator.allocate(int(capacity * rng.uniform(0.01, 0.03)), TRANSFORMER)
                  for _ in range(6)]
        for block in blocks:
            allocator.free(block)
    while allocator.reserved() < 0.85 * capacity:
        allocator.allocate(int(capacity * 0.03), DECODER)
    wanted = int((capacity - allocator.reserved()) * rng.uniform(1.1, 3))
    if rng.random() < 0.5:
        allocator.fails(wanted, capacity, DECODER)
        return Files({"memory.pickle": allocator.snapshot()})
    held = sum(block["size"] for block in allocator.live.values())
    free, reserved = capacity - allocator.reserved(), allocator.reserved()
    return Files({"run.log": (
        "Traceback (most recent call last):\n  File \"/app/run.py\", line 61, in main\n    image = "
        "pipe.vae.decode(latents)\n  File \"/app/diffusers/models/autoencoders/vae.py\", line 291, "
        "in forward\n    x = self.conv(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to "
        f"allocate {wanted / GIB:.2f} GiB. GPU 0 has a total capacity of {capacity / GIB:.2f} GiB "
        f"of which {free / GIB:.2f} GiB is free. Including non-PyTorch memory, this process has "
        f"{reserved / GIB:.2f} GiB memory in use. Of the allocated memory {held / GIB:.2f} GiB is "
        f"allocated by PyTorch, and {(reserved - held) / GIB:.2f} GiB is reserved by PyTorch but "
        "unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_"
        "CONF=expandable_segments:True to avoid fragmentation.\n")})


# ---- telemetry ---------------------------------------------------------------------------------

QUERY = ("timestamp, index, name, temperature.gpu, utilization.gpu [%], memory.total [MiB], "
         "memory.used [MiB], power.draw [W], power.limit [W], clocks.current.sm [MHz], "
         "clocks.max.sm [MHz], clocks_throttle_reasons.active\n")
DMON = ("#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb   bar1"
        "  rxpci  txpci \n#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    "
        "MHz     MB     MB   MB/s   MB/s \n")


def slow_clocks(rng):
    """A part of the work is bound by memory or the host, whose clocks stay."""
    gpu = rng.choice([g for g in GPUS if not g.is_rocm])
    samples, slow = rng.randint(60, 180), rng.uniform(0.5, 0.85)
    gain = 0.6 * samples * (1 - slow) * rng.uniform(0.5, 1)
    return Files({"gpu.csv": clocks(rng, gpu, samples, slow, 0.4)}, samples, gain)


def clocks(rng, gpu, samples, slow, from_=0.0):
    """nvidia-smi's samples of a GPU that runs at `slow` of its clock after a part of the run."""
    is_hot = rng.random() < 0.5
    text, watts = QUERY, gpu.power
    for i in range(samples):
        late = slow < 1 and i >= from_ * samples
        clock = gpu.sm_clock * (slow if late else rng.uniform(0.97, 0.99))
        power = watts * (0.75 if late and is_hot else 0.995 if late else 0.9) + rng.uniform(-3, 3)
        heat = (88 if is_hot else 70) if late else 60 + 20 * i / samples
        reason = 0 if not late else 0x20 if is_hot else 0x4
        second = 14 * 60 + i
        text += (f"2025/09/30 21:{second // 60:02}:{second % 60:02}.412, 0, {gpu.name}, "
                 f"{heat:.0f}, 100 %, {gpu.memory // 2**20} MiB, {gpu.memory // 2**21} MiB, "
                 f"{power:.2f} W, {watts:.2f} W, {clock:.0f} MHz, {gpu.sm_clock} MHz, "
                 f"0x{reason:016x}\n")
    return text


def spilled(rng):
    """dmon of a GPU whose driver moved its memory into that of the host."""
    samples, turn = rng.randint(60, 200), rng.randint(15, 40)
    capacity, watts = rng.choice(((16376, 160), (24564, 430), (12282, 200)))
    slower = 2 * 5 ** rng.random()  # as people report it: twice to ten times
    text = DMON
    for i in range(samples):
        after = i >= turn
        used = capacity - rng.randint(40, 300) if after else round(capacity * 0.85)
        # A GPU that waits draws some power as well.
        power = watts * (0.12 + 0.83 / slower if after else 0.95) * rng.uniform(0.96, 1.04)
        bus = rng.randint(4800, 9000) if after else rng.randint(20, 300)
        text += (f" 20251030   10:{15 + i // 60:02}:{i % 60:02}      0 {power:6.0f} "
                 f"{48 if after else 68:6}      -    {99 if after else 98:3} "
                 f"{rng.randint(2, 6) if after else 55:6}   7001   2745 {used:6}     27 {bus:6} "
                 f"{round(bus * 0.9):6} \n")
    return Files({"dmon.txt": text}, samples, (samples - turn) * (1 - 1 / slower))


# ---- without a cause ---------------------------------------------------------------------------

def clean(rng):
    """A log or telemetry in which nothing is wrong."""
    kind = rng.choice(("console", "dmon", "dump"))
    if kind == "console":
        n, model, steps = rng.randint(2, 4), rng.choice(MODELS), rng.randint(8, 30)
        seconds = rng.uniform(0.3, 3)
        return Files(console([prompt(rng, model, steps_of(rng, steps, seconds))
                              for _ in range(n)]))
    if kind == "dmon":
        text = DMON
        for i in range(rng.randint(60, 200)):
            text += (f" 20251030   10:{15 + i // 60:02}:{i % 60:02}      0 "
                     f"{rng.randint(405, 435):6} {min(70, 55 + i // 4):6}      -    "
                     f"{rng.randint(97, 100):3} {rng.randint(50, 60):6}   7001   2745  18211     "
                     f"27 {rng.randint(20, 200):6} {rng.randint(10, 90):6} \n")
        return Files({"dmon.txt": text})
    real = rng.uniform(60, 400)
    durations = [real * rng.gauss(1, 0.01) for _ in range(30)]
    stages = [("TextEncodingStage", real), ("DenoisingStage", sum(durations)),
              ("DecodingStage", real * 2)]
    dump = {"timestamp": "2025-12-20T16:45:15.602292+00:00", "request_id": "offline", "commit_hash":
            "N/A", "tag": "cli_generate", "total_duration_ms": sum(ms for _, ms in stages) + 5,
            "steps": [{"name": name, "duration_ms": ms} for name, ms in stages],
            "denoise_steps_ms": [{"step": i, "duration_ms": ms} for i, ms in enumerate(durations)],
            "memory_checkpoints": {}, "meta": {"model": "Wan2.1-T2V-1.3B"}}
    return Files({"perf.json": json.dumps(dump, indent=2)})
