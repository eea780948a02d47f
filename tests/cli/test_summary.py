# SPDX-License-Identifier: GPL-3.0-or-later
"""Summaries: a report of them is that of the traces, and one that is damaged costs only itself."""
import gzip
import json
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

from support import IS_SANITIZED, PAIR, ROOT, SAMPLE, TINY, ProcessTest, environment, main

INPUTS = ROOT / "tests/golden/inputs"
SHARED = ROOT.parent / "shared/data"
SCHEMA = ROOT / "schemas/summary-1.schema.json"
JOB_SYSTEMS = ("SLURM_PROCID", "SLURM_NTASKS", "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_RANK",
               "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE")


def outside(**variables):
    """The environment of a process that no job system started, but for these variables."""
    made = environment(**variables)
    for name in JOB_SYSTEMS:
        if name not in variables:
            made.pop(name, None)
    return made


class Summaries(ProcessTest):
    def reduce(self, source, *options, code=0, env=None):
        out = self.folder / "summaries"
        self.expect(code, "reduce", str(source), "-q", "-o", str(out), *options,
                    env=env or outside())
        return sorted(out.iterdir()) if out.exists() else []

    def fresh(self, *args, **options):
        shutil.rmtree(self.folder / "summaries", ignore_errors=True)
        return self.reduce(*args, **options)

    def report_of(self, command, *inputs, jobs="2", code=0):
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        self.expect(code, command, *map(str, inputs), "-q", "-j", jobs, "-o", str(path))
        return path.read_bytes() if path.exists() else None

    def edit(self, path, change):
        """Rewrites a summary after `change` had its text."""
        path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes())), mtime=0))


