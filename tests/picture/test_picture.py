#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""overview.picture: the segments of each lane stand side by side and fill the program's window,
and what kernels and copies have of it is what the union of their times in the trace comes to."""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TRACES = ("vllm_decode_full_graph", "b200_eager_rank0", "xdit_sd_3.5", "mi300_owlv2",
          "mi300_vit_nsfw", "tb_resnet50_nw0", "synthetic_nccl_4rank")
WORK = ("gemm", "attention", "convolution", "pointwise", "kernels")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
COLLECTIVES = ("nccl", "all_reduce")
LIMIT = 0.0005  # of the sum: times in a trace may be whole microseconds, and overlap by one


def read_report(program, trace):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "report", trace, "--format", "json", "-o", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads((pathlib.Path(folder) / "report.json").read_text(encoding="utf-8"))


def rows(report, table):
    for section in report["sections"]:
        for item in section["items"]:
            if item.get("id") == table and "rows" in item:
                keys = [column["key"] for column in item["columns"]]
                return [dict(zip(keys, row)) for row in item["rows"]]
    return []


def union(intervals):
    total, end = 0, float("-inf")
    for start, stop in sorted(intervals):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def device_times(trace):
    """Unions in ns: of kernels that compute, and of all activities."""
    file = next(path for path in sorted(pathlib.Path(trace).rglob("*.json*"))
                if path.is_file() and "capture" not in path.parent.name)
    opened = gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(
        encoding="utf-8")
    with opened:
        data = json.load(opened)
    kernels, busy = [], []
    for event in data["traceEvents"] if isinstance(data, dict) else data:
        kind = str(event.get("cat", "")).lower()
        if event.get("ph") != "X" or kind not in DEVICE:
            continue
        start = float(event["ts"]) * 1e3
        span = (start, start + float(event["dur"]) * 1e3)
        busy.append(span)
        if kind == "kernel" and not any(word in event["name"].lower() for word in COLLECTIVES):
            kernels.append(span)
    return union(kernels), union(busy)


def check_lanes(name, picture, window):
    lanes = {}
    for row in picture:
        lanes.setdefault(row["lane"], []).append(row)
    for lane, segments in lanes.items():
        end = 0
        for segment in segments:
            assert segment["dur_ns"] > 0, (name, lane, segment)
            assert segment["start_ns"] == end, (name, lane, segment, end)
            end += segment["dur_ns"]
        assert end == window, (name, lane, end, window)


ENDS = {"before": 0, "earlier": 1, "after": 4}


def check_ends(name, picture):
    """What lies before the first and after the last work is at the ends of its lane."""
    places = [ENDS.get(row["class"], 2) for row in picture if row["lane"] == "GPU"]
    assert places == sorted(places), (name, places)


OWNERS = {"launch": ("launching",), "sync": ("value read", "blocking copy", "pageable copy",
                                            "synchronization"),
          "setup": ("compilation", "first call"), "computation": ("host computation",)}


def check_causes(name, report):
    """Idle time of all phases together is what the root causes of the device come to."""
    told, owned = {}, {}
    for row in rows(report, "overview.picture"):
        told[row["class"]] = told.get(row["class"], 0) + row["dur_ns"]
    for row in rows(report, "gpu_idle.by_owner"):
        owned[row["owner"]] = row["total_ns"]
    for class_name, owners in OWNERS.items():
        wanted = sum(owned.get(owner, 0) for owner in owners)
        assert told.get(class_name, 0) == wanted, (name, class_name, told, owned)


def check(program, folder, name):
    report = read_report(program, folder / name)
    picture, windows = rows(report, "overview.picture"), rows(report, "gpu_time.program")
    assert picture, name
    check_lanes(name, picture, windows[0]["window_ns"])
    if len(windows) > 1:
        return
    if any(row["lane"] == "phases" for row in picture):
        check_causes(name, report)
    else:
        check_ends(name, picture)
    compute, busy = device_times(folder / name)
    told = sum(row["dur_ns"] for row in picture if row["class"] in WORK)
    assert abs(told - compute) <= LIMIT * compute, (name, told, compute)
    told += sum(row["dur_ns"] for row in picture if row["class"] in ("communication", "copies"))
    assert abs(told - busy) <= LIMIT * busy, (name, told, busy)


def check_stages(program, sample):
    """The stages of a session and what none of them has are next to each other."""
    lanes = {}
    for row in rows(read_report(program, sample), "overview.picture"):
        assert row["class"] == "other" or row["class"].startswith("stage"), row
        lanes.setdefault(row["lane"], []).append(row)
    for segments in lanes.values():
        end = 0
        for segment in segments:
            assert segment["start_ns"] == end, (sample, segment)
            end += segment["dur_ns"]
        for segment in segments:  # each is named with its share of the whole
            if len(lanes) > 1:
                continue
            share = float(segment["label"].replace("\u202f", " ").split()[-2])
            assert abs(share - 100 * segment["dur_ns"] / end) < 0.06, (sample, segment, end)
    return lanes


def check_stages_of_ranks(program, sample, ranks):
    """Each rank has a lane, with the same class for the same stage, in the same order."""
    lanes = check_stages(program, sample)
    assert list(lanes) == [f"rank {rank}" for rank in range(ranks)], list(lanes)
    classes = {}
    for segments in lanes.values():
        for segment in segments:
            assert classes.setdefault(segment["label"], segment["class"]) == segment["class"]
    order = [segment["label"] for segment in next(iter(lanes.values()))]
    for segments in lanes.values():
        assert [segment["label"] for segment in segments] == order, (sample, segments, order)
    return lanes


def check_one_name(program, sample):
    """A console has other names for the stages of rank 0 than its report: each stage is once, as
    long as the report says, and denoising is the sum of the blocks."""
    lanes = check_stages_of_ranks(program, sample, 4)
    for rank in range(4):
        file = next((sample / f"rank_{rank}").glob("profiling_report_*.json"))
        written = json.loads(file.read_text(encoding="utf-8"))
        stages = written["stage_analysis"]["stages"]
        wanted = {name: round(stages[name]["total_time"] * 1e9)
                  for name in ("text_encode", "vae_decode", "save_video")}
        wanted["denoising"] = sum(
            round(event["data"]["computation_time_ms"] * 1e6) for event in written["events"]
            if event["name"] == "block_computation")
        wanted["other"] = round(written["session_info"]["duration"] * 1e9) - sum(wanted.values())
        told = {segment["label"]: segment["dur_ns"] for segment in lanes[f"rank {rank}"]}
        assert told.keys() == wanted.keys(), (rank, told, wanted)
        for name, ns in wanted.items():
            assert abs(told[name] - ns) <= 2000, (rank, name, told, wanted)


def check_one_color(program, samples, public):
    """What a stage does has one class in the reports of all programs."""
    roles = {"denoising": "stage 1", "DenoisingStage": "stage 1", "vae_decode": "stage 2",
             "DecodingStage": "stage 2", "TextEncodingStage": "stage 3", "text_encode": "stage 3"}
    seen = set()
    for folder in (samples / "inferix-4ranks", samples / "framepack-pair" / "regressed",
                   public / "f03_sglang_perf_dump"):
        for row in rows(read_report(program, folder), "overview.picture"):
            name = row["label"].split()[0]
            assert roles.get(name, row["class"]) == row["class"], (folder, row)
            seen.add(name)
    assert seen >= set(roles), seen


def check_unrelated(program, sample):
    """Stages of several programs are parts of no whole: neither a picture nor a chart has them."""
    report = read_report(program, sample)
    assert not rows(report, "overview.picture") and rows(report, "overview.telemetry")
    shares = {}
    for row in rows(report, "stages.by_name"):
        if row["share"] is not None:
            shares[row["share_of"]] = shares.get(row["share_of"], 0) + row["share"]
    assert 0.9 < shares["session"] <= 1, shares  # of the one request that is known
    items = [item for section in report["sections"] for item in section["items"]]
    assert not any("stage-waterfall" in json.dumps(item.get("chart", "")) for item in items)


def check_ranks(program, sample):
    """Parts of ranks are not in time order, so that nothing above them may seem to be."""
    report = read_report(program, sample)
    picture = rows(report, "overview.picture")
    assert {row["lane"] for row in picture} == {f"rank {rank}" for rank in range(4)}, picture
    inks = {}
    for section in report["sections"]:
        for item in section["items"]:
            if item.get("id") in ("overview.picture", "phases.by_rank"):
                inks[item["id"]] = {kind["value"]: kind["ink"] for kind in item["chart"]["kinds"]}
    for phase, stage in (("denoise", "stage 1"), ("VAE decode", "stage 2"),
                         ("text encode", "stage 3")):  # as in pictures of dumps
        assert inks["phases.by_rank"][phase] == inks["overview.picture"][stage], (phase, inks)


def check_legend(program, sample):
    """On the terminal as well as in the bars, the legend is in the order of the bars."""
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([program, "report", sample, "-o", folder], check=True, text=True,
                              capture_output=True).stdout.split("\nFindings")[0]
    bar = next(line[len("  rank 0"):] for line in text.splitlines() if line.startswith("  rank 0"))
    glyphs = list(dict.fromkeys(re.sub(r" \d+ % ", "", bar.strip())))
    legend = text[text.rindex("rank 3"):].split("\n", 1)[1]
    places = [legend.index(f" {glyph} ") for glyph in glyphs]
    assert len(glyphs) > 3 and places == sorted(places), (glyphs, legend)
    assert not re.search(r" \d+ %", legend.split("\n\n")[0]), legend  # each lane has its own


def check_slow_stage(program, sample):
    """The rank that takes longest for a stage shows it."""
    lanes = check_stages_of_ranks(program, sample, 4)
    named = {segment["label"]: segment["dur_ns"] for segment in lanes["rank 2"]}
    others = [next(segment["dur_ns"] for segment in lanes[lane]
                   if segment["label"] == "multi_block/prepare_sample")
              for lane in lanes if lane != "rank 2"]
    assert named["multi_block/prepare_sample"] > 3 * max(others), (named, others)


def check_sessions(program, file):
    """A bar for each rank of a summary, as long as its session."""
    written = json.loads((file / "aggregated_report.json").read_text(encoding="utf-8"))
    wanted = {f"rank {report['rank']}": round(report["duration"] * 1e9)
              for report in written["reports_summary"]}
    picture = rows(read_report(program, file), "overview.picture")
    assert {row["lane"]: row["dur_ns"] for row in picture} == wanted, (picture, wanted)


def scaled(value, factor, key=""):
    """A report of a run that takes so many times as long."""
    if isinstance(value, dict):
        return {name: scaled(part, factor, name) for name, part in value.items()}
    if isinstance(value, list):
        return [scaled(part, factor, key) for part in value]
    is_length = key == "duration" or key.endswith(("total_time", "avg_time", "_time_ms"))
    return value * factor if is_length and isinstance(value, float) else value


def check_many_ranks(program, sample, ranks=100, last=70):
    """Of many ranks the first have lanes, and the one that takes longest of all."""
    data = json.loads(next((sample / "rank_0").glob("*.json")).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        for rank in range(ranks):
            own = scaled(data, 1.5 if rank == last else 1 + rank / 1000)
            own["session_info"]["tags"]["rank"] = rank
            folder = pathlib.Path(name) / f"rank_{rank}"
            folder.mkdir()
            (folder / "profiling_report_t2v_generation_20261121_003315.json").write_text(
                json.dumps(own), encoding="utf-8")
        lanes = check_stages(program, name)
    assert list(lanes) == [f"rank {rank}" for rank in (*range(7), last)], list(lanes)


def check_telemetry(program, folder):
    """The samples of the one device that the file has."""
    with (folder / "gpu.csv").open(encoding="utf-8") as file:
        lines = [[cell.split()[0] for cell in line.split(", ")[3:]] for line in file][1:]
    wanted = [(float(line[7]) * 1e6, float(line[0]), float(line[5])) for line in lines]
    told = [(row["gpu_clock"], row["gpu_temperature"], row["gpu_power"])
            for row in rows(read_report(program, folder), "overview.telemetry")]
    assert told == wanted, (told[:3], wanted[:3])


def check_overflow(program, folder):
    """Where memory overflows into the host, the picture is of memory and power."""
    with (folder / "dmon.txt").open(encoding="utf-8") as file:
        lines = [line.split() for line in file]
    memory, power = lines[0].index("fb"), lines[0].index("pwr")
    # The header begins with "#Date", the rows with the date.
    wanted = [(float(line[memory]) * 2**20, float(line[power]))
              for line in lines if not line[0].startswith("#")]
    report = read_report(program, folder)
    told = [(row["gpu_memory_used"], row["gpu_power"])
            for row in rows(report, "overview.telemetry")]
    assert told == wanted, (told[:3], wanted[:3])
    charts = [item["chart"] for section in report["sections"] for item in section["items"]
              if item.get("id") == "overview.telemetry" and "chart" in item]
    assert [y["column"] for y in charts[0]["y"]] == ["gpu_memory_used", "gpu_power"], charts
    assert charts[0]["band"] == "limit", charts
    full = [row["limit"] == "memory full" for row in rows(report, "overview.telemetry")]
    most = max(memory for memory, _ in wanted)
    assert full == [memory >= 0.98 * most for memory, _ in wanted] and 0 < sum(full) < len(full)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    folder = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
    if not folder.is_dir():
        print("no traces beside the repository")
        sys.exit(77)
    for name in TRACES:
        check(program, folder, name)
    samples = pathlib.Path(__file__).resolve().parents[2] / "samples"
    check_stages(program, samples / "framepack-pair" / "regressed")
    check_unrelated(program, samples / "console-logs")
    check_one_name(program, samples / "inferix-4ranks")
    check_one_color(program, samples, folder.parent / "public")
    check_ranks(program, samples / "video-4ranks")
    check_legend(program, samples / "video-4ranks")
    check_legend(program, samples / "inferix-4ranks")
    check_slow_stage(program, samples / "diffulex")
    check_sessions(program, folder.parent / "seeds" / "inf_agg")
    check_many_ranks(program, folder.parent / "dumps" / "inferix" / "ranks8_straggler")
    check_telemetry(program, folder.parent / "public" / "f05_nvidia_smi_query")
    check_overflow(program, folder.parent / "public" / "d02_dmon_sysmem_fallback")
    print(f"{len(TRACES) + 12} pictures add up")


main()
