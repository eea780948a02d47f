/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which figures stand on the first screen, by what kind of run it is.  It says nothing. */
#include <traceanalyze/headline.h>

#include <math.h>

/* What kinds of run are told apart by, then the figures. */
enum {
    LOOPS,
    PROGRAM,
    HISTORY,
    FIRST_FIGURE,
    BUSY = FIRST_FIGURE,
    COMPUTE,
    COMM,
    MEMCPY,
    WINDOW,
    STEP_TIME,
    STEP_WORK,
    IMAGES,
    IMAGE_WORK,
    MFU,
    PEAK_SHARE,
    VIDEO_FPS,
    PLAYS_FROM,
    FPS,
    FPS_CUT,
    FPS_BLOCKS,
    BPS,
    BPS_BLOCKS,
    FIRST_BLOCK,
    TOKENS,
    ITERATIONS,
    SESSION,
    OFFLOADED,
    ALLOCATED,
    RESERVED,
    USED,
    FAILED,
    UTILIZATION,
    TEMPERATURE,
    HOST_WINDOW
};
static const struct ta_ref reads[] = {
    [LOOPS] = {"diffusion.loops", "rank"},
    [PROGRAM] = {"gpu_time.program", "rank"},
    [HISTORY] = {"memory.peaks", "rank"},
    [BUSY] = {.scalar = "gpu_busy_share"},
    [COMPUTE] = {.scalar = "gpu_compute_share"},
    [COMM] = {.scalar = "comm_exposed_share"},
    [MEMCPY] = {.scalar = "memcpy_exposed_share"},
    [WINDOW] = {.scalar = "program_window_ns"},
    [STEP_TIME] = {.scalar = "step_time_p50_ns"},
    [STEP_WORK] = {.scalar = "step_gpu_busy_ns"},
    [IMAGES] = {.scalar = "image_rate"},
    [IMAGE_WORK] = {.scalar = "image_gpu_busy_ns"},
    [MFU] = {.scalar = "mfu"},
    [PEAK_SHARE] = {.scalar = "busy_peak_share"},
    [VIDEO_FPS] = {.scalar = "video_fps"},
    [PLAYS_FROM] = {.scalar = "plays_from_ns"},
    [FPS] = {.scalar = "fps_wall"},
    [FPS_CUT] = {.scalar = "fps_until_cut"},
    [FPS_BLOCKS] = {.scalar = "fps_blocks"},
    [BPS] = {.scalar = "bps_wall"},
    [BPS_BLOCKS] = {.scalar = "bps_blocks"},
    [FIRST_BLOCK] = {.scalar = "first_block_ns"},
    [TOKENS] = {.scalar = "tokens_per_s"},
    [ITERATIONS] = {.scalar = "iterations_per_s"},
    [SESSION] = {.scalar = "session_ns"},
    [OFFLOADED] = {.scalar = "offloaded_bytes"},
    [ALLOCATED] = {.scalar = "peak_allocated_bytes"},
    [RESERVED] = {.scalar = "peak_reserved_bytes"},
    [USED] = {.scalar = "used_gpu_bytes"},
    [FAILED] = {.scalar = "failed_allocations"},
    [UTILIZATION] = {.scalar = "gpu_utilization"},
    [TEMPERATURE] = {.scalar = "gpu_temperature"},
    [HOST_WINDOW] = {.scalar = "host_window_ns"},
};

/* ---- kinds of run ---------------------------------------------------------------------------- */

static bool is_diffusion(const struct ta_refs *in)
{
    return ta_ref_rows(in, LOOPS) > 0 && ta_ref_rows(in, PROGRAM) > 0;
}

static bool has_ranks(const struct ta_refs *in)
{
    return ta_ref_rows(in, PROGRAM) > 1;
}

static bool has_device(const struct ta_refs *in)
{
    return ta_ref_rows(in, PROGRAM) > 0;
}

static bool is_video(const struct ta_refs *in)
{
    return ta_ref_exists(in, VIDEO_FPS);
}

static bool is_snapshot(const struct ta_refs *in)
{
    return ta_ref_rows(in, HISTORY) > 0;
}

