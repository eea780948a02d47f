/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.by_place: where the host waits for a device, in recordings of the host alone: function
 * traces as VizTracer writes them, traces of operators alone, and folded stacks of samplers.
 * Whether the device works during such a wait is not recorded. */
#include "lib/functions.h"
#include "model/host.h"
#include "model/named.h"
#include "model/program/window.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { PARTIAL_PLACES, PARTIAL_RANKS };
enum { RANK, CALL, PLACE, CALLS, TOTAL, SAMPLES, FIELDS };
enum { OF_RANK, OF_TIME, OF_SAMPLES, RANK_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [CALL] = {"call", TA_FIELD_TEXT},
    [PLACE] = {"place", TA_FIELD_TEXT},   [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM}, [SAMPLES] = {"samples", TA_FIELD_SUM},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [OF_TIME] = {"time_ns", TA_FIELD_SUM},
    [OF_SAMPLES] = {"samples", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_PLACES] = {"places", fields, FIELDS},
    [PARTIAL_RANKS] = {"ranks", rank_fields, RANK_FIELDS},
    {0},
};

enum { SHARE = FIELDS };
static const struct ta_column by_place_columns[] = {
    [RANK] = TA_DUMP_RANK_COLUMN,
    [CALL] = {"call", "Call", TA_TEXT, .doc = "Outermost frame or call that waits"},
    [PLACE] =
        {"place", "Call site", TA_TEXT,
         .doc = "Nearest function or range of the program around the wait; empty if there is none"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
               .doc = "Number of waits; empty for stack samples"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Time in these waits; empty if only samples were counted"},
    [SAMPLES] = {"samples", "Samples", TA_COUNT, .better = TA_LOWER,
                 .doc = "Number of stack samples in these waits; empty if time was summed up"},
    [SHARE] =
        {"share", "Share", TA_RATIO, .better = TA_LOWER,
         .doc = "Share of the program's window; for stack samples, share of all time or samples"},
};

static const struct ta_table_def by_place = {
    "waits.by_place",
    "Host waits by call site",
    TA_COLUMNS(by_place_columns),
    .doc = "One row per rank, call and call site, for inputs without device activities: functions "
           "in which Python waits for a device (`Tensor.cpu`, `Tensor.item`, "
           "`torch.cuda.synchronize`, `Event.synchronize` and the like), and runtime calls that "
           "do. For a trace, the waits of 20 µs or more of the thread that waits longest. Whether "
           "the device works meanwhile is not recorded.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_place_columns[SHARE], TA_DESCENDING},
    .not_of_ranks = true};

static int64_t *rank_row(struct ta_partial *const *out, struct ta_key rank)
{
    return TA_PARTIAL_ROW(out[PARTIAL_RANKS], rank);
}

static int64_t *place_row(struct ta_partial *const *out, struct ta_key rank, struct ta_slice call,
                          struct ta_slice place)
{
    return TA_PARTIAL_ROW(out[PARTIAL_PLACES], rank, ta_key_text(call), ta_key_text(place));
}

/* ---- traces ---------------------------------------------------------------------------------- */

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_partial *const *out;
    int64_t *totals;     /* by track */
    int64_t reach;       /* end of the last counted wait, on its track */
    uint32_t track, top; /* top: the reported track; UINT32_MAX while they are added up */
    uint8_t *of_program; /* by name: 0 not known yet, 1 no, 2 yes */
    struct ta_outward outward;
};

static uint8_t is_wait(struct ta_slice name)
{
    return ta_host_frame_waits(name);
}

static bool is_of_program(void *user, ta_row row)
{
    struct search *s = user;
    uint8_t *known = &s->of_program[s->spans.name[row]];
    if (!*known) {
        const struct ta_slice name = ta_trace_text(s->trace, s->spans.name[row]);
        const struct ta_category *category = &s->categories.at[s->spans.cat[row]];
        const bool is_range =
            ta_slice_equal(ta_trace_text(s->trace, category->name), TA_LIT("user_annotation")) &&
            !ta_host_is_step(name);
        *known = is_range || ta_function_is_of_program(name) ? 2 : 1;
    }
    return *known == 2;
}

/* A call that returns faster has not waited: the value was already there, or on the host. */
enum { AT_ONCE_NS = 20000 };

/* Waits within a wait count as part of it. */
static void take(void *user, ta_row row, uint8_t kind)
{
    (void)kind;
    struct search *s = user;
    const uint32_t track = s->spans.track[row];
    const int64_t start = s->spans.ts[row], dur = s->spans.dur[row];
    if (!ta_class_is_host(s->categories.at[s->spans.cat[row]].class) || dur < AT_ONCE_NS ||
        (track == s->track && start < s->reach))
        return;
    s->track = track;
    s->reach = start + dur;
    if (s->top == UINT32_MAX) {
        ta_sum(&s->totals[track], dur);
    } else if (s->top == track) {
        const ta_row place = ta_outward_find(&s->outward, s->spans.parent[row], is_of_program, s);
        int64_t *cells = place_row(
            s->out, ta_key_int(ta_trace_rank(s->trace)),
            ta_trace_text(s->trace, s->spans.name[row]),
            place == TA_NO_ROW ? TA_LIT("") : ta_trace_text(s->trace, s->spans.name[place]));
        ta_sum(&cells[CALLS], 1);
        ta_sum(&cells[TOTAL], dur);
    }
}

