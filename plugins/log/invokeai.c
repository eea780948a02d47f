/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of each model InvokeAI brings to the device:
 *
 *     [MODEL CACHE] Loaded model '683c44e2:transformer' (Flux) onto cuda device in 9.80s. Total
 * model size: 11350.09MB, VRAM: 5320.75MB (46.9%)
 *
 * (in one line).  A submodel is called as the part after the colon. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#define LOADED "[MODEL CACHE] Loaded model '"

static bool runs_once(struct ta_slice part)
{
    static const char *const words[] = {"encoder", "tokenizer", "scheduler", "vae", NULL};
    return ta_slice_has_any(part, words);
}

static bool note_load(struct ta_log_reading *log, const struct ta_log_line *line,
                      struct ta_slice name)
{
    const char *quote = name.len ? memchr(name.ptr, '\'', name.len) : NULL;
    struct ta_slice device = ta_log_after(name, " onto ");
    struct ta_slice all = ta_log_after(name, "Total model size: ");
    struct ta_slice there = ta_log_after(name, "VRAM: ");
    const char *end = device.len ? memchr(device.ptr, ' ', device.len) : NULL;
    const int64_t bytes = all.ptr ? ta_log_bytes(&all) : TA_MISSING;
    const int64_t loaded = there.ptr ? ta_log_bytes(&there) : TA_MISSING;
    if (!quote || !end || bytes == TA_MISSING || loaded == TA_MISSING)
        return false;
    struct ta_slice model = ta_slice_part(name, 0, (size_t)(quote - name.ptr));
    const char *colon = model.len ? memrchr(model.ptr, ':', model.len) : NULL;
    if (colon)
        model = ta_slice_from(model, (size_t)(colon - model.ptr) + 1);
    struct ta_model_load row = ta_unknown_model_load();
    row.rank = line->rank;
    row.model = ta_log_string(log, model);
    row.device = ta_log_string(log, ta_slice_part(device, 0, (size_t)(end - device.ptr)));
    if (!ta_slice_starts(device, "cpu")) {
        row.loaded_bytes = loaded;
        row.offloaded_bytes = ta_max_i64(bytes - loaded, 0);
        row.extent =
            ta_log_string(log, row.offloaded_bytes ? TA_LIT("partial") : TA_LIT("complete"));
    }
    ta_log_add_model_load(log, &row);
    log->loads++;
    if (!runs_once(model)) {
        log->load = log->loads;
        log->model = row.model;
    }
    return true;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    (void)state;
    const struct ta_slice name = ta_log_after(line->whole, LOADED);
    if (!name.ptr)
        return TA_LOG_NOT_MINE;
    return note_load(log, line, name) ? TA_LOG_TAKEN : TA_LOG_BAD;
}

static const char *const marks[] = {LOADED, NULL};

static const struct ta_log_ops ops = {.marks = marks, .take = take};

TA_PLUGIN(log, invokeai, &ops, .title = "InvokeAI",
          .summary = "How much of each model InvokeAI loads to the GPU", .version = "1");
