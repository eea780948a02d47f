/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files are maps of which, and which share of the replayed kernels has its operators from a
 * capture. */
#include "recordings/take.h"

#include <stdlib.h>

/* The run of a file, SIZE_MAX without one. */
static size_t run_of(const struct ta_recordings *recordings, size_t file)
{
    const size_t recording = recordings->files[file].recording;
    return recording == SIZE_MAX ? SIZE_MAX : recordings->at[recording].run;
}

struct ta_mapped_kernels ta_recordings_mapped(const struct ta_recordings *recordings,
                                              const struct ta_ingestion *ingestion, size_t run,
                                              const char *file)
{
    struct ta_mapped_kernels kernels = {0};
    int64_t most = 0;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *of = &ingestion->files[i];
        if (!recordings->files[i].counts || (run != SIZE_MAX && run_of(recordings, i) != run))
            continue;
        for (size_t k = 0; k < of->n_replayed; k++) {
            const char *captured = of->replayed[k].captured;
            const int64_t left = of->replayed[k].kernels - of->replayed[k].mapped;
            kernels.all += of->replayed[k].kernels;
            if (left > most)
                kernels.reason = of->replayed[k].reason;
            most = ta_max_i64(most, left);
            if (captured && *captured && (!file || strcmp(captured, file) == 0))
                kernels.mapped += of->replayed[k].mapped;
        }
    }
    return kernels;
}

/* What a file that captures graphs is to the runs that replay them. */
static const char *describe_map(struct ta_recordings *recordings,
                                const struct ta_ingestion *ingestion, size_t file)
{
    const char *shown = ingestion->files[file].source->shown;
    const size_t own = run_of(recordings, file);
    const struct ta_mapped_kernels of_run = ta_recordings_mapped(recordings, ingestion, own, shown);
    const struct ta_mapped_kernels of_all =
        ta_recordings_mapped(recordings, ingestion, SIZE_MAX, shown);
    if (of_run.mapped)
        return ta_arena_printf(&recordings->arena,
                               "It captures graphs that the run replays: used as the map of %.3g "
                               "%% of the replayed kernels",
                               100.0 * (double)of_run.mapped / (double)of_run.all);
    if (of_run.all && of_run.reason && !of_all.mapped)
        return ta_arena_printf(&recordings->arena,
                               "It captures graphs, but no recorded replay is known to be of one "
                               "of them: %s",
                               of_run.reason);
    return of_all.mapped ? "It captures graphs that another run replays, whose map it is"
           : of_run.all  ? "It captures graphs, but all recorded replays are of others"
                         : "It captures graphs, and no kernel of a replay was recorded";
}

static enum ta_status note_maps(struct ta_ctx *ctx, struct ta_recordings *recordings,
                                const struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < recordings->n_files; i++) {
        struct ta_recorded_file *file = &recordings->files[i];
        if (file->kind != TA_RECORDING_CAPTURE)
            continue;
        file->why = describe_map(recordings, ingestion, i);
        if (!file->why)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the reasons of recordings");
    }
    return TA_OK;
}

/* Whether all kernels of graphs that a file replays have their operators. */
static bool is_mapped(const struct ta_ingested *file)
{
    for (size_t i = 0; i < file->n_replayed; i++)
        if (!file->replayed[i].captured)
            return false;
    return file->n_replayed > 0;
}

/* Marks files with captures, and those that may need them; says whether there are both. */
static bool find_maps(const struct ta_recordings *recordings, const struct ta_ingestion *ingestion,
                      bool *captures, bool *again)
{
    bool any_captures = false, any_replays = false;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        const struct ta_recorded_file *recorded = &recordings->files[i];
        /* Standard input cannot be read a second time. */
        if (file->refusal || file->source->summary || !file->source->path ||
            recorded->kind == TA_RECORDING_COPY)
            continue;
        captures[i] = file->traits.captures > 0;
        again[i] = recorded->counts && file->traits.graph_launches > 0 &&
                   file->traits.activities > 0 && !is_mapped(file);
        any_captures |= captures[i];
        any_replays |= again[i];
    }
    return any_captures && any_replays;
}

enum ta_status ta_recordings_map(struct ta_ctx *ctx, const struct ta_registry *registry,
                                 const struct ta_plan *plan, const struct ta_ingest_run *run,
                                 struct ta_recordings *recordings)
{
    const size_t n = run->ingestion->n_files;
    bool *captures = calloc(n + 1, sizeof *captures), *again = calloc(n + 1, sizeof *again);
    enum ta_status status =
        captures && again
            ? TA_OK
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    if (status == TA_OK && find_maps(recordings, run->ingestion, captures, again)) {
        status = ta_ingest_mapped(ctx, registry, plan, run, captures, again);
        if (status == TA_OK)
            status = note_maps(ctx, recordings, run->ingestion);
    }
    free(captures);
    free(again);
    return status;
}
