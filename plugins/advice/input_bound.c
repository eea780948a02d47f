/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input-bound: the device waits while data is loaded. */
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum { CAUSE, CAUSE_TIME, SITE, SITE_CAUSE, SITE_TIME, WINDOW, RECORDER };

static const struct ta_ref reads[] = {
    [CAUSE] = {"gpu_idle.by_cause", "cause"},
    [CAUSE_TIME] = {"gpu_idle.by_cause", "total_ns"},
    [SITE] = {"gpu_idle.by_site", "site"},
    [SITE_CAUSE] = {"gpu_idle.by_site", "cause"},
    [SITE_TIME] = {"gpu_idle.by_site", "total_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    RECORDER_READS(RECORDER),
};

static const struct ta_look input_look = {.cells = CAUSE_TIME, .where = {{CAUSE, "data loading"}}};
static const struct ta_look window_look = {.cells = WINDOW};
static const struct ta_look site_look = {.cells = SITE_TIME,
                                         .where = {{SITE_CAUSE, "data loading"}}};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place input, window, site;
    if (!ta_look_worst(in, &input_look, &input) ||
        !ta_look_same(in, &window_look, &input, &window) || window.value <= 0 ||
        input.value / window.value <= threshold)
        return TA_OK;
    const double share = input.value / window.value;
    const bool is_known = ta_look_worst(in, &site_look, &site);
    const struct ta_recorded recorded = ta_recorder_of(in, RECORDER, "data loading", &input, 1);
    const struct ta_evidence evidence[] = {ta_place_evidence(&input), ta_place_evidence(&window)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "input-bound",
            .rule = "input_bound",
            .title = ta_advice_printf(
                advice, "The GPU%s waits %s of the program's window (%s) for data to be loaded%s%s",
                ta_place_owner(advice, in->report, &input),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, input.value, TA_UNIT_NS), is_known ? ", in " : "",
                is_known ? ta_place_text(advice, in, &site, SITE) : ""),
            .advice = "Load in other processes (num_workers, prefetch_factor, "
                      "persistent_workers), prepare the next batch while the device works, "
                      "and copy it from pinned memory without waiting.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(input.value * 0.8),
            .saving_high_ns = ta_whole(input.value),
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "data loading > %s of the window",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, input_bound, &ops, .title = "Input-bound",
          .summary = "Fires when a device waits while data is loaded", .version = "1",
          .options = options);
