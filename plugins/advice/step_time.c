/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slow denoising steps. */
#include <traceanalyze/rule.h>

enum { LIMIT, HIGH };

static const struct ta_option options[] = {
    [LIMIT] = {"limit", TA_OPTION_NUMBER, 200e6, 0, 1e15, TA_OPTION_NS,
               "Mean time of a denoising step above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 1e9, 0, 1e15, TA_OPTION_NS,
              "Mean time of a denoising step above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { STEP, SOURCE, SHARE_OF, SHARE };

static const struct ta_ref reads[] = {
    [STEP] = {"diffusion.by_rank", "step_mean_ns"},
    [SOURCE] = {"stages.over_ranks", "source"},
    [SHARE_OF] = {"stages.over_ranks", "share_of"},
    [SHARE] = {"stages.over_ranks", "share"},
};

/* ": together they take 91 % of the session"; "" where no stage is made of them. */
static const char *together(const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t row = 0; row < ta_ref_rows(in, SHARE); row++) {
        const struct ta_place share = ta_place_at(in, SHARE, row);
        if (share.table && ta_ref_reads(in, SHARE_OF, row, "session") &&
            (ta_ref_reads(in, SOURCE, row, "steps") || ta_ref_reads(in, SOURCE, row, "blocks")))
            return ta_advice_printf(advice, ": denoising is %s of the session",
                                    ta_advice_number(advice, share.value, TA_UNIT_RATIO));
    }
    return "";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = STEP};
    const double limit = ta_ctx_option(ctx, LIMIT);
    struct ta_place step;
    if (!ta_look_worst(in, &look, &step) || step.value <= limit)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&step);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "step-time",
                  .rule = "step_time",
                  .title = ta_advice_printf(advice, "A denoising step takes %s on average%s%s",
                                            ta_advice_number(advice, step.value, TA_UNIT_NS),
                                            together(in, advice),
                                            ta_place_owner(advice, in->report, &step)),
                  .advice = "Record two steps with torch.profiler, which shows whether kernels, "
                            "launches or copies bound them.",
                  .severity = step.value > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "mean step > %s",
                                                ta_advice_number(advice, limit, TA_UNIT_NS)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, step_time, &ops, .title = "Slow denoising steps",
          .summary = "Fires when a denoising step takes long", .version = "1", .options = options);
