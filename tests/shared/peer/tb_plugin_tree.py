# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of operators as the TensorBoard plug-in torch-tb-profiler 0.4.3 builds it, and the
tables it takes from it; what is questionable in them can be switched off. Times are
microseconds."""
import bisect
import collections
import dataclasses
import functools

from .tb_plugin_model import COLLECTIVE, LOADER, kind_of, of_kernels, us

NO_OPERATOR = ("Optimizer.", "ProfilerStep#", "DataParallel.forward",
               "DistributedDataParallel.forward")
BACKWARD = "autograd::engine::evaluate_function:"
GRADIENT = f"{BACKWARD} torch::autograd::AccumulateGrad"
ROOT = "CallTreeRoot"
UNITS = ("h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
         "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group",
         "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm",
         "xmma_gemm", "xmma_sparse_gemm", "c1688")
MATRIX = frozenset((
    "aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution",
    "aten::cudnn_convolution", "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_backward_weight", "aten::prelu", "aten::addmm", "aten::addmv",
    "aten::addr", "aten::matmul", "aten::mm", "aten::mv", "aten::linear", "aten::addbmm",
    "aten::baddbmm", "aten::bmm"))


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the plug-in does that changes figures."""
    merged: bool = True   # a single child of the name of its parent is merged into it
    dropped: bool = True  # an operator that ends after its parent is left out, with all below it
    by_id: bool = True    # calls belong to the operator of their External id, not by time
    driver: bool = True   # calls of the driver are not read
    frames: bool = True   # modules and some annotations are in the tree, and the first module has
                          # the calls without an id
    python: bool = True   # functions of Python and ranges below an operator are its own time
    backward: bool = True # of backward threads only what hangs on a module is kept


def ident_of(span):
    return span.args.get("External id", span.args.get("external id"))


def is_module(span):
    return (span.cat or "").lower() == "python_function" and \
        span.args.get("Python module id") is not None


def is_annotation(span):
    """Whether an annotation is in the tree: a collective, an optimizer or the loading of data."""
    return kind_of(span) == "annotation" and span.cat != "gpu_user_annotation" and bool(
        COLLECTIVE.match(span.name) or LOADER.match(span.name) or
        span.name.startswith("Optimizer.step"))


def is_step(span):
    return span.name.startswith("ProfilerStep#") and kind_of(span) == "annotation"


class Node:
    __slots__ = ("span", "parent", "children", "calls", "start", "end", "name")

    def __init__(self, span):
        self.span, self.name, self.parent, self.children, self.calls = span, span.name, None, [], []
        self.start, self.end = us(span)

    def below(self):
        """The node, and all below it, parents first."""
        out = [self]
        for node in out:
            out += node.children
        return out


def flows(trace):
    """{start of a forward operator: start of its backward one}"""
    ends = collections.defaultdict(dict)
    for event in trace.events:
        if event.get("cat") == "fwdbwd" and event.get("ph") in ("s", "f"):
            ends[event["ph"]][event.get("id")] = float(event["ts"])
    return {start: ends["f"][ident] for ident, start in ends["s"].items() if ident in ends["f"]}


def without_effect(trace):
    """The settings that change nothing in a trace."""
    inside = [span for span in trace.spans if not span.kind and not is_step(span)]
    some = {"driver": any(span.is_call and kind_of(span) != "runtime" for span in inside),
            "frames": any(is_module(span) or is_annotation(span) for span in inside),
            "python": any((span.cat or "").lower() in ("python_function", "user_annotation")
                          for span in inside),
            "backward": bool(flows(trace))}
    return {name: True for name, present in some.items() if not present}