static bool each_wait(struct search *s, uint32_t top)
{
    s->top = top;
    s->track = UINT32_MAX;
    return ta_each_named(s->trace, is_wait, take, s);
}

/* The program's window; if only functions were recorded, from the first to the last of the
 * thread. */
static int64_t window_of(const struct search *s, const struct ta_program_window *window)
{
    const struct ta_track *track = &ta_trace_tracks(s->trace).at[s->top];
    if (window->end > window->start)
        return window->end - window->start;
    int64_t end = INT64_MIN;
    for (ta_row row = track->first; row < track->first + track->n; row++)
        end = ta_max_i64(end, s->spans.ts[row] + s->spans.dur[row]);
    return end - s->spans.ts[track->first];
}

static bool map_trace(const struct ta_trace *trace, struct ta_partial *const *out)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    struct search s = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .out = out,
        .totals = calloc(tracks.n + 1, sizeof *s.totals),
        .of_program = calloc(ta_trace_string_count(trace) + 1, sizeof *s.of_program),
    };
    s.outward.parent = s.spans.parent;
    bool done = s.totals && s.of_program && each_wait(&s, UINT32_MAX);
    uint32_t top = 0;
    for (uint32_t t = 1; done && t < tracks.n; t++)
        top = s.totals[t] > s.totals[top] ? t : top;
    if (done && tracks.n && s.totals[top] > 0) {
        const struct ta_program_window *window = ta_program_window(trace);
        done = window && each_wait(&s, top);
        if (done)
            ta_sum(&rank_row(out, ta_key_int(ta_trace_rank(trace)))[OF_TIME],
                   window_of(&s, window));
    }
    free(s.totals);
    free(s.of_program);
    ta_outward_free(&s.outward);
    return done;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void take_stack(struct ta_partial *const *out, struct ta_key rank, struct ta_slice stack,
                       const struct ta_stack_weight *weight)
{
    struct ta_slice place = TA_LIT("");
    while (stack.len) {
        const char *end = memchr(stack.ptr, ';', stack.len);
        const size_t n = end ? (size_t)(end - stack.ptr) : stack.len;
        const struct ta_slice frame = ta_slice_part(stack, 0, n);
        if (ta_host_frame_waits(frame)) {
            int64_t *cells = place_row(out, rank, frame, place);
            ta_sum(&cells[TOTAL], weight->weight_ns);
            ta_sum(&cells[SAMPLES], weight->samples);
            return;
        }
        if (ta_function_is_of_program(frame))
            place = frame;
        stack = ta_slice_from(stack, end ? n + 1 : n);
    }
}

static void map_stacks(const struct ta_trace *trace, struct ta_partial *const *out)
{
    size_t n;
    const struct ta_stack_weight *stacks = ta_trace_stack_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_key rank = ta_row_rank(trace, stacks[i].rank);
        int64_t *all = rank_row(out, rank);
        ta_sum(&all[OF_TIME], stacks[i].weight_ns);
        ta_sum(&all[OF_SAMPLES], stacks[i].samples);
        take_stack(out, rank, ta_trace_text(trace, stacks[i].stack), &stacks[i]);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    map_stacks(trace, out);
    if (ta_trace_activities(trace).n == 0 && !map_trace(trace, out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the waits of a trace");
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *places = merged[PARTIAL_PLACES], *ranks = merged[PARTIAL_RANKS];
    for (size_t i = 0; i < ta_partial_rows(places); i++) {
        const int64_t *row = ta_partial_at(places, i), *all = NULL;
        for (size_t k = 0; k < ta_partial_rows(ranks) && !all; k++)
            if (ta_partial_at(ranks, k)[OF_RANK] == row[RANK])
                all = ta_partial_at(ranks, k);
        const bool is_timed = row[TOTAL] >= 0;
        const int64_t part = is_timed ? row[TOTAL] : row[SAMPLES];
        const int64_t whole = !all ? 0 : is_timed ? all[OF_TIME] : all[OF_SAMPLES];
        TA_ROW(out, by_place, [RANK] = ta_int(row[RANK]),
               [CALL] = ta_text(ta_partial_text(places, row, CALL)),
               [PLACE] = ta_text(ta_partial_text(places, row, PLACE)), [CALLS] = ta_int(row[CALLS]),
               [TOTAL] = ta_int(row[TOTAL]), [SAMPLES] = ta_int(row[SAMPLES]),
               [SHARE] = whole > 0 ? ta_num((double)part / (double)whole) : ta_null());
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_place, NULL};

static const struct ta_analysis_ops ops = {
    .section = "launches", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, host_waits, &ops, .title = "Host waits by call site",
          .summary = "Waits for a device in host-only recordings: waits.by_place", .version = "1");
