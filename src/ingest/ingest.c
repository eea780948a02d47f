/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files to partials, on several threads: who reads what. */
#include "ingest/ingest.h"

#include "base/memory.h"
#include "ingest/crew.h"
#include "ingest/inputs/inputs.h"
#include "ingest/maps.h"
#include "ingest/piles.h"
#include "model/capture.h"
#include "model/trace.h"
#include "read/codec.h"
#include "report/report.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- looking at files ---------------------------------------------------------------------- */

/* What is known of a file before it is read. */
struct look {
    bool is_plain;    /* not compressed */
    uint64_t content; /* bytes that it is likely to inflate to */
};

/* Of a file that cannot be opened its worker will say so. */
static struct look look_at(const struct ta_source *source)
{
    unsigned char head[16], tail[4] = {0};
    struct look look = {.content = source->size};
    const int fd =
        source->path ? open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0)
        return look;
    const ssize_t got = pread(fd, head, sizeof head, 0);
    look.is_plain = got > 0 && !ta_codec_gzip.recognize(head, (size_t)got);
    if (!look.is_plain && source->size > sizeof tail &&
        pread(fd, tail, sizeof tail, (off_t)(source->size - sizeof tail)) == sizeof tail)
        look.content = ta_budget_content(source->size, true,
                                         (uint32_t)tail[0] | (uint32_t)tail[1] << 8 |
                                             (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24);
    close(fd);
    return look;
}

/* ---- planning ------------------------------------------------------------------------------ */

/* Address space for each thread where that has a limit: its stack and the buffers of a file. */
enum { THREAD_SPACE = 64 << 20 };

size_t ta_thread_count(const struct ta_run_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t wanted = options->jobs ? options->jobs : cores > 0 ? (size_t)cores : 1;
    const uint64_t most = ta_memory_space() / THREAD_SPACE;
    return most >= wanted ? wanted : most ? (size_t)most : 1;
}

/* Whether there is nothing to read: it was refused, or another process reads it. */
static bool is_idle(const struct ta_ingested *file)
{
    return file->refusal || file->source->is_elsewhere;
}

static const struct ta_ingested *file_of(const struct ta_crew *crew,
                                         const struct ta_file_task *task)
{
    return &crew->jobs[task->job].files[task->file];
}

/* Files without work come last. */
static int by_falling_size(const void *left, const void *right, void *user)
{
    const struct ta_crew *crew = user;
    const struct ta_file_task *a = left, *b = right;
    const struct ta_ingested *x = file_of(crew, a), *y = file_of(crew, b);
    if (is_idle(x) != is_idle(y))
        return is_idle(x) ? 1 : -1;
    if (x->source->size != y->source->size)
        return x->source->size > y->source->size ? -1 : 1;
    return a->job != b->job    ? (a->job < b->job ? -1 : 1)
           : a->file < b->file ? -1
                               : a->file > b->file;
}

/* Lists the files of all jobs; returns how many are to be read, which stand first. */
static size_t list_tasks(struct ta_crew *crew)
{
    size_t n = 0;
    crew->n = 0;
    for (size_t job = 0; job < crew->n_jobs; job++)
        for (size_t file = 0; file < crew->jobs[job].n_files; file++) {
            if (crew->jobs[job].only && !crew->jobs[job].only[file])
                continue;
            struct ta_file_task *task = &crew->tasks[crew->n++];
            *task = (struct ta_file_task){.job = job, .file = file};
            task->content = file_of(crew, task)->source->size;
            n += !is_idle(file_of(crew, task));
        }
    qsort_r(crew->tasks, crew->n, sizeof *crew->tasks, by_falling_size, crew);
    return n;
}

/* Puts files in order and shares out the threads. */
static bool plan_files(struct ta_crew *crew, size_t n_threads, uint64_t part_bytes)
{
    const size_t n = list_tasks(crew); /* files to be read */
    struct ta_planned *planned = calloc(n + 1, sizeof *planned);
    for (size_t i = 0; planned && i < n; i++) {
        const struct ta_source *source = file_of(crew, &crew->tasks[i])->source;
        const struct look look = look_at(source);
        crew->tasks[i].content = look.content;
        planned[i] =
            (struct ta_planned){.bytes = source->size,
                                .most = ta_planner_most(look.content, !look.is_plain, part_bytes),
                                .is_packed = !look.is_plain};
    }
    if (planned)
        ta_planner_init(&crew->planner, n_threads, planned, n);
    for (size_t i = 0; planned && i < n; i++)
        crew->tasks[i].helpers = planned[i].helpers;
    free(planned);
    return planned;
}

