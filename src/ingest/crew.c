/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ingest/crew.h"

#include "base/memory.h"
#include "base/share.h"
#include "parse/log/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* In place of the number of a signal. */
enum { OUT_OF_MEMORY = -1 };

struct ta_member {
    struct ta_crew *crew;
    size_t number;
    struct ta_worker worker;
    struct ta_partial_set ***piles; /* of each job; NULL before the first file of one */
};

/* ---- working ------------------------------------------------------------------------------- */

static enum ta_status read_file(struct ta_member *member, const struct ta_file_task *task)
{
    struct ta_worker *w = &member->worker;
    struct ta_job *job = &member->crew->jobs[task->job];
    struct ta_partial_set **pile = &member->piles[task->job][job->ingestion->pile_of[task->file]];
    if (!*pile)
        *pile = ta_partial_set_new(job->plan);
    w->job = job;
    w->arena = &job->ingestion->arenas[member->number];
    w->partials = *pile;
    if (!w->partials)
        return ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the results of the files");
    const enum ta_status status = ta_worker_read(w, &job->files[task->file], task->helpers);
    *pile = w->partials;
    if (status == TA_OK && w->arena->failed)
        return ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of the files");
    return status;
}

/* Reads one file when there is memory for it. */
static enum ta_status take_file(struct ta_member *member, const struct ta_file_task *task)
{
    struct ta_crew *crew = member->crew;
    const struct ta_job *job = &crew->jobs[task->job];
    const struct ta_ingested *file = &job->files[task->file];
    if (file->source->is_elsewhere)
        return TA_OK;
    if (file->source->summary && file->source->member > 0)
        return TA_OK; /* read with the first file of its summary */
    if (file->refusal && !file->source->summary && !job->options->summaries)
        return TA_OK;
    const uint64_t taken = ta_budget_take(&crew->budget, task->content);
    enum ta_status status = TA_OK;
    if (!atomic_load(&crew->stop))
        status = read_file(member, task);
    ta_budget_give(&crew->budget, taken, file->raw_bytes, member->worker.memory);
    return status;
}

static bool make_room(struct ta_member *member)
{
    const struct ta_crew *crew = member->crew;
    member->piles = calloc(crew->n_jobs, sizeof *member->piles);
    for (size_t k = 0; member->piles && k < crew->n_jobs; k++) {
        member->piles[k] = calloc(crew->jobs[k].ingestion->n_piles, sizeof **member->piles);
        if (!member->piles[k])
            return false;
    }
    return member->piles;
}

/* All that worker `number` does. */
static enum ta_status work(struct ta_ctx *ctx, size_t number, void *user)
{
    struct ta_crew *crew = user;
    struct ta_member *member = &crew->members[number];
    enum ta_status status = TA_OK;
    *member = (struct ta_member){.crew = crew, .number = number};
    ta_ctx_init(&member->worker.ctx, ctx->shared);
    if (!make_room(member))
        status = ta_fail(&member->worker.ctx, TA_ERR_NOMEM, "Cannot hold the results of the files");
    while (status == TA_OK && !atomic_load(&crew->stop)) {
        const size_t at = atomic_fetch_add(&crew->next, 1);
        if (at >= crew->n)
            break;
        status = take_file(member, &crew->tasks[at]);
        atomic_fetch_add(&crew->done, 1);
    }
    if (status != TA_OK) {
        atomic_store(&crew->stop, true);
        ta_ctx_adopt(ctx, &member->worker.ctx);
    }
    ta_times_add(&ctx->times, &member->worker.ctx.times);
    pthread_mutex_lock(&crew->lock);
    crew->working--;
    pthread_cond_signal(&crew->left);
    pthread_mutex_unlock(&crew->lock);
    return status;
}

/* ---- watching them ------------------------------------------------------------------------- */

/* Stops a run that uses more than was allowed, as a signal would: it has spilled its columns by
 * then, and the rest is too much. */
static void watch_memory(struct ta_crew *crew, struct ta_shared *shared)
{
    const uint64_t limit = crew->options->memory_limit;
    const uint64_t used = limit && !crew->too_much ? ta_memory_used() : 0;
    int none = 0;
    if (used > limit && atomic_compare_exchange_strong(&shared->canceled, &none, OUT_OF_MEMORY))
        crew->too_much = used;
}

/* Some workers may never begin after a failure. */
static bool are_at_work(struct ta_crew *crew)
{
    return crew->working && !atomic_load(&crew->stop);
}

