/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing out the files of a run among processes, and bringing together what they yield. */
#include "ingest/team.h"

#include "base/context.h"
#include "base/hash.h"
#include "model/trace.h"
#include "ingest/ingest.h"
#include "ingest/inputs/inputs.h"
#include "ingest/summary_files.h"

#include <stdlib.h>

/* ---- sharing out --------------------------------------------------------------------------- */

/* The same on all processes that have found the same files. */
static uint64_t fingerprint(const struct ta_sources *sources)
{
    uint64_t seen = sources->list.n;
    for (size_t i = 0; i < sources->list.n; i++) {
        const struct ta_source *source = &sources->list.at[i];
        seen = ta_hash_bytes(source->shown, strlen(source->shown), ta_hash_mix(seen));
        seen ^= ta_hash_mix(source->size + (source->copy_of != NULL));
    }
    return seen;
}

static int by_falling_size(const void *left, const void *right, void *user)
{
    const struct ta_source *sources = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (sources[a].size != sources[b].size)
        return sources[a].size > sources[b].size ? -1 : 1;
    return (a > b) - (a < b);
}

/* The process with the least to read, the first of several. */
static size_t find_idle(const uint64_t *load, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        if (load[i] < load[least])
            least = i;
    return least;
}

/* Files of a summary go with its first one; what nobody reads, and standard input, are for the
 * first process. */
static bool has_share(const struct ta_source *source)
{
    return source->path && !source->refusal && !source->copy_of &&
           !(source->summary && source->member > 0);
}

enum ta_status ta_team_share(struct ta_ctx *ctx, struct ta_team *team, struct ta_sources *sources,
                             size_t *owner)
{
    const size_t count = team->count;
    const struct ta_source *at = sources->list.at;
    const size_t n = sources->list.n;
    size_t *order = reallocarray(NULL, n + 1, sizeof *order);
    uint64_t *load = calloc(count, sizeof *load);
    const bool done = order && load;
    for (size_t i = 0; done && i < n; i++)
        order[i] = i;
    if (done)
        qsort_r(order, n, sizeof *order, by_falling_size, sources->list.at);
    for (size_t i = 0; done && i < n; i++) {
        const struct ta_source *source = &at[order[i]];
        owner[order[i]] = has_share(source) ? find_idle(load, count) : 0;
        if (has_share(source))
            load[owner[order[i]]] += source->size + 1;
    }
    for (size_t i = 0; done && i < n; i++)
        if (at[i].summary)
            owner[i] = owner[at[i].summary->index_of[0]];
    free(order);
    free(load);
    if (!done)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot share out the files: files=%zu", sources->list.n);
    for (size_t i = 0; i < sources->list.n; i++)
        sources->list.at[i].is_elsewhere = owner[i] != team->index;
    if (ta_team_agree(team, 0, fingerprint(sources)) == 0)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_INPUT,
                   "The processes do not find the same files: the inputs must be in a file system "
                   "that all of them share: processes=%zu",
                   team->count);
}

/* ---- bringing together --------------------------------------------------------------------- */

/* What one process has to do with. */
struct gathering {
    struct ta_ctx *ctx;
    struct ta_team *team;
    const struct ta_run_options *options;
    const struct ta_plan *plan;
    const size_t *owner;
    struct ta_ingestion *ingestion;
    size_t pile;    /* that is brought together */
    size_t *chosen; /* room for its files in a part of the tree */
};

/* Lists the files that processes [first, first + n) have of the pile, in their order. */
static size_t choose_files(const struct gathering *g, size_t first, size_t n)
{
    size_t n_chosen = 0;
    for (size_t i = 0; i < g->ingestion->n_files; i++)
        if (g->owner[i] >= first && g->owner[i] - first < n && g->ingestion->pile_of[i] == g->pile)
            g->chosen[n_chosen++] = i;
    return n_chosen;
}

/* What this process has of the pile; NULL without memory. */
static struct ta_partial_set *pile_of(const struct gathering *g)
{
    struct ta_partial_set **pile = &g->ingestion->piles[g->pile];
    if (!*pile)
        *pile = ta_partial_set_new(g->plan);
    if (!*pile || !ta_partial_set_ok(*pile))
        ta_fail(g->ctx, TA_ERR_NOMEM, "Cannot hold the results of all files");
    return *pile;
}

