/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executing a run: reading, comparing, judging. */
#include "run/run.h"

#include "compare/diff.h"
#include "compare/scaling/scaling.h"
#include "pipeline.h"
#include "plugin/registry.h"
#include "render/chart/timeline.h"
#include "report/report.h"

#include <stdlib.h>

/* ---- the timeline ---------------------------------------------------------------------------- */

static bool needs_timeline(const struct ta_run *run, struct ta_slice id)
{
    const size_t n = ta_registry_count(run->registry, TA_KIND_output);
    for (size_t i = 0; i < n; i++) {
        const struct ta_plugin *plugin = &ta_registry_at(run->registry, TA_KIND_output, i)->plugin;
        if (ta_slice_equal(ta_slice_of(plugin->id), id))
            return plugin->output->needs_timeline;
    }
    return false;
}

/* Packing a timeline takes time, and not every output and chart shows it. */
static bool wants_timeline(const struct ta_run *run)
{
    const char *charts = run->set.charts;
    bool wanted = charts && (strcmp(charts, "all") == 0 || strstr(charts, TA_TIMELINE_SCENE_ID));
    for (const char *at = run->set.format, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ',');
        wanted |= needs_timeline(run, (struct ta_slice){at, (size_t)(end - at)});
    }
    return wanted && run->set.timeline != TA_TIMELINE_NONE;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static enum ta_status read_one(struct ta_run *run, const struct ta_run_options *options,
                               struct ta_report **report)
{
    *report = NULL;
    const enum ta_status status = ta_pipeline_run(&run->ctx, run->registry, options, report);
    if (status == TA_OK && *report)
        ta_run_note_amount(run, *report);
    return status;
}

/* Reports of runs that are compared. */
struct runs {
    struct ta_report **at;
    size_t n, n_base;
};

static void free_runs(struct runs *runs)
{
    for (size_t i = 0; runs->at && i < runs->n; i++)
        ta_report_free(runs->at[i]);
    free(runs->at);
}

/* Each input is a run of its own, so that ranks of different runs never meet; it has the title of
 * its input. */
static enum ta_status read_each(struct ta_run *run, struct runs *runs)
{
    struct ta_run_options options;
    *runs = (struct runs){.n = run->baseline.n + run->inputs.n, .n_base = run->baseline.n};
    runs->at = calloc(runs->n + 1, sizeof *runs->at);
    const char **inputs = calloc(2 * runs->n + 1, sizeof *inputs), **names = inputs + runs->n;
    const ta_given_texts *given = &run->set.runs;
    if (!runs->at || !inputs) {
        free(inputs);
        return ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", runs->n);
    }
    for (size_t i = 0; i < runs->n; i++) {
        const bool is_base = i < runs->n_base;
        inputs[i] = is_base ? run->baseline.at[i] : run->inputs.at[i - runs->n_base];
        if (given->n)
            names[i] = given->at[is_base ? 0 : given->n - 1].text;
    }
    ta_run_reading(run, &options);
    options.run_of = names;
    options.inputs = inputs;
    options.n_inputs = runs->n;
    options.title = NULL;
    options.reports = true;
    const enum ta_status status =
        ta_pipeline_run_each(&run->ctx, run->registry, &options, runs->at);
    for (size_t i = 0; status == TA_OK && i < runs->n; i++)
        ta_run_note_amount(run, runs->at[i]);
    free(inputs);
    return status;
}

/* ---- the tasks
 * ----------------------------------------------------------------------------------- */

static enum ta_status need_inputs(struct ta_run *run, size_t n, size_t least, const char *what)
{
    return n >= least ? TA_OK : ta_fail(&run->ctx, TA_ERR_USAGE, "Nothing to do: no %s", what);
}

/* Adds what changed against the run of the baseline. */
static enum ta_status add_comparison(struct ta_run *run, struct ta_report *report)
{
    struct ta_report *baseline;
    struct ta_run_options options;
    if (run->baseline.n == 0)
        return TA_OK;
    ta_run_reading(run, &options);
    options.inputs = run->baseline.at;
    options.n_inputs = run->baseline.n;
    options.title = NULL;
    options.reports = true;
    enum ta_status status = read_one(run, &options, &baseline);
    if (status != TA_OK)
        return ta_cause(&run->ctx, status, "Cannot compare with %s", run->baseline.at[0]);
    const struct ta_report *const before = baseline, *const after = report;
    const struct ta_diff_side sides[TA_DIFF_SIDES] = {
        [TA_DIFF_BASE] = {&before, 1}, [TA_DIFF_NEW] = {&after, 1}};
    status = ta_diff_add(&run->ctx, run->registry, sides, &run->judging, report);
    ta_report_free(baseline);
    return status;
}

