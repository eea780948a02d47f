# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of dumps, on the terminal and in the page: the verdict, tables that say
something, and what is said about columns and clocks."""
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]


def rows(*names):
    """Operator rows of a Diffulex session: (name, µs on the host, µs on the device)."""
    return json.dumps([{
        "name": name, "count": 2, "self_cpu_time_total_us": host, "cpu_time_total_us": host,
        "self_cuda_time_total_us": device, "cuda_time_total_us": device,
        "self_cpu_memory_usage": 0, "self_cuda_memory_usage": 0, "input_shapes": ""}
        for name, host, device in names])


def trace(n_spans, us):
    return json.dumps([{"ph": "X", "name": "work", "pid": 1, "tid": 1, "ts": i * us, "dur": us}
                       for i in range(n_spans)])


def snapshot(*sites):
    """An allocator that holds a MiB of each site."""
    blocks = [{"address": i << 20, "size": 1 << 20, "requested_size": 1 << 20,
               "state": "active_allocated",
               "frames": [{"filename": "/app/%s.py" % site, "line": 1, "name": "forward"}]}
              for i, site in enumerate(sites)]
    segment = {"device": 0, "address": 0, "total_size": len(blocks) << 20, "stream": 0,
               "segment_type": "large", "blocks": blocks}
    history = [{"action": "alloc", "addr": block["address"], "size": block["size"], "stream": 0,
                "time_us": 1795222559000000 + i, "frames": block["frames"]}
               for i, block in enumerate(blocks)]
    return pickle.dumps({"segments": [segment], "device_traces": [history]}, 4)


def request(**stages):
    """One request to sglang, by the time of its stages in ms."""
    return json.dumps({
        "timestamp": "2025-12-20T16:45:15.602292+00:00", "request_id": "a", "commit_hash": "N/A",
        "tag": "cli_generate", "total_duration_ms": sum(stages.values()) + 10,
        "steps": [{"name": name, "duration_ms": ms} for name, ms in stages.items()],
        "denoise_steps_ms": [], "meta": {"prompt": "p", "model": "m"}})


def session(rank, start):
    return json.dumps({
        "session_info": {"id": "t2v", "start_time": start, "end_time": start + 9.0,
                         "duration": 9.0, "tags": {"rank": rank}},
        "summary": {}, "stage_analysis": {}, "events": [], "recommendations": []})


class Texts(unittest.TestCase):
    def product(self, files, form):
        with tempfile.TemporaryDirectory(prefix="texts-") as folder:
            for name, content in files.items():
                path = pathlib.Path(folder) / "in" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            return subprocess.run(
                [PROGRAM, "--no-config", "report", "-q", "--format", form, "-o", "-",
                 folder + "/in"], check=True, capture_output=True, encoding="utf-8",
                env={**os.environ, "COLUMNS": "120"}).stdout

    def summary(self, files):
        return self.product(files, "text")

    def test_sums_of_operators(self):
        """Of all ranks; those of devices count where there are any."""
        sums = {"a.rank0.summary.json": rows(("mm", 10, 0), ("add", 30, 0)),
                "a.rank1.summary.json": rows(("mm", 30, 0), ("add", 30, 0))}
        text = self.summary(sums)
        self.assertIn("host figures only; add itself takes 60.0 % of the host's time (60.0 µs).",
                      " ".join(text.split()))
        self.assertNotRegex(text, r"\d\n *(µs|%)", "a line ends between a number and its unit")
        self.assertIn("Operators as summed by the profiler\n", text)
        sums["a.rank1.summary.json"] = rows(("mm", 30, 75), ("add", 30, 25))
        text = self.summary(sums)
        self.assertIn("mm takes 75.0 % of the device's 100 µs (75.0 µs).", " ".join(text.split()))
        self.assertNotIn("host figures only", text)

    def test_who_holds_the_peak(self):
        """Lines of one function that stand together are one place; what is older is said."""
        def block(at, site, line):
            return {"address": at << 30, "size": 1 << 30, "requested_size": 1 << 30,
                    "state": "active_allocated", "frames": [] if site is None else [
                        {"filename": "??", "line": 0, "name": "gather_with_cpp()"},
                        {"filename": "/home/me/app/%s.py" % site, "line": line, "name": "step"}]}
        blocks = [block(0, "optim", 82), block(1, "optim", 84), block(2, "optim", 200),
                  block(3, "vae", 9), block(4, None, 0), block(5, None, 0)]
        segment = {"device": 0, "address": 0, "total_size": 7 << 30, "stream": 0, "blocks": [
            *blocks, {"address": 6 << 30, "size": 1 << 30, "requested_size": 0,
                      "state": "inactive", "frames": []}]}
        history = [{"action": "alloc", "addr": b["address"], "size": b["size"], "stream": 0,
                    "time_us": 1, "frames": b["frames"]} for b in blocks if b["frames"]]
        text = " ".join(self.summary({"m.pickle": pickle.dumps(
            {"segments": [segment], "device_traces": [history]}, 4)}).split())
        self.assertIn("Of the peak of 6.00 GiB, 2.00 GiB are from before the history began, "
                      "2.00 GiB optimizer state from app/optim.py:82 and :84 (step), 1.00 GiB "
                      "optimizer state from app/optim.py:200 (step) and 1.00 GiB from app/vae.py:9 "
                      "(step); the allocator holds 7.00 GiB.", text)
        self.assertIn("app/optim.py:82 (step) 1 1.00 GiB 16.7 %", text)
        self.assertNotIn("gather", text)
        self.assertNotIn("Memory by label Rank", text)
        text = " ".join(self.summary({"m.pickle": pickle.dumps(
            {"segments": [segment], "device_traces": []}, 4)}).split())
        self.assertIn("Of the 6.00 GiB in use, 2.00 GiB are", text)

    def test_a_peak_between_snapshots(self):
        """More was in use between two of them than was held at any."""
        log = [{"label": "a", "timestamp": 1795221505.0, "allocated_mb": 4096.0,
                "reserved_mb": 22528.0, "max_allocated_mb": 20480.0},
               {"label": "b", "timestamp": 1795221506.0, "allocated_mb": 4096.0,
                "reserved_mb": 8192.0, "max_allocated_mb": 24576.0}]
        text = " ".join(self.summary({"memory_log.json": json.dumps(log)}).split())
        self.assertIn("Memory peaks at 24.0 GiB in use; what the allocator held was recorded at "
                      "snapshots only (22.0 GiB at most).", text)
        self.assertIn("Most reserved at a snapshot 22.0 GiB", text)
        log[0]["reserved_mb"] = 25600.0
        text = " ".join(self.summary({"memory_log.json": json.dumps(log)}).split())
        self.assertIn("Memory peaks at 24.0 GiB in use and 25.0 GiB held by the allocator.", text)
        self.assertIn("Peak memory reserved 25.0 GiB", text)

    def test_limits_by_operators(self):
        """What limits a run of which only the printed table is there, in the first words."""
        heads = "Name  Self CPU  CPU total  Self XPU  XPU total  # of Calls\n"
        rows = ("aten::mm  %s  9.000s  1.000s  1.000s  5\n"
                "gemm_kernel  0.000us  0.000us  1.000s  1.000s  5\n"
                "denoise  0.000us  0.000us  1.100s  1.100s  1\n"
                "urQueueFinish  %s  %s  0.000us  0.000us  2\n%s"
                "Self CPU time total: %s\nSelf XPU time total: 1.200s\n")
        rest = "aten::add  100.000ms  100.000ms  200.000ms  200.000ms  7\n"
        text = " ".join(self.summary({"t.txt": heads + rows % (
            "2.000s", "1.000us", "1.000us", rest, "2.100s")}).split())
        self.assertIn("The GPU has work for at most 57.1 % of the host's time. The host limits the "
                      "run: its own work takes 2.10 s, the GPU's kernels 1.20 s.", text)
        text = " ".join(self.summary({"t.txt": heads + rows % (
            "1.000s", "3.000s", "3.000s", rest, "4.100s")}).split())
        self.assertIn("The GPU limits the run: the host waits for it 73.2 % of its 4.10 s, most in "
                      "urQueueFinish.", text)
        self.assertIn("GEMMs take 83.3 % of the GPU time in the profiler's table (1.00 s of "
                      "1.20 s)", text)
        text = " ".join(self.summary({"t.txt": heads + rows % (
            "800.000ms", "1.000us", "1.000us", rest, "900.000ms")}).split())
        self.assertIn("The GPU limits the run: its kernels take 1.20 s, the host's own work "
                      "900 ms.", text)
        text = " ".join(self.summary({"t.txt": heads + rows % (
            "2.000s", "1.000us", "1.000us", "", "8.000s")}).split())
        self.assertIn("Kernels take 1.20 s on the GPU, the host's own work 8.00 s.", text)

    def test_ranks_compared(self):
        """Sizes of files are no difference between ranks, and what is equal is none."""
        text = self.summary({"t-rank0.json": trace(3, 100), "t-rank1.json": trace(3, 200)})
        self.assertRegex(text, r"Metrics across ranks\n(.*\n)*  Traces: Window .* 50\.0 %\n  1 of ")
        self.assertNotIn("Files: ", text)
        text = self.summary({"t-rank0.json": trace(3, 100), "t-rank1.json": trace(3, 100)})
        self.assertNotIn("Metrics across ranks\n", text)

    def test_full_buffer(self):
        """A tracer that lost its oldest events is trusted less."""
        for overflow, trust in ((False, "1"), (True, "0.7")):
            text = self.product({"result.json": json.dumps({
                "traceEvents": json.loads(trace(3, 100)), "viztracer_metadata": {
                    "version": "1.1.1", "overflow": overflow}})}, "json")
            self.assertRegex(text, r'"id": "trust_score", "title": "Trust", "value": %s,' % trust)

    def test_advice_by_name(self):
        """What helps depends on what the stage does."""
        for stage, words in (("model_forward", "Record two steps with torch.profiler"),
                             ("sampler", "Sample on the device"),
                             ("xyz", "Record a torch trace of this part")):
            text = self.summary({"stage_timing.csv": "scope,rank,pid,step,stage,cpu_ms\n"
                                 "multi_block,0,1,0,%s,80.0\nmulti_block,0,1,0,other,15.0\n"
                                 "multi_block,0,1,0,total,100.0\n" % stage})
            self.assertIn("multi_block/%s takes 80.0 %% of its scope" % stage, text)
            self.assertIn(words, text)

    def test_event_timer(self):
        """It knows nothing of the session that another console tells."""
        timer = "".join("Time Elapsed: [0:00:0%d.5] From [%s (2026-11-21 00:36:14.2)] "
                        "To [%s (2026-11-21 00:36:14.3)]\n" % (seconds, first, second)
                        for seconds, first, second in ((3, "a", "b"), (1, "b", "c")))
        text = self.summary({"timer.txt": timer, "live.txt":
                             "Profiling session 's' ended (duration: 1000.0s)\n"})
        self.assertRegex(text, r"a → b +1 +3\.50 s +70\.0 % +sum")

    def test_columns_that_say_nothing(self):
        """The name of the only snapshot of a rank takes no room from the sites."""
        names = ["f-rank%d-memory-1795222559.pickle" % rank for rank in range(2)]
        said = "In every row: Device <b>0</b>. Hidden, the same for all rows of a rank: Snapshot."
        page = self.product({name: snapshot("vae", "dit") for name in names}, "html")
        self.assertIn(said, page)
        self.assertRegex(page, r'<th scope="col"[^>]* data-key="label"[^>]* hidden=""|'
                               r'<th scope="col"[^>]* hidden=""[^>]* data-key="label"')
        page = self.product({"a-" + names[0]: snapshot("vae"), "b-" + names[0]: snapshot("dit"),
                             names[1]: snapshot("vae")}, "html")
        self.assertNotIn("rows of a rank: Snapshot", page)

    def test_history_that_ends_at_its_peak(self):
        """What was reached while memory still grew may not be the peak."""
        said = ("The history ends at the peak, while memory still grows: the real peak may be "
                "higher.")
        growing = pickle.loads(snapshot(*"abcdefghijklmnopqrst"))
        self.assertIn(said, " ".join(self.summary({"a.pickle": pickle.dumps(growing)}).split()))
        # The same with a last block that comes and goes, so that the peak is before the end.
        history, last = growing["device_traces"][0], growing["segments"][0]["blocks"].pop()
        for action in ("free_requested", "free_completed"):
            history.append({**history[-1], "action": action, "addr": last["address"],
                            "time_us": history[-1]["time_us"] + 1})
        growing["segments"][0]["blocks"].append({**last, "state": "inactive", "frames": []})
        self.assertNotIn(said, " ".join(self.summary({"a.pickle": pickle.dumps(growing)}).split()))

    def test_histories_of_different_length(self):
        """One that is much longer than most does not press the others against the axis."""
        short = snapshot(*"ab")
        for last, axis in ((short, "time_ns"), (snapshot(*"abcdefghijklmnop"), "progress")):
            report = json.loads(self.product({"x-rank%d-memory-1.pickle" % rank: content for
                                              rank, content in enumerate([short, short, last])},
                                             "json"))
            charts = [item["chart"] for section in report["sections"] for item in section["items"]
                      if item.get("id") == "memory.timeline"]
            self.assertEqual([chart["x"] for chart in charts], [axis])

    def findings(self, files):
        report = json.loads(self.product(files, "json"))
        return {item["id"]: item for section in report["sections"] for item in section["items"]
                if item["kind"] == "finding"}

    def test_slow_text_encoding(self):
        """A prompt that is encoded for seconds is no work of a GPU; shares are of the request."""
        for ms, is_slow in ((4000, True), (900, False)):
            found = self.findings({"perf.json": request(TextEncodingStage=ms, DenoisingStage=2000,
                                                        DecodingStage=100)})["text-encoding"]
            self.assertRegex(found["title"], r"^Text encoding takes [0-9.]+\s%% of the request \(%s"
                             % ("4" if is_slow else "900"))
            self.assertEqual("a GPU needs well below 1 s" in found["title"], is_slow, found)
            self.assertEqual("called for the first time" in found.get("why", ""), is_slow, found)
            self.assertEqual("second request" in found["advice"], is_slow, found)

    def test_stages_of_two_programs(self):
        """20 requests to one server and one to another are not 20 encodes of one generation."""
        bench = json.dumps({"backend": "vllm-omni", "model": "m", "completed_requests": 20,
                            "duration": 80.0, "throughput_qps": 0.25, "latency_mean": 4.0,
                            "stage_durations_mean": {"text_encode": 1.0, "diffuse": 3.0}})
        found = self.findings({"bench.json": bench, "perf.json": request(
            TextEncodingStage=100, DenoisingStage=2000, DecodingStage=100)})["text-encoding"]
        self.assertIn("25.0", found["title"])
        self.assertNotIn("runs 20 times", found["title"])

    def test_late_rank_with_a_slow_gpu(self):
        """The samples that one rank took of all devices say why another one is late."""
        sample = pathlib.Path(__file__).resolve().parents[2] / "samples" / "inferix-4ranks"
        files = {str(path.relative_to(sample)): path.read_text(encoding="utf-8")
                 for path in sample.rglob("*.*")}
        name = next(name for name in files if "raw_profiling" in name)
        raw = json.loads(files[name])

        def title(**changes):
            for sample in raw["gpu_data"]:
                sample["metrics"]["gpu_devices"]["gpu_2"].update(changes)
            return self.findings({**files, name: json.dumps(raw)})["late-rank"]

        found = title()
        self.assertRegex(found["title"], r"^Rank 2 is slower than the others, because its GPU is "
                         r"hot \(87.°C\) and runs at 1.682.MHz \(the others: 1.980.MHz\): ")
        self.assertIn("cooling", found["advice"])
        found = title(temperature_celsius=64)
        self.assertIn(", because its GPU runs at a lower clock (", found["title"])
        self.assertIn("PERFORMANCE,CLOCK", found["advice"])
        found = title(graphics_clock_mhz=1980)
        self.assertIn("Rank 2 is slower than the others: ", found["title"])
        self.assertEqual(found["saving_ns"]["low"], 0)

    def test_clocks(self):
        """Ranks that ran at the same time are drawn so."""
        said = "All ranks are on the wall clock that dates their files."
        for start, together in ((3, True), (3600, False)):
            page = self.product({"rank_0/a.json": session(0, 1795221165.5),
                                 "rank_1/a.json": session(1, 1795221165.5 + start)}, "html")
            self.assertEqual(said in page, together)
            self.assertEqual("not on one clock" in page, not together)


if __name__ == "__main__":
    unittest.main()