class Operators:
    """The tree of operators of each thread, and their figures."""

    def __init__(self, trace, settings):
        self.settings, self.trace = settings, trace
        threads = collections.defaultdict(list)
        for span in trace.spans:
            kind = kind_of(span)
            if kind == "operator" or kind == "annotation" and is_step(span) or \
                    settings.frames and (kind == "python_function" and is_module(span) or
                                         kind == "annotation" and is_annotation(span)):
                threads[span.pid, span.tid].append(Node(span))
        self.roots = {thread: self._nest(nodes) for thread, nodes in threads.items()}
        self.threads = threads
        self.main = [roots for roots in self.roots.values()
                     if not any(node.name.startswith(BACKWARD) for node in roots)]
        if settings.backward:
            self._drop_backward(flows(trace))
        self.work = collections.defaultdict(list)
        for span in trace.device:
            if span.correlation >= 0:
                self.work[span.correlation].append(span)
        self.loose = self._give_calls(trace)
        if settings.merged:
            for roots in self.roots.values():
                self._merge(roots)
        self.nodes = [node for roots in self.roots.values() for root in roots
                      for node in root.below()]

    def _nest(self, nodes):
        """Hangs each node below the one around it; those that have none."""
        nodes.sort(key=lambda node: (node.start, -node.end))
        stack, roots = [], []
        for node in nodes:
            while stack and stack[-1].end <= node.start and \
                    not (stack[-1].end == node.start == node.end):
                stack.pop()
            if stack and node.end > stack[-1].end and self.settings.dropped:
                continue
            node.parent = stack[-1] if stack else None
            (node.parent.children if stack else roots).append(node)
            stack.append(node)
        return roots

    def _drop_backward(self, links):
        """Keeps of the nodes of backward threads those whose forward operator runs below a module,
        each with the gradients that follow it - if the whole time of that module's backward nodes
        lies within the main thread, and within its last step where it has steps."""
        if not links:
            return
        below = {node.start for roots in self.main for root in roots for node in root.below()
                 if node.start in links and self._below_module(node)}
        ends = [(step.start, step.end) for roots in self.main for step in roots
                if is_step(step.span) and step.span.cat != "gpu_user_annotation"] or \
            [(roots[0].start, max(node.end for node in roots)) for roots in self.main]
        first, last = max(ends)
        starts = [backward for forward, backward in links.items() if forward in below]
        for thread, roots in self.roots.items():
            if not any(node.name.startswith(BACKWARD) for node in roots):
                continue
            groups = []
            for node in roots:
                if node.name == GRADIENT and groups:
                    groups[-1].append(node)
                elif node.name.startswith(BACKWARD):
                    groups.append([node])
            heads = [group[0].start for group in groups]
            reached = {bisect.bisect_right(heads, start) - 1 for start in starts}
            kept = [node for place in sorted(reached) if place >= 0 for node in groups[place]
                    if first <= heads[place] and node.end <= last]
            self.roots[thread] = kept + [node for node in roots
                                         if not node.name.startswith(BACKWARD)]

    @staticmethod
    def _below_module(node):
        while node and not is_module(node.span):
            node = node.parent
        return node is not None

    def _give_calls(self, trace):
        """Gives each call to its node; those that belong to none."""
        nodes = [node for roots in self.roots.values() for root in roots for node in root.below()]
        by_time = self._by_time(trace, nodes) if not self.settings.by_id else {}
        by_id = {ident_of(node.span): node for thread in self.threads.values() for node in thread
                 if ident_of(node.span) and not is_step(node.span)}
        modules = [node for node in nodes if is_module(node.span)]
        first = min(modules, key=lambda node: node.start, default=None)
        loose = []
        for span in trace.spans:
            if kind_of(span) != "runtime" and (self.settings.driver or not span.is_call):
                continue
            if self.settings.by_id:
                ident = ident_of(span)
                node = by_id.get(ident) if ident else first
            else:
                node = by_time.get(id(span))
            if node:
                node.calls.append(span)
            else:
                loose.append(span)
        return loose

    def _by_time(self, trace, nodes):
        """{call: innermost open operator of its thread}"""
        out, kept = {}, set(map(id, nodes))
        threads = collections.defaultdict(list)
        for span in trace.spans:
            if span.is_call:
                threads[span.pid, span.tid].append(span)
        for thread, calls in threads.items():
            nodes, place, running = self.threads.get(thread, []), 0, []
            for call in sorted(calls, key=lambda span: span.us):
                while place < len(nodes) and nodes[place].start <= call.us:
                    if nodes[place].span.is_op and id(nodes[place]) in kept:
                        running.append(nodes[place])
                    place += 1
                running = [node for node in running if node.end > call.us]
                if running:
                    out[id(call)] = running[-1]
        return out

    @staticmethod
    def _merge(roots):
        """Single children of the name of their parent go into it, with their calls."""
        left = list(roots)
        while left:
            node = left.pop()
            while len(node.children) == 1 and node.children[0].name == node.name and \
                    node.span.is_op:
                child = node.children[0]
                node.calls += child.calls
                node.children = child.children
            left += node.children

    @functools.cached_property
    def device(self):
        """{node: device time of its own calls, and with those of all below}"""
        out = {}
        for node in reversed(self.nodes):
            own = sum(span.dus for call in node.calls
                      for span in self.work.get(call.correlation, ()))
            out[id(node)] = own, own + sum(out[id(child)][1] for child in node.children)
        return out

    def _figures(self, nodes, key_of):
        out = collections.defaultdict(collections.Counter)
        for node in nodes:
            own, total = self.device[id(node)]
            row = out[key_of(node)]
            row["calls"] += 1
            row["host_total"] += node.end - node.start
            row["host_self"] += self._own_time(node)
            row["device_self"] += own
            row["device_total"] += total
        return out

    def _own_time(self, node):
        if not self.settings.python:
            return node.end - node.start - self._below[id(node.span)]
        return node.end - node.start - sum(child.end - child.start for child in node.children) - \
            sum(call.dus for call in node.calls)

    @functools.cached_property
    def _below(self):
        """{span of the host: time of the spans directly below it, whatever they are}"""
        out, threads = collections.Counter(), collections.defaultdict(list)
        for span in self.trace.spans:
            if not span.kind and (span.is_call or kind_of(span)):
                threads[span.pid, span.tid].append(span)
        for spans in threads.values():
            stack = []
            for span in sorted(spans, key=lambda span: (span.us, -span.dus)):
                while stack and us(stack[-1])[1] <= span.us:
                    stack.pop()
                if stack:
                    out[id(stack[-1])] += min(us(span)[1], us(stack[-1])[1]) - span.us
                stack.append(span)
        return out

    @functools.cached_property
    def operators(self):
        return [node for node in self.nodes
                if node.span.is_op and not node.name.startswith(NO_OPERATOR)]

    @functools.cached_property
    def table(self):
        """{name: calls, host and device figures}"""
        return self._figures(self.operators, lambda node: node.name)

    @functools.cached_property
    def shapes(self):
        """The same by name and input shapes."""
        return self._figures(self.operators, lambda node: (node.name, shapes_of(node.span)))

    @functools.cached_property
    def modules(self):
        """{name, number: figures}: the own device time of a module is also that of the operators
        directly below it."""
        nodes = [node for roots in self.main for root in roots for node in root.below()
                 if is_module(node.span)]
        out = self._figures(nodes, module_key)
        for node in nodes:
            row, below = out[module_key(node)], [child for child in node.children
                                                 if child.span.is_op]
            row["operators"] += len(below)
            row["device_self"] += sum(self.device[id(child)][1] for child in below)
        return out

    def launches(self, trace):
        """{kernel, operator, grid, block, registers, shared memory: statistics}. Kernels without a
        call hang on the root of each thread that has steps; those of operators that are left out
        are in no row."""
        groups = collections.defaultdict(list)
        calls = [(node.name, call) for node in self.nodes for call in node.calls]
        for name, call in calls + [(ROOT, call) for call in self.loose]:
            for span in self.work.get(call.correlation, ()):
                if span.kind == "kernel":
                    groups[launch_key(span, name)].append(span)
        known = {call.correlation for nodes in self.threads.values() for node in nodes
                 for call in node.calls} | {call.correlation for call in self.loose}
        marked = {tid for (_, tid), nodes in self.threads.items()
                  if any(is_step(node.span) for node in nodes)}
        for span in trace.device:
            if span.kind == "kernel" and span.correlation not in known:
                groups[launch_key(span, ROOT)] += [span] * max(1, len(marked))
        return {key: of_kernels(spans) for key, spans in groups.items()}


    @functools.cached_property
    def units(self):
        """{operator: share of the device time of its calls, and of all below, on matrix units};
        and the share of operators that could use them in the time of kernels."""
        parts, own = collections.defaultdict(collections.Counter), {}
        kernels = able = 0.0
        for node in reversed(self.nodes):
            work = [span for call in node.calls for span in self.work.get(call.correlation, ())
                    if span.kind == "kernel"]
            time, used = sum(span.dus for span in work), \
                sum(span.dus for span in work if uses_units(span.name))
            own[id(node)] = tuple(value + sum(own[id(child)][place] for child in node.children)
                                  for place, value in enumerate((time, used)))
            if node.span.is_op:
                kernels += time
                able += time if node.name in MATRIX else 0.0
                parts[node.name].update(self_used=used, self=self.device[id(node)][0],
                                        total_used=own[id(node)][1],
                                        total=self.device[id(node)][1])
        shares = {name: {key: 100 * row[f"{key}_used"] / row[key] if row[key] else 0.0
                         for key in ("self", "total")} for name, row in parts.items()}
        return shares, able / kernels if kernels else 0.0

    def memory(self, trace):
        """{device: {operator: six sums}} of the changes of memory, each of which belongs to the
        deepest node of its thread; and the highest total of each device."""
        changes = collections.defaultdict(collections.Counter)
        peaks, nodes = {}, {}
        for thread, roots in self.roots.items():
            nodes[str(thread[1])] = sorted((node for root in roots for node in root.below()),
                                           key=lambda node: (node.start, -node.end))
        starts = {thread: [node.start for node in found] for thread, found in nodes.items()}
        for event in trace.events:
            if event.get("name") != "[memory]" or event.get("ph") != "i":
                continue
            args, thread = event["args"], str(event.get("tid"))
            kind = {0: "CPU", 1: f"GPU{args.get('Device Id')}"}.get(args.get("Device Type"))
            if "Total Allocated" in args:
                peaks[kind or "unknown"] = max(peaks.get(kind or "unknown", 0),
                                               args["Total Allocated"])
            at = float(event["ts"])
            place = bisect.bisect_right(starts.get(thread, ()), at) - 1
            while place >= 0 and nodes[thread][place].end < at:
                place -= 1
            if place < 0 or not kind:
                continue
            row = changes[id(nodes[thread][place])]
            row[kind, 0] += args["Bytes"]
            row[kind, 1] += max(args["Bytes"], 0)
            row[kind, 2] += args["Bytes"] > 0
        out, below = collections.defaultdict(dict), {}
        for node in reversed(self.nodes):
            row = below[id(node)] = collections.Counter(changes.get(id(node), {}))
            own = dict(row)
            for child in node.children:
                for key, value in below[id(child)].items():
                    row[key] += value
            if not node.span.is_op:
                continue
            for kind in {kind for kind, _ in row}:
                sums = out[kind].setdefault(node.name, [0] * 6)
                for place in range(3):
                    sums[place] += own.get((kind, place), 0)
                    sums[place + 3] += row[kind, place]
        return out, peaks


def shapes_of(span):
    shapes = span.args.get("Input Dims", span.args.get("Input dims", span.args.get(
        "Input shapes", [])))
    return "".join(str(shapes).split())


def module_key(node):
    return node.name.removeprefix("nn.Module: "), node.span.args["Python module id"]


def launch_key(span, operator):
    return (span.name, operator, *("".join(str(span.args.get(key)).split()) for key in
                                   ("grid", "block", "registers per thread", "shared memory")))


def uses_units(name):
    """Whether a kernel runs on matrix units, by the names the plug-in knows."""
    return any(part in name for part in UNITS)
