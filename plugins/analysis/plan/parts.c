/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.h"

#include "stat/sample.h"
#include "stat/series.h"

#include <math.h>
#include <stdlib.h>

const struct ta_ref plan_reads[PLAN_READS] = {
    [BY_RANK_RANK] = {"diffusion.by_rank", "rank"},
    [BY_RANK_STEPS] = {"diffusion.by_rank", "steps_per_pass"},
    [BY_RANK_STEP_MEAN] = {"diffusion.by_rank", "step_mean_ns"},
    [BY_RANK_RECORDS] = {"diffusion.by_rank", "records_per_step"},
    [BY_RANK_BLOCK_MEAN] = {"diffusion.by_rank", "block_mean_ns"},
    [STEPS_RANK] = {"diffusion.steps", "rank"},
    [STEPS_PASS] = {"diffusion.steps", "pass"},
    [STEPS_SIZE] = {"diffusion.steps", "block_size"},
    [STEPS_TIME] = {"diffusion.steps", "step_ns"},
    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_FRAMES] = {"diffusion.blocks", "frames"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
    [BLOCKS_END] = {"diffusion.blocks", "end_ns"},
    [BLOCKS_VIDEO] = {"diffusion.blocks", "video"},
    [VIDEO_RANK] = {"playback.by_video", "rank"},
    [VIDEO_RATIO] = {"playback.by_video", "ratio"},
    [VIDEO_FRAMES] = {"playback.by_video", "frames"},
    [VIDEO_DECODE] = {"playback.by_video", "decode_ns"},
    [VIDEO_READY] = {"playback.by_video", "ready"},
    [VIDEO_ORIGIN] = {"playback.by_video", "origin"},
    [VIDEO_FIRST] = {"playback.by_video", "first_ns"},
    [LOOP_RANK] = {"diffusion.loops", "rank"},
    [LOOP_IMAGES] = {"diffusion.loops", "images"},
    [LOOP_BLOCKS] = {"diffusion.loops", "blocks"},
    [LOOP_STEPS] = {"diffusion.loops", "steps"},
    [LOOP_FORWARDS] = {"diffusion.loops", "forwards"},
    [LOOP_FORWARDS_PER_STEP] = {"diffusion.loops", "forwards_per_step"},
    [LOOP_FULL] = {"diffusion.loops", "full"},
    [LOOP_PERIOD] = {"diffusion.loops", "step_period_ns"},
    [LOOP_IMAGE] = {"diffusion.loops", "image_ns"},
    [CALL_RANK] = {"diffusion.calls", "rank"},
    [CALL_PHASE] = {"diffusion.calls", "phase"},
    [CALL_IMAGE] = {"diffusion.calls", "image"},
    [CALL_STEP] = {"diffusion.calls", "step"},
    [CALL_KIND] = {"diffusion.calls", "kind"},
    [CALL_GPU_START] = {"diffusion.calls", "gpu_start_ns"},
    [CALL_HOST_START] = {"diffusion.calls", "host_start_ns"},
    [PHASE_RANK] = {"phases.by_rank", "rank"},
    [PHASE_NAME] = {"phases.by_rank", "phase"},
    [PHASE_TIME] = {"phases.by_rank", "time_ns"},
};

/* Room for so many steps and as many rests. */
static bool open_parts(struct parts *parts, size_t n)
{
    *parts = (struct parts){.rank = TA_MISSING,
                            .steps_least = NAN,
                            .steps_most = NAN,
                            .size_least = NAN,
                            .size_most = NAN,
                            .block = NAN,
                            .frames = NAN,
                            .guidance = NAN,
                            .ratio = 1,
                            .start_ns = NAN,
                            .work = calloc(5 * (n + 1), sizeof(double)),
                            .marks = calloc(2 * (n + 1), sizeof(bool))};
    double *work = parts->work;
    if (!work || !parts->marks)
        return false;
    parts->steps = (struct measured){work, work + n + 1, parts->marks, 0};
    parts->rests =
        (struct measured){work + 2 * (n + 1), work + 3 * (n + 1), parts->marks + n + 1, 0};
    return true;
}

void plan_parts_free(struct parts *parts)
{
    free(parts->work);
    free(parts->marks);
}

static void add(struct measured *list, double ns, double size, bool is_short)
{
    list->ns[list->n] = ns;
    list->size[list->n] = size;
    list->is_short[list->n++] = is_short;
}

static void widen(double *least, double *most, double value)
{
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

/* Leaves out the first steps, which set the run up; `work` is theirs for the time. */
static void leave_set_up_out(struct measured *steps, double *work)
{
    const size_t n = ta_first_steps(steps->ns, steps->n, work);
    for (size_t i = n; i < steps->n; i++) {
        steps->ns[i - n] = steps->ns[i];
        steps->size[i - n] = steps->size[i];
        steps->is_short[i - n] = steps->is_short[i];
    }
    steps->n -= n;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

/* The row of diffusion.by_rank whose block, or pass, takes longest. */
static size_t slowest_rank(const struct ta_refs *in)
{
    size_t slowest = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, BY_RANK_STEPS); i++) {
        const double pass =
            ta_ref_number(in, BY_RANK_STEPS, i, 0) * ta_ref_number(in, BY_RANK_STEP_MEAN, i, 0);
        const double time = fmax(pass, pass > 0 ? ta_ref_number(in, BY_RANK_BLOCK_MEAN, i, 0) : 0);
        if (time > most) {
            most = time;
            slowest = i;
        }
    }
    return slowest;
}

