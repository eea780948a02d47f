# SPDX-License-Identifier: GPL-3.0-or-later
"""Denoising steps from kernels alone: in pipelines made by chance, in a real trace without its
marks, and none in programs that do not denoise.

    test_steps.py --program steps_of --count 500

makes 500 pipelines and as many other programs.  A failed case is made again by --only NUMBER.
"""
import argparse
import collections
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "causes"), str(HERE.parent / "support")]
import others  # noqa: E402
import pipelines  # noqa: E402

SHARED = HERE.parents[2] / "shared" / "data"
SKIPPED = 77


def found_in(program, *paths):
    """What the program finds in each file."""
    done = subprocess.run([program, *map(str, paths)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def hits_differ(truth, calls):
    """Whether kinds of calls mix those that a cache answers with others, or split them."""
    if not truth["cached"]:
        return False
    kinds = collections.defaultdict(set)
    for call, hit in zip(calls, truth["hits"]):
        kinds[call["kind"]].add(hit)
    return any(len(of) > 1 for of in kinds.values()) or \
        (not truth["other_text"] and len(kinds) != len(set(truth["hits"])))


def wrong_with(truth, found):
    """What is found otherwise than it is, in words."""
    calls = [call for call in found["calls"] if call["phase"] == "denoise"]
    wrong = [f"{what}: {found[what]}, not {truth[what]}" for what in ("forwards", "steps")
             if found[what] != truth[what]]
    if not wrong and hits_differ(truth, calls):
        wrong.append("hits of the cache")
    return wrong


def check_pipelines(program, folder, numbers, least):
    right, hits_right, cached = 0, 0, 0
    for number in numbers:
        path = folder / "pipeline.json"
        truth = pipelines.diffusion(random.Random(number), path)
        wrong = wrong_with(truth, found_in(program, path)[0])
        counts_right = not wrong or wrong[0].startswith("hits")
        right += counts_right
        if truth["cached"] and counts_right:
            cached += 1
            hits_right += not wrong
        if wrong:
            print(f"{number}: {truth['kind']}, {truth['kernels']} kernels, {truth['lost']:.1%} "
                  f"lost, {truth['noise']:.1%} strange: {', '.join(wrong)}")
    n = len(numbers)
    print(f"steps and forwards right in {right} of {n}; hits of caches in {hits_right} of {cached}")
    return right >= least * n and hits_right >= least * cached


def check_others(program, folder, numbers):
    kinds, said = collections.Counter(), 0
    for number in numbers:
        path = folder / "other.json"
        kind = others.other(random.Random(f"other {number}"), path)
        kinds[kind] += 1
        found = found_in(program, path)[0]
        if found["calls"]:
            said += 1
            print(f"other {number}: {kind}: {found['steps']} steps")
    print("silent in", sum(kinds.values()) - said, "of", ", ".join(f"{n} {k}" for k, n in
                                                                   sorted(kinds.items())))
    return said == 0


# ---- real traces --------------------------------------------------------------------------------

def stripped(path, kept):
    """The text of a trace with events of these categories alone."""
    with gzip.open(path) as file:
        document = json.load(file)
    document["traceEvents"] = [event for event in document["traceEvents"]
                               if event.get("ph") == "M" or event.get("cat") in kept]
    return json.dumps(document)


def check_real(program, folder):
    """Steps of a real trace, to the nanosecond; its truth is from the modules."""
    trace = SHARED / "traces" / "xdit_sd_3.5" / "profile_trace_rank_0.json.gz"
    with open(SHARED / "goldens" / "diffusion" / "xdit_sd_3.5.json", encoding="utf-8") as file:
        golden = json.load(file)
    with gzip.open(trace) as file:
        events = json.load(file)["traceEvents"]
    origin = round(min(event["ts"] for event in events if event.get("ph") == "X") * 1000)
    activities = ("kernel", "gpu_memcpy", "gpu_memset")
    right = True
    for kept in (activities, (*activities, "cuda_runtime", "cuda_driver", "ac2g")):
        path = folder / "real.json"
        text = stripped(trace, kept)
        path.write_text(text, encoding="utf-8")
        first = min(event["ts"] for event in json.loads(text)["traceEvents"]
                    if event.get("ph") == "X")
        shift = round(first * 1000) - origin
        found = found_in(program, path)[0]
        spans = [(call["phase"], call["start"] + shift, call["end"] + shift, call["layers"])
                 for call in found["calls"]]
        steps = [("denoise", round(step["gpu_first_us"] * 1000), round(step["gpu_last_us"] * 1000),
                  38) for step in golden["steps"]]
        if [span for span in spans if span[0] == "denoise"] != steps:
            print("steps are", spans, "not", steps)
            right = False
        around = {"text": golden["text_encoders"], "decode": golden["vae_decoder"]}
        for phase, calls in around.items():
            begin = round(calls[0]["gpu_first_us"] * 1000)
            end = round(calls[-1]["gpu_last_us"] * 1000)
            mine = [span for span in spans if span[0] == phase]
            if not mine or mine[0][1] != begin or abs(mine[-1][2] - end) > 100_000:
                print(phase, "is", mine, "not", begin, end)
                right = False
    return right


def check_silence(program):
    """No other real trace denoises."""
    paths = [path for folder in ("traces", "public", "seeds")
             for path in sorted((SHARED / folder).rglob("*.json*"))
             if "xdit_sd" not in str(path) and path.suffix in (".json", ".gz")]
    loud = [found["file"] for found in found_in(program, *paths) if found.get("calls")]
    print("silent in", len(paths) - len(loud), "of", len(paths), "real files", *loud)
    return not loud


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--only", type=int)
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.real:
            if not SHARED.is_dir():
                print("no ../shared")
                return SKIPPED
            right = check_real(options.program, folder)
            return not (check_silence(options.program) and right)
        numbers = [options.only] if options.only is not None else range(options.count)
        right = check_pipelines(options.program, folder, numbers, options.least)
        if options.only is None:
            right &= check_others(options.program, folder, numbers)
        return not right


if __name__ == "__main__":
    sys.exit(main())
