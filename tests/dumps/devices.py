# SPDX-License-Identifier: GPL-3.0-or-later
"""What devices tell: `nvidia-smi dmon` as text, and snapshots of torch's allocator as pickles."""
import decimal
import fractions
import pickle

import dress
import figures as f

COLUMNS = ["pwr", "gtemp", "mtemp", "sm", "mem", "enc", "dec", "jpg", "ofa", "mclk", "pclk", "fb",
           "bar1", "ccpm", "rxpci", "txpci"]
UNITS = {"pwr": "W", "gtemp": "C", "mtemp": "C", "mclk": "MHz", "pclk": "MHz", "fb": "MB",
         "bar1": "MB", "ccpm": "MB", "rxpci": "MB/s", "txpci": "MB/s"}
SIGNALS = {"sm": ("gpu_utilization", "ratio", fractions.Fraction(1, 100)),
           "fb": ("gpu_memory_used", "bytes", f.MIB),
           "gtemp": ("gpu_temperature", "celsius", 1), "pwr": ("gpu_power", "watt", 1)}


def make_dmon(chance, folder):
    """Columns as options and driver leave them, several devices, with and without stamps."""
    columns = [c for c in COLUMNS if c in ("sm", "fb") or chance.random() < 0.5]
    stamps = chance.choice(["", "T", "DT"])
    devices = sorted(chance.sample(range(16), chance.choice([1, 1, 2, 8])))
    names = {"": "# gpu", "T": "#Time        gpu", "DT": "#Date       Time        gpu"}[stamps]
    units = {"": "# Idx", "T": "#HH:MM:SS    Idx", "DT": "#YYYYMMDD   HH:MM:SS    Idx"}[stamps]
    header = [names + "".join("%7s" % c for c in columns) + " ",
              units + "".join("%7s" % UNITS.get(c, "%") for c in columns) + " "]
    lines, values = [], {}
    for period in range(chance.randrange(2, 80)):
        if period % 12 == 0:
            lines += header
        time = "%02d:%02d:%02d" % (9 + period // 3600, period // 60 % 60, period % 60)
        front = {"": "", "T": " " + time, "DT": " 20261121   " + time}[stamps]
        for device in devices:
            cells = []
            for column in columns:
                cell = str(chance.randrange(1, 100)) if chance.random() > 0.1 else "-"
                cells.append("%7s" % cell)
                if cell != "-":
                    values.setdefault((device, column), []).append(decimal.Decimal(cell))
            lines.append(front + "%5d" % device + "".join(cells) + " ")
    dress.write_text(chance, folder / chance.choice(["dmon.txt", "gpu.log"]),
                     "\n".join(lines) + "\n")
    rows = []
    for (device, column), readings in values.items():
        if column in SIGNALS:
            name, unit, factor = SIGNALS[column]
            rows += f.signal(0, device, name, unit,
                             [fractions.Fraction(v) * factor for v in readings])
    return {"telemetry.by_rank": rows}


def segment(chance, device, address):
    blocks, at = [], address
    for _ in range(chance.randrange(1, 9)):
        size = 512 * chance.randrange(1, 9000)
        state = chance.choice(["active_allocated", "active_allocated", "inactive",
                               "active_pending_free", "active_awaiting_free"])
        in_use = state != "inactive"
        blocks.append({"address": at, "size": size, "requested_size": size - 100 if in_use else 0,
                       "state": state, "frames": [
                           {"filename": "/x/größe.py", "line": 7, "name": "forward"}]})
        at += size
    active = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
    return {"device": device, "address": address, "total_size": at - address,
            "allocated_size": active,
            "active_size": sum(b["size"] for b in blocks if b["state"] != "inactive"),
            "requested_size": sum(b["requested_size"] for b in blocks), "stream": 0,
            "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "frames": [], "blocks": blocks}


def make_snapshot(chance, folder):
    """One file per rank, of any protocol; allocated and reserved are those of each device."""
    tables = {"memory.snapshots": []}
    for rank in sorted(chance.sample(range(12), chance.choice([1, 2, 4]))):
        devices = sorted(chance.sample(range(8), chance.choice([1, 1, 2])))
        segments = [segment(chance, device, (0x7F0000000000 if i % 2 else 1 << 20) + (i << 32))
                    for i in range(chance.randrange(1, 20)) for device in devices]
        shared = chance.random() < 0.5
        if shared:  # whole lists of frames are one object, as torch writes them
            for one in segments:
                for block in one["blocks"]:
                    block["frames"] = segments[0]["blocks"][0]["frames"]
        document = {"segments": segments, "device_traces": [[] for _ in range(max(devices) + 1)]}
        if chance.random() < 0.15:
            document = segments
        label = "flux.v2-rank%d-memory-%d" % (rank, 1795222559 + chance.randrange(2))
        dress.write_bytes(chance, folder / (label + ".pickle"),
                          pickle.dumps(document, chance.randrange(0, 6)))
        for index, device in enumerate(devices):
            of_device = [s for s in segments if s["device"] == device]
            tables["memory.snapshots"].append({
                "rank": rank, "index": index, "label": label, "device": device,
                "allocated_bytes": sum(b["size"] for s in of_device for b in s["blocks"]
                                       if b["state"] == "active_allocated"),
                "reserved_bytes": sum(s["total_size"] for s in of_device)})
    return tables


class Heap:
    """One device of an allocator that serves each request from a segment of its own."""

    def __init__(self, chance, device):
        self.chance, self.device = chance, device
        self.history, self.live, self.now = [], {}, 1795222559000000

    def note(self, action, address, size, site):
        self.now += self.chance.randrange(1, 5000)
        self.history.append({"action": action, "addr": address, "size": size, "stream": 0,
                             "time_us": self.now, "frames": [
                                 {"filename": "/app/%s.py" % site, "line": 7, "name": "forward"}]})

    def step(self):
        if self.live and self.chance.random() < 0.45:
            address = self.chance.choice(list(self.live))
            size, site = self.live.pop(address)
            self.note("free_requested", address, size, site)
            self.note("free_completed", address, size, site)
            return
        address = (self.chance.randrange(1 << 16) << 24) + 512  # sometimes one that was free
        if address not in self.live:
            size, site = 512 * self.chance.randrange(1, 9000), self.chance.choice(["vae", "größe"])
            self.live[address] = size, site
            self.note("alloc", address, size, site)

    def segments(self):
        return [{"device": self.device, "address": address, "total_size": size,
                 "allocated_size": size, "active_size": size, "requested_size": size, "stream": 0,
                 "segment_type": "large", "segment_pool_id": (0, 0), "frames": [],
                 "blocks": [{"address": address, "size": size, "requested_size": size,
                             "state": "active_allocated", "frames": [
                                 {"filename": "/app/%s.py" % site, "line": 7, "name": "forward"}]}]}
                for address, (size, site) in self.live.items()]

    def rows(self, rank, label):
        """Of what the ring has kept: levels are those before the state at the end."""
        level = sum(size for size, _ in self.live.values())
        owner = {"rank": rank, "label": label, "device": self.device}
        levels, held = [level], {}
        for entry in reversed(self.history):
            sign = {"alloc": -1, "free_requested": 1}.get(entry["action"], 0)
            levels.append(levels[-1] + sign * entry["size"])
        for entry in self.history:
            if entry["action"] == "alloc":
                held[entry["addr"]] = entry["size"]
            elif entry["action"] == "free_completed":
                held.pop(entry["addr"], None)
        made = [e["size"] for e in self.history if e["action"] == "alloc"]
        freed = [e["size"] for e in self.history if e["action"] == "free_completed"]
        return {"memory.peaks": [{**owner, "start_allocated_bytes": levels[-1],
                                  "peak_allocated_bytes": max(levels)}],
                "memory.churn": [{**owner, "entries": len(self.history), "allocations": len(made),
                                  "frees": len(freed), "allocated_bytes": sum(made),
                                  "freed_bytes": sum(freed), "unfreed_blocks": len(held),
                                  "unfreed_bytes": sum(held.values())}]}


def make_history(chance, folder):
    """Histories in a ring that forgets, of several devices, with and without times."""
    tables = {}
    for rank in sorted(chance.sample(range(12), chance.choice([1, 1, 3]))):
        label = "wan-rank%d-memory-1795222559" % rank
        heaps = [Heap(chance, device) for device in range(chance.choice([1, 1, 2]))]
        has_times = chance.random() < 0.8
        for heap in heaps:
            for _ in range(chance.randrange(1, 200)):
                heap.step()
            heap.history = heap.history[chance.choice([0, 0, len(heap.history) // 3]):]
            for entry in heap.history if not has_times else ():
                del entry["time_us"]
            for table, rows in heap.rows(rank, label).items():
                tables.setdefault(table, []).extend(rows)
        dress.write_bytes(chance, folder / (label + ".pickle"), pickle.dumps(
            {"segments": [s for heap in heaps for s in heap.segments()],
             "device_traces": [heap.history for heap in heaps]}, chance.randrange(0, 6)))
    return tables
