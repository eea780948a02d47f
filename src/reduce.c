/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces to summaries, one per rank and recording.
 *
 * Each file yields a packed summary of its own, so that no more than one trace per thread is in
 * memory. Which files are of one rank and of one recording is known when all are read: their
 * summaries are merged then. What counts in no time has a summary of its own. */
#include "reduce.h"

#include "base/context.h"
#include "base/quality.h"
#include "hardware/hardware.h"
#include "ingest/accounts.h"
#include "ingest/inputs/inputs.h"
#include "ingest/summary_files.h"
#include "model/program/steps.h"
#include "model/trace.h"
#include "ranks/ranks.h"
#include "recordings/recordings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What one run holds. */
struct reduction {
    struct ta_run_options options;
    struct ta_shard shard;
    struct ta_inputs inputs;
    size_t *place_of; /* by file of the shard: its place among all files */
    struct ta_plan plan;
    struct ta_ingestion ingestion;
    struct ta_recordings recordings;
    int64_t *ranks; /* by file */
    size_t *parts;  /* by file: its recording, or a number of its own where it counts in none */
    struct ta_hardware_list hardware;
    ta_summary_taker *take;
    void *user;
};

/* ---- shards -------------------------------------------------------------------------------- */

/* The rank that the path of a file names, TA_MISSING when it names none.  False without memory. */
static bool named_rank(const struct reduction *run, const struct ta_source *source, int64_t *rank)
{
    return ta_rank_in_path(source->shown, run->options.rank_regex, rank);
}

