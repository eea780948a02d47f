/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generation from kernels alone, where the program marks nothing of it. */
#include "model/program/kernels/denoising.h"
#include "model/program/generation.h"

#include <stdlib.h>

static enum ta_generation_phase phase_of(enum ta_denoising_phase phase)
{
    static const enum ta_generation_phase phases[] = {
        [TA_DENOISING_TEXT] = TA_GENERATION_TEXT_ENCODE,
        [TA_DENOISING_IMAGE] = TA_GENERATION_IMAGE_ENCODE,
        [TA_DENOISING_DENOISE] = TA_GENERATION_DENOISE,
        [TA_DENOISING_DECODE] = TA_GENERATION_VAE_DECODE};
    return phases[phase];
}

/* Of activities [first, end), in their order by start.  The host's time is not known. */
static struct ta_generation_time time_of(const struct ta_trace *trace, size_t first, size_t end)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_activity *at = ta_trace_activities(trace).at;
    struct ta_generation_time time = {.host_start = TA_MISSING,
                                      .host_end = TA_MISSING,
                                      .gpu_start = spans.ts[at[first].span],
                                      .gpu_end = INT64_MIN,
                                      .activities = (int64_t)(end - first)};
    for (size_t i = first; i < end; i++) {
        const int64_t start = spans.ts[at[i].span], until = start + spans.dur[at[i].span];
        time.gpu_busy += ta_max_i64(0, until - ta_max_i64(start, time.gpu_end));
        time.gpu_end = ta_max_i64(time.gpu_end, until);
        time.kernels += at[i].kernel != TA_NO_KERNEL;
    }
    return time;
}

static bool encodes(enum ta_generation_phase phase)
{
    return phase == TA_GENERATION_TEXT_ENCODE || phase == TA_GENERATION_IMAGE_ENCODE;
}

/* Whether calls of the denoiser take longer from each run of them to the next: later blocks of a
 * video attend to all before them. */
static bool grows(const struct ta_generation *found)
{
    enum { RUNS_LEAST = 3 };
    const double more = 1.05;
    size_t runs = 0, n = 0;
    int64_t sum = 0;
    double before = 0;
    for (size_t i = 0; i <= found->n_calls; i++) {
        if (i < found->n_calls && found->calls[i].phase == TA_GENERATION_DENOISE) {
            sum += found->calls[i].time.gpu_busy;
            n++;
        } else if (n > 0) {
            const double mean = (double)sum / (double)n;
            if (mean < more * before)
                return false;
            before = mean;
            runs++;
            n = 0;
            sum = 0;
        }
    }
    return runs >= RUNS_LEAST;
}

/* Another image begins with what is encoded for it, once the one before was denoised; where calls
 * do not make blocks of a video, also after what is decoded of the one before. */
static void find_images(const struct ta_denoising *denoising, struct ta_generation *found)
{
    const bool has_blocks = denoising->n_blocks > 0 || grows(found);
    bool is_denoised = false, is_decoded = false;
    size_t image = 0;
    for (size_t i = 0; i < found->n_calls; i++) {
        const enum ta_generation_phase phase = found->calls[i].phase;
        const bool denoises = phase == TA_GENERATION_DENOISE;
        if ((is_denoised && encodes(phase)) || (is_decoded && denoises && !has_blocks)) {
            image++;
            is_denoised = is_decoded = false;
        }
        is_denoised |= denoises;
        is_decoded = (is_decoded || phase == TA_GENERATION_VAE_DECODE) && !denoises;
        found->calls[i].image = image;
    }
    found->n_images = image + 1;
}

static void add_calls(const struct ta_trace *trace, const struct ta_denoising *denoising,
                      struct ta_generation *found)
{
    for (size_t i = 0; i < ta_trace_activities(trace).n; i++)
        found->call_of[i] = UINT32_MAX;
    for (size_t i = 0; i < denoising->n_calls; i++) {
        const struct ta_denoising_call *call = &denoising->calls[i];
        for (size_t k = call->first; k < call->end; k++)
            found->call_of[k] = (uint32_t)i;
        found->calls[found->n_calls++] =
            (struct ta_generation_call){.phase = phase_of(call->phase),
                                        .by = TA_GENERATION_BY_KERNELS,
                                        .mark = TA_NO_ROW,
                                        .track = UINT32_MAX,
                                        .step = call->step,
                                        .time = time_of(trace, call->first, call->end)};
    }
    find_images(denoising, found);
}

