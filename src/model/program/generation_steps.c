/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which passes of a marked denoiser are one step: those in one range of the program, else those
 * between which hardly anything is launched. */
#include "model/program/generation_marks.h"

#include <stdlib.h>

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

/* The number of activities between calls from which on a step ends: guidance calls the denoiser
 * again at once, a step ends with the kernels of the scheduler, and a block of a video with more.
 * Calls between which more is launched than guidance has any use for are steps, however much more
 * lies between others.  SIZE_MAX: each call is a step. */
static size_t step_border(const size_t *between, size_t n)
{
    enum { AT_ONCE_MOST = 4, KERNELS_MORE = 3, TIMES_MORE = 3 };
    for (size_t most = 0; n > 1 && most <= AT_ONCE_MOST; most++) {
        size_t low = 0, high = SIZE_MAX, n_low = 0;
        for (size_t i = 0; i < n; i++)
            if (between[i] <= most) {
                low = between[i] > low ? between[i] : low;
                n_low++;
            } else {
                high = between[i] < high ? between[i] : high;
            }
        if (n_low > 0 && n_low < n && high >= low + KERNELS_MORE &&
            (low <= 1 || high >= TIMES_MORE * low))
            return are_regular(between, n, high) ? high : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* The range that is a step around a call: the nearest one of denoising; SIZE_MAX without. */
static size_t step_range(const struct generation_finding *f, const struct ta_generation_call *call)
{
    size_t range = generation_mark_of(f, call->mark)->range;
    for (int i = 0; range != SIZE_MAX && i < GENERATION_RANGES_MOST;
         i++, range = f->marks.at[range].range)
        if (f->marks.at[range].name.phase == TA_GENERATION_DENOISE)
            return range;
    return SIZE_MAX;
}

/* By ranges around the calls of a run: calls in the same range are one step.  False where ranges
 * hold none or too many. */
static bool steps_by_ranges(const struct generation_finding *f, size_t first, size_t n,
                            bool *begins)
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
static void add_steps(struct generation_finding *f, size_t first, size_t n, size_t block,
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

bool generation_find_steps(struct generation_finding *f, const size_t *between)
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
