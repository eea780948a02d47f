#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the roofline tables of real traces with figures worked out here, and with TraceLens.

usage: roofline.py --program PROGRAM --shared FOLDER --devices DEVICES.YAML reference|tracelens
       [--only TEXT] [-v]

`reference` reads each trace as JSON, links and nests its events by brute force, counts work by
formulas written down a second time, and compares every row, every sum and every peak.  `tracelens`
compares the FLOPs of all matrix products, convolutions and attention that TraceLens found, in whole
traces and in traces of one operator; where theirs differ, this file says by how much and why.
"""
import argparse
import collections
import gc
import gzip
import json
import math
import pathlib
import re
import sys
import tempfile

import reports

SIZES = {"bool": 1, "unsigned char": 1, "signed char": 1, "short": 2, "short int": 2, "int": 4,
         "long": 8, "long int": 8, "c10::Half": 2, "c10::BFloat16": 2, "float": 4, "double": 8,
         "float16": 2, "bfloat16": 2, "float32": 4, "Float": 4, "Half": 2, "BFloat16": 2,
         "c10::Float8_e4m3fn": 1, "c10::Float8_e4m3fnuz": 1, "c10::Float8_e5m2": 1,
         "c10::Float8_e5m2fnuz": 1, "c10::Float8_e8m0fnu": 1, "c10::complex<float>": 8,
         "c10::complex<double>": 16}
ORDER = ["bool", "unsigned char", "signed char", "short", "int", "long", "c10::Half",
         "c10::BFloat16", "float", "double", "c10::complex<float>", "c10::complex<double>"]
ALIAS = {"short int": "short", "long int": "long", "float32": "float", "Float": "float",
         "Half": "c10::Half", "float16": "c10::Half", "BFloat16": "c10::BFloat16",
         "bfloat16": "c10::BFloat16"}
SHOWN = {"bool": "bool", "unsigned char": "uint8", "signed char": "int8", "short": "int16",
         "int": "int32", "long": "int64", "c10::Half": "fp16", "c10::BFloat16": "bf16",
         "float": "fp32", "double": "fp64", "c10::complex<float>": "complex64",
         "c10::complex<double>": "complex128"}
REAL = {"c10::Half", "c10::BFloat16", "float", "double"}


class Unknown(Exception):
    """Nothing can be said of a call."""


def product(numbers):
    return math.prod(numbers)


# ---- a call -----------------------------------------------------------------------------------

class Call:
    """Shapes, types and values of one operator."""

    def __init__(self, args):
        self.dims = args.get("Input Dims", args.get("Input dims"))
        self.types = args.get("Input type")
        self.values = args.get("Concrete Inputs")
        if self.dims is None or self.types is None:
            raise Unknown

    def type(self, i):
        word = self.types[i] if i < len(self.types) else ""
        return ALIAS.get(word, word) if word in SIZES else None

    def tensor(self, i):
        """Sizes of an argument, None of what is no tensor."""
        if i < 0 or i >= len(self.dims):
            return None
        dims = self.dims[i]
        if any(isinstance(size, list) for size in dims):
            raise Unknown
        if not dims and not self.type(i):
            return None
        return dims

    def need(self, i):
        dims = self.tensor(i)
        if dims is None:
            raise Unknown
        return dims

    def bytes(self, i):
        dims = self.tensor(i)
        if dims is None:
            return 0
        if not self.type(i):
            raise Unknown
        return product(dims) * SIZES[self.type(i)]

    def value(self, i):
        if self.values is None:
            raise Unknown
        return self.values[i] if 0 <= i < len(self.values) else ""

    def numbers(self, i, n):
        found = [int(x) for x in re.findall(r"-?\d+", self.value(i))]
        if len(found) == 1:
            found *= n
        if len(found) != n:
            raise Unknown
        return found


def common(*types):
    types = [t for t in types if t]
    if {"c10::Half", "c10::BFloat16"} <= set(types):
        types.append("float")
    return max(types, key=ORDER.index) if types else None


# ---- formulas: (FLOPs or None, bytes, type) ------------------------------------------------------

def gemm(a, b, bias=-1, beta=-1, linear=False):
    def count(call):
        left, right = call.need(a), call.need(b)
        if linear:
            right = right[::-1]
            left = [product(left[:-1]), left[-1]]
        rows = left[-2] if len(left) > 1 else 1
        columns = right[-1] if len(right) > 1 else 1
        inner = right[-2] if len(right) > 1 else right[0]
        if left[-1] != inner:
            raise Unknown
        batch, x, y = 1, left[:-2], right[:-2]
        for i in range(1, max(len(x), len(y)) + 1):
            batch *= max(x[-i] if i <= len(x) else 1, y[-i] if i <= len(y) else 1)
        kind = common(call.type(a), call.type(b))
        out = batch * rows * columns
        flop, size = 2 * out * left[-1], call.bytes(a) + call.bytes(b) + out * SIZES[kind]
        added = bias >= 0 and call.tensor(bias) is not None
        if added and beta >= 0 and call.values is not None and call.value(beta) == "0":
            added = False
        if added:
            flop, size = flop + out, size + call.bytes(bias)
        return flop, size, kind
    return count


def conv_sizes(call, x, w, stride, padding, dilation, transposed, output_padding, groups):
    data, weight = call.need(x), call.need(w)
    n = len(data) - 2
    if call.values is None:
        raise Unknown
    step, pad, gap = (call.numbers(i, n) for i in (stride, padding, dilation))
    if int(call.value(groups)) * weight[1] != data[1] and not transposed:
        raise Unknown
    taps = product(weight[1:])
    if transposed:
        extra = call.numbers(output_padding, n)
        length = [(data[2 + i] - 1) * step[i] - 2 * pad[i] + gap[i] * (weight[2 + i] - 1)
                  + extra[i] + 1 for i in range(n)]
        out = data[0] * weight[1] * int(call.value(groups)) * product(length)
        return out, 2 * product(data) * taps
    length = [(data[2 + i] + 2 * pad[i] - gap[i] * (weight[2 + i] - 1) - 1) // step[i] + 1
              for i in range(n)]
    out = data[0] * weight[0] * product(length)
    return out, 2 * out * taps


def conv(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    def count(call):
        is_transposed = transposed >= 0 and call.value(transposed) == "True"
        out, flop = conv_sizes(call, x, w, stride, padding, dilation, is_transposed,
                               output_padding, groups)
        kind = common(call.type(x), call.type(w))
        size = call.bytes(x) + call.bytes(w) + out * SIZES[kind]
        if bias >= 0 and call.tensor(bias):
            flop, size = flop + out, size + call.bytes(bias)
        return flop, size, kind
    return count


def conv_backward(call):
    transposed = call.value(7) == "True"
    out, flop = conv_sizes(call, 1, 2, 4, 5, 6, transposed, 8, 9)
    mask = [word == "True" for word in re.findall(r"True|False", call.value(10))]
    kind = common(call.type(1), call.type(2))
    channels = call.need(2)[1] * int(call.value(9)) if transposed else call.need(2)[0]
    size = call.bytes(0) + (mask[0] + mask[1]) * (call.bytes(1) + call.bytes(2))
    return (flop * (mask[0] + mask[1]) + mask[2] * out,
            size + mask[2] * channels * SIZES[kind], kind)


def pairs_below(rows, columns, last):
    """Twice the area that causal attention has."""
    if last:
        return 2 * rows * columns - rows * rows if rows <= columns else columns * columns
    return rows * rows if rows <= columns else 2 * rows * columns - columns * columns


def attention(q, causal, heads_first, last, bias=-1, backward=False, lengths=None):
    def count(call):
        sizes = [call.need(q + i) for i in range(3)]
        if len(sizes[0]) != 4:
            raise Unknown
        head, length = (1, 2) if heads_first else (2, 1)
        batch, heads, depth = sizes[0][0], sizes[0][head], sizes[0][3]
        n_q, n_k, value_depth = sizes[0][length], sizes[1][length], sizes[2][3]
        twice = 2 * n_q * n_k
        if call.value(causal) == "True":
            twice = pairs_below(n_q, n_k, last)
        if lengths and (call.value(lengths) or call.value(lengths + 1)):
            raise Unknown  # a window, which no trace here has
        out = batch * n_q * heads * value_depth * SIZES[call.type(q)]
        size = sum(call.bytes(q + i) for i in range(3)) + out
        if bias >= 0:
            extra = call.bytes(bias)
        else:
            extra = 0
        depths = 3 * depth + 2 * value_depth if backward else depth + value_depth
        return batch * heads * depths * twice, size * (2 if backward else 1) + extra, call.type(q)
    return count


def broadcast(shapes):
    out = []
    for i in range(1, max(map(len, shapes)) + 1):
        sizes = {shape[-i] for shape in shapes if len(shape) >= i} - {1}
        if len(sizes) > 1:
            raise Unknown
        out.append(sizes.pop() if sizes else 1)
    return out


def elementwise(inputs, flop, result=None):
    def count(call):
        at = [i for i in inputs if call.tensor(i) is not None]
        if not at:
            raise Unknown
        sized = [call.type(i) for i in at if call.tensor(i)]
        kind = common(*(sized or [call.type(i) for i in at]))
        out = product(broadcast([call.tensor(i) for i in at]))
        if result == "bool":
            made = "bool"
        else:
            made = "float" if result == "float" and kind not in REAL else kind
        return (out * flop if kind in REAL else 0,
                sum(call.bytes(i) for i in at) + out * SIZES[made], kind)
    return count


def like_first(inputs, flop):
    """What is made has the sizes of the largest tensor, and its type."""
    def count(call):
        at = [i for i in inputs if call.tensor(i) is not None]
        if not at:
            raise Unknown
        largest = max(at, key=lambda i: (product(call.tensor(i)), -i))
        elements = product(call.tensor(largest))
        kind = call.type(largest)
        if kind is None:
            raise Unknown
        return (elements * flop if kind in REAL else 0,
                sum(call.bytes(i) for i in at) + elements * SIZES[kind], kind)
    return count


def in_place(reads, writes, flop=0):
    def count(call):
        at = [i for i in set(reads) | set(writes) if call.tensor(i) is not None]
        if not at:
            raise Unknown
        largest = max(at, key=lambda i: (product(call.tensor(i)), -i))
        kind = call.type(largest)
        if kind is None:
            raise Unknown
        size = sum(call.bytes(i) for i in reads) + sum(call.bytes(i) for i in writes)
        return (product(call.tensor(largest)) * flop if kind in REAL else 0), size, kind
    return count


def reduction(result=None, dims=1):
    def count(call):
        shape = call.need(0)
        if call.tensor(1) is not None:
            raise Unknown
        gone = [int(x) % max(1, len(shape)) for x in re.findall(r"-?\d+", call.value(dims))]
        left = product(size for i, size in enumerate(shape) if gone and i not in gone)
        kind = call.type(0)
        if result == "bool":
            made = "bool"
        else:
            made = "float" if result == "float" and kind not in REAL else kind
        return (product(shape) if kind in REAL else 0, call.bytes(0) + left * SIZES[made], kind)
    return count


def triton(call):
    at = [i for i in range(min(32, len(call.dims))) if call.tensor(i) is not None]
    if not at:
        raise Unknown
    largest = max(at, key=lambda i: (product(call.tensor(i)), -i))
    return None, sum(call.bytes(i) for i in at), call.type(largest)


def gradient(call):
    """One of the gradients of a convolution, by the arguments of the operator around it."""
    data, out, weight = call.need(0), call.need(1), call.need(2)
    if out[0] != data[0] or out[1] != weight[0]:
        raise Unknown
    return (2 * product(out) * product(weight[1:]), sum(call.bytes(i) for i in range(3)),
            common(call.type(0), call.type(2)))


GRADIENTS = ["aten::cudnn_convolution_backward_input", "aten::cudnn_convolution_backward_weight"]
UNARY = {"neg": 1, "abs": 1, "relu": 1, "pow": 1, "clamp": 2, "clamp_min": 1, "clamp_max": 1,
         "silu": 4, "gelu": 8, "elu": 3, "nan_to_num": 3, "threshold": 1,
         "bitwise_not": 1, "logical_not": 1}
FUNCTIONS = "exp log sqrt rsqrt sin cos tanh erf sigmoid reciprocal logit log1p".split()
BINARY = {"add": 1, "sub": 1, "rsub": 1, "mul": 1, "maximum": 1, "minimum": 1, "masked_fill": 1,
          "threshold_backward": 1, "sigmoid_backward": 3, "tanh_backward": 3, "bitwise_and": 1,
          "bitwise_or": 1, "remainder": 2, "floor_divide": 2, "silu_backward": 8,
          "gelu_backward": 16}
COMPARISONS = "eq ne lt le gt ge logical_and logical_or".split()

FORMULAS = {
    "aten::mm": gemm(0, 1), "aten::bmm": gemm(0, 1), "aten::addmm": gemm(1, 2, 0, 3),
    "aten::baddbmm": gemm(1, 2, 0, 3), "aten::matmul": gemm(0, 1), "aten::mv": gemm(0, 1),
    "aten::linear": gemm(0, 1, 2, linear=True),
    "vllm::rocm_unquantized_gemm": gemm(0, 1, 2, linear=True),
    "aten::convolution": conv(0, 1, 2, 3, 4, 5, 6, 7, 8),
    "aten::_convolution": conv(0, 1, 2, 3, 4, 5, 6, 7, 8),
    "aten::miopen_convolution": conv(0, 1, 2, 4, 3, 5, -1, -1, 6),
    "aten::cudnn_convolution": conv(0, 1, -1, 3, 2, 4, -1, -1, 5),
    "aten::convolution_backward": conv_backward,
    **{name: gradient for name in GRADIENTS},
    "aten::scaled_dot_product_attention": attention(0, 5, True, False, 3),
    "aten::_scaled_dot_product_attention_math": attention(0, 5, True, False, 3),
    "aten::_scaled_dot_product_flash_attention": attention(0, 4, True, True),
    "aten::_scaled_dot_product_efficient_attention": attention(0, 6, True, False, 3),
    "aten::_flash_attention_forward": attention(0, 8, False, True, lengths=11),
    "aten::_flash_attention_backward": attention(1, 11, False, True, backward=True, lengths=15),
    "aten::copy_": in_place([1], [0]), "aten::fill_": in_place([], [0]),
    "aten::zero_": in_place([], [0]),
    "aten::clone": like_first([0], 0), "aten::contiguous": like_first([0], 0),
    "aten::cumsum": like_first([0], 1),
    "aten::sum": reduction(), "aten::mean": reduction("float"), "aten::max": reduction(),
    "aten::min": reduction(), "aten::amax": reduction(), "aten::amin": reduction(),
    "aten::any": reduction("bool"), "aten::all": reduction("bool"),
    "aten::linalg_vector_norm": reduction("float", 2),
    "aten::native_layer_norm": like_first(range(4), 7),
    "aten::native_group_norm": like_first(range(3), 7),
    "aten::native_batch_norm": like_first(range(5), 7),
    "aten::cudnn_batch_norm": like_first(range(5), 7),
    "aten::miopen_batch_norm": like_first(range(5), 7),
    "aten::_fused_rms_norm": like_first(range(3), 4),
    "aiter::_groupnorm_run": like_first(range(4), 7),
    "aten::native_layer_norm_backward": like_first(range(6), 12),
    "aten::native_group_norm_backward": like_first(range(5), 12),
    "aten::native_batch_norm_backward": like_first(range(7), 12),
    "aten::cudnn_batch_norm_backward": like_first(range(7), 12),
    "aten::miopen_batch_norm_backward": like_first(range(7), 12),
    "aten::_fused_rms_norm_backward": like_first(range(5), 9),
    "aten::_softmax": like_first([0], 5), "aten::_log_softmax": like_first([0], 5),
    "aten::_softmax_backward_data": like_first([0, 1], 4),
    "aten::_log_softmax_backward_data": like_first([0, 1], 4),
    "aten::where": elementwise([0, 1, 2], 0), "aten::div": elementwise([0, 1], 1, "float"),
    "aten::addcmul": elementwise([0, 1, 2], 3), "aten::addcdiv": elementwise([0, 1, 2], 3),
    "_C::fused_add_rms_norm": in_place([0, 1, 2], [0, 1], 5),
    "_C::rms_norm": in_place([1, 2], [0], 4), "_C::silu_and_mul": in_place([1], [0], 3),
}
FORMULAS.update({"aten::" + name: elementwise([0], flop) for name, flop in UNARY.items()})
FORMULAS.update({"aten::" + name: elementwise([0], 1, "float") for name in FUNCTIONS})
FORMULAS.update({"aten::" + name: elementwise([0, 1], flop) for name, flop in BINARY.items()})
FORMULAS.update({"aten::" + name: elementwise([0, 1], 1, "bool") for name in COMPARISONS})
PRODUCTS = ("mm", "bmm", "matmul", "linear", "conv", "attention", "_gemm", "::mv")


def formula_of(name):
    if name.startswith("triton_"):
        return None if name.startswith("triton_tem_") else triton
    return FORMULAS.get(name) or (FORMULAS.get(name[:-1]) if name.endswith("_") else None)


def is_product(name):
    return any(word in name for word in PRODUCTS) and "norm" not in name


# ---- a trace ----------------------------------------------------------------------------------

def ns(value):
    whole, _, part = str(value).partition(".")
    if "e" in str(value):
        return round(float(value) * 1000)
    digits = int((part + "0000")[:4])
    negative = whole.startswith("-")
    fraction = (digits + 5) // 10
    return int(whole) * 1000 + (-fraction if negative else fraction)


def load(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        document = json.loads(file.read().decode("utf-8", "replace"), parse_float=str,
                              strict=False)
    return document if isinstance(document, dict) else {"traceEvents": document}


OTHER = {"gpu_user_annotation", "trace", "cuda_sync", "cuda_profiler_range", "ac2g", "async",
         "async_gpu", "async_cpu_to_gpu", "fwdbwd", "kernel", "gpu_memcpy", "gpu_memset",
         "memcpy", "memset", "mtia_ccp_events"}
COMM = re.compile(r"nccl[a-z0-9_]*kernel|rccl|nvshmem|multimem_all_reduce|cross_device_reduce|"
                  r"(one|two)_?shot_all_?reduce|deep_ep", re.IGNORECASE)
GRAPH = re.compile(r"graphlaunch", re.IGNORECASE)


class Span:
    def __init__(self, event, category):
        self.name, self.category = event["name"], category
        self.start, self.args = ns(event["ts"]), event.get("args") or {}
        self.end = self.start + max(0, ns(event["dur"]))
        self.is_op = category in ("cpu_op", "operator")


class Reference:
    """The tables of one trace, by brute force."""

    def __init__(self, path):
        document = load(path)
        self.threads, self.calls, self.device = collections.defaultdict(list), {}, []
        for event in document.get("traceEvents", ()):
            if isinstance(event, dict) and event.get("ph") == "X" and "dur" in event:
                self.take(event)
        for spans in self.threads.values():
            spans.sort(key=lambda span: (span.start, -span.end))
        self.link()
        self.rows = collections.defaultdict(lambda: [set(), 0, collections.defaultdict(list)])
        self.kernel_ns = self.known_ns = self.flop_ns = 0
        self.count()

    def take(self, event):
        category = str(event.get("cat", "")).lower()
        thread = str(event.get("pid")), str(event.get("tid"))
        if category in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            self.device.append((Span(event, category), event))
        elif category not in OTHER:
            span = Span(event, category)
            self.threads[thread].append(span)
            correlation = span.args.get("correlation")
            if category.endswith(("runtime", "driver")) and correlation and int(correlation) > 0:
                known = self.calls.setdefault(int(correlation), span)
                if span.start < known.start:
                    self.calls[int(correlation)] = span

    def link(self):
        """The operators around each linked call, from the innermost outwards."""
        wanted = {id(call) for call in self.calls.values()}
        self.chains = {}
        for spans in self.threads.values():
            stack = []
            for span in spans:
                while stack and stack[-1].end <= span.start:
                    stack.pop()
                span.parent = next((s for s in reversed(stack) if s.end > span.start), None)
                if id(span) in wanted:
                    self.chains[id(span)] = self.chain(stack, span.start)
                stack.append(span)

    @staticmethod
    def chain(stack, at):
        inner = next((s for s in reversed(stack) if s.end > at and s.is_op
                      and not s.name.startswith("ProfilerStep#")), None)
        chain = []
        while inner is not None and inner.is_op:
            chain.append(inner)
            inner = inner.parent
        return chain

    def owner(self, call):
        """The operator that the work of a launch belongs to, and those around it."""
        chain = self.chains[id(call)]
        for i, span in enumerate(chain):
            if formula_of(span.name):
                return span, chain[i + 1:]
        return None, []

    def shown(self):
        """What comes out of convolutions by their gradients, where strides are not recorded."""
        outs = collections.defaultdict(set)
        for spans in self.threads.values():
            for span in spans:
                if span.name in GRADIENTS and span.parent:
                    data, out, weight = (span.parent.args.get("Input Dims") or [None] * 3)[:3]
                    outs[str(data), str(weight)].add(str(out))
        return outs

    def work(self, owner, outs):
        args = owner.parent.args if owner.name in GRADIENTS else owner.args
        call = Call(args)
        if owner.name != "aten::cudnn_convolution" or call.values is not None:
            return formula_of(owner.name)(call)
        data, weight = call.need(0), call.need(1)
        out = outs[str(data), str(weight)]
        if len(out) != 1:
            raise Unknown
        out = product(json.loads(next(iter(out))))
        kind = common(call.type(0), call.type(1))
        return (2 * out * product(weight[1:]), call.bytes(0) + call.bytes(1) + out * SIZES[kind],
                kind)

    def count(self):
        found, outer, outs = [], set(), self.shown()
        for span, event in self.device:
            if span.category not in ("kernel",) or COMM.search(span.name):
                continue
            self.kernel_ns += span.end - span.start
            call = self.calls.get(int(span.args.get("correlation") or 0))
            if not call or GRAPH.search(call.name):
                continue
            owner, above = self.owner(call)
            if not owner:
                continue
            try:
                work = self.work(owner, outs)
            except Unknown:
                continue
            if work[2] is None:
                continue
            if is_product(owner.name):
                outer.update(id(other) for other in above)
            found.append((span, event, owner, work))
        for span, event, owner, (flop, size, kind) in found:
            if is_product(owner.name) and id(owner) in outer:
                continue
            row = self.rows[owner.name, SHOWN[kind], flop, size]
            device = span.args.get("device", event.get("pid"))
            row[0].add(id(owner))
            row[1] += 1
            row[2][str(device)].append((span.start, span.end))
            self.known_ns += span.end - span.start
            self.flop_ns += span.end - span.start if flop is not None else 0


def union(intervals):
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is None or end > reached:
            total += end - (start if reached is None else max(start, reached))
            reached = end
    return total


# ---- reports ----------------------------------------------------------------------------------

def report(program, path):
    """The tables of a report; None where there is none."""
    done = reports.call(program, "report", path)
    return reports.Report(done.stdout).tables if done.returncode == 0 else None


def peaks(path):
    """Entries of devices.yaml by name, read line by line."""
    entries, entry = {}, None
    text = re.sub(r",\n\s+", ", ", path.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if match := re.match(r"  - name: (.*)", line):
            entry = entries[match[1]] = {}
        elif match := re.match(r"    bandwidth: (\S+)", line):
            entry["bandwidth"] = float(match[1])
        elif line.startswith("    peaks:"):
            entry.update({key: float(rate) for key, rate in re.findall(r"(\w+): ([\d.e]+)", line)})
    return entries


def close(a, b):
    return (a is None) == (b is None) and (a is None or math.isclose(a, b, rel_tol=1e-9))


class Check:
    def __init__(self, verbose):
        self.faults = self.compared = 0
        self.verbose = verbose

    def same(self, what, ours, expected):
        self.compared += 1
        equal = close(ours, expected) if isinstance(expected, float) else ours == expected
        if not equal:
            self.faults += 1
            print(f"{what}: {ours}, expected {expected}")


# ---- reference --------------------------------------------------------------------------------

def check_rows(check, name, tables, reference):
    ours = collections.defaultdict(lambda: [0, 0, 0])
    for row in tables.get("roofline.by_op", ()):
        sums = ours[row["name"], row["type"], row["flop"], row["bytes"]]
        sums[0] += row["calls"]
        sums[1] += row["kernels"]
        sums[2] += row["busy_ns"]
    for key in sorted(set(ours) | set(reference.rows), key=repr):
        calls, kernels, intervals = reference.rows.get(key, (set(), 0, {}))
        busy = [union(spans) for spans in intervals.values()]
        check.same(f"{name}: {key} calls, kernels", ours.get(key, [0, 0, 0])[:2],
                   [len(calls), kernels])
        if sum(1 for row in tables.get("roofline.by_op", ())
               if (row["name"], row["type"], row["flop"], row["bytes"]) == key) == 1:
            check.same(f"{name}: {key} time", ours[key][2], sum(busy))


def check_bounds(check, name, tables, entries):
    """Rates, peaks, bound and efficiency of each row follow from its work and time."""
    ranks = tables.get("roofline.by_rank", [])
    hardware = {row["name"]: row["hardware"] for row in ranks}
    for row in tables.get("roofline.by_op", ()):
        what = f"{name}: {row['name']} {row['shape']}"
        seconds, calls = row["busy_ns"] / 1e9, row["calls"]
        size = row["bytes"] * calls
        flop = None if row["flop"] is None else row["flop"] * calls
        if seconds == 0:
            check.same(what + " rates", [row["byte_rate"], row["flop_rate"], row["efficiency"]],
                       [None] * 3)
            continue
        check.same(what + " rate", row["byte_rate"], size / seconds)
        check.same(what + " flop rate", row["flop_rate"], None if flop is None else flop / seconds)
        entry = entries.get(hardware.get(row["device"]))
        check.same(what + " bandwidth", row["peak_byte_rate"], entry and entry["bandwidth"])
        if row["unit"]:
            check.same(what + " peak", row["peak_flop_rate"], entry[row["unit"]])
        if not entry or (flop and not row["unit"]):
            check.same(what + " efficiency", row["efficiency"], None)
            continue
        memory = size / entry["bandwidth"]
        compute = flop / entry[row["unit"]] if flop else 0
        check.same(what + " efficiency", row["efficiency"], max(memory, compute) / seconds)
        check.same(what + " bound", row["bound"], "compute" if compute > memory else "memory")


def check_ranks(check, name, tables, reference):
    rows = tables.get("roofline.by_rank", [])
    check.same(f"{name}: kernel time", sum(row["kernel_ns"] for row in rows), reference.kernel_ns)
    known = sum((row["known_share"] or 0) * row["kernel_ns"] for row in rows)
    check.same(f"{name}: time with known traffic", round(known), reference.known_ns)
    flops = sum((row["flop_share"] or 0) * row["kernel_ns"] for row in rows)
    check.same(f"{name}: time with known FLOPs", round(flops), reference.flop_ns)
    unknown = sum(row["total_ns"] for row in tables.get("roofline.unknown", ()))
    check.same(f"{name}: known and unknown", round(known) + unknown, reference.kernel_ns)
    done = sum((flop or 0) * len(calls) for (_, _, flop, _), (calls, _, _) in
               reference.rows.items())
    check.same(f"{name}: FLOPs", float(sum(row["flop"] for row in rows)), float(done))
    for row in rows:
        if row["peak_flop_rate"]:
            check.same(f"{name}: MFU", row["mfu"],
                       row["flop"] / (row["program_window_ns"] / 1e9 * row["peak_flop_rate"]))
            check.same(f"{name}: share of peak while busy", row["busy_peak_share"],
                       row["flop"] / (row["busy_ns"] / 1e9 * row["peak_flop_rate"]))
            check.same(f"{name}: MFU of the window", row["window_mfu"],
                       row["flop"] / (row["window_ns"] / 1e9 * row["peak_flop_rate"]))


def traces(shared, only):
    for path in sorted((shared / "data/traces").rglob("*.json*")):
        if path.name.startswith("INDEX") or "rocprof" in str(path) or only not in str(path):
            continue
        yield path


def reference(args, check):
    entries, seen = peaks(args.devices), 0
    gc.disable()  # millions of objects that stay until the end of their trace
    for path in traces(args.shared, args.only):
        gc.collect()
        tables = report(args.program, path)
        name = str(path.relative_to(args.shared / "data/traces"))
        if not tables or "roofline.by_rank" not in tables or "mtia" in name:
            continue
        seen += 1
        expected = Reference(path)
        before = check.compared
        check_rows(check, name, tables, expected)
        check_bounds(check, name, tables, entries)
        check_ranks(check, name, tables, expected)
        if check.verbose:
            print(f"{name}: {len(expected.rows)} kinds of calls, "
                  f"{check.compared - before} figures")
    return seen


# ---- TraceLens --------------------------------------------------------------------------------

def numbers(text):
    return [int(x) for x in re.findall(r"-?\d+", str(text))]


def join(sizes):
    return "x".join(map(str, sizes))


def short(sizes, preset, name):
    if all(size == preset for size in sizes):
        return ""
    same = len(set(sizes)) == 1
    return f" {name}=" + (str(sizes[0]) if same else join(sizes))


def theirs_gemm(params):
    text = f"M={params['M']} N={params['N']} K={params['K']}"
    if params["B"] != 1:
        text = f"B={params['B']} " + text
    return [text, text + " + bias"]


def theirs_conv(params):
    groups = params["groups"]
    text = (join(numbers(params["input_shape"])) + " * " + join(numbers(params["filter_shape"]))
            + short(numbers(params["stride"]), 1, "stride")
            + short(numbers(params["padding"]), 0, "pad")
            + short(numbers(params["dilation"]), 1, "dilation")
            + (f" groups={groups}" if groups != 1 else "")
            + (" transposed" if params["transposed_conv"] == "True" else ""))
    return [text, text + " + bias", text + " d(input, weight)", text + " d(weight)",
            text + " d(input, weight, bias)", text + " d(weight, bias)"]


def theirs_sdpa(params):
    heads = f"H={params['H_Q']}" + ("" if params["H_KV"] == params["H_Q"]
                                    else f"/{params['H_KV']}")
    depth = f"d={params['d_h_qk']}" + ("" if params["d_h_v"] == params["d_h_qk"]
                                       else f"/{params['d_h_v']}")
    text = f"B={params['B']} {heads} Nq={params['N_Q']} Nk={params['N_KV']} {depth}"
    return [text + (" causal" if params["causal"] == "True" else "")]


SHEETS = {"GEMM": ("gemm", theirs_gemm), "CONV_fwd": ("conv", theirs_conv),
          "CONV_bwd": ("conv", theirs_conv), "SDPA_fwd": ("attention", theirs_sdpa)}


def planted(program, shared, name, op):
    """A trace of one operator, with the arguments that the trace of TraceLens has."""
    source = load(shared / f"data/traces/tl_unit/{name}.json")
    event = next(e for e in source["traceEvents"]
                 if e.get("name") == op and "Input Dims" in (e.get("args") or {}))
    events = [{"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": 10, "dur": 50,
               "args": {key: event["args"][key] for key in
                        ("Input Dims", "Input type", "Concrete Inputs") if key in event["args"]}},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
               "ts": 20, "dur": 5, "args": {"correlation": 1}},
              {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 10,
               "args": {"device": 0, "correlation": 1}}]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        return report(program, path)


def ours_for(tables, kind, shapes, backward):
    rows = [row for row in tables.get("roofline.by_op", ())
            if row["class"] == kind and row["shape"] in shapes]
    return [row for row in rows if ("backward" in row["name"]) == backward]


def channels(shape):
    """Elements of the output of a convolution, by the text of its shape."""
    first, text = shape.split(" * ")
    data, weight = numbers(first), numbers(text.split(" ")[0])
    n = len(data) - 2
    step, pad = (([int(x) for x in match[1].split("x")] * n)[:n] if match else [preset] * n
                 for match, preset in ((re.search(r"stride=([\dx]+)", text), 1),
                                       (re.search(r"pad=([\dx]+)", text), 0)))
    length = [(data[2 + i] + 2 * pad[i] - weight[2 + i]) // step[i] + 1 for i in range(n)]
    return data[0] * weight[0] * product(length)


def judge(row, flop):
    """How a figure of theirs stands to ours: "same", why it differs, or None."""
    def fits(expected):
        return abs(expected - flop) <= 501  # theirs are GFLOP with six decimals
    if fits(row["flop"]):
        return "same"
    is_conv = row["class"] == "conv"
    if is_conv and row["shape"].endswith("+ bias") and fits(row["flop"] - channels(row["shape"])):
        return "theirs leave out the bias of a convolution"
    if row["shape"].endswith("d(weight)") and fits(2 * row["flop"]):
        return "theirs count a gradient of the input that is not asked for"
    return None


def tracelens(args, check):
    goldens, judged = args.shared / "data/goldens/tracelens", collections.Counter()
    for path in sorted(goldens.glob("*.json")) + sorted((goldens / "unit").glob("*.json")):
        golden = json.loads(path.read_text(encoding="utf-8"))
        sheets = golden.get("perf_sheets") or {}
        if args.only not in path.name or not any(name in SHEETS for name in sheets):
            continue
        name, tables = golden["trace"], None
        for sheet, (kind, shapes_of) in SHEETS.items():
            for row in sheets.get(sheet, ()):
                if path.parent.name == "unit":
                    tables = planted(args.program, args.shared, name, row["op"])
                elif tables is None:
                    tables = report(args.program, args.shared / "data/traces" / name)
                shapes = shapes_of(row["params"])
                ours = ours_for(tables, kind, shapes, sheet == "CONV_bwd")
                verdicts = {judge(one, row["gflops"] * 1e9) for one in ours} - {None}
                check.same(f"{name}: {sheet} {shapes[0]}: {[one['flop'] for one in ours]} against "
                           f"{row['gflops']} GFLOP", bool(verdicts), True)
                for verdict in sorted(verdicts, key=lambda text: text != "same")[:1]:
                    judged[sheet, verdict] += 1
                    if args.verbose and verdict != "same":
                        print(f"{name}: {sheet} {shapes[0]}: {row['gflops']} GFLOP, ours "
                              f"{ours[0]['flop'] / 1e9:.6f}: {verdict}")
    for (sheet, verdict), n in sorted(judged.items()):
        print(f"{sheet}: {n} {verdict}")
    return sum(judged.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--devices", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("what", choices=("reference", "tracelens"))
    args = parser.parse_args()
    check = Check(args.verbose)
    seen = {"reference": reference, "tracelens": tracelens}[args.what](args, check)
    print(f"{seen} compared, {check.compared} figures, {check.faults} wrong")
    return 1 if check.faults or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
