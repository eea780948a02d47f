/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.overhead: what recording itself cost the host, as far as the spans show.
 *
 * A profiler takes its time within the program that it records: for each operator, each call of
 * the runtime, and far more where it also walks Python stacks, writes down shapes, or follows
 * memory.  How much is in no trace, so it is estimated from how many spans of each kind there are
 * and what one costs, as measured on two hosts: torch 2.11 with an H200, and torch 2.9 with an
 * MI300X, where Python stacks cost 0.85 and 2 µs a call.  Half and twice the estimate are its
 * bounds.  Rules about the host give no saving that it explains (src/recommend/recommend.c). */
#include "model/extent.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>

enum part { PART_STACKS, PART_SHAPES, PART_MEMORY, PART_SPANS, PART_CALLS, PARTS };

/* ns for one of them, and whether it is an option of the profiler. */
static const struct {
    const char *name, *what;
    double ns;
    bool is_option;
} parts[PARTS] = {
    [PART_STACKS] = {"Python stacks", "calls of Python functions (with_stack)", 1300, true},
    [PART_SHAPES] = {"shapes of inputs", "operators with shapes (record_shapes)", 800, true},
    [PART_MEMORY] = {"memory", "allocations (profile_memory)", 100, true},
    [PART_SPANS] = {"operators", "operators", 1600, false},
    [PART_CALLS] = {"calls of the runtime", "calls of the runtime, and what they launch", 4000,
                    false},
};

static const double LEAST = 0.5, MOST = 2;

/* Fields of the partial: counts of the parts come after these. */
enum { FACT_RANK, FACT_HOST, FACT_COUNTS, FACTS = FACT_COUNTS + PARTS };

static const struct ta_field fields[FACTS] = {
    [FACT_RANK] = {"rank", TA_FIELD_RANK},
    [FACT_HOST] = {"host_ns", TA_FIELD_SUM},
    [FACT_COUNTS + PART_STACKS] = {"python_calls", TA_FIELD_SUM},
    [FACT_COUNTS + PART_SHAPES] = {"shaped", TA_FIELD_SUM},
    [FACT_COUNTS + PART_MEMORY] = {"allocations", TA_FIELD_SUM},
    [FACT_COUNTS + PART_SPANS] = {"operators", TA_FIELD_SUM},
    [FACT_COUNTS + PART_CALLS] = {"calls", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"counts", fields, FACTS}, {0}};

enum { RANK, PART, COUNT, COST, LOW, HIGH, SHARE, OPTION, WHAT };
static const struct ta_column by_part_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [PART] = {"part", "Part", TA_TEXT, .doc = "What the profiler recorded"},
    [COUNT] = {"count", "Count", TA_COUNT, .doc = "How many of them"},
    [COST] = {"cost_ns", "Estimate", TA_NS, .better = TA_LOWER,
              .doc = "What recording them took of the host's time, by what one of them took where "
                     "it was measured"},
    [LOW] = {"low_ns", "At least", TA_NS, .better = TA_LOWER, .doc = "Half of it"},
    [HIGH] = {"high_ns", "At most", TA_NS, .better = TA_LOWER, .doc = "Twice as much"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "The estimate over the extent of the host's spans"},
    [OPTION] = {"is_option", "Option", TA_FLAG,
                .doc = "Whether the profiler records without it, too"},
    [WHAT] = {"what", "What", TA_SENTENCE, .doc = "What is counted"},
};

static const struct ta_table_def by_part = {
    "recording.overhead", "Estimated cost of recording", TA_COLUMNS(by_part_columns),
    .doc =
        "One row per rank and kind of spans, where Python stacks, shapes or memory were "
        "recorded. Scalar `recorder_cost_ns`: the estimate of all of them, of a rank on average; "
        "findings about the host give no saving that it explains.",
    .tier = TA_TIER_DETAIL};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_kind_counts kinds = ta_trace_kind_counts(trace);
    const struct ta_extent *extents = ta_trace_extents(trace);
    struct ta_extent host = TA_EXTENT_EMPTY;
    int64_t counts[PARTS] = {0};
    if (!extents)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the extent of a trace");
    for (size_t c = 0; c < categories.n; c++) {
        const struct ta_slice name = ta_trace_text(trace, categories.at[c].name);
        const enum ta_event_class class = categories.at[c].class;
        const int64_t n = (int64_t)extents[c].n;
        if (ta_class_is_host(class))
            host = ta_extent_join(host, extents[c]);
        counts[PART_STACKS] += ta_slice_equal(name, TA_LIT("python_function")) ? n : 0;
        counts[PART_SPANS] += class == TA_CLASS_OP ? n : 0;
        counts[PART_CALLS] += class == TA_CLASS_RUNTIME ? n : 0;
    }
    for (size_t i = 0; i < kinds.n; i++)
        if (kinds.at[i].phase == 'i' &&
            ta_slice_equal(ta_trace_text(trace, categories.at[kinds.at[i].cat].name),
                           TA_LIT("cpu_instant_event")))
            counts[PART_MEMORY] += kinds.at[i].count;
    if (ta_trace_args(trace, "Input Dims").n)
        counts[PART_SHAPES] = counts[PART_SPANS];
    if (host.n == 0)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    ta_sum(&row[FACT_HOST], host.end - host.start);
    for (size_t i = 0; i < PARTS; i++)
        ta_sum(&row[FACT_COUNTS + i], counts[i]);
    return TA_OK;
}

static const struct ta_scalar_def recorder_cost = {
    "recorder_cost_ns",
    "Cost of recording",
    TA_UNIT_NS,
    TA_LOWER,
    .doc =
        "Estimate of what recording stacks, shapes or memory, and all else with them, took of the "
        "host of a rank, on average; none where none of these was recorded",
    .read_as = TA_AS_RECORDER_COST};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    double all = 0;
    const size_t n = ta_partial_rows(merged[0]);
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        const int64_t host = row[FACT_HOST];
        bool has_options = false;
        for (size_t p = 0; p < PARTS; p++)
            has_options |= parts[p].is_option && row[FACT_COUNTS + p] > 0;
        for (size_t p = 0; p < PARTS && has_options; p++) {
            const double ns = (double)row[FACT_COUNTS + p] * parts[p].ns;
            const double most = (double)host;
            if (ns <= 0)
                continue;
            all += fmin(ns, most);
            TA_ROW(
                out, by_part, [RANK] = ta_int(row[FACT_RANK]),
                [PART] = ta_text(ta_slice_of(parts[p].name)),
                [COUNT] = ta_int(row[FACT_COUNTS + p]), [COST] = ta_int(ta_whole(fmin(ns, most))),
                [LOW] = ta_int(ta_whole(fmin(LEAST * ns, most))),
                [HIGH] = ta_int(ta_whole(fmin(MOST * ns, most))),
                [SHARE] = host > 0 ? ta_num(fmin(ns, most) / most) : ta_null(),
                [OPTION] = ta_bool(parts[p].is_option),
                [WHAT] = ta_text(ta_slice_of(parts[p].what)));
        }
    }
    if (all > 0)
        ta_set_scalar(out, &recorder_cost, ta_int(ta_whole(all / (double)n)));
    return TA_OK;
}

static const char *const samples_op_args[] = {"Input Dims", NULL};

static const struct ta_table_def *const tables[] = {&by_part, NULL};

static const struct ta_analysis_ops ops = {.samples_op_args = samples_op_args,
                                           .section = "health",
                                           .scalars = &recorder_cost,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, recording_overhead, &ops, .title = "Cost of recording",
          .summary = "What stacks, shapes and memory cost the host: recording.overhead",
          .version = "1");
