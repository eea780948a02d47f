# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of a model of PyTorch's caching allocator, which keeps every block it ever handed out.

Figures of a report are worked out from those blocks, moment by moment, and not from the entries of
the history: what a ring has lost is known here.  Only one rule is the report's: of a block that is
gone by the end nothing but its request is in the file, so it counts as that, rounded up."""
import pickle

import dress

KIB, MIB = 1 << 10, 1 << 20
BEFORE = "(allocated before the history)"
REST = "(other sites)"
INTERVALS, NAMED = 240, 5

RECORDER = [("torch::unwind::unwind()", "??", 0),
            ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp", 0),
            ("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char)",
             "CUDACachingAllocator.cpp", 0)]
OPERATOR = [("at::detail::empty_cuda(c10::ArrayRef<long>)", "??", 0),
            ("at::(anonymous namespace)::wrapper_CUDA_mm(at::Tensor)", "RegisterCUDA.cpp", 0)]
BACKWARD = [("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", "", 0),
            ("torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)", "??", 0)]
PYTHON_ITSELF = [("_PyEval_EvalFrameDefault", "??", 0)]
MODULE = [("_call_impl", "/v/lib/python3.12/site-packages/torch/nn/modules/module.py", 1750)]
OPTIMIZER = [("step", "/opt/pytorch/torch/optim/adamw.py", 82)]
PROGRAM = [("forward", "/app/größe.py", 7), ("einsum", "/v/site-packages/einops/_backends.py", 288),
           ("step", "/app/megatron/optimizers.py", 84), ("<module>", "/app/train.py", 9)]


def stack_of(chance, native):
    """Frames, innermost first, and the site that they stand for."""
    top = RECORDER + OPERATOR if native else []
    kind = chance.randrange(8)
    if kind == 0 and native:
        return RECORDER, "(no Python frame)"
    if kind == 1 and native:
        return top, "at::(anonymous namespace)::wrapper_CUDA_mm"
    if kind == 2 and native:
        return top + BACKWARD, "torch::autograd::generated::MmBackward0::apply"
    if kind == 3:
        return top + MODULE + OPTIMIZER, "%s (%s:%d)" % MODULE[0]
    own = chance.choice(PROGRAM)
    return (top + (MODULE if kind == 4 else []) + [own] + (PYTHON_ITSELF if native else [])
            + [PROGRAM[-1]]), "%s (%s:%d)" % own


class Block:
    """One piece of memory that was handed out; positions are of entries, `began` −1 before all."""

    def __init__(self, address, requested, size, began):
        self.address, self.requested, self.size, self.began = address, requested, size, began
        self.let_go = self.ended = None
        self.frames, self.site = None, None


class Device:
    def __init__(self, chance, index, shape):
        self.chance, self.index, self.shape = chance, index, shape
        self.segments, self.blocks, self.entries = [], [], []
        self.reserved = []  # (position, change)
        self.recording, self.now = False, 1795222559000000
        self.next_address = 0x7F0000000000 if index % 2 == 0 else 1 << 21
        self.capacity = chance.choice([400, 1500]) * MIB

    # ---- what torch does ----

    def round_up(self, size):
        if size < 512:
            return 512
        index = min(max(size.bit_length() - 21, 0), 15)
        divisions = self.shape["divisions"].get(str(1 << index), 0)
        if divisions > 1 and size > 512 * divisions:
            floor = 1 << (size.bit_length() - 1)
            step = floor // divisions
            return -(-size // step) * step
        return -(-size // 512) * 512

    def note(self, action, **more):
        if not self.recording:
            return
        self.now += self.chance.randrange(1, 5000)
        entry = {"action": action, "stream": 0, **more}
        if self.shape["times"]:
            entry["time_us"] = self.now
        if self.shape["generation"] == "c":
            entry.update(compile_context="N/A", user_metadata="", pool_id=(0, 0))
        self.entries.append(entry)

    def position(self):
        return len(self.entries)

    def hold(self, action, address, size, sign):
        self.reserved.append((self.position() if self.recording else -1, sign * size))
        self.note(action, addr=address, size=size)

    def free_pieces(self, small):
        """Free gaps of the segments of a pool: (size, segment, address)."""
        for segment in self.segments:
            if segment["small"] != small:
                continue
            at = segment["address"]
            ends = [(b.address, b.address + b.size) for b in sorted(
                segment["blocks"], key=lambda b: b.address)]
            for start, end in ends + [(segment["address"] + segment["total"], 0)]:
                if start > at:
                    yield start - at, segment, at
                at = end

    def total(self):
        return sum(s["total"] for s in self.segments)

    def empty_cache(self):
        for segment in [s for s in self.segments if not s["blocks"] and not s["expandable"]]:
            self.segments.remove(segment)
            self.hold("segment_free", segment["address"], segment["total"], -1)

    def new_segment(self, size, small):
        total = (2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2
                 * MIB)
        if self.total() + total > self.capacity:
            self.empty_cache()
        if self.total() + total > self.capacity:
            failed = Block(0, size, size, self.position())
            if self.recording and self.shape["frames"]:
                failed.frames, failed.site = stack_of(self.chance, self.shape["native"])
            self.note("oom", device_free=self.capacity - self.total(), size=size, frames_of=failed)
            return None
        expandable = self.shape["expandable"] and not small
        growing = [s for s in self.segments if s["expandable"] and expandable]
        if growing:
            segment = growing[0]
            start = segment["address"] + segment["total"]
            segment["total"] += total
            self.hold("segment_map", start, total, 1)
            return segment
        segment = {"address": self.next_address, "total": total, "small": small, "blocks": [],
                   "expandable": expandable}
        self.next_address += total + self.chance.choice([0, 1 << 33 if expandable else 2 * MIB])
        if expandable:
            self.next_address += 1 << 40
        self.segments.append(segment)
        self.hold("segment_map" if expandable else "segment_alloc", segment["address"], total, 1)
        return segment

    def malloc(self, requested):
        size = self.round_up(requested)
        small = size <= MIB
        pieces = [p for p in self.free_pieces(small) if p[0] >= size]
        while not pieces:
            if not self.new_segment(size, small):
                return
            pieces = [p for p in self.free_pieces(small) if p[0] >= size]
        room, segment, address = min(pieces, key=lambda p: (p[0], p[2]))
        split = room - size >= 512 if small or segment["expandable"] else room - size > MIB
        block = Block(address, requested, size if split else room,
                      self.position() if self.recording else -1)
        if self.recording and self.shape["frames"]:
            block.frames, block.site = stack_of(self.chance, self.shape["native"])
        segment["blocks"].append(block)
        self.blocks.append(block)
        self.note("alloc", addr=address, size=requested, frames_of=block)

    def free(self, block, at_once):
        block.let_go = self.position() if self.recording else -1
        self.note("free_requested", addr=block.address, size=block.requested, frames_of=block)
        if at_once:
            self.complete(block)

    def complete(self, block):
        block.ended = self.position() if self.recording else -1
        self.note("free_completed", addr=block.address, size=block.requested, frames_of=block)
        for segment in self.segments:
            if block in segment["blocks"]:
                segment["blocks"].remove(block)

    def work(self, steps):
        for _ in range(steps):
            used = [b for b in self.blocks if b.let_go is None]
            waiting = [b for b in self.blocks if b.let_go is not None and b.ended is None]
            doing = self.chance.random()
            if waiting and doing < 0.1:
                self.complete(self.chance.choice(waiting))
            elif used and doing < 0.45:
                self.free(self.chance.choice(used), self.chance.random() < 0.8)
            elif doing < 0.48:
                self.empty_cache()
            else:
                self.malloc(self.chance.choice([
                    self.chance.randrange(1, 4 * KIB), self.chance.randrange(1, 2 * MIB),
                    self.chance.randrange(1, 40 * MIB), 25 * MIB, 102400000]))

    # ---- what is written ----

    def frames(self, block):
        return [{"name": name, "filename": file, "line": line}
                for name, file, line in block.frames or ()]

    def written_entries(self, kept):
        for entry in kept:
            block = entry.pop("frames_of", None)
            if self.shape["frames"] and block:
                entry["frames"] = self.frames(block)
        return kept

    def written_blocks(self, segment):
        at, pieces = segment["address"], []
        for block in sorted(segment["blocks"], key=lambda b: b.address) + [None]:
            start = block.address if block else segment["address"] + segment["total"]
            if start > at:
                pieces.append({"address": at, "size": start - at, "requested_size": 0,
                               "state": "inactive", "frames": []})
            if block:
                pieces.append({"address": start, "size": block.size,
                               "requested_size": block.requested,
                               "state": "active_allocated" if block.let_go is None else
                               self.chance.choice(["active_pending_free", "active_awaiting_free"]),
                               "frames": self.frames(block)})
                at = start + block.size
        if self.shape["generation"] == "a":
            for piece, address in ((p, p.pop("address")) for p in pieces):
                frames = piece.pop("frames")
                if piece["state"] != "inactive":
                    piece["history"] = [{"addr": address, "real_size": piece["requested_size"],
                                         **({"frames": frames} if frames else {})}]
        return pieces

    def written_segments(self):
        for segment in self.segments:
            blocks = segment["blocks"]
            used = sum(b.size for b in blocks if b.let_go is None)
            one = {"device": self.index, "address": segment["address"],
                   "total_size": segment["total"], "allocated_size": used,
                   "active_size": sum(b.size for b in blocks),
                   "requested_size": sum(b.requested for b in blocks), "stream": 0,
                   "segment_type": "small" if segment["small"] else "large",
                   "segment_pool_id": (0, 0), "blocks": self.written_blocks(segment)}
            if self.shape["generation"] != "a":
                one.update(is_expandable=segment["expandable"], frames=[])
            yield one

    # ---- what a report has to say ----

    def used(self):
        return sum(b.size for b in self.blocks if b.let_go is None)

    def size_in_file(self, block):
        return block.size if block.ended is None else self.round_up(block.requested)

    def site_in_file(self, block, first):
        """What is known of the place: from the history, else from the state at the end."""
        if block.began >= first or (block.ended is None and block.frames):
            return block.site or "(no frames)"
        return BEFORE

    def in_use(self, moment):
        return [b for b in self.blocks
                if b.began < moment and (b.let_go is None or b.let_go >= moment)]

    def active(self, moment):
        return [b for b in self.blocks
                if b.began < moment and (b.ended is None or b.ended >= moment)]

    def held(self, moment):
        return sum(change for position, change in self.reserved if position < moment)

    def tables(self, owner, first):
        """`first`: position of the first entry that the ring has kept."""
        moments = range(first, len(self.entries) + 1)
        if len(moments) < 2 and not self.segments:
            return {}
        sizes = [sum(self.size_in_file(b) for b in self.in_use(m)) for m in moments]
        asked = [sum(b.requested for b in self.in_use(m)) for m in moments]
        active = [sum(b.requested for b in self.active(m)) for m in moments]
        held = [self.held(m) for m in moments]
        history = len(moments) > 1
        ranks = {"rank": owner["rank"], "device": self.index, "peak_allocated_bytes": max(sizes),
                 "peak_reserved_bytes": max(held), "unused_bytes": max(held) - max(sizes)}
        tables = {"memory.sites": self.sites(owner, first, sizes)}
        if self.segments:
            tables["memory.by_rank"] = [ranks]
            tables["memory.snapshots"] = [{**owner, "allocated_bytes": self.used(),
                                           "reserved_bytes": self.total()}]
        if history:
            tables["memory.peaks"] = [{
                **owner, "start_allocated_bytes": asked[0], "start_block_bytes": sizes[0],
                "peak_allocated_bytes": max(asked), "peak_active_bytes": max(active),
                "peak_block_bytes": max(sizes), "peak_reserved_bytes": max(held)}]
            tables["memory.failures"] = self.failures(owner, first, sizes, held)
            tables["memory.levels"] = self.levels(owner, first, sizes)
        return tables

    def failures(self, owner, first, sizes, held):
        failed = [(position, entry) for position, entry in enumerate(self.entries)
                  if entry["action"] == "oom" and position >= first]
        return [{**owner, "index": i, "wanted_bytes": entry["size"],
                 "site": entry["frames_of"].site or "(no frames)",
                 "device_free_bytes": entry["device_free"],
                 "allocated_bytes": sizes[position - first],
                 "reserved_bytes": held[position - first]}
                for i, (position, entry) in enumerate(failed)]

    def by_site(self, moment, first):
        held = {}
        for block in self.in_use(moment):
            site = self.site_in_file(block, first)
            held[site] = held.get(site, 0) + self.size_in_file(block)
        return held

    def levels(self, owner, first, sizes):
        """What the sites hold at the highest moment of each interval; None where sites that hold
        the same leave open which of them are named."""
        n = len(sizes) - 1
        step = n // INTERVALS + 1
        intervals = []
        for begin in range(0, n, step):
            part = sizes[begin:begin + step + 1]
            intervals.append((begin, self.by_site(first + begin + part.index(max(part)), first)))
        most = {}
        for _, held in intervals:
            for site, size in held.items():
                most[site] = max(most.get(site, 0), size)
        order = sorted((site for site in most if site != BEFORE), key=lambda site: -most[site])
        named, others = order[:NAMED], order[NAMED:]
        if others and most[others[0]] == most[named[-1]]:
            return None
        rows = []
        for begin, held in intervals:
            told = {site: held.get(site, 0) for site in named}
            if BEFORE in most:
                told[BEFORE] = held.get(BEFORE, 0)
            if others:
                told[REST] = sum(held.get(site, 0) for site in others)
            rows += [{**owner, "entry": begin, "site": site, "block_bytes": size,
                      "entries": min(step, n - begin)} for site, size in told.items()]
        return rows

    def sites(self, owner, first, sizes):
        rows, history = {}, len(sizes) > 1
        peak = first + sizes.index(max(sizes))

        def add(block, **amounts):
            site = self.site_in_file(block, first) if history else block.site or "(no frames)"
            row = rows.setdefault(site, {**owner, "site": site, "peak_blocks": 0, "peak_bytes": 0,
                                         "peak_block_bytes": 0, "held_blocks": 0, "held_bytes": 0,
                                         "allocations": 0})
            for column, amount in amounts.items():
                row[column] += amount
        for block in self.in_use(peak) if history else ():
            add(block, peak_blocks=1, peak_bytes=block.requested,
                peak_block_bytes=self.size_in_file(block))
        for block in self.in_use(len(self.entries)):
            add(block, held_blocks=1, held_bytes=block.size)
        for block in self.blocks:
            if block.began >= first and history:
                add(block, allocations=1)
        if not history:
            for row in rows.values():
                row.update(peak_blocks=None, peak_bytes=None, peak_block_bytes=None,
                           allocations=None)
        return list(rows.values())


def host_memory(chance):
    """Pinned memory of the host, which is no part of any device."""
    size = chance.randrange(1, 100) * MIB
    return {"host_segments": [{"device": 0, "address": 1 << 21, "total_size": size,
                               "blocks": [{"address": 1 << 21, "size": size, "requested_size": size,
                                           "state": "active_allocated", "frames": []}]}],
            "host_traces": [[{"action": "alloc", "addr": 1 << 21, "size": size, "stream": 0,
                              "time_us": 1795222559000000}]]}


def keep_highest(tables, rows):
    """The report has the levels of the device with the highest peak, the first of equal ones."""
    peaks = [row["peak_block_bytes"] for row in tables["memory.peaks"]]
    if all(peak < peaks[-1] for peak in peaks[:-1]):
        tables["memory.levels"] = rows


def make_one(chance, rank, folder, tables):
    generation = chance.choice("abbc")
    shape = {"generation": generation, "times": generation != "a",
             "frames": chance.random() < 0.85, "native": chance.random() < 0.6,
             "expandable": generation != "a" and chance.random() < 0.3,
             "divisions": chance.choice([{}, {}, {str(1 << i): 4 for i in range(16)}])}
    label = "wan-rank%d-memory-1795222559" % rank
    heaps = [Device(chance, index, shape) for index in range(chance.choice([1, 1, 2]))]
    records = chance.random() < 0.9
    traces = []
    for heap in heaps:
        heap.work(chance.choice([0, 30]))
        heap.recording = records
        heap.work(chance.randrange(1, 150))
        first = chance.choice([0, 0, len(heap.entries) // 3])
        owner = {"rank": rank, "label": label, "device": heap.index}
        for table, rows in heap.tables(owner, first).items():
            if table == "memory.levels":
                keep_highest(tables, rows)
                continue
            tables.setdefault(table, []).extend(rows)
            if table == "memory.snapshots":
                rows[0]["index"] = sum(row["rank"] == rank for row in tables[table]) - 1
        traces.append(heap.written_entries(heap.entries[first:]))
    document = {"segments": [s for heap in heaps for s in heap.written_segments()],
                "device_traces": traces}
    if generation != "a":
        document["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                          "expandable_segments": shape["expandable"],
                                          "roundup_power2_divisions": shape["divisions"]}
        document["external_annotations"] = [
            {"name": "step", "stage": stage, "device": 0, "time_us": 1795222559000000 + i}
            for i, stage in enumerate(["START", "END"])]
    elif shape["divisions"]:
        document["allocator_settings"] = {"roundup_power2_divisions": shape["divisions"]}
    if generation == "c":
        document.update(host_memory(chance))
    dress.write_bytes(chance, folder / (label + ".pickle"),
                      pickle.dumps(document, chance.randrange(2, 6)))


def make(chance, folder):
    tables = {}
    for rank in sorted(chance.sample(range(12), chance.choice([1, 1, 3]))):
        make_one(chance, rank, folder, tables)
    if tables.get("memory.levels", ()) is None:
        del tables["memory.levels"]
    return tables
