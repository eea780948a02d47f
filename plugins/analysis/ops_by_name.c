/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_name: host time by category and name, over all ranks. */
#include "model/waiting.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { FIELD_CATEGORY, FIELD_NAME, FIELD_SELF, FIELD_WORKING, FIELD_TIMES };

static const struct ta_field fields[] = {
    [FIELD_CATEGORY] = {"category", TA_FIELD_TEXT}, [FIELD_NAME] = {"name", TA_FIELD_TEXT},
    [FIELD_SELF] = {"self_ns", TA_FIELD_SUM},       [FIELD_WORKING] = {"working_ns", TA_FIELD_SUM},
    [FIELD_TIMES] = {"times", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {{"ops", fields, 5}, {0}};

enum { CATEGORY, NAME, CALLS, TOTAL, WORKING, SELF, SHARE, MEAN };
static const struct ta_column by_name_columns[] = {
    [CATEGORY] = {"category", "Category", TA_TEXT, .read_as = TA_AS_OP_CATEGORY,
                  .doc = "Category of the span, as the profiler wrote it"},
    [NAME] = {"name", "Name", TA_TEXT, .read_as = TA_AS_OP, .doc = "Name of the host span"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_OP_CALLS, .over_ranks = TA_OVER_CALLS,
               .doc = "Number of spans"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_OP_TIME,
               .over_ranks = TA_OVER_TIME,
               .doc = "Sum of durations, including nested spans: work, not wall time"},
    [WORKING] = {"working_ns", "Self", TA_NS, .better = TA_LOWER, .over_ranks = TA_OVER_SELF,
                 .doc = "Time in which the span was the innermost of its thread, without threads "
                        "that only wait, such as monitors and queue readers"},
    [SELF] = {"self_ns", "Self, all threads", TA_NS, .better = TA_LOWER, .read_as = TA_AS_OP_SELF,
              .doc = "Time in which the span was the innermost of its thread, over all threads",
              .detail = true},
    [SHARE] = {"share", "Share", TA_RATIO, .over_ranks = TA_OVER_SHARE,
               .doc = "Self time divided by the self time of all host spans, without threads that "
                      "only wait"},
    TA_SPREAD_COLUMNS(MEAN),
};

static const struct ta_chart_def chart = {
    .id = "ops-pareto",
    .title = "Host time by name",
    .caption = "Self time of host spans, summed over all ranks, without threads that only wait; "
               "percentages are cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&by_name_columns[NAME]},
    .y = {{&by_name_columns[WORKING], "Self time", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_table_def by_name = {
    "ops.by_name",
    "Host time by name",
    TA_COLUMNS(by_name_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per category and name of host spans, all ranks together. Means, deviations and "
           "quantiles are over single spans. Σ `self_ns` over the spans of a thread is the time "
           "covered by its host spans. Chart `ops-pareto`.",
    .chart = {&chart},
    .order = {&by_name_columns[WORKING], TA_DESCENDING},
    .joining = TA_JOIN_SUMS,
    .brief =
        &(const struct ta_brief){.place = 240, .rows = 8, .largest = &by_name_columns[WORKING]}};

/* Where spans of a name go.  Nearly all of a name have one category. */
struct place {
    int64_t *row; /* NULL before the first */
    struct ta_dist *times;
    ta_cat cat;
};

struct work {
    const struct ta_trace *trace;
    struct ta_partial *out;
    struct place *places; /* by name, of the category met last */
    struct ta_map rows;   /* by category and name */
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const size_t n = ta_trace_string_count(trace);
    struct work w = {.trace = trace, .out = out[0], .places = calloc(n + 1, sizeof *w.places)};
    bool *const only_waits = ta_trace_waiting_threads(trace);
    const bool done = w.places && only_waits;
    if (done) {
        const struct ta_spans s = ta_trace_spans(w.trace);
        const struct ta_categories categories = ta_trace_categories(w.trace);
        for (size_t i = 0; i < s.n; i++) {
            const ta_cat cat = s.cat[i];
            if (!ta_class_is_host(categories.at[cat].class))
                continue;
            struct place *place = &w.places[s.name[i]];
            if (!place->row || place->cat != cat) {
                const struct ta_category *category = &ta_trace_categories(w.trace).at[cat];
                place->cat = cat;
                place->row = ta_partial_cached(
                    w.out, &w.rows, (uint64_t)cat << 32 | s.name[i],
                    (const struct ta_key[]){ta_key_text(ta_trace_text(w.trace, category->name)),
                                            ta_key_text(ta_trace_text(w.trace, s.name[i]))});
                place->times = ta_partial_dist(w.out, place->row, FIELD_TIMES);
            }
            ta_sum(&place->row[FIELD_SELF], s.self[i]);
            ta_sum(&place->row[FIELD_WORKING], only_waits[s.track[i]] ? 0 : s.self[i]);
            ta_dist_add(place->times, s.dur[i]);
        }
    }
    free(w.places);
    free(only_waits);
    ta_map_free(&w.rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index names: names=%zu", n);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *names = merged[0];
    int64_t all_ns = 0;
    for (size_t i = 0; i < ta_partial_rows(names); i++)
        ta_sum(&all_ns, ta_partial_at(names, i)[FIELD_WORKING]);

    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        const struct ta_dist *times = ta_partial_dist_at(names, row, FIELD_TIMES);
        TA_ROW(out, by_name, [CATEGORY] = ta_text(ta_partial_text(names, row, FIELD_CATEGORY)),
               [NAME] = ta_text(ta_partial_text(names, row, FIELD_NAME)),
               [CALLS] = ta_int(ta_dist_count(times)), [TOTAL] = ta_int(ta_dist_sum(times)),
               [WORKING] = ta_int(row[FIELD_WORKING]), [SELF] = ta_int(row[FIELD_SELF]),
               [SHARE] = ta_share(row[FIELD_WORKING], all_ns), TA_SPREAD_CELLS(MEAN, times));
    }
    if (ta_partial_rows(names) == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(out, "No host span was recorded: the trace holds no operators.");
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_name, NULL};

static const struct ta_analysis_ops ops = {
    .section = "operators", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, ops_by_name, &ops, .title = "Operators",
          .summary = "Host time by category and name: ops.by_name", .version = "1");
