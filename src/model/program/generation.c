/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fact.h"
#include "model/named.h"
#include "model/program/generation_marks.h"
#include "model/program/steps.h"

#include <stdlib.h>

/* ---- marks ----------------------------------------------------------------------------------- */

enum { LEVELS = 3, CODES_A_SOURCE = TA_GENERATION_PHASES * LEVELS, REQUEST = 254, TRAINING = 255 };

/* A name in a byte; 0 where it says no phase. */
static uint8_t wanted(struct ta_slice text)
{
    if (ta_marker_of(text) == TA_MARKS_OPTIMIZER ||
        ta_slice_starts(text, "autograd::engine::evaluate_function"))
        return TRAINING;
    const struct generation_name name = generation_name_of(text);
    if (name.by == TA_GENERATION_BY_NOTHING)
        return generation_request_of(text) == TA_MISSING ? 0 : REQUEST;
    return (uint8_t)(1 + ((unsigned)name.by - 1) * CODES_A_SOURCE + (unsigned)name.phase * LEVELS +
                     (unsigned)name.level);
}

static void take_mark(void *user, ta_row row, uint8_t code)
{
    struct generation_finding *f = user;
    const struct ta_categories categories = ta_trace_categories(f->trace);
    if (!ta_class_is_host(categories.at[f->spans.cat[row]].class))
        return;
    if (code == TRAINING) {
        f->trains = true;
        return;
    }
    const int64_t start = f->spans.ts[row];
    if (code == REQUEST) {
        const struct ta_slice text = ta_trace_text(f->trace, f->spans.name[row]);
        f->failed |=
            !ta_vec_push(&f->requests, ((struct generation_request){f->spans.track[row], start,
                                                                    start + f->spans.dur[row],
                                                                    generation_request_of(text)}));
        return;
    }
    const struct generation_name name = {
        .by = (enum ta_generation_by)(1 + (code - 1) / CODES_A_SOURCE),
        .phase = (enum ta_generation_phase)((code - 1) % CODES_A_SOURCE / LEVELS),
        .level = (enum generation_level)((code - 1) % LEVELS)};
    f->failed |= !ta_vec_push(&f->marks, ((struct generation_mark){.row = row,
                                                                   .track = f->spans.track[row],
                                                                   .start = start,
                                                                   .end = start + f->spans.dur[row],
                                                                   .name = name,
                                                                   .outer = TA_GENERATION_PHASES,
                                                                   .range = SIZE_MAX,
                                                                   .is_inner = true}));
}

/* Which marks of one source lie in which: those that are open make a stack. */
static void nest(struct generation_finding *f, enum ta_generation_by by)
{
    TA_VEC(size_t) open = {0};
    for (size_t i = 0; i < f->marks.n; i++) {
        struct generation_mark *mark = &f->marks.at[i];
        if (mark->name.by != by)
            continue;
        while (open.n) {
            struct generation_mark *outer = &f->marks.at[open.at[open.n - 1]];
            if (outer->track == mark->track && outer->end >= mark->end) {
                mark->outer = outer->name.phase;
                outer->is_inner &= outer->name.phase != mark->name.phase;
                break;
            }
            open.n--;
        }
        f->failed |= !ta_vec_push(&open, i);
    }
    free(open.at);
}

/* Which range each mark lies in, itself not counted. */
static void find_ranges(struct generation_finding *f)
{
    TA_VEC(size_t) open = {0};
    for (size_t i = 0; i < f->marks.n; i++) {
        struct generation_mark *mark = &f->marks.at[i];
        while (open.n && (f->marks.at[open.at[open.n - 1]].track != mark->track ||
                          f->marks.at[open.at[open.n - 1]].end < mark->end))
            open.n--;
        mark->range = open.n ? open.at[open.n - 1] : SIZE_MAX;
        if (mark->name.by == TA_GENERATION_BY_RANGE)
            f->failed |= !ta_vec_push(&open, i);
    }
    free(open.at);
}

