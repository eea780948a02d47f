/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages between reading and outputs: what the files of a recording left becomes ranks, tables
 * and findings. */
#include "stages.h"

#include "analyze/analyze.h"
#include "analyze/timeline/timeline.h"
#include "base/context.h"
#include "ingest/accounts.h"
#include "ingest/dumps/reconcile.h"
#include "ingest/ingest.h"
#include "ingest/survey.h"
#include "model/program/steps.h"
#include "ranks/ranks.h"
#include "ranks/steps.h"
#include "recommend/recommend.h"
#include "recordings/recordings.h"
#include "recordings/take.h"
#include "report/report.h"
#include "report/sections.h"

#include <stdlib.h>

/* What one report holds until it is frozen. */
struct run {
    const struct ta_stages_input *in;
    int64_t *ranks; /* by file */
    int64_t world_size;
    struct ta_steps steps;     /* of all ranks, where something needs them */
    struct ta_ranks *compared; /* likewise, or NULL */
    struct ta_report *report;
};

typedef enum ta_status stage_function(struct ta_ctx *ctx, struct run *run);

static stage_function decide_ranks, list_traces, reconcile, account, join_timeline, find_steps,
    compare_ranks, align_timeline, finish, list_recordings, recommend, freeze;

/* From what is kept of the files of a run to its report, in this order. */
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
    {list_recordings, TA_STAGE_FINISH}, /* what the files were taken for → tables */
    {recommend, TA_STAGE_RECOMMEND},    /* tables → findings, verdict */
    {freeze, TA_STAGE_RECOMMEND},       /* report → outputs and comparisons may read it */
};

static enum ta_status decide_ranks(struct ta_ctx *ctx, struct run *run)
{
    const size_t n = run->in->ingestion->n_files;
    run->ranks = reallocarray(NULL, n + 1, sizeof *run->ranks);
    if (!run->ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    return run->in->recordings->n > 1 && run->in->run == SIZE_MAX
               ? ta_recordings_rank(ctx, run->in->options, run->in->recordings, run->in->ingestion,
                                    run->in->job, run->ranks, &run->world_size)
               : ta_account_ranks(ctx, run->in->options, run->in->ingestion, run->in->job,
                                  run->ranks, &run->world_size);
}

static enum ta_status list_traces(struct ta_ctx *ctx, struct run *run)
{
    if (!run->in->options->survey || ta_survey_take(run->in->options->survey, run->in->ingestion))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of traces");
}

static enum ta_status reconcile(struct ta_ctx *ctx, struct run *run)
{
    return ta_reconcile(ctx, run->in->ingestion, run->in->job);
}

static enum ta_status account(struct ta_ctx *ctx, struct run *run)
{
    return ta_account(ctx, run->in->registry, run->in->options, run->in->ingestion, run->in->job,
                      run->report, run->world_size);
}

static enum ta_status join_timeline(struct ta_ctx *ctx, struct run *run)
{
    return ta_ingestion_timeline(ctx, run->in->ingestion, run->report);
}

static enum ta_status find_steps(struct ta_ctx *ctx, struct run *run)
{
    struct ta_survey *survey = run->in->options->survey;
    const enum ta_status status =
        ta_steps_run(ctx, run->in->plan, run->in->ingestion->partials, run->ranks,
                     run->in->ingestion->n_files, &run->steps);
    if (status == TA_OK && survey && !ta_survey_take_steps(survey, run->steps.at, run->steps.n))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of the ranks");
    return status;
}

static enum ta_status compare_ranks(struct ta_ctx *ctx, struct run *run)
{
    struct ta_survey *survey = run->in->options->survey;
    const enum ta_status status =
        ta_ranks_run(ctx, run->in->plan, run->in->ingestion->partials, run->ranks,
                     run->in->ingestion->n_files, &run->compared);
    if (status == TA_OK && run->compared && survey &&
        !ta_survey_take_clocks(survey, run->compared->members, run->compared->n_members))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the clocks of the ranks");
    return status;
}

static enum ta_status align_timeline(struct ta_ctx *ctx, struct run *run)
{
    struct ta_timeline *timeline = run->in->ingestion->timeline;
    if (!timeline || !run->compared ||
        ta_ranks_align_timeline(run->compared, timeline, ta_timeline_files(timeline)))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot align the timeline");
}

static enum ta_status finish(struct ta_ctx *ctx, struct run *run)
{
    const struct ta_across across = {&run->steps, run->compared};
    const enum ta_status status = ta_finish(ctx, run->in->ingestion->partials, run->ranks,
                                            run->in->ingestion->n_files, &across, run->report);
    ta_ranks_free(run->compared);
    run->compared = NULL;
    return status;
}

/* Of files that are simply the ranks of one run the accounts say enough. */
static enum ta_status list_recordings(struct ta_ctx *ctx, struct run *run)
{
    (void)ctx;
    if (!ta_recordings_are_plain(run->in->recordings, run->in->ingestion))
        ta_recordings_list(run->in->recordings, run->in->ingestion, run->in->run, run->report);
    return TA_OK;
}

static enum ta_status recommend(struct ta_ctx *ctx, struct run *run)
{
    if (run->in->options->only_reads)
        return TA_OK;
    return ta_recommend(ctx, run->in->registry, run->report);
}

static enum ta_status freeze(struct ta_ctx *ctx, struct run *run)
{
    if (ta_report_freeze(run->report) == TA_OK)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
}

static void free_run(struct run *run)
{
    ta_report_free(run->report);
    ta_ranks_free(run->compared);
    ta_steps_free(&run->steps);
    free(run->ranks);
}

enum ta_status ta_stages_run(struct ta_ctx *ctx, const struct ta_stages_input *input,
                             struct ta_report **report)
{
    struct run run = {.in = input, .report = ta_report_new()};
    if (!run.report)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    ta_sections_prepare(run.report);
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && status == TA_OK; i++) {
        status = stages[i].run(ctx, &run);
        ta_times_lap(&ctx->times, stages[i].time);
    }
    if (status == TA_OK) {
        *report = run.report;
        run.report = NULL;
    }
    free_run(&run);
    return status;
}
