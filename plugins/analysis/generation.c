/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.loops, phases.by_rank, phases.stages, diffusion.calls: what a program that generates
 * images or videos does, as src/model/program/generation.h finds it in a trace.
 *
 * The time of a phase is the device's, from the first activity that was launched in it to the end
 * of the last: a host that launches ahead is done with a step long before the device is.  What the
 * host works in a phase while the device is in none, counts too: an encoder on the host, a video
 * that is written. */
#include "model/program/generation.h"
#include "model/program/marker.h"
#include "lib/modules.h"
#include "model/program/window.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>

#include <stdio.h>
#include <stdlib.h>

enum { PARTIAL_RUNS, PARTIAL_STAGES, PARTIAL_CALLS };

enum {
    RUN_RANK,
    RUN_BY,
    RUN_DENOISER,
    RUN_IMAGES,
    RUN_COMPLETE,
    RUN_BLOCKS,
    RUN_STEPS,
    RUN_FORWARDS,
    RUN_PER_STEP,
    RUN_LAYERS,
    RUN_FULL,
    RUN_PERIODS,
    RUN_PERIODS_NS,
    RUN_WINDOW,
    RUN_COVERED,
    RUN_CONFIDENCE,
    RUN_PROMPTS,
    RUN_REQUESTS,
    RUN_AT_ONCE,
    RUN_MAKES,
    RUN_FIELDS
};
static const struct ta_field run_fields[RUN_FIELDS] = {
    [RUN_RANK] = {"rank", TA_FIELD_RANK},
    [RUN_BY] = {"by", TA_FIELD_INT},
    [RUN_DENOISER] = {"denoiser", TA_FIELD_TEXT},
    [RUN_IMAGES] = {"images", TA_FIELD_SUM},
    [RUN_COMPLETE] = {"complete", TA_FIELD_SUM},
    [RUN_BLOCKS] = {"blocks", TA_FIELD_SUM},
    [RUN_STEPS] = {"steps", TA_FIELD_SUM},
    [RUN_FORWARDS] = {"forwards", TA_FIELD_SUM},
    [RUN_PER_STEP] = {"forwards_per_step", TA_FIELD_MAX},
    [RUN_LAYERS] = {"layers", TA_FIELD_MAX},
    [RUN_FULL] = {"full", TA_FIELD_SUM},
    [RUN_PERIODS] = {"periods", TA_FIELD_SUM},
    [RUN_PERIODS_NS] = {"periods_ns", TA_FIELD_SUM},
    [RUN_WINDOW] = {"window_ns", TA_FIELD_SUM},
    [RUN_COVERED] = {"covered_ns", TA_FIELD_SUM},
    [RUN_CONFIDENCE] = {"confidence_ppm", TA_FIELD_MIN},
    [RUN_PROMPTS] = {"prompts", TA_FIELD_SUM},
    [RUN_REQUESTS] = {"requests", TA_FIELD_SUM},
    [RUN_AT_ONCE] = {"at_once", TA_FIELD_MAX}, /* 0: nobody can say whose a step is */
    [RUN_MAKES] = {"makes", TA_FIELD_MAX},
};

enum {
    OF_RANK,
    OF_START,
    OF_ORDER,
    OF_PHASE,
    OF_BY,
    OF_NAME,
    OF_IMAGE,
    OF_STEP,
    OF_KIND,
    OF_CALLS,
    OF_CALLS_HOST,
    OF_HOST_START,
    OF_HOST_DUR,
    OF_GPU_START,
    OF_GPU_DUR,
    OF_GPU_BUSY,
    OF_TIME,
    OF_KERNELS,
    OF_FIELDS
};
/* A stage or a call; each is written once, so that it does not matter how cells are merged. */
static const struct ta_field part_fields[OF_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [OF_START] = {"start_ns", TA_FIELD_INT},
    [OF_ORDER] = {"order", TA_FIELD_INT},
    [OF_PHASE] = {"phase", TA_FIELD_INT},
    [OF_BY] = {"by", TA_FIELD_INT},
    [OF_NAME] = {"name", TA_FIELD_TEXT},
    [OF_IMAGE] = {"image", TA_FIELD_MAX},
    [OF_STEP] = {"step", TA_FIELD_MAX},
    [OF_KIND] = {"kind", TA_FIELD_MAX},
    [OF_CALLS] = {"calls", TA_FIELD_MAX},
    [OF_CALLS_HOST] = {"calls_host_ns", TA_FIELD_MAX},
    [OF_HOST_START] = {"host_start_ns", TA_FIELD_MAX},
    [OF_HOST_DUR] = {"host_dur_ns", TA_FIELD_MAX},
    [OF_GPU_START] = {"gpu_start_ns", TA_FIELD_MAX},
    [OF_GPU_DUR] = {"gpu_dur_ns", TA_FIELD_MAX},
    [OF_GPU_BUSY] = {"gpu_busy_ns", TA_FIELD_MAX},
    [OF_TIME] = {"time_ns", TA_FIELD_MAX},
    [OF_KERNELS] = {"kernels", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_RUNS] = {"runs", run_fields, RUN_FIELDS},
    [PARTIAL_STAGES] = {"stages", part_fields, OF_FIELDS},
    [PARTIAL_CALLS] = {"calls", part_fields, OF_FIELDS},
    {0},
};

