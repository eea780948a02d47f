# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of the host alone, of VizTracer and py-spy, in which the host waits for a GPU: the wait
is called one, with its place and its share, and no computation."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TA_PROGRAM"]
TORCH = "/usr/lib/python3/dist-packages/torch"
CUDA = f"{TORCH}/cuda/__init__.py"


class VizTracer:
    """A process as VizTracer writes it: functions by their end, times of a monotonic clock."""

    def __init__(self):
        self.now, self.events = 2887098728.498, []

    def call(self, name, *inside, dur=1.0):
        """`inside`: calls in the function, as tuples of a name, a time and what is in them."""
        start = self.now
        self.now += dur / 2
        for other, time, *deeper in inside:
            self.call(other, *deeper, dur=time)
        self.now += dur / 2
        self.events.append({"pid": 7204, "tid": 7204, "ts": start, "ph": "X",
                            "dur": self.now - start + 1.3e-8, "name": name, "cat": "FEE"})

    def text(self):
        names = [{"ph": "M", "pid": 7204, "tid": 7204, "name": kind, "args": {"name": name}}
                 for kind, name in (("process_name", "MainProcess"),
                                    ("thread_name", "MainThread"))]
        return json.dumps({"traceEvents": names + self.events, "viztracer_metadata": {
            "version": "1.1.1", "overflow": False, "baseTimeNanoseconds": 1795219294474513083}})


class HostWaits(unittest.TestCase):
    def read(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, "report", path, "-o", pathlib.Path(folder) / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            report = json.loads((pathlib.Path(folder) / "out/report.json").read_text())
        self.headline = report["verdict"]["headline"].replace("\u00a0", " ")
        findings = [item for section in report["sections"] if section["id"] == "findings"
                    for item in section["items"]]
        return {f["id"]: {k: (v or "").replace("\u00a0", " ") for k, v in f.items()
                          if k in ("title", "why", "advice")} for f in findings}

    def test_copies_to_the_host(self):
        trace = VizTracer()
        trace.call("main (/app/run.py:1)", *[
            ("decode (/app/pipeline.py:88)", 100, ("Linear.forward (/app/model.py:5)", 2900),
             ("Tensor.cpu", 6000), ("Tensor.numpy", 10))] * 5, dur=2)
        found = self.read("result.json", trace.text())
        self.assertEqual(found["host-waits"]["title"],
                         "Tensor.cpu makes the host wait for the GPU: 66.6 % of the run (30.0 ms)")
        self.assertEqual(found["host-waits"]["why"],
                         "All of these waits are in app/pipeline.py:88 (decode) (30.0 ms in 5 "
                         "calls).")
        self.assertEqual(self.headline, found["host-waits"]["title"] +
                         ". No device activity was recorded: host figures only.")

    def test_synchronizing(self):
        """Of nested waits the outermost counts, and where a function of the program calls it."""
        trace = VizTracer()
        trace.call("main (/app/run.py:1)", *[
            ("step (/app/loop.py:20)", 1000, (f"synchronize ({CUDA}:792)", 1,
                                              ("torch._C._cuda_synchronize", 800))),
            ("log (/app/loop.py:40)", 10,
             (f"Event.synchronize ({TORCH}/cuda/streams.py:231)", 1, ("Event.synchronize", 200)))
        ] * 10)
        found = self.read("result.json", trace.text())["host-waits"]
        self.assertIn("synchronize makes the host wait for the GPU: ", found["title"])
        self.assertIn("of the run (10.0 ms)", found["title"])
        self.assertIn("app/loop.py:20 (step) takes 79.9 % of these waits (8.01 ms in 10 calls)",
                      found["why"])

    def test_other_functions(self):
        """A function of that name elsewhere, short waits, and computing."""
        trace = VizTracer()
        trace.call("main (/app/run.py:1)", *[("synchronize (/app/clock.py:3)", 900),
                                             ("dict.item", 500), ("Tensor.item", 10),
                                             *[("Tensor.item", 8)] * 200,
                                             ("Tensor.matmul", 3000)] * 5)
        self.assertNotIn("host-waits", self.read("result.json", trace.text()))
        self.assertIn("Tensor.matmul itself takes", self.headline)

    def test_samples(self):
        found = self.read("spy.folded",
                          "<module> (run.py:9);step (loop.py:20);synchronize "
                          "(torch/cuda/__init__.py:1219) 60\n"
                          "<module> (run.py:9);step (loop.py:22);forward (model.py:7) 30\n"
                          "<module> (run.py:9);log (loop.py:41);synchronize "
                          "(torch/cuda/__init__.py:1219) 10\n")
        self.assertEqual(found["host-waits"]["title"],
                         "synchronize makes the host wait for the GPU: 70.0 % of the samples of "
                         "all call stacks (70)")
        self.assertEqual(found["host-waits"]["why"],
                         "loop.py:20 (step) takes 85.7 % of these waits.")
        self.assertEqual(self.headline, found["host-waits"]["title"] + ".")


if __name__ == "__main__":
    unittest.main()
