# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory snapshots that are cut, overwritten, claim too much, or want to run something."""
import io
import os
import pickle
import pickletools
import random
import struct

from damage import one
from judge import Case

NAME = "snapshot-rank0.pickle"
FRAME = {"filename": "model.py", "line": 3, "name": "forward"}


def snapshot(n=6):
    blocks = [{"address": 4096 + 512 * i, "size": 512, "requested_size": 500, "frames": [FRAME],
               "state": "active_allocated" if i % 2 else "inactive"} for i in range(n)]
    segment = {"device": 0, "address": 4096, "total_size": 512 * n, "allocated_size": 256 * n,
               "active_size": 256 * n, "requested_size": 250 * n, "stream": 0,
               "segment_type": "small", "blocks": blocks, "frames": [FRAME]}
    history = [{"action": action, "addr": 4096, "size": 512, "stream": 0, "frames": [FRAME],
                "time_us": 5 + i}
               for i, action in enumerate(["alloc", "free_requested", "free_completed"])]
    return {"segments": [segment], "device_traces": [history], "allocator_settings": {"a": True}}


class Call:
    """Pickled as a call of something."""

    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


class Thing:
    pass


class Persistent(pickle.Pickler):
    def persistent_id(self, obj):
        return "id" if obj == "me" else None


def attacks(mark):
    """Name, bytes, and what a refusal must say."""
    run = Call(os.system, f"touch {mark}")
    for protocol in range(6):
        yield f"system-{protocol}", pickle.dumps(run, protocol), "system"
        yield f"inside-{protocol}", pickle.dumps({**snapshot(), "x": run}, protocol), "system"
        yield f"object-{protocol}", pickle.dumps({**snapshot(), "x": Thing()}, protocol), \
            "Thing" if protocol >= 2 else "_reconstructor"
    yield "eval", pickle.dumps({"segments": Call(eval, f"open({str(mark)!r}, 'w')")}), "eval"
    yield "getattr", pickle.dumps([Call(getattr, "a", "upper")]), "getattr"
    yield "set", pickle.dumps({"segments": Call(set, [1])}), "set"
    yield "inst", b"(S'touch " + str(mark).encode() + b"'\nios\nsystem\n.", "system"
    yield "obj", b"(cos\nsystem\nS'true'\no.", "system"
    yield "global-only", b"cos\nsystem\n.", "system"
    yield "stack-global", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "system"
    yield "global-then-garbage", b"cos\nsystem\nS'true'\n\x85R\xff\xfe\xfd", "system"
    yield "extension", b"\x80\x02\x82\x01.", ""
    yield "next-buffer", b"\x80\x05\x97.", ""
    yield "persistent-text", b"\x80\x02Pid\n.", ""
    buffer = io.BytesIO()
    Persistent(buffer, 4).dump({"segments": "me"})
    yield "persistent", buffer.getvalue(), ""
    yield "newobj-ex", b"\x80\x04c__main__\nA\n)}\x92.", "A"
    yield "hostile-name", b"\x80\x02c\x1b[31mos\n\xe2\x80\xaesystem\n.", "system"
    yield "empty-names", b"\x80\x02c\n\n.", ""


