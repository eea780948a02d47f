/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which share of the replayed kernels has its operators from a capture. */
#include "recordings/recordings.h"

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

enum ta_status ta_recordings_note_maps(struct ta_ctx *ctx, struct ta_recordings *recordings,
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
