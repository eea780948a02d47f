/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as an object: what the host gives it, and what it says to the host. */
#include "run/run.h"

#include "compare/noise.h"
#include "ingest/ingest.h"
#include "plugin/registry.h"
#include "plugin/registry_impl.h"
#include "report/report.h"
#include "run/merge.h"

#include <stdlib.h>

struct ta_run *ta_run_new(void)
{
    struct ta_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    ta_shared_init(&run->shared);
    ta_ctx_init(&run->ctx, &run->shared);
    if (ta_run_settings_init(run))
        return run;
    ta_run_free(run);
    return NULL;
}

void ta_run_forget(struct ta_run *run)
{
    ta_made_free(&run->made);
    run->report = NULL;
    run->outcome = (struct ta_gates_outcome){0};
    run->charts.n = run->drawn.n = 0;
}

void ta_run_free(struct ta_run *run)
{
    if (!run)
        return;
    ta_run_forget(run);
    free(run->charts.at);
    free(run->drawn.at);
    ta_merge_choice_free(run->choice);
    ta_noise_free(run->noise);
    free(run->gates.at);
    ta_registry_free(run->registry);
    free(run->inputs.at);
    free(run->baseline.at);
    free(run->maps.at);
    ta_run_settings_free(run);
    ta_arena_free(&run->arena);
    ta_shared_end(&run->shared);
    free(run);
}

/* ---- inputs --------------------------------------------------------------------------------- */

static const char *keep(struct ta_run *run, const char *input)
{
    return ta_arena_copy(&run->arena, ta_slice_of(input));
}

static enum ta_status no_memory(struct ta_run *run)
{
    return ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: inputs");
}

enum ta_status ta_run_add(struct ta_run *run, const char *input)
{
    const char *copy = keep(run, input);
    return copy && ta_vec_push(&run->inputs, copy) ? TA_OK : no_memory(run);
}

enum ta_status ta_run_baseline(struct ta_run *run, const char *input)
{
    const char *copy = keep(run, input);
    return copy && ta_vec_push(&run->baseline, copy) ? TA_OK : no_memory(run);
}

/* ---- plugins -------------------------------------------------------------------------------- */

static enum ta_status load(struct ta_run *run, struct ta_registry *registry)
{
    const ta_given_texts *paths = &run->set.plugin_paths;
    enum ta_status status = ta_registry_load_defaults(&run->ctx, registry);
    for (size_t i = 0; status == TA_OK && i < paths->n; i++)
        status = ta_registry_load(&run->ctx, registry, paths->at[i].text);
    return status == TA_OK ? ta_registry_check(&run->ctx, registry) : status;
}

struct ta_registry *ta_run_plugins(struct ta_run *run)
{
    if (run->registry)
        return run->registry;
    struct ta_registry *registry = ta_registry_new(&run->ctx);
    if (!registry)
        return NULL;
    if (load(run, registry) != TA_OK) {
        ta_registry_free(registry);
        return NULL;
    }
    run->registry = registry;
    return ta_run_apply_plugin_options(run) == TA_OK ? registry : NULL;
}

/* ---- the host ------------------------------------------------------------------------------- */

void ta_run_on_message(struct ta_run *run, enum ta_log_level level, ta_message *message, void *user)
{
    run->shared.level = level;
    run->shared.message = message;
    run->shared.message_user = user;
}

void ta_run_on_progress(struct ta_run *run, ta_progress *progress, void *user)
{
    run->progress = progress;
    run->progress_user = user;
}

void ta_run_on_memory(struct ta_run *run, void (*files_read)(void), void (*freed)(void))
{
    run->shared.files_read = files_read;
    run->shared.memory_freed = freed;
}

void ta_run_join_team(struct ta_run *run, struct ta_team *team)
{
    run->team = team;
}

bool ta_run_cancel(struct ta_run *run, int reason)
{
    int none = 0;
    return atomic_compare_exchange_strong(&run->shared.canceled, &none, reason);
}

int ta_run_canceled(const struct ta_run *run)
{
    return atomic_load(&run->shared.canceled);
}

void ta_run_abandon(struct ta_run *run)
{
    ta_temps_remove(&run->shared.temps);
}

/* ---- errors and figures -----------------------------------------------------------------------
 */

const char *ta_run_error(const struct ta_run *run)
{
    return ta_ctx_causes(&run->ctx);
}

struct ta_ctx *ta_run_context(struct ta_run *run)
{
    return &run->ctx;
}

const struct ta_report *ta_run_report(const struct ta_run *run)
{
    return run->report;
}

const char *ta_run_show(struct ta_run *run, size_t index)
{
    const struct ta_made_run *of = index < run->made.n ? &run->made.runs[index] : NULL;
    run->report = of ? of->report : run->made.report;
    run->charts.n = run->drawn.n = 0;
    return of ? of->name : NULL;
}

const struct ta_gates_outcome *ta_run_gates(const struct ta_run *run)
{
    return &run->outcome;
}

void ta_run_note_amount(struct ta_run *run, const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    run->events += accounts->totals.events_seen;
    for (size_t i = 0; i < accounts->n_files; i++)
        run->bytes += accounts->files[i].raw_bytes;
}

struct ta_run_effort ta_run_effort(const struct ta_run *run)
{
    const struct ta_run_options options = {.jobs = (unsigned)run->set.jobs};
    return (struct ta_run_effort){ta_thread_count(&options), run->events, run->bytes};
}

void ta_run_note_time(struct ta_run *run, const char *id, struct ta_lap start)
{
    size_t i = 0;
    while (i < run->n_outputs && strcmp(run->outputs[i].id, id) != 0)
        i++;
    if (i == TA_RUN_OUTPUTS)
        return;
    if (i == run->n_outputs)
        run->outputs[run->n_outputs++].id = id;
    ta_lap_add(&run->outputs[i].spent, start);
}

/* With the processor time of all threads that worked on the files. */
static struct ta_lap time_of_files(const struct ta_times *times)
{
    struct ta_lap sum = times->stages[TA_STAGE_FILES];
    for (int stage = TA_STAGE_INFLATE; stage <= TA_STAGE_ANALYZE; stage++)
        sum.cpu_ns += times->stages[stage].cpu_ns;
    return sum;
}

bool ta_run_spent(const struct ta_run *run, size_t index, struct ta_run_time *time)
{
    static const struct {
        enum ta_stage stage;
        const char *name;
    } stages[] = {{TA_STAGE_DISCOVER, "discover"},   {TA_STAGE_FILES, "files"},
                  {TA_STAGE_INFLATE, "inflate"},     {TA_STAGE_READ, "read"},
                  {TA_STAGE_NORMALIZE, "normalize"}, {TA_STAGE_ANALYZE, "analyze"},
                  {TA_STAGE_FINISH, "finish"},       {TA_STAGE_RECOMMEND, "recommend"}};
    const size_t n = TA_LENGTH(stages);
    if (index >= n + run->n_outputs)
        return false;
    const struct ta_times *times = &run->ctx.times;
    const struct ta_lap spent = index >= n ? run->outputs[index - n].spent
                                : stages[index].stage == TA_STAGE_FILES
                                    ? time_of_files(times)
                                    : times->stages[stages[index].stage];
    *time = (struct ta_run_time){index < n ? stages[index].name : run->outputs[index - n].id,
                                 index >= n, spent.wall_ns, spent.cpu_ns};
    return true;
}