/* Rows may come from a saved summary. */
static const struct ta_bound bounds[] = {{PARTIAL_RUNS, RUN_BY, TA_GENERATION_BY_KERNELS + 1},
                                         {PARTIAL_RUNS, RUN_MAKES, TA_GENERATION_VIDEOS + 1},
                                         {PARTIAL_STAGES, OF_PHASE, TA_GENERATION_PHASES},
                                         {PARTIAL_STAGES, OF_BY, TA_GENERATION_BY_KERNELS + 1},
                                         {PARTIAL_CALLS, OF_PHASE, TA_GENERATION_PHASES},
                                         {PARTIAL_CALLS, OF_BY, TA_GENERATION_BY_KERNELS + 1},
                                         TA_BOUNDS_END};

/* ---- tables -------------------------------------------------------------------------------- */

enum {
    LOOP_RANK,
    LOOP_DENOISER,
    LOOP_PERIOD,
    LOOP_RATE,
    LOOP_IMAGE_NS,
    LOOP_IMAGES_PER_S,
    LOOP_LINE,
    LOOP_FULL,
    LOOP_SOURCE,
    LOOP_IMAGES,
    LOOP_BLOCKS,
    LOOP_STEPS,
    LOOP_FORWARDS,
    LOOP_PER_STEP,
    LOOP_LAYERS,
    LOOP_CONFIDENCE,
    LOOP_WIDTH,
    LOOP_HEIGHT,
    LOOP_FRAMES,
    LOOP_BATCH,
    LOOP_GUIDANCE,
    LOOP_PROMPTS,
    LOOP_REQUESTS,
    LOOP_AT_ONCE
};
static const struct ta_column loop_columns[] = {
    [LOOP_RANK] = TA_RANK_COLUMN,
    [LOOP_LINE] = {"loop", "Loop", TA_TEXT, .role = TA_NOTE,
                   .doc =
                       "Images with their size, blocks, steps of each, passes of the denoiser in a "
                       "step, layers"},
    [LOOP_SOURCE] = {"source", "Known from", TA_WORD, .role = TA_NOTE,
                     .doc = "What shows it: range, module, function or kernels"},
    [LOOP_DENOISER] = {"denoiser", "Denoiser", TA_TEXT, .role = TA_NOTE,
                       .doc = "Class of the module, name of the range or function"},
    [LOOP_IMAGES] = {"images", "Images", TA_COUNT, .read_as = TA_AS_LOOP_IMAGES, .detail = true,
                     .doc = "Images or videos; one begins with its prompt, or where the program "
                            "marks a request; denoised and decoded again without either is another "
                            "image, or the next block of a video, by what the denoiser makes"},
    [LOOP_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .read_as = TA_AS_LOOP_BLOCKS, .detail = true,
                     .doc = "Parts that are denoised one after the other, with a decode or another "
                            "phase in between; one an image where they are not apart"},
    [LOOP_STEPS] = {"steps", "Steps", TA_COUNT, .read_as = TA_AS_LOOP_STEPS, .better = TA_LOWER,
                    .detail = true, .doc = "Denoising steps, of all blocks of all images"},
    [LOOP_FORWARDS] = {"forwards", "Forwards", TA_COUNT, .read_as = TA_AS_LOOP_FORWARDS,
                       .better = TA_LOWER, .detail = true, .doc = "Passes of the denoiser in them"},
    [LOOP_PER_STEP] = {"forwards_per_step", "Forwards/step", TA_COUNT,
                       .read_as = TA_AS_LOOP_PER_STEP, .better = TA_LOWER, .detail = true,
                       .doc = "Passes of the denoiser in each step: 2 are guidance (CFG) in two "
                              "calls; null where steps differ"},
    [LOOP_LAYERS] = {"layers", "Layers", TA_COUNT, .read_as = TA_AS_LOOP_LAYERS, .detail = true,
                     .doc = "Calls of self-attention in a pass; null without attention"},
    [LOOP_FULL] = {"full", "Full", TA_COUNT, .read_as = TA_AS_LOOP_FULL,
                   .doc = "Passes that launch what the longest kind of pass does; the others are "
                          "shortened by a cache, or by the program"},
    [LOOP_PERIOD] =
        {"step_period_ns", "Step period", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time from the first kernel of a step to the first of the next, in one "
                "block; of the host where steps launched nothing"},
    [LOOP_RATE] = {"steps_per_s", "Steps/s", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                   .doc = "One over that"},
    [LOOP_IMAGE_NS] = {"image_ns", "Time/image", TA_NS_MEAN, .read_as = TA_AS_LOOP_IMAGE_TIME,
                       .better = TA_LOWER,
                       .doc = "Window of the program over the images, where each is denoised and "
                              "decoded; of images that are made together the time of all"},
    [LOOP_IMAGES_PER_S] = {"images_per_s", "Images/s", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                           .better = TA_HIGHER,
                           .doc =
                               "Images over that window; those that are made together count each, "
                               "where shapes tell how many"},
    [LOOP_CONFIDENCE] = {"confidence", "Confidence", TA_RATIO, .detail = true,
                         .doc = "1 where the program says it; of kernels alone less"},
    [LOOP_WIDTH] = {"width", "Width", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                    .role = TA_NOTE,
                    .doc = "Pixels, by shapes; null where those are not "
                           "recorded or images differ, as what follows"},
    [LOOP_HEIGHT] = {"height", "Height", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                     .role = TA_NOTE, .doc = "Pixels"},
    [LOOP_FRAMES] = {"frames", "Frames", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                     .role = TA_NOTE, .doc = "Of a video; 1 of an image"},
    [LOOP_BATCH] = {"batch", "Batch", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                    .role = TA_NOTE, .doc = "Images or videos that are made together"},
    [LOOP_GUIDANCE] = {"guidance", "Guidance", TA_WORD, .detail = true, .role = TA_NOTE,
                       .doc = "batched, sequential, none or unknown, as there"},
    [LOOP_PROMPTS] = {"prompts", "Prompts", TA_COUNT, .detail = true,
                      .doc = "That are encoded for these images; null where that is not known"},
    [LOOP_REQUESTS] = {"requests", "Requests", TA_COUNT, .detail = true,
                       .doc = "That the program marks; null where it marks none"},
    [LOOP_AT_ONCE] = {"at_once", "At once", TA_COUNT, .detail = true,
                      .doc = "Requests that are denoised in turns, step by step, "
                             "by ranges that number them, or threads or streams of their "
                             "own; 1 where one is after the other; null where nothing says whose "
                             "a step is"},
};

