/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/generation.h"

#include "base/vec.h"
#include "model/fact.h"
#include "model/named.h"
#include "model/program/steps.h"

#include <stdlib.h>

/* A span whose name says a phase. */
struct mark {
    ta_row row;
    uint32_t track;
    int64_t start, end;
    struct generation_name name;
    enum ta_generation_phase
        outer;     /* of the nearest mark around it, of the same source; or PHASES */
    size_t range;  /* the nearest range around it, of any phase; or SIZE_MAX */
    bool is_inner; /* it holds no other mark of its source and phase */
};

struct finding {
    const struct ta_trace *trace;
    struct ta_spans spans;
    TA_VEC(struct mark) marks; /* by track, start and length: the order of rows */
    TA_VEC(struct ta_generation_call) calls;
    TA_VEC(struct ta_generation_step) steps;
    TA_VEC(struct ta_generation_stage) stages;
    bool trains, failed;
    struct ta_generation *found;
};

/* ---- marks ----------------------------------------------------------------------------------- */

enum { LEVELS = 3, CODES_A_SOURCE = TA_GENERATION_PHASES * LEVELS, TRAINING = 255 };

/* A name in a byte; 0 where it says no phase. */
static uint8_t wanted(struct ta_slice text)
{
    if (ta_marker_of(text) == TA_MARKS_OPTIMIZER ||
        ta_slice_starts(text, "autograd::engine::evaluate_function"))
        return TRAINING;
    const struct generation_name name = generation_name_of(text);
    if (name.by == TA_GENERATION_BY_NOTHING)
        return 0;
    return (uint8_t)(1 + ((unsigned)name.by - 1) * CODES_A_SOURCE + (unsigned)name.phase * LEVELS +
                     (unsigned)name.level);
}

static void take_mark(void *user, ta_row row, uint8_t code)
{
    struct finding *f = user;
    const struct ta_categories categories = ta_trace_categories(f->trace);
    if (!ta_class_is_host(categories.at[f->spans.cat[row]].class))
        return;
    if (code == TRAINING) {
        f->trains = true;
        return;
    }
    const int64_t start = f->spans.ts[row];
    const struct generation_name name = {
        .by = (enum ta_generation_by)(1 + (code - 1) / CODES_A_SOURCE),
        .phase = (enum ta_generation_phase)((code - 1) % CODES_A_SOURCE / LEVELS),
        .level = (enum generation_level)((code - 1) % LEVELS)};
    f->failed |= !ta_vec_push(&f->marks, ((struct mark){.row = row,
                                                        .track = f->spans.track[row],
                                                        .start = start,
                                                        .end = start + f->spans.dur[row],
                                                        .name = name,
                                                        .outer = TA_GENERATION_PHASES,
                                                        .range = SIZE_MAX,
                                                        .is_inner = true}));
}

