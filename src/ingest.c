/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files to partials, on several threads. */
#include "ingest.h"

#include "base/context.h"
#include "normalize/normalize.h"
#include "read/reader.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Shared by the workers of one run. */
struct crew {
    const struct ta_registry *registry;
    const struct ta_run_options *options;
    const struct ta_plan *plan;
    struct ta_ingested *files;
    const size_t *order; /* files by falling size, so that the last to finish is a small one */
    size_t n;
    uint64_t names_limit, bytes_all;
    atomic_size_t next, done;
    atomic_size_t spare; /* threads that -j allows besides the workers */
    atomic_bool stop;    /* a worker failed */
    pthread_mutex_t lock;
    pthread_cond_t left; /* a worker has no more to do */
    size_t working;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    struct ta_ctx ctx;
    struct ta_arena *arena;
    struct ta_partial_set *partials;
    enum ta_status status;
};

/* ---- one file ------------------------------------------------------------------------------ */

/* The plugin that is surest, or NULL with the file refused. */
static const struct ta_entry *choose_input(struct worker *w, struct ta_ingested *file,
                                           const struct ta_probe *probe)
{
    const struct ta_registry *registry = w->crew->registry;
    if (w->crew->options->input)
        return ta_registry_find(registry, TA_KIND_input, w->crew->options->input);
    const struct ta_entry *best = NULL, *rival = NULL;
    int surest = 0;
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_input); i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_input, i);
        const int score = entry->plugin.input->sniff(probe);
        if (score > surest) {
            best = entry;
            rival = NULL;
            surest = score;
        } else if (score == surest && best) {
            rival = entry;
        }
    }
    if (rival) {
        file->refusal = ta_arena_printf(
            w->arena, "It could be read as \"%s\" or as \"%s\"; choose one with --input",
            best->plugin.id, rival->plugin.id);
        return NULL;
    }
    if (!best)
        file->refusal = ta_arena_printf(w->arena, "Not a trace but %s", ta_describe(probe->head));
    return best;
}

static void copy_facts(struct worker *w, struct ta_ingested *file, const struct ta_builder *builder)
{
    file->kept = builder->kept;
    file->repaired = builder->repaired;
    file->dropped = builder->dropped;
    file->bytes_skipped = builder->bytes_skipped;
    file->events = builder->events;
    file->first_ts = builder->first_ts;
    file->last_ts = builder->last_ts;
    file->rank = builder->rank;
    file->world_size = builder->world_size;
    file->vendor = builder->vendor;
    file->truncated |= builder->truncated;
    file->devices = ta_arena_alloc(w->arena, (builder->devices.n + 1) * sizeof(char *));
    for (size_t i = 0; file->devices && i < builder->devices.n; i++)
        file->devices[i] = ta_arena_copy(w->arena, ta_slice_of(builder->devices.at[i]));
}

static enum ta_status analyze(struct worker *w, struct ta_ingested *file,
                              struct ta_builder *builder)
{
    struct ta_trace *trace = NULL;
    enum ta_status status = ta_normalize(&w->ctx, builder, &trace);
    copy_facts(w, file, builder);
    if (status != TA_OK)
        return status;
    trace->rank = (int64_t)(file - w->crew->files);
    trace->file.path = file->source->shown;
    trace->file.format = file->format;
    trace->file.bytes = file->bytes;
    trace->file.raw_bytes = file->raw_bytes;
    status = ta_partial_set_map(&w->ctx, trace, w->partials);
    ta_trace_free(trace);
    return status;
}

static enum ta_status read_with(struct worker *w, struct ta_ingested *file,
                                struct ta_reader *reader, const struct ta_entry *input)
{
    const struct ta_plan *plan = w->crew->plan;
    struct ta_builder builder;
    enum ta_status status = TA_ERR_NOMEM;
    if (ta_builder_init(&builder, &file->quality, plan->needs, plan->keys, plan->n_keys,
                        (size_t)w->crew->names_limit))
        status = input->plugin.input->read(&w->ctx, reader, &builder);
    else
        ta_fail(&w->ctx, status, "Cannot allocate a trace");
    /* The stream ends early then, and what was read must not pass for the whole. */
    if (status == TA_OK && ta_ctx_canceled(&w->ctx))
        status = ta_fail(&w->ctx, TA_ERR_CANCELED, "The run was canceled");
    file->bytes = ta_reader_bytes(reader);
    if (file->source->size > file->bytes)
        file->bytes = file->source->size;
    file->raw_bytes = ta_reader_raw_bytes(reader);
    file->truncated = ta_reader_ended_early(reader);
    if (status == TA_OK) {
        file->format = input->plugin.id;
        status = analyze(w, file, &builder);
    } else if (status == TA_ERR_INPUT) {
        copy_facts(w, file, &builder);
        file->refusal = ta_arena_printf(w->arena, "%s", ta_ctx_causes(&w->ctx));
        status = TA_OK;
    }
    ta_builder_free(&builder);
    return status;
}