static enum ta_status make_report(struct ta_run *run, struct ta_made *made)
{
    struct ta_run_options options;
    ta_run_reading(run, &options);
    options.timeline = wants_timeline(run);
    options.reports = true;
    enum ta_status status = ta_pipeline_make(&run->ctx, run->registry, &options, made);
    if (status != TA_OK || !made->report)
        return status;
    ta_run_note_amount(run, made->report);
    if (made->n && (run->baseline.n || run->gates.n))
        return ta_fail(&run->ctx, TA_ERR_USAGE,
                       "The inputs are %zu runs, such as %s; choose the one to compare and to "
                       "judge with --run",
                       made->n, made->runs[0].name);
    return add_comparison(run, made->report);
}

static enum ta_status make_check(struct ta_run *run, struct ta_made *made)
{
    struct ta_run_options options;
    ta_run_reading(run, &options);
    options.only_reads = true;
    return read_one(run, &options, &made->report);
}

static enum ta_status make_diff(struct ta_run *run, struct ta_made *made)
{
    struct runs runs;
    enum ta_status status =
        need_inputs(run, run->baseline.n, 1, "run of a baseline to compare with");
    if (status != TA_OK)
        return status;
    status = read_each(run, &runs); /* their findings are compared, too */
    if (status == TA_OK) {
        const struct ta_report *const *at = (const struct ta_report *const *)runs.at;
        const struct ta_diff_side sides[TA_DIFF_SIDES] = {
            [TA_DIFF_BASE] = {at, runs.n_base},
            [TA_DIFF_NEW] = {at + runs.n_base, runs.n - runs.n_base},
        };
        status =
            ta_diff(&run->ctx, run->registry, sides, &run->judging, run->set.title, &made->report);
    }
    free_runs(&runs);
    return status;
}

static enum ta_status make_scaling(struct ta_run *run, struct ta_made *made)
{
    const enum ta_scaling_kind kind = run->set.weak     ? TA_SCALING_WEAK
                                      : run->set.strong ? TA_SCALING_STRONG
                                                        : TA_SCALING_AUTO;
    struct runs runs;
    enum ta_status status = read_each(run, &runs);
    if (status == TA_OK)
        status = ta_scaling(&run->ctx, run->registry, (const struct ta_report *const *)runs.at,
                            runs.n, kind, run->set.title, &made->report);
    free_runs(&runs);
    return status;
}

/* ---- judging -----------------------------------------------------------------------------------
 */

static bool has_loss(const struct ta_quality_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (findings[i].severity >= TA_QUALITY_LOSS ||
            (findings[i].code == TA_Q_RANK_MISSING && findings[i].severity >= TA_QUALITY_NOTICE))
            return true;
    return false;
}

bool ta_report_has_losses(const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    bool loss = has_loss(accounts->findings, accounts->n_findings);
    for (size_t i = 0; !loss && i < accounts->n_files; i++)
        loss = has_loss(accounts->files[i].findings, accounts->files[i].n_findings);
    return loss;
}

static enum ta_status judge(struct ta_run *run)
{
    run->gates.incomplete = ta_report_has_losses(run->report);
    return ta_gates_judge(&run->ctx, run->registry, &run->gates, run->made.report, &run->outcome);
}

/* ---- the whole
 * ----------------------------------------------------------------------------------- */

enum ta_status ta_run_execute(struct ta_run *run, enum ta_run_task task)
{
    static enum ta_status (*const tasks[])(struct ta_run * run, struct ta_made * made) = {
        [TA_RUN_REPORT] = make_report,
        [TA_RUN_CHECK] = make_check,
        [TA_RUN_DIFF] = make_diff,
        [TA_RUN_SCALING] = make_scaling,
    };
    ta_run_forget(run);
    enum ta_status status = ta_run_check(run, task);
    if (status == TA_OK)
        status = need_inputs(run, run->inputs.n, 1, "inputs");
    if (status == TA_OK)
        status = tasks[task](run, &run->made);
    run->report = run->made.report;
    if (status == TA_OK && run->report && task != TA_RUN_CHECK)
        status = judge(run);
    if (status != TA_OK)
        ta_run_forget(run);
    /* Whatever failed after the host asked to stop failed because of it. */
    return status != TA_OK && ta_run_canceled(run) ? TA_ERR_CANCELED : status;
}
