/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One Chrome trace of all. */
#include "merge/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_traces(const struct ta_merge *merge, struct ta_file *out)
{
    ta_puts(out,
            "{\n\"" TA_MERGE_MEMBER "\": {\"schema\": \"" TA_MERGE_SIGNATURE "\", \"version\": ");
    ta_put_json(out, ta_slice_of(merge->version), false);
    ta_puts(out, ", \"alignment\": ");
    ta_put_json(out, ta_slice_of(merge->alignment), false);
    ta_puts(out, ", \"traces\": [");
    for (size_t i = 0; i < merge->n; i++) {
        ta_puts(out, i ? ",\n" : "\n");
        merge_trace_describe(&merge->traces[i], out);
    }
    ta_puts(out, "]},\n");
}

/* A trace of several ranks that was merged before: what it says of them stays, and so do the names
 * and numbers of its processes. */
static bool is_merged(const struct ta_merge *merge)
{
    return merge->n == 1 && merge->traces[0].rank == TA_MISSING;
}

static void put_head(const struct ta_merge *merge, struct ta_file *out)
{
    if (is_merged(merge)) {
        ta_puts(out, "{\n\"" TA_MERGE_AGAIN "\": {\"schema\": \"" TA_MERGE_SIGNATURE "\"},\n");
    } else {
        put_traces(merge, out);
    }
    if (merge->base_ns != TA_MISSING)
        ta_putf(out, "\"baseTimeNanoseconds\": %" PRId64 ",\n", merge->base_ns);
    ta_puts(out, "\"traceEvents\": [");
}

/* What a trace says of itself, and how many events name and order its processes, there and here. */
struct own {
    struct merge_members members;
    uint64_t places_read, places_written;
};

static void put_own(const struct own *own, size_t n, struct ta_file *out)
{
    for (size_t i = 0; i < n; i++) {
        ta_putf(out,
                ",\n\"" TA_MERGE_TRACE "%zu\": {\"places_read\": %" PRIu64
                ", \"places_written\": %" PRIu64,
                i, own[i].places_read, own[i].places_written);
        merge_members_put(&own[i].members, out);
        ta_puts(out, "}");
    }
}

static void warn_of_limits(struct ta_ctx *ctx, const struct merge_ids *ids,
                           const struct merge_processes *processes)
{
    if (ids->is_full)
        ta_log(ctx, TA_LOG_WARNING,
               "A trace has more ids than can be told apart (--limit names=…): "
               "those beyond stay as they are, and may meet those of others");
    if (processes->is_full)
        ta_log(ctx, TA_LOG_WARNING,
               "A trace has more processes than can be told apart "
               "(--limit names=…): those beyond count as its first one");
}

enum ta_status ta_merge_chrome(struct ta_ctx *ctx, const struct ta_merge *merge,
                               struct ta_file *out)
{
    const size_t limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_NAMES);
    struct merge_ids ids = {.limit = limit};
    struct merge_processes processes = {.limit = limit};
    struct merge_members members = {0};
    struct merge_writer writer = {.ids = merge->n > 1 ? &ids : NULL,
                                  .processes = is_merged(merge) ? NULL : &processes,
                                  .out = out,
                                  .separator = "\n"};
    struct own *own = calloc(merge->n, sizeof *own);
    enum ta_status status =
        own ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold what traces say of themselves");
    if (own)
        put_head(merge, out);
    for (size_t i = 0; status == TA_OK && i < merge->n; i++) {
        struct ta_merge_trace *trace = &merge->traces[i];
        char owner[512];
        merge_ids_next(&ids, (int64_t)i);
        writer.clock = &trace->clock;
        writer.moves = trace->clock.offset_ns || trace->clock.drift_ppt;
        status = merge_trace(ctx, merge, trace, &writer, &members, &own[i].members);
        /* Whose a process is, "rank 3" or "rank 3 (capture.json)". */
        if (trace->shares_rank)
            snprintf(owner, sizeof owner, "rank %" PRId64 " (%s)", trace->rank, trace->shown);
        else
            snprintf(owner, sizeof owner, "rank %" PRId64, trace->rank);
        own[i].places_read = writer.places;
        own[i].places_written = merge_processes_end(&processes, owner, out, &writer.separator);
        if (status == TA_OK && processes.failed)
            status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the processes of a trace");
    }
    ta_puts(out, "\n]");
    merge_members_put(&members, out); /* by now it is known what the run says of itself */
    put_own(own, own && !is_merged(merge) ? merge->n : 0, out);
    ta_puts(out, "\n}\n");
    warn_of_limits(ctx, &ids, &processes);
    ta_clean_free(&writer.clean);
    merge_ids_free(&ids);
    merge_processes_free(&processes);
    merge_members_free(&members);
    for (size_t i = 0; own && i < merge->n; i++)
        merge_members_free(&own[i].members);
    free(own);
    return status;
}
