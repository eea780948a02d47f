/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run: start reading here.
 *
 *     discover    operands → files, and reports that were written before (struct ta_inputs)
 *     ingest      each file: read, parse, normalize, map → partials and facts (struct ta_ingestion)
 *     recordings  facts of files → which of them are recordings of which run (struct ta_recordings)
 *     stages      what the files of a recording left → ranks, tables, findings: see stages.c
 *     overview    reports of several runs, or recordings → one that lists them
 *     join        this report and those that were written before → one report
 *
 * Rendering follows in the commands, from the frozen report alone. */
#include "pipeline.h"

#include "analyze/analyze.h"
#include "base/context.h"
#include "compare/overview.h"
#include "hardware/hardware.h"
#include "ingest/accounts.h"
#include "ingest/ingest.h"
#include "ingest/inputs/inputs.h"
#include "ingest/join/join.h"
#include "ingest/survey.h"
#include "ingest/team.h"
#include "model/program/steps.h"
#include "parse/json/cpu.h"
#include "ranks/ranks.h"
#include "recordings/recordings.h"
#include "recordings/take.h"
#include "report/report.h"
#include "report/sections.h"
#include "stages.h"

#include <stdlib.h>

/* What all runs of a call share. */
struct work {
    const struct ta_registry *registry;
    const struct ta_run_options *options;
    struct ta_plan plan;
    struct ta_hardware_list hardware;
};

/* What was found and read for the operands of one input, or of all. */
struct reading {
    const struct work *work;
    struct ta_run_options options; /* with the title of summaries */
    struct ta_inputs inputs;
    bool has_files; /* there is something to read besides reports */
    struct ta_ingestion ingestion;
    size_t *owner; /* process that reads a file, of a team */
    struct ta_recordings recordings;
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
    if (options->only_reads)
        return TA_OK;
    const enum ta_status status = ta_hardware_load(ctx, options->hardware, &work->hardware);
    ctx->shared->hardware = &work->hardware;
    ctx->shared->hardware_choice = options->hardware;
    return status;
}

/* ---- discover ------------------------------------------------------------------------------- */

/* Leaves to the other processes of a team what they read. */
static enum ta_status share(struct ta_ctx *ctx, struct reading *reading)
{
    const size_t n = reading->inputs.sources.list.n;
    reading->owner = reallocarray(NULL, n + 1, sizeof *reading->owner);
    if (!reading->owner)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    return ta_team_share(ctx, reading->options.team, &reading->inputs.sources, reading->owner);
}

static enum ta_status discover(struct ta_ctx *ctx, struct reading *reading)
{
    struct ta_run_options *options = &reading->options;
    const enum ta_status status = ta_inputs_find(ctx, options, &reading->inputs);
    if (status != TA_OK || (reading->inputs.sources.list.n == 0 && reading->inputs.reports.n))
        return status;
    reading->has_files = true;
    if (!options->title)
        options->title = reading->inputs.title;
    /* A report that was written before is of one run, and so is what it is joined with. */
    options->together |= options->survey || reading->inputs.reports.n;
    return options->team ? share(ctx, reading) : TA_OK;
}

/* ---- ingest --------------------------------------------------------------------------------- */

