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
#include "run/pipeline.h"

#include "run/accounts.h"
#include "analyze/analyze.h"
#include "base/context.h"
#include "hardware/hardware.h"
#include "run/ingest.h"
#include "run/inputs.h"
#include "parse/cpu.h"
#include "recommend/recommend.h"
#include "run/reconcile.h"
#include "result/report.h"
#include "run/survey.h"
#include "run/team.h"

#include <stdlib.h>

/* What one run holds until the report is frozen. */
struct run {
    struct ta_run_options options; /* with the title of summaries */
    struct ta_inputs inputs;
    struct ta_plan plan;
    struct ta_ingestion ingestion;
    struct ta_hardware_list hardware;
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
static enum ta_status load_hardware(struct ta_ctx *ctx, const struct ta_run_options *options,
                                    struct run *run)
{
    if (options->check_only)
        return TA_OK;
    const enum ta_status status = ta_hardware_load(ctx, options->hardware, &run->hardware);
    ctx->shared->hardware = &run->hardware;
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

static enum ta_status gather(struct ta_ctx *ctx, const struct ta_registry *registry,
                             struct run *run)
{
    enum ta_status status = ta_inputs_find(ctx, &run->options, &run->inputs);
    if (status != TA_OK)
        return status;
    const size_t n = run->inputs.sources.list.n;
    run->ranks = reallocarray(NULL, n + 1, sizeof *run->ranks);
    if (!run->ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    if (!run->options.title)
        run->options.title = run->inputs.title;
    struct ta_team *team = run->options.team;
    if (team)
        status = share(ctx, run);
    if (status == TA_OK)
        status = ta_ingest(ctx, registry, &run->options, &run->plan, &run->inputs.sources,
                           &run->ingestion);
    if (status == TA_OK && team)
        status = ta_team_gather(ctx, team, &run->options, &run->plan, run->owner, &run->ingestion);
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

static enum ta_status conclude(struct ta_ctx *ctx, const struct ta_registry *registry,
                               struct run *run, struct ta_report *report)
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
    ta_times_lap(&ctx->times, TA_STAGE_FINISH);
    if (status == TA_OK && !options->check_only)
        status = ta_recommend(ctx, registry, report);
    if (status == TA_OK && ta_report_freeze(report) != TA_OK)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
    ta_times_lap(&ctx->times, TA_STAGE_RECOMMEND);
    return status;
}

enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options, struct ta_report **report)
{
    struct run run = {.options = *options};
    ta_times_start(&ctx->times);
    struct ta_report *made = ta_report_new();
    enum ta_status status =
        made ? check_cpu(ctx) : ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    if (status == TA_OK)
        status = load_hardware(ctx, options, &run);
    if (status == TA_OK)
        status = ta_plan_make(ctx, options->check_only ? NULL : registry, &run.plan);
    if (status == TA_OK)
        status = gather(ctx, registry, &run);
    const bool reports = !options->team || options->team->index == 0;
    if (status == TA_OK && reports)
        status = conclude(ctx, registry, &run, made);
    ctx->helpers = ta_thread_count(options) - 1; /* of those who render */
    if (status == TA_OK)
        *report = reports ? made : NULL;
    if (status != TA_OK || !reports)
        ta_report_free(made);
    ta_ingestion_free(&run.ingestion);
    ta_plan_free(&run.plan);
    ta_inputs_free(&run.inputs);
    ctx->shared->hardware = NULL;
    ta_hardware_free(&run.hardware);
    free(run.ranks);
    free(run.owner);
    return status;
}