static enum ta_status keep_shard(struct ta_ctx *ctx, struct reduction *run)
{
    struct ta_sources *sources = &run->inputs.sources;
    const size_t n = sources->list.n;
    run->place_of = reallocarray(NULL, n + 1, sizeof *run->place_of);
    bool done = run->place_of != NULL;
    sources->list.n = 0;
    for (size_t i = 0; done && i < n; i++) {
        int64_t rank;
        done = named_rank(run, &sources->list.at[i], &rank);
        const size_t at = rank == TA_MISSING ? i : (size_t)rank;
        if (at % run->shard.count != run->shard.index)
            continue;
        run->place_of[sources->list.n] = i;
        sources->list.at[sources->list.n++] = sources->list.at[i];
    }
    if (!done)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot share out the files: files=%zu", n);
    if (run->shard.index > 0) { /* what was noticed about all files is said once */
        ta_quality_free(&run->inputs.job);
        ta_quality_init(&run->inputs.job);
    }
    return TA_OK;
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* A shard may have no file that can be used, a run may not. */
static enum ta_status decide_ranks(struct ta_ctx *ctx, struct reduction *run)
{
    struct ta_quality ignored; /* said again, of all files, when summaries are merged */
    int64_t world_size;
    size_t used = 0;
    for (size_t i = 0; i < run->ingestion.n_files; i++) {
        used += !run->ingestion.files[i].refusal;
        run->ranks[i] = TA_MISSING;
    }
    if (!used && run->shard.count > 1)
        return TA_OK;
    ta_quality_init(&ignored);
    const enum ta_status status =
        ta_account_ranks(ctx, &run->options, &run->ingestion, &ignored, run->ranks, &world_size);
    ta_quality_free(&ignored);
    for (size_t i = 0; run->shard.count > 1 && i < run->ingestion.n_files; i++)
        if (run->ingestion.files[i].rank_source == TA_RANK_POSITION)
            run->ranks[i] = (int64_t)run->place_of[i]; /* not that among the files of the shard */
    return status;
}

/* Which files of one rank a summary takes together. */
static enum ta_status decide_parts(struct ta_ctx *ctx, struct reduction *run)
{
    const struct ta_ingestion *ingestion = &run->ingestion;
    const struct ta_recordings *recordings = &run->recordings;
    const enum ta_status status =
        ta_recordings_decide(ctx, &run->options, ingestion, &run->recordings);
    for (size_t i = 0; status == TA_OK && i < ingestion->n_files; i++) {
        const struct ta_recorded_file *file = &recordings->files[i];
        const bool is_aside = !file->counts && file->kind < TA_RECORDING_DUMP;
        run->parts[i] = is_aside ? recordings->n + i : file->recording;
    }
    return status;
}

/* Files that say a rank come by it, the others first; then by recording, then by name. */
static int by_rank(const void *left, const void *right, void *user)
{
    const struct reduction *run = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (run->ranks[a] != run->ranks[b])
        return run->ranks[a] < run->ranks[b] ? -1 : 1;
    if (run->parts[a] != run->parts[b])
        return run->parts[a] < run->parts[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* ---- summaries ----------------------------------------------------------------------------- */

/* The files of one rank and recording, as indices into the files of the ingestion. */
struct group {
    const size_t *at;
    size_t n;
    int64_t rank;   /* TA_MISSING: of none, of several, or refused */
    size_t earlier; /* groups of the same rank */
    bool is_first;
};

/* Several processes write to one folder: only where the paths of all files name the rank has no
 * other one a summary of it. */
static bool name_group(const struct reduction *run, const struct group *group,
                       char name[TA_SUMMARY_NAME_MAX])
{
    char rank[24] = "any", earlier[24] = "", shard[32] = "";
    bool is_named = group->rank != TA_MISSING;
    for (size_t i = 0; is_named && i < group->n; i++) {
        int64_t named;
        if (!named_rank(run, run->ingestion.files[group->at[i]].source, &named))
            return false;
        is_named = named == group->rank;
    }
    if (group->rank != TA_MISSING)
        snprintf(rank, sizeof rank, "%05" PRId64, group->rank);
    if (run->shard.count > 1 && !is_named)
        snprintf(shard, sizeof shard, ".shard-%zu", run->shard.index);
    if (group->earlier)
        snprintf(earlier, sizeof earlier, ".%zu", group->earlier);
    snprintf(name, TA_SUMMARY_NAME_MAX, "rank-%s%s%s.tas.json.gz", rank, earlier, shard);
    return true;
}

/* What the summaries of single files become when they are one. */
struct merged {
    struct ta_arena arena;
    struct ta_ingested *files;
    struct ta_source *sources;
    size_t *places;
    size_t n;
    struct ta_partial_set *partials;
};

static enum ta_status merge_one(struct ta_ctx *ctx, const struct reduction *run,
                                struct ta_slice packed, struct merged *merged)
{
    struct ta_text text = {0};
    struct ta_summary_head head = {0};
    bool more;
    const size_t at = merged->n;
    enum ta_status status = ta_summary_unpack(ctx, packed, &text);
    if (status == TA_OK)
        status = ta_summary_read_head(ctx, ta_text_slice(&text), &merged->arena, &head, &more);
    if (status == TA_OK) {
        merged->files[at] = head.files[0];
        merged->sources[at] = head.sources[0];
        merged->files[at].source = &merged->sources[at];
        merged->places[at] = at;
        merged->n++;
        ta_quality_init(&head.files[0].quality);
        status = ta_summary_merge(ctx, ta_text_slice(&text), &at, 1, merged->files, &run->plan,
                                  merged->partials);
    }
    ta_summary_head_free(&head);
    free(text.bytes.at);
    return status;
}

static enum ta_status merge_group(struct ta_ctx *ctx, const struct reduction *run,
                                  const struct group *group, struct ta_text *packed)
{
    struct merged merged = {.partials = ta_partial_set_new(&run->plan)};
    merged.files = ta_arena_alloc(&merged.arena, group->n * sizeof *merged.files);
    merged.sources = ta_arena_alloc(&merged.arena, group->n * sizeof *merged.sources);
    merged.places = ta_arena_alloc(&merged.arena, group->n * sizeof *merged.places);
    enum ta_status status = merged.partials && !merged.arena.failed
                                ? TA_OK
                                : ta_fail(ctx, TA_ERR_NOMEM, "Cannot merge summaries");
    for (size_t i = 0; status == TA_OK && i < group->n; i++)
        status =
            merge_one(ctx, run, ta_text_slice(&run->ingestion.files[group->at[i]].packed), &merged);
    if (status == TA_OK && !ta_partial_set_ok(merged.partials))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the results of summaries");
    if (status == TA_OK)
        status = ta_summary_write_packed(
            ctx,
            &(struct ta_summary_scope){.version = run->options.version,
                                       .title = run->options.title,
                                       .hardware = run->options.hardware,
                                       .job = group->is_first ? &run->inputs.job : NULL,
                                       .files = merged.files,
                                       .n_files = merged.n,
                                       .chosen = merged.places,
                                       .n_chosen = merged.n,
                                       .plan = &run->plan,
                                       .partials = merged.partials},
            packed);
    for (size_t i = 0; i < merged.n; i++) {
        ta_quality_free(&merged.files[i].quality);
        ta_trace_free(merged.files[i].dump);
    }
    ta_partial_set_free(merged.partials);
    ta_arena_free(&merged.arena);
    return status == TA_ERR_INPUT ? TA_ERR_INTERNAL : status; /* it is our own text */
}

static bool is_clean(const struct ta_quality *quality)
{
    for (int code = 0; code < TA_Q_COUNT; code++)
        if (ta_quality_count(quality, (enum ta_quality_code)code))
            return false;
    return true;
}

static enum ta_status give_group(struct ta_ctx *ctx, const struct reduction *run,
                                 const struct group *group)
{
    char name[TA_SUMMARY_NAME_MAX];
    struct ta_text merged = {0};
    enum ta_status status = TA_OK;
    if (!name_group(run, group, name))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot name a summary");
    const bool as_it_is = group->n == 1 && (!group->is_first || is_clean(&run->inputs.job));
    if (!as_it_is)
        status = merge_group(ctx, run, group, &merged);
    if (status == TA_OK)
        status = run->take(
            ctx, run->user, name,
            ta_text_slice(as_it_is ? &run->ingestion.files[group->at[0]].packed : &merged));
    free(merged.bytes.at);
    return status;
}

static enum ta_status give_groups(struct ta_ctx *ctx, struct reduction *run,
                                  struct ta_reduce_counts *reduced)
{
    const size_t n = run->ingestion.n_files;
    size_t *order = reallocarray(NULL, n + 1, sizeof *order);
    if (!order)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the summaries: files=%zu", n);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_rank, run);
    enum ta_status status = TA_OK;
    size_t earlier = 0;
    for (size_t first = 0, end; status == TA_OK && first < n; first = end) {
        const int64_t rank = run->ranks[order[first]];
        const size_t part = run->parts[order[first]];
        for (end = first;
             end < n && run->ranks[order[end]] == rank && run->parts[order[end]] == part; end++)
            ;
        earlier = first > 0 && run->ranks[order[first - 1]] == rank ? earlier + 1 : 0;
        status = give_group(ctx, run,
                            &(struct group){.at = &order[first],
                                            .n = end - first,
                                            .rank = rank,
                                            .earlier = earlier,
                                            .is_first = first == 0});
        reduced->summaries++;
    }
    free(order);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void note_amount(const struct ta_ingestion *ingestion, struct ta_reduce_counts *reduced)
{
    *reduced = (struct ta_reduce_counts){.files = ingestion->n_files};
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        reduced->used += !file->refusal;
        reduced->raw_bytes += file->raw_bytes;
        reduced->events += file->kept + file->dropped;
    }
}

static enum ta_status reduce(struct ta_ctx *ctx, const struct ta_registry *registry,
                             struct reduction *run, struct ta_reduce_counts *reduced)
{
    enum ta_status status = ta_inputs_find(ctx, &run->options, &run->inputs);
    if (status == TA_OK)
        status = keep_shard(ctx, run);
    if (status != TA_OK)
        return status;
    const size_t n = run->inputs.sources.list.n;
    run->ranks = reallocarray(NULL, n + 1, sizeof *run->ranks);
    run->parts = reallocarray(NULL, n + 1, sizeof *run->parts);
    if (!run->ranks || !run->parts)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    status =
        ta_ingest(ctx, registry, &run->options, &run->plan, &run->inputs.sources, &run->ingestion);
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    if (status == TA_OK)
        status = decide_ranks(ctx, run);
    if (status == TA_OK)
        status = decide_parts(ctx, run);
    if (status == TA_OK)
        note_amount(&run->ingestion, reduced);
    return status == TA_OK ? give_groups(ctx, run, reduced) : status;
}

enum ta_status ta_reduce_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const struct ta_run_options *options, struct ta_shard shard,
                             ta_summary_taker *take, void *user, struct ta_reduce_counts *reduced)
{
    struct reduction run = {.options = *options, .shard = shard, .take = take, .user = user};
    struct ta_arena arena = {0};
    run.options.summaries = true;
    if (!run.options.title)
        run.options.title = ta_default_title(options, &arena);
    ta_times_start(&ctx->times);
    enum ta_status status =
        run.options.title ? ta_plan_make(ctx, registry, !options->only_reads, &ta_stages, &run.plan)
                          : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a title");
    if (status == TA_OK)
        status = ta_check_step_marker(ctx, options->step_marker);
    if (status == TA_OK)
        status = ta_hardware_load(ctx, options->hardware, &run.hardware);
    ctx->shared->hardware = &run.hardware;
    ctx->shared->hardware_choice = options->hardware;
    ctx->shared->step_marker = options->step_marker;
    if (status == TA_OK)
        status = reduce(ctx, registry, &run, reduced);
    ta_recordings_free(&run.recordings);
    ta_ingestion_free(&run.ingestion);
    ta_plan_free(&run.plan);
    ta_inputs_free(&run.inputs);
    ctx->shared->hardware = NULL;
    ta_hardware_free(&run.hardware);
    ta_arena_free(&arena);
    free(run.place_of);
    free(run.ranks);
    free(run.parts);
    return status;
}
