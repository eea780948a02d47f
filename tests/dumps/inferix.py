# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of Inferix reports and raw sampling dumps, with the rows that a report has of them."""
import fractions

import dress
import figures as f

START = 1795221165.140202
LATER = 1e-3 / 7  # no round number


class Session:
    """One rank: what its process would have recorded."""

    def __init__(self, chance, rank, world, shape):
        self.chance, self.rank, self.world, self.shape = chance, rank, world, shape
        self.start = START + chance.random()
        self.now = self.start
        self.tables = {}
        self.form = chance.choice([("up", 1), ("down", 1), ("up", 2), ("down", 2)])

    def add(self, table, row):
        self.tables.setdefault(table, []).append({"rank": self.rank, **row})

    def spoiled(self, value, rate=0.03):
        """Sometimes what json.dump(default=str) makes of other types, or what is no number."""
        draw = self.chance.random()
        if draw < rate:
            return self.chance.choice([float("nan"), float("inf"), None, "tensor(0.75)"])
        return str(value) if draw < 2 * rate else value

    def lapse(self, ms):
        self.now += ms / 1000
        return self.now

    # ---- what is recorded

    def stages(self):
        found, taken = {}, set()
        for _ in range(self.chance.randrange(0, 7)):
            name = dress.new_name(self.chance, taken)
            calls = self.chance.choice([1, 1, 2, 7, 1000])
            times = sorted(self.chance.uniform(1e-4, 9) for _ in range(min(calls, 7)))
            total = self.chance.uniform(times[-1], times[-1] * calls) if calls > 1 else times[0]
            found[name] = {"total_time": total, "call_count": calls, "avg_time": total / calls,
                           "min_time": times[0], "max_time": times[-1], "percentage_of_total": 1.0}
            self.add("stages.by_name", f.stage(
                self.rank, name, calls, f.scaled(total, 10**9), f.scaled(times[0], 10**9),
                f.scaled(times[-1], 10**9)))
        if not found:
            return {}
        return {"total_stages": len(found), "stages": found, "bottlenecks": [],
                "total_time": sum(s["total_time"] for s in found.values())}

    def schedule(self, steps):
        """Numbers of the records of a pass."""
        numbers = range(steps) if self.form[0] == "up" else range(steps - 1, -1, -1)
        return [number for number in numbers for _ in range(self.form[1])]

    def step(self, number, frames):
        ms = self.chance.uniform(0.01, 400)
        data = {"step": self.spoiled(number, 0.02), "timestep": self.spoiled(1 / (number + 1)),
                "block_size": frames, "computation_time_ms": self.spoiled(ms),
                "guidance_scale": self.chance.choice([None, 3.0, 7.5, 5])}
        if self.chance.random() < 0.1:
            del data["guidance_scale"]
        integer = f.number(data["step"])
        self.add("diffusion.steps", {
            "index": len(self.tables.get("diffusion.steps", [])),
            "step": None if integer is None else int(integer),
            "timestep": f.plain(data["timestep"]), "block_size": frames,
            "dur_ns": f.scaled(data["computation_time_ms"], 10**6),
            "guidance_scale": f.plain(data.get("guidance_scale"))})
        return {"name": "diffusion_step", "timestamp": self.lapse(ms), "data": data}

    def block(self, number, frames):
        ms = self.chance.uniform(0.5, 2000)
        data = {"block_index": number, "block_size": frames, "computation_time_ms": ms,
                "memory_usage_mb": self.spoiled(self.chance.uniform(100, 70000), 0.05)}
        self.add("diffusion.blocks", {
            "index": len(self.tables.get("diffusion.blocks", [])), "block": number,
            "frames": frames, "dur_ns": f.scaled(ms, 10**6),
            "memory_bytes": f.scaled(data["memory_usage_mb"], f.MIB)})
        self.snapshot(number, self.lapse(ms / 9), f.scaled(data["memory_usage_mb"], f.MIB))
        return {"name": "block_computation", "timestamp": self.now, "data": data}

    def snapshot(self, number, time, memory):
        """The peak of memory that a block tells is a snapshot with its name."""
        if memory is None:
            return
        rows = self.tables.setdefault("memory.snapshots", [])
        self.first_snapshot = time if not rows else self.first_snapshot
        since = f.number(time) - f.number(self.first_snapshot)
        self.add("memory.snapshots", {
            "index": len(rows), "label": "block %d" % number, "device": None,
            "time_ns": f.scaled(str(since), 10**9), "max_allocated_bytes": memory})

    def models(self, events):
        taken = set()
        for _ in range(self.chance.randrange(0, 4)):
            name, count = dress.new_name(self.chance, taken), self.chance.randrange(1, 10**11)
            kind = self.chance.choice(["diffusion", "vae", "text_encoder", "anything"])
            events.append({"name": "model_parameters", "timestamp": self.lapse(0.01), "data": {
                "model_name": name, "model_type": kind,
                "parameters_count": self.chance.choice([count, str(count)])}})
            self.add("models.parameters", {"model": name, "type": kind, "parameters": count})

    def lookups(self, events):
        hits = misses = 0
        for _ in range(self.chance.choice([0, 0, 3, 30])):
            kind = self.chance.choice(["hit", "hits", "miss", "misses", "eviction", "evictions"])
            hits += kind.startswith("hit")
            misses += kind.startswith("miss")
            events.append({"name": "cache_event", "timestamp": self.lapse(0.02), "data": {
                "event_type": kind, "cache_size": 39000, "requested_size": 1560,
                "evicted_size": 0}})
        if hits + misses:
            self.add("caches.by_name", {
                "cache": "cache", "hits": hits, "misses": misses,
                "hit_ratio": f.plain(fractions.Fraction(hits, hits + misses))})

    def events(self):
        steps, blocks, frames, generations = self.shape
        events = []
        self.models(events)
        self.lookups(events)
        for _ in range(generations):
            for block in range(blocks):
                size = self.chance.choice([frames, frames, 1])
                events += [self.step(step, size) for step in self.schedule(steps)]
                events.append(self.block(block, size))
        events.append({"name": "note <b>", "timestamp": self.lapse(1), "data": {}})
        return events

    # ---- telemetry

    def timeline(self):
        """Sums over the devices; a report of a machine without any has zeros."""
        has_devices = self.chance.random() < 0.8
        samples, rows = [], []
        for i in range(self.chance.randrange(1, 9)):
            row = {"memory_used_mb": self.chance.randrange(1, 80000), "memory_total_mb": 81559,
                   "utilization": self.chance.choice([0, 37, 99.5, 100]),
                   "temperature": self.chance.randrange(30, 95),
                   "power": self.chance.choice([0, 412.25, 700])}
            if not has_devices:
                row = dict.fromkeys(row, 0)
            samples.append({"timestamp": self.start + i * 0.2 + LATER, **row})
            rows.append(row)
        if has_devices:
            self.signals(None, rows, "utilization", "memory_used_mb", "temperature", "power")
        return samples

    def signals(self, device, rows, utilization, memory, temperature, power):
        def column(key, factor=1, zero_counts=True):
            values = [f.number(row.get(key)) for row in rows]
            return [fractions.Fraction(v) * factor for v in values
                    if v is not None and (zero_counts or v)]
        for name, unit, values in (
                ("gpu_utilization", "ratio", column(utilization, fractions.Fraction(1, 100))),
                ("gpu_memory_used", "bytes", column(memory, f.MIB)),
                ("gpu_temperature", "celsius", column(temperature)),
                ("gpu_power", "watt", column(power, 1, False))):
            for row in f.signal(self.rank, device, name, unit, values):
                self.tables.setdefault("telemetry.by_rank", []).append(row)

    def raw_samples(self):
        """Samples of each device, some keys missing; those of an earlier session come first."""
        n_devices, samples, rows = self.chance.randrange(1, 5), [], {}
        earlier = self.chance.choice([0, 0, 3])
        for i in range(-earlier, self.chance.randrange(4, 30)):
            devices = {}
            for device in range(n_devices):
                row = {"device_id": device, "memory_used_mb": self.chance.randrange(1, 80000),
                       "memory_total_mb": 81559,
                       "utilization_percent": self.chance.choice([0, 12.5, 100]),
                       "temperature_celsius": self.chance.randrange(30, 95),
                       "power_watts": self.chance.choice([0, 300.5, 689.119]),
                       "device_name": "NVIDIA H200"}
                for key in [k for k in row if k != "device_id" and self.chance.random() < 0.05]:
                    del row[key]
                devices["gpu_%d" % device] = row
                if i >= 0:
                    rows.setdefault(device, []).append(row)
            samples.append({"timestamp": self.start + (i + 0.5 if i >= 0 else i * 100) * 0.2,
                            "metrics": dress.add_unknown(self.chance, {"gpu_devices": devices})})
        return samples, rows

    # ---- documents

    def throughput(self):
        blocks = self.tables.get("diffusion.blocks", [])
        if not blocks:
            return
        frames, spent = sum(b["frames"] for b in blocks), sum(b["dur_ns"] for b in blocks)
        wall = f.scaled(self.duration, 10**9)
        for metric, basis, value in (("fps", "blocks", f.rate(frames, spent)),
                                     ("bps", "blocks", f.rate(len(blocks), spent)),
                                     ("fps", "wall", f.rate(frames, wall))):
            self.add("throughput.values",
                     {"metric": metric, "basis": basis, "value": value, "unit": "per_s"})

    def report(self, session, with_timeline, has_folder):
        events, stages = self.events(), self.stages()
        end = self.now + 0.5
        self.duration = end - self.start
        self.throughput()
        tags = {"rank": self.chance.choice([self.rank, str(self.rank)]), "seed": 11}
        if has_folder and self.chance.random() < 0.3:
            del tags["rank"]
        if self.chance.random() < 0.7:
            tags["world_size"] = self.world
        document = {
            "session_info": {"id": session, "start_time": self.start, "end_time": end,
                             "duration": self.duration, "tags": tags, "generated_at": end},
            "summary": {}, "gpu_metrics": {}, "cpu_metrics": {}, "stage_analysis": stages,
            "events": events, "recommendations": [], "cache_analysis": {}}
        if with_timeline:
            document["gpu_metrics"] = {"timeline": self.timeline()}
        reported = self.chance.uniform(1, 99)
        if self.chance.random() < 0.7:
            document["diffusion_analysis"] = {"fps": reported, "bps": str(reported / 3)}
            for metric, value in (("fps", reported), ("bps", reported / 3)):
                self.add("throughput.values", {"metric": metric, "basis": "as_reported",
                                               "value": value, "unit": "per_s"})
        return dress.add_unknown(self.chance, document)


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    n = chance.choice([1, 1, 2, 3, 5, 9])
    ranks = sorted(chance.sample(range(chance.choice([n, 64])), n)) if n <= 64 else []
    shape = (chance.randrange(0, 6), chance.randrange(1, 6), chance.choice([1, 3, 16]),
             chance.choice([1, 1, 2]))
    in_folders, session = n > 1 or chance.random() < 0.5, chance.choice(["t2v", "run.1", "вид 2"])
    tables = {}
    for rank in ranks:
        one = Session(chance, rank, max(n, ranks[-1] + 1), shape)
        below = folder / ("rank_%d" % rank) if in_folders else folder
        stamp = "20261121_%06d" % (3300 + rank % 7)
        has_raw = chance.random() < 0.4
        document = one.report(session, not has_raw, in_folders)
        dress.write_json(chance, below / ("profiling_report_%s_%s.json" % (session, stamp)),
                         document)
        if has_raw:
            samples, rows = one.raw_samples()
            for device, readings in rows.items():
                one.signals(device, readings, "utilization_percent", "memory_used_mb",
                            "temperature_celsius", "power_watts")
            dress.write_json(chance, below / ("raw_profiling_data_%s_%s.json" % (session, stamp)), {
                "session_id": session, "gpu_data": samples, "cpu_data": [],
                "saved_at": one.now + 1})
        for table, rows in one.tables.items():
            tables.setdefault(table, []).extend(rows)
    return tables
