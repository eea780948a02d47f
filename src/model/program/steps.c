/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/steps.h"

#include "base/regex.h"
#include "base/vec.h"
#include "model/extent.h"
#include "model/fact.h"
#include "model/named.h"
#include "model/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct mark {
    struct marked_range range;
    enum ta_marker marks;
};

struct finding {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    TA_VEC(struct mark) marks; /* by track, start and length: the order of rows */
    bool failed;
    struct ta_program_steps *steps;
};

static struct marked_range range_of(const struct finding *f, ta_row row)
{
    const int64_t start = f->spans.ts[row];
    return (struct marked_range){row, f->spans.track[row], start, start + f->spans.dur[row],
                                 f->spans.name[row]};
}

static bool is_host(const struct finding *f, ta_row row)
{
    return ta_class_is_host(f->categories.at[f->spans.cat[row]].class);
}

static uint8_t wanted(struct ta_slice name)
{
    const enum ta_marker marks = ta_marker_of(name);
    return marks >= TA_MARKS_PROFILER && marks <= TA_MARKS_OPTIMIZER ? (uint8_t)marks : 0;
}

static void take_mark(void *user, ta_row row, uint8_t marks)
{
    struct finding *f = user;
    const struct mark mark = {range_of(f, row), (enum ta_marker)marks};
    if (is_host(f, row))
        f->failed |= !ta_vec_push(&f->marks, mark);
}

/* ---- steps that are ranges ----------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct ta_program_step *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->mark > b->mark) - (a->mark < b->mark);
}

static void add_step(struct finding *f, int64_t start, int64_t end, ta_row mark)
{
    f->steps->at[f->steps->n++] =
        (struct ta_program_step){.start = start, .end = end, .mark = mark};
}

static bool reserve(struct finding *f, size_t n)
{
    f->steps->at = calloc(n + 1, sizeof *f->steps->at);
    return f->steps->at != NULL;
}

static void sort_steps(struct ta_program_steps *steps)
{
    if (steps->n)
        qsort(steps->at, steps->n, sizeof *steps->at, by_start);
}

static bool add_profiler_steps(struct finding *f)
{
    if (!reserve(f, f->marks.n))
        return false;
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct mark *mark = &f->marks.at[i];
        if (mark->marks == TA_MARKS_PROFILER)
            add_step(f, mark->range.start, mark->range.end, mark->range.row);
    }
    if (f->steps->n)
        f->steps->by = TA_STEPS_BY_PROFILER;
    return true;
}

/* Ranges of engines and requests that lie in no other of them: the steps, if there are no others.
 */
static bool add_engine_steps(struct finding *f)
{
    struct ta_program_steps *steps = f->steps;
    steps->requests = calloc(f->marks.n + 1, sizeof *steps->requests);
    if (!steps->requests)
        return false;
    uint32_t track = UINT32_MAX;
    int64_t until = 0;
    bool any_step = false;
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct mark *mark = &f->marks.at[i];
        if (mark->marks != TA_MARKS_ENGINE && mark->marks != TA_MARKS_REQUEST)
            continue;
        if (mark->range.track == track && mark->range.start < until)
            continue;
        track = mark->range.track;
        until = mark->range.end;
        any_step |= mark->marks == TA_MARKS_ENGINE;
        steps->requests[steps->n_requests++] = mark->range.row;
    }
    /* A single request is the whole program. */
    if (steps->n || !(any_step || steps->n_requests > 1))
        return true;
    if (!steps->at && !reserve(f, steps->n_requests))
        return false;
    for (size_t i = 0; i < steps->n_requests; i++) {
        const struct marked_range range = range_of(f, steps->requests[i]);
        add_step(f, range.start, range.end, range.row);
    }
    steps->by = TA_STEPS_BY_ENGINE;
    steps->n_requests = 0;
    return true;
}

/* ---- training loops ------------------------------------------------------------------------ */

