# SPDX-License-Identifier: GPL-3.0-or-later
"""What Inferix prints, saved by redirection: readings while it runs, the end of a run, the times of
a pipeline and of the event timer."""
import decimal
import fractions

import dress
import figures as f

DEGREES = ["°C", "Â°C", "C"]  # as written, read as Latin-1 once, without the sign


class Console:
    """One file."""

    def __init__(self, chance, rank):
        self.chance, self.rank, self.lines, self.tables = chance, rank, [], {}
        self.readings = {}

    def add(self, table, row):
        self.tables.setdefault(table, []).append({"rank": self.rank, **row})

    def reading(self, signal, value):
        self.readings.setdefault(signal, []).append(fractions.Fraction(value))

    # ---- while it runs

    def gpu(self, degrees):
        used, total = self.chance.randrange(1, 80000), 81559
        use = "%.1f" % self.chance.uniform(0, 100)
        heat = self.chance.choice(["0.0", "%.1f" % self.chance.uniform(30, 95)])
        self.lines.append("GPU: Memory %dMB / %dMB (%.1f%%), Util %s%%, Temp %s%s" % (
            used, total, 100 * used / total, use, heat, degrees))
        self.reading(("gpu_memory_used", "bytes"), used * f.MIB)
        self.reading(("gpu_utilization", "ratio"), decimal.Decimal(use) / 100)
        if float(heat):  # a sensor that could not be read says 0
            self.reading(("gpu_temperature", "celsius"), decimal.Decimal(heat))

    def cpu(self, is_first):
        use, used = "%.1f" % self.chance.uniform(1, 100), self.chance.randrange(1, 30000)
        use = "0.0" if is_first else use
        self.lines.append("CPU: %s%%, Memory %dMB / 32768MB (%.1f%%)" % (use, used, used / 327.68))
        if not is_first:
            self.reading(("cpu_utilization", "ratio"), decimal.Decimal(use) / 100)
        self.reading(("cpu_memory_used", "bytes"), used * f.MIB)

    def live(self, session):
        degrees, has_gpu = self.chance.choice(DEGREES), self.chance.random() < 0.8
        started = "Profiling session '%s' started" % session
        is_first = True
        for _ in range(self.chance.randrange(1, 12)):
            # Two threads print at once, so that lines run together.
            self.lines.append("\n=== Profiling Metrics (%s) ===%s" % (session, started))
            started = ""
            if has_gpu and self.chance.random() < 0.9:
                self.gpu(degrees)
            if self.chance.random() < 0.9:
                self.cpu(is_first)
                is_first = False
            if self.chance.random() < 0.2:
                self.lines.append("100%|██████████| 4/4 [00:00<00:00, 23.1it/s]")
        seconds = "%.2f" % self.chance.uniform(0.01, 5000)
        self.lines.append("Profiling session '%s' ended (duration: %ss)" % (session, seconds))
        self.add("run.sessions", {"session": session, "dur_ns": f.scaled(seconds, 10**9)})

    # ---- at its end

    def summary(self):
        shown = {key: "%.2f" % self.chance.uniform(0.1, 400) for key in ("fps", "bps")}
        blocks = {key: "%.2f" % self.chance.uniform(0.1, 90) for key in ("fps", "bps")}
        self.lines += ["📊 Diffusion Analysis:", "   - Total Steps: 28",
                       "   - FPS (Frames Per Second): %s" % shown["fps"],
                       "   - BPS (Blocks Per Second): %s" % shown["bps"],
                       "   - Average Block Size: 3.0 frames", "📦 Block Analysis:",
                       "   - Total Blocks: 7", "   - Block FPS: %s" % blocks["fps"],
                       "   - Block BPS: %s" % blocks["bps"], "   - Peak Memory Usage: 6457 MB"]
        for basis, values in (("as_reported", shown), ("as_reported (block)", blocks)):
            for metric, value in values.items():
                self.add("throughput.values", {
                    "metric": metric, "basis": basis, "unit": "per_s",
                    "value": f.plain(decimal.Decimal(value))})

    # ---- times

    def stage(self, name, ns):
        self.add("stages.by_name", {key: value for key, value in f.stage_of_samples(
            self.rank, name, [ns]).items() if key != "rank"})

    def pipeline(self):
        """Its shares are those of its own total, whatever else the folder has."""
        parts = {name: "%.2f" % self.chance.uniform(1, 90000) for name in
                 ("Initialization/caching", "Diffusion generation", "VAE decoding")}
        blocks = ["%.2f" % self.chance.uniform(1, 900) for _ in range(self.chance.randrange(0, 9))]
        total = "%.2f" % (sum(map(float, parts.values())) * self.chance.uniform(1.01, 2))
        seconds = "%.2f" % (float(total) / 1000 * self.chance.uniform(1.1, 3) + 0.02)
        lines = self.chance.choice(["", "start", "end", "start end", "start late"])
        whole = f.scaled(seconds, 10**9) if lines not in ("", "start") else f.scaled(total, 10**6)
        session = "run %d" % self.rank if lines else None
        ended = "Profiling session '%s' ended (duration: %ss)" % (session, seconds)
        if "start" in lines:
            self.lines.append("Profiling session '%s' started" % session)
        if "late" in lines:
            self.lines.append(ended)
        self.lines.append("Profiling results:")
        for name, ms in parts.items():
            self.lines.append("  - %s time: %s ms (%.2f%%)" % (
                name, ms, 100 * float(ms) / float(total)))
            self.stage(name, f.scaled(ms, 10**6))
            share = fractions.Fraction(f.scaled(ms, 10**6), whole)
            self.tables["stages.by_name"][-1].update(share=f.plain(share), share_of="session")
            for i, block in enumerate(blocks if name.startswith("Diffusion") else []):
                self.lines.append("    - Block %d generation time: %s ms (1.00%% of diffusion)" % (
                    i, block))
                self.add("diffusion.blocks", {"index": i, "block": i, "frames": None,
                                              "dur_ns": f.scaled(block, 10**6)})
        self.lines.append("  - Total time: %s ms" % total)
        if "end" in lines:
            self.lines.append(ended)
        self.add("run.sessions", {"session": session, "dur_ns": whole})
        if blocks:
            self.add("throughput.values", {"metric": "bps", "basis": "wall", "unit": "per_s",
                                           "value": f.rate(len(blocks), whole)})

    def timer(self):
        names = ["begin", "load model", "text [encode]", "walk 1", "vae (decode)", "конец"]
        for first, second in zip(names, names[1:]):
            seconds = self.chance.choice([0, 59, 3600, 86399]) + self.chance.randrange(1, 60)
            micro, days = self.chance.randrange(10**6), self.chance.choice([0, 0, 1, 12])
            text = "%d:%02d:%02d.%06d" % (seconds % 86400 // 3600, seconds // 60 % 60, seconds % 60,
                                          micro)
            seconds = seconds % 86400 + 86400 * days
            if days:
                text = "%d day%s, %s" % (days, "" if days == 1 else "s", text)
            self.lines.append("\nTime Elapsed: [%s] From [%s (2026-11-21 00:36:14.289411)] "
                              "To [%s (2026-11-21 00:36:15.2)]" % (text, first, second))
            self.stage("%s → %s" % (first, second), seconds * 10**9 + micro * 1000)

    def finish(self):
        for (signal, unit), values in self.readings.items():
            self.tables.setdefault("telemetry.by_rank", []).extend(
                f.signal(self.rank, None, signal, unit, values))
        return "\n".join(self.lines) + "\n"


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    tables = {}
    for rank in sorted(chance.sample(range(30), chance.choice([1, 1, 2, 8]))):
        parts = [part for part in ("live", "summary", "pipeline", "timer") if chance.random() < 0.5]
        for part in parts or ["live"]:
            one = Console(chance, rank)
            getattr(one, part)(*["t2v %d" % rank] if part == "live" else [])
            name = chance.choice(["rank_%d/%s.txt", "%s_rank%d.log"])
            path = name % ((rank, part) if name[0] == "r" else (part, rank))
            dress.write_text(chance, folder / path, one.finish())
            for table, rows in one.tables.items():
                tables.setdefault(table, []).extend(rows)
    return tables
