/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files to partials, on several threads: which worker reads which file, and when all is done. */
#include "run/ingest.h"

#include "base/heap.h"
#include "base/memory.h"
#include "run/budget.h"
#include "run/inputs.h"
#include "model/trace.h"
#include "read/codec.h"
#include "result/report.h"
#include "run/worker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* In place of the number of a signal. */
enum { OUT_OF_MEMORY = -1 };

/* The workers of one run, and what is left for them to do. */
struct crew {
    struct ta_job job;
    size_t *order; /* files by falling size, so that the last to finish is a small one */
    struct ta_planned *planned; /* in that order */
    size_t n;
    uint64_t bytes_all;
    struct member *members;
    atomic_size_t next, done;
    atomic_bool stop; /* a worker failed */
    struct ta_budget budget;
    uint64_t too_much; /* memory that was in use when it was more than allowed, 0: never */
    pthread_mutex_t lock;
    pthread_cond_t left; /* a worker has no more to do */
    size_t working;
};

struct member {
    struct crew *crew;
    struct ta_worker worker;
    pthread_t thread;
    enum ta_status status;
};

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

/* ---- working ------------------------------------------------------------------------------- */

/* Reads one file when there is memory for it. */
static enum ta_status take_file(struct crew *crew, struct ta_worker *w, size_t at)
{
    struct ta_ingested *file = &crew->job.files[crew->order[at]];
    if (file->source->is_elsewhere)
        return TA_OK;
    if (file->source->summary && file->source->member > 0)
        return TA_OK; /* read with the first file of its summary */
    if (file->refusal && !file->source->summary && !crew->job.options->summaries)
        return TA_OK;
    const uint64_t content = look_at(file->source).content;
    const uint64_t taken = ta_budget_take(&crew->budget, content);
    enum ta_status status = TA_OK;
    if (!atomic_load(&crew->stop))
        status = ta_worker_read(w, file, crew->planned[at].helpers);
    ta_budget_give(&crew->budget, taken, file->raw_bytes, w->memory);
    return status;
}

static void *work(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    struct ta_worker *w = &member->worker;
    while (member->status == TA_OK && !atomic_load(&crew->stop)) {
        const size_t at = atomic_fetch_add(&crew->next, 1);
        if (at >= crew->n)
            break;
        member->status = take_file(crew, w, at);
        atomic_fetch_add(&crew->done, 1);
    }
    if (member->status == TA_OK && w->arena->failed)
        member->status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of the files");
    if (member->status != TA_OK)
        atomic_store(&crew->stop, true);
    pthread_mutex_lock(&crew->lock);
    crew->working--;
    pthread_cond_signal(&crew->left);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Stops a run that uses more than was allowed, as a signal would: it has spilled its columns by
 * then, and the rest is too much. */
static void watch_memory(struct crew *crew, struct ta_shared *shared)
{
    const uint64_t limit = crew->job.options->memory_limit;
    const uint64_t used = limit && !crew->too_much ? ta_memory_used() : 0;
    int none = 0;
    if (used > limit && atomic_compare_exchange_strong(&shared->canceled, &none, OUT_OF_MEMORY))
        crew->too_much = used;
}

/* Waits for the workers and tells the caller how far they are, ten times a second. */
static void wait_for(struct crew *crew, struct ta_shared *shared)
{
    const struct ta_run_options *options = crew->job.options;
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
        watch_memory(crew, shared);
        if (options->progress)
            options->progress(options->progress_user, atomic_load(&shared->read), crew->bytes_all,
                              atomic_load(&crew->done), crew->n);
    }
    pthread_mutex_unlock(&crew->lock);
    watch_memory(crew, shared);
}

static bool start(struct ta_ctx *ctx, struct crew *crew, struct member *member)
{
    member->crew = crew;
    member->worker.job = &crew->job;
    ta_ctx_init(&member->worker.ctx, ctx->shared);
    member->worker.partials = ta_partial_set_new(crew->job.plan);
    pthread_mutex_lock(&crew->lock);
    crew->working++;
    pthread_mutex_unlock(&crew->lock);
    if (member->worker.partials && pthread_create(&member->thread, NULL, work, member) == 0)
        return true;
    pthread_mutex_lock(&crew->lock);
    crew->working--;
    pthread_mutex_unlock(&crew->lock);
    return false;
}

