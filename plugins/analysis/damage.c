/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.damage: times and device work that cannot be trusted, and why.  Damaged times were set
 * aside when the trace was read, before anything was computed: this table says how much that is,
 * and what the sums would be otherwise. */
#include "model/damage.h"
#include "model/lost.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

/* Fields of the partial. */
enum {
    FACT_RANK,
    FACT_SPANS,
    FACT_UNTIMED,
    FACT_ACTIVITIES,
    FACT_KERNELS,
    FACT_OVERLONG,
    FACT_DISORDER,
    FACT_RAW,
    FACT_KEPT,
    FACT_LINKED,
    FACT_CALLS,
    FACT_LOST,
    FACT_GRAPHS,
    FACT_LOST_GRAPHS,
    FACT_LAUNCHED,
    FACT_LOST_KERNELS,
    FACT_HEAD,
    FACT_TAIL,
    FACTS
};

static const struct ta_field fields[FACTS] = {
    [FACT_RANK] = {"rank", TA_FIELD_RANK},
    [FACT_SPANS] = {"spans", TA_FIELD_SUM},
    [FACT_UNTIMED] = {"untimed", TA_FIELD_SUM},
    [FACT_ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [FACT_KERNELS] = {"kernels", TA_FIELD_SUM},
    [FACT_OVERLONG] = {"overlong", TA_FIELD_SUM},
    [FACT_DISORDER] = {"disordered", TA_FIELD_SUM},
    [FACT_RAW] = {"raw_ns", TA_FIELD_SUM},
    [FACT_KEPT] = {"kept_ns", TA_FIELD_SUM},
    [FACT_LINKED] = {"linked", TA_FIELD_SUM},
    [FACT_CALLS] = {"calls", TA_FIELD_SUM},
    [FACT_LOST] = {"lost", TA_FIELD_SUM},
    [FACT_GRAPHS] = {"graphs", TA_FIELD_SUM},
    [FACT_LOST_GRAPHS] = {"lost_graphs", TA_FIELD_SUM},
    [FACT_LAUNCHED] = {"launched", TA_FIELD_SUM},
    [FACT_LOST_KERNELS] = {"lost_kernels", TA_FIELD_SUM},
    [FACT_HEAD] = {"head", TA_FIELD_SUM},
    [FACT_TAIL] = {"tail", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"damage", fields, FACTS}, {0}};

enum { RANK, DAMAGE, COUNT, OF, SHARE, RAW, KEPT, REASON };
static const struct ta_column by_kind_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DAMAGE] =
        {"damage", "Damage", TA_TEXT,
         .doc =
             "no time: spans without a usable time, which are ignored; overlong: device activities "
             "that run past later ones of their stream, and are cut where the next one starts; out "
             "of order: activities that start after work that was launched later on their stream; "
             "kernels lost, graph replays lost: launches without a recorded kernel"},
    [COUNT] = {"count", "Count", TA_COUNT, .better = TA_LOWER,
               .doc = "Number of damaged spans, activities, launches or graph replays"},
    [OF] = {"of", "Of all", TA_COUNT,
            .doc = "Number of all spans, activities, launches or graph replays, damaged or not"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc =
                   "Count divided by all; for lost kernels the share of kernels that are missing, "
                   "where a lost graph replay counts as many as its other replays have"},
    [RAW] = {"raw_ns", "As recorded", TA_NS,
             .doc = "Sum of the durations of all device activities as recorded; only for overlong"},
    [KEPT] = {"kept_ns", "As used", TA_NS,
              .doc = "Sum of the durations of all device activities after the overlong ones were "
                     "cut; only for overlong"},
    [REASON] = {"reason", "Reason", TA_SENTENCE,
                .doc = "Why the program considers them damaged or lost"},
};

