/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of which one was recorded with more: recording operators, shapes and stacks slows the host,
 * so that a change of idle time may be the recorder's doing. */
#include "compare/cause.h"
#include "report/report.h"
#include "report/unit.h"
#include "traceanalyze/table.h"

#include <math.h>

/* A change by less is not worth a word about the recording. */
#define LEAST_CHANGE 0.02
/* Part of the change that idle time has to be. */
#define LEAST_IDLE 0.3

/* "operators, input shapes and Python stacks"; NULL for none of them. */
static const char *list_of(struct diff *diff, unsigned set)
{
    static const char *const names[] = {"operators", "input shapes", "Python stacks"};
    const char *text = NULL;
    for (unsigned i = 0; i < TA_LENGTH(names); i++) {
        const bool is_last = (set >> (i + 1)) == 0;
        if (set >> i & 1)
            text = ta_arena_printf(&diff->arena, "%s%s%s", text ? text : "",
                                   !text     ? ""
                                   : is_last ? " and "
                                             : ", ",
                                   names[i]);
    }
    return text;
}

void diff_find_recorded(struct diff *diff)
{
    const unsigned base = diff->recorded[TA_DIFF_BASE], new = diff->recorded[TA_DIFF_NEW];
    if (((base ^ new) & ~(unsigned)DIFF_RECORDED_SHAPES) == 0)
        return; /* which cost little by themselves */
    const char *more = list_of(diff, new & ~base), *less = list_of(diff, base & ~new);
    if (more && less)
        diff->recorded_text = ta_arena_printf(
            &diff->arena, "only the baseline recorded %s, only the new run %s", less, more);
    else if (more || less)
        diff->recorded_text = ta_arena_printf(&diff->arena, "only the %s recorded %s",
                                              more ? "new run" : "baseline", more ? more : less);
}

/* Change of the idle time of the window. */
static double idle_change(const struct diff *diff)
{
    double change = 0;
    for (size_t i = 0; i < diff->n_bars; i++)
        if (ta_slice_equal(diff->bars[i].kind, TA_LIT("idle")))
            change += (double)(diff->bars[i].ns[TA_DIFF_NEW] - diff->bars[i].ns[TA_DIFF_BASE]);
    return change;
}

/* Whether the run that recorded more is slower, for its GPU waits longer. */
static bool explains(const struct diff *diff, double idle)
{
    const unsigned base = diff->recorded[TA_DIFF_BASE], new = diff->recorded[TA_DIFF_NEW];
    const double before = (double)diff->window_ns[TA_DIFF_BASE];
    const double whole = (double)diff->window_ns[TA_DIFF_NEW] - before;
    const bool is_more = (new & ~base) != 0, is_less = (base & ~new) != 0;
    return is_more != is_less && is_more == (whole > 0) && fabs(whole) >= LEAST_CHANGE * before &&
           idle / whole >= LEAST_IDLE;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const double idle = idle_change(diff);
    if (!diff->recorded_text || diff->is_alien || diff->is_other_work || diff->n_bars == 0 ||
        !explains(diff, idle) || ta_report_kind(diff->out) != TA_REPORT_DIFF)
        return true;
    char time[TA_UNIT_TEXT_MAX];
    const char *title = ta_arena_printf(&diff->arena, "Recording explains part of the change: %s",
                                        diff->recorded_text);
    const char *why = ta_arena_printf(
        &diff->arena,
        "The GPU idles %s longer in the run with more recorded: recording slows its host.",
        ta_unit_format(time, fabs(idle), TA_UNIT_NS));
    const struct ta_evidence evidence = {.table = "diff.environment",
                                         .column = "new",
                                         .row = ta_text(TA_LIT("covers")),
                                         .value = ta_text(TA_LIT("differs")),
                                         .unit = TA_UNIT_NONE};
    diff->is_recorders = true;
    ta_add_finding(out, &(struct ta_finding){
                            .id = "recorded-differently",
                            .rule = "diff",
                            .title = title ? title : "",
                            .why = why,
                            .advice = "Record both runs with the same profiler options before "
                                      "acting on idle time. What the GPU computes can be compared "
                                      "as it is.",
                            .severity = TA_MEDIUM,
                            .evidence = &evidence,
                            .n_evidence = 1,
                            .saving_low_ns = TA_MISSING,
                            .saving_high_ns = TA_MISSING,
                            .confidence = 0.7,
                            .threshold = "the run with more recorded is slower, by 30 % or more in "
                                         "idle time"});
    return true;
}

const struct diff_part diff_of_recorded = {
    .declares = {.name = "diff.recorded"}, .section = "findings", .add = add};
