/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ranges of times and steps mean on the clock of the run. */
#include "run/merge.h"

#include <inttypes.h>

#include "report/report.h"

/* The earliest event of all, on the clock of the run. */
static int64_t start_of_run(const struct ta_surveyed *surveyed, const struct ta_merge *merge)
{
    int64_t start = INT64_MAX;
    for (size_t i = 0; i < merge->n; i++)
        if (surveyed[i].first_ns != TA_MISSING)
            start = ta_min_i64(start, ta_merge_time(&merge->traces[i].clock, surveyed[i].first_ns));
    return start == INT64_MAX ? 0 : start;
}

/* The number of "ProfilerStep#7", or -1. */
static int64_t step_number(struct ta_slice label)
{
    const char *mark = memchr(label.ptr, '#', label.len);
    int64_t number = -1;
    for (const char *p = mark ? mark + 1 : NULL; p && p < ta_slice_end(label); p++) {
        if (*p < '0' || *p > '9' || number > INT32_MAX)
            break;
        number = (number < 0 ? 0 : number * 10) + (*p - '0');
    }
    return number;
}

/* Widens [from, to) by the time of a row, since the origin of its trace, host and device. */
static void cover_step(const struct ta_table *steps, size_t row, int64_t *from, int64_t *to)
{
    static const char *const sides[][2] = {{"host_start_ns", "host_dur_ns"},
                                           {"gpu_start_ns", "gpu_dur_ns"}};
    for (size_t i = 0; i < 2; i++) {
        const double start = ta_row_number(steps, row, sides[i][0], -1);
        const double dur = ta_row_number(steps, row, sides[i][1], -1);
        if (start < 0 || dur < 0)
            continue;
        *from = ta_min_i64(*from, ta_whole(start));
        *to = ta_max_i64(*to, ta_add_sat(ta_whole(start), ta_whole(dur)));
    }
}

/* The wanted steps of a trace, on the clock of the run; an empty range when it has none. */
static void limit_to_steps(const struct ta_table *steps, const struct ta_span *wanted,
                           const struct ta_surveyed *surveyed, struct ta_merge_trace *trace)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t row = 0; row < steps->n_rows; row++) {
        const int64_t number = step_number(ta_row_text(steps, row, "step"));
        if (ta_whole(ta_row_number(steps, row, "rank", -1)) == trace->rank &&
            number >= wanted->first && number <= wanted->last)
            cover_step(steps, row, &from, &to);
    }
    const bool has_any = from < to;
    trace->from_ns = has_any ? ta_merge_time(&trace->clock, surveyed->origin_ns + from) : 0;
    trace->to_ns = has_any ? ta_merge_time(&trace->clock, surveyed->origin_ns + to) : 0;
}

static enum ta_status no_steps(struct ta_run *run, const struct ta_table *steps)
{
    if (!steps)
        return ta_fail(&run->ctx, TA_ERR_INPUT,
                       "These traces mark no steps (ProfilerStep#N): --steps=%s finds none, try "
                       "--time-range",
                       run->set.steps);
    int64_t least = INT64_MAX, most = 0;
    for (size_t row = 0; row < steps->n_rows; row++) {
        const int64_t number = step_number(ta_row_text(steps, row, "step"));
        least = ta_min_i64(least, number);
        most = ta_max_i64(most, number);
    }
    return ta_fail(&run->ctx, TA_ERR_INPUT,
                   "No trace has these steps: --steps=%s, marked are %" PRId64 " to %" PRId64,
                   run->set.steps, least, most);
}

static enum ta_status choose_steps(struct ta_run *run, const struct ta_span *wanted,
                                   const struct ta_surveyed *surveyed,
                                   const struct ta_report *report, struct ta_merge *merge)
{
    const struct ta_table *steps = ta_report_table(report, "steps.by_step");
    bool any = false;
    for (size_t i = 0; steps && i < merge->n; i++) {
        struct ta_merge_trace *trace = &merge->traces[i];
        if (trace->shares_rank)
            return ta_fail(&run->ctx, TA_ERR_USAGE,
                           "Several traces are of rank %" PRId64
                           ", such as \"%s\": with --steps give one per rank",
                           trace->rank, trace->shown);
        limit_to_steps(steps, wanted, &surveyed[i], trace);
        if (trace->from_ns == trace->to_ns)
            ta_log(&run->ctx, TA_LOG_WARNING, "\"%s\" has none of the steps of --steps=%s",
                   trace->shown, run->set.steps);
        any |= trace->from_ns < trace->to_ns;
    }
    return any ? TA_OK : no_steps(run, steps);
}

enum ta_status ta_merge_limit(struct ta_run *run, const struct ta_merge_choice *choice,
                              const struct ta_surveyed *surveyed, const struct ta_report *report,
                              struct ta_merge *merge)
{
    enum ta_status status = TA_OK;
    if (choice->steps.first != TA_MISSING)
        status = choose_steps(run, &choice->steps, surveyed, report, merge);
    const int64_t start = start_of_run(surveyed, merge);
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
