/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.stages: the phases of a diffusion run in the order of time. */
#include "partials.h"
#include "tables.h"

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
static const struct ta_column phases_stages_columns[] = {
    [STAGE_RANK] = TA_RANK_COLUMN,
    [STAGE_INDEX] = {"index", "Order", TA_TYPE_INTEGER, .role = TA_KEY,
                     .doc = "Position in the order of time, from 0"},
    [STAGE_PHASE] = {"phase", "Phase", TA_TEXT,
                     .doc = "load, text encode, image encode, denoise, VAE decode or post-process"},
    [STAGE_SOURCE] = {"source", "Known from", TA_WORD,
                      .doc = "How the phase was recognized: range, module, function or kernels"},
    [STAGE_IMAGE] = {"image", "Image", TA_TYPE_INTEGER, .role = TA_NOTE,
                     .doc = "Number of the image, video or request, from 1"},
    [STAGE_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Model calls in this stretch"},
    [STAGE_HOST_START] = {"host_start_ns", "Host start", TA_NS, .doc = HOST_START_DOC},
    [STAGE_HOST_DUR] = {"host_dur_ns", "Host time", TA_NS,
                        .doc = "From the start of the first call to the end of the last on the "
                               "host, or of the range around them"},
    [STAGE_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS, .doc = GPU_START_DOC},
    [STAGE_GPU_DUR] = {"gpu_dur_ns", "GPU span", TA_NS, .doc = GPU_DUR_DOC},
    [STAGE_GPU_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .doc = GPU_BUSY_DOC},
    [STAGE_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                       .doc = "Number of kernels launched in this stretch"},
};

const struct ta_table_def phases_stages = {"phases.stages",
                                           "Phases in order",
                                           TA_COLUMNS(phases_stages_columns),
                                           .doc =
                                               "One row per rank and stretch of time in one phase: "
                                               "calls of the phase that follow each other.",
                                           .tier = TA_TIER_DETAIL,
                                           .not_of_ranks = true};

void generation_add_stages(const struct ta_partial *stages, struct ta_section_builder *out)
{
    int64_t rank = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(stages); i++) {
        const int64_t *row = ta_partial_at(stages, i);
        index = i && row[OF_RANK] == rank ? index + 1 : 0;
        rank = row[OF_RANK];
        TA_ROW(
            out, phases_stages, [STAGE_RANK] = ta_int(rank), [STAGE_INDEX] = ta_int(index),
            [STAGE_PHASE] = phase_cell(row[OF_PHASE]),
            [STAGE_SOURCE] = ta_string(ta_generation_by_words[row[OF_BY]]),
            [STAGE_IMAGE] = ta_int(row[OF_IMAGE]), [STAGE_CALLS] = ta_int(row[OF_CALLS]),
            [STAGE_HOST_START] = ta_int(row[OF_HOST_START]),
            [STAGE_HOST_DUR] = ta_int(row[OF_HOST_DUR]),
            [STAGE_GPU_START] = ta_int(row[OF_GPU_START]),
            [STAGE_GPU_DUR] = ta_int(row[OF_GPU_DUR]), [STAGE_GPU_BUSY] = ta_int(row[OF_GPU_BUSY]),
            [STAGE_KERNELS] = ta_int(row[OF_KERNELS]));
    }
}
