/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ingest/piles.h"

#include "base/context.h"
#include "base/hash.h"
#include "discover/names.h"
#include "ingest/inputs/inputs.h"

#include <ctype.h>
#include <stdlib.h>

/* Files that have a pile each, and piles that many files have at most. */
enum { PILES_MOST = 64 };

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

/* ---- many files ---------------------------------------------------------------------------- */

/* What the files of a pile have in common, from strict to lax. */
enum likeness {
    LIKE_FAMILY, /* names without ranks and numbers of recordings */
    LIKE_SHAPE,  /* the folder, and these names with all numbers alike: "node_4711" */
    LIKE_FOLDER, /* the folder */
    LIKE_SHAPES, /* as LIKE_SHAPE, with the numbers of folders alike, too */
    LIKENESSES
};

static uint64_t hash_shape(const char *text, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_digit = isdigit((unsigned char)text[i]);
        if (!is_digit || i == 0 || !isdigit((unsigned char)text[i - 1]))
            seed = ta_hash_mix(seed ^ (is_digit ? '#' : (unsigned char)text[i]));
    }
    return seed;
}

static uint64_t hash_likeness(const char *family, enum likeness likeness, uint64_t seed)
{
    const char *slash = strrchr(family, '/');
    const size_t n = strlen(family), folder = slash ? (size_t)(slash - family) + 1 : 0;
    if (likeness == LIKE_FAMILY)
        return ta_hash_bytes(family, n, seed);
    if (likeness == LIKE_SHAPES)
        return hash_shape(family, n, seed);
    seed = ta_hash_bytes(family, folder, seed);
    return likeness == LIKE_FOLDER ? seed : hash_shape(family + folder, n - folder, seed);
}

static uint64_t hash_number(int64_t number, uint64_t seed)
{
    return ta_hash_mix(seed ^ (uint64_t)number);
}

/* What a name says of the process that recorded the file. */
static uint64_t hash_process(const struct ta_file_name *name)
{
    uint64_t hash = ta_hash_bytes(name->family, strlen(name->family), name->is_warm_up);
    hash = hash_number(name->rank, hash);
    hash = hash_number(name->tensor, hash);
    hash = hash_number(name->pipeline, hash);
    return hash_number(name->worker, hash);
}

/* What the files of a pile have in common besides their likeness. */
struct key {
    const char *family;
    uint64_t recording;
};

/* Files with the same key are of one recording, as far as names can say: the first, second … file
 * of each process, or what the program counts with the same number. */
static bool read_keys(struct ta_arena *arena, const struct ta_sources *sources, struct key *keys)
{
    enum { COUNTED_MOST = 1000000000 }; /* torch's are times, other ones for each process */
    struct ta_map places = {0};
    bool done = keys != NULL;
    for (size_t i = 0; done && i < sources->list.n; i++) {
        struct ta_file_name name;
        done = ta_file_name_read(arena, sources->list.at[i].shown, TA_MISSING, &name);
        if (!done)
            break;
        uint64_t hash = hash_process(&name), counted = 0;
        if (name.counts != TA_ORDINAL_NONE && name.ordinal < COUNTED_MOST) {
            counted = hash_number(name.ordinal, (uint64_t)name.counts);
            hash ^= counted;
        }
        uint64_t *place = ta_map_at(&places, hash, 0);
        done = place != NULL;
        if (done)
            keys[i] = (struct key){name.family,
                                   hash_number((int64_t)++ * place, counted ^ name.is_warm_up)};
    }
    ta_map_free(&places);
    return done;
}

/* Gives files of one key one pile.  False without memory, or where these are too many. */
static bool plan_alike(struct ta_ingestion *ingestion, const struct ta_sources *sources,
                       const struct key *keys, enum likeness likeness)
{
    struct ta_map piles = {0};
    bool done = true;
    ingestion->n_piles = 0;
    for (size_t i = 0; done && i < sources->list.n; i++) {
        const struct ta_source *source = &sources->list.at[i];
        const struct key *key = &keys[first_of_summary(source, i)];
        const uint64_t hash = source->path || source->summary
                                  ? hash_likeness(key->family, likeness, key->recording)
                                  : ta_hash_mix(i); /* standard input is read only once */
        const uint64_t *pile = ta_map_at(&piles, hash, ingestion->n_piles);
        if (pile)
            ingestion->pile_of[i] = *pile;
        if (pile && *pile == ingestion->n_piles)
            ingestion->n_piles++;
        done = pile && ingestion->n_piles <= PILES_MOST;
    }
    ta_map_free(&piles);
    return done;
}

/* As strictly as there are piles; one pile where nothing helps. */
static bool plan_many(struct ta_ingestion *ingestion, const struct ta_sources *sources)
{
    struct ta_arena arena = {0};
    struct key *keys = ta_arena_alloc(&arena, sources->list.n * sizeof *keys);
    const bool done = read_keys(&arena, sources, keys);
    bool is_planned = false;
    for (int likeness = 0; done && !is_planned && likeness < LIKENESSES; likeness++)
        is_planned = plan_alike(ingestion, sources, keys, (enum likeness)likeness);
    for (size_t i = 0; !is_planned && i < sources->list.n; i++)
        ingestion->pile_of[i] = 0;
    if (!is_planned)
        ingestion->n_piles = 1;
    ta_arena_free(&arena);
    return done;
}

/* ---- the whole ----------------------------------------------------------------------------- */

bool ta_piles_plan(struct ta_ingestion *ingestion, const struct ta_run_options *options,
                   const struct ta_sources *sources)
{
    bool done = true;
    ingestion->pile_of = calloc(sources->list.n + 1, sizeof *ingestion->pile_of);
    ingestion->n_piles = 1;
    ingestion->is_one = options->together || sources->list.n <= 1;
    if (!ingestion->pile_of)
        return false;
    const bool has_one_pile =
        ingestion->is_one || options->summaries; /* these leave nothing else */
    if (!has_one_pile && sources->list.n <= PILES_MOST)
        plan_few(ingestion, sources);
    else if (!has_one_pile)
        done = plan_many(ingestion, sources);
    ingestion->piles = calloc(ingestion->n_piles, sizeof *ingestion->piles);
    return done && ingestion->piles;
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
