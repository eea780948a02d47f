/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ingest/piles.h"

#include "base/context.h"
#include "ingest/inputs/inputs.h"

#include <stdlib.h>

/* Files that have a pile each, and piles that there are at most. */
enum { PILES_MOST = 64 };

/* Where files become a summary each, or are taken for one recording, nothing is decided of them. */
static bool has_one_pile(const struct ta_run_options *options, const struct ta_sources *sources)
{
    return options->summaries || options->together || sources->list.n <= 1;
}

/* The place of the first file of the same summary, or its own. */
static size_t first_of_summary(const struct ta_source *source, size_t at)
{
    return source->summary ? source->summary->index_of[0] : at;
}

static void plan_few(struct ta_ingestion *ingestion, const struct ta_sources *sources)
{
    for (size_t i = 0; i < sources->list.n; i++)
        ingestion->pile_of[i] = first_of_summary(&sources->list.at[i], i);
    ingestion->n_piles = sources->list.n;
}

bool ta_piles_plan(struct ta_ingestion *ingestion, const struct ta_run_options *options,
                   const struct ta_sources *sources)
{
    ingestion->pile_of = calloc(sources->list.n + 1, sizeof *ingestion->pile_of);
    ingestion->piles = calloc(PILES_MOST, sizeof *ingestion->piles);
    ingestion->n_piles = 1;
    if (!ingestion->pile_of || !ingestion->piles)
        return false;
    if (!has_one_pile(options, sources) && sources->list.n <= PILES_MOST)
        plan_few(ingestion, sources);
    return true;
}

enum ta_status ta_ingestion_unite(struct ta_ctx *ctx, const struct ta_plan *plan,
                                  const bool *counts, struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_partial_set **pile = &ingestion->piles[ingestion->pile_of[i]];
        if ((counts && !counts[i]) || !*pile)
            continue;
        if (ingestion->partials)
            ta_partial_set_drain(ingestion->partials, *pile);
        else
            ingestion->partials = *pile;
        *pile = NULL;
    }
    if (!ingestion->partials) /* nothing could be read */
        ingestion->partials = ta_partial_set_new(plan);
    if (ingestion->partials && ta_partial_set_ok(ingestion->partials))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the results of all files");
}
