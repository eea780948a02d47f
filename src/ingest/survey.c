/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what became of the files to the traces among them. */
#include "ingest/survey.h"

#include <stdlib.h>

static int by_rank(const void *left, const void *right)
{
    const struct ta_surveyed *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(a->shown, b->shown);
}

/* Of a text that may be absent. */
static bool copy(struct ta_arena *arena, const char *text, const char **copied)
{
    *copied = text ? ta_arena_copy(arena, ta_slice_of(text)) : NULL;
    return *copied || !text;
}

bool ta_survey_take(struct ta_survey *survey, const struct ta_ingestion *ingestion)
{
    survey->n = 0;
    survey->at = ta_arena_alloc(&survey->arena, (ingestion->n_files + 1) * sizeof *survey->at);
    bool done = survey->at != NULL;
    for (size_t i = 0; done && i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (file->refusal || file->is_dump || file->kept == 0)
            continue;
        struct ta_surveyed *trace = &survey->at[survey->n++];
        *trace = (struct ta_surveyed){.bytes = file->bytes,
                                      .events = file->kept,
                                      .rank = file->final_rank,
                                      .base_ns = file->base_ns,
                                      .origin_ns = file->origin,
                                      .first_ns = file->first_ts,
                                      .last_ns = file->last_ts};
        done = copy(&survey->arena, file->source->path, &trace->path) &&
               copy(&survey->arena, file->source->shown, &trace->shown) &&
               copy(&survey->arena, file->format, &trace->format);
    }
    if (done)
        qsort(survey->at, survey->n, sizeof *survey->at, by_rank);
    return done;
}

bool ta_survey_take_clocks(struct ta_survey *survey, const struct ta_rank_member *members, size_t n)
{
    struct ta_rank_member *copied = ta_arena_alloc(&survey->arena, (n + 1) * sizeof *copied);
    if (!copied)
        return false;
    if (n)
        memcpy(copied, members, n * sizeof *copied);
    survey->members = copied;
    survey->n_members = n;
    return true;
}

bool ta_survey_take_steps(struct ta_survey *survey, const struct ta_step *steps, size_t n)
{
    struct ta_step *copied = ta_arena_alloc(&survey->arena, (n + 1) * sizeof *copied);
    if (!copied)
        return false;
    for (size_t i = 0; i < n; i++) {
        copied[i] = steps[i];
        copied[i].label = TA_LIT("");
    }
    survey->steps = copied;
    survey->n_steps = n;
    return true;
}
