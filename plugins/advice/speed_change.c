/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop whose iterations take another time from one of them on. */
#include "lib/bars.h"

enum { RATIO };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 1.3, 1, 1e6, TA_OPTION_PLAIN,
               "Slower over faster iterations above which the rule fires"},
    TA_OPTIONS_END,
};

static const struct ta_ref reads[BAR_REFS] = {BAR_READS};

/* What the slower iterations take more than the faster ones would; 0 where the speed is even. */
static double lost_ns(const struct ta_refs *in, size_t row, double ratio)
{
    const double at = ta_ref_number(in, BAR_CHANGE, row, NAN);
    const double before = ta_ref_number(in, BAR_BEFORE, row, NAN);
    const double after = ta_ref_number(in, BAR_AFTER, row, NAN);
    if (isnan(at) || !(fmax(before, after) > ratio * fmin(before, after)))
        return 0;
    const double done = ta_ref_number(in, BAR_DONE, row, 0);
    return after > before ? (after - before) * (done - at + 1) : (before - after) * (at - 1);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double ratio = ta_ctx_option(ctx, RATIO);
    size_t worst = SIZE_MAX;
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, BAR_CHANGE); row++)
        if (lost_ns(in, row, ratio) > most) {
            most = lost_ns(in, row, ratio);
            worst = row;
        }
    if (worst == SIZE_MAX)
        return TA_OK;
    const struct ta_place at = ta_place_at(in, BAR_CHANGE, worst);
    const struct ta_place before = ta_place_at(in, BAR_BEFORE, worst);
    const struct ta_place after = ta_place_at(in, BAR_AFTER, worst);
    const struct ta_evidence evidence[] = {ta_place_evidence(&at), ta_place_evidence(&before),
                                           ta_place_evidence(&after)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "speed-change",
            .rule = "speed_change",
            .title = ta_advice_printf(
                advice, "From iteration %.0f on an iteration%s takes %s instead of %s%s", at.value,
                bar_of(advice, in, &at), ta_advice_number(advice, after.value, TA_UNIT_NS),
                ta_advice_number(advice, before.value, TA_UNIT_NS),
                ta_place_owner(advice, in->report, &at)),
            .advice =
                after.value > before.value
                    ? "Find what changed there: another model or more offloading (high and low "
                      "noise), guidance that begins, a cache that no longer answers, a clock that "
                      "falls with temperature, device memory that overflows into the host's. "
                      "`nvidia-smi dmon` beside the run tells the last two."
                    : "Find what the iterations before it do that later ones do not: compilation, "
                      "autotuning, loading, or guidance that ends. Warm up with the same shapes "
                      "if it is one of the first three.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = 0,
            .saving_high_ns = ta_whole(most),
            .confidence = 0.8,
            .threshold =
                ta_advice_printf(advice, "slower over faster iterations of a bar > %.3g", ratio),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, speed_change, &ops, .title = "Change of speed",
          .summary = "Fires when the iterations of a bar take another time from one of them on",
          .version = "1", .options = options);