BROKEN = {
    "stop-only": b".", "empty-stack": b"\x80\x04R.", "pop-nothing": b"0.", "mark-nothing": b"t.",
    "dup-nothing": b"2.", "marks": b"(" * 100000,
    "frame-huge": b"\x80\x04\x95" + b"\xff" * 8 + b"}.",
    "frame-cut": b"\x80\x04\x95\x10\0\0\0\0\0\0\0}.", "bytes8": b"\x80\x04\x8e" + b"\xff" * 8,
    "text8": b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b"a.", "text4": b"X\xff\xff\xff\x7fab.",
    "text-negative": b"T\xff\xff\xff\xffab.", "bytes-negative": b"B\xfe\xff\xff\xffab.",
    "long4-negative": b"\x8b\xff\xff\xff\xff.", "long4-huge": b"\x8b\xff\xff\xff\x7f1.",
    "bytearray8": b"\x80\x05\x96" + b"\xff" * 8, "int-text": b"Inope\n.",
    "int-huge": b"I" + b"9" * 5000 + b"\n.",
    "long-text": b"L" + b"9" * 100000 + b"L\n.", "float-text": b"Fxx\n.",
    "string-open": b"S'abc\n.",
    "string-escape": b"S'\\x4'\n.", "unicode-cut": b"V\\u12\n.", "memo-get": b"g7\n.",
    "memo-text": b"gx\n.",
    "memo-long": b"j\xff\xff\xff\xff.", "memo-huge": b"}r\xff\xff\xff\xff.",
    "memo-negative": b"}p-1\n.",
    "protocol-9": b"\x80\x09}.", "protocol-late": b"}\x80\x04.", "odd-dict": b"}(K\x01u.",
    "list-key": b"}]K\x01s.",
    "dict-key": b"}}K\x01s.", "none": b"N.", "two-left": b"K\x01K\x02.",
    "append-to-int": b"K\x01K\x02a.",
    "self": b"]q\0h\0a.", "dict-self": b"}q\0(X\x01\0\0\0ah\0u.",
    "tuple-cycle": b"]q\0(h\0tq\x01h\x01a.",
    "deep-lists": b"]" * 50000 + b"a" * 49999 + b".", "deep-tuples": b")" + b"\x85" * 100000 + b".",
    "laughs": b"".join(b"]q%c" % i + b"(" + (b"h%c" % (i - 1) * 10 if i else b"K\1" * 10) + b"e0"
                       for i in range(60)) + b"h\x3b.",
    "many": b"](" + b"K\x01" * 300000 + b"e.", "unknown-opcode": b"\x80\x04\xff.",
    "text": b"hello world",
    "empty-dict": b"}.", "no-stop": b"}", "nothing": b"\x80\x04",
}


def hostile(_):
    for name, data, word in attacks("IN-mark"):
        def ran(run):
            found = [path for path in run.folder.rglob("*mark*")]
            return f"code ran: {found}" if found else None
        yield Case(f"pickle-{name}", one(data, NAME), exits=(3,), says=(NAME, word), product=None,
                   offsets=(0, len(data)), check=ran)
    for name, data in BROKEN.items():
        yield Case(f"pickle-{name}", one(data, NAME), exits=(3,), says=(NAME,), product=None,
                   memory_mb=256)


def offsets_of(data):
    return [place for _, _, place in pickletools.genops(data)]


def damaged(chance):
    for protocol in range(6):
        data = pickle.dumps(snapshot(), protocol)
        yield Case(f"pickle-good-{protocol}", one(data, NAME), clean=True)
        for i in range(4):
            at = chance.randrange(1, len(data) - 1)
            yield Case(f"pickle-cut-{protocol}-{i}", one(data[:at], NAME), exits=(3,), says=(NAME,),
                       product=None)
            data_ = bytearray(data)
            data_[chance.choice(offsets_of(data))] = chance.randrange(256)
            yield Case(f"pickle-opcode-{protocol}-{i}", one(bytes(data_), NAME), exits=(0, 3))
            data_ = bytearray(data)
            for _ in range(chance.choice([1, 3, 20])):
                data_[chance.randrange(len(data))] = chance.randrange(256)
            yield Case(f"pickle-bytes-{protocol}-{i}", one(bytes(data_), NAME), exits=(0, 3))
    odd = [None, -1, 2**70, -2**70, 1e308, float("nan"), float("inf"), "x", "", b"\xff", [], {},
           [[]], True,
           "\x1b[31m\u202e", (1, 2)]
    whole = snapshot()
    for i in range(50):
        copy = pickle.loads(pickle.dumps(whole))
        at, key = copy, chance.choice(list(copy))
        while isinstance(at[key], (dict, list)) and at[key] and chance.random() < 0.85:
            at = at[key]
            key = chance.choice(list(at)) if isinstance(at, dict) else chance.randrange(len(at))
        at[key] = chance.choice(odd)
        yield Case(f"pickle-value-{i}", one(pickle.dumps(copy, chance.randrange(2, 6)), NAME),
                   exits=(0, 3))


def cases(chance):
    for group in (hostile, damaged):
        yield from group(random.Random(chance.random()))
