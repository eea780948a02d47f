# SPDX-License-Identifier: GPL-3.0-or-later
"""`aggregate`: ranks, nodes and process groups compared, against the same figures made from the
tables by rank in another way."""
import collections
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess

from support import ROOT, SAMPLE, ProcessTest, contents, main

GENERATOR = str(pathlib.Path(os.environ["TA_GENERATOR"]).resolve())
INFERIX = ROOT / "samples/inferix-4ranks"
# Columns that repeat what another table compares.
REPEATED = {("gpu_idle.by_rank", "delay_p50_ns"): ("launches.by_rank", "delay_p50_ns")}
# Columns from tables that need all traces at once.
OF_ALL_TRACES = {("kernels.by_name", key) for key in (
    "busy_share", "p50_error_ns", "efficiency", "bound", "above_roof_ns", "wave_efficiency",
    "wave_lost_ns")}


def tables(report):
    """Every table by id, its rows as dictionaries."""
    found = {}
    for section in report["sections"]:
        for item in section["items"]:
            if item["kind"] == "table":
                keys = [column["key"] for column in item["columns"]]
                found[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
    return found


ABOUT_FIGURES = {"format", "hardware", "inside", "name", "note", "path", "peak_source", "share_of",
                 "since", "source", "unit"}


def split(metric):
    """(table, column, keys) of "copies.by_direction.bytes[HtoD]"."""
    name, _, keys = metric.partition("[")
    table, _, column = name.rpartition(".")
    return table, column, keys.removesuffix("]")


def stands_under(row, keys):
    """Whether the keys are texts of the row, and perhaps its device."""
    texts = [str(value) for column, value in row.items() if column not in ABOUT_FIGURES and
             (isinstance(value, str) or column == "device" and "stream" not in row)]
    texts = [text for text in texts if text in keys]
    return not keys or any(", ".join(some) == keys for n in range(1, 4)
                           for some in itertools.permutations(texts, n))


class Aggregate(ProcessTest):
    def generate(self, *options):
        subprocess.run([GENERATOR, "cluster", "-o", "run", "--steps", "3", "--layers", "1",
                        *options], check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def aggregate(self, *args, code=0):
        done = self.expect(code, "aggregate", "--json", *map(str, args))
        return tables(json.loads(done.stdout)), done.stderr.decode()

    def by_rank(self, found, metric):
        """What the tables have of a metric, by rank."""
        table, column, keys = split(metric)
        rows = [row for row in found[table] if row["rank"] is not None
                and stands_under(row, keys)]
        if len({row["rank"] for row in rows}) < len(rows): # then devices are keys too
            first = keys.partition(", ")[0]
            device = first if first.isdigit() else "None"
            rows = [row for row in rows if str(row["device"]) == device]
        return {row["rank"]: row[column] for row in rows if row[column] is not None}

    def check_metrics(self, found):
        self.assertTrue(found["ranks.metrics"])
        for row in found["ranks.metrics"]:
            with self.subTest(metric=row["metric"]):
                values = self.by_rank(found, row["metric"])
                self.assertEqual(len(values), row["ranks"])
                self.assertEqual((min(values.values()), max(values.values())),
                                 (row["min"], row["max"]))
                self.assertEqual(row["min_rank"], min(r for r in values if values[r] == row["min"]))
                self.assertEqual(row["max_rank"], min(r for r in values if values[r] == row["max"]))
                self.assertAlmostEqual(statistics.fmean(values.values()), row["mean"],
                                       delta=1e-9 * abs(row["mean"]))
                self.assertAlmostEqual(statistics.median(values.values()), row["p50"],
                                       delta=1e-9 * abs(row["p50"]))

    def test_metrics_are_those_of_the_tables(self):
        for run in (SAMPLE, INFERIX):
            self.check_metrics(self.aggregate(run)[0])

    def test_no_table_by_rank_is_left_out(self):
        """Figures that all four ranks have, one row each, must be compared."""
        for run in (SAMPLE, INFERIX):
            found, _ = self.aggregate(run)
            compared = {split(row["metric"])[:2] for row in found["ranks.metrics"]}
            for name, rows in found.items():
                if name.startswith("ranks.") or "rank" not in rows[0]:
                    continue
                if {"index", "start_ns"} & rows[0].keys(): # moments, not figures
                    continue
                if sorted(row["rank"] or 0 for row in rows) != [0, 1, 2, 3]:
                    continue
                for column, value in rows[0].items():
                    if column.endswith(("_low_ns", "_high_ns")): # ends of intervals
                        continue
                    if column.endswith("_ns") and all(r[column] is not None for r in rows) and \
                            name not in ("collectives.clocks", "gpu_time.program", "run.window"):
                        self.assertIn(REPEATED.get((name, column), (name, column)), compared)

    def test_steps_of_a_rank(self):
        found, _ = self.aggregate(SAMPLE)
        steps = collections.defaultdict(list)
        for row in found["steps.by_step"]:
            steps[row["rank"]].append(row["host_dur_ns"])
        for row in found["steps.by_rank"]:
            mine = steps.pop(row["rank"])
            self.assertEqual((len(mine), sum(mine), min(mine), max(mine), statistics.median(mine)),
                             (row["steps"], row["total_ns"], row["min_ns"], row["max_ns"],
                              row["p50_ns"]))
        self.assertFalse(steps)

    def check_parts(self, found, parts):
        """`parts`: kind -> {label: ranks}."""
        for kind, members in parts.items():
            shown = {row["part"]: row["ranks"] for row in found["ranks.parts"]
                     if row["kind"] == kind}
            self.assertEqual(shown, {label: len(ranks) for label, ranks in members.items()})
        for row in found["parts.metrics"]:
            with self.subTest(kind=row["kind"], metric=row["metric"]):
                values = self.by_rank(found, row["metric"])
                means = {}
                for label, ranks in parts[row["kind"]].items():
                    mine = [values[rank] for rank in ranks if rank in values]
                    if mine:
                        means[label] = statistics.fmean(mine)
                near = max(1e-9 * abs(row["max"]), 1e-9 * abs(row["min"]))
                self.assertEqual(len(means), row["parts"])
                self.assertAlmostEqual(min(means.values()), row["min"], delta=near)
                self.assertAlmostEqual(max(means.values()), row["max"], delta=near)
                self.assertAlmostEqual(means[row["max_part"]], row["max"], delta=near)
                self.assertAlmostEqual(means[row["min_part"]], row["min"], delta=near)
                self.assertAlmostEqual(statistics.median(means.values()), row["p50"], delta=near)

    def test_nodes(self):
        self.generate("--ranks", "12", "--ranks-per-host", "4", "--groups", "sp=4")
        nodes = {f"node {n}": range(4 * n, 4 * n + 4) for n in range(3)}
        self.check_parts(self.aggregate("run", "--by", "node")[0], {"node": nodes})
        nodes = {"node 0": range(8), "node 1": range(8, 12)}
        self.check_parts(self.aggregate("run", "--by", "node", "--ranks-per-node", "8")[0],
                         {"node": nodes})

    def test_groups(self):
        self.generate("--ranks", "8", "--groups", "tp=2,sp=4")
        found, _ = self.aggregate("run", "--by", "group")
        members = collections.defaultdict(dict)
        for row in found["ranks.parts"]:
            ranks = []
            for piece in row["members"].split(", "):
                first, _, last = piece.partition("–")
                ranks += range(int(first), int(last or first) + 1)
            members[row["kind"]][row["part"]] = ranks
        self.assertEqual(sorted(map(tuple, members["tensor_parallel"].values())),
                         [(0, 1), (2, 3), (4, 5), (6, 7)])
        self.assertEqual(sorted(map(tuple, members["sequence_parallel"].values())),
                         [(0, 2, 4, 6), (1, 3, 5, 7)])
        self.check_parts(found, members)
        dumps, _ = self.aggregate(INFERIX, "--by", "group")
        self.assertNotIn("ranks.parts", dumps)

    def test_options_over_summaries(self):
        """What only compares ranks may differ between `reduce` and `aggregate`."""
        self.generate("--ranks", "8", "--groups", "tp=2,sp=4")
        self.expect(0, "reduce", "run", "-q", "-o", "sums")
        for by in ("rank", "node", "group"):
            options = ("--by", by, "--outliers", "3", "--ranks-per-node", "2")
            self.assertEqual(self.aggregate("sums", *options)[0],
                             self.aggregate("run", *options)[0])

    def test_outliers(self):
        self.generate("--ranks", "16", "--groups", "sp=8", "--straggler", "11:copy:40")
        found, _ = self.aggregate("run")
        self.assertEqual(found["ranks.outliers"][0]["rank"], 11)
        self.assertLessEqual(len(found["ranks.outliers"]), 16)
        metrics = {row["metric"]: row for row in found["ranks.metrics"]}
        for row in found["ranks.outliers"]:
            values = self.by_rank(found, row["metric"])
            self.assertEqual(values[row["rank"]], row["value"])
            self.assertEqual(metrics[row["metric"]]["p50"], row["p50"])
            low, _, high = statistics.quantiles(values.values(), method="inclusive")
            self.assertFalse(low - 3 * (high - low) <= row["value"] <= high + 3 * (high - low))
        self.assertEqual(len(self.aggregate("run", "--outliers", "1")[0]["ranks.outliers"]), 1)
        self.assertNotIn("ranks.outliers", self.aggregate("run", "--outliers", "0")[0])

    def test_partial(self):
        self.generate("--ranks", "4", "--groups", "sp=4", "--missing-ranks", "2")
        _, said = self.aggregate("run", "--strict", code=4)
        self.assertIn("1 of 4 ranks have no trace: rank 2", said)
        _, said = self.aggregate("run", "--strict", "--partial")
        self.assertNotIn("no trace", said)

    # ---- reports that were written before ------------------------------------------------------

    def save_ranks(self, *options):
        """A report of each rank of a run, and the traces."""
        self.generate("--ranks", "3", "--groups", "sp=3", *options)
        traces = sorted((self.folder / "run").iterdir())
        (self.folder / "saved").mkdir()
        for rank, trace in enumerate(traces):
            self.expect(0, "report", "-q", str(trace), "-o", f"saved/r{rank}.json")
        return traces

    def assert_close(self, ours, theirs):
        for mine, other in zip(ours, theirs, strict=True):
            if isinstance(other, float):
                self.assertAlmostEqual(mine, other, delta=1e-9 * abs(other))
            else:
                self.assertEqual(mine, other)

    def test_reports_of_ranks_are_one_run(self):
        """Rows by rank are those of all traces together; of names all but quantiles is."""
        self.save_ranks()
        joined = json.loads(self.expect(0, "aggregate", "--json", "--strict", "saved").stdout)
        whole = json.loads(self.expect(0, "aggregate", "--json", "run").stdout)
        self.assertEqual(joined["run"]["ranks"], [0, 1, 2])
        self.assertEqual(joined["data_quality"]["totals"], whole["data_quality"]["totals"])
        ours, theirs = tables(joined), tables(whole)
        for name in ("gpu_time.by_rank", "gpu_time.parts", "steps.by_step", "gpu_idle.by_cause",
                     "launches.by_rank", "copies.by_direction", "events.by_kind", "run.files"):
            self.assertEqual(sorted(map(json.dumps, ours[name])),
                             sorted(map(json.dumps, theirs[name])), name)
        for name, keys in (("ops.by_name", ("category", "name")), ("ops.device_time", ("name",)),
                           ("kernels.by_name", ("name",)), ("kernels.by_class", ("class",))):
            by_name = {tuple(row[key] for key in keys): row for row in theirs[name]}
            self.assertEqual(len(ours[name]), len(by_name))
            for row in ours[name]:
                other = by_name[tuple(row[key] for key in keys)]
                known = [key for key in row if key not in ("p50_ns", "p95_ns", "p99_ns") and
                         (name, key) not in OF_ALL_TRACES]
                self.assert_close([row[key] for key in known], [other[key] for key in known])
        self.check_metrics(ours)
        metrics = {row["metric"]: row for row in theirs["ranks.metrics"]}
        for row in ours["ranks.metrics"]:
            self.assertEqual(row, metrics[row["metric"]])
        self.assertNotIn("collectives.by_kind", ours)
        said = {section["id"]: section.get("missing") for section in joined["sections"]}
        self.assertIn("Collectives", said["collectives"])

    def test_order_of_reports_and_traces(self):
        traces = self.save_ranks()
        saved = [f"saved/r{rank}.json" for rank in range(3)]
        run = ("aggregate", "--json", "-q", "--title", "run")
        first = self.expect(0, *run, *saved).stdout
        self.assertTrue(self.expect(0, *run, *reversed(saved)).stdout == first)
        self.assertTrue(self.expect(0, *run, "saved/*.json").stdout == first)
        mixed, said = self.aggregate(str(traces[2]), saved[0], saved[1], "--strict")
        self.assertEqual(sorted(row["rank"] for row in mixed["gpu_time.by_rank"]), [0, 1, 2], said)

    def test_one_report_stays_as_it_is(self):
        self.save_ranks()
        again = self.expect(0, "aggregate", "--json", "-q", "saved/r1.json").stdout
        self.assertTrue(again == (self.folder / "saved/r1.json").read_bytes())
        self.expect(0, "aggregate", "-q", "saved/r1.json", "-o", "one.html")
        page, _ = self.aggregate("one.html")
        self.assertEqual([row["rank"] for row in page["gpu_time.by_rank"]], [1])

    def test_a_report_has_the_charts_of_its_traces(self):
        """Drawn from report.json they are the same, byte for byte; what it does not hold is the
        timeline, and that words of ours have another name in texts."""
        self.generate("--ranks", "8")
        self.expect(0, "report", "-q", "run", "-o", "whole.json")
        charts = {}
        for source in ("run", "whole.json"):
            self.expect(0, "chart", "-q", "all", source, "--format", "svg", "-o", f"of-{source}")
            charts[source] = contents(self.folder / f"of-{source}")
        self.assertEqual(set(charts["run"]) - set(charts["whole.json"]), {"timeline.svg"})
        same = [name for name, data in charts["whole.json"].items() if charts["run"][name] == data]
        self.assertGreater(len(same), 0.75 * len(charts["whole.json"]))
        self.expect(0, "aggregate", "-q", "whole.json", "--format", "html", "-o", "again.html")
        figures = re.findall('<figure[^>]* id=', (self.folder / "again.html").read_text())
        self.assertEqual(len(figures), len(charts["whole.json"]))

    def test_joined_reports_are_drawn(self):
        self.save_ranks()
        self.expect(0, "aggregate", "-q", "saved/r0.json", "saved/r1.json", "saved/r2.json", "-o",
                    "joined.html")
        page = (self.folder / "joined.html").read_text()
        drawn = page.partition('<figure id="c-gpu-time-breakdown"')[2].partition("</figure>")[0]
        for rank in range(3):
            self.assertTrue(f"rank {rank}" in drawn, rank)

    def test_charts_name_columns_of_their_table(self):
        self.save_ranks()
        report = json.loads((self.folder / "saved/r0.json").read_text())
        table = next(item for section in report["sections"] for item in section["items"]
                     if item["kind"] == "table" and item["chart"] and item["chart"].get("x"))
        for change in ({"x": "no_such"}, {"label": ["no_such"]}, {"group": 5}, {"kind": "pie"},
                       {"y": [{"column": "no_such", "label": "", "ink": "text"}]},
                       {"y": [{"column": table["columns"][0]["key"], "label": "", "ink": "gold"}]},
                       {"top": 10 ** 12}, {"next": {"id": "x"}}, {"kinds": "all"}):
            kept = dict(table["chart"])
            table["chart"].update(change)
            (self.folder / "changed.json").write_text(json.dumps(report))
            self.expect(3, "report", "-q", "changed.json", "-o", "x.json")
            table["chart"] = kept

    def test_reports_that_do_not_fit(self):
        traces = self.save_ranks()
        done = self.expect(3, "aggregate", "saved/r1.json", str(traces[1]), "-o", "x.json")
        self.assertIn(b"Rank 1 is in two reports", done.stderr)
        (self.folder / "cut.json").write_bytes((self.folder / "saved/r0.json").read_bytes()[:9000])
        done = self.expect(3, "aggregate", "cut.json", "saved/r1.json", "-o", "x.json")
        self.assertIn(b"cut.json", done.stderr)
        done = self.expect(4, "aggregate", "saved/r0.json", "saved/r2.json", "--strict", "-q", "-o",
                           "x.json")
        self.assertIn("rank 1", (self.folder / "x.json").read_text())
        self.expect(0, "aggregate", "saved/r0.json", "saved/r2.json", "--strict", "--partial", "-q",
                    "-o", "x.json")

    def test_reports_beside_traces_are_of_them(self):
        self.save_ranks()
        whole = self.aggregate("run")[0]
        (self.folder / "saved/r1.json").rename(self.folder / "run/report.json")
        self.assertEqual(self.aggregate("run", "--strict")[0], whole)


if __name__ == "__main__":
    main()
