# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the wrong kind, beyond every range, or hostile, for each key that is known."""
import json
import random

from damage import folder_of, one
from judge import Case
from made import members, write

HUGE = [10**17, -10**17, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -2**63, -2**63 - 1, 10**400]
TEXTS = ["null", "true", "false", '""', '"x"', "[]", "{}", "[[]]", '{"a": [1, {"b": null}]}', "-0",
         "0", "-1", "0.5", "1e3", "1E-3", "1e400", "-1e400", "1e-400", "NaN", "Infinity",
         "-Infinity", "nan", "inf", "+1", "01", ".5", "5.", "0x10", "1_000", "1,5", "--1", "1e",
         '"12"', '"-3.25"', '"1e3"', '"0x10"', '" 12 "', '"12ms"', '"NaN"', '"\\ud800"',
         '"\\u0000"',
         '"\\u202e\\u001b[2J"', '"<script>"', '"=1+1"', "[1, 2", '"' + "n" * 3000 + '"',
         "9" * 600, "0." + "9" * 600, "1e" + "9" * 20, "-" * 100, "[" * 200 + "]" * 200,
         '{"a":' * 200 + "1" + "}" * 200, *map(str, HUGE)]
EVENT_KEYS = ["name", "cat", "pid", "tid", "dur", "id", "args", "s", "bp", "tts", "tdur", "sf"]
ARG_KEYS = ["External id", "External Id", "correlation", "stream", "device", "context", "cbid",
            "Input Dims", "Input dims", "Input type", "Concrete Inputs", "bytes", "grid", "block",
            "Bytes", "blocks per SM", "warps per SM", "registers per thread", "shared memory",
            "est. achieved occupancy %", "Sequence number", "Fwd thread id", "Record function id",
            "Python id", "Python parent id", "Python module id", "Collective name", "In msg nelems",
            "Out msg nelems", "Group size", "dtype", "In split size", "Process Group Name",
            "Process Group Description", "Process Group Ranks", "Rank", "Src Rank", "Dst Rank",
            "Seq", "Comms Id", "queued", "Device Id", "Device Type", "Total Allocated",
            "Total Reserved", "Addr", "Bandwidth (Gbps)", "memory bandwidth (GB/s)", "kind",
            "Trace name", "Trace iteration", "labels", "name", "sort_index"]
HEAD_KEYS = ["schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit",
             "baseTimeNanoseconds", "baseTimeNs", "traceName", "trace_id", "record_shapes",
             "with_stack", "profile_memory", "cuda_runtime_version", "cuda_driver_version",
             "trace_start_ts", "cupti_version", "otherData", "metadata", "viztracer_metadata",
             "file_info", "systemTraceEvents", "stackFrames", "samples", "controllerTraceDataKey",
             "PT_Profiler_Version", "NCCL_VERSION"]
DEVICE_KEYS = ["id", "name", "totalGlobalMem", "computeMajor", "computeMinor", "maxThreadsPerBlock",
               "numSms", "warpSize", "regsPerMultiprocessor", "sharedMemPerBlock"]
JOB_KEYS = ["backend", "rank", "world_size", "pg_count", "pg_config", "nccl_version", "pg_name",
            "pg_desc", "backend_config", "pg_size", "ranks"]


def clean(text):
    """Whether a text is a value that strict JSON takes."""
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
        return True
    except (ValueError, ZeroDivisionError, RecursionError):
        return False


def values_of(chance):
    return [text for text in TEXTS if clean(text)], [text for text in TEXTS if not clean(text)]


def victim(base, path, text, number):
    """An event with a value in place of what is at `path`, as text."""
    event = json.loads(json.dumps(base))
    at = event
    for key in path[:-1]:
        at = at.setdefault(key, {})
    at[path[-1]] = "VALUE"
    event["ts"] = event.get("ts") if event.get("ts") == "VALUE" else 5000 + 100 * number
    return json.dumps(event).replace('"VALUE"', text)


