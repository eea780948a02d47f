/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compile.by_rank, compile.between: how much of the device work was compiled (torch.compile),
 * into how many pieces, how often it was recompiled, and what the host does between the pieces.
 *
 * A graph break splits a function: the rest of it becomes a function of its own, whose region
 * lies within the first one.  Between the pieces the host checks guards and runs the bytecode
 * that torch generated and the operators that broke the graph. */
#include "base/vec.h"
#include "lib/regions.h"
#include "model/busy.h"
#include "model/named.h"
#include "model/program/steps.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum {
    RANK,
    KERNEL_NS,
    TRITON_NS,
    REGION_NS,
    CALLS,
    INSIDE_STEPS,
    STEPS,
    BREAKS,
    LOOKUP_NS,
    BETWEEN_NS,
    IDLE_NS,
    FIELDS
};
enum { REGION_RANK, FRAME, CODE, REGION_CALLS, REGION_FIELDS };
enum { OP_NAME, OP_CALLS, OP_NS, OP_FIELDS };
enum { PARTIAL_RANKS, PARTIAL_REGIONS, PARTIAL_OPERATORS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [KERNEL_NS] = {"kernel_ns", TA_FIELD_SUM},
    [TRITON_NS] = {"triton_ns", TA_FIELD_SUM}, [REGION_NS] = {"region_ns", TA_FIELD_SUM},
    [CALLS] = {"calls", TA_FIELD_SUM},         [INSIDE_STEPS] = {"inside", TA_FIELD_SUM},
    [STEPS] = {"steps", TA_FIELD_SUM},         [BREAKS] = {"breaks", TA_FIELD_SUM},
    [LOOKUP_NS] = {"lookup_ns", TA_FIELD_SUM}, [BETWEEN_NS] = {"between_ns", TA_FIELD_SUM},
    [IDLE_NS] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_field region_fields[REGION_FIELDS] = {
    [REGION_RANK] = {"rank", TA_FIELD_RANK},
    [FRAME] = {"frame", TA_FIELD_INT},
    [CODE] = {"code", TA_FIELD_INT},
    [REGION_CALLS] = {"calls", TA_FIELD_SUM},
};

static const struct ta_field operator_fields[OP_FIELDS] = {
    [OP_NAME] = {"op", TA_FIELD_TEXT},
    [OP_CALLS] = {"calls", TA_FIELD_SUM},
    [OP_NS] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_RANKS] = {"ranks", fields, FIELDS},
    [PARTIAL_REGIONS] = {"regions", region_fields, REGION_FIELDS},
    [PARTIAL_OPERATORS] = {"operators", operator_fields, OP_FIELDS},
    {0}};

enum {
    BY_RANK_RANK,
    BY_RANK_KERNEL,
    BY_RANK_TRITON,
    BY_RANK_TRITON_SHARE,
    BY_RANK_REGION,
    BY_RANK_REGION_SHARE,
    BY_RANK_CALLS,
    BY_RANK_FRAMES,
    BY_RANK_PER_STEP,
    BY_RANK_RECOMPILED,
    BY_RANK_BREAKS,
    BY_RANK_LOOKUP,
    BY_RANK_BETWEEN,
    BY_RANK_IDLE
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_KERNEL] = {"kernel_ns", "Kernels", TA_NS,
                        .doc = "Sum of the durations of all kernels"},
    [BY_RANK_TRITON] = {"triton_ns", "Triton", TA_NS,
                        .doc =
                            "Sum of the durations of Triton kernels, which the compiler generated"},
    [BY_RANK_TRITON_SHARE] = {"triton_share", "Triton %", TA_RATIO, .weight = 0.2,
                              .doc = "Triton kernel time divided by the time of all kernels"},
    [BY_RANK_REGION] = {"region_ns", "Compiled regions", TA_NS,
                        .doc = "Time of the kernels launched inside compiled regions, including "
                               "library kernels; empty if there are no regions"},
    [BY_RANK_REGION_SHARE] =
        {"region_share", "Compiled %", TA_RATIO, .better = TA_HIGHER, .weight = 0.1,
         .doc = "Kernel time inside compiled regions divided by the time of all kernels"},
    [BY_RANK_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Calls of compiled regions"},
    [BY_RANK_FRAMES] =
        {"frames", "Frames", TA_COUNT, .better = TA_LOWER,
         .doc = "Distinct compiled frames: a function, or the rest of one after a graph break"},
    [BY_RANK_PER_STEP] = {"per_step", "Calls per step", TA_NUMBER, .better = TA_LOWER,
                          .doc = "Calls of compiled regions per marked step, 1 if there are no "
                                 "graph breaks; empty without step markers"},
    [BY_RANK_RECOMPILED] =
        {"recompiled", "Recompilations", TA_COUNT, .better = TA_LOWER, .weight = 0.5,
         .doc = "Highest recompilation number of each frame, summed over all frames",
         .read_as = TA_AS_RECOMPILED},
    [BY_RANK_BREAKS] = {"breaks", "Graph breaks", TA_COUNT, .better = TA_LOWER,
                        .doc = "Calls of compiled regions inside another region (the code after a "
                               "graph break), or after a region of another frame in the same step; "
                               "without step markers, within 2 ms of it"},
    [BY_RANK_LOOKUP] = {"lookup_ns", "Cache lookups", TA_NS, .better = TA_LOWER,
                        .doc = "Time spent checking guards to find the compiled code"},
    [BY_RANK_BETWEEN] = {"between_ns", "Between graphs", TA_NS, .better = TA_LOWER,
                         .doc = "Host time from the first compiled region of a step to the end of "
                                "the last, outside compiled graphs and compilation; without step "
                                "markers, regions at most 2 ms apart count as one step"},
    [BY_RANK_IDLE] =
        {"between_idle_ns", "GPU idle between", TA_NS, .better = TA_LOWER,
         .doc = "Part of the time between graphs in which no device of the rank had work"},
};

