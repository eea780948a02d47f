/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run: start reading here.
 *
 *     discover    operands → files, and reports that were written before (struct ta_inputs)
 *     ingest      each file: read, parse, normalize, map → partials and facts (struct ta_ingestion)
 *     stages      what all files left → ranks, tables, findings: see stages[] below
 *     join        this report and those that were written before → one report
 *
 * Rendering follows in the commands, from the frozen report alone. */
#include "pipeline.h"

#include "analyze/analyze.h"
#include "analyze/timeline/timeline.h"
#include "base/context.h"
#include "hardware/hardware.h"
#include "ingest/accounts.h"
#include "ingest/dumps/reconcile.h"
#include "ingest/ingest.h"
#include "ingest/inputs/inputs.h"
#include "ingest/join/join.h"
#include "ingest/survey.h"
#include "ingest/team.h"
#include "model/program/steps.h"
#include "parse/json/cpu.h"
#include "ranks/ranks.h"
#include "ranks/steps.h"
#include "recommend/recommend.h"
#include "report/report.h"

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
    const struct work *work;
    struct ta_run_options options; /* with the title of summaries */
    struct ta_inputs inputs;
    struct ta_ingestion ingestion;
    int64_t *ranks; /* by file */
    int64_t world_size;
    size_t *owner;             /* process that reads a file, of a team */
    struct ta_steps steps;     /* of all ranks, where something needs them */
    struct ta_ranks *compared; /* likewise, or NULL */
    struct ta_report *report;
};

/* ---- the stages ---------------------------------------------------------------------------- */

typedef enum ta_status stage_function(struct ta_ctx *ctx, struct run *run);

static stage_function decide_ranks, list_traces, reconcile, account, join_timeline, find_steps,
    compare_ranks, align_timeline, finish, recommend, freeze;

/* From what the files of a run left behind to its report, in this order. */
static const struct stage {
    stage_function *run;
    enum ta_stage time; /* what it counts as, for -v */
} stages[] = {
    {decide_ranks, TA_STAGE_FINISH},   /* facts of files → ranks, world size */
    {list_traces, TA_STAGE_FINISH},    /* facts of files → list of traces, for merge */
    {reconcile, TA_STAGE_FINISH},      /* dumps of other profilers → partials, each record once */
    {account, TA_STAGE_FINISH},        /* facts of files → data quality */
    {join_timeline, TA_STAGE_FINISH},  /* slices of files → timeline, if an output asks for it */
    {find_steps, TA_STAGE_FINISH},     /* marked steps of all ranks */
    {compare_ranks, TA_STAGE_FINISH},  /* collectives of all ranks → clocks, late ranks */
    {align_timeline, TA_STAGE_FINISH}, /* clocks of ranks → timeline */
    {finish, TA_STAGE_FINISH},         /* merged partials, what is known across ranks → tables */
    {recommend, TA_STAGE_RECOMMEND},   /* tables → findings, verdict */
    {freeze, TA_STAGE_RECOMMEND},      /* report → outputs and comparisons may read it */
};

/* ---- before anything is read --------------------------------------------------------------- */

/* Here and not in every worker. */
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

/* ---- discover ------------------------------------------------------------------------------- */

/* Leaves to the other processes of a team what they read. */
static enum ta_status share(struct ta_ctx *ctx, struct run *run)
{
    const size_t n = run->inputs.sources.list.n;
    run->owner = reallocarray(NULL, n + 1, sizeof *run->owner);
    if (!run->owner)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    return ta_team_share(ctx, run->options.team, &run->inputs.sources, run->owner);
}

static enum ta_status discover(struct ta_ctx *ctx, struct run *run)
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

/* ---- ingest --------------------------------------------------------------------------------- */

