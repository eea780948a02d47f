/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one trace shows of a diffusion run: the partials. */
#include "lib/modules.h"
#include "model/program/generation.h"
#include "model/program/marker.h"
#include "model/program/window.h"
#include "partials.h"
#include "stage_times.h"

#include <stdlib.h>

/* A point in time since the origin, or TA_MISSING. */
static int64_t since(const struct ta_trace *trace, int64_t time)
{
    return time == TA_MISSING ? TA_MISSING : time - ta_trace_origin(trace);
}

static int64_t length(int64_t start, int64_t end)
{
    return start == TA_MISSING ? TA_MISSING : end - start;
}

static int64_t *add_part(const struct ta_trace *trace, const struct ta_generation_time *time,
                         int64_t order, enum ta_generation_phase of, enum ta_generation_by by,
                         struct ta_slice name, struct ta_partial *out)
{
    const int64_t start = time->host_start != TA_MISSING ? time->host_start : time->gpu_start;
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(since(trace, start)),
                       ta_key_int(order), ta_key_int(of), ta_key_int(by), ta_key_text(name));
    ta_most(&row[OF_HOST_START], since(trace, time->host_start));
    ta_most(&row[OF_HOST_DUR], length(time->host_start, time->host_end));
    ta_most(&row[OF_GPU_START], since(trace, time->gpu_start));
    ta_most(&row[OF_GPU_DUR], length(time->gpu_start, time->gpu_end));
    ta_most(&row[OF_GPU_BUSY], time->gpu_busy);
    ta_most(&row[OF_KERNELS], time->kernels);
    return row;
}

/* The name as people know it: for a module, its class. */
static struct ta_slice model_name(const struct ta_trace *trace, ta_row mark)
{
    enum { NAME_MOST = 200 };
    if (mark == TA_NO_ROW)
        return TA_LIT("");
    struct ta_slice name = ta_trace_text(trace, ta_trace_spans(trace).name[mark]);
    if (ta_is_module(name))
        return ta_module_name(name);
    for (name.len = name.len < NAME_MOST ? name.len : NAME_MOST;
         name.len == NAME_MOST && (name.ptr[name.len - 1] & 0x80);)
        name.len--; /* do not cut within a character */
    return name;
}

static void add_parts(const struct ta_trace *trace, const struct ta_generation *found,
                      const int64_t *times, struct ta_partial *const *out)
{
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_stage *at = &found->stages[i];
        int64_t host = 0;
        for (size_t c = 0; c < at->n_calls; c++) {
            const struct ta_generation_time *time = &found->calls[at->first_call + c].time;
            host += time->host_start == TA_MISSING ? 0 : time->host_end - time->host_start;
        }
        int64_t *row = add_part(trace, &at->time, (int64_t)i, at->phase, at->by, TA_LIT(""),
                                out[PARTIAL_STAGES]);
        if (at->image != SIZE_MAX)
            ta_most(&row[OF_IMAGE], (int64_t)at->image + 1);
        ta_most(&row[OF_CALLS], (int64_t)at->n_calls);
        ta_most(&row[OF_TIME], times[i]);
        if (at->time.host_start != TA_MISSING)
            ta_most(&row[OF_CALLS_HOST], host);
    }
    for (size_t i = 0; i < found->n_calls; i++) {
        const struct ta_generation_call *at = &found->calls[i];
        int64_t *row = add_part(trace, &at->time, (int64_t)i, at->phase, at->by,
                                model_name(trace, at->mark), out[PARTIAL_CALLS]);
        if (at->image != SIZE_MAX)
            ta_most(&row[OF_IMAGE], (int64_t)at->image + 1);
        ta_most(&row[OF_KIND], at->kind);
        if (at->step != SIZE_MAX)
            ta_most(&row[OF_STEP], (int64_t)at->step + 1);
    }
}

/* Number of images that are denoised and then decoded, possibly after all are denoised; false
 * without memory. */