BASES = [
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 20,
     "args": {"device": 0, "stream": 7, "correlation": 4, "grid": [2, 1, 1], "block": [32, 1, 1]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 17, "tid": 18, "ts": 1, "dur": 20,
     "args": {"External id": 9, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 17, "tid": 18, "ts": 1,
     "dur": 4, "args": {"correlation": 4, "External id": 9}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7,
     "ts": 1, "dur": 3, "args": {"bytes": 4096, "correlation": 4, "stream": 7, "device": 0}},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 0, "tid": 9,
     "ts": 1, "dur": 9, "args": {"Collective name": "allreduce", "In msg nelems": 8, "stream": 9,
                                 "Out msg nelems": 8, "Group size": 2, "dtype": "Float",
                                 "Process Group Name": "0", "Process Group Ranks": [0, 1]}},
    {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 17, "tid": 18,
     "ts": 1, "args": {"Total Allocated": 5, "Total Reserved": 9, "Addr": 7, "Bytes": 3,
                       "Device Id": 0, "Device Type": 1}},
    {"ph": "C", "name": "GPU Utilization", "pid": 0, "tid": 0, "ts": 1, "args": {"GPU": 3}},
    {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 17, "tid": 18, "ts": 1, "id": 4},
    {"ph": "b", "cat": "async", "name": "a", "pid": 17, "tid": 18, "ts": 1, "id": 4},
    {"ph": "M", "name": "thread_name", "pid": 17, "tid": 18, "ts": 1, "args": {"name": "t"}},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 17, "tid": 18, "ts": 1,
     "dur": 50, "args": {}},
    {"ph": "X", "cat": "python_function", "name": "f.py(3): g", "pid": 17, "tid": 18, "ts": 1,
     "dur": 30, "args": {"Python id": 1, "Python parent id": None, "Python module id": 0}},
]


def event_values(chance):
    """Each key of each kind of event, with each value: none but ts and ph costs an event."""
    good, bad = values_of(chance)
    for b, base in enumerate(BASES):
        keys = [(key,) for key in EVENT_KEYS] + [("args", key) for key in base.get("args", {})]
        keys += [("args", chance.choice(ARG_KEYS)) for _ in range(4)]
        texts = [victim(base, path, text, n)
                 for n, (path, text) in enumerate((p, t) for p in keys for t in good)]
        yield Case(f"values-{b}", one(document(texts)), kept=(len(texts) + 3, len(texts) + 3),
                   codes=(), clean=None, seconds=60)
        # Damaged values cost the event that holds them, at most that and the one behind.
        some = [(path, text) for path in keys for text in chance.sample(bad, 3)]
        texts = []
        for n, (path, text) in enumerate(some):
            texts.append(victim(base, path, text, 2 * n))
            texts += ['{"ph": "X", "name": "good", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'
                      % (9 * n)] * 2
        yield Case(f"bad-values-{b}", one(document(texts)),
                   kept=(2 * len(some), len(texts) + 3), seconds=60)


def document(texts, head='"schemaVersion": 1'):
    """The events, and three good ones behind."""
    good = ['{"ph": "X", "name": "end", "pid": 1, "tid": 1, "ts": %d, "dur": 1}' % (9 * n)
            for n in range(3)]
    return ("{" + head + ', "traceEvents": [\n' + ",\n".join(texts + good) + "\n]}").encode()


def usable_time(text):
    """Whether a text is a time as the format has it, within ±2^62 ns less a bit."""
    if text.startswith('"'):
        text = json.loads(text)
        if not text.replace(".", "").replace("-", "").replace("e", "").isdigit():
            return None if text.strip() != text else False
    try:
        value = float(text)
    except ValueError:
        return False
    return abs(value) < 4.5e15


def times(chance):
    """Time stamps: those that cannot be used drop their event, and only that."""
    good, _ = values_of(chance)
    sure = {text: usable_time(text) for text in good}
    texts = [victim(BASES[0], ("ts",), text, 0) for text in good]
    least = sum(fits is True for fits in sure.values())
    most = sum(fits is not False for fits in sure.values())
    yield Case("times", one(document(texts)), kept=(least + 3, most + 3), codes=("bad-ts",))
    phases = [text for text in good if text not in ('"x"',)]
    texts = [victim(BASES[0], ("ph",), text, n) for n, text in enumerate(phases)]
    yield Case("phases", one(document(texts)), kept=(3, 3), dropped=(len(phases), len(phases)),
               codes=("unknown-phase",))
    texts = [json.dumps({"ph": chr(code), "name": "n", "pid": 1, "tid": 1, "ts": code, "id": 3,
                         "args": {"value": 3}}) for code in range(32, 127)]
    yield Case("all-phases", one(document(texts)), kept=(10, 40))
    for low in (-2**62 / 1000, -1e15, -5.0, 0.0, 4.6e15):
        texts = [json.dumps({"ph": ph, "name": "n", "pid": 1, "tid": t, "ts": low + step,
                             "dur": dur})
                 for t, dur in enumerate((0, 0.001, 1e9, 7.2e13, 9e15, -1, -9e18))
                 for step, ph in ((0, "X"), (1, "B"), (2, "E"))]
        yield Case(f"range-{low:g}", one(document(texts)), kept=(3, len(texts) + 3))