/* Reads the files of all readings together. */
static enum ta_status ingest(struct ta_ctx *ctx, const struct work *work, struct reading *readings,
                             size_t n_readings)
{
    struct ta_ingest_run *read = calloc(n_readings, sizeof *read);
    size_t n = 0, n_files = 0;
    if (!read)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of runs: runs=%zu", n_readings);
    for (size_t i = 0; i < n_readings; i++) {
        struct reading *reading = &readings[i];
        if (!reading->has_files)
            continue;
        read[n++] = (struct ta_ingest_run){&reading->options, &reading->inputs.sources,
                                           &reading->ingestion, false};
        n_files += reading->inputs.sources.list.n;
    }
    enum ta_status status = n ? ta_ingest_all(ctx, work->registry, &work->plan, read, n) : TA_OK;
    struct ta_team *team = work->options->team;
    if (status == TA_OK && n && team)
        status = ta_team_gather(ctx, team, &readings->options, &work->plan, readings->owner,
                                &readings->ingestion);
    /* Once it knows what the files are, the first process may read some of them again. */
    for (size_t i = 0; team && i < readings->inputs.sources.list.n; i++)
        readings->inputs.sources.list.at[i].is_elsewhere = false;
    if (n_files >= TA_FILES_MANY && ctx->shared->files_read)
        ctx->shared->files_read();
    free(read);
    ctx->helpers = ta_thread_count(work->options) - 1; /* those who read are free for the rest */
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

/* ---- reports ------------------------------------------------------------------------------- */

/* The report of what counts in an ingestion. */
static enum ta_status report_on(struct ta_ctx *ctx, const struct reading *reading,
                                const struct ta_run_options *options,
                                struct ta_ingestion *ingestion, struct ta_quality *job, size_t of,
                                struct ta_report **report)
{
    const struct ta_stages_input input = {.registry = reading->work->registry,
                                          .plan = &reading->work->plan,
                                          .options = options,
                                          .ingestion = ingestion,
                                          .job = job,
                                          .recordings = &reading->recordings,
                                          .run = of};
    return ta_stages_run(ctx, &input, report);
}

/* Notes what the files were taken for; `run` and `shown` as ta_recordings_say() takes them. */
static enum ta_status say_files(struct ta_ctx *ctx, const struct reading *reading, size_t run,
                                size_t shown, struct ta_quality *job)
{
    return ta_recordings_say(&reading->recordings, &reading->ingestion, run, shown, job)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot say what the files are");
}

/* The report of one of several recordings. */
static enum ta_status report_on_recording(struct ta_ctx *ctx, struct reading *reading, size_t at,
                                          struct ta_report **report)
{
    const struct ta_recordings *recordings = &reading->recordings;
    const struct ta_recording *recording = &recordings->at[at];
    struct ta_run_options options = reading->options;
    struct ta_ingestion part;
    struct ta_quality own; /* the whole says what was noticed about all files */
    ta_quality_init(&own);
    if (recordings->n_runs > 1)
        options.title = recordings->runs[recording->run].name;
    const bool is_whole = recordings->n_runs == 1 && recording->is_chosen;
    enum ta_status status =
        ta_recordings_take(ctx, &reading->work->plan, recordings, at, &reading->ingestion, &part);
    struct ta_quality *job = is_whole ? &reading->inputs.job : &own;
    if (status == TA_OK)
        status = say_files(ctx, reading, recording->run, at, job);
    if (status == TA_OK)
        status = report_on(ctx, reading, &options, &part, job, recording->run, report);
    ta_recordings_give_back(&part);
    ta_quality_free(&own);
    return status == TA_OK ? status
                           : ta_cause(ctx, status, "Cannot report on \"%s\"", recording->name);
}

static struct ta_overview_row row_of(const struct ta_recordings *recordings, size_t at)
{
    const struct ta_recording *recording = &recordings->at[at];
    const struct ta_recorded_run *run = &recordings->runs[recording->run];
    return (struct ta_overview_row){.run = run->name,
                                    .recording = run->n > 1 ? recording->name : NULL,
                                    .kind = ta_recording_kind_name(recording->kind),
                                    .n_files = recording->n_files,
                                    .start_ns = recording->start_ns,
                                    .is_chosen = recording->is_chosen};
}

/* Reports of the recordings of one run, which the chosen one lists. */
static enum ta_status report_on_run(struct ta_ctx *ctx, struct reading *reading, size_t at,
                                    struct ta_report **report)
{
    const struct ta_recorded_run *run = &reading->recordings.runs[at];
    if (run->n == 1)
        return report_on_recording(ctx, reading, run->chosen, report);
    struct ta_overview_row *rows = calloc(run->n, sizeof *rows);
    enum ta_status status =
        rows ? TA_OK
             : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the recordings of a run: n=%zu", run->n);
    for (size_t i = 0; status == TA_OK && i < run->n; i++) {
        const struct ta_recording *recording = &reading->recordings.at[run->first + i];
        rows[i] = row_of(&reading->recordings, run->first + i);
        status = report_on_recording(ctx, reading, run->first + i, &rows[i].made);
        rows[i].report = rows[i].made;
        if (status == TA_OK && recording->is_chosen)
            *report = rows[i].made;
    }
    if (status == TA_OK)
        status = ta_overview_add(ctx, reading->work->registry, rows, run->n, *report);
    for (size_t i = 0; rows && i < run->n; i++)
        if (status != TA_OK || rows[i].made != *report)
            ta_report_free(rows[i].made);
    free(rows);
    return status;
}

/* The report that lists several runs. */
static enum ta_status make_overview(struct ta_ctx *ctx, struct reading *reading,
                                    const struct ta_overview_row *rows, size_t n,
                                    struct ta_report **report)
{
    const struct ta_registry *registry = reading->work->registry;
    struct ta_report *made = ta_report_new();
    if (!made)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    ta_sections_prepare(made);
    ta_recordings_mark(&reading->recordings, &reading->ingestion);
    enum ta_status status = say_files(ctx, reading, SIZE_MAX, SIZE_MAX, &reading->inputs.job);
    if (status == TA_OK)
        status = ta_account(ctx, registry, &reading->options, &reading->ingestion,
                            &reading->inputs.job, made, TA_MISSING);
    /* Ranks of different runs are no ranks of the whole. */
    struct ta_run_info info = *ta_report_run(made);
    info.n_ranks = 0;
    info.title = ta_arena_printf(ta_report_arena(made), "%s: %zu runs", info.title, n);
    ta_report_set_run(made, &info);
    ta_recordings_list(&reading->recordings, &reading->ingestion, SIZE_MAX, made);
    if (status == TA_OK)
        status = ta_overview_conclude(ctx, registry, rows, n, made);
    if (status == TA_OK)
        status = ta_overview_add(ctx, registry, rows, n, made);
    if (status == TA_OK)
        *report = made;
    else
        ta_report_free(made);
    return status;
}

/* One report for each run, and one that lists them. */
static enum ta_status report_on_runs(struct ta_ctx *ctx, struct reading *reading,
                                     struct ta_made *made)
{
    const struct ta_recordings *recordings = &reading->recordings;
    const size_t n = recordings->n_runs;
    struct ta_overview_row *rows = calloc(n, sizeof *rows);
    made->runs = calloc(n, sizeof *made->runs);
    made->names = ta_arena_alloc(&made->arena, (n + 1) * sizeof *made->names);
    if (!rows || !made->runs || !made->names) {
        free(rows);
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of runs: runs=%zu", n);
    }
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n; i++) {
        struct ta_made_run *run = &made->runs[i];
        run->name = ta_arena_copy(&made->arena, ta_slice_of(recordings->runs[i].name));
        rows[i] = row_of(recordings, recordings->runs[i].chosen);
        status = run->name ? report_on_run(ctx, reading, i, &run->report)
                           : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the name of a run");
        rows[i].report = run->report;
        made->names[i] = run->name;
        made->names[i + 1] = NULL;
        made->n += status == TA_OK;
    }
    ta_overview_order(rows, made->n);
    if (status == TA_OK)
        status = make_overview(ctx, reading, rows, n, &made->report);
    free(rows);
    return status;
}

