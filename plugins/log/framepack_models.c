/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where FramePack brings its models:
 *
 *     Loaded AutoencoderKLHunyuanVideo to cuda:0 as complete.
 *     Moving DynamicSwap_HunyuanVideoTransformer3DModelPacked to cuda:0 with preserved memory: 6 GB
 *
 * What "Moving" leaves in host memory is copied when it is used.  It brings weights as long as that
 * much memory stays free, so that at most the rest of what was free at the start is theirs:
 *
 *     Free VRAM 6.93 GB
 *
 * The transformer has 13 billion parameters in 16 bit, 24 GiB: where there is room for all of them
 * nothing is said to be left. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#define FREE "Free VRAM "
#define KEPT " with preserved memory: "
#define WEIGHTS_BYTES (INT64_C(24) << 30)

struct state {
    int64_t free_bytes; /* at the start; 0: not said */
};

/* "NAME to DEVICE with …". */
static bool note_load(struct ta_log_reading *log, const struct state *st,
                      const struct ta_log_line *line, struct ta_slice rest, bool is_complete)
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
    struct ta_slice kept = ta_log_after(rest, KEPT);
    const int64_t kept_bytes = kept.ptr ? ta_log_bytes(&kept) : TA_MISSING;
    if (is_complete)
        row.extent = ta_log_string(log, TA_LIT("complete"));
    else if (st->free_bytes > 0 && kept_bytes != TA_MISSING &&
             st->free_bytes - kept_bytes < WEIGHTS_BYTES) {
        row.extent = ta_log_string(log, TA_LIT("partial"));
        row.usable_bytes = ta_max_i64(st->free_bytes - kept_bytes, 0);
    }
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
    struct state *st = state;
    if (ta_slice_starts(line->text, FREE)) {
        struct ta_slice amount = ta_slice_from(line->text, strlen(FREE));
        const int64_t bytes = ta_log_bytes(&amount);
        st->free_bytes = bytes == TA_MISSING ? 0 : bytes;
        return TA_LOG_SHARED;
    }
    const bool is_complete = ta_slice_starts(line->text, "Loaded ");
    const bool is_moving = ta_slice_starts(line->text, "Moving ");
    if (!(is_complete && ta_log_after(line->text, " as complete").ptr) &&
        !(is_moving && ta_log_after(line->text, KEPT).ptr))
        return TA_LOG_NOT_MINE;
    const struct ta_slice rest = ta_slice_from(line->text, strlen("Loaded "));
    return note_load(log, st, line, rest, is_complete) ? TA_LOG_TAKEN : TA_LOG_BAD;
}

static const char *const marks[] = {" as complete", KEPT, FREE, NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take};

TA_PLUGIN(log, framepack_models, &ops, .title = "FramePack",
          .summary = "Which models FramePack loads to the GPU", .version = "1");
