# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces whose every event has a known place, to damage them."""
import json
import random


class Trace:
    """Text of a trace; `events` are (first byte, byte behind the last) of its events."""

    def __init__(self, text, events, array_end):
        self.text, self.events, self.array_end = text, events, array_end

    @property
    def n(self):
        return len(self.events)

    def apart(self, first, last):
        """How many events lie wholly outside of bytes `first` up to `last`."""
        return sum(end <= first or start >= last for start, end in self.events)

    def before(self, place):
        return sum(end <= place for _, end in self.events)


def members(seed, n):
    """Events of a host thread and a device: operators, their calls, their kernels."""
    chance = random.Random(seed)
    yield {"ph": "M", "name": "process_name", "pid": 17, "tid": 0, "ts": 0,
           "args": {"name": "python"}}
    now = 1000
    for i in range(n):
        now += chance.randint(30, 90)
        link = 100 + i
        kind = chance.randrange(4)
        if kind == 0:
            yield {"ph": "X", "cat": "cpu_op", "name": chance.choice(
                ["aten::mm", "aten::copy_", "größe.py(3): \"f\"", "a\\b"]), "pid": 17, "tid": 18,
                   "ts": now, "dur": 25.25, "args": {"External id": link,
                                                     "Input Dims": [[8, 16], [16, 4], []]}}
        elif kind == 1:
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 17,
                   "tid": 18, "ts": now, "dur": 5.125,
                   "args": {"cbid": 211, "correlation": link, "External id": link}}
        elif kind == 2:
            yield {"ph": "X", "cat": "kernel", "name": "void k<float, [8]>(float*)", "pid": 0,
                   "tid": 7, "ts": now, "dur": 20.5,
                   "args": {"device": 0, "context": 1, "stream": 7, "correlation": link,
                            "grid": [64, 1, 1], "block": [128, 1, 1]}}
        else:
            yield {"ph": "i", "s": "t", "name": "mark {", "pid": 17, "tid": 18, "ts": now + 0.5}


def write(members_, layout="lines", head=None, rank=0):
    """A trace in object form, in one of several layouts."""
    head = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank,
                                                    "world_size": 1}} if head is None else head
    texts = []
    for member in members_:
        if layout == "indent":
            texts.append(json.dumps(member, indent=2, ensure_ascii=False))
        elif layout == "line":
            texts.append(json.dumps(member, separators=(",", ":"), ensure_ascii=False))
        else:
            texts.append(json.dumps(member, ensure_ascii=False))
    join = "," if layout == "line" else ",\n"
    if layout == "array":
        start, end = "[", "]"
    else:
        start = json.dumps(head)[:-1] + (", " if head else "") + '"traceEvents": ['
        end = "]}"
    places, text = [], start.encode()
    for i, one in enumerate(texts):
        text += (join if i else "\n").encode()
        places.append((len(text), len(text) + len(one.encode())))
        text += one.encode()
    array_end = len(text)
    return Trace(text + ("\n" + end).encode(), places, array_end)


def trace(seed, n=30, layout="lines", rank=0):
    return write(members(seed, n), layout, rank=rank)


LAYOUTS = ("lines", "indent", "line", "array")