/* The calls of one name that a loop makes again and again. */
struct calls {
    ta_str name;
    size_t n;
    uint32_t track;
};

/* The most frequent name of a kind on one thread. */
static struct calls most_frequent(struct finding *f, enum ta_marker marks)
{
    struct calls best = {TA_STR_ABSENT, 0, 0};
    struct ta_map counts = {0};
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct marked_range *range = &f->marks.at[i].range;
        if (f->marks.at[i].marks != marks)
            continue;
        uint64_t *n = ta_map_at(&counts, (uint64_t)range->track << 32 | range->name, 0);
        if (n && ++*n > best.n)
            best = (struct calls){range->name, *n, range->track};
    }
    f->failed |= counts.failed;
    ta_map_free(&counts);
    return best;
}

static bool is_call(const struct mark *mark, const struct calls *calls)
{
    return mark->range.name == calls->name && mark->range.track == calls->track;
}

/* The end of the last host span of a track, and the start of the last operator or call in it. */
static void end_of_track(const struct finding *f, uint32_t number, int64_t *end, int64_t *last_call)
{
    const struct ta_track track = f->trace->tracks.at[number];
    *end = *last_call = INT64_MIN;
    for (ta_row row = track.first + track.n; row-- > track.first;) {
        const enum ta_event_class class = f->categories.at[f->spans.cat[row]].class;
        if (!ta_class_is_host(class))
            continue;
        if (*end == INT64_MIN)
            for (ta_row up = row; up != TA_NO_ROW; up = f->spans.parent[up])
                *end = ta_max_i64(*end, f->spans.ts[up] + f->spans.dur[up]);
        if (class == TA_CLASS_OP || class == TA_CLASS_RUNTIME) {
            *last_call = f->spans.ts[row];
            return;
        }
    }
}

/* A step lasts from one call to the next; from its end, of calls that end a step. */
static bool add_loop(struct finding *f, const struct calls *calls, bool from_end, int64_t last_end)
{
    if (!reserve(f, calls->n))
        return false;
    struct ta_program_steps *steps = f->steps;
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct marked_range *range = &f->marks.at[i].range;
        if (!is_call(&f->marks.at[i], calls))
            continue;
        const int64_t border = from_end ? range->end : range->start;
        if (steps->n)
            steps->at[steps->n - 1].end = border;
        add_step(f, border, last_end, range->row);
    }
    if (steps->n && (from_end || steps->at[steps->n - 1].start >= last_end))
        steps->n--;
    if (steps->n)
        steps->by = TA_STEPS_BY_LOOP;
    return true;
}

/* The last step of a loop ends with its optimizer, else with the thread. */
static bool add_loop_steps(struct finding *f)
{
    const struct calls loader = most_frequent(f, TA_MARKS_LOADER);
    const struct calls zero = most_frequent(f, TA_MARKS_ZERO_GRAD);
    const struct calls optimizer = most_frequent(f, TA_MARKS_OPTIMIZER);
    const bool trains = optimizer.n >= 2 || zero.n >= 2;
    /* Several batches for one step of the optimizer: they are parts of it. */
    const bool accumulates =
        trains && loader.n >= 2 * (optimizer.n > zero.n ? optimizer.n : zero.n);
    const struct calls *begins = loader.n >= 2 && !accumulates ? &loader
                                 : zero.n >= 2                 ? &zero
                                 : optimizer.n >= 2            ? &optimizer
                                                               : NULL;
    if (!begins)
        return true;
    int64_t begin = INT64_MIN, begin_end = INT64_MIN, end = INT64_MIN, track_end, last_call;
    for (size_t i = 0; i < f->marks.n; i++)
        if (is_call(&f->marks.at[i], begins)) {
            begin = f->marks.at[i].range.start;
            begin_end = f->marks.at[i].range.end;
        }
    for (size_t i = 0; i < f->marks.n; i++)
        if (f->marks.at[i].marks == TA_MARKS_OPTIMIZER && f->marks.at[i].range.start >= begin)
            end = ta_max_i64(end, f->marks.at[i].range.end);
    end_of_track(f, begins->track, &track_end, &last_call);
    /* The last call of a loader finds no batch: nothing follows it. */
    if (end == INT64_MIN && (begins == &zero || (optimizer.n == 0 && last_call >= begin_end)))
        end = track_end;
    return !f->failed && add_loop(f, begins, begins == &optimizer, end);
}