static const struct ta_table_def loop = {
    "diffusion.loops", "Denoising loop", TA_COLUMNS(loop_columns),
    .doc = "One row per rank that denoises: how its loops nest. Passes are ranges of the program "
           "that name the denoiser, else calls of modules that are one, else functions, else "
           "sequences of kernels that repeat. Passes with hardly anything launched between them "
           "are one step; a step ends with the kernels of the scheduler. Not of training, nor of "
           "programs without denoiser.",
    .brief = &(const struct ta_brief){
        .place = 255,
        .rows = 4,
        .remark = &loop_columns[LOOP_LINE],
        .first = {&loop_columns[LOOP_PERIOD], &loop_columns[LOOP_RATE],
                  &loop_columns[LOOP_IMAGE_NS], &loop_columns[LOOP_IMAGES_PER_S]},
        .together = {&loop_columns[LOOP_WIDTH], &loop_columns[LOOP_HEIGHT]},
        .never = {&loop_columns[LOOP_SOURCE], &loop_columns[LOOP_IMAGES],
                  &loop_columns[LOOP_BLOCKS], &loop_columns[LOOP_STEPS],
                  &loop_columns[LOOP_FORWARDS], &loop_columns[LOOP_PER_STEP],
                  &loop_columns[LOOP_LAYERS], &loop_columns[LOOP_CONFIDENCE]}}};

