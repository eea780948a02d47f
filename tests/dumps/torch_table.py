# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of operators that torch prints, of any device, version and options, and as people paste
it.  What a recording holds is drawn; the table is laid out by torch's own rule: a column is as wide
as its longest name or call site up to a limit, else 12; values and headings are never cut; two
blanks follow each column."""
import dress
import figures as f

WIDTH, GAP = 12, "  "
TIMES = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
OPERATORS = ["aten::addmm", "aten::mm", "aten::copy_", "aten::_flash_attention_forward",
             "aten::native_layer_norm", "fa3_fwd::fwd", "triton_poi_fused_gelu_view_7",
             "aten::cudnn_convolution", "autograd::engine::evaluate_function: MmBackward0",
             "AddmmBackward0", "torch_compile 0/1 [x, y]", "c10d::allreduce_", "größe 12 3.5"]
KERNELS = ["ampere_bf16_s16816gemm_bf16_128x256_ldg8_relu_f2f_stages_64x3_tn",
           "void at::native::elementwise_kernel<128, 4, at::native::direct_copy(int)>(int)",
           "void cutlass::device_kernel<flash::FlashAttnFwdSm80<128, 64> >(Params)",
           "triton_poi_fused_gelu_view_7", "Memcpy HtoD (Pageable -> Device)",
           "Memset (Device)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)",
           "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", "gemm_kernel", "_layer_norm_fwd_1pass",
           "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_SE", "sm80_xmma_fprop_implicit_gemm_f16"]
RANGES = ["diffusion_step", "ProfilerStep*", "Torch-Compiled Region: 0/0", "vae decode 3",
          "## Call CompiledFxGraph fpzkljl757ij4qpxamcep5gow5fl4evnkmk2 ##"]
CALLS = {"wait": ["cudaDeviceSynchronize", "hipStreamSynchronize", "zeEventHostSynchronize"],
         "call": ["cudaLaunchKernel", "hipMemcpyAsync", "cuLaunchKernelEx", "urKernelSetArg"]}
SITES = ["<built-in method addmm of type object at 0x7f1>",
         "torch/nn/modules/linear.py(114): forward",
         "/home/user/a b/models/transformers/blocks/attention_processor.py(1234): __call__"]


def printed_time(ns, unit):
    us = ns / 1000
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    return "%.3f%s" % (us / {"s": 1e6, "ms": 1e3, "us": 1}[unit], unit)


def read_time(text):
    number = text.rstrip("mus")
    return f.scaled(number, {"s": 10**9, "ms": 10**6, "us": 10**3}[text[len(number):]])


def printed_bytes(count, units):
    power = next((i for i in (3, 2, 1) if abs(count) >= 1024**i), 0)
    return ("%.2f %s" % (count / 1024**power, units[power]) if power else
            "%d %s" % (count, units[0]))


def read_bytes(text, units):
    number, unit = text.split()
    return f.scaled(number, 1024**units.index(unit))


def share(part, whole):
    return "%.2f%%" % (100 * part / whole) if whole else "NaN"


class Recording:
    """Rows as torch sums them up: name, kind, calls and times in ns."""

    def __init__(self, chance, device, unit):
        self.chance, self.device, self.rows = chance, device, []
        least = {"s": 6.5, "ms": 3.5}.get(unit, 3)  # no time is printed as 0
        times = [10**chance.uniform(least, 10) for _ in range(40)]
        draw = lambda: int(chance.choice(times))
        kernels = chance.sample(KERNELS, chance.randrange(1, 8)) if device else []
        launched = [(name, draw(), chance.randrange(1, 9000)) for name in kernels]
        work = sum(ns for _, ns, _ in launched)
        for name in chance.sample(OPERATORS, chance.randrange(2, 9)):
            own = launched.pop() if launched else None
            self.add(name, "operator", own[2] if own else chance.randrange(1, 9000), draw(),
                     own[1] if own else 0)
            if own:
                self.add(*own[:1], "kernel", own[2], 0, own[1])
        for name, ns, calls in launched:
            self.add(name, "kernel", calls, 0, ns)
        for kind, names in CALLS.items():
            for name in chance.sample(names, chance.randrange(0, 3)):
                self.add(name, kind, chance.randrange(1, 9000), draw(), 0)
        for name in chance.sample(RANGES, chance.randrange(0, 4)):
            self.add(name, "annotation", chance.randrange(1, 60), draw(), 0,
                     inside=int(work * 0.9) if device else 0)
            if device and chance.random() < 0.8:
                self.add(name, "range", self.rows[-1]["calls"], 0, int(work * 1.2) + 1)

    def add(self, name, kind, calls, host, on_device, inside=0):
        chance = self.chance
        row = {"name": name, "kind": kind, "calls": calls, "self_cpu": host,
               "cpu": host + (int(host * chance.random()) if host else 0),
               "self_device": on_device, "device": on_device + inside,
               "memory": [chance.choice([0, -292, 16, 8192, -3 * 2**20, 7 * 2**30]) if host else 0
                          for _ in range(4)],
               "flops": chance.choice([0, 0, chance.randrange(1, 10**14)]) if host else 0,
               "shapes": chance.choice(["[]", "[[1, 2], [], [4096, 4096]]", "[[2], [3]]"]),
               "stack": chance.sample(SITES, chance.randrange(0, 4)) if host else []}
        self.rows.append(row)


class Layout:
    """Options and version of torch."""

    def __init__(self, chance):
        draw = lambda likely: chance.random() < likely
        self.name_most = chance.choice([55, 55, 55, 20, 80, None])
        self.source_most = chance.choice([75, 75, 30, None])
        self.unit = chance.choice([None, None, None, "s", "ms", "us"])
        self.bytes = chance.choice([["b", "Kb", "Mb", "Gb"], ["B", "KB", "MB", "GB"]])
        self.memory, self.shapes, self.stacks, self.flops = (draw(0.3) for _ in range(4))
        self.node, self.top, self.old_heads = draw(0.1), draw(0.1), draw(0.1)
        self.header = chance.choice([None, None, "Denoising, 50 steps"])
        self.ranges_count = draw(0.2)  # before torch 2.5 they are a part of the device's total


def sums(recording, layout):
    kinds = {"kernel", "range"} if layout.ranges_count else {"kernel"}
    counted = 0 if recording.device == "HPU" else sum(
        row["self_device"] for row in recording.rows if row["kind"] in kinds)
    return sum(row["self_cpu"] for row in recording.rows), counted


def flops_unit(rows):
    """(heading, power of ten): by the smallest."""
    least = min(row["flops"] for row in rows if row["flops"])
    step = min((len(str(least)) - 1) // 3, 5)
    return "Total %sFLOPs" % ["", "K", "M", "G", "T", "P"][step], 3 * step


def heads(recording, layout, rows):
    device, old = recording.device, layout.old_heads
    names = ["Name", *([h.replace("Self CPU", "Self CPU total") for h in TIMES] if old else TIMES)]
    if device:
        names += ["Self %s" % device, "Self %s %%" % device, "%s total" % device,
                  "%s time avg" % device]
    if layout.memory:
        names += ["CPU Mem", "Self CPU Mem"]
        names += ["%s Mem" % device, "Self %s Mem" % device] if device else []
    names += ["Number of Calls" if old else "# of Calls"] + ["Node ID"] * layout.node
    names += ["Input Shapes"] * layout.shapes + ["Source Location"] * layout.stacks
    return names + ([flops_unit(rows)[0]] if layout.flops else [])


def cut_name(name, most):
    return name[:most - 3] + "..." if most and len(name) >= most - 3 else name


def cut_site(site, most):
    return site if not most or len(site) <= most else "..." + site[len(site) - most + 3:]


def cells(row, recording, layout, rows):
    """What is printed of a row, without the lines of its stack."""
    host, device = sums(recording, layout)
    time = lambda ns: printed_time(ns, layout.unit)
    out = [cut_name(row["name"], layout.name_most), share(row["self_cpu"], host),
           time(row["self_cpu"]), share(row["cpu"], host), time(row["cpu"]),
           time(row["cpu"] / row["calls"])]
    if recording.device:
        out += [time(row["self_device"]), share(row["self_device"], device), time(row["device"]),
                time(row["device"] / row["calls"])]
    if layout.memory:
        out += [printed_bytes(count, layout.bytes)
                for count in row["memory"][:4 if recording.device else 2]]
    out += [str(row["calls"])] + ["-1"] * layout.node + [row["shapes"]] * layout.shapes
    if layout.flops:
        out.append("%8.3f" % (row["flops"] * 10.0**-flops_unit(rows)[1]) if row["flops"] else "--")
    return out


def table(recording, layout, rows):
    """The lines, and the cells of each row."""
    titles = heads(recording, layout, rows)
    longest = max(len(row["name"]) for row in rows) + 4
    widths = [min(longest, layout.name_most or longest)] + [WIDTH] * (len(titles) - 1)
    if layout.shapes:
        at = titles.index("Input Shapes")
        widths[at] = min(max(len(row["shapes"]) for row in rows) + 4, 80)
    site_width = None
    if layout.stacks:
        site_width = max((len(site) for row in rows for site in row["stack"]), default=0) + 4
        site_width = min(site_width, layout.source_most or site_width)
        widths[titles.index("Source Location")] = site_width
    lay = lambda texts: "".join(
        (text.ljust if layout.stacks and i == titles.index("Source Location") else text.rjust)(
            widths[i]) + GAP for i, text in enumerate(texts))
    ruler = "".join("-" * width + GAP for width in widths)
    lines = ["=" * (len(ruler) - 2), layout.header] if layout.header else []
    if layout.top:
        lines += ["=" * (len(ruler) - 2), "This report only display top-level ops statistics"]
    lines += [ruler, lay(titles), ruler]
    made = [cells(row, recording, layout, rows) for row in rows]
    for row, texts in zip(rows, made):
        stack = [cut_site(site, site_width) for site in row["stack"]] if layout.stacks else []
        lines.append(lay(texts + (stack[:1] or [""]) * layout.stacks))
        lines += [lay([""] * (len(titles) - 1) + [site]) for site in stack[1:]]
        lines += [lay([""] * len(titles))] * layout.stacks
    lines.append(ruler)
    host, device = sums(recording, layout)
    lines.append("Self CPU time total: " + printed_time(host, layout.unit))
    if recording.device:
        lines.append("Self %s time total: %s" % (recording.device,
                                                 printed_time(device, layout.unit)))
    return lines, made


def piped(lines, made, titles):
    """As Markdown."""
    out = ["| %s |" % " | ".join(titles), "|%s" % ("---|" * len(titles))]
    out += ["| %s |" % " | ".join(texts) for texts in made]
    return out + [""] + [line for line in lines if " time total:" in line]


def pasted(chance, lines):
    """As people keep it."""
    style = chance.randrange(9)
    if style == 1:
        return ["# " + line for line in lines]
    if style == 2:
        return ["    " + line for line in lines]
    if style == 3:
        return [line.rstrip() for line in lines]
    if style == 4:
        return ["2026-11-25 20:%02d:%02d,%03d INFO profile: %s" % (i // 60, i % 60, i * 7 % 1000,
                                                                  line)
                for i, line in enumerate(lines)]
    if style == 5:
        return ["[rank0]:I1125 20:14:33.123 4711 prof.py:9] " + lines[0], *lines[1:],
                "2026-11-25 20:14:34 done in 3.2 s"]
    if style == 6:
        return ["> " + line.rstrip() for line in lines]
    if style == 7:
        return ["```", *lines, "```"]
    return lines


def expected(recording, layout, rows, made):
    """The rows of ops.summed and of ops.totals."""
    found, device = {}, recording.device
    hosts = {row["name"] for row in rows if row["kind"] == "annotation"}
    ranges = {row["name"] for row in rows if row["kind"] == "range"}
    known = {"ProfilerStep*", "Torch-Compiled Region: 0/0", RANGES[-1]}
    titles = heads(recording, layout, rows)
    for row, texts in zip(rows, made):
        is_range = row["kind"] == "range"
        if is_range and row["name"] in hosts:
            continue
        kind = "annotation" if is_range else row["kind"]
        if kind == "annotation" and row["name"] not in known and row["name"] not in ranges:
            kind = "operator"  # nothing tells it from the node of a function
        one = found.setdefault((texts[0], kind), {"rank": 0, "name": texts[0], "kind": kind})
        add = lambda key, value, one=one: one.update({key: (one.get(key) or 0) + value})
        add("calls", row["calls"])
        add("self_cpu_ns", read_time(texts[2]))
        add("cpu_ns", read_time(texts[4]))
        if device:
            if is_range:
                one.setdefault("self_device_ns", None)
            else:
                add("self_device_ns", read_time(texts[6]))
            add("device_ns", read_time(texts[8]))
        if layout.memory:
            at = titles.index("Self CPU Mem")
            add("self_cpu_bytes", read_bytes(texts[at], layout.bytes))
            if device:
                add("self_device_bytes", read_bytes(texts[at + 2], layout.bytes))
        if layout.flops and row["flops"]:
            add("flops", f.scaled(texts[-1].strip(), 10**flops_unit(rows)[1]))
    host, on_device = (read_time(printed_time(ns, layout.unit)) for ns in sums(recording, layout))
    kernels = sum(row["self_device_ns"] for row in found.values() if row["kind"] == "kernel")
    ranged = layout.ranges_count and any(row["kind"] == "range" for row in rows)
    waits = sum(row["self_cpu_ns"] for row in found.values() if row["kind"] == "wait")
    total = {"rank": 0, "host_ns": host or None, "wait_ns": waits or None,
             "device_ns": (kernels if ranged or not on_device else on_device) if device else None}
    return {"ops.summed": list(found.values()), "ops.totals": [total]}


def first_rows(chance, recording, layout):
    """What row_limit leaves.  A range that the program named has to stay with that of the host, and
    the total has to tell what is not listed."""
    rows = sorted(recording.rows, key=lambda row: (-row["self_device"], -row["self_cpu"]))
    if layout.ranges_count or recording.device == "HPU":
        return rows
    kept = rows[:chance.randrange(1, len(rows) + 1)]
    hosts = {row["name"] for row in kept if row["kind"] == "annotation"}
    named = {"diffusion_step", "vae decode 3"} - hosts
    kept = [row for row in kept if row["kind"] != "range" or row["name"] not in named]
    some = any(row["flops"] for row in kept) or not layout.flops
    return kept if kept and some else rows


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    layout = Layout(chance)
    recording = Recording(chance, chance.choice(
        [None, "CUDA", "CUDA", "XPU", "NPU", "MTIA", "HPU", "PRIVATEUSEONE", "FOO"]), layout.unit)
    rows = recording.rows
    if not any(row["flops"] for row in rows):
        layout.flops = False
    chance.shuffle(rows)
    if chance.random() < 0.3:
        rows = first_rows(chance, recording, layout)
    names = [(cut_name(row["name"], layout.name_most), row["kind"]) for row in rows]
    if len(set(names)) < len(names):
        layout.name_most = None
    lines, made = table(recording, layout, rows)
    if not layout.stacks and chance.random() < 0.2:
        text = piped(lines, made, heads(recording, layout, rows))
    else:
        text = pasted(chance, lines)
    if chance.random() < 0.2:  # in the order of the host's time and of the device's
        again, _ = table(recording, layout, sorted(rows, key=lambda row: row["cpu"]))
        text = [*text, "", *again]
    dress.write_text(chance, folder / chance.choice(["ops.txt", "run.log", "README.md"]),
                     "\n".join([*text, ""]))
    return expected(recording, layout, rows, made)