def heads(chance):
    """What stands beside the events may be anything: no event is lost."""
    good, bad = values_of(chance)
    events = [json.dumps(member) for member in members(4, 5)]
    n = len(events) + 3
    files = {}
    for key in HEAD_KEYS:
        for i, text in enumerate(chance.sample(good, 5)):
            unlike = f'{{"ph":"M","ts":1,"name":"{key}{i}"}}'
            files[f"{key}-{i}x.json"] = document(events + [unlike], f"{json.dumps(key)}: {text}")
    holders = (('"deviceProperties": [{%s}]', DEVICE_KEYS), ('"distributedInfo": {%s}', JOB_KEYS),
               ('"distributedInfo": {"pg_config": [{%s}]}', JOB_KEYS))
    for holder, keys in holders:
        for key in keys:
            for i, text in enumerate(chance.sample(good, 4)):
                unlike = f'{{"ph":"M","ts":1,"name":"{key}{len(files)}"}}'
                files[f"{key}-{i}y{len(files)}.json"] = document(
                    events + [unlike], holder % f"{json.dumps(key)}: {text}")
    total = len(files) * (n + 1)

    def check(run):
        quality = run.report["data_quality"]
        odd = [(file["file"], file["events_kept"]) for file in quality["files"]
               if file["events_kept"] != n + 1]
        return f"{len(odd)} files differ: {odd[:3]}" if odd else None
    yield Case("heads", folder_of(files), kept=(total, total), check=check, seconds=60)


def deep(chance):
    whole = write(members(9, 8))
    for name, opening, closing in (("lists", "[", "]"), ("objects", '{"a":', "1}"),
                                   ("mixed", '[{"a":', "1}]")):
        for depth in (1000, 1100, 50000):
            value = opening * depth + ("" if name == "lists" else "1,1"[:1]) + \
                closing.replace("1", "") * depth
            texts = ['{"ph":"X","name":"d","pid":1,"tid":1,"ts":3,"dur":1,"args":{"v":%s}}' % value]
            yield Case(f"deep-{name}-{depth}", one(document(texts)), kept=(3, 4))
            yield Case(f"deep-head-{name}-{depth}", one(document([], f'"meta": {value}')),
                       kept=(3, 3))
    keys = ",".join(f'"k{i}":{i}' for i in range(20000))
    yield Case("many-keys", one(document([WITH_ARGS % keys])), kept=(4, 4), clean=True)
    same = ",".join(['"ts":5'] * 5000)
    yield Case("same-key",
               one(document(['{"ph":"X","name":"d","pid":1,"tid":1,%s,"dur":1}' % same])),
               kept=(4, 4), codes=("duplicate-key",), clean=True)
    assert whole.n


WITH_ARGS = '{"ph":"X","name":"d","pid":1,"tid":1,"ts":3,"dur":1,"args":{%s}}'


def pairs(chance):
    """Begin and end events in any order on a few threads; every one is kept or counted."""
    for i in range(3):
        texts = []
        for n in range(400):
            texts.append(json.dumps({"ph": chance.choice("BEBEXbenseftNOD(i"), "name": f"n{n % 5}",
                                     "cat": "c", "pid": 1, "tid": n % 3, "id": n % 4,
                                     "ts": chance.randrange(200), "dur": chance.randrange(50)}))
        yield Case(f"pairs-{i}", one(document(texts)), kept=(100, 403))


def cases(chance):
    for group in (event_values, times, heads, deep, pairs):
        yield from group(random.Random(chance.random()))