static void prepare_files(struct ta_ingestion *ingestion, const struct ta_run_options *options,
                          const struct ta_sources *sources, uint64_t *bytes_all)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        const struct ta_source *source = &sources->list.at[i];
        *bytes_all += source->is_elsewhere ? 0 : source->size;
        if (source->summary) { /* what it says of one of its files is the file's from here on */
            struct ta_ingested *facts = &source->summary->head.files[source->member];
            *file = *facts;
            file->source = source;
            ta_quality_init(&facts->quality);
            continue;
        }
        *file = ta_ingested_empty;
        file->source = source;
        file->bytes = source->size;
        if (source->refusal)
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Not a regular file but %s",
                                            source->refusal);
        else if (source->damage)
            file->refusal = source->damage;
        else if (source->copy_of)
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Its content is that of \"%s\"",
                                            source->copy_of);
        else if (source->combines && (options->summaries || options->team))
            /* a summary has no room for a file that is of no rank */
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Its content is that of %s",
                                            source->combines);
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void fill_job(const struct ta_ingest_run *run, struct ta_job *job)
{
    struct ta_ingestion *ingestion = run->ingestion;
    job->options = run->options;
    job->ingestion = ingestion;
    job->files = ingestion->files;
    job->n_files = ingestion->n_files;
    job->takes_captures = run->captures;
    job->pool = ingestion->pool;
    job->timeline_share = ta_timeline_share(ingestion->n_files);
}

/* Makes room for what is kept of the files of a run. */
static enum ta_status open_run(struct ta_ctx *ctx, const struct ta_ingest_run *run,
                               size_t n_workers, struct ta_job *job, uint64_t *bytes_all)
{
    struct ta_ingestion *ingestion = run->ingestion;
    const size_t n = run->sources->list.n;
    ingestion->files = calloc(n + 1, sizeof *ingestion->files);
    ingestion->arenas = calloc(n_workers, sizeof *ingestion->arenas);
    ingestion->n_workers = n_workers;
    if (run->options->timeline)
        ingestion->pool = ta_timeline_pool_new();
    if (!ta_piles_plan(ingestion, run->options, run->sources) || !ingestion->files ||
        !ingestion->arenas || (run->options->timeline && !ingestion->pool))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    ingestion->n_files = n;
    fill_job(run, job);
    prepare_files(ingestion, run->options, run->sources, bytes_all);
    return TA_OK;
}

enum ta_status ta_ingest_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_plan *plan, const struct ta_plan *reading,
                              const struct ta_ingest_run *runs, size_t n_runs,
                              const struct ta_capture_list *captures)
{
    const struct ta_run_options *options = runs[0].options;
    const size_t n_threads = ta_thread_count(options);
    size_t n = 0; /* files of all runs */
    for (size_t i = 0; i < n_runs; i++) {
        *runs[i].ingestion = (struct ta_ingestion){0};
        n += runs[i].sources->list.n;
    }
    const size_t most_workers = n_threads < n ? n_threads : n ? n : 1;
    struct ta_crew crew = {.options = options,
                           .jobs = calloc(n_runs, sizeof *crew.jobs),
                           .n_jobs = n_runs,
                           .tasks = calloc(n + 1, sizeof *crew.tasks)};
    enum ta_status status = TA_OK;
    if (!crew.jobs || !crew.tasks)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    for (size_t i = 0; status == TA_OK && i < n_runs; i++) {
        crew.jobs[i] = (struct ta_job){.registry = registry,
                                       .plan = plan,
                                       .reading = reading,
                                       .planner = &crew.planner,
                                       .captures = captures};
        status = open_run(ctx, &runs[i], most_workers, &crew.jobs[i], &crew.bytes_all);
    }
    if (status == TA_OK && !plan_files(&crew, n_threads, ctx->shared->part_bytes))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    if (status == TA_OK)
        status = ta_crew_run(ctx, &crew);
    free(crew.jobs);
    free(crew.tasks);
    return status;
}

/* ---- with the captures of graphs ---------------------------------------------------------------
 */