class Equal(Summaries):
    def check(self, source, shards=(1,)):
        done = self.run_program("report", str(source), "-q", "-o", "expected.json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        for count in shards:
            with self.subTest(source=source.name, shards=count):
                shutil.rmtree(self.folder / "summaries", ignore_errors=True)
                if done.returncode == 3 and count == 1:
                    self.reduce(source, code=3)
                    continue
                for index in range(count):
                    self.reduce(source, *(("--shard", f"{index}/{count}") if count > 1 else ()))
                found = self.report_of("aggregate", self.folder / "summaries",
                                       code=done.returncode)
                if done.returncode == 0:
                    self.compare(found, (self.folder / "expected.json").read_bytes())

    def compare(self, found, expected):
        """Byte for byte.  A file that combines others is of no rank, and one that is no recording
        of none either, so they leave no summary: with one in the folder all is the same but the
        lists of files.  Of several runs both say that there are several."""
        reports = [json.loads(found), json.loads(expected)]
        tables = {item["id"]: item for item in self.items(reports[1])}
        if "run.files" not in tables:
            self.assertIn("runs.overview", {item["id"] for item in self.items(reports[0])})
            return
        files = tables["run.files"]
        rank = [column["key"] for column in files["columns"]].index("rank")
        is_listed = any(item["id"] == "recordings.files" for report in reports
                        for item in self.items(report))
        if all(row[rank] is not None for row in files["rows"]) and not is_listed:
            self.assertEqual(found, expected)
            return
        for report in reports:
            for section in report["sections"]:
                section["items"] = [item for item in section["items"]
                                    if item["id"] != "recordings.files"]
            for item in self.items(report):
                if item["id"] in ("run.files", "run.totals"):
                    item["rows"] = []
        self.assertEqual(reports[0]["sections"], reports[1]["sections"])

    @staticmethod
    def items(report):
        return [item for section in report["sections"] for item in section["items"]
                if item["kind"] == "table"]

    def test_samples(self):
        self.check(SAMPLE, (1, 2, 7))
        for source in sorted((ROOT / "samples").iterdir()):
            if source.is_dir() and source != SAMPLE and source.name != "plugin":
                self.check(source)

    def test_inputs_of_the_golden_tests(self):
        """Damaged ones, refused ones and dumps among them, each by itself and all together."""
        for source in sorted(INPUTS.iterdir()):
            self.check(source)
        self.check(INPUTS, (1, 3))

    @unittest.skipUnless(SHARED.is_dir(), "needs ../shared/data")
    def test_dumps_of_all_profilers(self):
        for source in sorted((SHARED / "dumps").iterdir()):
            if source.is_dir():
                self.check(source, (1, 3))

    @unittest.skipUnless(SHARED.is_dir() and not IS_SANITIZED, "needs ../shared/data")
    def test_real_traces(self):
        self.check(SHARED / "traces", (1, 3))
        for name in ("synthetic_nccl_4rank", "mi300_ddp_resnet18", "xdit_sd_3.5"):
            self.check(SHARED / "traces" / name)

    def test_any_order_and_number_of_threads(self):
        """More than 200 orders: of traces a few, of dumps, which are quick, the others."""
        dice = random.Random(20)
        for source, orders in ((SAMPLE, 20), (ROOT / "samples/inferix-4ranks", 50)):
            files = self.fresh(source)
            expected = self.report_of("report", source)
            for jobs in ("1", "2", "8"):
                for _ in range(2 if IS_SANITIZED else orders):
                    dice.shuffle(files)
                    self.assertEqual(self.report_of("aggregate", *files, jobs=jobs), expected)

    def test_traces_and_summaries_together(self):
        """Of two ranks of four there are summaries only."""
        traces = sorted(SAMPLE.glob("*.gz"))
        self.fresh(SAMPLE)
        summaries = sorted((self.folder / "summaries").iterdir())
        self.assertEqual(len(summaries), 4)
        expected = json.loads(self.report_of("report", *traces))
        found = json.loads(self.report_of("report", *traces[:2], *summaries[2:]))
        self.assertEqual(found["sections"], expected["sections"])
        self.assertEqual(found["data_quality"], expected["data_quality"])

    def test_charts_and_checks_take_summaries(self):
        self.fresh(SAMPLE)
        self.expect(0, "chart", "--list", "summaries")
        done = self.expect(0, "check", "summaries")
        self.assertEqual(done.stdout, self.expect(0, "check", str(SAMPLE)).stdout)

    def test_one_summary_per_rank(self):
        self.assertEqual([path.name for path in self.fresh(SAMPLE)],
                         [f"rank-0000{rank}.tas.json.gz" for rank in range(4)])
        again = [path.read_bytes() for path in self.reduce(SAMPLE, "-j", "1")]
        self.assertEqual(again, [path.read_bytes() for path in self.reduce(SAMPLE, "-j", "8")])


class Written(Summaries):
    def test_schema(self):
        files = [self.folder / f"{number}.json" for number in range(2)]
        for path, source in zip(files, (SAMPLE, INPUTS)):
            summary = self.fresh(source)[0]
            path.write_bytes(gzip.decompress(summary.read_bytes()))
        done = subprocess.run([sys.executable, "-B", ROOT / "tests/schema/validate.py", SCHEMA,
                               *files], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_places(self):
        self.expect(2, "reduce", str(SAMPLE), "-o", "one.gz")
        self.assertFalse((self.folder / "one.gz").exists())
        self.expect(0, "reduce", str(TINY), "-q", "-o", "one.tas.json.gz")
        out = self.expect(0, "reduce", str(TINY), "-o", "-").stdout
        self.assertEqual(out, (self.folder / "one.tas.json.gz").read_bytes())
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "rank-00000.tas.json.gz").write_bytes(gzip.compress(b"mine"))
        self.expect(5, "reduce", str(TINY), "-o", "foreign")
        self.assertEqual(gzip.decompress((foreign / "rank-00000.tas.json.gz").read_bytes()),
                         b"mine")

    def test_summaries_are_not_summed_up(self):
        self.fresh(SAMPLE)
        shutil.copy(TINY, self.folder / "summaries")
        done = self.expect(0, "reduce", "summaries", "-o", "again")
        self.assertIn(b"is a summary already", done.stderr)
        self.assertIn(b"1 of 1 files used", done.stdout)

    def test_shards_of_job_systems(self):
        """Each variable gives what --shard I/N gives; the first system that is there counts."""
        def names(*options, code=0, **variables):
            shutil.rmtree(self.folder / "summaries", ignore_errors=True)
            return [path.name for path in self.reduce(SAMPLE, *options, code=code,
                                                      env=outside(**variables))]

        expected = names("--shard", "1/4")
        self.assertEqual(expected, ["rank-00001.tas.json.gz"])
        auto = ("--shard", "auto")
        self.assertEqual(names(*auto, SLURM_PROCID="1", SLURM_NTASKS="4"), expected)
        self.assertEqual(names(*auto, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4"), expected)
        self.assertEqual(names(*auto, PMI_RANK="1", PMI_SIZE="4", SLURM_PROCID="2",
                               SLURM_NTASKS="4"), ["rank-00002.tas.json.gz"])
        self.assertEqual(names(*auto, "--shard-count", "4", JOB_COMPLETION_INDEX="1"), expected)
        self.assertEqual(names(*auto, "--shard-count", "2", SLURM_PROCID="1", SLURM_NTASKS="9"),
                         ["rank-00001.tas.json.gz", "rank-00003.tas.json.gz"])
        for options, variables in (
                (auto, {}), (auto, {"JOB_COMPLETION_INDEX": "1"}),
                (auto, {"SLURM_PROCID": "x", "SLURM_NTASKS": "4"}),
                (auto, {"SLURM_PROCID": "1"}),
                (auto, {"PMI_RANK": "4", "PMI_SIZE": "4"}),
                (("--shard", "4/4"), {}), (("--shard", "1"), {}), (("--shard", "-1/4"), {}),
                (("--shard", "1/4x"), {}), (("--shard", "0/0"), {}), (("--shard-count", "4"), {}),
                (("--shard", "1/4", "--shard-count", "4"), {})):
            with self.subTest(options=options, **variables):
                self.assertEqual(names(*options, code=2, **variables), [])

    def test_shards_do_not_write_over_each_other(self):
        """Two files of one rank, which their paths do not name, in two shards."""
        source = self.folder / "traces"
        source.mkdir()
        for name, start in (("a.json", 0), ("b.json", 7)):
            (source / name).write_text(json.dumps({
                "distributedInfo": {"rank": 3, "world_size": 4},
                "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
                                 "ts": start, "dur": 5}]}))
        expected = self.report_of("report", source)
        for index in ("0/2", "1/2"):
            files = self.reduce(source, "--shard", index)
        self.assertEqual([path.name for path in files],
                         ["rank-00003.shard-0.tas.json.gz", "rank-00003.shard-1.tas.json.gz"])
        self.assertEqual(self.report_of("aggregate", self.folder / "summaries"), expected)

    def test_a_shard_without_files(self):
        self.assertEqual(self.fresh(PAIR, "--shard", "5/9"), [])


class Damaged(Summaries):
    """A summary that cannot be used is refused as a whole, with the reason; others are used."""

    def refused(self, reason):
        report = json.loads(self.report_of("aggregate", self.folder / "summaries"))
        files = report["data_quality"]["files"]
        states = [file["state"] for file in files]
        self.assertEqual(states.count("refused"), 1, states)
        self.assertEqual(len(states), 4)
        texts = [found["text"] for file in files for found in file["findings"]
                 if found["code"] == "refused"]
        self.assertIn(reason, texts[0])
        return report

    def test_cut(self):
        files = self.fresh(SAMPLE)
        whole = files[1].read_bytes()
        others = self.report_of("aggregate", *files[:1], *files[2:])
        for share in (0.3, 0.9, 0.999):
            files[1].write_bytes(whole[:int(len(whole) * share)])
            report = self.refused("")
            self.assertEqual(report["run"]["ranks"], json.loads(others)["run"]["ranks"])

    def test_text_is_cut(self):
        path = self.fresh(SAMPLE)[1]
        self.edit(path, lambda text: text[:len(text) // 2])
        self.refused("byte offset")

    def test_other_versions(self):
        for old, new, reason in (
                (b'summary/1"', b'summary/2"', "expected the schema"),
                (b'["linked","sum"]', b'["linked","largest"]', "the fields of a table"),
                (b'"texts":[', b'"texts":[17,', "expected a string")):
            with self.subTest(reason):
                path = self.fresh(SAMPLE)[1]
                self.edit(path, lambda text, o=old, n=new: text.replace(o, n, 1))
                self.refused(reason)

    def test_analyses_that_are_younger(self):
        """What an older version wrote lacks an analysis, or has it in another form: the rest of it
        is used, and what is missing is said."""
        for old, new in ((b'"launches":{', b'"lunches":{'),
                         (b'"launches":{"version":"', b'"launches":{"version":"9')):
            path = self.fresh(SAMPLE)[1]
            self.edit(path, lambda text, o=old, n=new: text.replace(o, n, 1))
            report = json.loads(self.report_of("aggregate", self.folder / "summaries"))
            found = [(file["rank"], finding["count"], finding["text"])
                     for file in report["data_quality"]["files"] for finding in file["findings"]
                     if finding["code"] == "analysis-missing"]
            self.assertEqual([(rank, count) for rank, count, _ in found], [(1, 1)])
            self.assertIn('the analysis "launches"', found[0][2])
            self.assertEqual(report["data_quality"]["status"], "lossy")
            tables = {item["id"]: item["rows"] for section in report["sections"]
                      for item in section["items"] if item["kind"] == "table"}
            self.assertEqual([row[0] for row in tables["launches.by_rank"]], [0, 2, 3])
            self.assertEqual([row[0] for row in tables["gpu_time.by_rank"]], [0, 1, 2, 3])

    def test_many_that_lack_the_same(self):
        """People read it once, programs by file."""
        for path in self.fresh(SAMPLE):
            self.edit(path, lambda text: text.replace(b'"launches":{', b'"lunches":{', 1))
        out = self.folder / "out"
        log = self.run_program("aggregate", str(self.folder / "summaries"), "-o", str(out),
                               "--format", "json,html,md,text", "-v").stderr.decode()
        report = json.loads((out / "report.json").read_text())
        self.assertEqual([[finding["code"] for finding in file["findings"]].count(
            "analysis-missing") for file in report["data_quality"]["files"]], [1, 1, 1, 1])
        self.assertEqual(log.count("[analysis-missing]"), 1, log)
        for name, row in (("html", ">analysis-missing<"), ("txt", "analysis-missing ×"),
                          ("md", "| analysis-missing |")):
            self.assertEqual((out / f"report.{name}").read_text().count(row), 1, name)
        text = " ".join((out / "report.txt").read_text().split())
        self.assertIn("wan-t2v-rank2.pt.trace.json.gz and 1 more", text)

    def test_no_analysis(self):
        path = self.fresh(SAMPLE)[1]
        self.edit(path, lambda text: text[:text.index(b'"analyses":{')] + b'"analyses":{}}')
        self.refused("it has nothing of what this version needs")

    def test_other_options(self):
        files = self.fresh(SAMPLE)
        text = gzip.decompress(files[0].read_bytes())
        options = {name: values["options"] for name, values in
                   json.loads(text)["analyses"].items() if values["options"]}
        self.assertTrue(options, "no analysis has options: the test is of no use")
        name, (option, value) = next((name, item) for name, values in options.items()
                                     for item in values.items())
        report = self.run_program("aggregate", "summaries", "-q", "-o", "x.json", "--set",
                                  f"{name}.{option}={value + 1}")
        self.assertEqual(report.returncode, 3, report.stderr)
        self.assertIn(b"had other options", report.stderr)

    def test_other_hardware(self):
        self.fresh(TINY, "--hardware", "NVIDIA H100 SXM")
        done = self.run_program("aggregate", "summaries", "-q", "-o", "x.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"another --hardware", done.stderr)
        self.expect(0, "aggregate", "summaries", "-q", "-o", "x.json", "--hardware",
                    "NVIDIA H100 SXM")

    def test_any_byte(self):
        """A byte is set to another: either the summary is refused, or what it says is read as what
        it says; the program ends as it should."""
        path = self.fresh(TINY)[0]
        whole = gzip.decompress(path.read_bytes())
        dice = random.Random(6)
        for _ in range(40 if IS_SANITIZED else 400):
            text = bytearray(whole)
            text[dice.randrange(len(text))] = dice.choice(b'0123456789-,:[]{}"x\\\x00\xff')
            path.write_bytes(gzip.compress(bytes(text), mtime=0, compresslevel=1))
            done = self.run_program("aggregate", "summaries", "-q", "-o", "x.json")
            self.assertIn(done.returncode, (0, 3), done.stderr)


if __name__ == "__main__":
    main()