enum {
    PHASE_RANK,
    PHASE_PHASE,
    PHASE_SOURCE,
    PHASE_TIMES,
    PHASE_CALLS,
    PHASE_TIME,
    PHASE_SHARE,
    PHASE_BUSY,
    PHASE_IDLE,
    PHASE_HOST,
    PHASE_CALLS_HOST,
    PHASE_KERNELS
};
static const struct ta_column phase_columns[] = {
    [PHASE_RANK] = TA_RANK_COLUMN,
    [PHASE_PHASE] = {"phase", "Phase", TA_TEXT, .read_as = TA_AS_PHASE,
                     .doc = "load, text encode, image encode, denoise, VAE decode, post-process; "
                            "unknown: the rest of the window"},
    [PHASE_SOURCE] = {"source", "Known from", TA_WORD, .role = TA_NOTE,
                      .doc = "What shows it: range, module, function or kernels"},
    [PHASE_TIMES] = {"times", "Occurrences", TA_COUNT, .doc = "How often the phase occurs"},
    [PHASE_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_PHASE_CALLS,
                     .doc =
                         "Calls of its models: of an encoder, passes of the denoiser or decoder"},
    [PHASE_TIME] = {"time_ns", "Time", TA_NS, .read_as = TA_AS_PHASE_TIME, .better = TA_LOWER,
                    .weight = 0.7,
                    .doc = "Of the program: from the first activity that the phase launched to the "
                           "end of the last, and what the host works in it while the device is in "
                           "no phase; what images have at once counts once, and one may decode "
                           "while another is denoised"},
    [PHASE_SHARE] = {"share", "Share", TA_RATIO, .doc = "Of the program's window"},
    [PHASE_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .better = TA_LOWER, .weight = 0.6,
                    .doc = "Union of what it launched"},
    [PHASE_IDLE] = {"gpu_idle_ns", "GPU idle", TA_NS, .better = TA_LOWER, .weight = 0.5,
                    .doc = "Time minus busy: the device works on nothing of this phase"},
    [PHASE_HOST] = {"host_ns", "Host", TA_NS, .better = TA_LOWER, .weight = 0.5,
                    .doc = "From the start of its first call to the end of its last, on the host"},
    [PHASE_CALLS_HOST] = {"calls_host_ns", "Host time of calls", TA_NS, .better = TA_LOWER,
                          .weight = 0.3, .doc = "Sum of the times of its calls on the host"},
    [PHASE_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels that it launched"},
};

static const struct ta_chart_def waterfall = {
    .id = "stage-waterfall",
    .title = "Phases",
    .caption = "Time of each phase, split into GPU busy and idle.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&phase_columns[PHASE_RANK], &phase_columns[PHASE_PHASE]},
    .y = {{&phase_columns[PHASE_BUSY], "GPU busy", TA_INK_COMPUTE},
          {&phase_columns[PHASE_IDLE], "GPU idle, or the host alone", TA_INK_IDLE}},
};

/* With many phases of many ranks a bar of each says nothing. */
static const struct ta_chart_def waterfall_of_ranks = {
    .id = "stage-waterfall",
    .title = "Phases",
    .caption = "Time of each phase, by rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&phase_columns[PHASE_RANK]},
    .y = {{&phase_columns[PHASE_TIME]}},
    .group = &phase_columns[PHASE_PHASE],
};

static const struct ta_table_def phase = {
    "phases.by_rank", "Phases", TA_COLUMNS(phase_columns),
    .doc = "One row per rank and phase of a program that generates images or videos, in their "
           "order, and what is left of the program's window. A phase is found by ranges of the "
           "program that name it, else by calls of modules of a known kind, else by functions of a "
           "known name; what lies in a pass of the denoiser is denoising, and so is what lies "
           "between its passes. A rank that denoises nothing has the phases that its ranges and "
           "modules name plainly, where another one denoises. Chart `stage-waterfall`.",
    .brief = &(const struct ta_brief){
        .place = 256,
        .rows = 8,
        .first = {&phase_columns[PHASE_TIME], &phase_columns[PHASE_SHARE]},
        .never = {&phase_columns[PHASE_SOURCE], &phase_columns[PHASE_HOST],
                  &phase_columns[PHASE_CALLS_HOST], &phase_columns[PHASE_KERNELS]}}};

enum {
    STAGE_RANK,
    STAGE_INDEX,
    STAGE_PHASE,
    STAGE_SOURCE,
    STAGE_IMAGE,
    STAGE_CALLS,
    STAGE_HOST_START,
    STAGE_HOST_DUR,
    STAGE_GPU_START,
    STAGE_GPU_DUR,
    STAGE_GPU_BUSY,
    STAGE_KERNELS
};
#define HOST_START_DOC "Since the earliest span of the rank; null where kernels alone show it"
#define GPU_START_DOC "First start of what was launched in it"
#define GPU_DUR_DOC "First start to last end of these activities"
#define GPU_BUSY_DOC "Union of these activities, all devices together"
static const struct ta_column stage_columns[] = {
    [STAGE_RANK] = TA_RANK_COLUMN,
    [STAGE_INDEX] = {"index", "Index", TA_TYPE_INTEGER, .role = TA_KEY,
                     .doc = "Place in the order of time, from 0"},
    [STAGE_PHASE] = {"phase", "Phase", TA_TEXT, .doc = "As in the table of phases"},
    [STAGE_SOURCE] = {"source", "Known from", TA_WORD, .doc = "range, module, function or kernels"},
    [STAGE_IMAGE] = {"image", "Image", TA_TYPE_INTEGER, .role = TA_NOTE,
                     .doc = "Number of the image, video or request, from 1"},
    [STAGE_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Calls of models in it"},
    [STAGE_HOST_START] = {"host_start_ns", "Host start", TA_NS, .doc = HOST_START_DOC},
    [STAGE_HOST_DUR] = {"host_dur_ns", "Host", TA_NS,
                        .doc = "First start to last end of its calls, or of the range around them"},
    [STAGE_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS, .doc = GPU_START_DOC},
    [STAGE_GPU_DUR] = {"gpu_dur_ns", "GPU", TA_NS, .doc = GPU_DUR_DOC},
    [STAGE_GPU_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .doc = GPU_BUSY_DOC},
    [STAGE_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched in it"},
};

static const struct ta_table_def stage = {
    "phases.stages",
    "Phases in order",
    TA_COLUMNS(stage_columns),
    .doc = "One row per rank and stretch of one phase: calls that follow each other.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

enum {
    CALL_RANK,
    CALL_INDEX,
    CALL_PHASE,
    CALL_NAME,
    CALL_SOURCE,
    CALL_IMAGE,
    CALL_STEP,
    CALL_KIND,
    CALL_HOST_START,
    CALL_HOST_DUR,
    CALL_GPU_START,
    CALL_GPU_DUR,
    CALL_GPU_BUSY,
    CALL_KERNELS
};
static const struct ta_column call_columns[] = {
    [CALL_RANK] = TA_RANK_COLUMN,
    [CALL_INDEX] = {"index", "Index", TA_TYPE_INTEGER, .role = TA_KEY,
                    .doc = "Place in the order of time, from 0"},
    [CALL_PHASE] = {"phase", "Phase", TA_TEXT, .read_as = TA_AS_MODEL_CALL,
                    .doc = "As in the table of phases"},
    [CALL_NAME] = {"name", "Model", TA_TEXT, .doc = "The range, module or function"},
    [CALL_SOURCE] = {"source", "Known from", TA_WORD, .doc = "range, module, function or kernels"},
    [CALL_IMAGE] = {"image", "Image", TA_TYPE_INTEGER, .role = TA_NOTE,
                    .doc = "Number of the image, video or request, from 1"},
    [CALL_STEP] = {"step", "Step", TA_TYPE_INTEGER, .role = TA_NOTE,
                   .doc = "Of a pass of the denoiser: number of its step among all, from 1"},
    [CALL_KIND] = {"kind", "Kind", TA_TYPE_INTEGER, .role = TA_NOTE,
                   .read_as = TA_AS_MODEL_CALL_KIND,
                   .doc = "Calls of a phase that launch the same kernels have the same number, "
                          "those that take longest 0"},
    [CALL_HOST_START] = {"host_start_ns", "Host start", TA_NS, .doc = HOST_START_DOC},
    [CALL_HOST_DUR] = {"host_dur_ns", "Host", TA_NS, .read_as = TA_AS_MODEL_CALL_HOST,
                       .doc = "Duration of the range, module or function"},
    [CALL_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS, .doc = GPU_START_DOC},
    [CALL_GPU_DUR] = {"gpu_dur_ns", "GPU", TA_NS, .read_as = TA_AS_MODEL_CALL_GPU,
                      .doc = GPU_DUR_DOC},
    [CALL_GPU_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .doc = GPU_BUSY_DOC},
    [CALL_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched in it"},
};

static const struct ta_table_def call = {
    "diffusion.calls",
    "Model calls",
    TA_COLUMNS(call_columns),
    .doc = "One row per rank and call of an encoder, the denoiser or a decoder, in the order of "
           "time.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

/* ---- map ----------------------------------------------------------------------------------- */

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

/* The name as people know it: the class of a module. */
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
        name.len--; /* not within a letter */
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

/* Length of [start, end) that a united set does not cover. */
static int64_t length_outside(const struct ta_intervals *set, int64_t start, int64_t end)
{
    return end - start - ta_intervals_within(set, start, end);
}

/* The time of a stage that no stage of its phase before it has: images are denoised in turns. */
static int64_t new_time(const struct ta_generation *found, size_t i,
                        const struct ta_intervals *devices, struct ta_intervals *before)
{
    const struct ta_generation_time *time = &found->stages[i].time;
    const bool in_turns = found->n_at_once > 1;
    int64_t ns = 0;
    if (time->gpu_start != TA_MISSING) {
        ns = in_turns ? length_outside(before, time->gpu_start, time->gpu_end)
                      : time->gpu_end - time->gpu_start;
        if (in_turns)
            ta_intervals_add(before, time->gpu_start, time->gpu_end);
    }
    if (time->host_start != TA_MISSING)
        ns += length_outside(devices, time->host_start, time->host_end);
    ta_intervals_unite(before);
    return ns;
}

/* The times of stages, at times[], and what all of them cover; false without memory. */
static bool find_times(const struct ta_generation *found, int64_t *times, int64_t *covered)
{
    struct ta_intervals devices = {0}, all = {0};
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_time *time = &found->stages[i].time;
        if (time->gpu_start != TA_MISSING)
            ta_intervals_add(&devices, time->gpu_start, time->gpu_end);
        if (time->host_start != TA_MISSING)
            ta_intervals_add(&all, time->host_start, time->host_end);
    }
    ta_intervals_unite(&devices);
    for (size_t i = 0; i < devices.n; i++)
        ta_intervals_add(&all, devices.at[i].start, devices.at[i].end);
    ta_intervals_unite(&all);
    struct ta_intervals before[TA_GENERATION_PHASES] = {0};
    for (size_t i = 0; i < found->n_stages; i++)
        times[i] = new_time(found, i, &devices, &before[found->stages[i].phase]);
    *covered = ta_intervals_length(&all);
    bool done = !devices.failed && !all.failed;
    for (int i = 0; i < TA_GENERATION_PHASES; i++) {
        done &= !before[i].failed;
        ta_intervals_free(&before[i]);
    }
    ta_intervals_free(&devices);
    ta_intervals_free(&all);
    return done;
}

/* How many images are denoised and then decoded, which may be when all are denoised; false without
 * memory. */
static bool complete_images(const struct ta_generation *found, int64_t *n)
{
    enum { NOT_BEGUN, DENOISED, DECODED };
    uint8_t *states = calloc(found->n_images + 1, sizeof *states);
    for (size_t i = 0; states && i < found->n_stages; i++) {
        const struct ta_generation_stage *at = &found->stages[i];
        if (at->image >= found->n_images)
            continue; /* of a rank that decodes for others */
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

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
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
    const bool done =
        times && find_times(found, times, &covered) && complete_images(found, &complete);
    if (done) {
        add_parts(trace, found, times, out);
        add_run(trace, found, window, covered, complete, out[PARTIAL_RUNS]);
    }
    free(times);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
}

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell rate(int64_t n, int64_t ns)
{
    return n > 0 && ns > 0 ? ta_num((double)n * 1e9 / (double)ns) : ta_null();
}

static struct ta_cell mean(int64_t ns, int64_t n)
{
    return n > 0 && ns > 0 ? ta_num((double)ns / (double)n) : ta_null();
}

static struct ta_cell some(int64_t n)
{
    return n > 0 ? ta_int(n) : ta_null();
}

/* "2 blocks × " where there are several. */
static int add_count(char *line, size_t room, int at, int64_t n, const char *one, const char *many)
{
    return at + snprintf(line + at, room - (size_t)at, "%s%lld %s", at ? " × " : "", (long long)n,
                         n == 1 ? one : many);
}

/* What shapes say of the images of a rank, where all of them are alike. */
struct made {
    int64_t width, height, frames, batch;
    struct ta_slice guidance;
};

enum { SIZES_RANK, SIZES_WIDTH, SIZES_HEIGHT, SIZES_FRAMES, SIZES_BATCH, SIZES_GUIDANCE };

static const struct ta_ref reads[] = {[SIZES_RANK] = {"diffusion.tokens", "rank"},
                                      [SIZES_WIDTH] = {"diffusion.tokens", "width"},
                                      [SIZES_HEIGHT] = {"diffusion.tokens", "height"},
                                      [SIZES_FRAMES] = {"diffusion.tokens", "frames"},
                                      [SIZES_BATCH] = {"diffusion.tokens", "batch"},
                                      [SIZES_GUIDANCE] = {"diffusion.tokens", "guidance"}};

static struct made made_of(const struct ta_refs *in, int64_t rank)
{
    struct made made = {TA_MISSING, TA_MISSING, TA_MISSING, TA_MISSING, {"", 0}};
    size_t n = 0, at = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SIZES_RANK); i++)
        if (ta_ref_integer(in, SIZES_RANK, i) == rank) {
            at = i;
            n++;
        }
    if (n != 1)
        return made;
    return (struct made){ta_ref_integer(in, SIZES_WIDTH, at), ta_ref_integer(in, SIZES_HEIGHT, at),
                         ta_ref_integer(in, SIZES_FRAMES, at), ta_ref_integer(in, SIZES_BATCH, at),
                         ta_ref_text(in, SIZES_GUIDANCE, at)};
}

/* What is made: blocks that may be images are called both. */
struct thing {
    const char *one, *many;
};

static struct thing thing_of(const int64_t *row, const struct made *made)
{
    if (row[RUN_MAKES] == TA_GENERATION_IMAGES)
        return (struct thing){"image", "images"};
    if (row[RUN_MAKES] == TA_GENERATION_VIDEOS || row[RUN_BLOCKS] > row[RUN_IMAGES] ||
        made->frames > 1)
        return (struct thing){"video", "videos"};
    return (struct thing){"image", "images"};
}

/* "2 requests × 3 prompts × " where images are several of each. */
static int add_askers(char *line, size_t room, const int64_t *row, int64_t *images)
{
    const int64_t requests = row[RUN_REQUESTS], prompts = row[RUN_PROMPTS];
    int at = 0;
    if (requests > 0 && requests < *images && *images % requests == 0) {
        at = add_count(line, room, at, requests, "request", "requests");
        *images /= requests;
    }
    const int64_t of = at ? requests : 1;
    if (prompts > 0 && prompts % of == 0 && prompts / of < *images &&
        *images % (prompts / of) == 0 && (at == 0 || prompts > of)) {
        at = add_count(line, room, at, prompts / of, "prompt", "prompts");
        *images /= prompts / of;
    }
    return at;
}

/* "2 images 1024×1024", "1 video 832×480 of 81 frames", "1 batch of 4 images", "4 images (2 at a
 * time)". */
static int add_images(char *line, size_t room, const int64_t *row, const struct made *made)
{
    int64_t n = row[RUN_IMAGES];
    const struct thing thing = thing_of(row, made);
    int at = add_askers(line, room, row, &n);
    if (made->batch > 1)
        at += snprintf(line + at, room - (size_t)at, "%s%lld batch%s of %lld %s", at ? " × " : "",
                       (long long)n, n == 1 ? "" : "es", (long long)made->batch, thing.many);
    else
        at = add_count(line, room, at, n, thing.one, thing.many);
    if (made->width != TA_MISSING)
        at += snprintf(line + at, room - (size_t)at, " %lld×%lld", (long long)made->width,
                       (long long)made->height);
    if (made->frames > 1)
        at += snprintf(line + at, room - (size_t)at, " of %lld frames", (long long)made->frames);
    if (row[RUN_AT_ONCE] > 1)
        at += snprintf(line + at, room - (size_t)at, " (%lld at a time, in turns)",
                       (long long)row[RUN_AT_ONCE]);
    if (row[RUN_AT_ONCE] == 0)
        at += snprintf(line + at, room - (size_t)at, " (in turns)");
    return at;
}

/* How guidance is calculated, after the passes of a step. */
static const char *guidance_of(const struct made *made)
{
    return ta_slice_equal(made->guidance, TA_LIT("batched"))      ? " (guidance in one batch)"
           : ta_slice_equal(made->guidance, TA_LIT("sequential")) ? " (guidance one by one)"
                                                                  : "";
}

/* "1 image 1024×1024 × 4 steps × 1 forward (guidance in one batch) × 38 layers", as far as levels
 * divide. */
static void write_loop(char *line, size_t room, const int64_t *row, const struct made *made)
{
    const int64_t images = row[RUN_IMAGES], blocks = row[RUN_BLOCKS], steps = row[RUN_STEPS];
    int at = add_images(line, room, row, made);
    const bool has_blocks = images > 0 && blocks > images;
    if (has_blocks && blocks % images == 0)
        at = row[RUN_MAKES] == TA_GENERATION_VIDEOS
                 ? add_count(line, room, at, blocks / images, "block", "blocks")
                 : add_count(line, room, at, blocks / images, "block or image", "blocks or images");
    const int64_t of = has_blocks && blocks % images ? images : blocks;
    if (of > 0 && steps % of == 0 && row[RUN_AT_ONCE] > 0)
        at = add_count(line, room, at, steps / of, "step", "steps");
    else
        at += snprintf(line + at, room - (size_t)at, " · %lld steps in all", (long long)steps);
    if (row[RUN_PER_STEP] > 0) {
        at = add_count(line, room, at, row[RUN_PER_STEP], "forward", "forwards");
        at += snprintf(line + at, room - (size_t)at, "%s", guidance_of(made));
    }
    if (row[RUN_LAYERS] > 0)
        add_count(line, room, at, row[RUN_LAYERS], "layer", "layers");
}

static void add_loop(const struct ta_partial *runs, const int64_t *row, const struct made *made,
                     struct ta_section_builder *out)
{
    char line[400];
    write_loop(line, sizeof line, row, made);
    const bool is_whole = row[RUN_COMPLETE] == row[RUN_IMAGES];
    const int64_t n = made->batch > 1 && made->batch < INT32_MAX && row[RUN_IMAGES] < INT32_MAX
                          ? row[RUN_IMAGES] * made->batch
                          : row[RUN_IMAGES];
    TA_ROW(
        out, loop, [LOOP_RANK] = ta_int(row[RUN_RANK]), [LOOP_LINE] = ta_string(line),
        [LOOP_SOURCE] = ta_string(ta_generation_by_words[row[RUN_BY]]),
        [LOOP_DENOISER] = ta_text_or_null(ta_partial_text(runs, row, RUN_DENOISER)),
        [LOOP_IMAGES] = ta_int(row[RUN_IMAGES]), [LOOP_BLOCKS] = ta_int(row[RUN_BLOCKS]),
        [LOOP_STEPS] = ta_int(row[RUN_STEPS]), [LOOP_FORWARDS] = ta_int(row[RUN_FORWARDS]),
        [LOOP_PER_STEP] = some(row[RUN_PER_STEP]), [LOOP_LAYERS] = some(row[RUN_LAYERS]),
        [LOOP_FULL] = ta_int(row[RUN_FULL]),
        [LOOP_PERIOD] = mean(row[RUN_PERIODS_NS], row[RUN_PERIODS]),
        [LOOP_RATE] = rate(row[RUN_PERIODS], row[RUN_PERIODS_NS]),
        [LOOP_IMAGE_NS] = is_whole ? mean(row[RUN_WINDOW], row[RUN_IMAGES]) : ta_null(),
        [LOOP_IMAGES_PER_S] = is_whole ? rate(n, row[RUN_WINDOW]) : ta_null(),
        [LOOP_CONFIDENCE] = ta_num((double)row[RUN_CONFIDENCE] / 1e6),
        [LOOP_WIDTH] = ta_int(made->width), [LOOP_HEIGHT] = ta_int(made->height),
        [LOOP_FRAMES] = ta_int(made->frames), [LOOP_BATCH] = ta_int(made->batch),
        [LOOP_GUIDANCE] = ta_text_or_null(made->guidance), [LOOP_PROMPTS] = some(row[RUN_PROMPTS]),
        [LOOP_REQUESTS] = some(row[RUN_REQUESTS]), [LOOP_AT_ONCE] = some(row[RUN_AT_ONCE]));
}

static struct ta_slice phase_name(int64_t of)
{
    return ta_slice_of(ta_generation_phase_names[of]);
}

/* The sums of the stages of one phase. */
struct sums {
    int64_t by, times, calls, time, busy, host, in_calls, kernels;
};

static void add_stage(struct sums *sums, const int64_t *row)
{
    sums->by = sums->times++ && sums->by < row[OF_BY] ? sums->by : row[OF_BY];
    ta_sum(&sums->calls, row[OF_CALLS]);
    ta_sum(&sums->time, row[OF_TIME]);
    ta_sum(&sums->busy, row[OF_GPU_BUSY]);
    ta_sum(&sums->host, row[OF_HOST_DUR]);
    ta_sum(&sums->in_calls, row[OF_CALLS_HOST]);
    ta_sum(&sums->kernels, row[OF_KERNELS]);
}

/* The phases of one rank, in the order in which they begin first. */
static void add_phases(const struct ta_partial *of, size_t first, size_t end, int64_t window,
                       int64_t covered, struct ta_section_builder *out)
{
    struct sums sums[TA_GENERATION_PHASES] = {0};
    int order[TA_GENERATION_PHASES], n = 0;
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(of, i);
        if (sums[row[OF_PHASE]].times == 0)
            order[n++] = (int)row[OF_PHASE];
        add_stage(&sums[row[OF_PHASE]], row);
    }
    const int64_t rank = ta_partial_at(of, first)[OF_RANK];
    for (int i = 0; i < n; i++) {
        struct sums *s = &sums[order[i]];
        s->busy = ta_min_i64(s->busy, s->time); /* images in turns may be busy at once */
        TA_ROW(out,
               phase, [PHASE_RANK] = ta_int(rank), [PHASE_PHASE] = ta_text(phase_name(order[i])),
               [PHASE_SOURCE] = ta_string(ta_generation_by_words[s->by]),
               [PHASE_TIMES] = ta_int(s->times), [PHASE_CALLS] = ta_int(s->calls),
               [PHASE_TIME] = ta_int(s->time),
               [PHASE_SHARE] = window > 0 ? ta_num((double)s->time / (double)window) : ta_null(),
               [PHASE_BUSY] = ta_int(s->busy), [PHASE_IDLE] = ta_int(s->time - s->busy),
               [PHASE_HOST] = some(s->host), [PHASE_CALLS_HOST] = some(s->in_calls),
               [PHASE_KERNELS] = ta_int(s->kernels));
    }
    const int64_t rest = ta_max_i64(0, window - covered);
    if (window > 0)
        TA_ROW(out, phase, [PHASE_RANK] = ta_int(rank), [PHASE_PHASE] = ta_text(TA_LIT("unknown")),
               [PHASE_SOURCE] = ta_null(), [PHASE_TIMES] = ta_null(), [PHASE_CALLS] = ta_null(),
               [PHASE_BUSY] = ta_null(), [PHASE_IDLE] = ta_null(), [PHASE_HOST] = ta_null(),
               [PHASE_CALLS_HOST] = ta_null(), [PHASE_KERNELS] = ta_null(),
               [PHASE_TIME] = ta_int(rest), [PHASE_SHARE] = ta_num((double)rest / (double)window));
}

/* The window of a rank and what of it stages cover; 0 of a rank that is not there. */
static int64_t of_rank(const struct ta_partial *runs, int64_t rank, size_t field)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ta_partial_rows(runs); i++)
        if (ta_partial_at(runs, i)[RUN_RANK] == rank)
            ta_sum(&sum, ta_partial_at(runs, i)[field]);
    return sum;
}

static void add_stages(const struct ta_partial *of, const struct ta_partial *runs,
                       struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(of);
    for (size_t first = 0, end; first < n; first = end) {
        const int64_t rank = ta_partial_at(of, first)[OF_RANK];
        for (end = first; end < n && ta_partial_at(of, end)[OF_RANK] == rank; end++) {
            const int64_t *row = ta_partial_at(of, end);
            TA_ROW(
                out,
                stage, [STAGE_RANK] = ta_int(rank), [STAGE_INDEX] = ta_int((int64_t)(end - first)),
                [STAGE_PHASE] = ta_text(phase_name(row[OF_PHASE])),
                [STAGE_SOURCE] = ta_string(ta_generation_by_words[row[OF_BY]]),
                [STAGE_IMAGE] = ta_int(row[OF_IMAGE]), [STAGE_CALLS] = ta_int(row[OF_CALLS]),
                [STAGE_HOST_START] = ta_int(row[OF_HOST_START]),
                [STAGE_HOST_DUR] = ta_int(row[OF_HOST_DUR]),
                [STAGE_GPU_START] = ta_int(row[OF_GPU_START]),
                [STAGE_GPU_DUR] = ta_int(row[OF_GPU_DUR]),
                [STAGE_GPU_BUSY] = ta_int(row[OF_GPU_BUSY]),
                [STAGE_KERNELS] = ta_int(row[OF_KERNELS]));
        }
        add_phases(of, first, end, of_rank(runs, rank, RUN_WINDOW),
                   of_rank(runs, rank, RUN_COVERED), out);
    }
}

static void add_calls(const struct ta_partial *of, struct ta_section_builder *out)
{
    int64_t rank = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(of); i++) {
        const int64_t *row = ta_partial_at(of, i);
        index = i && row[OF_RANK] == rank ? index + 1 : 0;
        rank = row[OF_RANK];
        TA_ROW(
            out, call, [CALL_RANK] = ta_int(rank), [CALL_INDEX] = ta_int(index),
            [CALL_PHASE] = ta_text(phase_name(row[OF_PHASE])),
            [CALL_NAME] = ta_text_or_null(ta_partial_text(of, row, OF_NAME)),
            [CALL_SOURCE] = ta_string(ta_generation_by_words[row[OF_BY]]),
            [CALL_IMAGE] = ta_int(row[OF_IMAGE]), [CALL_STEP] = ta_int(row[OF_STEP]),
            [CALL_KIND] = ta_int(row[OF_KIND]), [CALL_HOST_START] = ta_int(row[OF_HOST_START]),
            [CALL_HOST_DUR] = ta_int(row[OF_HOST_DUR]),
            [CALL_GPU_START] = ta_int(row[OF_GPU_START]), [CALL_GPU_DUR] = ta_int(row[OF_GPU_DUR]),
            [CALL_GPU_BUSY] = ta_int(row[OF_GPU_BUSY]), [CALL_KERNELS] = ta_int(row[OF_KERNELS]));
    }
}

