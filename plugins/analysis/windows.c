/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.by_rank: how long traces are and how much is in them, whatever was recorded. */
#include "model/extent.h"

#include <traceanalyze/analysis.h>

enum { RANK, SPANS, THREADS, WINDOW, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [SPANS] = {"spans", TA_FIELD_SUM},
    [THREADS] = {"threads", TA_FIELD_SUM},
    [WINDOW] = {"window", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"traces", fields, FIELDS}, {0}};

static const struct ta_column by_rank_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [SPANS] = {"spans", "Spans", TA_COUNT, .weight = 0.4,
               .doc =
                   "Events with a duration, except the one that marks the length of the recording"},
    [THREADS] = {"threads", "Threads", TA_COUNT, .doc = "Threads and streams with spans"},
    [WINDOW] = {"window_ns", "Window", TA_NS, .weight = 0.5, .read_as = TA_AS_TRACE_WINDOW,
                .doc = "From the start of the first span to the end of the last, summed over the "
                       "rank's files"},
};

static const struct ta_table_def by_rank = {"trace.by_rank",
                                            "Traces by rank",
                                            TA_COLUMNS(by_rank_columns),
                                            .doc = "One row per rank with a trace.",
                                            .tier = TA_TIER_DETAIL,
                                            .rank_words = "Traces"};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_extent *extents = ta_trace_extents(trace);
    struct ta_extent all = TA_EXTENT_EMPTY;
    int64_t threads = 0;
    if (!extents)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the extent of a trace");
    for (size_t i = 0; i < categories.n; i++) {
        /* The one span of this category is how long the profiler recorded, not what it recorded. */
        const struct ta_category *category = &categories.at[i];
        if (!(category->class == TA_CLASS_ANNOTATION && category->name != TA_STR_ABSENT &&
              ta_slice_equal(ta_trace_text(trace, category->name), TA_LIT("Trace"))))
            all = ta_extent_join(all, extents[i]);
    }
    if (all.n == 0)
        return TA_OK;
    for (size_t i = 0; i < tracks.n; i++)
        threads += tracks.at[i].n > 0;
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    ta_sum(&row[SPANS], (int64_t)all.n);
    ta_sum(&row[THREADS], threads);
    ta_sum(&row[WINDOW], all.end - all.start);
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *traces = merged[0];

    for (size_t i = 0; i < ta_partial_rows(traces); i++) {
        const int64_t *row = ta_partial_at(traces, i);
        TA_ROW(out, by_rank, [RANK] = ta_int(row[RANK]), [SPANS] = ta_int(row[SPANS]),
               [THREADS] = ta_int(row[THREADS]), [WINDOW] = ta_int(row[WINDOW]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank, NULL};

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, windows, &ops, .title = "Windows of traces",
          .summary = "How long traces are and how much they contain: trace.by_rank",
          .version = "1");
