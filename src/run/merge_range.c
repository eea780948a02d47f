/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ranges of times and steps mean on the clock of the run. */
#include "run/merge.h"

#include <inttypes.h>

/* The earliest event of all, on the clock of the run. */
static int64_t start_of_run(const struct ta_surveyed *surveyed, const struct ta_merge *merge)
{
    int64_t start = INT64_MAX;
    for (size_t i = 0; i < merge->n; i++)
        if (surveyed[i].first_ns != TA_MISSING)
            start =
                ta_min_i64(start, ta_clock_forth(&merge->traces[i].clock, surveyed[i].first_ns));
    return start == INT64_MAX ? 0 : start;
}

/* Widens [from, to) by a time since the origin of the trace. */
static void widen(int64_t start, int64_t end, int64_t *from, int64_t *to)
{
    *from = ta_min_i64(*from, start);
    *to = ta_max_i64(*to, end);
}

/* The wanted steps of a trace, on the clock of the run, host and device; an empty range when it has
 * none. */
static void limit_to_steps(const struct ta_survey *survey, const struct ta_span *wanted,
                           const struct ta_surveyed *surveyed, struct ta_merge_trace *trace)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t i = 0; i < survey->n_steps; i++) {
        const struct ta_step *step = &survey->steps[i];
        if (step->rank != trace->rank || step->number < wanted->first ||
            step->number > wanted->last)
            continue;
        widen(step->host_start, ta_add_sat(step->host_start, step->host_dur), &from, &to);
        if (step->gpu_start != TA_MISSING)
            widen(step->gpu_start, step->gpu_end, &from, &to);
    }
    const bool has_any = from < to;
    trace->from_ns = has_any ? ta_clock_forth(&trace->clock, surveyed->origin_ns + from) : 0;
    trace->to_ns = has_any ? ta_clock_forth(&trace->clock, surveyed->origin_ns + to) : 0;
}

static enum ta_status no_steps(struct ta_run *run, const struct ta_survey *survey)
{
    int64_t least = INT64_MAX, most = 0;
    if (survey->n_steps == 0)
        return ta_fail(&run->ctx, TA_ERR_INPUT,
                       "These traces mark no steps: --steps=%s finds none, try --time-range or "
                       "--step-marker",
                       run->set.steps);
    for (size_t i = 0; i < survey->n_steps; i++) {
        least = ta_min_i64(least, survey->steps[i].number);
        most = ta_max_i64(most, survey->steps[i].number);
    }
    return ta_fail(&run->ctx, TA_ERR_INPUT,
                   "No trace has these steps: --steps=%s, marked are %" PRId64 " to %" PRId64,
                   run->set.steps, least, most);
}

static enum ta_status choose_steps(struct ta_run *run, const struct ta_span *wanted,
                                   const struct ta_survey *survey, struct ta_merge *merge)
{
    bool any = false;
    for (size_t i = 0; survey->n_steps && i < merge->n; i++) {
        struct ta_merge_trace *trace = &merge->traces[i];
        if (trace->shares_rank)
            return ta_fail(&run->ctx, TA_ERR_USAGE,
                           "Several traces are of rank %" PRId64
                           ", such as \"%s\": with --steps give one per rank",
                           trace->rank, trace->shown);
        limit_to_steps(survey, wanted, &survey->at[i], trace);
        if (trace->from_ns == trace->to_ns)
            ta_log(&run->ctx, TA_LOG_WARNING, "\"%s\" has none of the steps of --steps=%s",
                   trace->shown, run->set.steps);
        any |= trace->from_ns < trace->to_ns;
    }
    return any ? TA_OK : no_steps(run, survey);
}

enum ta_status ta_merge_limit(struct ta_run *run, const struct ta_merge_choice *choice,
                              const struct ta_survey *survey, struct ta_merge *merge)
{
    enum ta_status status = TA_OK;
    if (choice->steps.first != TA_MISSING)
        status = choose_steps(run, &choice->steps, survey, merge);
    const int64_t start = start_of_run(survey->at, merge);
    for (size_t i = 0; choice->from_ns != TA_MISSING && i < merge->n; i++) {
        struct ta_merge_trace *trace = &merge->traces[i];
        const int64_t from = ta_add_sat(start, choice->from_ns);
        const int64_t to = ta_add_sat(start, choice->to_ns);
        const bool is_limited = trace->from_ns != TA_MISSING;
        trace->from_ns = is_limited ? ta_max_i64(from, trace->from_ns) : from;
        trace->to_ns = is_limited ? ta_min_i64(to, trace->to_ns) : to;
    }
    return status;
}
