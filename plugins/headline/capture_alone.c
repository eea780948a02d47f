/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture that is given alone: what is said of it says nothing of the run that replays it. */
#include <traceanalyze/headline.h>

enum { KIND, COUNTS };
static const struct ta_ref reads[] = {
    [KIND] = {"recordings.files", "kind"},
    [COUNTS] = {"recordings.files", "counts"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    bool any = false;
    for (size_t i = 0; i < ta_ref_rows(in, KIND); i++) {
        const struct ta_cell *counts = ta_ref_cell(in, COUNTS, i);
        if (counts->kind != TA_CELL_BOOL || !counts->b)
            continue;
        if (!ta_ref_reads(in, KIND, i, "graph_capture"))
            return;
        any = true;
    }
    if (!any)
        return;
    ta_say(line, "This is the capture of a graph, not a run: its launches were taken down, and "
                 "none was replayed.");
    ta_line_covers_finding(line);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_RECORDING, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, capture_alone, &ops, .title = "Graph capture",
          .summary = "Whether the recording is a capture without its run", .version = "1");
