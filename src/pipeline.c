/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run.  Each stage reads what the one before gave it, once:
 *
 *     discover    paths                    → struct ta_inputs (files, also those of summaries)
 *     ingest      read, parse, normalize, map → struct ta_ingestion (partials, facts of files)
 *     account     facts of files           → ranks
 *     reconcile   dumps of other profilers → partials, each record once
 *     account     facts of files           → data quality
 *     join        parts of files           → timeline, when an output asks for it
 *     finish      merged partials          → sections of the report
 *     recommend   report                   → findings, verdict
 *
 * Rendering follows in the commands, from the frozen report alone. */
#include "pipeline.h"

#include "ingest/accounts.h"
#include "analyze/analyze.h"
#include "base/context.h"
#include "base/heap.h"
#include "base/log.h"
#include "hardware/hardware.h"
#include "ingest/ingest.h"
#include "ingest/inputs/inputs.h"
#include "ingest/join/join.h"
#include "parse/json/cpu.h"
#include "recommend/recommend.h"
#include "ingest/dumps/reconcile.h"
#include "ingest/inputs/saved.h"
#include "report/report.h"
#include "ingest/survey.h"
#include "ingest/team.h"
#include "analyze/timeline/timeline.h"

#include <stdlib.h>

/* What all runs of a call share. */
struct work {
    const struct ta_registry *registry;
    const struct ta_run_options *options;
    struct ta_plan plan;
    struct ta_hardware_list hardware;
};

/* What one run holds until the report is frozen. */
struct run {
    struct ta_run_options options; /* with the title of summaries */
    struct ta_inputs inputs;
    struct ta_ingestion ingestion;
    int64_t *ranks; /* by file */
    size_t *owner;  /* process that reads a file, of a team */
};

/* Here, before anything is read, and not in every worker. */
static enum ta_status check_cpu(struct ta_ctx *ctx)
{
    const char *cpu = ctx->shared->cpu;
    if (!cpu || ta_cpu_has(cpu))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE, "This processor or this build cannot scan with \"%s\"", cpu);
}

/* Only analyses ask for peaks. */
static enum ta_status load_hardware(struct ta_ctx *ctx, struct work *work)
{
    const struct ta_run_options *options = work->options;
    if (options->wanted == &ta_want_nothing)
        return TA_OK;
    const enum ta_status status = ta_hardware_load(ctx, options->hardware, &work->hardware);
    ctx->shared->hardware = &work->hardware;
    ctx->shared->hardware_choice = options->hardware;
    return status;
}

/* Leaves to the other processes of a team what they read. */
static enum ta_status share(struct ta_ctx *ctx, struct run *run)
{
    const size_t n = run->inputs.sources.list.n;
    run->owner = reallocarray(NULL, n + 1, sizeof *run->owner);
    if (!run->owner)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    return ta_team_share(ctx, run->options.team, &run->inputs.sources, run->owner);
}

