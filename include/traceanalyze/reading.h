/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What columns and scalars are to readers that know no table. */
#ifndef TRACEANALYZE_READING_H
#define TRACEANALYZE_READING_H

/* What a reader that knows no table reads a column or a scalar as: comparisons, gates and the
 * grading of findings ask for the time of steps, whichever analysis has it.  A reading has one
 * owner. */
enum ta_reading {
    TA_AS_NOTHING, /* it has an id for those who name it */

    /* Kernels, and operators with what they run, by name. */
    TA_AS_KERNEL,
    TA_AS_KERNEL_CLASS,
    TA_AS_KERNEL_CALLS,
    TA_AS_KERNEL_TIME,
    TA_AS_OP,
    TA_AS_OP_CATEGORY,
    TA_AS_OP_CALLS,
    TA_AS_OP_TIME,
    TA_AS_OP_SELF,
    TA_AS_SHAPED_OP, /* operators by the shapes of their inputs */
    TA_AS_SHAPES,
    TA_AS_SHAPES_TIME,
    /* When an operator first ran a kernel, or another operator. */
    TA_AS_LAUNCHER,
    TA_AS_LAUNCHED,
    TA_AS_LAUNCHER_WITHIN,
    TA_AS_LAUNCHED_START,
    TA_AS_LAUNCHED_CALLS,
    TA_AS_CALLER,
    TA_AS_CALLED,
    TA_AS_CALLER_WITHIN,
    TA_AS_CALLED_START,
    TA_AS_CALLED_CALLS,

    /* Stages of a rank; one without a share encloses others.  Derived ones are made of other
     * records. */
    TA_AS_STAGE,
    TA_AS_STAGE_CALLS,
    TA_AS_STAGE_TIME,
    TA_AS_STAGE_SHARE,
    TA_AS_STAGE_INSIDE,
    TA_AS_STAGE_ORDER,
    TA_AS_DERIVED_STAGE,
    TA_AS_DERIVED_CALLS,
    TA_AS_DERIVED_TIME,
    TA_AS_DERIVED_SHARE,

    /* Steps of a rank, together and in the order of time. */
    TA_AS_STEP,
    TA_AS_STEP_START,
    TA_AS_STEP_HOST_TIME,
    TA_AS_STEP_GPU_TIME,

    /* Windows of devices, sessions and ranks, and the parts that add up to the window of a
     * device. */
    TA_AS_DEVICE_WINDOW,
    TA_AS_DEVICE_COMPUTE,
    TA_AS_SESSION_TIME,
    TA_AS_TRACE_WINDOW,
    TA_AS_ACTIVITY, /* of all devices */
    TA_AS_ACTIVITY_CLASS,
    TA_AS_ACTIVITY_CALLS,
    TA_AS_ACTIVITY_TIME,
    TA_AS_ACTIVITY_EXPOSED,
    TA_AS_DEVICE_ACTIVITY, /* of each device */
    TA_AS_DEVICE_ACTIVITY_CLASS,
    TA_AS_DEVICE_ACTIVITY_CALLS,
    TA_AS_DEVICE_ACTIVITY_EXPOSED,
    TA_AS_RECORDED_PART, /* what was recorded, and whether it could be left out */
    TA_AS_RECORDED_OPTION,
    TA_AS_RECORDED_COST,
    TA_AS_PATH_CLASS, /* of the critical path of each rank */
    TA_AS_PATH_TIME,
    TA_AS_RANK_WAIT, /* of a rank for others in collectives, and what a late one costs the run */
    TA_AS_RANK_COST,
    TA_AS_IDLE_CAUSE,
    TA_AS_IDLE_GAPS,
    TA_AS_IDLE_TIME,

    /* What a run is of. */
    TA_AS_KERNEL_KIND,
    TA_AS_KERNEL_KIND_CALLS,
    TA_AS_KERNEL_KIND_TIME,
    TA_AS_PRECISION,
    TA_AS_PRECISION_TIME,
    TA_AS_ATTENTION,
    TA_AS_ATTENTION_TIME,
    TA_AS_MODEL,
    TA_AS_MODEL_PARAMETERS,
    TA_AS_FORMAT,
    TA_AS_FORMAT_BYTES,
    TA_AS_EVENT_CATEGORY,
    TA_AS_TAG,
    TA_AS_TAG_VALUE,
    TA_AS_FILE_KIND, /* what files were taken for, where they are not simply ranks */
    TA_AS_FILE_RECORDING,
    TA_AS_FILE_COUNTS,
    TA_AS_DONE_STEPS, /* of a rank, where no steps are listed */
    TA_AS_DONE_FRAMES,
    TA_AS_SIGNAL,
    TA_AS_SIGNAL_MEAN,