/* Waits for the workers and reports their progress to the caller, once at least. */
static void wait_for(struct ta_crew *crew, struct ta_shared *shared)
{
    const struct ta_run_options *options = crew->options;
    pthread_mutex_lock(&crew->lock);
    do {
        if (are_at_work(crew)) {
            /* Until a tenth of a second has passed, or a worker has no more to do. */
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += 100000000;
            if (until.tv_nsec >= 1000000000) {
                until.tv_nsec -= 1000000000;
                until.tv_sec++;
            }
            pthread_cond_timedwait(&crew->left, &crew->lock, &until);
        }
        watch_memory(crew, shared);
        if (options->progress)
            options->progress(options->progress_user,
                              atomic_load(&shared->read) - crew->bytes_before, crew->bytes_all,
                              atomic_load(&crew->done), crew->n);
    } while (are_at_work(crew));
    pthread_mutex_unlock(&crew->lock);
    watch_memory(crew, shared);
}

/* ---- what they leave ----------------------------------------------------------------------- */

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

/* What went wrong, if anything did: what a worker says, or why it had to. */
static enum ta_status outcome(struct ta_ctx *ctx, struct ta_crew *crew, enum ta_status status)
{
    int reason = OUT_OF_MEMORY;
    if (crew->too_much && atomic_compare_exchange_strong(&ctx->shared->canceled, &reason, 0))
        return ta_fail(ctx, TA_ERR_NOMEM,
                       "The run needs more memory than --memory-limit allows: limit=%" PRIu64
                       " bytes, in use=%" PRIu64 " bytes, threads=%zu",
                       crew->options->memory_limit, crew->too_much, crew->planner.n_workers);
    return status == TA_ERR_NOMEM && ctx->shared->space.failed ? say_no_space(ctx) : status;
}

/* What all workers have of each pile, in one set. */
static bool gather(struct ta_crew *crew, size_t number)
{
    struct ta_ingestion *ingestion = crew->jobs[number].ingestion;
    for (size_t i = 0; i < crew->planner.n_workers; i++)
        for (size_t k = 0; k < ingestion->n_piles; k++) {
            struct ta_partial_set **set = &crew->members[i].piles[number][k];
            if (*set && !ta_partial_set_ok(*set))
                return false;
            if (ingestion->piles[k] && *set)
                ta_partial_set_drain(ingestion->piles[k], *set);
            else if (*set)
                ingestion->piles[k] = *set;
            *set = NULL;
        }
    return true;
}

static void free_member(struct ta_crew *crew, struct ta_member *member)
{
    for (size_t k = 0; member->piles && k < crew->n_jobs; k++) {
        for (size_t i = 0; member->piles[k] && i < crew->jobs[k].ingestion->n_piles; i++)
            ta_partial_set_free(member->piles[k][i]);
        free(member->piles[k]);
    }
    free(member->piles);
}

static enum ta_status run(struct ta_ctx *ctx, struct ta_crew *crew)
{
    const size_t n = crew->planner.n_workers;
    struct ta_sharing all = {
        .ctx = ctx, .n = n, .task = work, .user = crew, .stage = TA_STAGE_COUNT};
    crew->working = n;
    ta_share_start(&all, n);
    if (all.n_helpers) /* fewer do the work as well */
        wait_for(crew, ctx->shared);
    enum ta_status status = outcome(ctx, crew, ta_share_finish(&all));
    for (size_t k = 0; status == TA_OK && k < crew->n_jobs; k++)
        if (!gather(crew, k))
            status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the results of all files");
    for (size_t i = 0; i < crew->planner.n_workers; i++)
        free_member(crew, &crew->members[i]);
    free(crew->members);
    return status;
}

enum ta_status ta_crew_run(struct ta_ctx *ctx, struct ta_crew *crew)
{
    const uint64_t asked = crew->options->memory_limit;
    const uint64_t limit = asked ? asked : ta_memory_preset();
    enum ta_status status;
    crew->members = calloc(crew->planner.n_workers, sizeof *crew->members);
    if (!crew->members)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot start a thread");
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->left, NULL);
    crew->bytes_before = atomic_load(&ctx->shared->read);
    ta_space_open(&ctx->shared->space, limit, crew->options->tmpdir);
    struct ta_log_formats log_formats;
    if (ta_log_formats_init(&log_formats, crew->jobs[0].registry) &&
        ta_budget_init(&crew->budget, limit)) {
        ctx->shared->log_formats = &log_formats;
        status = run(ctx, crew);
        ctx->shared->log_formats = NULL;
        ta_budget_free(&crew->budget);
    } else {
        free(crew->members);
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot start a thread");
    }
    ta_log_formats_free(&log_formats);
    pthread_cond_destroy(&crew->left);
    pthread_mutex_destroy(&crew->lock);
    return status;
}