/* Steps of a pass and their time, for rows [first, …) of diffusion.steps; returns its end. */
static size_t sum_pass(const struct ta_refs *in, size_t first, struct parts *parts, double *ns,
                       double *n)
{
    size_t i = first;
    *ns = *n = 0;
    for (; i < ta_ref_rows(in, STEPS_RANK) && ta_ref_integer(in, STEPS_RANK, i) == parts->rank &&
           ta_ref_integer(in, STEPS_PASS, i) == ta_ref_integer(in, STEPS_PASS, first);
         i++) {
        const double time = ta_ref_number(in, STEPS_TIME, i, NAN);
        if (isnan(time))
            continue; /* a record before the last one of its step */
        *ns += time;
        *n += 1;
        add(&parts->steps, time, ta_ref_number(in, STEPS_SIZE, i, 0), false);
    }
    return i;
}

static size_t count_blocks(const struct ta_refs *in, int64_t rank, size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, BLOCKS_RANK); i++)
        if (ta_ref_integer(in, BLOCKS_RANK, i) == rank) {
            *first = n == 0 ? i : *first;
            n++;
        }
    return n;
}

/* What a block takes: from the end of the one before it, where there is one. */
static double block_period(const struct ta_refs *in, size_t row, bool is_first)
{
    const double end = ta_ref_number(in, BLOCKS_END, row, NAN);
    const double before = is_first || ta_ref_integer(in, BLOCKS_VIDEO, row) !=
                                          ta_ref_integer(in, BLOCKS_VIDEO, row - 1)
                              ? NAN
                              : ta_ref_number(in, BLOCKS_END, row - 1, NAN);
    const double period = end - before;
    const double dur = ta_ref_number(in, BLOCKS_TIME, row, NAN);
    return isnan(period) || period < dur ? dur : period;
}

static void read_passes(const struct ta_refs *in, struct parts *parts)
{
    size_t block = 0, passes = 0, i = 0;
    const size_t n_blocks = count_blocks(in, parts->rank, &block);
    double sizes = 0;
    while (i < ta_ref_rows(in, STEPS_RANK) && ta_ref_integer(in, STEPS_RANK, i) != parts->rank)
        i++;
    for (size_t first = i;
         i < ta_ref_rows(in, STEPS_RANK) && ta_ref_integer(in, STEPS_RANK, i) == parts->rank;
         passes++) {
        double ns, n;
        i = sum_pass(in, i, parts, &ns, &n);
        widen(&parts->steps_least, &parts->steps_most, n);
        if (passes >= n_blocks)
            continue;
        const size_t row = block + passes;
        const double frames = ta_ref_number(in, BLOCKS_FRAMES, row, NAN);
        const double period = block_period(in, row, passes == 0);
        if (!isnan(period - frames)) {
            widen(&parts->size_least, &parts->size_most, frames);
            sizes += frames;
            /* The first block also sets up what its first step does. */
            if (i > first && (passes > 0 || n_blocks == 1))
                add(&parts->rests, fmax(period - ns, 0), frames, false);
        }
    }
    parts->units = (double)passes;
    if (passes != n_blocks)
        parts->rests.n = 0; /* nothing says which pass is of which block */
    else
        parts->block = sizes / (double)passes;
}

static void read_video(const struct ta_refs *in, struct parts *parts)
{
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RANK); i++) {
        if (ta_ref_integer(in, VIDEO_RANK, i) != parts->rank)
            continue;
        size_t block = 0;
        count_blocks(in, parts->rank, &block);
        const double decode = ta_ref_number(in, VIDEO_DECODE, i, 0);
        const bool is_whole = ta_ref_reads(in, VIDEO_READY, i, "with the video");
        parts->ratio = ta_ref_number(in, VIDEO_RATIO, i, 1);
        parts->frames = ta_ref_number(in, VIDEO_FRAMES, i, NAN);
        parts->after_ns = is_whole ? decode : 0;
        if (ta_ref_reads(in, VIDEO_ORIGIN, i, "session") && !is_whole)
            parts->start_ns = ta_ref_number(in, VIDEO_FIRST, i, NAN) -
                              (ta_ref_reads(in, VIDEO_READY, i, "decoded") ? decode : 0) -
                              ta_ref_number(in, BLOCKS_TIME, block, NAN);
        return;
    }
}

/* Steps of two lengths are full ones and ones that a cache shortens. */
static void mark_short(struct measured *steps, double *sorted)
{
    memcpy(sorted, steps->ns, steps->n * sizeof *sorted);
    ta_sort_numbers(sorted, steps->n);
    const double below = ta_shortened_below(sorted, steps->n);
    for (size_t i = 0; i < steps->n; i++)
        steps->is_short[i] = steps->ns[i] < below;
}

