/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kijai's wrappers of video models in ComfyUI (WanVideoWrapper and those alike): where the blocks
 * of the transformer are, what memory was used at most, and how many steps a step cache skipped:
 *
 *     Transformer blocks on cpu: 13409.26MB
 *     Transformer blocks on cuda:0: 0.00MB
 *     Total memory used by transformer blocks: 13409.26MB
 *     Sampling 81 frames at 768x432 with 20 steps
 *     TeaCache skipped: 6 conditional steps: [3, 5, 7, 9, 11, 13]
 *     Max allocated memory: max_memory=20.042 GB
 *     Max reserved memory: max_reserved=20.844 GB
 *
 * Their GB are GiB. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

struct state {
    struct ta_model_load blocks; /* as far as the summary was read */
    bool is_open;
    int64_t steps; /* of the loop that began last, 0: not known */
    int64_t max_allocated_bytes;
};

/* ---- block swap ------------------------------------------------------------------------------ */

/* "cpu: 13409.26MB". */
static bool note_blocks(struct state *st, const struct ta_log_line *line, struct ta_slice rest)
{
    const struct ta_slice amount = ta_log_after(rest, ": ");
    struct ta_slice text = amount;
    const int64_t bytes = amount.ptr ? ta_log_bytes(&text) : TA_MISSING;
    if (bytes == TA_MISSING)
        return false;
    if (!st->is_open)
        st->blocks = ta_unknown_model_load();
    st->is_open = true;
    st->blocks.rank = line->rank;
    int64_t *sum =
        ta_slice_starts(rest, "cpu:") ? &st->blocks.offloaded_bytes : &st->blocks.loaded_bytes;
    *sum = ta_add_sat(ta_max_i64(*sum, 0), bytes);
    return true;
}

/* The last line of the summary. */
static void add_blocks(struct ta_log_reading *log, struct state *st)
{
    if (!st->is_open)
        return;
    st->is_open = false;
    struct ta_model_load *row = &st->blocks;
    row->loaded_bytes = ta_max_i64(row->loaded_bytes, 0);
    row->offloaded_bytes = ta_max_i64(row->offloaded_bytes, 0);
    row->model = ta_log_string(log, TA_LIT("Transformer"));
    row->extent = ta_log_string(log, row->offloaded_bytes ? TA_LIT("partial") : TA_LIT("complete"));
    ta_log_add_model_load(log, row);
    log->load = ++log->loads;
    log->model = row->model;
}

/* ---- steps that a cache skipped -------------------------------------------------------------- */

/* "81 frames at 768x432 with 20 steps". */
static bool note_sampling(struct ta_log_reading *log, struct state *st, struct ta_slice rest)
{
    struct ta_slice steps = ta_log_after(rest, " with ");
    const int64_t n = steps.ptr ? ta_log_integer(&steps) : TA_MISSING;
    st->steps = n > 0 && ta_slice_starts(steps, " step") ? n : 0;
    log->frames = ta_max_i64(log->frames, ta_log_integer(&rest));
    return st->steps > 0;
}

/* "TeaCache skipped: 6 conditional steps: [3, 5]"; `rest` follows "skipped: ". */
static bool note_skipped(struct ta_log_reading *log, const struct state *st,
                         const struct ta_log_line *line, struct ta_slice rest)
{
    const size_t name = (size_t)(rest.ptr - line->text.ptr) - strlen(" skipped: ");
    struct ta_cache_count row = {.rank = line->rank,
                                 .cache = ta_log_string(log, ta_slice_part(line->text, 0, name)),
                                 .hits = ta_log_integer(&rest),
                                 .misses = TA_MISSING,
                                 .evictions = TA_MISSING};
    if (row.hits < 0 || !ta_log_after(rest, "steps").ptr)
        return false;
    if (st->steps >= row.hits)
        row.misses = st->steps - row.hits;
    ta_log_add_cache(log, &row);
    return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool note_reserved(struct ta_log_reading *log, struct state *st,
                          const struct ta_log_line *line, struct ta_slice rest)
{
    struct ta_memory_mark mark = ta_unknown_memory_mark();
    mark.rank = line->rank;
    mark.time_ns = line->time_ns;
    mark.label = ta_log_string(log, TA_LIT("sampling"));
    mark.max_allocated_bytes = st->max_allocated_bytes > 0 ? st->max_allocated_bytes : TA_MISSING;
    mark.max_reserved_bytes = ta_log_bytes(&rest);
    st->max_allocated_bytes = 0;
    if (mark.max_reserved_bytes == TA_MISSING)
        return false;
    ta_log_add_memory_mark(log, &mark);
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    bool is_whole = true;
    struct ta_slice rest;
    if ((rest = ta_log_after(line->text, "Transformer blocks on ")).ptr) {
        is_whole = note_blocks(st, line, rest);
    } else if (ta_log_after(line->text, "Total memory used by transformer blocks: ").ptr) {
        add_blocks(log, st);
    } else if ((rest = ta_log_after(line->text, "Sampling ")).ptr &&
               ta_log_after(rest, " frames at ").ptr) {
        is_whole = note_sampling(log, st, rest);
    } else if ((rest = ta_log_after(line->text, "Cache skipped: ")).ptr) {
        is_whole = note_skipped(log, st, line, rest);
    } else if ((rest = ta_log_after(line->text, "max_memory=")).ptr) {
        st->max_allocated_bytes = ta_log_bytes(&rest);
        is_whole = st->max_allocated_bytes != TA_MISSING;
    } else if ((rest = ta_log_after(line->text, "max_reserved=")).ptr) {
        is_whole = note_reserved(log, st, line, rest);
    } else {
        return TA_LOG_NOT_MINE;
    }
    return is_whole ? TA_LOG_TAKEN : TA_LOG_BAD;
}

static const char *const marks[] = {"Transformer blocks on ",
                                    "Total memory used by transformer blocks: ",
                                    " frames at ",
                                    "Cache skipped: ",
                                    "memory: max_memory=",
                                    "memory: max_reserved=",
                                    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take};

TA_PLUGIN(log, wan_wrapper, &ops, .title = "WanVideoWrapper",
          .summary = "Blocks swapped to host memory, steps that a cache skipped, peak memory",
          .version = "1");