enum ta_status ta_ingest_all(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const struct ta_plan *plan, const struct ta_ingest_run *runs,
                             size_t n_runs)
{
    const struct ta_run_options *options = runs[0].options;
    struct ta_maps maps = {0};
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < n_runs; i++)
        *runs[i].ingestion = (struct ta_ingestion){0};
    if (options->n_maps)
        status = ta_maps_read(ctx, registry, plan, options, options->maps, options->n_maps, &maps);
    if (status == TA_OK && options->n_maps && maps.n_graphs == 0)
        status = ta_fail(ctx, TA_ERR_INPUT, "No graph is captured in what --map names: files=%zu",
                         maps.ingestion.n_files);
    if (status == TA_OK)
        status = ta_ingest_read(ctx, registry, plan, options->n_maps ? &maps.plan : plan, runs,
                                n_runs, options->n_maps ? &maps.list : NULL);
    ta_maps_free(&maps);
    return status;
}

/* Reads some files of a run, with the captures of graphs that they replay. */
static enum ta_status read_again(struct ta_ctx *ctx, const struct ta_registry *registry,
                                 const struct ta_plan *plan, const struct ta_ingest_run *run,
                                 const struct ta_maps *maps, const bool *only)
{
    struct ta_job job = {.registry = registry,
                         .plan = plan,
                         .reading = maps->n_graphs ? &maps->plan : plan,
                         .captures = maps->n_graphs ? &maps->list : NULL,
                         .only = only};
    struct ta_crew crew = {.options = run->options, .jobs = &job, .n_jobs = 1};
    fill_job(run, &job);
    job.planner = &crew.planner;
    crew.tasks = calloc(job.n_files + 1, sizeof *crew.tasks);
    for (size_t i = 0; i < job.n_files; i++)
        crew.bytes_all += only[i] ? job.files[i].source->size : 0;
    enum ta_status status =
        crew.tasks && plan_files(&crew, run->ingestion->n_workers, ctx->shared->part_bytes)
            ? ta_crew_run(ctx, &crew)
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", job.n_files);
    free(crew.tasks);
    return status;
}

/* Forgets what the files left that are to be read again.  What a summary says of its files
 * stays. */
static void forget(struct ta_ingestion *ingestion, const bool *again)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        const struct ta_source *source = file->source;
        if (!again[i])
            continue;
        ta_timeline_parts_free(&file->timelines);
        ta_trace_free(file->dump);
        file->dump = NULL;
        if (source->summary)
            continue;
        ta_quality_free(&file->quality);
        *file = ta_ingested_empty;
        file->source = source;
        file->bytes = source->size;
    }
}

/* Empties the piles of the files that are to be read again, and marks all that are in these. */
static enum ta_status empty_piles(struct ta_ctx *ctx, struct ta_ingestion *ingestion, bool *again)
{
    bool *emptied = calloc(ingestion->n_piles + 1, sizeof *emptied);
    if (!emptied)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu",
                       ingestion->n_files);
    for (size_t i = 0; i < ingestion->n_files; i++)
        emptied[ingestion->pile_of[i]] |= again[i];
    for (size_t i = 0; i < ingestion->n_files; i++)
        again[i] |= emptied[ingestion->pile_of[i]] && ta_ingested_is_merged(&ingestion->files[i]);
    for (size_t i = 0; i < ingestion->n_piles; i++) {
        if (!emptied[i])
            continue;
        ta_partial_set_free(ingestion->piles[i]);
        ingestion->piles[i] = NULL;
    }
    free(emptied);
    return TA_OK;
}

enum ta_status ta_ingest_again(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_plan *plan, const struct ta_ingest_run *run,
                               const bool *again)
{
    const struct ta_run_options *options = run->options;
    struct ta_maps maps = {0};
    enum ta_status status = TA_OK;
    if (options->n_maps)
        status = ta_maps_read(ctx, registry, plan, options, options->maps, options->n_maps, &maps);
    if (status == TA_OK) {
        forget(run->ingestion, again);
        status = read_again(ctx, registry, plan, run, &maps, again);
    }
    ta_maps_free(&maps);
    return status;
}

enum ta_status ta_ingest_mapped(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_plan *plan, const struct ta_ingest_run *run,
                                const bool *captures, bool *again)
{
    struct ta_ingestion *ingestion = run->ingestion;
    struct ta_maps maps = {0};
    size_t n = 0;
    const char **paths = calloc(ingestion->n_files + 1, sizeof(const char *));
    if (!paths)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of maps");
    for (size_t i = 0; i < ingestion->n_files; i++)
        if (captures[i] && ingestion->files[i].source->path)
            paths[n++] = ingestion->files[i].source->path;
    enum ta_status status = ta_maps_read(ctx, registry, plan, run->options, paths, n, &maps);
    free(paths);
    if (status == TA_OK && maps.n_graphs) {
        ta_maps_rename(&maps, run->sources);
        status = empty_piles(ctx, ingestion, again);
    }
    if (status == TA_OK && maps.n_graphs) {
        forget(ingestion, again);
        status = read_again(ctx, registry, plan, run, &maps, again);
    }
    ta_maps_free(&maps);
    return status;
}

