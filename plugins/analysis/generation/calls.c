/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.calls: model calls of a diffusion run. */
#include "partials.h"
#include "tables.h"

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
static const struct ta_column diffusion_calls_columns[] = {
    [CALL_RANK] = TA_RANK_COLUMN,
    [CALL_INDEX] = {"index", "Order", TA_TYPE_INTEGER, .role = TA_KEY,
                    .doc = "Position in the order of time, from 0"},
    [CALL_PHASE] =
        {"phase", "Phase", TA_TEXT, .read_as = TA_AS_MODEL_CALL,
         .doc = "Phase that the call belongs to: text encode, image encode, denoise or VAE decode"},
    [CALL_NAME] = {"name", "Model", TA_TEXT,
                   .doc = "Range, module or function that runs the model"},
    [CALL_SOURCE] = {"source", "Known from", TA_WORD,
                     .doc = "How the call was recognized: range, module, function or kernels"},
    [CALL_IMAGE] = {"image", "Image", TA_TYPE_INTEGER, .role = TA_NOTE,
                    .doc = "Number of the image, video or request, from 1"},
    [CALL_STEP] =
        {"step", "Step", TA_TYPE_INTEGER, .role = TA_NOTE,
         .doc = "For a pass of the denoiser, the number of its step among all steps, from 1"},
    [CALL_KIND] = {"kind", "Kind", TA_TYPE_INTEGER, .role = TA_NOTE,
                   .read_as = TA_AS_MODEL_CALL_KIND,
                   .doc = "Calls of a phase that launch the same kernels share a number; the kind "
                          "that takes longest is 0"},
    [CALL_HOST_START] = {"host_start_ns", "Host start", TA_NS, .doc = HOST_START_DOC},
    [CALL_HOST_DUR] = {"host_dur_ns", "Host time", TA_NS, .read_as = TA_AS_MODEL_CALL_HOST,
                       .doc = "Duration of the range, module or function on the host"},
    [CALL_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS, .doc = GPU_START_DOC},
    [CALL_GPU_DUR] = {"gpu_dur_ns", "GPU span", TA_NS, .read_as = TA_AS_MODEL_CALL_GPU,
                      .doc = GPU_DUR_DOC},
    [CALL_GPU_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .doc = GPU_BUSY_DOC},
    [CALL_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                      .doc = "Number of kernels launched in the call"},
};

const struct ta_table_def diffusion_calls = {
    "diffusion.calls",
    "Model calls",
    TA_COLUMNS(diffusion_calls_columns),
    .doc =
        "One row per rank and call of an encoder, the denoiser or a decoder, in the order of time.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

void generation_add_calls(const struct ta_partial *calls, struct ta_section_builder *out)
{
    int64_t rank = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(calls); i++) {
        const int64_t *row = ta_partial_at(calls, i);
        index = i && row[OF_RANK] == rank ? index + 1 : 0;
        rank = row[OF_RANK];
        TA_ROW(
            out, diffusion_calls, [CALL_RANK] = ta_int(rank), [CALL_INDEX] = ta_int(index),
            [CALL_PHASE] = phase_cell(row[OF_PHASE]),
            [CALL_NAME] = ta_text_or_null(ta_partial_text(calls, row, OF_NAME)),
            [CALL_SOURCE] = ta_string(ta_generation_by_words[row[OF_BY]]),
            [CALL_IMAGE] = ta_int(row[OF_IMAGE]), [CALL_STEP] = ta_int(row[OF_STEP]),
            [CALL_KIND] = ta_int(row[OF_KIND]), [CALL_HOST_START] = ta_int(row[OF_HOST_START]),
            [CALL_HOST_DUR] = ta_int(row[OF_HOST_DUR]),
            [CALL_GPU_START] = ta_int(row[OF_GPU_START]), [CALL_GPU_DUR] = ta_int(row[OF_GPU_DUR]),
            [CALL_GPU_BUSY] = ta_int(row[OF_GPU_BUSY]), [CALL_KERNELS] = ta_int(row[OF_KERNELS]));
    }
}
