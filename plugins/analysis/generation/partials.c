/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "partials.h"

#include "model/program/generation.h"

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
    [RUN_AT_ONCE] = {"at_once",
                     TA_FIELD_MAX}, /* 0: nothing shows which request a step belongs to */
    [RUN_MAKES] = {"makes", TA_FIELD_MAX},
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

const struct ta_partial_def generation_partials[] = {
    [PARTIAL_RUNS] = {"runs", run_fields, RUN_FIELDS},
    [PARTIAL_STAGES] = {"stages", part_fields, OF_FIELDS},
    [PARTIAL_CALLS] = {"calls", part_fields, OF_FIELDS},
    {0},
};

/* Rows may come from a saved summary. */
const struct ta_bound generation_bounds[] = {{PARTIAL_RUNS, RUN_BY, TA_GENERATION_BY_KERNELS + 1},
                                             {PARTIAL_RUNS, RUN_MAKES, TA_GENERATION_VIDEOS + 1},
                                             {PARTIAL_STAGES, OF_PHASE, TA_GENERATION_PHASES},
                                             {PARTIAL_STAGES, OF_BY, TA_GENERATION_BY_KERNELS + 1},
                                             {PARTIAL_CALLS, OF_PHASE, TA_GENERATION_PHASES},
                                             {PARTIAL_CALLS, OF_BY, TA_GENERATION_BY_KERNELS + 1},
                                             TA_BOUNDS_END};
