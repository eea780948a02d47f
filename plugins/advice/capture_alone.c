/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture of a graph that is given alone: none of its times are of a run. */
#include <traceanalyze/rule.h>

enum { FILES };

static const struct ta_option options[] = {
    [FILES] = {"files", TA_OPTION_NUMBER, 1, 1, 1e6, TA_OPTION_PLAIN,
               "Captures from which the rule fires"},
    TA_OPTIONS_END,
};

enum { FILE_PATH, KIND, COUNTS };

static const struct ta_ref reads[] = {
    [FILE_PATH] = {"recordings.files", "file"},
    [KIND] = {"recordings.files", "kind"},
    [COUNTS] = {"recordings.files", "counts"},
};

/* The first file that counts, if all that do are captures, with their number; SIZE_MAX otherwise.
 */
static size_t find_captures(const struct ta_refs *in, double *n)
{
    size_t first = SIZE_MAX;
    *n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, KIND); i++) {
        const struct ta_cell *counts = ta_ref_cell(in, COUNTS, i);
        if (counts->kind != TA_CELL_BOOL || !counts->b)
            continue;
        if (!ta_ref_reads(in, KIND, i, "graph_capture"))
            return SIZE_MAX;
        first = first == SIZE_MAX ? i : first;
        ++*n;
    }
    return first;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    double n;
    const size_t row = find_captures(in, &n);
    if (row == SIZE_MAX || n < ta_ctx_option(ctx, FILES))
        return TA_OK;
    const struct ta_evidence evidence = ta_ref_evidence(in, KIND, row);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "graph-capture",
            .rule = "capture_alone",
            .title = "The recording holds the capture of a graph, and no replay of it",
            .why =
                "The kernels of the graph were captured and did not run, so busy and idle time say "
                "nothing about the program.",
            .advice = "Record steps that replay the graph, and read both files together: the "
                      "capture then shows which operator each replayed kernel belongs to.",
            .severity = TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 1,
            .threshold = "graph captured, none replayed",
            .about_input = true,
            .is_only = true,
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, capture_alone, &ops, .title = "Graph capture",
          .summary = "Fires when a recording holds the capture of a graph, and none replays it",
          .version = "1", .options = options);
