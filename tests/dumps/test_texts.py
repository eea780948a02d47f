# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on the terminal of dumps: the verdict, and tables that say something."""
import json
import os
import pathlib
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


class Texts(unittest.TestCase):
    def summary(self, files):
        with tempfile.TemporaryDirectory(prefix="texts-") as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / "in" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run(
                [PROGRAM, "--no-config", "report", "-q", "--format", "text", "-o", "-",
                 folder + "/in"], check=True, capture_output=True, encoding="utf-8",
                env={**os.environ, "COLUMNS": "120"}).stdout

    def test_sums_of_operators(self):
        """Of all ranks; those of devices count where there are any."""
        sums = {"a.rank0.summary.json": rows(("mm", 10, 0), ("add", 30, 0)),
                "a.rank1.summary.json": rows(("mm", 30, 0), ("add", 30, 0))}
        text = self.summary(sums)
        self.assertIn("host figures only. add itself takes 60.0 % of the host's time (60.0 µs).",
                      " ".join(text.split()))
        self.assertNotRegex(text, r"\d\n *(µs|%)", "a line ends between a number and its unit")
        self.assertIn("Operators as the profiler sums them up\n", text)
        sums["a.rank1.summary.json"] = rows(("mm", 30, 75), ("add", 30, 25))
        text = self.summary(sums)
        self.assertIn("mm itself takes 75.0 % of the device's time (75.0 µs).", text)
        self.assertNotIn("host figures only", text)

    def test_ranks_compared(self):
        """Sizes of files are no difference between ranks, and what is equal is none."""
        text = self.summary({"t-rank0.json": trace(3, 100), "t-rank1.json": trace(3, 200)})
        self.assertRegex(text, r"Ranks compared\n(.*\n)*  Traces: Window .* 50\.0 %\n  1 of ")
        self.assertNotIn("Files: ", text)
        text = self.summary({"t-rank0.json": trace(3, 100), "t-rank1.json": trace(3, 100)})
        self.assertNotIn("Ranks compared\n", text)

    def test_event_timer(self):
        """It knows nothing of the session that another console tells."""
        timer = "".join("Time Elapsed: [0:00:0%d.5] From [%s (2026-11-21 00:36:14.2)] "
                        "To [%s (2026-11-21 00:36:14.3)]\n" % (seconds, first, second)
                        for seconds, first, second in ((3, "a", "b"), (1, "b", "c")))
        text = self.summary({"timer.txt": timer, "live.txt":
                             "Profiling session 's' ended (duration: 1000.0s)\n"})
        self.assertRegex(text, r"a → b +1 +3\.50 s +70\.0 % +sum")


if __name__ == "__main__":
    unittest.main()
