# SPDX-License-Identifier: GPL-3.0-or-later
"""One file of a golden of Holistic Trace Analysis beside our report, and why figures differ."""
import functools

from .causes import blame
from .hta_model import Model, Row, Settings, origin_of, parsed
from .ledger import DESCRIBES, DIFFERS, Rule
from .trace import trace_at

CAUSES = {
    "inward": Rule(
        DIFFERS, "Times rounded inward to whole µs",
        "Fractional times are the rule: starts are rounded up and ends down. An event loses "
        "1 µs on average, short ones get a duration of 0 or −1, and gaps grow. We keep "
        "integer nanoseconds."),
    "last_step": Rule(
        DIFFERS, "The last step is dropped",
        "With two or more ProfilerStep names all that its calls launched is left out, and kernels "
        "launched before the recording, although they ran in the window that is left: idle time "
        "that was none. We count all."),
    "any_stream": Rule(
        DIFFERS, "Rows with a stream taken for work of the device",
        "Synchronization rows and operators of the host that carry a stream (Triton) are counted "
        "as device time. We go by the category of the event."),
    "prefixes": Rule(
        DIFFERS, "Classes by the start of the name",
        "multimem and custom all-reduce kernels are called computation, a kernel whose name begins "
        "with hip communication; of MTIA, requests and waits are told apart by name. Ours go by "
        "category and by a table of names of communication."),
    "doubles": Rule(
        DIFFERS, "Times held as doubles",
        "Since 1970 it is 1.7e15 µs, where doubles are 0.25 µs apart. Ours are integers."),
}
TABLES = Rule(
    DESCRIBES, "How the tool holds the trace",
    "Rows, streams, iterations and labels of the data frame; its own messages where it fails.",
    proved=False)


class Rank:
    """One file of a golden: its trace, our report, and models of it by their settings."""

    def __init__(self, path, run, fractional):
        self.path, self.trace, self.report = path, trace_at(path), run.report(path)
        self.fractional = fractional
        self.classes = {row["name"]: row["class"] for row in self.report.rows("kernels.by_name")}
        self.peers = [self] # all ranks of the golden
        self.rows, self.model = functools.cache(self._rows), functools.cache(self._model)

    @functools.cached_property
    def steps(self):
        """Names of step markers of all ranks."""
        return {span.name for rank in self.peers for span in rank.trace.spans
                if "ProfilerStep" in span.name and span.cat and span.cat != "Trace"}

    def _rows(self, settings):
        origin = origin_of([rank.trace for rank in self.peers], settings)
        return [Row(span, settings, origin) for span in parsed(self.trace)]

    def _model(self, settings):
        clock = Settings(settings.inward, False, doubles=settings.doubles or settings.inward)
        return Model(self.rows(clock), settings, self.classes, self.steps)

    def settings(self, variant):
        return Settings(inward=self.fractional and variant == "default",
                        last_step=variant != "exact_all_steps")

    def value(self, figure, settings):
        return figure(self.model(settings))

    def ways(self, figure, variant, theirs, ours, within=0.0):
        return blame(CAUSES, self.settings(variant),
                     lambda settings: self.value(figure, settings), theirs, ours, within)

    def cell(self, column):
        """The sum over devices of a column of gpu_time.by_rank, in µs."""
        rows = self.report.rows("gpu_time.by_rank")
        return sum(row[column] for row in rows) / 1e3 if rows else None

    def both(self, first, second):
        return sum(row["both_ns"] for row in self.report.rows("gpu_time.overlap")
                   if {row["first"], row["second"]} == {first, second}) / 1e3
