# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the Ascend profiler: kernels, times of steps and sums as CSV, the trace with times in
decimal texts."""
import decimal
import fractions

import dress
import figures as f

KERNELS = [("aclnnMatmul_MatMulV3", "MatMulV3", "AI_CORE"),
           ("aclnnFlashAttentionScore_FlashAttentionScore", "FlashAttentionScore", "MIX_AIC"),
           ("aclnnLayerNorm_LayerNormV4", "LayerNormV4", "AI_VECTOR_CORE"),
           ("hcom_allReduce__231_0", "hcom_allReduce_", "HCCL")]
STEP = {"Computing": "device/computing",
        "Communication(Not Overlapped)": "device/communication_not_overlapped",
        "Free": "device/free", "Stage": "device/total"}


def us(ns):
    return str(decimal.Decimal(ns).scaleb(-3))


class Device:
    """One rank and its device."""

    def __init__(self, chance, rank):
        self.chance, self.rank = chance, rank
        self.now = 1786700000000000000 + chance.randrange(10**9)
        self.kernels, self.sums, self.steps = [], {}, {}

    def kernel(self, step):
        name, kind, core = self.chance.choice(KERNELS)
        spent = self.chance.randrange(1, 10**6)
        self.now += self.chance.randrange(0, 9000)
        self.kernels.append({
            "Device_id": str(self.rank), "Step Id": str(step), "Name": name, "Type": kind,
            "OP State": "dynamic", "Accelerator Core": core, "Start Time(us)": us(self.now) + "\t",
            "Duration(us)": us(spent), "Wait Time(us)": "0.1", "Block Dim": "24",
            "Input Shapes": '"1,4608,3072"'})
        self.sums.setdefault((kind, core), []).append(spent)
        self.now += spent
        return name, spent

    def step(self, step):
        begin, spent = self.now, {"Computing": 0, "Communication(Not Overlapped)": 0}
        for _ in range(self.chance.randrange(1, 20)):
            name, ns = self.kernel(step)
            spent["Communication(Not Overlapped)" if name.startswith("hcom") else "Computing"] += ns
        spent["Stage"] = self.now - begin
        spent["Free"] = spent["Stage"] - sum(spent[key] for key in list(STEP)[:2])
        for key, ns in spent.items():
            self.steps.setdefault(STEP[key], []).append(ns)
        return {"Device_id": str(self.rank), "Step": self.chance.choice([str(step), str(step), ""]),
                **{key: us(spent[key]) for key in STEP}, "Overlapped": "0.0", "Bubble": "0.0",
                "Preparing": "39.478"}

    def trace(self):
        """Only for people: the table has the same kernels."""
        events = [{"ph": "M", "name": "process_name", "pid": 1002, "tid": 0,
                   "args": {"name": "Ascend Hardware"}}]
        for row in self.kernels:
            events.append({"ph": "X", "name": row["Name"], "pid": 1002, "tid": 2,
                           "ts": row["Start Time(us)"].strip(), "args": {"Task Id": 1},
                           "dur": float(row["Duration(us)"])})
        return events

    def write(self, folder):
        steps = [self.step(i) for i in range(self.chance.randrange(1, 6))]
        sums = [{"Device_id": str(self.rank), "OP Type": kind, "Core Type": core,
                 "Count": str(len(spent)), "Total Time(us)": us(sum(spent)),
                 "Min Time(us)": us(min(spent)), "Avg Time(us)": us(sum(spent) // len(spent)),
                 "Max Time(us)": us(max(spent)), "Ratio(%)": "12.5"}
                for (kind, core), spent in self.sums.items()]
        dress.write_json(self.chance, folder / ("profiler_info_%d.json" % self.rank), {
            "config": {"common_config": {"activities": ["ProfilerActivity.NPU"]}},
            "rank_id": self.rank, "start_info": {"freq": 100.0}})
        below = folder / "ASCEND_PROFILER_OUTPUT"
        dropped = [key for key in ("Device_id", "OP State", "Step Id", "Wait Time(us)")
                   if self.chance.random() < 0.2]
        for name, rows in (("kernel_details.csv", self.kernels), ("step_trace_time.csv", steps),
                           ("op_statistic.csv", sums)):
            dress.write_csv(self.chance, below / name, [
                {key: value for key, value in row.items() if key not in dropped} for row in rows])
        if self.chance.random() < 0.7:
            dress.write_json(self.chance, below / "trace_view.json", self.trace())

    def rows(self):
        return {
            "stages.by_name": [f.stage_of_samples(self.rank, name, values)
                               for name, values in self.steps.items()],
            "ops.summed": [{"rank": self.rank, "name": kind, "calls": len(spent),
                            "self_device_ns": sum(spent), "device_ns": sum(spent),
                            "self_cpu_ns": None, "cpu_ns": None}
                           for (kind, _), spent in self.sums.items()],
            "gpu_time.by_rank": [{"rank": self.rank, "comm_ns": self.time_of("hcom"),
                                  "compute_ns": self.time_of("aclnn")}]}

    def time_of(self, prefix):
        return sum(f.scaled(row["Duration(us)"], 1000) for row in self.kernels
                   if row["Name"].startswith(prefix))


def make(chance, folder):
    """Writes a folder; returns the rows of the tables of its report."""
    tables, kernels = {}, {}
    for rank in sorted(chance.sample(range(20), chance.choice([1, 1, 2, 4]))):
        device = Device(chance, rank)
        device.write(folder / ("flux.v2-rank%d_20260814093015701_ascend_pt" % rank))
        for table, rows in device.rows().items():
            tables.setdefault(table, []).extend(rows)
        for row in device.kernels:
            kernels.setdefault(row["Name"], []).append(f.scaled(row["Duration(us)"], 1000))
    tables["kernels.by_name"] = [
        {"name": name, "class": "comm" if name.startswith("hcom") else "compute",
         "calls": len(spent), "total_ns": sum(spent), "min_ns": min(spent), "max_ns": max(spent),
         "mean_ns": f.plain(fractions.Fraction(sum(spent), len(spent))),
         "p95_ns": f.plain(f.quantile(spent, 0.95))} for name, spent in kernels.items()]
    return tables