/* Before files are shared out among reports, each of which says more about its own. */
static enum ta_status rank_all(struct ta_ctx *ctx, struct reading *reading)
{
    struct ta_quality ignored;
    int64_t world_size;
    int64_t *ranks = reallocarray(NULL, reading->ingestion.n_files + 1, sizeof *ranks);
    if (!ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu",
                       reading->ingestion.n_files);
    ta_quality_init(&ignored);
    const enum ta_status status =
        ta_recordings_rank(ctx, &reading->options, &reading->recordings, &reading->ingestion,
                           &ignored, ranks, &world_size);
    ta_quality_free(&ignored);
    free(ranks);
    return status;
}

/* Reads files again that share a pile with other recordings. */
static enum ta_status part_piles(struct ta_ctx *ctx, struct reading *reading)
{
    const struct ta_ingest_run run = {&reading->options, &reading->inputs.sources,
                                      &reading->ingestion, false};
    const size_t helpers = ctx->helpers;
    ctx->helpers = 0;
    const enum ta_status status = ta_recordings_part(
        ctx, reading->work->registry, &reading->work->plan, &run, &reading->recordings);
    ctx->helpers = helpers;
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

/* Files that replay graphs which others captured are read again, with those as their maps. */
static enum ta_status map_replays(struct ta_ctx *ctx, struct reading *reading)
{
    if (reading->options.n_maps || reading->options.survey)
        return TA_OK;
    const struct ta_ingest_run run = {&reading->options, &reading->inputs.sources,
                                      &reading->ingestion, false};
    const size_t helpers = ctx->helpers;
    ctx->helpers = 0;
    const enum ta_status status = ta_recordings_map(
        ctx, reading->work->registry, &reading->work->plan, &run, &reading->recordings);
    ctx->helpers = helpers;
    ta_times_lap(&ctx->times, TA_STAGE_FILES);
    return status;
}

/* The report of what was read, or several. */
static enum ta_status report_on_files(struct ta_ctx *ctx, struct reading *reading,
                                      struct ta_made *made)
{
    const struct ta_run_options *options = &reading->options;
    struct ta_recordings *recordings = &reading->recordings;
    struct ta_ingestion *ingestion = &reading->ingestion;
    enum ta_status status = ta_recordings_decide(ctx, options, ingestion, recordings);
    if (status == TA_OK && !ta_recordings_find_strays(recordings, ingestion))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the names of the files");
    if (status != TA_OK)
        return status;
    ta_account_refusals(ingestion, &reading->inputs.job);
    const size_t asked = options->run ? ta_recording_find(recordings, options->run) : SIZE_MAX;
    if (options->run && asked == SIZE_MAX)
        return ta_recordings_lack(ctx, recordings, options->run);
    status = part_piles(ctx, reading);
    if (status == TA_OK)
        status = map_replays(ctx, reading);
    if (status != TA_OK)
        return status;
    if (options->only_reads || recordings->n == 1) {
        ta_recordings_mark(recordings, ingestion);
        status = ta_recordings_unite(ctx, &reading->work->plan, recordings, ingestion);
        if (status == TA_OK)
            status = say_files(ctx, reading, SIZE_MAX, SIZE_MAX, &reading->inputs.job);
        return status == TA_OK ? report_on(ctx, reading, options, ingestion, &reading->inputs.job,
                                           SIZE_MAX, &made->report)
                               : status;
    }
    status = rank_all(ctx, reading);
    if (status != TA_OK)
        return status;
    if (options->run)
        return report_on_recording(ctx, reading, asked, &made->report);
    return recordings->n_runs == 1 ? report_on_run(ctx, reading, 0, &made->report)
                                   : report_on_runs(ctx, reading, made);
}

/* The report of all inputs. */
static enum ta_status make_report(struct ta_ctx *ctx, struct reading *reading, struct ta_made *made)
{
    enum ta_status status = reading->has_files ? report_on_files(ctx, reading, made) : TA_OK;
    if (status != TA_OK || reading->inputs.reports.n == 0)
        return status;
    struct ta_report *joined;
    status = ta_join_inputs(ctx, reading->work->registry, &reading->work->plan, &reading->options,
                            &reading->inputs, made->report, &joined);
    if (status == TA_OK) {
        ta_report_free(made->report);
        made->report = joined;
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
    if (status == TA_OK)
        status = ta_price_parse(ctx, work->options->price, &ctx->shared->price);
    const struct ta_run_options *options = work->options;
    ctx->shared->step_marker = options->step_marker;
    const struct ta_survey *survey = options->survey;
    struct ta_plan_stages shared = ta_stages;
    shared.steps.wanted = survey && survey->needs_steps;
    shared.ranks.wanted = options->timeline || (survey && survey->needs_clocks);
    if (status == TA_OK)
        status = ta_plan_make(ctx, work->registry, !options->only_reads, &shared, &work->plan);
    return status;
}

static void close_work(struct ta_ctx *ctx, struct work *work)
{
    ta_plan_free(&work->plan);
    ctx->shared->hardware = NULL;
    ta_hardware_free(&work->hardware);
}

static void free_reading(struct reading *reading)
{
    ta_recordings_free(&reading->recordings);
    ta_ingestion_free(&reading->ingestion);
    ta_inputs_free(&reading->inputs);
    free(reading->owner);
}

void ta_made_free(struct ta_made *made)
{
    for (size_t i = 0; i < made->n; i++)
        ta_report_free(made->runs[i].report);
    ta_report_free(made->report);
    free(made->runs);
    ta_arena_free(&made->arena);
    *made = (struct ta_made){.n = 0};
}

enum ta_status ta_pipeline_make(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_run_options *options, struct ta_made *made)
{
    struct work work = {.registry = registry, .options = options};
    struct reading reading = {.work = &work, .options = *options};
    *made = (struct ta_made){.n = 0};
    enum ta_status status = open_work(ctx, &work);
    if (status == TA_OK)
        status = discover(ctx, &reading);
    if (status == TA_OK)
        status = ingest(ctx, &work, &reading, 1);
    if (status == TA_OK && (!options->team || options->team->index == 0))
        status = make_report(ctx, &reading, made);
    if (status != TA_OK)
        ta_made_free(made);
    free_reading(&reading);
    close_work(ctx, &work);
    return status;
}

enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options, struct ta_report **report)
{
    struct ta_made made;
    const enum ta_status status = ta_pipeline_make(ctx, registry, options, &made);
    if (status != TA_OK)
        return status;
    *report = made.report;
    made.report = NULL;
    ta_made_free(&made);
    return TA_OK;
}

/* ---- runs to be compared ------------------------------------------------------------------- */

static enum ta_status cannot_compare(struct ta_ctx *ctx, enum ta_status status,
                                     const struct reading *reading)
{
    return ta_cause(ctx, status, "Cannot compare with %s", reading->options.inputs[0]);
}

/* Inputs that are read together: so many that every thread has a file, and no more, because what
 * files yield is in memory until all of them are read. */
static enum ta_status discover_some(struct ta_ctx *ctx, const struct work *work,
                                    struct reading *readings, size_t most, size_t *n)
{
    const size_t n_threads = ta_thread_count(work->options);
    enum ta_status status = TA_OK;
    size_t n_files = 0;
    for (*n = 0; status == TA_OK && *n < most && (*n == 0 || n_files < n_threads); ++*n) {
        struct reading *reading = &readings[*n];
        reading->work = work;
        reading->options = *work->options;
        reading->options.inputs += *n;
        reading->options.n_inputs = 1;
        if (work->options->run_of)
            reading->options.run = work->options->run_of[*n];
        status = discover(ctx, reading);
        n_files += reading->inputs.sources.list.n;
        if (status != TA_OK)
            status = cannot_compare(ctx, status, reading);
    }
    return status;
}

/* What is compared is one run. */
static enum ta_status take_only_run(struct ta_ctx *ctx, struct ta_made *made,
                                    struct ta_report **report)
{
    enum ta_status status = TA_OK;
    if (made->n > 1)
        status = ta_fail(ctx, TA_ERR_USAGE, "It holds %zu runs, such as %s; choose one with --run",
                         made->n, made->runs[0].name);
    if (status == TA_OK) {
        *report = made->report;
        made->report = NULL;
    }
    ta_made_free(made);
    return status;
}

static enum ta_status run_some(struct ta_ctx *ctx, const struct work *work,
                               struct reading *readings, size_t most, struct ta_report **reports,
                               size_t *n)
{
    enum ta_status status = discover_some(ctx, work, readings, most, n);
    if (status == TA_OK)
        status = ingest(ctx, work, readings, *n);
    for (size_t i = 0; i < *n; i++) {
        struct ta_made made = {.n = 0};
        if (status == TA_OK) {
            status = make_report(ctx, &readings[i], &made);
            if (status == TA_OK)
                status = take_only_run(ctx, &made, &reports[i]);
            if (status != TA_OK)
                status = cannot_compare(ctx, status, &readings[i]);
        }
        ta_made_free(&made);
        free_reading(&readings[i]);
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
    struct reading *readings = calloc(n, sizeof *readings);
    enum ta_status status = readings ? open_work(ctx, &work)
                                     : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of runs");
    for (size_t done = 0, some; status == TA_OK && done < n; done += some) {
        rest.inputs = options->inputs + done;
        rest.run_of = options->run_of ? options->run_of + done : NULL;
        status = run_some(ctx, &work, readings + done, n - done, reports + done, &some);
    }
    close_work(ctx, &work);
    free(readings);
    return status;
}
