/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run to mergeable summaries, one per rank. */
#include "run/run.h"

#include "reduce.h"

struct writing {
    struct ta_sink *sink;
    size_t n;
};

static enum ta_status take(struct ta_ctx *ctx, void *user, const char *name, struct ta_slice packed)
{
    struct writing *writing = user;
    if (ta_ctx_canceled(ctx))
        return ta_fail(ctx, TA_ERR_CANCELED, "Stopped");
    if (writing->n++ && ta_sink_is_single(writing->sink))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "A file takes the summary of one rank, and there are several: give a folder "
                       "with -o");
    struct ta_file *file = ta_sink_open(ctx, writing->sink, name, TA_SUMMARY_COMMENT);
    if (!file)
        return ctx->status;
    ta_put(file, packed);
    return ta_file_close(ctx, file);
}

enum ta_status ta_run_reduce(struct ta_run *run, size_t index, size_t count, struct ta_sink *sink,
                             struct ta_reduced *reduced)
{
    struct ta_run_options options;
    struct writing writing = {.sink = sink};
    struct ta_reduce_counts counts = {0};
    enum ta_status status = ta_run_check(run, TA_RUN_CHECK);
    if (status != TA_OK)
        return status;
    ta_run_reading(run, &options);
    status = ta_reduce_run(&run->ctx, run->registry, &options, (struct ta_shard){index, count},
                           take, &writing, &counts);
    run->events += counts.events;
    run->bytes += counts.raw_bytes;
    if (status == TA_OK)
        *reduced = (struct ta_reduced){counts.files, counts.used, counts.summaries};
    return status;
}
