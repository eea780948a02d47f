/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which share of the replayed kernels has its operators from a capture. */
#include "recordings/recordings.h"

/* Kernels of all replays of files that count, and of those whose graph was captured in `file`. */
static int64_t kernels_of(const struct ta_recordings *recordings,
                          const struct ta_ingestion *ingestion, const char *file, int64_t *all)
{
    int64_t mapped = 0;
    *all = 0;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *run = &ingestion->files[i];
        for (size_t k = 0; k < run->n_replayed && recordings->files[i].counts; k++) {
            const char *captured = run->replayed[k].captured;
            *all += run->replayed[k].kernels;
            mapped += captured && strcmp(captured, file) == 0 ? run->replayed[k].kernels : 0;
        }
    }
    return mapped;
}

enum ta_status ta_recordings_note_maps(struct ta_ctx *ctx, struct ta_recordings *recordings,
                                       const struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < recordings->n_files; i++) {
        struct ta_recorded_file *file = &recordings->files[i];
        int64_t all;
        if (file->kind != TA_RECORDING_CAPTURE)
            continue;
        const int64_t mapped =
            kernels_of(recordings, ingestion, ingestion->files[i].source->shown, &all);
        file->is_compared = all > 0;
        file->mapped_share = mapped ? (double)mapped / (double)all : 0;
        file->why = mapped ? ta_arena_printf(&recordings->arena,
                                             "It captures graphs that the run replays: used as the "
                                             "map of %.3g %% of the replayed kernels",
                                             100.0 * file->mapped_share)
                    : all  ? "It captures graphs, but no replayed kernel can be matched with them"
                           : "It captures graphs, and no kernel of a replay was recorded";
        if (!file->why)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the reasons of recordings");
    }
    return TA_OK;
}
