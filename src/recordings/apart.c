/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of many files those with names alike leave one pile (ADR 38).  Where it turns out that a pile has
 * files of several recordings, or some that are set aside, those that count are read again. */
#include "recordings/take.h"

#include "base/context.h"

#include <stdlib.h>

/* Recordings of the files in a pile. */
enum { OF_NOBODY = -2, OF_SEVERAL = -3 };

/* The recording that the partials of a file count in, or SIZE_MAX. */
static size_t recording_of(const struct ta_recordings *recordings, size_t file)
{
    return recordings->files[file].counts ? recordings->files[file].recording : SIZE_MAX;
}

/* Marks the files of piles that hold what belongs to different recordings. */
static bool find_mixed(const struct ta_recordings *recordings, const struct ta_ingestion *ingestion,
                       bool *again)
{
    size_t *of = calloc(ingestion->n_piles + 1, sizeof *of); /* by pile */
    for (size_t k = 0; of && k < ingestion->n_piles; k++)
        of[k] = (size_t)OF_NOBODY;
    for (size_t i = 0; of && i < ingestion->n_files; i++) {
        size_t *pile = &of[ingestion->pile_of[i]];
        const size_t recording = recording_of(recordings, i);
        if (ta_ingested_is_merged(&ingestion->files[i]))
            *pile =
                *pile == (size_t)OF_NOBODY || *pile == recording ? recording : (size_t)OF_SEVERAL;
    }
    for (size_t i = 0; of && i < ingestion->n_files; i++)
        again[i] = of[ingestion->pile_of[i]] == (size_t)OF_SEVERAL &&
                   ta_ingested_is_merged(&ingestion->files[i]);
    free(of);
    return of;
}

/* Drops mixed piles, and gives each recording one for its files that were in them. */
static bool part(const struct ta_recordings *recordings, struct ta_ingestion *ingestion,
                 bool *again)
{
    const size_t n = ingestion->n_piles;
    struct ta_partial_set **piles =
        reallocarray(ingestion->piles, n + recordings->n, sizeof(void *));
    if (!piles)
        return false;
    ingestion->piles = piles;
    ingestion->n_piles = n + recordings->n;
    for (size_t k = n; k < ingestion->n_piles; k++)
        piles[k] = NULL;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const size_t recording = recording_of(recordings, i);
        if (!again[i])
            continue;
        ta_partial_set_free(piles[ingestion->pile_of[i]]);
        piles[ingestion->pile_of[i]] = NULL;
        again[i] = recording != SIZE_MAX;
        if (again[i])
            ingestion->pile_of[i] = n + recording;
    }
    return true;
}

enum ta_status ta_recordings_part(struct ta_ctx *ctx, const struct ta_registry *registry,
                                  const struct ta_plan *plan, const struct ta_ingest_run *run,
                                  const struct ta_recordings *recordings)
{
    struct ta_ingestion *ingestion = run->ingestion;
    bool *again = calloc(ingestion->n_files + 1, sizeof *again);
    bool any = false, done = again && find_mixed(recordings, ingestion, again);
    for (size_t i = 0; done && i < ingestion->n_files; i++)
        any |= again[i];
    if (any)
        done = part(recordings, ingestion, again);
    enum ta_status status = done ? TA_OK
                                 : ta_fail(ctx, TA_ERR_NOMEM,
                                           "Cannot hold the list of files: "
                                           "files=%zu",
                                           ingestion->n_files);
    if (status == TA_OK && any)
        status = ta_ingest_again(ctx, registry, plan, run, again);
    free(again);
    return status;
}