static const struct ta_table_def by_rank = {
    "compile.by_rank",
    "Compiled share by rank",
    TA_COLUMNS(by_rank_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank with compiled regions or Triton kernels.",
    .rank_words = "Compiled code"};

enum { BETWEEN_OP, BETWEEN_CALLS, BETWEEN_TOTAL };
static const struct ta_column between_columns[] = {
    [BETWEEN_OP] = {"op", "Operator", TA_TEXT, .doc = "Name of the operator"},
    [BETWEEN_CALLS] =
        {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
         .doc = "Calls of the operator between compiled graphs, outside other operators"},
    [BETWEEN_TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER,
                       .doc = "Host time of these calls"},
};

static const struct ta_table_def between = {
    "compile.between",
    "Operators between compiled graphs",
    TA_COLUMNS(between_columns),
    .doc = "One row per operator that runs outside compiled graphs within the time that "
           "`between_ns` of `compile.by_rank` measures, all ranks.",
    .tier = TA_TIER_DETAIL,
    .order = {&between_columns[BETWEEN_TOTAL], TA_DESCENDING}};

/* ---- map ----------------------------------------------------------------------------------- */

enum word { ELSE, REGION, LOOKUP, GRAPH, GLUE };

/* The first match counts. */
static uint8_t word_of(struct ta_slice name)
{
    static const struct {
        const char *start;
        enum word word;
    } words[] = {
        {TA_REGION_MARK, REGION},           {"TorchDynamo Cache Lookup", LOOKUP},
        {"## Call CompiledFxGraph", GRAPH}, {"CompiledFunction", GRAPH},
        {"Pregraph bytecode", GLUE},        {"AOTDispatcher Runtime Wrapper", GLUE},
    };
    for (size_t i = 0; i < TA_LENGTH(words); i++)
        if (ta_slice_starts(name, words[i].start))
            return (uint8_t)words[i].word;
    return ELSE;
}

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_partial *regions, *operators;
    int64_t *row;
    const struct ta_program_steps *steps;
    const struct ta_intervals *busy;
    bool has_regions;
    uint8_t *words; /* by string: 1 + enum word, 0 when not looked at; NULL without regions */
    bool *inside;   /* by span: in a region; NULL without regions */
    bool *in_op;    /* by span: in an operator that is not, and is not part of, a compiled region */
    uint32_t track; /* of the last outermost region: its track, step and frame */
    size_t step;
    int64_t frame;
    struct ta_intervals stretches; /* from the first region of a step to its last, per thread */
    struct ta_intervals graphs;    /* compiled graphs, and compilation */
    TA_VEC(ta_row) operators_at;   /* outermost operators */
};

static inline enum word word_at(struct work *w, size_t span)
{
    uint8_t *word = &w->words[w->spans.name[span]];
    if (*word == 0)
        *word = (uint8_t)(1 + word_of(ta_trace_text(w->trace, w->spans.name[span])));
    return (enum word)(*word - 1);
}

/* Without step markers, regions at most this far apart belong to one call of the program. */
enum { NEAR_NS = 2000000 };

