/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ingest/maps.h"

#include "traceanalyze/document.h"
#include "traceanalyze/table.h"

#include <stdlib.h>

/* Adds the arguments from which nodes are known: the kernel that a launch names, the number of the
 * node of a kernel, and the stream that it ran on where lanes were made of streams.  Other runs
 * need not pay for them.  False without memory. */
static bool add_keys(const struct ta_plan *plan, struct ta_plan *with)
{
    static const char *const keys[] = {"kernel", "graph node id", "original_stream"};
    *with = *plan;
    with->keys = reallocarray(NULL, plan->n_keys + TA_LENGTH(keys), sizeof *with->keys);
    if (!with->keys)
        return false;
    memcpy(with->keys, plan->keys, plan->n_keys * sizeof *with->keys);
    for (size_t i = 0; i < TA_LENGTH(keys) && with->n_keys < TA_RECORD_ARGS; i++) {
        bool known = false;
        for (size_t k = 0; k < plan->n_keys; k++)
            known |= ta_slice_equal(plan->keys[k], ta_slice_of(keys[i]));
        if (!known)
            with->keys[with->n_keys++] = ta_slice_of(keys[i]);
    }
    return true;
}

static enum ta_status list_captures(struct ta_ctx *ctx, struct ta_maps *maps)
{
    const size_t n = maps->ingestion.n_files;
    maps->at = calloc(n + 1, sizeof(struct ta_captures *));
    if (!maps->at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the captures of graphs");
    for (size_t i = 0; i < n; i++) {
        const struct ta_ingested *file = &maps->ingestion.files[i];
        if (file->refusal)
            return ta_fail(ctx, TA_ERR_INPUT, "The map \"%s\" cannot be read: %s",
                           file->source->shown, file->refusal);
        if (file->captures)
            maps->at[maps->list.n++] = file->captures;
        maps->n_graphs += file->captures ? file->captures->graphs.n : 0;
    }
    maps->list.at = maps->at;
    return TA_OK;
}

enum ta_status ta_maps_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                            const struct ta_plan *plan, const struct ta_run_options *options,
                            const char *const *paths, size_t n, struct ta_maps *maps)
{
    const struct ta_run_options of_maps = {.inputs = paths,
                                           .n_inputs = n,
                                           .jobs = options->jobs,
                                           .memory_limit = options->memory_limit,
                                           .tmpdir = options->tmpdir,
                                           .input = options->input,
                                           .world_size = TA_MISSING};
    if (!add_keys(plan, &maps->plan))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the keys of arguments");
    enum ta_status status = ta_inputs_find(ctx, &of_maps, &maps->inputs);
    const struct ta_ingest_run run = {&of_maps, &maps->inputs.sources, &maps->ingestion, true};
    if (status == TA_OK)
        status = ta_ingest_read(ctx, registry, plan, &maps->plan, &run, 1, NULL);
    return status == TA_OK ? list_captures(ctx, maps) : status;
}

/* The source of a path, NULL without one. */
static const struct ta_source *source_at(const struct ta_sources *sources, const char *path)
{
    for (size_t i = 0; path && i < sources->list.n; i++)
        if (sources->list.at[i].path && strcmp(sources->list.at[i].path, path) == 0)
            return &sources->list.at[i];
    return NULL;
}

void ta_maps_rename(struct ta_maps *maps, const struct ta_sources *sources)
{
    for (size_t i = 0; i < maps->ingestion.n_files; i++) {
        const struct ta_ingested *file = &maps->ingestion.files[i];
        const struct ta_source *source = source_at(sources, file->source->path);
        for (size_t g = 0; source && file->captures && g < file->captures->graphs.n; g++)
            file->captures->graphs.at[g].file = source->shown;
    }
}

void ta_maps_free(struct ta_maps *maps)
{
    free(maps->at);
    free(maps->plan.keys);
    ta_ingestion_free(&maps->ingestion);
    ta_inputs_free(&maps->inputs);
}