/* Which marks of one source lie in which: those that are open make a stack. */
static void nest(struct finding *f, enum ta_generation_by by)
{
    TA_VEC(size_t) open = {0};
    for (size_t i = 0; i < f->marks.n; i++) {
        struct mark *mark = &f->marks.at[i];
        if (mark->name.by != by)
            continue;
        while (open.n) {
            struct mark *outer = &f->marks.at[open.at[open.n - 1]];
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
static void find_ranges(struct finding *f)
{
    TA_VEC(size_t) open = {0};
    for (size_t i = 0; i < f->marks.n; i++) {
        struct mark *mark = &f->marks.at[i];
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
static const struct mark *mark_of(const struct finding *f, ta_row row)
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

enum { RANGES_MOST = 64 }; /* that are looked at around a mark */

/* ---- calls ----------------------------------------------------------------------------------- */

/* Ranges that only the denoiser of a program of diffusion has. */
static bool has_other_phase(const struct finding *f)
{
    for (size_t i = 0; i < f->marks.n; i++)
        if (f->marks.at[i].name.by == TA_GENERATION_BY_RANGE &&
            f->marks.at[i].name.phase == TA_GENERATION_VAE_DECODE)
            return true;
    return false;
}

static bool is_denoiser_call(const struct mark *mark, enum ta_generation_by by, bool with_weak)
{
    if (mark->name.by != by || mark->name.phase != TA_GENERATION_DENOISE)
        return false;
    if (by != TA_GENERATION_BY_RANGE)
        return mark->outer != TA_GENERATION_DENOISE;
    return mark->is_inner && (mark->name.level == GENERATION_CALL ||
                              (mark->name.level == GENERATION_WEAK && with_weak));
}

static void add_call(struct finding *f, const struct mark *mark)
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
static void add_denoiser(struct finding *f)
{
    static const enum ta_generation_by ways[] = {TA_GENERATION_BY_MODULE, TA_GENERATION_BY_RANGE,
                                                 TA_GENERATION_BY_FUNCTION};
    const bool with_weak = has_other_phase(f);
    for (size_t w = 0; w < sizeof ways / sizeof *ways && f->calls.n == 0; w++)
        for (size_t i = 0; i < f->marks.n; i++)
            if (is_denoiser_call(&f->marks.at[i], ways[w], with_weak))
                add_call(f, &f->marks.at[i]);
    if (f->calls.n)
        f->found->by = f->calls.at[0].by;
}

/* Calls of other phases: outermost ones of the first source that has any, outside of the denoiser's
 * calls, which are the first `n_denoiser` and in the order of the marks. */
static void add_phase(struct finding *f, enum ta_generation_phase phase, size_t n_denoiser)
{
    static const enum ta_generation_by ways[] = {TA_GENERATION_BY_MODULE, TA_GENERATION_BY_RANGE,
                                                 TA_GENERATION_BY_FUNCTION};
    const size_t before = f->calls.n;
    for (size_t w = 0; w < sizeof ways / sizeof *ways && f->calls.n == before; w++) {
        size_t next = 0;
        for (size_t i = 0; i < f->marks.n; i++) {
            const struct mark *mark = &f->marks.at[i];
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

static int by_start(const void *left, const void *right)
{
    const struct ta_generation_call *a = left, *b = right;
    if (a->time.host_start != b->time.host_start)
        return a->time.host_start < b->time.host_start ? -1 : 1;
    return (a->mark > b->mark) - (a->mark < b->mark);
}

static void find_calls(struct finding *f)
{
    add_denoiser(f);
    const size_t n = f->calls.n;
    if (n == 0 || f->failed)
        return;
    for (int phase = 0; phase < TA_GENERATION_PHASES; phase++)
        if (phase != TA_GENERATION_DENOISE)
            add_phase(f, (enum ta_generation_phase)phase, n);
    qsort(f->calls.at, f->calls.n, sizeof *f->calls.at, by_start);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* What a program marks as one image or request, by start: another may begin there. */
struct borders {
    const struct ta_program_steps *steps;
    size_t request, step; /* how many had begun */
};

/* Whether one began since the time that was asked for before. */
static bool begins_one(const struct finding *f, struct borders *b, int64_t time)
{
    const size_t before = b->request + b->step;
    const bool steps_count = b->steps->by == TA_STEPS_BY_ENGINE;
    while (b->request < b->steps->n_requests && f->spans.ts[b->steps->requests[b->request]] <= time)
        b->request++;
    while (steps_count && b->step < b->steps->n && b->steps->at[b->step].start <= time)
        b->step++;
    return b->request + b->step > before;
}

/* The end of the calls of one phase and image from `first` on. */
static size_t run_end(const struct finding *f, size_t first)
{
    size_t end = first + 1;
    while (end < f->calls.n && f->calls.at[end].phase == f->calls.at[first].phase &&
           f->calls.at[end].image == f->calls.at[first].image)
        end++;
    return end;
}

/* A decode that comes once the next prompt is encoded is of the image before, which was denoised
 * and not decoded; where several images were, and as many decodes follow each other, or a multiple,
 * each has its part.  What comes after a decode is of its image. */
static void give_decodes(struct finding *f)
{
    size_t denoised = 0, decoded = 0; /* images */
    for (size_t i = 0, end; i < f->calls.n; i = end) {
        struct ta_generation_call *calls = &f->calls.at[i];
        end = run_end(f, i);
        const size_t n = end - i, waiting = denoised - decoded, image = calls->image;
        if (calls->phase == TA_GENERATION_DENOISE)
            denoised = image + 1;
        if (calls->phase == TA_GENERATION_VAE_DECODE && waiting && n % waiting == 0) {
            for (size_t k = 0; k < n; k++)
                calls[k].image = decoded + k / (n / waiting);
            decoded = denoised;
        } else if (calls->phase == TA_GENERATION_VAE_DECODE && waiting) {
            decoded = denoised;
        } else if ((calls->phase == TA_GENERATION_POST ||
                    calls->phase == TA_GENERATION_VAE_DECODE) &&
                   decoded && image >= denoised) {
            for (size_t k = 0; k < n; k++)
                calls[k].image = decoded - 1;
        }
    }
}

/* Another image begins with the encoding of a prompt, or where the program marks it, once the one
 * before was denoised. */
static bool find_images(struct finding *f)
{
    struct borders borders = {.steps = ta_marked_steps(f->trace)};
    if (!borders.steps)
        return false;
    bool is_denoised = false;
    size_t image = 0;
    for (size_t i = 0; i < f->calls.n; i++) {
        struct ta_generation_call *call = &f->calls.at[i];
        const bool begins = begins_one(f, &borders, call->time.host_start);
        if (is_denoised && (call->phase == TA_GENERATION_TEXT_ENCODE ||
                            (begins && call->phase != TA_GENERATION_VAE_DECODE &&
                             call->phase != TA_GENERATION_POST))) {
            image++;
            is_denoised = false;
        }
        is_denoised |= call->phase == TA_GENERATION_DENOISE;
        call->image = image;
    }
    f->found->n_images = image + 1;
    if (image > 0)
        give_decodes(f);
    return true;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Widens a stage to the ranges around its first call that name the phase and hold no other call. */
static void widen(const struct finding *f, struct ta_generation_stage *stage)
{
    const struct ta_generation_call *calls = f->calls.at;
    const size_t after = stage->first_call + stage->n_calls;
    const int64_t before =
        stage->first_call ? calls[stage->first_call - 1].time.host_end : INT64_MIN;
    const int64_t next = after < f->calls.n ? calls[after].time.host_start : INT64_MAX;
    size_t range = mark_of(f, calls[stage->first_call].mark)->range;
    for (int i = 0; range != SIZE_MAX && i < RANGES_MOST; i++, range = f->marks.at[range].range) {
        const struct mark *mark = &f->marks.at[range];
        if (mark->name.phase != stage->phase || mark->end < stage->time.host_end ||
            mark->start < before || mark->end > next)
            continue;
        stage->by = TA_GENERATION_BY_RANGE;
        stage->time.host_start = mark->start;
        stage->time.host_end = mark->end;
    }
}

static void find_stages(struct finding *f)
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
        widen(f, &stage);
        f->failed |= !ta_vec_push(&f->stages, stage);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

enum { CALLS_A_STEP_MOST = 4 };

/* Whether gaps below the border make steps as guidance does: at least two of the same number of
 * calls, and single ones at most before or after them (guidance is often left out at an end), but
 * for one call in ten. */
static bool are_regular(const size_t *between, size_t n, size_t border)
{
    size_t of_size[CALLS_A_STEP_MOST + 1] = {0}, size = 1, last = 0, changes = 0, usual = 2;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && between[i] < border) {
            if (++size > CALLS_A_STEP_MOST)
                return false;
            continue;
        }
        of_size[size]++;
        changes += last != 0 && size != last;
        last = size;
        size = 1;
    }
    for (size_t k = 3; k <= CALLS_A_STEP_MOST; k++)
        usual = of_size[k] > of_size[usual] ? k : usual;
    size_t calls = of_size[1] + usual * of_size[usual];
    return of_size[usual] > 1 &&
           (10 * usual * of_size[usual] >= 9 * (n + 1) || (calls == n + 1 && changes <= 2));
}

/* The number of activities between calls of one step and between steps: guidance calls the denoiser
 * again at once, a step ends with the kernels of the scheduler.  What lies above the widest jump
 * between the numbers ends a step; SIZE_MAX: each call is a step. */
static size_t step_border(const size_t *between, size_t n)
{
    enum { KERNELS_MORE = 3 };
    size_t low = SIZE_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = between[i] < low ? between[i] : low;
        high = between[i] > high ? between[i] : high;
    }
    if (n < 2 || high < low + KERNELS_MORE)
        return SIZE_MAX;
    /* Halfway between the extremes; those near neither say that there are no two kinds. */
    const size_t border = low + (high - low + 1) / 2;
    size_t highest_low = low, lowest_high = high;
    for (size_t i = 0; i < n; i++)
        if (between[i] < border)
            highest_low = between[i] > highest_low ? between[i] : highest_low;
        else
            lowest_high = between[i] < lowest_high ? between[i] : lowest_high;
    if (lowest_high < highest_low + KERNELS_MORE)
        return SIZE_MAX;
    return are_regular(between, n, border) ? border : SIZE_MAX;
}

/* The range that is a step around a call: the nearest one of denoising; SIZE_MAX without. */
static size_t step_range(const struct finding *f, const struct ta_generation_call *call)
{
    size_t range = mark_of(f, call->mark)->range;
    for (int i = 0; range != SIZE_MAX && i < RANGES_MOST; i++, range = f->marks.at[range].range)
        if (f->marks.at[range].name.phase == TA_GENERATION_DENOISE)
            return range;
    return SIZE_MAX;
}

/* By ranges around the calls of a run: calls in the same range are one step.  False where ranges
 * hold none or too many. */
static bool steps_by_ranges(const struct finding *f, size_t first, size_t n, bool *begins)
{
    size_t last = SIZE_MAX, in_step = 0, most = 0, steps = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t range = step_range(f, &f->calls.at[first + i]);
        if (range == SIZE_MAX)
            return false;
        begins[i] = range != last;
        steps += begins[i];
        in_step = begins[i] ? 1 : in_step + 1;
        most = in_step > most ? in_step : most;
        last = range;
    }
    return most <= CALLS_A_STEP_MOST && steps > 1;
}

/* The steps of the calls [first, first + n), which are denoised one after the other. */
static void add_steps(struct finding *f, size_t first, size_t n, size_t block,
                      const size_t *between, bool *begins)
{
    if (!steps_by_ranges(f, first, n, begins)) {
        const size_t border = step_border(between + first, n - 1);
        for (size_t i = 0; i < n; i++)
            begins[i] = i == 0 || border == SIZE_MAX || between[first + i - 1] >= border;
    }
    int64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        struct ta_generation_call *call = &f->calls.at[first + i];
        if (begins[i]) {
            const struct ta_generation_step step = {.first_call = first + i,
                                                    .image = call->image,
                                                    .block = block,
                                                    .number = ++number,
                                                    .time = call->time};
            f->failed |= !ta_vec_push(&f->steps, step);
        }
        if (f->failed)
            return;
        struct ta_generation_step *step = &f->steps.at[f->steps.n - 1];
        step->n_calls++;
        step->time.host_end = ta_max_i64(step->time.host_end, call->time.host_end);
        call->step = f->steps.n - 1;
    }
}

static bool find_steps(struct finding *f, const size_t *between)
{
    bool *begins = calloc(f->calls.n + 1, sizeof *begins);
    if (!begins)
        return false;
    size_t block = 0, image = SIZE_MAX;
    for (size_t i = 0; i < f->stages.n; i++) {
        const struct ta_generation_stage *stage = &f->stages.at[i];
        if (stage->phase != TA_GENERATION_DENOISE)
            continue;
        block = stage->image == image ? block + 1 : 0;
        image = stage->image;
        add_steps(f, stage->first_call, stage->n_calls, block, between, begins);
        f->found->n_blocks++;
    }
    free(begins);
    bool are_equal = true;
    for (size_t i = 1; i < f->steps.n; i++)
        are_equal &= f->steps.at[i].n_calls == f->steps.at[0].n_calls;
    f->found->forwards_per_step = are_equal && f->steps.n ? f->steps.at[0].n_calls : 0;
    return !f->failed;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool find_marked(struct finding *f)
{
    if (!ta_each_named(f->trace, wanted, take_mark, f) || f->failed)
        return false;
    if (f->marks.n == 0 || f->trains)
        return true;
    for (int by = TA_GENERATION_BY_RANGE; by < TA_GENERATION_BY_KERNELS; by++)
        nest(f, (enum ta_generation_by)by);
    find_ranges(f);
    find_calls(f);
    if (f->failed || f->calls.n == 0)
        return !f->failed;
    f->found->denoiser = TA_STR_ABSENT;
    for (size_t i = 0; i < f->calls.n && f->found->denoiser == TA_STR_ABSENT; i++)
        if (f->calls.at[i].phase == TA_GENERATION_DENOISE)
            f->found->denoiser = f->spans.name[f->calls.at[i].mark];
    if (!find_images(f))
        return false;
    find_stages(f);
    f->found->confidence = 1;
    return !f->failed;
}

static void give_lists(struct finding *f)
{
    f->found->calls = f->calls.at;
    f->found->n_calls = f->calls.n;
    f->found->steps = f->steps.at;
    f->found->n_steps = f->steps.n;
    f->found->stages = f->stages.at;
    f->found->n_stages = f->stages.n;
}

/* What finds it has lists of its own. */
static bool find_in_kernels(struct finding *f)
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

static bool find_generation(struct finding *f)
{
    const bool marked = find_marked(f);
    give_lists(f);
    if (!marked)
        return false;
    if (f->calls.n == 0)
        return f->trains || find_in_kernels(f);
    size_t *between = calloc(f->calls.n + 1, sizeof *between);
    bool done =
        between && generation_time_calls(f->trace, f->found, between) && find_steps(f, between);
    free(between);
    give_lists(f);
    return done && generation_time_parts(f->trace, f->found) &&
           generation_kinds(f->trace, f->found);
}

static void free_generation(void *at)
{
    struct ta_generation *found = at;
    free(found->calls);
    free(found->steps);
    free(found->stages);
    free(found->call_of);
    free(found);
}

static void *make_generation(const struct ta_trace *trace)
{
    struct finding f = {
        .trace = trace, .spans = ta_trace_spans(trace), .found = calloc(1, sizeof *f.found)};
    if (f.found)
        f.found->denoiser = TA_STR_ABSENT;
    const bool done = f.found && find_generation(&f);
    free(f.marks.at);
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
