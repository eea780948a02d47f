/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of a program in stretches: phases and steps of a diffusion, and what lies between. */
#include "model/program/generation.h"
#include "model/program/window.h"
#include "picture.h"

#include <stdlib.h>

/* More steps are one stretch; more phases than can be told apart are none at all. */
enum { STEPS_MOST = 12, STAGES_MOST = 40 };

static void add(struct picture_stretches *out, int64_t end, int64_t phase, int64_t step)
{
    const int64_t start = out->n ? out->at[out->n - 1].end : out->at[0].start;
    if (end > start)
        out->at[out->n++] = (struct picture_stretch){start, end, phase, step};
}

static int64_t first_start(const struct ta_generation_time *time)
{
    if (time->host_start == TA_MISSING || time->gpu_start == TA_MISSING)
        return ta_generation_span(time).start;
    return ta_min_i64(time->host_start, time->gpu_start);
}

static int64_t last_end(const struct ta_generation_time *time)
{
    if (time->host_start == TA_MISSING || time->gpu_start == TA_MISSING)
        return ta_generation_span(time).end;
    return ta_max_i64(time->host_end, time->gpu_end);
}

static int by_start(const void *left, const void *right)
{
    const struct ta_generation_stage *const *a = left, *const *b = right;
    const int64_t x = ta_generation_span(&(*a)->time).start;
    const int64_t y = ta_generation_span(&(*b)->time).start;
    return x != y ? (x > y) - (x < y) : (*a > *b) - (*a < *b);
}

/* A phase up to `end`, each step of it up to where the next one begins. */
static void add_stage(struct picture_stretches *out, const struct ta_generation *found,
                      const struct ta_generation_stage *stage, int64_t end)
{
    if (stage->phase == TA_GENERATION_DENOISE && found->n_steps <= STEPS_MOST)
        for (size_t i = 0; i + 1 < found->n_steps; i++) {
            const struct ta_generation_step *step = &found->steps[i];
            const int64_t next = ta_generation_span(&found->steps[i + 1].time).start;
            const bool is_inside =
                step->first_call >= stage->first_call &&
                step->first_call + step->n_calls < stage->first_call + stage->n_calls;
            if (is_inside && next < end)
                add(out, next, stage->phase, step->number);
        }
    const struct picture_stretch *last = out->n ? &out->at[out->n - 1] : NULL;
    const bool in_steps = last && last->phase == stage->phase && last->step != TA_MISSING;
    add(out, end, stage->phase, in_steps ? last->step + 1 : TA_MISSING);
}

static void add_stages(struct picture_stretches *out, const struct ta_generation *found,
                       const struct ta_generation_stage **order, int64_t window_end)
{
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_time *time = &order[i]->time;
        add(out, ta_min_i64(first_start(time), window_end), TA_MISSING, TA_MISSING);
        int64_t end = last_end(time);
        if (i + 1 < found->n_stages)
            end = ta_min_i64(end, ta_max_i64(ta_generation_span(time).end,
                                             ta_generation_span(&order[i + 1]->time).start));
        add_stage(out, found, order[i], ta_min_i64(end, window_end));
    }
}

bool picture_stretches_find(const struct ta_trace *trace, struct picture_stretches *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    const struct ta_program_window *window = ta_program_window(trace);
    *out = (struct picture_stretches){NULL, 0};
    if (!found || !window)
        return false;
    const struct ta_generation_stage **order = calloc(found->n_stages + 1, sizeof *order);
    out->at = calloc(2 * found->n_stages + STEPS_MOST * found->n_stages + 2, sizeof *out->at);
    if (order && out->at) {
        for (size_t i = 0; i < found->n_stages; i++)
            order[i] = &found->stages[i];
        qsort(order, found->n_stages, sizeof *order, by_start);
        out->at[0].start = window->start;
        if (found->n_stages <= STAGES_MOST)
            add_stages(out, found, order, window->end);
        add(out, window->end, TA_MISSING, TA_MISSING);
    }
    const bool done = order && out->at;
    free(order);
    return done;
}