/* Columns beyond the limit found no room on the disk either. */
static enum ta_status say_no_space(struct ta_ctx *ctx)
{
    const struct ta_space *space = &ctx->shared->space;
    return ta_fail(
        ctx, TA_ERR_NOMEM,
        "The run needs more memory than --memory-limit allows, and the folder of --tmpdir "
        "cannot take the rest: limit=%" PRIu64 " bytes, in use=%" PRIu64 " bytes, needed=%" PRIu64
        " bytes more, folder=\"%s\", reason=%s",
        space->limit, space->used, space->needed, space->folder, strerror(space->error));
}

static enum ta_status run_crew(struct ta_ctx *ctx, struct crew *crew)
{
    struct member *members = crew->members;
    size_t started = 0;
    while (started < crew->job.planner.n_workers && start(ctx, crew, &members[started]))
        started++; /* fewer threads do the work as well */
    wait_for(crew, ctx->shared);
    for (size_t i = 0; i < started; i++) {
        pthread_join(members[i].thread, NULL);
        ta_times_add(&ctx->times, &members[i].worker.ctx.times);
    }
    int reason = OUT_OF_MEMORY;
    if (crew->too_much && atomic_compare_exchange_strong(&ctx->shared->canceled, &reason, 0))
        return ta_fail(ctx, TA_ERR_NOMEM,
                       "The run needs more memory than --memory-limit allows: limit=%" PRIu64
                       " bytes, in use=%" PRIu64 " bytes, threads=%zu",
                       crew->job.options->memory_limit, crew->too_much, started);
    if (started == 0)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot start a thread");
    for (size_t i = 0; i < started; i++) {
        if (members[i].status == TA_ERR_NOMEM && ctx->shared->space.failed)
            return say_no_space(ctx);
        if (members[i].status != TA_OK) {
            ta_ctx_adopt(ctx, &members[i].worker.ctx);
            return members[i].status;
        }
    }
    for (size_t i = 0; i < started; i++)
        if (!ta_partial_set_ok(members[i].worker.partials))
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the results of all files");
    for (size_t i = 1; i < started; i++) {
        ta_partial_set_drain(members[0].worker.partials, members[i].worker.partials);
        members[i].worker.partials = NULL;
    }
    return TA_OK;
}

/* ---- planning ------------------------------------------------------------------------------ */

size_t ta_thread_count(const struct ta_run_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return options->jobs ? options->jobs : cores > 0 ? (size_t)cores : 1;
}

/* Whether there is nothing to read: it was refused, or another process reads it. */
static bool is_idle(const struct ta_ingested *file)
{
    return file->refusal || file->source->is_elsewhere;
}

