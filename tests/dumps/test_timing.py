# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that are timed without synchronizing, with a trace that shows how long the GPU works on
them: said with both figures, and not of loops that merely launch ahead."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]


def trace(n, host_ms, gpu_ms, name="denoise", waits_in=None):
    """`n` steps whose host range takes `host_ms`, and whose kernels take `gpu_ms`, one after the
    other on the stream; in the step `waits_in` the host waits for all that was launched."""
    events, now, free, correlation = [], 0.0, 0.0, 0
    for step in range(n):
        start = now
        for i in range(20):
            correlation += 1
            at = start + host_ms * (i + 0.5) / 20
            begin = max(at + 0.01, free)
            free = begin + gpu_ms / 20
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                        "tid": 1, "ts": at * 1e3, "dur": 5, "args": {"correlation": correlation}},
                       {"ph": "X", "cat": "kernel", "name": "sm90_gemm_bf16", "pid": 0, "tid": 7,
                        "ts": begin * 1e3, "dur": gpu_ms / 20 * 1e3 - 1,
                        "args": {"correlation": correlation, "device": 0, "stream": 7}}]
        now += host_ms
        if step == waits_in:
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize",
                           "pid": 1, "tid": 1, "ts": now * 1e3, "dur": (free - now) * 1e3,
                           "args": {"correlation": 10**6}})
            now = max(now, free) + 0.1
        events.append({"ph": "X", "cat": "user_annotation", "name": f"{name}_{step}", "pid": 1,
                       "tid": 1, "ts": start * 1e3, "dur": (now - start) * 1e3})
    return json.dumps({"traceEvents": events})


def dump(*ms):
    """The times of a perf dump of SGLang."""
    return json.dumps({"timestamp": "2026-03-01T10:00:00", "request_id": "r", "commit_hash": "c",
                       "tag": "t", "total_duration_ms": 2 * sum(ms),
                       "steps": [{"name": "DecodingStage", "duration_ms": 10.0}],
                       "denoise_steps_ms": [{"step": i, "duration_ms": t}
                                            for i, t in enumerate(ms)],
                       "memory_checkpoints": {}, "meta": {}})


class Timing(unittest.TestCase):
    def title(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "in").mkdir()
            for name, text in files.items():
                (folder / "in" / name.replace("_", ".")).write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", folder / "in", "-o", folder / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            report = json.loads((folder / "out/report.json").read_text(encoding="utf-8"))
        return next((item["title"].replace("\u00a0", " ") for section in report["sections"]
                     if section["id"] == "findings" for item in section["items"]
                     if item["id"] == "first-step"), None)

    def test_times_of_a_dump(self):
        title = self.title(trace_json=trace(8, 10, 40, waits_in=7), perf_json=dump(*[10.1] * 8))
        self.assertIsNotNone(title)
        self.assertIn("Steps are timed without synchronizing with the GPU: the log shows 10.1 ms a "
                      "step, on which the GPU works 40", title)

    def test_bar_of_progress(self):
        bar = "100%|██████████| 8/8 [00:00<00:00, 98.04it/s]\n"
        title = self.title(trace_json=trace(8, 10, 40, waits_in=7), run_log=bar)
        self.assertIn("the log shows 10.2 ms a step, on which the GPU works 40", title or "")

    def test_ranges_that_are_timings(self):
        title = self.title(trace_json=trace(8, 10, 40, "step_timer", waits_in=7))
        self.assertIn("the ranges show 10.0 ms a step, on which the GPU works 40", title or "")

    def test_loops_that_launch_ahead(self):
        self.assertIsNone(self.title(trace_json=trace(8, 10, 40, waits_in=7)))
        self.assertIsNone(self.title(trace_json=trace(8, 10, 40, "timestep", waits_in=7)))

    def test_times_that_hold_the_work(self):
        right = dump(*[40.5] * 8)
        self.assertIsNone(self.title(trace_json=trace(8, 10, 40, waits_in=7), perf_json=right))
        # Steps of another kind: there are more of them.
        self.assertIsNone(self.title(trace_json=trace(8, 10, 40, waits_in=7),
                                     perf_json=dump(*[10.1] * 40)))


if __name__ == "__main__":
    unittest.main()
