# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace, read independently of the program: times as whole nanoseconds from the decimal text."""
import decimal
import functools
import gzip
import json

DEVICE = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset",
          "memset": "memset", "mtia_ccp_events": "kernel"}


class Number(str):
    """A number with a fraction, as written."""


def nanoseconds(us):
    if isinstance(us, int):
        return us * 1000
    value = decimal.Decimal(us) * 1000
    return int(value.to_integral_value(rounding=decimal.ROUND_HALF_UP))


def fast_nanoseconds(us):
    """The same for the usual spelling, digits with up to three behind the point."""
    if not isinstance(us, int):
        whole, point, fraction = us.partition(".")
        if point and len(fraction) <= 3 and fraction.isdigit() and whole.isdigit():
            return int(whole) * 1000 + int(fraction.ljust(3, "0"))
    return nanoseconds(us)


class Span:
    """A complete event. `ts` and `dur` are ns, `us` and `dus` the doubles that others compute
    with."""
    __slots__ = ("name", "cat", "pid", "tid", "ts", "dur", "us", "dus", "args", "order", "kind",
                 "correlation")

    def __init__(self, event, order):
        self.name, self.cat = event.get("name", ""), event.get("cat")
        self.pid, self.tid = event.get("pid"), event.get("tid")
        self.ts, self.dur = fast_nanoseconds(event["ts"]), max(fast_nanoseconds(event["dur"]), 0)
        self.us, self.dus = float(event["ts"]), float(event["dur"])
        self.args = event.get("args") or {}
        self.order = order
        self.kind = DEVICE.get((self.cat or "").lower())
        correlation = self.args.get("correlation")
        self.correlation = correlation if isinstance(correlation, int) else -1

    @property
    def end(self):
        return self.ts + self.dur

    @property
    def is_call(self):
        """A call of the runtime or driver of a device."""
        return (self.cat or "").lower().endswith(("runtime", "driver"))

    @property
    def is_op(self):
        return (self.cat or "").lower() in ("cpu_op", "operator")


class Trace:
    def __init__(self, path):
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        document = json.loads(data.decode("utf-8", "replace"), parse_float=Number)
        self.document = document if isinstance(document, dict) else {}
        events = document["traceEvents"] if isinstance(document, dict) else document
        self.events = events
        self.spans = [Span(event, order) for order, event in enumerate(events)
                      if event.get("ph") == "X" and "ts" in event and "dur" in event]
        self.fractional = any(isinstance(event.get(key), Number) for event in events
                              for key in ("ts", "dur") if event.get("ph") == "X")
        self.device = [span for span in self.spans if span.kind]


@functools.lru_cache(maxsize=1)
def trace_at(path):
    """The trace, kept until another one is read."""
    return Trace(path)


def number(value, default=0.0):
    """An argument as a number, whether written as one or as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


# ---- intervals -------------------------------------------------------------------------------

def union(spans):
    """Sorted disjoint intervals of pairs (start, end)."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            if end > out[-1][1]:
                out[-1][1] = end
        else:
            out.append([start, end])
    return out


def length(intervals):
    return sum(end - start for start, end in intervals)


def intersection(left, right):
    """Of two unions."""
    out, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            out.append([start, end])
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return out


def minus(left, right):
    """What of the first union the second does not cover."""
    out, j = [], 0
    for start, end in left:
        while j < len(right) and right[j][1] <= start:
            j += 1
        k = j
        while k < len(right) and right[k][0] < end:
            if right[k][0] > start:
                out.append([start, right[k][0]])
            start = max(start, right[k][1])
            k += 1
        if start < end:
            out.append([start, end])
    return out


# ---- samples ---------------------------------------------------------------------------------

def quantile(values, share):
    """Linear interpolation between the sorted values."""
    values = sorted(values)
    place = (len(values) - 1) * share
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    """Of a sample; None of a single value."""
    if len(values) < 2:
        return None
    middle = mean(values)
    return (sum((value - middle) ** 2 for value in values) / (len(values) - 1)) ** 0.5
