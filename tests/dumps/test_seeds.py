# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/SEEDS.md tells where each figure that the profilers promise is: all that it names has to
stand in some report, with a value, and each rule has to fire in one."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import reports
import troubled

PROGRAM = os.environ["TA_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ["inferix-4ranks", "framepack-pair/baseline", "diffulex", "video-4ranks"]

def promises():
    """(what is promised, names of what gives it) of each line of the table."""
    for line in (ROOT / "docs/SEEDS.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| promised"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield cells[0], re.findall(r"`([^`]+)`", cells[1])


def names_in(report):
    """Tables, columns with a value and rules that fired."""
    found = {item["rule"] for item in report.findings}
    for table, rows in report.tables.items():
        found.add(table)
        found.update("%s.%s" % (table, key) for row in rows for key, cell in row.items()
                     if cell is not None)
    return found


def charts_of(path):
    """All that are declared; the list of `chart` lacks what has a single bar."""
    done = subprocess.run([PROGRAM, "--no-config", "--quiet", "report", path, "--json"], check=True,
                          capture_output=True, text=True)
    return set(re.findall(r'"(?:chart|next)": \{"id": "([^"]+)"', done.stdout))


class Seeds(unittest.TestCase):
    def found(self, folder):
        slow = folder / "slow"
        troubled.slow_session(slow, "one", 1, 40000)
        troubled.slow_session(slow, "four", 4, 38000)
        troubled.allocator(folder / "memory")
        troubled.stacks(folder / "stacks")
        troubled.idle_device(folder / "idle")
        troubled.untold(folder / "untold")
        troubled.held(folder / "held")
        # Inputs that are named one by one are one run: worlds of two sizes side by side.
        found = names_in(reports.read(PROGRAM, slow / "one", slow / "four"))
        for path in [*(ROOT / "samples" / name for name in SAMPLES), *sorted(folder.iterdir())]:
            found |= names_in(reports.read(PROGRAM, path)) | charts_of(path)
        return found | names_in(reports.read(PROGRAM, ROOT / "samples/framepack-pair/baseline",
                                             ROOT / "samples/framepack-pair/regressed",
                                             command="diff"))

    def test_all_is_there(self):
        with tempfile.TemporaryDirectory(prefix="seeds-") as folder:
            found = self.found(pathlib.Path(folder))
        lines = list(promises())
        self.assertGreater(len(lines), 30)
        for promised, names in lines:
            with self.subTest(promised):
                self.assertTrue(names, "nothing is named")
                self.assertEqual([name for name in names if name not in found], [],
                                 "in no report")


if __name__ == "__main__":
    unittest.main()
