/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of all ranks as one file for viewers: they are read twice, to know what is there, and
 * to pass the text of their events on. */
#include "run/merge.h"

#include "base/write/file.h"
#include "pipeline.h"
#include "plugin/registry.h"
#include "report/report.h"
#include "traceanalyze/input.h"

#include <stdlib.h>

/* How the file is called in a folder. */
#define PRESET_NAME "merged.json.gz"

/* ---- which traces -------------------------------------------------------------------------- */

static enum ta_status check_trace(struct ta_run *run, const struct ta_surveyed *trace)
{
    if (!trace->path)
        return ta_fail(&run->ctx, TA_ERR_USAGE,
                       "\"%s\" cannot be merged: traces are read twice, so neither standard input "
                       "nor a saved summary will do",
                       trace->shown);
    return TA_OK;
}

/* Moves the wanted traces to the front of the survey. */
static enum ta_status choose_traces(struct ta_run *run, const struct ta_merge_choice *choice,
                                    struct ta_survey *survey)
{
    size_t n = 0;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < survey->n; i++) {
        const struct ta_surveyed *trace = &survey->at[i];
        if (trace->rank != TA_MISSING && !ta_merge_takes_rank(choice, trace->rank))
            continue;
        const struct ta_entry *input =
            ta_registry_find(run->registry, TA_KIND_input, trace->format);
        if (!input || !input->plugin.input->can_merge) {
            ta_log(&run->ctx, TA_LOG_WARNING, "\"%s\" is left out: it is no Chrome trace but %s",
                   trace->shown, trace->format);
            continue;
        }
        if (trace->rank == TA_MISSING && survey->n > 1) {
            ta_log(&run->ctx, TA_LOG_WARNING,
                   "\"%s\" is left out: it holds several ranks already and cannot be merged with "
                   "others",
                   trace->shown);
            continue;
        }
        status = check_trace(run, trace);
        survey->at[n++] = *trace;
    }
    survey->n = n;
    if (status == TA_OK && n == 0)
        status = ta_fail(&run->ctx, TA_ERR_INPUT, "No trace to merge%s%s",
                         run->set.rank ? ": --rank=" : "", run->set.rank ? run->set.rank : "");
    return status;
}

static struct ta_merge_trace *list_traces(const struct ta_survey *survey)
{
    struct ta_merge_trace *traces = calloc(survey->n, sizeof *traces);
    for (size_t i = 0; traces && i < survey->n; i++) {
        const struct ta_surveyed *trace = &survey->at[i];
        traces[i] = (struct ta_merge_trace){.path = trace->path,
                                            .shown = trace->shown,
                                            .events = trace->events,
                                            .rank = trace->rank,
                                            .shares_rank =
                                                (i > 0 && trace[-1].rank == trace->rank) ||
                                                (i + 1 < survey->n && trace[1].rank == trace->rank),
                                            .from_ns = TA_MISSING,
                                            .to_ns = TA_MISSING};
    }
    return traces;
}

/* ---- writing ------------------------------------------------------------------------------- */

static enum ta_status write_file(struct ta_run *run, const struct ta_merge *merge,
                                 enum ta_merge_format format, struct ta_sink *sink)
{
    const struct ta_lap start = ta_lap_now();
    struct ta_file *out = ta_sink_open(&run->ctx, sink, PRESET_NAME, TA_MERGE_SIGNATURE);
    if (!out)
        return run->ctx.status;
    if (format == TA_MERGE_PACKED)
        ta_file_pack(&run->ctx, out, TA_MERGE_SIGNATURE);
    enum ta_status status = format == TA_MERGE_ARCHIVE ? ta_merge_archive(&run->ctx, merge, out)
                                                       : ta_merge_chrome(&run->ctx, merge, out);
    if (status == TA_OK)
        status = ta_file_close(&run->ctx, out);
    ta_run_note_time(run, "merge", start);
    return status;
}

/* ---- what was merged ------------------------------------------------------------------------- */

