# SPDX-License-Identifier: GPL-3.0-or-later
"""What Diffulex's benchmark and its torch sessions write about a language model: operator rows of
each rank in several forms, and the trajectories of requests."""
import decimal
import fractions

import dress
import figures as f

US = ["self_cpu_time_total_us", "cpu_time_total_us", "self_cuda_time_total_us",
      "cuda_time_total_us"]
COLUMNS = {"self_cpu_ns": US[0], "cpu_ns": US[1], "self_device_ns": US[2], "device_ns": US[3]}


def operator(chance, name, has_device):
    device = chance.randrange(0, 10**6) if has_device else 0
    host = chance.choice([chance.randrange(1, 10**6), chance.uniform(1, 1e6)])
    return {"name": name, "count": chance.randrange(1, 5000), US[0]: host, US[1]: host * 2,
            US[2]: device, US[3]: device * 2, "self_cpu_memory_usage": -512,
            "self_cuda_memory_usage": chance.randrange(-10**9, 10**9) if has_device else 0,
            "input_shapes": chance.choice(["", "[]", "[[1, 16], []]"])}


def rows_of(rank, rows):
    """Shapes of one operator add up; where nothing ran on a device there was none."""
    has_device = any(row[US[2]] or row[US[3]] for row in rows)
    found = {}
    for row in rows:
        one = found.setdefault(row["name"], {"rank": rank, "name": row["name"], "calls": 0})
        one["calls"] += row["count"]
        for key, source in COLUMNS.items():
            if has_device or not key.endswith("device_ns"):
                one[key] = one.get(key, 0) + f.scaled(row[source], 1000)
    return [{**dict.fromkeys(COLUMNS), **one} for one in found.values()]


def merged(chance, profiles):
    """The tables of all profiles in one, with thousandths of what the profiles say."""
    rows = []
    for profile, operators in profiles.items():
        for row in operators:
            ms = {key: str(decimal.Decimal(f.scaled(row[key], 1000)).scaleb(-6)) for key in US}
            rows.append({"profile_name": profile, "name": row["name"], "count": str(row["count"]),
                         "self_cuda_time_ms": ms[US[2]], "cuda_time_ms": ms[US[3]],
                         "self_cpu_time_ms": ms[US[0]], "cpu_time_ms": ms[US[1]],
                         "self_cuda_memory_usage": str(row["self_cuda_memory_usage"]),
                         "profile_file": "/log/%s.summary.json" % profile})
    chance.shuffle(rows)
    return rows


def operators(chance, folder, tables):
    """JSON, CSV and the merged table hold the same rows; they count once."""
    profiles, has_device = {}, chance.random() < 0.6
    with_json, with_csv, with_merged = chance.choice(
        [(1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 1, 1), (0, 0, 1), (1, 0, 1)])
    for rank in sorted(chance.sample(range(30), chance.choice([1, 2, 4]))):
        taken = set()
        names = [dress.new_name(chance, taken) for _ in range(chance.randrange(1, 20))]
        if not with_merged and chance.random() < 0.3:
            names.append(names[0])  # with another shape
        rows = [operator(chance, name, has_device) for name in names]
        rows[0][US[2]] = rows[0][US[3]] = int(has_device)
        profile = "20260619_101500.model_runner.rank%d" % rank
        profiles[profile] = rows
        if with_json:
            dress.write_json(chance, folder / (profile + ".summary.json"), rows)
        if with_csv:
            dress.write_csv(chance, folder / (profile + ".summary.csv"), [
                {key: f.text_of(value) for key, value in row.items()} for row in rows])
        tables.setdefault("ops.summed", []).extend(rows_of(rank, rows))
    if with_merged:
        dress.write_csv(chance, folder / "torch_profile_top_ops.csv", merged(chance, profiles))


def request(chance, number):
    """A request and when its tokens came: (first, all, tokens, decode steps, tokens, time)."""
    steps, spent, first, tokens = [], 0, None, 0
    decoding = [0, 0, 0]
    for i in range(chance.randrange(1, 30)):
        seconds, is_prefill = chance.uniform(1e-4, 0.9), i == 0 and chance.random() < 0.8
        new = 0 if chance.random() < 0.3 else chance.randrange(1, 9)
        steps.append(dress.add_unknown(chance, {
            "step_id": i, "step_time": seconds, "is_prefill": is_prefill,
            "num_generated_tokens": new, "block_size": 32, "buffer_bids": [i], "block_trace": []}))
        spent += f.scaled(seconds, 10**9)
        tokens += new
        first = spent if new and first is None else first
        if not is_prefill:
            decoding = [decoding[0] + 1, decoding[1] + new, decoding[2] + f.scaled(seconds, 10**9)]
    return {"req_id": number, "trajectory": steps}, (first, spent, tokens, decoding)


def trajectories(chance, folder, tables):
    made = [request(chance, i) for i in range(chance.randrange(1, 20))]
    dress.write_json(chance, folder / "0x3_decode_trajectory.json", [one for one, _ in made])
    known = [row for _, row in made]
    firsts = [first for first, *_ in known if first is not None]
    per_token = [int((decimal.Decimal(spent - first) / (tokens - 1)).to_integral_value(
        rounding=decimal.ROUND_HALF_UP)) for first, spent, tokens, _ in known
        if first is not None and tokens > 1]
    steps, tokens, spent = (sum(decoding[i] for *_, decoding in known) for i in range(3))
    tables["requests.by_rank"] = [{
        "rank": 0, "requests": len(known), "tokens": sum(row[2] for row in known),
        "ttft_mean_ns": f.plain(f.mean(firsts)) if firsts else None,
        "ttft_p50_ns": f.plain(f.quantile(firsts, 0.5)) if firsts else None,
        "ttft_p95_ns": f.plain(f.quantile(firsts, 0.95)) if firsts else None,
        "ttft_p99_ns": f.plain(f.quantile(firsts, 0.99)) if firsts else None,
        "tpot_mean_ns": f.plain(f.mean(per_token)) if per_token else None,
        "tpot_p50_ns": f.plain(f.quantile(per_token, 0.5)) if per_token else None,
        "tpot_p95_ns": f.plain(f.quantile(per_token, 0.95)) if per_token else None,
        "tpot_p99_ns": f.plain(f.quantile(per_token, 0.99)) if per_token else None,
        "time_p50_ns": f.plain(f.quantile([row[1] for row in known], 0.5)),
        "time_p95_ns": f.plain(f.quantile([row[1] for row in known], 0.95)),
        "time_p99_ns": f.plain(f.quantile([row[1] for row in known], 0.99)),
        "tpf": f.plain(fractions.Fraction(tokens, steps)) if steps else None,
        "decode_tokens_per_s": f.rate(tokens, spent)}]


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    tables = {}
    for maker in chance.choice([[operators], [trajectories], [operators, trajectories]]):
        maker(chance, folder, tables)
    return tables
