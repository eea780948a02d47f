/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.encodes: encoders of prompts and images that run several times for one image, each
 * time with the same kernels: for a prompt and its negative, which could share a batch, or for
 * the same input again.  A trace does not contain the prompts. */
#include "lib/modules.h"
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

enum { RANK, PHASE, MODEL, CALLS, IMAGES, AGAIN, TIME, BUSY, HOST, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},         [PHASE] = {"phase", TA_FIELD_INT},
    [MODEL] = {"model", TA_FIELD_TEXT},       [CALLS] = {"calls", TA_FIELD_SUM},
    [IMAGES] = {"images", TA_FIELD_SUM},      [AGAIN] = {"again", TA_FIELD_SUM},
    [TIME] = {"again_ns", TA_FIELD_SUM},      [BUSY] = {"again_busy_ns", TA_FIELD_SUM},
    [HOST] = {"again_host_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"models", fields, FIELDS}, {0}};

static const struct ta_column encodes_columns[FIELDS] = {
    [RANK] = TA_RANK_COLUMN,
    [PHASE] = {"phase", "Phase", TA_TEXT, .doc = "text encode or image encode"},
    [MODEL] = {"model", "Model", TA_TEXT, .doc = "Module, range or function that encodes"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
               .doc = "Number of calls of the encoder"},
    [IMAGES] = {"images", "Images", TA_COUNT, .doc = "Number of images or videos generated"},
    [AGAIN] = {"again", "Repeated calls", TA_COUNT, .better = TA_LOWER,
               .doc = "Calls that launch the same kernels as an earlier call for the same image"},
    [TIME] = {"again_ns", "Repeated time", TA_NS, .better = TA_LOWER,
              .doc = "Sum over the repeated calls: from the start of the call on the host, or from "
                     "the end of earlier work on the device if that is later, to the end of what "
                     "the call launched"},
    [BUSY] = {"again_busy_ns", "GPU busy", TA_NS, .better = TA_LOWER,
              .doc = "Time in which a device works for the repeated calls"},
    [HOST] = {"again_host_ns", "Host time", TA_NS, .better = TA_LOWER,
              .doc = "Time that the host spends in the repeated calls"},
};

static const struct ta_table_def encodes = {
    "diffusion.encodes",
    "Repeated encoder calls",
    TA_COLUMNS(encodes_columns),
    .doc = "One row per rank and encoder of prompts or images that runs several times for one "
           "image with the same kernels: for the same input again, or for another one, such as a "
           "negative prompt, that could share a batch with it. What it encodes is not recorded.",
    .tier = TA_TIER_DETAIL,
    .rank_words = "Encoder"};

/* The class of a module, else the name. */
static struct ta_slice name_of(const struct ta_trace *trace, const struct ta_generation_call *call)
{
    if (call->mark == TA_NO_ROW)
        return TA_LIT("");
    const struct ta_slice name = ta_trace_text(trace, ta_trace_spans(trace).name[call->mark]);
    return ta_is_module(name) ? ta_module_name(name) : name;
}

/* Whether an earlier call for the same image launches the same kernels. */
static bool is_again(const struct ta_trace *trace, const struct ta_generation *found, size_t i)
{
    enum { LOOKED_AT_MOST = 1024 }; /* encoder calls for one image */
    const struct ta_generation_call *call = &found->calls[i];
    for (size_t k = i; k-- > 0 && i - k <= LOOKED_AT_MOST;) {
        const struct ta_generation_call *other = &found->calls[k];
        if (other->image == call->image && other->phase == call->phase &&
            other->kind == call->kind &&
            ta_slice_equal(name_of(trace, other), name_of(trace, call)))
            return true;
        if (other->image != call->image && other->phase == TA_GENERATION_DENOISE)
            return false; /* belongs to an earlier image */
    }
    return false;
}

static bool is_encoder(const struct ta_generation_call *call)
{
    return call->phase == TA_GENERATION_TEXT_ENCODE || call->phase == TA_GENERATION_IMAGE_ENCODE;
}

/* Time that the call adds to the run: earlier work on the device may end after the call has
 * begun. */
static int64_t time_of(const struct ta_generation *found, size_t i)
{
    const struct ta_generation_time *time = &found->calls[i].time;
    const struct ta_generation_time *before = i ? &found->calls[i - 1].time : NULL;
    int64_t start = time->host_start, end = time->host_end;
    if (before && before->gpu_end != TA_MISSING && before->gpu_end > start)
        start = before->gpu_end;
    if (time->gpu_end != TA_MISSING && time->gpu_end > end)
        end = time->gpu_end;
    return start == TA_MISSING ? TA_MISSING : end > start ? end - start : 0;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    for (size_t i = 0; i < found->n_calls; i++) {
        const struct ta_generation_call *call = &found->calls[i];
        const struct ta_generation_time *time = &call->time;
        if (!is_encoder(call) || time->kernels == 0)
            continue;
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)),
                                      ta_key_int(call->phase), ta_key_text(name_of(trace, call)));
        ta_sum(&row[CALLS], 1);
        if (row[IMAGES] == TA_MISSING)
            row[IMAGES] = (int64_t)found->n_images;
        if (!is_again(trace, found, i))
            continue;
        ta_sum(&row[AGAIN], 1);
        ta_sum(&row[TIME], time_of(found, i));
        ta_sum(&row[BUSY], time->gpu_busy);
        if (time->host_start != TA_MISSING)
            ta_sum(&row[HOST], time->host_end - time->host_start);
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        if (row[AGAIN] <= 0)
            continue;
        struct ta_cell cells[FIELDS];
        for (size_t c = 0; c < FIELDS; c++)
            cells[c] = ta_int(row[c]);
        cells[PHASE] = ta_string(ta_generation_phase_names[row[PHASE]]);
        cells[MODEL] = ta_text_or_null(ta_partial_text(merged[0], row, MODEL));
        ta_add_row(ta_rows(out, &encodes), cells);
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, PHASE, TA_GENERATION_PHASES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&encodes, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "diffusion",
                                           .place = 3,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, encodes, &ops, .title = "Repeated encoder calls",
    .summary =
        "Encoders of prompts and images that run several times for one image: diffusion.encodes",
    .version = "1");