/* The mark that is a row; there is one. */
const struct generation_mark *generation_mark_of(const struct generation_finding *f, ta_row row)
{
    size_t low = 0, high = f->marks.n;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->marks.at[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return &f->marks.at[low];
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint8_t hint(struct ta_slice name)
{
    return generation_is_hint(name);
}

/* Whether ranges that are called as other programs call theirs are a denoiser's: others decode, or
 * they repeat and only a diffusion has something else that the trace names. */
static bool weak_names_count(struct generation_finding *f)
{
    size_t weak = 0;
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct generation_name *name = &f->marks.at[i].name;
        if (name->by != TA_GENERATION_BY_RANGE)
            continue;
        if (name->phase == TA_GENERATION_VAE_DECODE)
            return true;
        weak += name->phase == TA_GENERATION_DENOISE && name->level == GENERATION_WEAK;
    }
    if (weak < 2)
        return false;
    const struct ta_program_steps *marked = ta_marked_steps(f->trace);
    int64_t counts[UINT8_MAX + 1] = {0};
    f->failed |= !marked || !ta_count_named(f->trace, hint, counts);
    return !f->failed && counts[1] > 0 && marked->by != TA_STEPS_BY_ENGINE;
}

static bool is_denoiser_call(const struct generation_mark *mark, enum ta_generation_by by,
                             bool with_weak)
{
    if (mark->name.by != by || mark->name.phase != TA_GENERATION_DENOISE)
        return false;
    if (by != TA_GENERATION_BY_RANGE)
        return mark->outer != TA_GENERATION_DENOISE;
    return mark->is_inner && (mark->name.level == GENERATION_CALL ||
                              (mark->name.level == GENERATION_WEAK && with_weak));
}

static void add_call(struct generation_finding *f, const struct generation_mark *mark)
{
    const struct ta_generation_call call = {.phase = mark->name.phase,
                                            .by = mark->name.by,
                                            .mark = mark->row,
                                            .track = mark->track,
                                            .step = SIZE_MAX,
                                            .time = {.host_start = mark->start,
                                                     .host_end = mark->end,
                                                     .gpu_start = TA_MISSING,
                                                     .gpu_end = TA_MISSING,
                                                     .gpu_busy = TA_MISSING}};
    f->failed |= !ta_vec_push(&f->calls, call);
}

/* The calls of the denoiser: modules are the passes themselves, ranges may be. */
static void add_denoiser(struct generation_finding *f)
{
    static const enum ta_generation_by ways[] = {TA_GENERATION_BY_MODULE, TA_GENERATION_BY_RANGE,
                                                 TA_GENERATION_BY_FUNCTION};
    const bool with_weak = weak_names_count(f);
    for (size_t w = 0; w < sizeof ways / sizeof *ways && f->calls.n == 0; w++)
        for (size_t i = 0; i < f->marks.n; i++)
            if (is_denoiser_call(&f->marks.at[i], ways[w], with_weak))
                add_call(f, &f->marks.at[i]);
    if (f->calls.n)
        f->found->by = f->calls.at[0].by;
}

/* Calls of other phases: outermost ones of the first source that has any, outside of the denoiser's
 * calls, which are the first `n_denoiser` and in the order of the marks. */
static void add_phase(struct generation_finding *f, enum ta_generation_phase phase,
                      size_t n_denoiser)
{
    static const enum ta_generation_by ways[] = {TA_GENERATION_BY_MODULE, TA_GENERATION_BY_RANGE,
                                                 TA_GENERATION_BY_FUNCTION};
    const size_t before = f->calls.n;
    for (size_t w = 0; w < sizeof ways / sizeof *ways && f->calls.n == before; w++) {
        size_t next = 0;
        for (size_t i = 0; i < f->marks.n; i++) {
            const struct generation_mark *mark = &f->marks.at[i];
            if (mark->name.by != ways[w] || mark->name.phase != phase ||
                !(mark->outer == TA_GENERATION_PHASES || mark->outer == TA_GENERATION_DENOISE))
                continue;
            while (next < n_denoiser && (f->calls.at[next].track < mark->track ||
                                         (f->calls.at[next].track == mark->track &&
                                          f->calls.at[next].time.host_end <= mark->start)))
                next++;
            if (next == n_denoiser || f->calls.at[next].track != mark->track ||
                f->calls.at[next].time.host_start > mark->start)
                add_call(f, mark);
        }
    }
}

/* While images are not found, calls of what is denoised in turns have the number of it instead. */
static int by_start(const void *left, const void *right)
{
    const struct ta_generation_call *a = left, *b = right;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->time.host_start != b->time.host_start)
        return a->time.host_start < b->time.host_start ? -1 : 1;
    return (a->mark > b->mark) - (a->mark < b->mark);
}

bool generation_sort_calls(struct generation_finding *f, size_t *between)
{
    if (f->calls.n)
        qsort(f->calls.at, f->calls.n, sizeof *f->calls.at, by_start);
    f->found->calls = f->calls.at;
    f->found->n_calls = f->calls.n;
    free(f->found->call_of);
    f->found->call_of = NULL;
    for (size_t i = 0; i < f->calls.n; i++)
        between[i] = 0;
    return generation_time_calls(f->trace, f->found, between, NULL);
}