static void add_stages(const struct ta_trace *trace, const struct ta_denoising *denoising,
                       struct ta_generation *found)
{
    const struct ta_generation_call *calls = found->calls;
    for (size_t first = 0, end; first < found->n_calls; first = end) {
        for (end = first + 1; end < found->n_calls && calls[end].phase == calls[first].phase &&
                              calls[end].image == calls[first].image;)
            end++;
        found->stages[found->n_stages++] = (struct ta_generation_stage){
            .phase = calls[first].phase,
            .by = TA_GENERATION_BY_KERNELS,
            .image = calls[first].image,
            .first_call = first,
            .n_calls = end - first,
            .track = UINT32_MAX,
            .time = time_of(trace, denoising->calls[first].first, denoising->calls[end - 1].end)};
    }
}

/* The steps of a stage, the block of whose first call is `block`; returns the block of the last. */
static size_t add_steps_of(const struct ta_trace *trace, const struct ta_denoising *denoising,
                           const struct ta_generation_stage *stage, size_t block,
                           struct ta_generation *found)
{
    size_t part = denoising->calls[stage->first_call].block;
    int64_t number = 0;
    for (size_t c = stage->first_call; c < stage->first_call + stage->n_calls; c++) {
        const struct ta_denoising_call *call = &denoising->calls[c];
        if (call->block != part) {
            part = call->block;
            number = 0;
            block++;
            found->n_blocks++;
        }
        if (call->step == SIZE_MAX || denoising->steps[call->step].first_call != c)
            continue;
        const struct ta_denoising_step *step = &denoising->steps[call->step];
        const size_t last = step->first_call + step->n_calls - 1;
        found->steps[found->n_steps++] = (struct ta_generation_step){
            .first_call = step->first_call,
            .n_calls = step->n_calls,
            .image = stage->image,
            .block = block,
            .number = ++number,
            .time = time_of(trace, call->first, denoising->calls[last].end)};
    }
    return block;
}

static void add_steps(const struct ta_trace *trace, const struct ta_denoising *denoising,
                      struct ta_generation *found)
{
    size_t block = 0, before = SIZE_MAX;
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_stage *stage = &found->stages[i];
        if (stage->phase != TA_GENERATION_DENOISE)
            continue;
        block = stage->image == before ? block + 1 : 0;
        before = stage->image;
        found->n_blocks++;
        block = add_steps_of(trace, denoising, stage, block, found);
    }
}

/* Kinds of the denoiser's calls do not count what was lost or is strange. */
static void take_kinds(const struct ta_denoising *denoising, struct ta_generation *found)
{
    for (size_t i = 0; i < found->n_calls; i++)
        if (found->calls[i].phase == TA_GENERATION_DENOISE)
            found->calls[i].kind = denoising->calls[i].kind;
    for (size_t i = 0; i < found->n_steps; i++)
        found->steps[i].kind = found->calls[found->steps[i].first_call].kind;
    if (found->layers == 0)
        found->layers = denoising->layers;
}

static bool take(const struct ta_trace *trace, const struct ta_denoising *denoising,
                 struct ta_generation *found)
{
    found->calls = calloc(denoising->n_calls, sizeof *found->calls);
    found->steps = calloc(denoising->n_steps, sizeof *found->steps);
    found->stages = calloc(denoising->n_calls, sizeof *found->stages);
    found->call_of = malloc((ta_trace_activities(trace).n + 1) * sizeof *found->call_of);
    if (!found->calls || !found->steps || !found->stages || !found->call_of)
        return false;
    found->by = TA_GENERATION_BY_KERNELS;
    add_calls(trace, denoising, found);
    add_stages(trace, denoising, found);
    add_steps(trace, denoising, found);
    found->forwards_per_step = denoising->forwards_per_step;
    found->confidence = denoising->confidence;
    if (!generation_kinds(trace, found))
        return false;
    take_kinds(denoising, found);
    return true;
}

bool generation_by_kernels(const struct ta_trace *trace, struct ta_generation *found)
{
    struct ta_denoising denoising;
    if (!ta_denoising_find(trace, &denoising))
        return false;
    const bool done = denoising.n_calls == 0 || take(trace, &denoising, found);
    ta_denoising_free(&denoising);
    return done;
}