/* Files without work come last. */
static int by_falling_size(const void *left, const void *right, void *user)
{
    const struct ta_ingested *files = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const uint64_t x = files[a].source->size, y = files[b].source->size;
    if (is_idle(&files[a]) != is_idle(&files[b]))
        return is_idle(&files[a]) ? 1 : -1;
    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Puts files in order and shares out the threads. */
static void plan_files(struct crew *crew, size_t n_threads, uint64_t part_bytes)
{
    for (size_t i = 0; i < crew->n; i++)
        crew->order[i] = i;
    qsort_r(crew->order, crew->n, sizeof *crew->order, by_falling_size, crew->job.files);
    size_t n = 0; /* files to be read */
    for (size_t i = 0; i < crew->n; i++)
        n += !is_idle(&crew->job.files[i]);
    for (size_t i = 0; i < n; i++) {
        const struct ta_source *source = crew->job.files[crew->order[i]].source;
        const struct look look = n_threads > 1 ? look_at(source) : (struct look){.is_plain = true};
        crew->planned[i] =
            (struct ta_planned){.bytes = source->size,
                                .most = ta_planner_most(look.content, !look.is_plain, part_bytes),
                                .is_packed = !look.is_plain};
    }
    ta_planner_init(&crew->job.planner, n_threads, crew->planned, n);
}

/* What a summary says of one of its files is the file's from here on. */
static void take_facts(struct ta_ingested *file, const struct ta_source *source)
{
    struct ta_ingested *facts = &source->summary->head.files[source->member];
    *file = *facts;
    file->source = source;
    ta_quality_init(&facts->quality);
}

/* A summary has no room for a file that is not of a rank. */
static bool leaves_combinations_out(const struct ta_run_options *options)
{
    return options->summaries || options->team;
}

static void prepare_files(struct ta_ingestion *ingestion, const struct ta_run_options *options,
                          const struct ta_sources *sources, uint64_t *bytes_all)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        const struct ta_source *source = &sources->list.at[i];
        *bytes_all += source->is_elsewhere ? 0 : source->size;
        if (source->summary) {
            take_facts(file, source);
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
        else if (source->combines && leaves_combinations_out(options))
            file->refusal = ta_arena_printf(&ingestion->arenas[0], "Its content is that of %s",
                                            source->combines);
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum ta_status ingest(struct ta_ctx *ctx, struct crew *crew, struct ta_ingestion *ingestion)
{
    const size_t n_workers = crew->job.planner.n_workers;
    for (size_t i = 0; i < n_workers; i++)
        crew->members[i].worker.arena = &ingestion->arenas[i];
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->left, NULL);
    enum ta_status status;
    const uint64_t asked = crew->job.options->memory_limit;
    const uint64_t limit = asked ? asked : ta_memory_preset();
    ta_space_open(&ctx->shared->space, limit, crew->job.options->tmpdir);
    if (ta_budget_init(&crew->budget, limit)) {
        status = run_crew(ctx, crew);
        ta_budget_free(&crew->budget);
    } else {
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot start a thread");
    }
    pthread_cond_destroy(&crew->left);
    pthread_mutex_destroy(&crew->lock);
    ingestion->partials = crew->members[0].worker.partials;
    for (size_t i = 1; i < n_workers; i++)
        ta_partial_set_free(crew->members[i].worker.partials);
    return status;
}

enum ta_status ta_ingest(struct ta_ctx *ctx, const struct ta_registry *registry,
                         const struct ta_run_options *options, const struct ta_plan *plan,
                         const struct ta_sources *sources, struct ta_ingestion *ingestion)
{
    const size_t n = sources->list.n, n_threads = ta_thread_count(options);
    const size_t most_workers = n_threads < n ? n_threads : n ? n : 1;
    ta_heap_keep(options->memory_limit == 0, n_threads); /* what is kept counts against a limit */
    *ingestion = (struct ta_ingestion){.n_workers = most_workers};
    ingestion->files = calloc(n + 1, sizeof *ingestion->files);
    ingestion->arenas = calloc(most_workers, sizeof *ingestion->arenas);
    struct crew crew = {.job = {.registry = registry,
                                .options = options,
                                .plan = plan,
                                .files = ingestion->files,
                                .n_files = n},
                        .order = reallocarray(NULL, n + 1, sizeof *crew.order),
                        .planned = calloc(n + 1, sizeof *crew.planned),
                        .members = calloc(most_workers, sizeof *crew.members),
                        .n = n};
    enum ta_status status;
    if (options->timeline)
        ingestion->pool = ta_timeline_pool_new();
    if (!ingestion->files || !ingestion->arenas || !crew.order || !crew.planned || !crew.members ||
        (options->timeline && !ingestion->pool)) {
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    } else {
        ingestion->n_files = n;
        crew.job.pool = ingestion->pool;
        crew.job.timeline_share = ta_timeline_share(n);
        prepare_files(ingestion, options, sources, &crew.bytes_all);
        plan_files(&crew, n_threads, ctx->shared->part_bytes);
        status = ingest(ctx, &crew, ingestion);
    }
    free(crew.order);
    free(crew.planned);
    free(crew.members);
    return status;
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

/* Telemetry of a single moment leaves nothing to be drawn. */
static bool is_empty(const struct ta_timeline_part *part)
{
    return part->file.n_tracks == 0 && part->file.n_counters == 0;
}

/* Moves the parts of the files into a list, by rank and path; NULL without memory. */
static struct ta_timeline_part **take_parts(struct ta_ingestion *ingestion, size_t *n)
{
    struct ta_timeline_part **parts = calloc(ingestion->n_files + 1, sizeof(void *));
    *n = 0;
    for (size_t i = 0; parts && i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        if (!file->timeline || is_empty(file->timeline))
            continue;
        struct ta_timeline_part *part = file->timeline;
        file->timeline = NULL;
        parts[(*n)++] = part;
        part->file.rank = file->final_rank;
        part->file.path = ta_arena_copy(&part->arena, ta_slice_of(file->source->shown));
        if (!part->file.path)
            part->file.path = "";
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

void ta_ingestion_free(struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        ta_timeline_part_free(ingestion->files[i].timeline);
        ta_quality_free(&ingestion->files[i].quality);
        ta_trace_free(ingestion->files[i].dump);
        free(ingestion->files[i].packed.bytes.at);
    }
    for (size_t i = 0; ingestion->arenas && i < ingestion->n_workers; i++)
        ta_arena_free(&ingestion->arenas[i]);
    free(ingestion->arenas);
    free(ingestion->files);
    ta_partial_set_free(ingestion->partials);
    ta_timeline_pool_free(ingestion->pool);
}