/* Looks for the files of a run. */
static enum ta_status find(struct ta_ctx *ctx, struct run *run)
{
    enum ta_status status = ta_inputs_find(ctx, &run->options, &run->inputs);
    const size_t n = run->inputs.sources.list.n;
    if (status != TA_OK || (n == 0 && run->inputs.reports.n))
        return status;
    run->ranks = reallocarray(NULL, n + 1, sizeof *run->ranks);
    if (!run->ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    if (!run->options.title)
        run->options.title = run->inputs.title;
    return run->options.team ? share(ctx, run) : TA_OK;
}

/* Whether there is something to read besides reports. */
static bool has_files(const struct run *run)
{
    return run->ranks;
}

/* Reads the files of all runs together. */
static enum ta_status gather(struct ta_ctx *ctx, const struct work *work, struct run *runs,
                             size_t n_runs)
{
    struct ta_ingest_run *read = calloc(n_runs, sizeof *read);
    size_t n = 0, n_files = 0;
    if (!read)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of runs: runs=%zu", n_runs);
    for (size_t i = 0; i < n_runs; i++) {
        struct run *run = &runs[i];
        if (!has_files(run))
            continue;
        read[n++] = (struct ta_ingest_run){&run->options, &run->inputs.sources, &run->ingestion};
        n_files += run->inputs.sources.list.n;
    }
    enum ta_status status = n ? ta_ingest_all(ctx, work->registry, &work->plan, read, n) : TA_OK;
    struct ta_team *team = work->options->team;
    if (status == TA_OK && n && team)
        status =
            ta_team_gather(ctx, team, &runs->options, &work->plan, runs->owner, &runs->ingestion);
    if (n_files >= TA_FILES_MANY)
        ta_heap_read_all();
    free(read);
    ctx->helpers = ta_thread_count(work->options) - 1; /* those who read are free for the rest */
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

static enum ta_status conclude(struct ta_ctx *ctx, const struct work *work, struct run *run,
                               struct ta_report *report)
{
    const struct ta_run_options *options = &run->options;
    struct ta_quality *job = &run->inputs.job;
    ta_sections_prepare(report);
    int64_t world_size;
    enum ta_status status =
        ta_account_ranks(ctx, options, &run->ingestion, job, run->ranks, &world_size);
    if (status == TA_OK && options->survey && !ta_survey_take(options->survey, &run->ingestion))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of traces");
    if (status == TA_OK)
        status = ta_reconcile(ctx, &run->ingestion, job);
    if (status == TA_OK)
        status = ta_account(ctx, options, &run->ingestion, job, report, world_size);
    if (status == TA_OK)
        status = ta_ingestion_timeline(ctx, &run->ingestion, report);
    if (status == TA_OK)
        status =
            ta_finish(ctx, run->ingestion.partials, run->ranks, run->ingestion.n_files, report);
    if (status == TA_OK && !ta_timeline_align(run->ingestion.timeline, report))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot align the timeline");
    ta_times_lap(&ctx->times, TA_STAGE_FINISH);
    if (status == TA_OK && options->wanted != &ta_want_nothing)
        status = ta_recommend(ctx, work->registry, report);
    if (status == TA_OK && ta_report_freeze(report) != TA_OK)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
    ta_times_lap(&ctx->times, TA_STAGE_RECOMMEND);
    return status;
}

/* ---- reports that were written before ------------------------------------------------------- */

/* Whether a page of a report holds less than the report did. */
static bool is_cut(const struct ta_report *report)
{
    for (const struct ta_table *table = ta_report_table_after(report, NULL); table;
         table = ta_report_table_after(report, table))
        if (table->n_left_out)
            return true;
    return false;
}

static enum ta_status read_reports(struct ta_ctx *ctx, const struct run *run,
                                   struct ta_report **read, size_t *n)
{
    enum ta_status status = TA_OK;
    for (*n = 0; *n < run->inputs.reports.n && status == TA_OK; *n += status == TA_OK) {
        const char *path = run->inputs.reports.at[*n].path;
        status = ta_saved_read(ctx, path, &read[*n]);
        if (status == TA_OK && is_cut(read[*n]))
            ta_log(ctx, TA_LOG_WARNING,
                   "%s has only the first rows of long tables; report.json has all", path);
    }
    return status;
}

/* Puts the report of what was read here, or NULL, and those written before together; a single one
 * stays as it is. */
static enum ta_status join(struct ta_ctx *ctx, const struct work *work, struct run *run,
                           struct ta_report *own, struct ta_report **report)
{
    const size_t most = run->inputs.reports.n;
    struct ta_quality none; /* what was noticed about the files is in their report */
    ta_quality_init(&none);
    struct ta_report **read = calloc(most, sizeof *read);
    struct ta_joined *parts = calloc(most + 1, sizeof *parts);
    size_t n = 0;
    enum ta_status status = read && parts ? read_reports(ctx, run, read, &n)
                                          : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the reports");
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct ta_joined){read[i], run->inputs.reports.at[i].shown};
    if (own)
        parts[n] = (struct ta_joined){own, "the files that were read"};
    if (status == TA_OK && !own && n == 1 && !run->options.title) {
        *report = read[0];
        n = 0;
    } else if (status == TA_OK) {
        status = ta_join(ctx, work->registry, &run->options, &work->plan, parts, n + (own != NULL),
                         own ? &none : &run->inputs.job, report);
    }
    ta_quality_free(&none);
    for (size_t i = 0; i < n; i++)
        ta_report_free(read[i]);
    free(read);
    free(parts);
    return status;
}

/* The report of all inputs. */
static enum ta_status make_report(struct ta_ctx *ctx, const struct work *work, struct run *run,
                                  struct ta_report **report)
{
    struct ta_report *made = ta_report_new();
    enum ta_status status = !made ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report")
                            : has_files(run) ? conclude(ctx, work, run, made)
                                             : TA_OK;
    if (status == TA_OK && run->inputs.reports.n == 0) {
        *report = made;
        return TA_OK;
    }
    if (status == TA_OK)
        status = join(ctx, work, run, has_files(run) ? made : NULL, report);
    ta_report_free(made);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum ta_status open_work(struct ta_ctx *ctx, struct work *work)
{
    ta_times_start(&ctx->times);
    enum ta_status status = check_cpu(ctx);
    if (status == TA_OK)
        status = load_hardware(ctx, work);
    if (status == TA_OK)
        status = ta_plan_make(ctx, work->registry, work->options->wanted, &work->plan);
    return status;
}

static void close_work(struct ta_ctx *ctx, struct work *work)
{
    ta_plan_free(&work->plan);
    ctx->shared->hardware = NULL;
    ta_hardware_free(&work->hardware);
}

static void free_run(struct run *run)
{
    ta_ingestion_free(&run->ingestion);
    ta_inputs_free(&run->inputs);
    free(run->ranks);
    free(run->owner);
}

enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options, struct ta_report **report)
{
    struct work work = {.registry = registry, .options = options};
    struct run run = {.options = *options};
    enum ta_status status = open_work(ctx, &work);
    if (status == TA_OK)
        status = find(ctx, &run);
    if (status == TA_OK)
        status = gather(ctx, &work, &run, 1);
    struct ta_report *made = NULL;
    if (status == TA_OK && (!options->team || options->team->index == 0))
        status = make_report(ctx, &work, &run, &made);
    if (status == TA_OK)
        *report = made;
    free_run(&run);
    close_work(ctx, &work);
    return status;
}

/* ---- runs to be compared ----------------------------------------------------------------------
 */

static enum ta_status cannot_compare(struct ta_ctx *ctx, enum ta_status status,
                                     const struct run *run)
{
    return ta_cause(ctx, status, "Cannot compare with %s", run->options.inputs[0]);
}

/* Runs that are read together: so many that every thread has a file, and no more, because what
 * files leave behind is in memory until all of them are read. */
static enum ta_status find_some(struct ta_ctx *ctx, const struct work *work, struct run *runs,
                                size_t most, size_t *n)
{
    const size_t n_threads = ta_thread_count(work->options);
    enum ta_status status = TA_OK;
    size_t n_files = 0;
    for (*n = 0; status == TA_OK && *n < most && (*n == 0 || n_files < n_threads); ++*n) {
        struct run *run = &runs[*n];
        run->options = *work->options;
        run->options.inputs += *n;
        run->options.n_inputs = 1;
        status = find(ctx, run);
        n_files += run->inputs.sources.list.n;
        if (status != TA_OK)
            status = cannot_compare(ctx, status, run);
    }
    return status;
}

static enum ta_status run_some(struct ta_ctx *ctx, const struct work *work, struct run *runs,
                               size_t most, struct ta_report **reports, size_t *n)
{
    enum ta_status status = find_some(ctx, work, runs, most, n);
    if (status == TA_OK)
        status = gather(ctx, work, runs, *n);
    for (size_t i = 0; i < *n; i++) {
        if (status == TA_OK) {
            status = make_report(ctx, work, &runs[i], &reports[i]);
            if (status != TA_OK)
                status = cannot_compare(ctx, status, &runs[i]);
        }
        free_run(&runs[i]);
    }
    return status;
}

enum ta_status ta_pipeline_run_each(struct ta_ctx *ctx, const struct ta_registry *registry,
                                    const struct ta_run_options *options,
                                    struct ta_report **reports)
{
    const size_t n = options->n_inputs;
    struct ta_run_options rest = *options;
    struct work work = {.registry = registry, .options = &rest};
    struct run *runs = calloc(n, sizeof *runs);
    enum ta_status status =
        runs ? open_work(ctx, &work) : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of runs");
    for (size_t done = 0, some; status == TA_OK && done < n; done += some) {
        rest.inputs = options->inputs + done;
        status = run_some(ctx, &work, runs + done, n - done, reports + done, &some);
    }
    close_work(ctx, &work);
    free(runs);
    return status;
}