/* Reads the files of all runs together. */
static enum ta_status ingest(struct ta_ctx *ctx, const struct work *work, struct run *runs,
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
    if (n_files >= TA_FILES_MANY && ctx->shared->files_read)
        ctx->shared->files_read();
    free(read);
    ctx->helpers = ta_thread_count(work->options) - 1; /* those who read are free for the rest */
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

/* ---- from what files left behind to the report ----------------------------------------------- */

static enum ta_status decide_ranks(struct ta_ctx *ctx, struct run *run)
{
    return ta_account_ranks(ctx, &run->options, &run->ingestion, &run->inputs.job, run->ranks,
                            &run->world_size);
}

static enum ta_status list_traces(struct ta_ctx *ctx, struct run *run)
{
    if (!run->options.survey || ta_survey_take(run->options.survey, &run->ingestion))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of traces");
}

static enum ta_status reconcile(struct ta_ctx *ctx, struct run *run)
{
    return ta_reconcile(ctx, &run->ingestion, &run->inputs.job);
}

static enum ta_status account(struct ta_ctx *ctx, struct run *run)
{
    return ta_account(ctx, run->work->registry, &run->options, &run->ingestion, &run->inputs.job,
                      run->report, run->world_size);
}

static enum ta_status join_timeline(struct ta_ctx *ctx, struct run *run)
{
    return ta_ingestion_timeline(ctx, &run->ingestion, run->report);
}

static enum ta_status find_steps(struct ta_ctx *ctx, struct run *run)
{
    struct ta_survey *survey = run->options.survey;
    const enum ta_status status = ta_steps_run(ctx, &run->work->plan, run->ingestion.partials,
                                               run->ranks, run->ingestion.n_files, &run->steps);
    if (status == TA_OK && survey && !ta_survey_take_steps(survey, run->steps.at, run->steps.n))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of the ranks");
    return status;
}

static enum ta_status compare_ranks(struct ta_ctx *ctx, struct run *run)
{
    struct ta_survey *survey = run->options.survey;
    const enum ta_status status = ta_ranks_run(ctx, &run->work->plan, run->ingestion.partials,
                                               run->ranks, run->ingestion.n_files, &run->compared);
    if (status == TA_OK && run->compared && survey &&
        !ta_survey_take_clocks(survey, run->compared->members, run->compared->n_members))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the clocks of the ranks");
    return status;
}

static enum ta_status align_timeline(struct ta_ctx *ctx, struct run *run)
{
    struct ta_timeline *timeline = run->ingestion.timeline;
    if (!timeline || !run->compared ||
        ta_ranks_align_timeline(run->compared, timeline, ta_timeline_files(timeline)))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot align the timeline");
}

static enum ta_status finish(struct ta_ctx *ctx, struct run *run)
{
    const struct ta_across across = {&run->steps, run->compared};
    const enum ta_status status = ta_finish(ctx, run->ingestion.partials, run->ranks,
                                            run->ingestion.n_files, &across, run->report);
    ta_ranks_free(run->compared);
    run->compared = NULL;
    return status;
}

static enum ta_status recommend(struct ta_ctx *ctx, struct run *run)
{
    if (run->options.wanted == &ta_want_nothing)
        return TA_OK;
    return ta_recommend(ctx, run->work->registry, run->report);
}

static enum ta_status freeze(struct ta_ctx *ctx, struct run *run)
{
    if (ta_report_freeze(run->report) == TA_OK)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
}

static enum ta_status run_stages(struct ta_ctx *ctx, struct run *run)
{
    run->report = ta_report_new();
    if (!run->report)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    ta_sections_prepare(run->report);
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && status == TA_OK; i++) {
        status = stages[i].run(ctx, run);
        ta_times_lap(&ctx->times, stages[i].time);
    }
    return status;
}