enum ta_status ta_ingest(struct ta_ctx *ctx, const struct ta_registry *registry,
                         const struct ta_run_options *options, const struct ta_plan *plan,
                         const struct ta_sources *sources, struct ta_ingestion *ingestion)
{
    const struct ta_ingest_run run = {options, sources, ingestion, false};
    const enum ta_status status = ta_ingest_all(ctx, registry, plan, &run, 1);
    return status == TA_OK ? ta_ingestion_unite(ctx, plan, NULL, ingestion) : status;
}

/* ---- timelines ----------------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const struct ta_timeline_file *a = &(*(struct ta_timeline_part *const *)left)->file;
    const struct ta_timeline_file *b = &(*(struct ta_timeline_part *const *)right)->file;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Moves the parts of the files into a list, by rank and path; NULL without memory. */
static struct ta_timeline_part **take_parts(struct ta_ingestion *ingestion, size_t *n)
{
    size_t most = 0;
    for (size_t i = 0; i < ingestion->n_files; i++)
        most += ingestion->files[i].timelines.n;
    struct ta_timeline_part **parts = calloc(most + 1, sizeof(void *));
    *n = 0;
    for (size_t i = 0; parts && i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        for (size_t k = 0; k < file->timelines.n; k++) {
            struct ta_timeline_part *part = file->timelines.at[k];
            if (part->file.rank == TA_MISSING)
                part->file.rank = file->final_rank;
            /* Telemetry of a single moment leaves nothing to be drawn; the capture of a graph,
             * which no rank has run, counts in no time. */
            if ((part->file.n_tracks == 0 && part->file.n_counters == 0) ||
                part->file.rank == TA_MISSING)
                continue;
            file->timelines.at[k] = NULL;
            parts[(*n)++] = part;
            part->file.path = ta_arena_copy(&part->arena, ta_slice_of(file->source->shown));
            if (!part->file.path)
                part->file.path = "";
        }
    }
    if (parts)
        qsort(parts, *n, sizeof *parts, by_rank);
    return parts;
}

enum ta_status ta_ingestion_timeline(struct ta_ctx *ctx, struct ta_ingestion *ingestion,
                                     struct ta_report *report)
{
    if (!ingestion->pool)
        return TA_OK;
    size_t n;
    struct ta_timeline_part **parts = take_parts(ingestion, &n);
    if (!parts)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the timeline: files=%zu",
                       ingestion->n_files);
    if (n == 0) {
        free(parts);
        return TA_OK;
    }
    struct ta_timeline *timeline = ta_timeline_join(ctx, ingestion->pool, parts, n);
    ingestion->pool = NULL;
    if (!timeline)
        return ctx->status;
    ta_report_set_timeline(report, timeline, ta_timeline_free);
    ingestion->timeline = timeline;
    return TA_OK;
}

/* ---- end ----------------------------------------------------------------------------------- */

void ta_timeline_parts_free(struct ta_timeline_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        ta_timeline_part_free(parts->at[i]);
    free(parts->at);
    *parts = (struct ta_timeline_parts){.n = 0};
}

void ta_ingestion_free(struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        ta_timeline_parts_free(&ingestion->files[i].timelines);
        ta_quality_free(&ingestion->files[i].quality);
        ta_trace_free(ingestion->files[i].dump);
        if (ingestion->files[i].captures)
            ta_captures_free(ingestion->files[i].captures);
        free(ingestion->files[i].captures);
        free(ingestion->files[i].packed.bytes.at);
    }
    for (size_t i = 0; ingestion->arenas && i < ingestion->n_workers; i++)
        ta_arena_free(&ingestion->arenas[i]);
    free(ingestion->arenas);
    free(ingestion->files);
    for (size_t i = 0; ingestion->piles && i < ingestion->n_piles; i++)
        ta_partial_set_free(ingestion->piles[i]);
    free(ingestion->piles);
    free(ingestion->pile_of);
    ta_partial_set_free(ingestion->partials);
    ta_timeline_pool_free(ingestion->pool);
}