static void take_region(struct work *w, size_t i, bool is_nested)
{
    const struct ta_spans *s = &w->spans;
    const struct ta_region_id id = ta_region_id(ta_trace_text(w->trace, s->name[i]));
    int64_t *row = TA_PARTIAL_ROW(w->regions, ta_key_int(ta_trace_rank(w->trace)),
                                  ta_key_int(id.frame), ta_key_int(id.code));
    const size_t step = ta_program_step_at(w->steps, s->ts[i]);
    ta_sum(&row[REGION_CALLS], 1);
    ta_sum(&w->row[CALLS], 1);
    ta_sum(&w->row[INSIDE_STEPS], step != SIZE_MAX);
    struct ta_intervals *all = &w->stretches;
    const bool is_next = all->n && s->track[i] == w->track &&
                         (w->steps->n ? step != SIZE_MAX && step == w->step
                                      : s->ts[i] - all->at[all->n - 1].end < NEAR_NS);
    ta_sum(&w->row[BREAKS], is_nested || (is_next && id.frame != w->frame));
    if (is_nested)
        return;
    if (is_next)
        all->at[all->n - 1].end = ta_max_i64(all->at[all->n - 1].end, s->ts[i] + s->dur[i]);
    else
        ta_intervals_add(all, s->ts[i], s->ts[i] + s->dur[i]);
    w->step = step;
    w->track = s->track[i];
    w->frame = id.frame;
}

/* Marks what each span is in; parents come before their children, so one pass is enough.  False
 * without memory. */
static bool mark_spans(struct work *w)
{
    const struct ta_spans *s = &w->spans;
    w->words = calloc(ta_trace_string_count(w->trace) + 1, 1);
    w->inside = calloc(s->n + 1, sizeof *w->inside);
    w->in_op = calloc(s->n + 1, sizeof *w->in_op);
    bool done = w->words && w->inside && w->in_op;
    for (size_t i = 0; done && i < s->n; i++) {
        const enum ta_event_class class = w->categories.at[s->cat[i]].class;
        if (!ta_class_is_host(class))
            continue;
        if (s->parent[i] != TA_NO_ROW && s->parent[i] < i) {
            w->inside[i] = w->inside[s->parent[i]];
            w->in_op[i] = w->in_op[s->parent[i]];
        }
        const enum word word = word_at(w, i);
        if (word == REGION) {
            take_region(w, i, w->inside[i]);
            w->inside[i] = true;
        } else if (word == LOOKUP) {
            ta_sum(&w->row[LOOKUP_NS], s->dur[i]);
        } else if (word == GRAPH) {
            ta_intervals_add(&w->graphs, s->ts[i], s->ts[i] + s->dur[i]);
        } else if (word == ELSE && class == TA_CLASS_OP && !w->in_op[i]) {
            w->in_op[i] = true;
            done = ta_vec_push(&w->operators_at, (ta_row)i);
        }
    }
    for (ta_row row = 0; done && (row = ta_host_next(s, row, TA_HOST_COMPILE)) < s->n; row++)
        ta_intervals_add(&w->graphs, s->ts[row], s->ts[row] + s->dur[row]);
    return done;
}

/* What the host does between compiled graphs.  False without memory. */
static bool add_between(struct work *w)
{
    const struct ta_spans *s = &w->spans;
    struct ta_intervals pieces = {0};
    ta_intervals_unite(&w->stretches);
    ta_intervals_unite(&w->graphs);
    ta_intervals_subtract(&w->stretches, &w->graphs, &pieces);
    int64_t idle = 0;
    for (size_t i = 0; i < pieces.n; i++)
        idle += ta_intervals_gaps(w->busy, pieces.at[i].start, pieces.at[i].end);
    ta_sum(&w->row[BETWEEN_NS], ta_intervals_length(&pieces));
    ta_sum(&w->row[IDLE_NS], idle);
    size_t near = 0;
    for (size_t i = 0; i < w->operators_at.n; i++) {
        const ta_row row = w->operators_at.at[i];
        if (ta_intervals_within_near(&pieces, s->ts[row], s->ts[row] + 1, &near) == 0)
            continue;
        int64_t *op =
            TA_PARTIAL_ROW(w->operators, ta_key_text(ta_trace_text(w->trace, s->name[row])));
        ta_sum(&op[OP_CALLS], 1);
        ta_sum(&op[OP_NS], s->dur[row]);
    }
    const bool done = !pieces.failed && !w->stretches.failed && !w->graphs.failed;
    ta_intervals_free(&pieces);
    return done;
}

static uint8_t region_of(struct ta_slice name)
{
    return ta_slice_starts(name, TA_REGION_MARK);
}