    /* Loops of logs, a row for each bar of progress; iterations of any loop; what slows devices. */
    TA_AS_BAR,
    TA_AS_BAR_MODEL,
    TA_AS_BAR_DONE,
    TA_AS_BAR_MEAN,
    TA_AS_BAR_FIRST,
    TA_AS_BAR_REST,
    TA_AS_BAR_CHANGE,
    TA_AS_BAR_BEFORE,
    TA_AS_BAR_AFTER,
    TA_AS_BAR_OFFLOADED,
    TA_AS_ITERATION,
    TA_AS_ITERATION_COUNT,
    TA_AS_ITERATION_TIME,
    TA_AS_LIMIT,
    TA_AS_LIMIT_SHARE,

    /* Bytes that were asked for and not to be had. */
    TA_AS_FAILED,

    /* Events of dumps and logs, and how often code was compiled again. */
    TA_AS_HAPPENING,
    TA_AS_RECOMPILED,

    /* Memory of a device at the peak by call site, and at labels. */
    TA_AS_SITE,
    TA_AS_SITE_LABEL,
    TA_AS_SITE_BLOCKS, /* bytes of blocks */
    TA_AS_SITE_BYTES,  /* bytes asked for */
    TA_AS_LEVEL_LABEL,
    TA_AS_LEVEL_BYTES,

    /* Phases and the loop of a diffusion. */
    TA_AS_RANK_WINDOW, /* of the program */
    TA_AS_PHASE,
    TA_AS_PHASE_CALLS,
    TA_AS_PHASE_TIME,
    TA_AS_LOOP_IMAGES,
    TA_AS_LOOP_BLOCKS,
    TA_AS_LOOP_STEPS,
    TA_AS_LOOP_FORWARDS,
    TA_AS_LOOP_PER_STEP,
    TA_AS_LOOP_LAYERS,
    TA_AS_LOOP_FULL,
    TA_AS_LOOP_IMAGE_TIME,
    TA_AS_MODEL_CALL,
    TA_AS_MODEL_CALL_KIND,
    TA_AS_MODEL_CALL_HOST,
    TA_AS_MODEL_CALL_GPU,
    TA_AS_IMAGE_WIDTH, /* of a kind of image or video, pixels */
    TA_AS_IMAGE_HEIGHT,
    TA_AS_IMAGE_FRAMES,
    TA_AS_IMAGE_BATCH,   /* made together */
    TA_AS_IMAGE_SAMPLES, /* of a pass of the denoiser */
    TA_AS_IMAGE_TOKENS,
    TA_AS_SEQUENCE_TOKENS, /* text counts */
    TA_AS_ATTENTION_SHARE,

    TA_AS_PEAK_ALLOCATED, /* scalars */
    TA_AS_TRUST,
    TA_AS_RECORDER_COST,
    TA_AS_PROGRAM_WINDOW,

    /* Only comparisons of world sizes read what follows; other comparisons do without it. */
    TA_READINGS_OF_SCALING,
    TA_AS_DENOISING_STEP = TA_READINGS_OF_SCALING,
    TA_AS_DENOISING_TIME,
    TA_AS_BLOCK_TIME,
    TA_AS_BLOCK_FRAMES,
    TA_AS_RATE,
    TA_AS_RATE_BASIS,
    TA_AS_RATE_VALUE,
    TA_AS_FLOP,
    TA_AS_ENERGY,
    TA_AS_ENERGY_SHARE,
    TA_AS_FACTOR, /* of the parallel efficiency */
    TA_AS_FACTOR_EFFICIENCY,
    TA_AS_IDLE_DISPATCH, /* idle time of a device by cause */
    TA_AS_IDLE_HOST,
    TA_AS_IDLE_SYNC,
    TA_AS_IDLE_SETUP,
    TA_AS_IDLE_INPUT,
    TA_READINGS
};

#endif
