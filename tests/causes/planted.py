# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes of diffusion runs whose size is known: step caches, decoders, context, memory, playback.

Each has a control, a run of the same kind in which it is absent or does not matter.
"""
import dataclasses

from cause import Cause
from diffusions import MIB, Diffusion
from gpus import GPUS

PLAYED = 16  # frames per second of a video
FAST = [g for g in GPUS if g.capability[0] >= 8]
MARKS = ("stages", "none")


# ---- step caches -------------------------------------------------------------------------------

def hits_of(rng, steps, low, high):
    """Steps that a cache answers: none of the first two, nor the last."""
    share = rng.uniform(low, high)
    hits = [n for n in range(2, steps - 1) if rng.random() < share]
    return tuple(hits or (steps // 2,))


def cached(rng, **cache):
    steps = rng.randint(14, 26)
    stacks = rng.random() < 0.5
    fixed = {"steps": steps, "layers": rng.randint(8, 12), "model": ((3072, 128), (5120, 128)),
             "frames": 1, "compiled": False, "gpu": FAST, "stacks": int(stacks),
             "between": 100_000, "marks": "none" if stacks else "stages"}
    return fixed, {"hits": hits_of(rng, steps, 0.3, 0.7), "keep": 1, "leak": "", "decides": True,
                   **cache}


def leaking(rng):
    leak = rng.choice(("python", "forecast", "host"))
    return cached(rng, leak=leak, ns=rng.uniform(0.3, 4) * 1e6, times=rng.randint(2, 5))


def unused(rng):
    fixed, cache = cached(rng, hits=())
    return fixed | {"stacks": 1, "marks": "none"}, cache | {
        "would": hits_of(rng, fixed["steps"], 0.25, 0.5)}


def hit(rng):
    return cached(rng)


def cost_of_checks(ranks):
    plan = ranks[0].plan
    return {"check_ns": (length(plan) - length(changed(plan, "cache", decides=False)), 0.3)}


# ---- decoders ----------------------------------------------------------------------------------

def decoding(rng):
    """A model distilled to few steps, of a large picture."""
    return ({"model": ((1536, 64),), "steps": rng.randint(1, 3), "layers": rng.randint(4, 8),
             "side": [1280, 1536], "frames": 1, "tokens": 1536, "batch": 1, "encoder_layers": 2,
             "gpu": FAST, "marks": rng.choice(MARKS)}, {})


def small_decoder(rng):
    """Or a large one that is compiled."""
    if rng.random() < 0.4:
        return decoding(rng)[0], {"fused": True}
    return ({"model": ((3072, 128), (5120, 128)), "steps": rng.randint(14, 20), "layers": 8,
             "side": 768, "frames": 1, "gpu": FAST, "marks": rng.choice(MARKS)}, {})


def time_of_decoding(ranks):
    return {"window_ns": (ranks[0].decoded, 0.03), "time_ns": (ranks[0].decoded, 0.03)}


# ---- videos block by block ---------------------------------------------------------------------

def video(rng, **more):
    stacks = rng.random() < 0.4
    latents = rng.choice((2, 3))
    fixed = {"model": ((1536, 128),), "steps": rng.choice((3, 4)), "layers": rng.randint(4, 8),
             "tokens": latents * 1560, "batch": 1, "side": 512, "frames": 1, "shapes": True,
             "gpu": FAST, "stacks": int(stacks), "marks": "none" if stacks else "stages",
             "compiled": False, "between": 60_000, "encoder_layers": 3}
    return fixed, {"blocks": rng.randint(8, 14), "latents": latents, "window": 0, "late": (),
                   "ns": 0, "named": not stacks or rng.random() < 0.6, **more}


def growing(rng):
    return video(rng, window=10**6)


def bounded(rng):
    """Growth ends after the first blocks, or there is none."""
    return video(rng, window=rng.choice((0, 1)))


def growth_by_block(ranks):
    growth = ranks[0].attention_growth()
    return {"growth_ns": (growth, 0.05), "attention_growth_ns": (growth, 0.05)}


def slow(rng):
    fixed, defect = video(rng)
    return fixed | {"model": ((3072, 128), (5120, 128)), "layers": rng.randint(8, 14)}, defect


def late(rng):
    """In the second half, so that playback from the first frames on has to wait."""
    blocks = rng.randint(8, 12)
    what = rng.choice(("host", "steps"))
    return video(rng, blocks=blocks, what=what, ns=rng.uniform(0.5, 3) * 1e9,
                 times=rng.randint(4, 12), late=tuple(sorted(rng.sample(range(1, blocks), 2))))


def frames_of(ranks):
    """(when, frames) of each block, since the first one began."""
    defect, (first, *ready) = ranks[0].defect("video"), ranks[0].ready
    return [(at - first, 4 * defect["latents"] - 3 * (n == 0)) for n, at in enumerate(ready)]


def rate_of(blocks):
    return sum(n for _, n in blocks[1:]) * 1e9 / (blocks[-1][0] - blocks[0][0])


def stalls_of(blocks):
    """How long a player that starts with the first frames waits, frame by frame."""
    now, waited = blocks[0][0], 0
    for at, frames in blocks:
        waited += max(0, at - now)
        now = max(now, at) + frames * 1e9 / PLAYED
    return waited


def is_too_slow(ranks):
    return 2 < rate_of(frames_of(ranks)) < 0.85 * PLAYED


def is_ahead(ranks):
    blocks = frames_of(ranks)
    return rate_of(blocks) > 1.05 * PLAYED and stalls_of(blocks) == 0


def is_uneven(ranks):
    blocks = frames_of(ranks)
    return rate_of(blocks) > 1.05 * PLAYED and stalls_of(blocks) > 0.6e9 and \
        stalls_of(blocks) > 0.4 * blocks[0][0]


def pace(ranks):
    rate = rate_of(frames_of(ranks))
    return {"rate": (rate, 0.01), "real_time_factor": (PLAYED / rate, 0.01)}


def starts(ranks):
    blocks = frames_of(ranks)
    return {"first_ns": (blocks[0][0], 0.01), "wait_ns": (blocks[0][0] + stalls_of(blocks), 0.01),
            "stalled_ns": (stalls_of(blocks), 0.01)}


# ---- memory ------------------------------------------------------------------------------------

def holding(rng, full, works, decodes, **more):
    """Shares of the device's memory: at the peak, of a step, of the decoder."""
    gpu = rng.choice(GPUS)
    held = int(gpu.memory * (full - max(works, decodes))) // MIB * MIB
    return ({"gpu": gpu, "steps": rng.randint(8, 12), "layers": 5, "encoder_layers": 3,
             "marks": rng.choice(("stages", "steps", "profiler"))},
            {"held": held, "works": int(gpu.memory * works) // MIB * MIB,
             "decodes": int(gpu.memory * decodes) // MIB * MIB, **more})


def full(rng):
    fixed, memory = holding(rng, rng.uniform(0.925, 0.985), rng.uniform(0.05, 0.15),
                            rng.uniform(0.35, 0.5))
    return fixed | {"marks": "stages"}, memory


def roomy(rng):
    return holding(rng, rng.uniform(0.4, 0.75), rng.uniform(0.1, 0.2), rng.uniform(0.02, 0.09))


def leaving(rng):
    fixed, memory = holding(rng, rng.uniform(0.4, 0.6), 0.1, 0.05)
    return fixed, memory | {"keeps": int(fixed["gpu"].memory * rng.uniform(0.002, 0.02)
                                         ) // MIB * MIB}


def warming_up(rng):
    """Caches of the first steps stay."""
    fixed, memory = leaving(rng)
    return fixed, memory | {"rises": 2}


def in_pieces(rng, reserved=(0.85, 0.97)):
    spare = rng.uniform(0.24, 0.45)
    whole = rng.uniform(*reserved)
    fixed, memory = holding(rng, whole * (1 - spare), 0.1, 0.15)
    return fixed, memory | {"spare": int(fixed["gpu"].memory * whole * spare) // MIB * MIB}


def in_pieces_with_room(rng):
    return in_pieces(rng, (0.35, 0.6))


def most_used(ranks):
    return {"peak_allocated_bytes": (max(used for _, _, used, _ in ranks[0].notes), 0.001)}


def kept_by_step(ranks):
    return {"slope_bytes": (ranks[0].defect("memory")["keeps"], 0.02)}


def unused_at_peak(ranks):
    notes = ranks[0].notes
    kept, used = max(n[3] for n in notes), max(n[2] for n in notes)
    return {"unused_bytes": (kept - used, 0.001), "peak_reserved_bytes": (kept, 0.001)}


# ---- what there is -----------------------------------------------------------------------------

def length(plan):
    rank = Diffusion(plan, 0)
    for _ in rank.program():
        pass
    return rank.end - rank.begin


def changed(plan, name, **values):
    return dataclasses.replace(plan, defects={name: {**plan.defects[name], **values}})


def mend(name, **values):
    """The program with other values of its defect."""
    def mended(plan):
        found = {key: value(plan.defects[name]) if callable(value) else value
                 for key, value in values.items()}
        return changed(plan, name, **found)
    return mended


CAUSES = {
    "leak": Cause(
        "cached steps that take longer than the blocks they keep",
        ("step-cache-cost", "pageable-copy", "blocking-copy"),
        r"cache|Copies",
        leaking, alone=True, defect="cache", kind=Diffusion, mended=mend("cache", leak=""),
        control=hit,
        action=r"cached step|waiting|host|pinned", least=0.1, places=3),
    "unused": Cause(
        "a step cache that decides and never hits", ("step-cache",), r"never hits", unused,
        alone=True, defect="cache", kind=Diffusion, mended=mend("cache",
        hits=lambda cache: cache["would"]),
        control=hit, amounts=cost_of_checks, action=r"threshold"),
    "decoding": Cause(
        "VAE decoding that takes most of a run", ("vae-decode", "vae-share"), r"VAE", decoding,
        alone=True, defect="decoding", kind=Diffusion, mended=mend("decoding", fused=True),
        control=small_decoder,
        amounts=time_of_decoding, action=r"[Cc]ompile the decoder",
        verdict=r"VAE decoding (is|\d)"),
    "context": Cause(
        "blocks that attend to all blocks before them", ("context-growth",), r"longer", growing,
        alone=True, defect="video", kind=Diffusion, control=bounded, amounts=growth_by_block,
        action=r"window",
        mended=mend("video", window=lambda v: v["blocks"] // 2)),
    "rate": Cause(
        "a video that is made slower than it plays", ("frame-rate",), r"real time", slow,
        alone=True, defect="video", kind=Diffusion, control=video, amounts=pace, action=r"steps",
        worth=is_too_slow,
        places=2,
        good=is_ahead),
    "uneven": Cause(
        "a video with blocks that come late", ("uneven-blocks",), r"stalls", late, alone=True,
        defect="video",
        kind=Diffusion, control=video, amounts=starts, action=r"late", worth=is_uneven, places=3,
        good=is_ahead),
    "full": Cause(
        "tensors that nearly fill the GPU", ("gpu-memory",), r"fill", full, alone=True,
        defect="memory",
        kind=Diffusion, control=roomy, amounts=most_used, action=r"tiles", places=2),
    "leaving": Cause(
        "memory that each step leaves", ("memory-trend",), r"grows", leaving, alone=True,
        defect="memory",
        kind=Diffusion, control=warming_up, amounts=kept_by_step, action=r"no longer needs"),
    "pieces": Cause(
        "memory in pieces that no tensor fits", ("fragmentation",), r"more than tensors",
        in_pieces, alone=True, defect="memory", kind=Diffusion, control=in_pieces_with_room,
        amounts=unused_at_peak, action=r"expandable_segments", places=2),
}
