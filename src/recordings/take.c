/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recordings/take.h"

#include "base/context.h"
#include "ingest/accounts.h"
#include "model/trace.h"

#include <stdlib.h>

/* What a report on recording `at` makes of a file; SIZE_MAX: on all of them. */
static enum ta_file_part part_of(const struct ta_recordings *recordings, size_t file, size_t at)
{
    const struct ta_recorded_file *recorded = &recordings->files[file];
    const bool is_read = recorded->kind < TA_RECORDING_COPY;
    if (!is_read) /* the report on all runs says what became of it, or that on the only one */
        return at == SIZE_MAX || (recordings->n_runs == 1 && recordings->at[at].is_chosen)
                   ? TA_PART_ALL
                   : TA_PART_NONE;
    if (at != SIZE_MAX && recorded->recording != at)
        return TA_PART_NONE;
    return recorded->counts ? TA_PART_ALL : TA_PART_ASIDE;
}

void ta_recordings_mark(const struct ta_recordings *recordings, struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++)
        ingestion->files[i].part = part_of(recordings, i, SIZE_MAX);
}

static enum ta_status unite(struct ta_ctx *ctx, const struct ta_plan *plan,
                            const struct ta_recordings *recordings, size_t at,
                            struct ta_ingestion *ingestion)
{
    bool *counts = calloc(ingestion->n_files + 1, sizeof *counts);
    if (!counts)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu",
                       ingestion->n_files);
    for (size_t i = 0; i < ingestion->n_files; i++)
        counts[i] = part_of(recordings, i, at) == TA_PART_ALL;
    const enum ta_status status = ta_ingestion_unite(ctx, plan, counts, ingestion);
    free(counts);
    return status;
}

enum ta_status ta_recordings_unite(struct ta_ctx *ctx, const struct ta_plan *plan,
                                   const struct ta_recordings *recordings,
                                   struct ta_ingestion *ingestion)
{
    return unite(ctx, plan, recordings, SIZE_MAX, ingestion);
}

/* ---- one of several ------------------------------------------------------------------------ */

/* What a report may use of a file moves to it; what it only reads stays. */
static struct ta_ingested take_file(struct ta_ingested *file, enum ta_file_part part)
{
    struct ta_ingested taken = *file;
    taken.part = part;
    if (part == TA_PART_ALL) {
        file->dump = NULL;
        file->timelines = (struct ta_timeline_parts){.n = 0};
        return taken;
    }
    taken.dump = NULL;
    taken.timelines = (struct ta_timeline_parts){.n = 0};
    return taken;
}

enum ta_status ta_recordings_take(struct ta_ctx *ctx, const struct ta_plan *plan,
                                  const struct ta_recordings *recordings, size_t at,
                                  struct ta_ingestion *from, struct ta_ingestion *part)
{
    *part = (struct ta_ingestion){.n_files = from->n_files,
                                  .piles = from->piles,
                                  .pile_of = from->pile_of,
                                  .n_piles = from->n_piles};
    part->files = calloc(from->n_files + 1, sizeof *part->files);
    if (!part->files)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu",
                       from->n_files);
    for (size_t i = 0; i < from->n_files; i++)
        part->files[i] = take_file(&from->files[i], part_of(recordings, i, at));
    if (from->pool)
        part->pool = ta_timeline_pool_share(from->pool);
    return unite(ctx, plan, recordings, at, part);
}

void ta_recordings_give_back(struct ta_ingestion *part)
{
    for (size_t i = 0; part->files && i < part->n_files; i++) {
        ta_timeline_parts_free(&part->files[i].timelines);
        ta_trace_free(part->files[i].dump);
    }
    free(part->files);
    ta_partial_set_free(part->partials);
    ta_timeline_pool_free(part->pool);
}

/* ---- ranks --------------------------------------------------------------------------------- */

enum ta_status ta_recordings_rank(struct ta_ctx *ctx, const struct ta_run_options *options,
                                  const struct ta_recordings *recordings,
                                  struct ta_ingestion *ingestion, struct ta_quality *job,
                                  int64_t *ranks, int64_t *world_size)
{
    enum ta_status status = TA_OK;
    for (size_t at = 0; status == TA_OK && at < recordings->n; at++) {
        for (size_t i = 0; i < ingestion->n_files; i++)
            ingestion->files[i].part = part_of(recordings, i, at);
        status = ta_account_ranks(ctx, options, ingestion, job, ranks, world_size);
    }
    ta_recordings_mark(recordings, ingestion);
    *world_size = TA_MISSING;
    return status;
}