/* Takes a thread that nobody uses. */
static bool take_spare(struct crew *crew)
{
    size_t spare = atomic_load(&crew->spare);
    while (spare && !atomic_compare_exchange_weak(&crew->spare, &spare, spare - 1))
        ;
    return spare > 0;
}

/* Reads with a second thread that inflates ahead, if there is one to spare. */
static enum ta_status read_fast(struct worker *w, struct ta_ingested *file,
                                struct ta_reader *reader, const struct ta_entry *input)
{
    const bool helped = take_spare(w->crew);
    if (helped)
        ta_reader_read_ahead(reader);
    const enum ta_status status = read_with(w, file, reader, input);
    if (helped)
        atomic_fetch_add(&w->crew->spare, 1);
    return status;
}

static enum ta_status read_file(struct worker *w, struct ta_ingested *file)
{
    const struct ta_source *source = file->source;
    if (file->refusal)
        return TA_OK;
    struct ta_reader *reader = ta_reader_open(
        &w->ctx, source->path, source->path ? -1 : dup(STDIN_FILENO), &file->quality);
    if (!reader && w->ctx.status != TA_ERR_INPUT)
        return w->ctx.status;
    if (!reader) {
        file->refusal = ta_arena_printf(w->arena, "%s", ta_ctx_causes(&w->ctx));
        return TA_OK;
    }
    enum ta_status status = TA_OK;
    const struct ta_probe probe = ta_reader_probe(reader);
    const struct ta_entry *input = choose_input(w, file, &probe);
    if (input)
        status = read_fast(w, file, reader, input);
    ta_reader_close(reader);
    return status == TA_OK ? status
                           : ta_cause(&w->ctx, status, "Cannot read \"%s\"", source->shown);
}

/* ---- the crew ------------------------------------------------------------------------------ */

static void *work(void *argument)
{
    struct worker *w = argument;
    struct crew *crew = w->crew;
    while (w->status == TA_OK && !atomic_load(&crew->stop)) {
        const size_t at = atomic_fetch_add(&crew->next, 1);
        if (at >= crew->n)
            break;
        w->status = read_file(w, &crew->files[crew->order[at]]);
        atomic_fetch_add(&crew->done, 1);
    }
    if (w->status == TA_OK && w->arena->failed)
        w->status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of the files");
    if (w->status != TA_OK)
        atomic_store(&crew->stop, true);
    pthread_mutex_lock(&crew->lock);
    crew->working--;
    pthread_cond_signal(&crew->left);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Waits for the workers and tells the caller how far they are, ten times a second. */
static void wait_for(struct crew *crew, const struct ta_shared *shared)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&crew->left, &crew->lock, &until);
        if (crew->options->progress)
            crew->options->progress(crew->options->progress_user, atomic_load(&shared->read),
                                    crew->bytes_all, atomic_load(&crew->done), crew->n);
    }
    pthread_mutex_unlock(&crew->lock);
}

static size_t count_threads(const struct ta_run_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return options->jobs ? options->jobs : cores > 0 ? (size_t)cores : 1;
}

/* A worker per file as far as there are threads; threads left over inflate ahead, one for each of
 * the first files, which are the largest. */
static size_t count_workers(size_t n_threads, size_t n_files)
{
    return n_threads < n_files ? n_threads : n_files ? n_files : 1;
}