static bool is_any(const struct ta_refs *in)
{
    (void)in;
    return true;
}

/* The first kind that a run is of counts; of its figures the first that say something. */
enum { LISTED = 18 };
static const struct {
    bool (*is)(const struct ta_refs *in);
    unsigned char figures[LISTED];
} kinds[] = {
    {is_diffusion,
     {IMAGES, BPS, IMAGE_WORK, COMPUTE, BUSY, STEP_TIME, STEP_WORK, COMM, MEMCPY, ALLOCATED}},
    {has_ranks, {COMPUTE, BUSY, COMM, STEP_TIME, WINDOW, MEMCPY, MFU, ALLOCATED}},
    {has_device,
     {COMPUTE, BUSY, STEP_TIME, STEP_WORK, WINDOW, COMM, MEMCPY, PEAK_SHARE, ALLOCATED, TOKENS}},
    {is_video, {VIDEO_FPS, PLAYS_FROM, FIRST_BLOCK, SESSION, ALLOCATED, UTILIZATION, TEMPERATURE}},
    {is_snapshot, {ALLOCATED, RESERVED, FAILED}},
    {is_any,
     {FPS, FPS_CUT, FPS_BLOCKS, TOKENS, BPS, BPS_BLOCKS, FIRST_BLOCK, ITERATIONS, SESSION,
      HOST_WINDOW, STEP_TIME, OFFLOADED, ALLOCATED, RESERVED, USED, UTILIZATION, TEMPERATURE}},
};

/* ---- figures that say something -------------------------------------------------------------- */

/* Shares below say nothing; figures this close to each other are one. */
#define SMALL 0.01
#define CLOSE 0.02

/* A figure that says what another one says: a step that is the whole run. */
static const struct {
    unsigned char figure, other;
} twice[] = {{STEP_TIME, WINDOW}, {STEP_WORK, IMAGE_WORK}, {STEP_WORK, STEP_TIME},
             {BPS_BLOCKS, BPS},   {FPS_BLOCKS, FPS},       {STEP_TIME, HOST_WINDOW}};

static bool is_again(const struct ta_refs *in, size_t figure)
{
    const double value = ta_ref_scalar(in, figure, NAN);
    for (size_t i = 0; i < TA_LENGTH(twice); i++)
        if (twice[i].figure == figure &&
            fabs(ta_ref_scalar(in, twice[i].other, NAN) - value) <= CLOSE * value)
            return true;
    return figure == STEP_WORK && is_again(in, STEP_TIME);
}

/* What would be nothing to save or to gain. */
static bool is_small(size_t figure, double value)
{
    const bool is_share = figure == COMM || figure == MEMCPY || figure == MFU;
    return is_share ? value < SMALL : value <= 0 && figure != BUSY;
}

/* Whether what computes is said in place of what is busy: ranks that wait in collectives are busy,
 * and so is a GPU that copies. */
static bool is_busy_waiting(const struct ta_refs *in)
{
    static const double copies_least = 0.1;
    return ta_ref_exists(in, COMPUTE) && ((has_ranks(in) && ta_ref_scalar(in, COMM, 0) >= SMALL) ||
                                          ta_ref_scalar(in, MEMCPY, 0) >= copies_least);
}

static bool says_something(const struct ta_refs *in, size_t figure)
{
    const double value = ta_ref_scalar(in, figure, NAN);
    if ((figure == COMPUTE || figure == BUSY) && (figure == COMPUTE) != is_busy_waiting(in))
        return false;
    return !isnan(value) && !is_small(figure, value) && !is_again(in, figure);
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    size_t kind = 0;
    while (!kinds[kind].is(in))
        kind++;
    for (size_t i = 0; i < LISTED && kinds[kind].figures[i]; i++)
        if (says_something(in, kinds[kind].figures[i]))
            ta_line_add_figure(line, reads[kinds[kind].figures[i]].scalar);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_ADDED, .place = 9, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, figures, &ops, .title = "Figures",
          .summary = "Which figures stand on the first screen", .version = "1");