/* A single bar compares nothing. */
static void draw_phases(const struct ta_partial *of, struct ta_section_builder *out)
{
    bool ranks = false, phases = false;
    for (size_t i = 1; i < ta_partial_rows(of); i++) {
        ranks |= ta_partial_at(of, i)[OF_RANK] != ta_partial_at(of, 0)[OF_RANK];
        phases |= ta_partial_at(of, i)[OF_PHASE] != ta_partial_at(of, 0)[OF_PHASE];
    }
    if (phases)
        ta_draw(out, &phase, ranks ? &waterfall_of_ranks : &waterfall);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *runs = merged[PARTIAL_RUNS];
    bool is_diffusion = false;
    for (size_t i = 0; i < ta_partial_rows(runs); i++) {
        const int64_t *row = ta_partial_at(runs, i);
        const struct made made = made_of(in, row[RUN_RANK]);
        if (row[RUN_BY] == TA_GENERATION_BY_NOTHING)
            continue;
        add_loop(runs, row, &made, out);
        is_diffusion = true;
    }
    /* What ranks without denoiser do counts where another denoises. */
    if (!is_diffusion)
        return TA_OK;
    add_stages(merged[PARTIAL_STAGES], runs, out);
    add_calls(merged[PARTIAL_CALLS], out);
    draw_phases(merged[PARTIAL_STAGES], out);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&loop, &phase, &stage, &call, NULL};

static const char *const needs_args[] = {"grid", NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 1, /* it reads diffusion.tokens */
                                           .needs_args = needs_args,
                                           TA_READS(reads),
                                           .bounds = bounds,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, generation, &ops, .title = "Phases and denoising",
          .summary = "Phases, denoising steps and calls of models of a diffusion: diffusion.loops, "
                     "phases.by_rank, phases.stages, diffusion.calls",
          .version = "1");