/* ---- ranges that repeat -------------------------------------------------------------------- */

static bool is_range_category(struct ta_slice name)
{
    return ta_slice_equal(name, TA_LIT("user_annotation")) ||
           (name.len == 4 && strncasecmp(name.ptr, "nvtx", 4) == 0);
}

static bool add_repeated_ranges(struct finding *f)
{
    TA_VEC(struct marked_range) ranges = {0};
    bool done = true;
    for (size_t c = 0; c < f->categories.n; c++) {
        const struct ta_category *category = &f->categories.at[c];
        if (!ta_class_is_host(category->class) || category->name == TA_STR_ABSENT ||
            !is_range_category(ta_trace_text(f->trace, category->name)))
            continue;
        for (ta_row row = 0;
             (row = ta_category_next(&f->spans, row, (ta_cat)c)) < f->spans.n && done; row++)
            if (ta_marker_of(ta_trace_text(f->trace, f->spans.name[row])) == TA_MARKS_NOTHING)
                done = ta_vec_push(&ranges, range_of(f, row));
    }
    done = done && (ranges.n < 2 || repeats_find(f->trace, ranges.at, ranges.n, f->steps));
    free(ranges.at);
    return done;
}

/* ---- ranges that the user names ------------------------------------------------------------ */

/* NULL with *error filled in when the text is no expression, else the caller's. */
static struct ta_regex *compile(const char *text, struct ta_regex_error *error)
{
    char *group = NULL; /* an expression has one at least */
    *error = (struct ta_regex_error){""};
    if (asprintf(&group, "(%s)", text) < 0)
        return NULL;
    struct ta_regex *regex = ta_regex_new(group, error);
    free(group);
    return regex;
}

enum ta_status ta_check_step_marker(struct ta_ctx *ctx, const char *text)
{
    enum { SHOWN_MOST = 120 };
    struct ta_regex_error error;
    struct ta_regex *regex = text ? compile(text, &error) : NULL;
    const bool usable = !text || regex;
    ta_regex_free(regex);
    if (usable)
        return TA_OK;
    if (!error.text[0])
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold --step-marker");
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable --step-marker \"%.*s%s\": %s; expected a POSIX extended expression "
                   "on names of ranges, such as '^denoise'",
                   SHOWN_MOST, text, strlen(text) > SHOWN_MOST ? "…" : "", error.text);
}

/* The names that the expression matches, one byte for each. */
static bool match_names(struct finding *f, uint8_t *is_named)
{
    struct ta_regex_error error;
    struct ta_regex *regex = compile(f->trace->step_marker, &error);
    bool done = regex;
    for (size_t id = 0; done && id < ta_trace_string_count(f->trace); id++) {
        const struct ta_slice slice = ta_trace_text(f->trace, (ta_str)id);
        struct ta_regex_part part;
        char *name = strndup(slice.len ? slice.ptr : "", slice.len);
        done = name;
        is_named[id] = name && ta_regex_search(regex, name, &part);
        free(name);
    }
    ta_regex_free(regex);
    return done;
}

