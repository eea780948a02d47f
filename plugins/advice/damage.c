/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings with damaged times, or without device work that was launched.
 *
 * What they hit was set apart before anything was computed, so other findings hold for the rest;
 * from a share on it is the first thing to know. */
#include <traceanalyze/rule.h>

#include <ctype.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
                   "Share of what was launched or recorded from which the rule fires for lost "
                   "kernels and activities out of order; damaged times always count"},
    TA_OPTIONS_END,
};

enum { DAMAGE, COUNT, OF, SHARE, RAW, KEPT, REASON };

static const struct ta_ref reads[] = {
    [DAMAGE] = {"health.damage", "damage"}, [COUNT] = {"health.damage", "count"},
    [OF] = {"health.damage", "of"},         [SHARE] = {"health.damage", "share"},
    [RAW] = {"health.damage", "raw_ns"},    [KEPT] = {"health.damage", "kept_ns"},
    [REASON] = {"health.damage", "reason"},
};

static const struct kind {
    const char *damage, *finding;
    const char *one, *many; /* after "1 of 8", "3 of 8" */
    const char *unknown, *advice;
    bool always;
} kinds[] = {
    {"no time", "damage-no-time", "spans was written without a time",
     "spans were written without a time", "nothing is known of them",
     "Record again with a newer version of the profiler, and fewer "
     "steps.",
     true},
    {"overlong", "damage-overlong", "GPU activities lasts longer than its stream allows",
     "GPU activities last longer than their stream allows", "they end where the next one starts",
     "Record again with a newer version of the profiler or driver.", true},
    {"graph replays lost", "damage-lost-graphs", "graph replays has no kernels",
     "graph replays have no kernels", "when the GPU is idle and why is unknown",
     "Record fewer replays or with a newer driver, or a few steps without graphs.", false},
    {"kernels lost", "damage-lost-kernels", "launches has no kernel", "launches have no kernel",
     "when the GPU is idle and why is unknown there",
     "Record fewer steps, after a step of warm-up: schedule(wait=1, warmup=1, active=3).", false},
    {"out of order", "damage-disorder",
     "GPU activities starts after what was launched later on its stream",
     "GPU activities start after what was launched later on their stream",
     "the idle time between them is unknown",
     "Record again with a newer version of the profiler or driver.", false},
};

/* Where it is worst, and how many of how many over all ranks. */
static bool find_worst(const struct ta_refs *in, const struct kind *kind, struct ta_place *worst,
                       double sums[4])
{
    const struct ta_look look = {.cells = SHARE, .where = {{DAMAGE, kind->damage}}};
    static const size_t columns[4] = {COUNT, OF, RAW, KEPT};
    for (int i = 0; i < 4; i++) {
        const struct ta_look all = {.cells = columns[i], .where = {{DAMAGE, kind->damage}}};
        sums[i] = ta_look_sum(in, &all, TA_MISSING);
    }
    return ta_look_worst(in, &look, worst);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    for (size_t i = 0; i < TA_LENGTH(kinds); i++) {
        const struct kind *kind = &kinds[i];
        struct ta_place worst;
        double sums[4];
        if (!find_worst(in, kind, &worst, sums) || (!kind->always && worst.value <= threshold) ||
            (strcmp(kind->damage, "kernels lost") == 0 && sums[0] <= 1 && worst.value < 0.25) ||
            ta_ref_reads(in, REASON, worst.row,
                         "their kernels may be among the spans without a time"))
            continue;
        const char *end = sums[2] > sums[3]
                              ? ta_advice_printf(advice, "the sum of all is %s, not %s",
                                                 ta_advice_number(advice, sums[3], TA_UNIT_NS),
                                                 ta_advice_number(advice, sums[2], TA_UNIT_NS))
                              : kind->unknown;
        const struct ta_slice reason = ta_ref_text(in, REASON, worst.row);
        const struct ta_place count = ta_place_beside(in, &worst, COUNT);
        const struct ta_evidence evidence[] = {ta_place_evidence(&count),
                                               ta_place_evidence(&worst)};
        ta_advise(
            advice,
            &(struct ta_finding){
                .id = kind->finding,
                .rule = "damage",
                .title = ta_advice_printf(advice, "%s of %s %s%s: %s",
                                          ta_advice_number(advice, sums[0], TA_UNIT_COUNT),
                                          ta_advice_number(advice, sums[1], TA_UNIT_COUNT),
                                          sums[0] == 1 ? kind->one : kind->many,
                                          ta_report_run(in->report)->n_ranks > 1
                                              ? ta_place_owner(advice, in->report, &worst)
                                              : "",
                                          end),
                .why = reason.len ? ta_advice_printf(advice, "%c%.*s.",
                                                     toupper((unsigned char)reason.ptr[0]),
                                                     (int)reason.len - 1, ta_slice_at(reason, 1))
                                  : NULL,
                .advice = kind->advice,
                .severity = TA_MEDIUM,
                .evidence = evidence,
                .n_evidence = 2,
                .saving_low_ns = TA_MISSING,
                .saving_high_ns = TA_MISSING,
                .confidence = 1,
                .about_input = true,
                .threshold = kind->always ? "any"
                                          : ta_advice_printf(
                                                advice, "share > %s",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
            });
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, damage, &ops, .title = "Damaged recording",
          .summary = "Fires when times are damaged, or device work that was launched is missing",
          .version = "1", .options = options);