static const struct ta_table_def by_kind = {
    "health.damage", "Damage in the recording", TA_COLUMNS(by_kind_columns),
    .doc = "One row per rank and kind of damage; no rows if the recording is sound. Damaged times "
           "are set aside before anything is computed. Idle time over lost or disordered work is "
           "`kernels not recorded` or `out of order` in `gpu_idle.by_cause`, and never a finding.",
    .tier = TA_TIER_DETAIL};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_damage *damage = ta_trace_damage(trace);
    const struct ta_lost *lost = ta_trace_lost(trace);
    if (!lost)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the launches of a trace");
    if (damage->untimed + damage->n_overlong + damage->n_disordered == 0 && lost->n == 0)
        return TA_OK; /* as in nearly all traces */
    int64_t kernels = 0, linked = 0;
    for (size_t i = 0; i < activities.n; i++) {
        kernels += activities.at[i].kernel != TA_NO_KERNEL;
        linked += activities.at[i].launch != TA_NO_ROW;
    }
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    ta_sum(&row[FACT_SPANS], damage->spans);
    ta_sum(&row[FACT_UNTIMED], damage->untimed);
    ta_sum(&row[FACT_ACTIVITIES], (int64_t)activities.n);
    ta_sum(&row[FACT_KERNELS], kernels);
    ta_sum(&row[FACT_OVERLONG], damage->n_overlong);
    ta_sum(&row[FACT_DISORDER], damage->n_disordered);
    ta_sum(&row[FACT_RAW], damage->raw_ns);
    ta_sum(&row[FACT_KEPT], damage->kept_ns);
    ta_sum(&row[FACT_LINKED], linked);
    ta_sum(&row[FACT_CALLS], lost->calls);
    ta_sum(&row[FACT_LOST], (int64_t)lost->n);
    ta_sum(&row[FACT_GRAPHS], lost->graphs);
    ta_sum(&row[FACT_LOST_GRAPHS], lost->lost_graphs);
    ta_sum(&row[FACT_LAUNCHED], lost->kernels);
    ta_sum(&row[FACT_LOST_KERNELS], lost->lost_kernels);
    ta_sum(&row[FACT_HEAD], lost->head);
    ta_sum(&row[FACT_TAIL], lost->tail);
    return TA_OK;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static const char untimed_reason[] =
    "the profiler wrote a start and a duration of 0, or a timestamp long before all others";
static const char overlong_reason[] =
    "the ends of these activities are wrong: a stream runs one activity after the other";
static const char disorder_reason[] =
    "the start of one of the two is wrong: a stream keeps the order of launches";

/* Why kernels are missing, judged by which launches lack theirs. */
static const char *lost_reason(const int64_t *row)
{
    const int64_t lost = row[FACT_LOST];
    return row[FACT_UNTIMED] > 0    ? "their kernels may be among the spans without a time"
           : row[FACT_KERNELS] == 0 ? "no kernel was recorded: only copies were requested"
           : row[FACT_LOST_GRAPHS] * 2 > lost ? "kernels of graph replays were not recorded"
           : row[FACT_TAIL] * 10 > lost * 9
               ? "nothing was recorded from some point on: the buffers of the profiler were full"
           : row[FACT_HEAD] * 10 > lost * 9
               ? "the recording of the device began after they were launched"
               : "they lie between launches whose kernels were recorded";
}

static void add_row(struct ta_section_builder *out, const int64_t *row, const char *damage,
                    int64_t count, int64_t of, double share, const char *reason)
{
    const bool is_cut = count > 0 && count == row[FACT_OVERLONG] && reason == overlong_reason;
    if (count <= 0)
        return;
    TA_ROW(out, by_kind, [RANK] = ta_int(row[FACT_RANK]), [DAMAGE] = ta_text(ta_slice_of(damage)),
           [COUNT] = ta_int(count), [OF] = ta_int(of), [SHARE] = ta_num(share),
           [RAW] = is_cut ? ta_int(row[FACT_RAW]) : ta_null(),
           [KEPT] = is_cut ? ta_int(row[FACT_KEPT]) : ta_null(),
           [REASON] = ta_text(ta_slice_of(reason)));
}

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        const bool are_graphs = row[FACT_LOST_GRAPHS] * 2 > row[FACT_LOST];
        add_row(out, row, "no time", row[FACT_UNTIMED], row[FACT_SPANS],
                ratio(row[FACT_UNTIMED], row[FACT_SPANS]), untimed_reason);
        add_row(out, row, "overlong", row[FACT_OVERLONG], row[FACT_ACTIVITIES],
                ratio(row[FACT_OVERLONG], row[FACT_ACTIVITIES]), overlong_reason);
        add_row(out, row, "out of order", row[FACT_DISORDER], row[FACT_LINKED],
                ratio(row[FACT_DISORDER], row[FACT_LINKED]), disorder_reason);
        add_row(out, row, are_graphs ? "graph replays lost" : "kernels lost",
                are_graphs ? row[FACT_LOST_GRAPHS] : row[FACT_LOST],
                are_graphs ? row[FACT_GRAPHS] : row[FACT_CALLS],
                ratio(row[FACT_LOST_KERNELS], row[FACT_LAUNCHED]), lost_reason(row));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_kind, NULL};

static const struct ta_analysis_ops ops = {
    .section = "health", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(
    analysis, damage, &ops, .title = "Damage in the recording",
    .summary = "Times and device work in the trace that are damaged or missing: health.damage",
    .version = "1");
