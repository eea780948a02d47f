/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compile.by_rank: how much of the device work was compiled (torch.compile), into how many pieces,
 * and how often it was compiled again.
 *
 * PyTorch marks each call of compiled code by "Torch-Compiled Region: F/C": F numbers the frames
 * (a graph break makes a further one), C counts how often the frame was compiled before. */
#include "model/named.h"
#include "model/program/steps.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, KERNEL_NS, TRITON_NS, REGION_NS, CALLS, INSIDE_STEPS, STEPS, FIELDS };
enum { REGION_RANK, FRAME, CODE, REGION_CALLS, REGION_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [KERNEL_NS] = {"kernel_ns", TA_FIELD_SUM},
    [TRITON_NS] = {"triton_ns", TA_FIELD_SUM}, [REGION_NS] = {"region_ns", TA_FIELD_SUM},
    [CALLS] = {"calls", TA_FIELD_SUM},         [INSIDE_STEPS] = {"inside", TA_FIELD_SUM},
    [STEPS] = {"steps", TA_FIELD_SUM},
};

static const struct ta_field region_fields[REGION_FIELDS] = {
    [REGION_RANK] = {"rank", TA_FIELD_RANK},
    [FRAME] = {"frame", TA_FIELD_INT},
    [CODE] = {"code", TA_FIELD_INT},
    [REGION_CALLS] = {"calls", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    {"ranks", fields, FIELDS}, {"regions", region_fields, REGION_FIELDS}, {0}};

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
    BY_RANK_RECOMPILED
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_KERNEL] = {"kernel_ns", "Kernels", TA_NS,
                        .doc = "Sum of the durations of all kernels"},
    [BY_RANK_TRITON] = {"triton_ns", "Triton", TA_NS,
                        .doc = "Of those of class triton: made by the compiler"},
    [BY_RANK_TRITON_SHARE] = {"triton_share", "Triton %", TA_RATIO, .weight = 0.2,
                              .doc = "Triton over kernels"},
    [BY_RANK_REGION] = {"region_ns", "Compiled regions", TA_NS,
                        .doc = "Kernels launched inside compiled regions, library kernels "
                               "included; none without regions"},
    [BY_RANK_REGION_SHARE] = {"region_share", "Compiled %", TA_RATIO, .better = TA_HIGHER,
                              .weight = 0.1, .doc = "Compiled regions over kernels"},
    [BY_RANK_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Calls of compiled regions"},
    [BY_RANK_FRAMES] =
        {"frames", "Frames", TA_COUNT, .better = TA_LOWER,
         .doc = "Distinct compiled frames: functions, and what follows each graph break"},
    [BY_RANK_PER_STEP] = {"per_step", "Calls per step", TA_NUMBER, .better = TA_LOWER,
                          .doc = "Calls of compiled regions per marked step: 1 without graph "
                                 "breaks; none without markers"},
    [BY_RANK_RECOMPILED] =
        {"recompiled", "Recompiled", TA_COUNT, .better = TA_LOWER, .weight = 0.5,
         .doc = "Largest number of times a frame had been compiled again, added over frames"},
};

static const struct ta_table_def by_rank = {
    "compile.by_rank", "Compiled share", TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank with compiled regions or kernels made by Triton.",
    .rank_words = "Compiled code"};

/* ---- names --------------------------------------------------------------------------------- */

enum word { ELSE, REGION };

struct word_of_name {
    enum word word;
    int64_t frame, code;
};

static bool read_number(struct ta_slice *text, int64_t *number)
{
    size_t n = 0;
    *number = 0;
    while (n < text->len && n < 9 && text->ptr[n] >= '0' && text->ptr[n] <= '9')
        *number = *number * 10 + (text->ptr[n++] - '0');
    *text = ta_slice_from(*text, n);
    return n > 0;
}

static struct word_of_name read_name(struct ta_slice name)
{
    struct word_of_name read = {.word = ELSE, .frame = TA_MISSING, .code = TA_MISSING};
    if (!ta_slice_starts(name, "Torch-Compiled Region"))
        return read;
    read.word = REGION;
    struct ta_slice rest = ta_slice_from(name, 21);
    if (!ta_slice_starts(rest, ": "))
        return read;
    rest = ta_slice_from(rest, 2);
    if (!read_number(&rest, &read.frame) || !ta_slice_starts(rest, "/"))
        read.frame = TA_MISSING;
    rest = ta_slice_from(rest, rest.len > 0);
    if (read.frame == TA_MISSING || !read_number(&rest, &read.code))
        read.code = TA_MISSING;
    return read;
}

/* ---- map ----------------------------------------------------------------------------------- */

static uint8_t word_of(struct ta_slice name)
{
    return (uint8_t)read_name(name).word;
}

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_partial *regions;
    int64_t *row;
    const struct ta_program_steps *steps;
    bool has_regions;
    uint8_t *words; /* by string: 1 + enum word, 0 when not looked at; NULL without regions */
    bool *inside;   /* by span: in a region; NULL without regions */
};

static inline enum word word_at(struct work *w, size_t span)
{
    uint8_t *word = &w->words[w->spans.name[span]];
    if (*word == 0)
        *word = (uint8_t)(1 + word_of(ta_trace_text(w->trace, w->spans.name[span])));
    return (enum word)(*word - 1);
}

/* Parents come before their children, so one pass hands down what they are in.  False without
 * memory. */
static bool mark_spans(struct work *w)
{
    const struct ta_spans *s = &w->spans;
    w->words = calloc(ta_trace_string_count(w->trace) + 1, 1);
    w->inside = calloc(s->n + 1, sizeof *w->inside);
    if (!w->words || !w->inside)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (!ta_class_is_host(w->categories.at[s->cat[i]].class))
            continue;
        if (s->parent[i] != TA_NO_ROW && s->parent[i] < i)
            w->inside[i] = w->inside[s->parent[i]];
        if (word_at(w, i) == REGION) {
            if (w->inside[i])
                continue;
            w->inside[i] = true;
            const struct word_of_name read = read_name(ta_trace_text(w->trace, w->spans.name[i]));
            int64_t *row = TA_PARTIAL_ROW(w->regions, ta_key_int(ta_trace_rank(w->trace)),
                                          ta_key_int(read.frame), ta_key_int(read.code));
            ta_sum(&row[REGION_CALLS], 1);
            ta_sum(&w->row[CALLS], 1);
            ta_sum(&w->row[INSIDE_STEPS], ta_program_step_at(w->steps, s->ts[i]) != SIZE_MAX);
        }
    }
    return true;
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
                     .regions = out[1],
                     .row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace))),
                     .steps = ta_program_steps(trace)};
    const bool done =
        w.steps && ta_each_named(trace, word_of, look_at, &w) && (!w.has_regions || mark_spans(&w));
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
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot mark compiled regions");
}

/* ---- table --------------------------------------------------------------------------------- */

/* Frames of a rank, and how often they were compiled again; rows are ordered by rank, frame and
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

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        int64_t frames, recompiled;
        count_frames(merged[1], row[RANK], &frames, &recompiled);
        const bool called = row[CALLS] != TA_MISSING;
        if (!called && row[TRITON_NS] == TA_MISSING)
            continue; /* nothing was compiled */
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
               [BY_RANK_RECOMPILED] = frames ? ta_int(recompiled) : ta_null());
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank, NULL};

static const struct ta_analysis_ops ops = {.section = "kernels",
                                           .place = 7,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, compiled, &ops, .title = "Compiled share",
          .summary = "Device work from torch.compile, graph breaks and recompilation: "
                     "compile.by_rank",
          .version = "1");