static enum ta_status run_crew(struct ta_ctx *ctx, struct crew *crew, struct worker *workers,
                               size_t n)
{
    size_t started = 0;
    for (; started < n; started++) {
        struct worker *w = &workers[started];
        ta_ctx_init(&w->ctx, ctx->shared);
        w->crew = crew;
        w->partials = ta_partial_set_new(crew->plan);
        pthread_mutex_lock(&crew->lock);
        crew->working++;
        pthread_mutex_unlock(&crew->lock);
        if (!w->partials || pthread_create(&w->thread, NULL, work, w) != 0) {
            pthread_mutex_lock(&crew->lock);
            crew->working--;
            pthread_mutex_unlock(&crew->lock);
            break; /* fewer threads do the work as well */
        }
    }
    wait_for(crew, ctx->shared);
    for (size_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (started == 0)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot start a thread");
    for (size_t i = 0; i < started; i++) {
        if (workers[i].status != TA_OK) {
            ta_ctx_adopt(ctx, &workers[i].ctx);
            return workers[i].status;
        }
    }
    for (size_t i = 1; i < started; i++)
        ta_partial_set_merge(workers[0].partials, workers[i].partials);
    return TA_OK;
}

static int by_falling_size(const void *left, const void *right, void *user)
{
    const struct ta_ingested *files = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const uint64_t x = files[a].source->size, y = files[b].source->size;
    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void prepare_files(struct ta_ingestion *ingestion, const struct ta_sources *sources,
                          const size_t *original, uint64_t *bytes_all)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        *file = (struct ta_ingested){.source = &sources->list.at[i],
                                     .first_ts = TA_MISSING,
                                     .last_ts = TA_MISSING,
                                     .rank = TA_MISSING,
                                     .world_size = TA_MISSING};
        ta_quality_init(&file->quality);
        file->bytes = file->source->size;
        *bytes_all += file->source->size;
        if (file->source->refusal)
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Not a regular file but %s",
                                            file->source->refusal);
        else if (original[i] != i)
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Its content is that of \"%s\"",
                                            sources->list.at[original[i]].shown);
    }
}

enum ta_status ta_ingest(struct ta_ctx *ctx, const struct ta_registry *registry,
                         const struct ta_run_options *options, const struct ta_plan *plan,
                         const struct ta_sources *sources, const size_t *original,
                         struct ta_ingestion *ingestion)
{
    const size_t n = sources->list.n, n_threads = count_threads(options);
    const size_t n_workers = count_workers(n_threads, n);
    *ingestion = (struct ta_ingestion){.n_workers = n_workers};
    ingestion->files = calloc(n + 1, sizeof *ingestion->files);
    ingestion->arenas = calloc(n_workers, sizeof *ingestion->arenas);
    size_t *order = reallocarray(NULL, n + 1, sizeof *order);
    struct worker *workers = calloc(n_workers, sizeof *workers);
    struct crew crew = {.registry = registry,
                        .options = options,
                        .plan = plan,
                        .files = ingestion->files,
                        .order = order,
                        .n = n,
                        .spare = n_threads - n_workers,
                        .names_limit = ta_ctx_limit(ctx, TA_LIMIT_NAMES)};
    enum ta_status status;
    if (!ingestion->files || !ingestion->arenas || !order || !workers) {
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    } else {
        ingestion->n_files = n;
        prepare_files(ingestion, sources, original, &crew.bytes_all);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        qsort_r(order, n, sizeof *order, by_falling_size, ingestion->files);
        for (size_t i = 0; i < n_workers; i++)
            workers[i].arena = &ingestion->arenas[i];
        pthread_mutex_init(&crew.lock, NULL);
        pthread_cond_init(&crew.left, NULL);
        status = run_crew(ctx, &crew, workers, n_workers);
        pthread_cond_destroy(&crew.left);
        pthread_mutex_destroy(&crew.lock);
        ingestion->partials = workers[0].partials;
        for (size_t i = 1; i < n_workers; i++)
            ta_partial_set_free(workers[i].partials);
    }
    free(order);
    free(workers);
    return status;
}

void ta_ingestion_free(struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++)
        ta_quality_free(&ingestion->files[i].quality);
    for (size_t i = 0; ingestion->arenas && i < ingestion->n_workers; i++)
        ta_arena_free(&ingestion->arenas[i]);
    free(ingestion->arenas);
    free(ingestion->files);
    ta_partial_set_free(ingestion->partials);
}