static bool has_sizes(const struct measured *steps)
{
    for (size_t i = 1; i < steps->n; i++)
        if (steps->size[i] < steps->size[0] || steps->size[i] > steps->size[0])
            return true;
    return false;
}

static void read_dump(const struct ta_refs *in, size_t row, struct parts *parts, double *work)
{
    parts->rank = ta_ref_integer(in, BY_RANK_RANK, row);
    read_passes(in, parts);
    leave_set_up_out(&parts->steps, work);
    read_video(in, parts);
    if (!has_sizes(&parts->steps))
        mark_short(&parts->steps, work);
    parts->guidance = ta_ref_number(in, BY_RANK_RECORDS, row, NAN);
}

/* ---- traces ---------------------------------------------------------------------------------- */

static double call_start(const struct ta_refs *in, size_t row)
{
    const double gpu = ta_ref_number(in, CALL_GPU_START, row, NAN);
    return isnan(gpu) ? ta_ref_number(in, CALL_HOST_START, row, NAN) : gpu;
}

/* Times from the start of one step to the next of the same image. */
static void read_calls(const struct ta_refs *in, struct parts *parts)
{
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, CALL_RANK); i++) {
        if (ta_ref_integer(in, CALL_RANK, i) != parts->rank)
            continue;
        if (ta_ref_integer(in, CALL_STEP, i) == TA_MISSING) {
            before = SIZE_MAX; /* a decoder or encoder in between */
            continue;
        }
        const bool is_same = before != SIZE_MAX && ta_ref_integer(in, CALL_STEP, i) ==
                                                       ta_ref_integer(in, CALL_STEP, before);
        if (is_same)
            continue;
        if (before != SIZE_MAX &&
            ta_ref_integer(in, CALL_IMAGE, i) == ta_ref_integer(in, CALL_IMAGE, before)) {
            const double time = call_start(in, i) - call_start(in, before);
            if (time > 0)
                add(&parts->steps, time, 0, ta_ref_number(in, CALL_KIND, before, 0) > 0);
        }
        before = i;
    }
}

/* What an image takes besides denoising: of the window, else of the phases that were found. */
static double outside_denoising(const struct ta_refs *in, const struct parts *parts, double images)
{
    double sum = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, PHASE_RANK); i++)
        if (ta_ref_integer(in, PHASE_RANK, i) == parts->rank &&
            !ta_ref_reads(in, PHASE_NAME, i, "denoise") &&
            !ta_ref_reads(in, PHASE_NAME, i, "load") && !ta_ref_reads(in, PHASE_NAME, i, "unknown"))
            sum = (isnan(sum) ? 0 : sum) + ta_ref_number(in, PHASE_TIME, i, 0);
    return sum / images;
}

static void read_trace(const struct ta_refs *in, size_t row, struct parts *parts, double *work)
{
    const double images = ta_ref_number(in, LOOP_IMAGES, row, 1);
    const double units = fmax(ta_ref_number(in, LOOP_BLOCKS, row, images), images);
    const double steps = ta_ref_number(in, LOOP_STEPS, row, NAN) / units;
    const double image = ta_ref_number(in, LOOP_IMAGE, row, NAN);
    const double outside =
        isnan(image) ? NAN
                     : image - steps * units / images * ta_ref_number(in, LOOP_PERIOD, row, NAN);
    const double rest = isnan(outside) ? outside_denoising(in, parts, images) : fmax(outside, 0);
    parts->is_image = true;
    parts->units = images;
    parts->steps_least = parts->steps_most = steps * units / images;
    parts->guidance = ta_ref_number(in, LOOP_FORWARDS_PER_STEP, row, NAN);
    read_calls(in, parts);
    leave_set_up_out(&parts->steps, work);
    if (rest >= 0)
        add(&parts->rests, rest, 0, false);
}

/* The row of diffusion.loops with the longest steps of an image. */
static size_t slowest_loop(const struct ta_refs *in)
{
    size_t slowest = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, LOOP_RANK); i++) {
        const double time =
            ta_ref_number(in, LOOP_STEPS, i, 0) * ta_ref_number(in, LOOP_PERIOD, i, 0);
        if (time > most) {
            most = time;
            slowest = i;
        }
    }
    return slowest;
}

bool plan_parts_find(const struct ta_refs *in, struct parts *parts)
{
    const size_t n =
        ta_ref_rows(in, STEPS_RANK) + ta_ref_rows(in, BLOCKS_RANK) + ta_ref_rows(in, CALL_RANK) + 1;
    if (!open_parts(parts, n))
        return false;
    double *work = parts->work + 4 * (n + 1);
    const size_t rank = slowest_rank(in), loop = slowest_loop(in);
    if (rank != SIZE_MAX) {
        read_dump(in, rank, parts, work);
    } else if (loop != SIZE_MAX) {
        parts->rank = ta_ref_integer(in, LOOP_RANK, loop);
        read_trace(in, loop, parts, work);
    }
    return true;
}
