/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where FramePack brings its models:
 *
 *     Loaded AutoencoderKLHunyuanVideo to cuda:0 as complete.
 *     Moving DynamicSwap_HunyuanVideoTransformer3DModelPacked to cuda:0 with preserved memory: 6 GB
 *
 * What "Moving" leaves in host memory is copied when it is used; how much that is the log does not
 * say. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

/* "NAME to DEVICE with …". */
static bool note_load(struct ta_log_reading *log, const struct ta_log_line *line,
                      struct ta_slice rest, bool is_complete)
{
    const struct ta_slice device = ta_log_after(rest, " to ");
    const char *end = device.len ? memchr(device.ptr, ' ', device.len) : NULL;
    if (!end)
        return false;
    struct ta_model_load row = ta_unknown_model_load();
    row.rank = line->rank;
    row.model = ta_log_string(
        log, ta_slice_part(rest, 0, (size_t)(device.ptr - rest.ptr) - strlen(" to ")));
    row.device = ta_log_string(log, ta_slice_part(device, 0, (size_t)(end - device.ptr)));
    if (is_complete)
        row.extent = ta_log_string(log, TA_LIT("complete"));
    ta_log_add_model_load(log, &row);
    log->loads++;
    if (!is_complete) { /* the model of the loop; the others run once */
        log->load = log->loads;
        log->model = row.model;
    }
    return true;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    (void)state;
    const bool is_complete = ta_slice_starts(line->text, "Loaded ");
    const bool is_moving = ta_slice_starts(line->text, "Moving ");
    if (!(is_complete && ta_log_after(line->text, " as complete").ptr) &&
        !(is_moving && ta_log_after(line->text, " with preserved memory: ").ptr))
        return TA_LOG_NOT_MINE;
    const struct ta_slice rest = ta_slice_from(line->text, strlen("Loaded "));
    return note_load(log, line, rest, is_complete) ? TA_LOG_TAKEN : TA_LOG_BAD;
}

static const char *const marks[] = {" as complete", " with preserved memory: ", NULL};

static const struct ta_log_ops ops = {.marks = marks, .take = take};

TA_PLUGIN(log, framepack_models, &ops, .title = "FramePack",
          .summary = "Which models FramePack brings to the device", .version = "1");