static void find_calls(struct generation_finding *f)
{
    add_denoiser(f);
    const size_t n = f->calls.n;
    if (n == 0 || f->failed)
        return;
    for (int phase = 0; phase < TA_GENERATION_PHASES; phase++)
        if (phase != TA_GENERATION_DENOISE)
            add_phase(f, (enum ta_generation_phase)phase, n);
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Widens a stage to the ranges around its first call that name the phase and hold no other call. */
static void widen(const struct generation_finding *f, struct ta_generation_stage *stage)
{
    const struct ta_generation_call *calls = f->calls.at;
    const size_t after = stage->first_call + stage->n_calls;
    const int64_t before = stage->first_call && calls[stage->first_call - 1].track == stage->track
                               ? calls[stage->first_call - 1].time.host_end
                               : INT64_MIN;
    const int64_t next = after < f->calls.n && calls[after].track == stage->track
                             ? calls[after].time.host_start
                             : INT64_MAX;
    size_t range = generation_mark_of(f, calls[stage->first_call].mark)->range;
    for (int i = 0; range != SIZE_MAX && i < GENERATION_RANGES_MOST;
         i++, range = f->marks.at[range].range) {
        const struct generation_mark *mark = &f->marks.at[range];
        if (mark->name.phase != stage->phase || mark->end < stage->time.host_end ||
            mark->start < before || mark->end > next)
            continue;
        stage->by = TA_GENERATION_BY_RANGE;
        stage->time.host_start = mark->start;
        stage->time.host_end = mark->end;
    }
}

static void find_stages(struct generation_finding *f)
{
    for (size_t first = 0, end; first < f->calls.n; first = end) {
        const struct ta_generation_call *call = &f->calls.at[first];
        struct ta_generation_stage stage = {.phase = call->phase,
                                            .by = call->by,
                                            .image = call->image,
                                            .first_call = first,
                                            .track = call->track,
                                            .time = call->time};
        for (end = first + 1; end < f->calls.n; end++) {
            const struct ta_generation_call *next = &f->calls.at[end];
            if (next->phase != call->phase || next->image != call->image ||
                next->track != call->track)
                break;
            stage.time.host_end = ta_max_i64(stage.time.host_end, next->time.host_end);
        }
        stage.n_calls = end - first;
        if (!f->share_thread && call->mark != TA_NO_ROW)
            widen(f, &stage);
        f->failed |= !ta_vec_push(&f->stages, stage);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* ---- ranks without denoiser ------------------------------------------------------------------ */

/* Whether a range or a module names an encoder or decoder as only a diffusion does. */
static bool has_plain_name(const struct generation_finding *f)
{
    for (size_t i = 0; i < f->marks.n; i++) {
        const struct generation_name *name = &f->marks.at[i].name;
        if (name->by != TA_GENERATION_BY_FUNCTION && name->level != GENERATION_WEAK &&
            (name->phase == TA_GENERATION_TEXT_ENCODE ||
             name->phase == TA_GENERATION_IMAGE_ENCODE || name->phase == TA_GENERATION_VAE_DECODE))
            return true;
    }
    return false;
}

/* Whether a call goes on with what others are at: in the same range, or another model of the
 * phase. */
static bool goes_on(const struct generation_finding *f, const struct ta_generation_stage *stage,
                    const struct ta_generation_call *next)
{
    const struct ta_generation_call *last = &f->calls.at[stage->first_call + stage->n_calls - 1];
    if (next->phase != last->phase || next->track != last->track)
        return false;
    const size_t range = generation_mark_of(f, last->mark)->range;
    if (range != SIZE_MAX && generation_mark_of(f, next->mark)->range == range)
        return true;
    for (size_t i = 0; i < stage->n_calls; i++)
        if (f->spans.name[f->calls.at[stage->first_call + i].mark] == f->spans.name[next->mark])
            return false;
    return next->phase != TA_GENERATION_VAE_DECODE;
}

static void find_stages_aside(struct generation_finding *f)
{
    for (size_t first = 0; first < f->calls.n && !f->failed;) {
        const struct ta_generation_call *call = &f->calls.at[first];
        struct ta_generation_stage stage = {.phase = call->phase,
                                            .by = call->by,
                                            .image = SIZE_MAX,
                                            .first_call = first,
                                            .n_calls = 1,
                                            .track = call->track,
                                            .time = call->time};
        while (first + stage.n_calls < f->calls.n &&
               goes_on(f, &stage, &f->calls.at[first + stage.n_calls])) {
            stage.time.host_end =
                ta_max_i64(stage.time.host_end, f->calls.at[first + stage.n_calls].time.host_end);
            stage.n_calls++;
        }
        first += stage.n_calls;
        widen(f, &stage);
        f->failed |= !ta_vec_push(&f->stages, stage);
    }
}

static void give_lists(struct generation_finding *f)
{
    f->found->calls = f->calls.at;
    f->found->n_calls = f->calls.n;
    f->found->steps = f->steps.at;
    f->found->n_steps = f->steps.n;
    f->found->stages = f->stages.at;
    f->found->n_stages = f->stages.n;
}

static struct ta_generation *new_generation(void)
{
    struct ta_generation *found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->denoiser = TA_STR_ABSENT;
    found->confidence = 1;
    found->n_at_once = 1;
    return found;
}

/* What a rank encodes and decodes for others. */
static bool find_aside(struct generation_finding *f, size_t *between)
{
    for (int phase = 0; phase < TA_GENERATION_PHASES; phase++)
        add_phase(f, (enum ta_generation_phase)phase, 0);
    for (size_t i = 0; i < f->calls.n; i++)
        f->calls.at[i].image = SIZE_MAX;
    give_lists(f);
    if (f->failed || !generation_sort_calls(f, between))
        return false;
    find_stages_aside(f);
    give_lists(f);
    return !f->failed && generation_time_parts(f->trace, f->found) &&
           generation_kinds(f->trace, f->found);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool find_marks(struct generation_finding *f)
{
    if (!ta_each_named(f->trace, wanted, take_mark, f) || f->failed)
        return false;
    if (f->trains)
        return true;
    for (int by = TA_GENERATION_BY_RANGE; by < TA_GENERATION_BY_KERNELS; by++)
        nest(f, (enum ta_generation_by)by);
    find_ranges(f);
    return !f->failed;
}

static void find_denoiser(struct generation_finding *f)
{
    for (size_t i = 0; i < f->calls.n && f->found->denoiser == TA_STR_ABSENT; i++)
        if (f->calls.at[i].phase == TA_GENERATION_DENOISE)
            f->found->denoiser = f->spans.name[f->calls.at[i].mark];
}

/* What finds it has lists of its own. */
static bool find_in_kernels(struct generation_finding *f)
{
    const bool done = generation_by_kernels(f->trace, f->found);
    f->calls.at = f->found->calls;
    f->steps.at = f->found->steps;
    f->stages.at = f->found->stages;
    f->calls.n = f->found->n_calls;
    f->steps.n = f->found->n_steps;
    f->stages.n = f->found->n_stages;
    return done;
}

/* Of marked calls all the rest. */
static bool find_parts(struct generation_finding *f, size_t *between)
{
    if (!generation_sort_calls(f, between))
        return false;
    const size_t marked = f->calls.n;
    if (!generation_add_decodes(f) || (f->calls.n > marked && !generation_sort_calls(f, between)))
        return false;
    find_denoiser(f);
    if (!generation_find_images(f, between))
        return false;
    find_stages(f);
    if (f->failed || !generation_find_steps(f, between))
        return false;
    /* What cannot be told apart has no blocks. */
    if (f->found->n_at_once == 0)
        f->found->n_blocks = f->found->n_images;
    give_lists(f);
    return generation_time_parts(f->trace, f->found) && generation_kinds(f->trace, f->found);
}

/* In kernels, where marks show no denoiser; else what marks show besides. */
static bool find_unmarked(struct generation_finding *f, size_t *between)
{
    if (f->trains)
        return true;
    if (!find_in_kernels(f))
        return false;
    if (f->found->by != TA_GENERATION_BY_NOTHING || !has_plain_name(f))
        return true;
    struct ta_generation *const found = f->found;
    found->aside = new_generation();
    if (!found->aside)
        return false;
    f->found = found->aside;
    const bool done = find_aside(f, between);
    give_lists(f);
    *f = (struct generation_finding){.trace = f->trace,
                                     .spans = f->spans,
                                     .marks = f->marks,
                                     .requests = f->requests,
                                     .found = found};
    return done;
}

static bool find_generation(struct generation_finding *f)
{
    if (!find_marks(f))
        return false;
    if (!f->trains)
        find_calls(f);
    give_lists(f);
    /* Of ranks without denoiser there are as many calls as marks at most. */
    size_t *between = f->failed ? NULL : calloc(f->calls.n + f->marks.n + 1, sizeof *between);
    const bool done = between && (f->calls.n ? find_parts(f, between) : find_unmarked(f, between));
    free(between);
    give_lists(f);
    return done;
}

static void free_generation(void *at)
{
    struct ta_generation *found = at;
    if (found->aside)
        free_generation(found->aside);
    free(found->calls);
    free(found->steps);
    free(found->stages);
    free(found->call_of);
    free(found);
}

static void *make_generation(const struct ta_trace *trace)
{
    struct generation_finding f = {
        .trace = trace, .spans = ta_trace_spans(trace), .found = new_generation()};
    const bool done = f.found && find_generation(&f);
    free(f.marks.at);
    free(f.requests.at);
    if (done)
        return f.found;
    if (f.found) {
        give_lists(&f);
        free_generation(f.found);
    }
    return NULL;
}

const struct ta_generation *ta_program_generation(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_GENERATION, make_generation, free_generation);
}