static bool complete_images(const struct ta_generation *found, int64_t *n)
{
    enum { NOT_BEGUN, DENOISED, DECODED };
    uint8_t *states = calloc(found->n_images + 1, sizeof *states);
    for (size_t i = 0; states && i < found->n_stages; i++) {
        const struct ta_generation_stage *at = &found->stages[i];
        if (at->image >= found->n_images)
            continue; /* on a rank that decodes for others */
        uint8_t *state = &states[at->image];
        if (at->phase == TA_GENERATION_DENOISE && *state == NOT_BEGUN)
            *state = DENOISED;
        if (at->phase == TA_GENERATION_VAE_DECODE && *state == DENOISED) {
            *state = DECODED;
            ++*n;
        }
    }
    const bool done = states != NULL;
    free(states);
    return done;
}

static void add_periods(const struct ta_generation *found, int64_t *row)
{
    for (size_t i = 1; i < found->n_steps; i++) {
        const struct ta_generation_step *a = &found->steps[i - 1], *b = &found->steps[i];
        if (a->image != b->image || a->block != b->block)
            continue;
        ta_sum(&row[RUN_PERIODS], 1);
        ta_sum(&row[RUN_PERIODS_NS], ta_max_i64(0, ta_generation_span(&b->time).start -
                                                       ta_generation_span(&a->time).start));
    }
}

static void add_run(const struct ta_trace *trace, const struct ta_generation *found,
                    const struct ta_program_window *window, int64_t covered, int64_t complete,
                    struct ta_partial *out)
{
    struct ta_slice name =
        found->denoiser == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, found->denoiser);
    char text[64];
    name = ta_is_module(name) ? ta_module_class(name) : ta_marker_kind(name, text);
    int64_t forwards = 0, full = 0;
    for (size_t i = 0; i < found->n_calls; i++)
        if (found->calls[i].phase == TA_GENERATION_DENOISE) {
            forwards++;
            full += found->calls[i].kind == 0;
        }
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(found->by),
                                  ta_key_text(name));
    ta_sum(&row[RUN_IMAGES], (int64_t)found->n_images);
    ta_sum(&row[RUN_COMPLETE], complete);
    ta_sum(&row[RUN_BLOCKS], (int64_t)found->n_blocks);
    ta_sum(&row[RUN_STEPS], (int64_t)found->n_steps);
    ta_sum(&row[RUN_FORWARDS], forwards);
    ta_sum(&row[RUN_FULL], full);
    ta_most(&row[RUN_PER_STEP], (int64_t)found->forwards_per_step);
    ta_most(&row[RUN_LAYERS], (int64_t)found->layers);
    ta_sum(&row[RUN_WINDOW], window->end - window->start);
    ta_least(&row[RUN_CONFIDENCE], ta_whole(found->confidence * 1e6));
    ta_sum(&row[RUN_COVERED], covered);
    ta_sum(&row[RUN_PROMPTS], (int64_t)found->n_prompts);
    ta_sum(&row[RUN_REQUESTS], (int64_t)found->n_requests);
    ta_most(&row[RUN_AT_ONCE], (int64_t)found->n_at_once);
    ta_most(&row[RUN_MAKES], found->makes);
    add_periods(found, row);
}

enum ta_status generation_collect(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    const struct ta_program_window *window = ta_program_window(trace);
    if (!found || !window)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->by == TA_GENERATION_BY_NOTHING)
        found = found->aside;
    if (!found)
        return TA_OK;
    int64_t covered = 0, complete = 0, *times = calloc(found->n_stages + 1, sizeof *times);
    const bool done = times && generation_stage_times(found, times, &covered) &&
                      complete_images(found, &complete);
    if (done) {
        add_parts(trace, found, times, out);
        add_run(trace, found, window, covered, complete, out[PARTIAL_RUNS]);
    }
    free(times);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
}