static void look_at(void *user, ta_row row, uint8_t word)
{
    struct work *w = user;
    (void)word;
    w->has_regions |= ta_class_is_host(w->categories.at[w->spans.cat[row]].class);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .regions = out[PARTIAL_REGIONS],
                     .operators = out[PARTIAL_OPERATORS],
                     .row = TA_PARTIAL_ROW(out[PARTIAL_RANKS], ta_key_int(ta_trace_rank(trace))),
                     .busy = ta_trace_busy(trace),
                     .steps = ta_program_steps(trace)};
    const bool done = w.steps && w.busy && ta_each_named(trace, region_of, look_at, &w) &&
                      (!w.has_regions || (mark_spans(&w) && add_between(&w)));
    if (done) {
        if (w.steps->n)
            ta_sum(&w.row[STEPS], (int64_t)w.steps->n);
        const struct ta_activities activities = ta_trace_activities(w.trace);
        const struct ta_kernels kernels = ta_trace_kernels(w.trace);
        int64_t all = TA_MISSING, triton = TA_MISSING, in_regions = TA_MISSING;
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            if (a->kernel == TA_NO_KERNEL)
                continue;
            const int64_t dur = w.spans.dur[a->span];
            ta_sum(&all, dur);
            if (kernels.at[a->kernel].facts.kind == TA_KERNEL_TRITON)
                ta_sum(&triton, dur);
            if (w.inside && a->launch != TA_NO_ROW && w.inside[a->launch])
                ta_sum(&in_regions, dur);
        }
        ta_sum(&w.row[KERNEL_NS], all);
        ta_sum(&w.row[TRITON_NS], triton);
        ta_sum(&w.row[REGION_NS], in_regions);
    }
    free(w.words);
    free(w.inside);
    free(w.in_op);
    free(w.operators_at.at);
    ta_intervals_free(&w.stretches);
    ta_intervals_free(&w.graphs);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot mark compiled regions");
}

/* ---- table --------------------------------------------------------------------------------- */

/* Counts the frames of a rank and their recompilations; rows are ordered by rank, frame and
 * code, so the last code of a frame is the largest. */
static void count_frames(const struct ta_partial *regions, int64_t rank, int64_t *frames,
                         int64_t *recompiled)
{
    const int64_t *last = NULL;
    *frames = *recompiled = 0;
    for (size_t i = 0; i <= ta_partial_rows(regions); i++) {
        const int64_t *row = i < ta_partial_rows(regions) ? ta_partial_at(regions, i) : NULL;
        if (row && (row[REGION_RANK] != rank || row[FRAME] == TA_MISSING))
            continue;
        if (last && (!row || row[FRAME] != last[FRAME])) {
            ++*frames;
            *recompiled += last[CODE] == TA_MISSING ? 0 : last[CODE];
        }
        last = row;
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;

    for (size_t i = 0; i < ta_partial_rows(merged[PARTIAL_RANKS]); i++) {
        const int64_t *row = ta_partial_at(merged[PARTIAL_RANKS], i);
        int64_t frames, recompiled;
        count_frames(merged[PARTIAL_REGIONS], row[RANK], &frames, &recompiled);
        const bool called = row[CALLS] != TA_MISSING;
        if (!called && row[TRITON_NS] == TA_MISSING)
            continue; /* no region was called */
        const int64_t inside = called && row[REGION_NS] == TA_MISSING ? 0 : row[REGION_NS];
        const int64_t triton = row[TRITON_NS] == TA_MISSING ? 0 : row[TRITON_NS];
        TA_ROW(out, by_rank, [BY_RANK_RANK] = ta_int(row[RANK]),
               [BY_RANK_KERNEL] = ta_int(row[KERNEL_NS]), [BY_RANK_TRITON] = ta_int(triton),
               [BY_RANK_TRITON_SHARE] = ta_share(triton, row[KERNEL_NS]),
               [BY_RANK_REGION] = ta_int(inside),
               [BY_RANK_REGION_SHARE] = ta_share(inside, row[KERNEL_NS]),
               [BY_RANK_CALLS] = ta_int(row[CALLS]),
               [BY_RANK_FRAMES] = frames ? ta_int(frames) : ta_null(),
               [BY_RANK_PER_STEP] = called ? ta_share(row[INSIDE_STEPS], row[STEPS]) : ta_null(),
               [BY_RANK_RECOMPILED] = frames ? ta_int(recompiled) : ta_null(),
               [BY_RANK_BREAKS] = ta_int(row[BREAKS]), [BY_RANK_LOOKUP] = ta_int(row[LOOKUP_NS]),
               [BY_RANK_BETWEEN] = ta_int(row[BETWEEN_NS]), [BY_RANK_IDLE] = ta_int(row[IDLE_NS]));
    }
    const struct ta_partial *operators = merged[PARTIAL_OPERATORS];
    for (size_t i = 0; i < ta_partial_rows(operators); i++) {
        const int64_t *row = ta_partial_at(operators, i);
        TA_ROW(out, between, [BETWEEN_OP] = ta_text(ta_partial_text(operators, row, OP_NAME)),
               [BETWEEN_CALLS] = ta_int(row[OP_CALLS]), [BETWEEN_TOTAL] = ta_int(row[OP_NS]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank, &between, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "kernels",
                                           .place = 7,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, compiled, &ops, .title = "Compiled share by rank",
          .summary = "Device work from torch.compile, graph breaks and recompilation: "
                     "compile.by_rank, compile.between",
          .version = "1");
