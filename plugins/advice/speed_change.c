/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop whose iterations take another time from one of them on, or longer each later time it
 * runs. */
#include "lib/bars.h"

enum { RATIO };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 1.3, 1, 1e6, TA_OPTION_PLAIN,
               "Slower over faster iterations above which the rule fires"},
    TA_OPTIONS_END,
};

enum { LIMIT = BAR_REFS };

static const struct ta_ref reads[] = {BAR_READS, [LIMIT] = {"telemetry.limits", "limit"}};

/* What samples of the device say of it; NULL where they say nothing. */
static const char *what_goes_on(const struct ta_refs *in)
{
    static const struct {
        const char *limit, *sentence;
    } causes[] = {
        {"host_memory", "Samples of the GPU show that its memory overflows into host memory."},
        {"gpu_thermal_slowdown", "Samples of the GPU show that heat lowers its clock."},
        {"gpu_hardware_thermal_slowdown", "Samples of the GPU show that heat lowers its clock."},
        {"temperature", "Samples of the GPU show that heat lowers its clock."},
    };
    for (size_t i = 0; i < TA_LENGTH(causes); i++)
        for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
            if (ta_ref_reads(in, LIMIT, row, causes[i].limit))
                return causes[i].sentence;
    return NULL;
}

/* A second model call for guidance doubles the time of a step. */
static bool is_twice(double slow, double quick)
{
    return slow > 1.85 * quick && slow < 2.15 * quick;
}

/* What the slower iterations take more than the faster ones would; 0 where the speed is even. */
static double lost_ns(struct ta_ctx *ctx, const struct ta_refs *in, size_t row)
{
    const double ratio = ta_ctx_option(ctx, RATIO);
    const double at = ta_ref_number(in, BAR_CHANGE, row, NAN);
    const double before = ta_ref_number(in, BAR_BEFORE, row, NAN);
    const double after = ta_ref_number(in, BAR_AFTER, row, NAN);
    if (isnan(at) || !(fmax(before, after) > ratio * fmin(before, after)))
        return 0;
    const double done = ta_ref_number(in, BAR_DONE, row, 0);
    return after > before ? (after - before) * (done - at + 1) : (before - after) * (at - 1);
}

/* ---- loops that run again -------------------------------------------------------------------- */

static double mean_of(const struct ta_refs *in, size_t bar)
{
    return ta_ref_number(in, BAR_MEAN, bar, NAN);
}

/* Whether two bars are of one loop with as many iterations and as many weights in host memory. */
static bool is_alike(const struct ta_refs *in, size_t a, size_t b)
{
    const double here = ta_ref_number(in, BAR_OFFLOADED, a, -1);
    return ta_slice_equal(ta_ref_text(in, BAR_LOOP, a), ta_ref_text(in, BAR_LOOP, b)) &&
           ta_slice_equal(ta_ref_text(in, BAR_MODEL, a), ta_ref_text(in, BAR_MODEL, b)) &&
           ta_ref_number(in, BAR_DONE, a, 0) == ta_ref_number(in, BAR_DONE, b, 0) &&
           ta_ref_number(in, BAR_OFFLOADED, b, -1) == here;
}

/* What the bars after the first of a loop take more than that; 0 of another bar, or of a loop that
 * is as fast once more.  A loop that gets slower bit by bit is slower_runs.c's. */
static double lost_later_ns(struct ta_ctx *ctx, const struct ta_refs *in, size_t row)
{
    const double ratio = ta_ctx_option(ctx, RATIO), rounding = 1e9;
    double lost = 0;
    for (size_t bar = 0; bar < row; bar++)
        if (is_alike(in, bar, row))
            return 0;
    for (size_t bar = row + 1; bar < ta_ref_rows(in, BAR_DONE); bar++) {
        if (!is_alike(in, row, bar))
            continue;
        if (!(mean_of(in, bar) > ratio * mean_of(in, row)))
            return 0;
        lost += (mean_of(in, bar) - mean_of(in, row)) * ta_ref_number(in, BAR_DONE, bar, 0);
    }
    return lost > 3 * rounding ? lost : 0;
}

static size_t last_alike(const struct ta_refs *in, size_t row)
{
    size_t last = row;
    for (size_t bar = row + 1; bar < ta_ref_rows(in, BAR_DONE); bar++)
        last = is_alike(in, row, bar) ? bar : last;
    return last;
}

static void advise_later(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct bar_loss loss = bars_loss(ctx, in, lost_later_ns);
    if (loss.row == SIZE_MAX)
        return;
    const struct ta_place first = ta_place_at(in, BAR_MEAN, loss.row);
    const struct ta_place later = ta_place_at(in, BAR_MEAN, last_alike(in, loss.row));
    const struct ta_evidence evidence[] = {ta_place_evidence(&first), ta_place_evidence(&later)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "speed-change",
                  .rule = "speed_change",
                  .title = ta_advice_printf(
                      advice,
                      "The loop%s gets slower from run to run: an iteration takes %s, the first "
                      "time %s%s",
                      bar_of(advice, in, &first), ta_advice_number(advice, later.value, TA_UNIT_NS),
                      ta_advice_number(advice, first.value, TA_UNIT_NS),
                      ta_place_owner(advice, in->report, &first)),
                  .why = what_goes_on(in),
                  .advice =
                      "Compare memory in use and clocks of the first run and the last (nvidia-smi "
                      "dmon): free the models that stay on the GPU, or cool it.",
                  .details = "The usual causes are memory that overflows into the host's, "
                             "fragmentation, another program, or heat.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = ta_whole(0.5 * loss.most),
                  .saving_high_ns = ta_whole(1.05 * loss.most),
                  .confidence = 0.7,
                  .threshold = ta_advice_printf(advice, "later over first mean of a loop > %.3g",
                                                ta_ctx_option(ctx, RATIO)),
              });
}

/* ---- one loop -------------------------------------------------------------------------------- */

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct bar_loss loss = bars_loss(ctx, in, lost_ns);
    if (loss.row == SIZE_MAX) {
        advise_later(ctx, in, advice);
        return TA_OK;
    }
    const struct ta_place at = ta_place_at(in, BAR_CHANGE, loss.row);
    const struct ta_place before = ta_place_at(in, BAR_BEFORE, loss.row);
    const struct ta_place after = ta_place_at(in, BAR_AFTER, loss.row);
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
            .why = what_goes_on(in) ? what_goes_on(in)
                   : is_twice(fmax(after.value, before.value), fmin(after.value, before.value))
                       ? "A second model call for guidance would take twice the time."
                       : NULL,
            .advice = after.value > before.value
                          ? "Find what begins at that iteration: more offloading, guidance, a "
                            "cache that no longer "
                            "answers, a falling clock, or memory that overflows into the host's "
                            "(nvidia-smi dmon shows the last two)."
                          : "Find what ends at that iteration: compilation, autotuning, loading or "
                            "guidance; warm up "
                            "with the same shapes if it is one of the first three.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = ta_whole(loss.most / 3),
            .saving_high_ns = ta_whole(loss.most),
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "slower over faster iterations of a bar > %.3g",
                                          ta_ctx_option(ctx, RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(
    advice, speed_change, &ops, .title = "Change of speed",
    .summary =
        "Fires when the iterations of a progress bar become slower or faster from one of them on",
    .version = "1", .options = options);