static struct ta_merged describe(const struct ta_merge *merge)
{
    struct ta_merged merged = {
        .traces = merge->n, .alignment = merge->alignment, .uncertainty_ns = TA_MISSING};
    for (size_t i = 0; i < merge->n; i++) {
        const struct ta_merge_trace *trace = &merge->traces[i];
        merged.kept += trace->counts.kept;
        merged.out_of_range += trace->counts.out_of_range;
        merged.of_category += trace->counts.of_category;
        merged.lost += trace->counts.lost;
        merged.moved_ns = ta_max_i64(merged.moved_ns, trace->clock.offset_ns);
        merged.uncertainty_ns = ta_max_i64(merged.uncertainty_ns, trace->uncertainty_ns);
    }
    return merged;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Progress of the second reading. */
struct progress {
    struct ta_run *run;
    uint64_t before, bytes; /* read before, and to read */
    size_t n;
};

static void show_progress(void *user, size_t traces_done)
{
    const struct progress *p = user;
    if (p->run->progress)
        p->run->progress(p->run->progress_user, atomic_load(&p->run->shared.read) - p->before,
                         p->bytes, traces_done, p->n);
}

static struct progress start_progress(struct ta_run *run, const struct ta_survey *survey)
{
    struct progress p = {.run = run, .before = atomic_load(&run->shared.read), .n = survey->n};
    for (size_t i = 0; i < survey->n; i++)
        p.bytes += survey->at[i].bytes;
    return p;
}

static enum ta_status merge_traces(struct ta_run *run, struct ta_survey *survey,
                                   enum ta_merge_format format, struct ta_sink *sink,
                                   struct ta_merged *merged)
{
    enum ta_status status = choose_traces(run, run->choice, survey);
    if (status != TA_OK)
        return status;
    struct progress p = start_progress(run, survey);
    struct ta_merge merge = {.traces = list_traces(survey),
                             .n = survey->n,
                             .categories = run->choice->categories,
                             .version = TA_VERSION,
                             .progress = show_progress,
                             .progress_user = &p};
    if (!merge.traces)
        return ta_fail(&run->ctx, TA_ERR_NOMEM, "Cannot hold the list of traces");
    status = ta_merge_align(run, survey, &merge);
    if (status == TA_OK)
        status = ta_merge_limit(run, run->choice, survey, &merge);
    if (status == TA_OK)
        status = write_file(run, &merge, format, sink);
    if (status == TA_OK)
        *merged = describe(&merge);
    free(merge.traces);
    return status;
}

/* The first reading: which traces there are, what is damaged, and what the options ask for. */
static enum ta_status survey_inputs(struct ta_run *run, struct ta_survey *survey)
{
    const struct ta_run_settings *set = &run->set;
    survey->needs_clocks = set->align == TA_ALIGN_AUTO || set->align == TA_ALIGN_COLLECTIVES;
    survey->needs_steps = set->steps;
    struct ta_run_options options;
    ta_run_reading(run, &options);
    options.only_reads = true;
    options.survey = survey;
    const enum ta_status status =
        ta_pipeline_run(&run->ctx, run->registry, &options, &run->made.report);
    run->report = run->made.report;
    if (status == TA_OK && run->report)
        ta_run_note_amount(run, run->report);
    return status;
}

enum ta_status ta_run_check_merge(struct ta_run *run)
{
    ta_merge_choice_free(run->choice);
    run->choice = calloc(1, sizeof *run->choice);
    return run->choice ? ta_merge_choose(run, run->choice)
                       : ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: options");
}

enum ta_status ta_run_merge(struct ta_run *run, enum ta_merge_format format, struct ta_sink *sink,
                            struct ta_merged *merged)
{
    struct ta_survey survey = {.n = 0};
    ta_run_forget(run);
    enum ta_status status = ta_run_check_merge(run);
    if (status == TA_OK)
        status = ta_run_check(run, TA_RUN_CHECK);
    if (status == TA_OK)
        status = survey_inputs(run, &survey);
    if (status == TA_OK)
        status = merge_traces(run, &survey, format, sink, merged);
    ta_arena_free(&survey.arena);
    return status;
}