/* The report of all inputs. */
static enum ta_status make_report(struct ta_ctx *ctx, struct run *run)
{
    enum ta_status status = has_files(run) ? run_stages(ctx, run) : TA_OK;
    if (status != TA_OK || run->inputs.reports.n == 0)
        return status;
    struct ta_report *joined;
    status = ta_join_inputs(ctx, run->work->registry, &run->work->plan, &run->options, &run->inputs,
                            run->report, &joined);
    if (status == TA_OK) {
        ta_report_free(run->report);
        run->report = joined;
    }
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum ta_status open_work(struct ta_ctx *ctx, struct work *work)
{
    ta_times_start(&ctx->times);
    enum ta_status status = check_cpu(ctx);
    if (status == TA_OK)
        status = ta_check_step_marker(ctx, work->options->step_marker);
    if (status == TA_OK)
        status = load_hardware(ctx, work);
    const struct ta_run_options *options = work->options;
    ctx->shared->step_marker = options->step_marker;
    const struct ta_survey *survey = options->survey;
    struct ta_plan_stages shared = ta_stages;
    shared.steps.wanted = survey && survey->needs_steps;
    shared.ranks.wanted = options->timeline || (survey && survey->needs_clocks);
    if (status == TA_OK)
        status = ta_plan_make(ctx, work->registry, options->wanted, &shared, &work->plan);
    return status;
}

static void close_work(struct ta_ctx *ctx, struct work *work)
{
    ta_plan_free(&work->plan);
    ctx->shared->hardware = NULL;
    ta_hardware_free(&work->hardware);
}

/* The report is the caller's from here on. */
static struct ta_report *take_report(struct run *run)
{
    struct ta_report *report = run->report;
    run->report = NULL;
    return report;
}

static void free_run(struct run *run)
{
    ta_report_free(run->report);
    ta_ranks_free(run->compared);
    ta_steps_free(&run->steps);
    ta_ingestion_free(&run->ingestion);
    ta_inputs_free(&run->inputs);
    free(run->ranks);
    free(run->owner);
}

enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options, struct ta_report **report)
{
    struct work work = {.registry = registry, .options = options};
    struct run run = {.work = &work, .options = *options};
    enum ta_status status = open_work(ctx, &work);
    if (status == TA_OK)
        status = discover(ctx, &run);
    if (status == TA_OK)
        status = ingest(ctx, &work, &run, 1);
    if (status == TA_OK && (!options->team || options->team->index == 0))
        status = make_report(ctx, &run);
    if (status == TA_OK)
        *report = take_report(&run);
    free_run(&run);
    close_work(ctx, &work);
    return status;
}

/* ---- runs to be compared ------------------------------------------------------------------- */

static enum ta_status cannot_compare(struct ta_ctx *ctx, enum ta_status status,
                                     const struct run *run)
{
    return ta_cause(ctx, status, "Cannot compare with %s", run->options.inputs[0]);
}

/* Runs that are read together: so many that every thread has a file, and no more, because what
 * files leave behind is in memory until all of them are read. */
static enum ta_status discover_some(struct ta_ctx *ctx, const struct work *work, struct run *runs,
                                    size_t most, size_t *n)
{
    const size_t n_threads = ta_thread_count(work->options);
    enum ta_status status = TA_OK;
    size_t n_files = 0;
    for (*n = 0; status == TA_OK && *n < most && (*n == 0 || n_files < n_threads); ++*n) {
        struct run *run = &runs[*n];
        run->work = work;
        run->options = *work->options;
        run->options.inputs += *n;
        run->options.n_inputs = 1;
        status = discover(ctx, run);
        n_files += run->inputs.sources.list.n;
        if (status != TA_OK)
            status = cannot_compare(ctx, status, run);
    }
    return status;
}

static enum ta_status run_some(struct ta_ctx *ctx, const struct work *work, struct run *runs,
                               size_t most, struct ta_report **reports, size_t *n)
{
    enum ta_status status = discover_some(ctx, work, runs, most, n);
    if (status == TA_OK)
        status = ingest(ctx, work, runs, *n);
    for (size_t i = 0; i < *n; i++) {
        if (status == TA_OK) {
            status = make_report(ctx, &runs[i]);
            if (status == TA_OK)
                reports[i] = take_report(&runs[i]);
            else
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