static bool add_named_steps(struct finding *f)
{
    uint8_t *is_named = calloc(ta_trace_string_count(f->trace) + 1, sizeof *is_named);
    bool done = is_named && match_names(f, is_named);
    TA_VEC(struct ta_program_step) list = {0};
    uint32_t track = UINT32_MAX;
    int64_t until = 0;
    for (size_t row = 0; done && row < f->spans.n; row++) {
        if (!is_named[f->spans.name[row]] || !is_host(f, (ta_row)row))
            continue;
        const struct marked_range range = range_of(f, (ta_row)row);
        if (range.track == track && range.start < until)
            continue;
        track = range.track;
        until = range.end;
        const struct ta_program_step step = {
            .start = range.start, .end = range.end, .mark = range.row};
        done = ta_vec_push(&list, step);
    }
    free(is_named);
    if (!done || list.n == 0) {
        free(list.at);
        return done;
    }
    f->steps->at = list.at;
    f->steps->n = list.n;
    f->steps->by = TA_STEPS_BY_USER;
    return true;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void forget(struct ta_program_steps *steps)
{
    free(steps->at);
    steps->at = NULL;
    steps->n = 0;
}

static bool number_steps(struct finding *f)
{
    struct ta_map counts = {0};
    for (size_t i = 0; i < f->steps->n; i++) {
        struct ta_program_step *step = &f->steps->at[i];
        const ta_str name = f->spans.name[step->mark];
        uint64_t *count = ta_map_at(&counts, name, 0);
        step->repeat = count ? (*count)++ : 0;
        step->number = f->steps->by == TA_STEPS_BY_PROFILER
                           ? ta_host_step_number(ta_trace_text(f->trace, name))
                           : (int64_t)i + 1;
    }
    const bool done = !counts.failed;
    ta_map_free(&counts);
    return done;
}

static bool find_steps(struct finding *f)
{
    struct ta_program_steps *steps = f->steps;
    if (f->trace->step_marker && !add_named_steps(f))
        return false;
    if (!ta_each_named(f->trace, wanted, take_mark, f) || f->failed)
        return false;
    bool (*const ways[])(struct finding *) = {add_profiler_steps, add_engine_steps, add_loop_steps,
                                              add_repeated_ranges};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (steps->n && ways[i] != add_engine_steps) /* which lists requests, too */
            continue;
        if (steps->n == 0)
            forget(steps);
        if (!ways[i](f))
            return false;
    }
    sort_steps(steps);
    return number_steps(f);
}

static void free_steps(void *at)
{
    struct ta_program_steps *steps = at;
    free(steps->at);
    free(steps->requests);
    free(steps);
}

static void *make_steps(const struct ta_trace *trace)
{
    struct finding f = {.trace = trace,
                        .spans = ta_trace_spans(trace),
                        .categories = ta_trace_categories(trace),
                        .steps = calloc(1, sizeof *f.steps)};
    const bool done = f.steps && find_steps(&f);
    free(f.marks.at);
    if (done)
        return f.steps;
    if (f.steps)
        free_steps(f.steps);
    return NULL;
}

const struct ta_program_steps *ta_marked_steps(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_MARKED_STEPS, make_steps, free_steps);
}

struct ta_slice ta_step_label(struct ta_slice name, uint64_t repeat, char text[TA_STEP_LABEL_ROOM])
{
    enum { NAME_MOST = 100 };
    if (repeat == 0)
        return name;
    const int n = snprintf(text, TA_STEP_LABEL_ROOM, "%.*s (%llu)",
                           (int)(name.len < NAME_MOST ? name.len : NAME_MOST), name.ptr,
                           (unsigned long long)repeat + 1);
    return (struct ta_slice){text, (size_t)n};
}

bool ta_is_step_mark(struct ta_slice name)
{
    const enum ta_marker marks = ta_marker_of(name);
    return marks == TA_MARKS_PROFILER || marks == TA_MARKS_ENGINE;
}

size_t ta_program_step_at(const struct ta_program_steps *steps, int64_t time)
{
    size_t low = 0, high = steps->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (steps->at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time < steps->at[low - 1].end ? low - 1 : SIZE_MAX;
}
