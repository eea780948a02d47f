# SPDX-License-Identifier: GPL-3.0-or-later
"""The same traces and options give the same bytes, wherever and however they are read."""
import json
import os
import pathlib
import shutil
import tempfile

from support import IS_SANITIZED, SAMPLE, ProcessTest, contents, environment, main

FORMATS = "json,md,csv,text,html" + ("" if IS_SANITIZED else ",pdf")

TIED_RANKS, PLACES = 208, 50


def tied(rank):
    """A rank that launches a kernel at each of many places, and idles as long before each."""
    events = []
    for place in range(PLACES):
        at, ids = 1000 + 100 * place, {"correlation": place + 1, "External id": place + 1}
        for name, category, start, length, thread, args in (
                (f"aten::op{place}", "cpu_op", at, 40, 1, {"External id": place + 1}),
                ("cudaLaunchKernel", "cuda_runtime", at + 20, 10, 1, ids),
                (f"kernel{place % 5}", "kernel", at + 40, 50, 7,
                 {**ids, "device": rank % 8, "stream": 7})):
            events.append({"ph": "X", "name": name, "cat": category, "ts": start, "dur": length,
                           "pid": 1, "tid": thread, "args": args})
    return {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": TIED_RANKS},
            "traceEvents": events}


class Determinism(ProcessTest):
    def products(self, *inputs, changes=None, cwd=None, jobs="1", formats=FORMATS):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.expect(0, "report", *map(str, inputs), "-q", "-j", jobs, "--title", "run",
                    "--format", formats, "-o", str(out), cwd=cwd or self.folder,
                    env=environment(**(changes or {})))
        return contents(out)

    def test_surroundings(self):
        first = self.products(SAMPLE)
        self.assertIn("report.json", first)
        other = self.folder / "another folder"
        other.mkdir()
        for name, options in {
                "two threads": {"jobs": "2"},
                "more threads than files": {"jobs": "8"},
                "time zone": {"changes": {"TZ": "XYZ-13:45"}},
                "German": {"changes": {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}},
                "Turkish": {"changes": {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}},
                "plain C": {"changes": {"LC_ALL": "C"}},
                "working folder": {"cwd": other},
                "user": {"changes": {"USER": "other", "HOME": str(other), "HOSTNAME": "x"}},
                "terminal": {"changes": {"COLUMNS": "80", "TERM": "dumb"}}}.items():
            with self.subTest(name):
                self.assertEqual(self.products(SAMPLE, **options), first)

    def test_order_of_files(self):
        files = sorted(SAMPLE.iterdir())
        first = self.products(*files)
        self.assertEqual(self.products(*reversed(files), jobs="8"), first)
        self.assertEqual(self.products(files[2], files[0], files[3], files[1]), first)

    def test_order_in_the_folder(self):
        """Folders list names in the order of making, or of a hash: neither may be seen."""
        results = []
        # There the last that was made comes first.
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        for number, files in enumerate((sorted(SAMPLE.iterdir()),
                                        sorted(SAMPLE.iterdir(), reverse=True))):
            outer = tempfile.TemporaryDirectory(prefix="process-", dir=place)
            self.addCleanup(outer.cleanup)
            folder = pathlib.Path(outer.name) / "run"
            folder.mkdir()
            for file in files:
                shutil.copy(file, folder)
                os.utime(folder / file.name, (1600000000 + number, 1600000000 + number))
                os.mkfifo(folder / f"{file.name}.pipe")  # left out, which is said of the first
                (folder / f".{file.name}").write_text("hidden", encoding="utf-8")
            results.append(self.products(folder, jobs="2"))
        self.assertEqual(*results)

    def test_ranks_that_tie(self):
        """Of equal rows of many ranks the same ones come first, and the same ones are left out:
        more places and gaps than are listed, all of one length."""
        folder = self.folder / "run"
        folder.mkdir()
        for rank in range(TIED_RANKS):
            (folder / f"rank{rank}.pt.trace.json").write_text(json.dumps(tied(rank)),
                                                              encoding="utf-8")
        first = self.products(folder, formats="json")
        report = (self.folder / "out/report.json").read_text(encoding="utf-8")
        for table in ("gpu_idle.owner_sites", "gpu_idle.longest"):
            self.assertIn(table, report)
        for jobs in ("2", "7", "2"):
            self.assertEqual(self.products(folder, jobs=jobs, formats="json"), first)

    def test_date_is_that_of_the_newest_input(self):
        folder = self.folder / "run"
        shutil.copytree(SAMPLE, folder)
        results = []
        for newest in (1600000000, 1600000000, 1650000000):
            for file in folder.iterdir():
                os.utime(file, (newest, newest))
            results.append(self.products(folder, changes={"SOURCE_DATE_EPOCH": ""}))
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0]["report.json"], results[2]["report.json"])


if __name__ == "__main__":
    main()
