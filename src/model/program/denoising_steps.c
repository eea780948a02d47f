/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of the denoiser as the steps of a program that marks none of its own, or one around all
 * of them. */
#include "model/fact.h"
#include "model/program/generation.h"
#include "model/program/steps.h"

#include <stdio.h>
#include <stdlib.h>

static bool has_host_times(const struct ta_generation *generation)
{
    for (size_t i = 0; i < generation->n_steps; i++)
        if (generation->steps[i].time.host_start == TA_MISSING)
            return false;
    return generation->n_steps > 1;
}

/* What the program marks says more, unless it is one step.  Steps of images that are denoised in
 * turns lie in each other. */
static bool are_wanted(const struct ta_program_steps *marked,
                       const struct ta_generation *generation)
{
    return marked->n <= 1 && marked->by != TA_STEPS_BY_USER && generation->n_at_once == 1 &&
           has_host_times(generation);
}

static bool fill(struct ta_program_steps *steps, const struct ta_generation *generation)
{
    /* Of each number, how many steps had it so far: of the images and blocks before. */
    uint64_t *repeats = calloc(generation->n_steps + 1, sizeof *repeats);
    steps->at = calloc(generation->n_steps + 1, sizeof *steps->at);
    steps->by = TA_STEPS_BY_DENOISER;
    for (size_t i = 0; repeats && steps->at && i < generation->n_steps; i++) {
        const struct ta_generation_step *step = &generation->steps[i];
        steps->at[steps->n++] =
            (struct ta_program_step){.start = step->time.host_start,
                                     .end = step->time.host_end,
                                     .mark = generation->calls[step->first_call].mark,
                                     .number = step->number,
                                     .repeat = repeats[step->number]++};
    }
    const bool done = repeats && steps->at;
    free(repeats);
    return done;
}

static void free_steps(void *at)
{
    struct ta_program_steps *steps = at;
    free(steps->at);
    free(steps);
}

/* Without wishes for them, an empty list that points to the marked ones. */
static void *make_steps(const struct ta_trace *trace)
{
    const struct ta_program_steps *marked = ta_marked_steps(trace);
    const struct ta_generation *generation = marked ? ta_program_generation(trace) : NULL;
    struct ta_program_steps *steps = generation ? calloc(1, sizeof *steps) : NULL;
    if (!steps)
        return NULL;
    steps->around = marked;
    steps->requests = marked->requests;
    steps->n_requests = marked->n_requests;
    if (!are_wanted(marked, generation) || fill(steps, generation))
        return steps;
    free_steps(steps);
    return NULL;
}

const struct ta_program_steps *ta_program_steps(const struct ta_trace *trace)
{
    const struct ta_program_steps *steps =
        ta_trace_fact(trace, TA_FACT_STEPS, make_steps, free_steps);
    return steps && steps->n == 0 ? steps->around : steps;
}

struct ta_slice ta_denoising_step_name(int64_t number, char text[TA_STEP_NAME_ROOM])
{
    const int n = snprintf(text, TA_STEP_NAME_ROOM, "denoising step %lld", (long long)number);
    return (struct ta_slice){text, (size_t)n};
}

struct ta_slice ta_program_step_name(const struct ta_trace *trace,
                                     const struct ta_program_steps *steps, size_t i,
                                     char text[TA_STEP_NAME_ROOM])
{
    if (steps->by != TA_STEPS_BY_DENOISER)
        return ta_trace_text(trace, ta_trace_spans(trace).name[steps->at[i].mark]);
    return ta_denoising_step_name(steps->at[i].number, text);
}