/* Sends what this process and the n - 1 after it have of the pile. */
static enum ta_status send_part(const struct gathering *g, size_t to, size_t n)
{
    const struct ta_summary_scope scope = {.version = g->options->version,
                                           .title = "",
                                           .hardware = g->options->hardware,
                                           .files = g->ingestion->files,
                                           .n_files = g->ingestion->n_files,
                                           .chosen = g->chosen,
                                           .n_chosen = choose_files(g, g->team->index, n),
                                           .plan = g->plan,
                                           .partials = pile_of(g)};
    struct ta_text packed = {0};
    enum ta_status status = !scope.partials  ? TA_ERR_NOMEM
                            : scope.n_chosen ? ta_summary_write_packed(g->ctx, &scope, &packed)
                                             : TA_OK;
    if (status == TA_OK)
        status = g->team->send(g->ctx, g->team, to, ta_text_slice(&packed));
    free(packed.bytes.at);
    return status;
}

/* The facts of files become the facts of this process. */
static enum ta_status take_facts(const struct gathering *g, struct ta_summary_head *head, size_t n)
{
    if (head->n_files != n)
        return ta_fail(g->ctx, TA_ERR_INTERNAL, "Another process has sent %zu files, expected %zu",
                       head->n_files, n);
    for (size_t i = 0; i < n; i++) {
        struct ta_ingested *file = &g->ingestion->files[g->chosen[i]];
        const struct ta_source *source = file->source;
        ta_quality_free(&file->quality);
        *file = head->files[i];
        file->source = source;
        ta_quality_init(&head->files[i].quality);
    }
    return TA_OK;
}

static enum ta_status take_text(const struct gathering *g, struct ta_slice text, size_t n)
{
    struct ta_ingestion *ingestion = g->ingestion;
    struct ta_summary_head head = {0};
    bool more;
    enum ta_status status = ta_summary_read_head(g->ctx, text, &ingestion->arenas[0], &head, &more);
    if (status == TA_OK)
        status = take_facts(g, &head, n);
    struct ta_partial_set *pile = pile_of(g);
    if (status == TA_OK)
        status = pile
                     ? ta_summary_merge(g->ctx, text, g->chosen, n, ingestion->files, g->plan, pile)
                     : TA_ERR_NOMEM;
    ta_summary_head_free(&head);
    return status == TA_ERR_INPUT ? TA_ERR_INTERNAL : status; /* it is our own text */
}

/* Takes what a process and the n - 1 after it have of the pile. */
static enum ta_status receive_part(const struct gathering *g, size_t from, size_t n)
{
    const size_t n_files = choose_files(g, from, n);
    struct ta_text text = {0};
    char *packed = NULL;
    size_t length = 0;
    enum ta_status status = g->team->receive(g->ctx, g->team, from, &packed, &length);
    if (status == TA_OK && n_files)
        status = ta_summary_unpack(g->ctx, (struct ta_slice){packed, length}, &text);
    free(packed);
    if (status == TA_OK && n_files)
        status = take_text(g, ta_text_slice(&text), n_files);
    free(text.bytes.at);
    return status;
}

enum ta_status ta_team_gather(struct ta_ctx *ctx, struct ta_team *team,
                              const struct ta_run_options *options, const struct ta_plan *plan,
                              const size_t *owner, struct ta_ingestion *ingestion)
{
    struct gathering g = {.ctx = ctx,
                          .team = team,
                          .options = options,
                          .plan = plan,
                          .owner = owner,
                          .ingestion = ingestion,
                          .chosen = reallocarray(NULL, ingestion->n_files + 1, sizeof *g.chosen)};
    enum ta_status status =
        g.chosen ? TA_OK
                 : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu",
                           ingestion->n_files);
    bool has_sent = false;
    for (size_t step = 1; status == TA_OK && step < team->count && !has_sent; step *= 2) {
        has_sent = team->index & step;
        for (g.pile = 0; status == TA_OK && g.pile < ingestion->n_piles; g.pile++) {
            if (has_sent)
                status = send_part(&g, team->index - step, step);
            else if (team->index + step < team->count)
                status = receive_part(&g, team->index + step, step);
        }
    }
    free(g.chosen);
    if (status == TA_OK)
        team->state = TA_TEAM_DONE;
    return status;
}
