/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dumps of other profilers when all files are read.
 *
 * A trace is mapped in the worker that read it.  A dump waits, because whether its rows count
 * depends on the other files of its folder. */
#include "ingest/dumps/reconcile.h"

#include "base/context.h"
#include "ingest/dumps/dumps.h"
#include "model/trace.h"
#include "analyze/timeline/samples.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- clocks ---------------------------------------------------------------------------------- */

static bool has_undated_times(const struct ta_ingested *file)
{
    return !file->refusal && file->first_ts != TA_MISSING && file->base_ns == TA_MISSING &&
           file->first_ts < TA_DATED_FROM_NS;
}

static bool has_dates(const struct ta_ingested *file)
{
    if (file->refusal)
        return false;
    return file->dump ? ta_dump_is_dated(&file->dump->dump)
                      : file->first_ts != TA_MISSING && !has_undated_times(file);
}

/* By rank, one more than the index of the first file that `matches`. */
static bool first_by_rank(const struct ta_ingestion *ingestion, struct ta_map *first,
                          bool (*matches)(const struct ta_ingested *file))
{
    for (size_t i = 0; i < ingestion->n_files; i++)
        if (matches(&ingestion->files[i]) &&
            !ta_map_at(first, (uint64_t)ingestion->files[i].final_rank, i + 1))
            return false;
    return true;
}

static void say_unaligned(struct ta_quality *job, const struct ta_ingested *file,
                          const struct ta_ingested *other, const char *what)
{
    ta_quality_add(
        job, TA_Q_UNALIGNED, TA_NO_OFFSET,
        "%s \"%s\" have no date, so they cannot be put on one axis with those of \"%s\", "
        "of the same rank",
        what, file->source->shown, other->source->shown);
}

static void check_clocks_of(const struct ta_ingestion *ingestion, const struct ta_ingested *file,
                            const struct ta_map *dated, const struct ta_map *undated,
                            struct ta_quality *job)
{
    const uint64_t *trace = ta_map_find(undated, (uint64_t)file->final_rank);
    const uint64_t *other = ta_map_find(dated, (uint64_t)file->final_rank);
    if (trace && ta_dump_is_dated(&file->dump->dump))
        say_unaligned(job, &ingestion->files[*trace - 1], file, "The times of the trace");
    if (!ta_dump_is_relative(&file->dump->dump))
        return;
    other = other ? other : trace;
    if (other && &ingestion->files[*other - 1] != file)
        say_unaligned(job, file, &ingestion->files[*other - 1], "The samples of");
}

static bool check_clocks(const struct ta_ingestion *ingestion, struct ta_quality *job)
{
    struct ta_map dated = {0}, undated = {0};
    const bool done = first_by_rank(ingestion, &dated, has_dates) &&
                      first_by_rank(ingestion, &undated, has_undated_times);
    for (size_t i = 0; done && i < ingestion->n_files; i++)
        if (ingestion->files[i].dump)
            check_clocks_of(ingestion, &ingestion->files[i], &dated, &undated, job);
    ta_map_free(&dated);
    ta_map_free(&undated);
    return done;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool drop_copies(const struct ta_ingestion *ingestion, struct ta_quality *job)
{
    struct ta_kept *files = reallocarray(NULL, ingestion->n_files + 1, sizeof *files);
    size_t n = 0;
    for (size_t i = 0; files && i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (file->dump)
            files[n++] = (struct ta_kept){.trace = file->dump,
                                          .shown = file->source->shown,
                                          .rank = file->final_rank,
                                          .rank_known = file->rank_source != TA_RANK_DEFAULT};
    }
    const bool done = files && ta_drop_earlier_samples(files, n, job) &&
                      ta_drop_earlier_exports(files, n, job) && ta_drop_copies(files, n, job);
    free(files);
    return done;
}

/* ---- timelines ------------------------------------------------------------------------------ */

/* What a dump sampled becomes counters of the timeline, and what it says when it was, slices. */
static enum ta_status pack_dump(struct ta_ctx *ctx, const struct ta_ingestion *ingestion,
                                struct ta_ingested *file)
{
    struct ta_trace *events = NULL;
    if (!ingestion->pool || file->final_rank == TA_MISSING)
        return TA_OK;
    const enum ta_status status = ta_dump_events(ctx, file->dump, &events);
    if (status != TA_OK || (!events && !ta_timeline_has_samples(file->dump)))
        return status;
    const int64_t share = ta_timeline_share(ingestion->n_files);
    struct ta_timeline_part *part =
        ta_timeline_pack(ctx, ingestion->pool, events ? events : file->dump, file->dump, share);
    ta_trace_free(events);
    if (!part)
        return ctx->status;
    part->file.rank = TA_MISSING; /* the one of the file */
    part->is_dump = true;
    if (ta_vec_push(&file->timelines, part))
        return TA_OK;
    ta_timeline_part_free(part);
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the timeline");
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum ta_status ta_reconcile(struct ta_ctx *ctx, struct ta_ingestion *ingestion,
                            struct ta_quality *job)
{
    if (!drop_copies(ingestion, job) || !check_clocks(ingestion, job))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the files: files=%zu",
                       ingestion->n_files);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        if (!file->dump)
            continue;
        status = file->is_mapped ? TA_OK
                                 : ta_partial_set_map(ctx, file->dump, ingestion->partials, NULL);
        if (status == TA_OK)
            status = pack_dump(ctx, ingestion, file);
        if (status != TA_OK)
            ta_cause(ctx, status, "Cannot use \"%s\"", file->source->shown);
        ta_trace_free(file->dump);
        file->dump = NULL;
    }
    return status;
}
