/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GEMMs, convolutions and generated kernels with too few blocks for the device, or a last wave that
 * is mostly empty, where nothing better is known of them: of operators with known shapes the
 * roofline says what they reach of what is possible, of fp32 ones the tensor cores. Attention and
 * light kernels have rules of their own. */
#include "kernel.h"

enum { THRESHOLD, EFFICIENCY, SHARE };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that badly filled kernels lose, from which the rule fires"},
    [EFFICIENCY] = {"efficiency", TA_OPTION_NUMBER, 0.7, 0, 1, TA_OPTION_RATIO,
                    "Kernels below this efficiency are badly filled"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
               "Kernels with a smaller share of the run are left out"},
    TA_OPTIONS_END,
};

enum {
    NAME,
    KIND,
    FAMILY,
    WAVE_NAME,
    WAVE_TIME,
    WAVE_LOST,
    WAVE_EFFICIENCY,
    WAVE_UNDER,
    WAVE_CALLS,
    CLASS,
    CLASS_TIME,
    OP_CLASS,
    OP_CALLS,
    OP_BUSY,
    OP_EFFICIENCY,
    PRECISION_CLASS,
    VECTOR,
    RUN,
    DEVICE = RUN + RUN_REFS
};

static const struct ta_ref reads[] = {
    [NAME] = {"kernels.by_name", "name"},
    [KIND] = {"kernels.by_name", "kind"},
    [FAMILY] = {"kernels.by_name", "family"},
    [WAVE_NAME] = {"kernels.waves", "name"},
    [WAVE_TIME] = {"kernels.waves", "total_ns"},
    [WAVE_LOST] = {"kernels.waves", "lost_ns"},
    [WAVE_EFFICIENCY] = {"kernels.waves", "efficiency"},
    [WAVE_UNDER] = {"kernels.waves", "underfilled"},
    [WAVE_CALLS] = {"kernels.waves", "calls"},
    [CLASS] = {"kernels.by_class", "class"},
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [OP_CLASS] = {"roofline.by_op", "class"},
    [OP_CALLS] = {"roofline.by_op", "calls"},
    [OP_BUSY] = {"roofline.by_op", "busy_ns"},
    [OP_EFFICIENCY] = {"roofline.by_op", "efficiency"},
    [PRECISION_CLASS] = {"kernels.precision", "class"},
    [VECTOR] = {"kernels.precision", "vector_ns"},
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
};

/* Whether another rule speaks of kernels of a class: the one on tensor cores of most of them, or
 * the one on the roofline, with its thresholds, of what they lose. */
static bool is_spoken_for(const struct ta_refs *in, const struct kernel_run *run,
                          struct ta_slice class)
{
    double all = 0, lost = 0, vector = 0;
    for (size_t i = 0; i < ta_ref_rows(in, CLASS); i++)
        if (ta_slice_equal(ta_ref_text(in, CLASS, i), class))
            all = ta_ref_number(in, CLASS_TIME, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, OP_CLASS); i++) {
        const double time = ta_ref_number(in, OP_BUSY, i, 0);
        const double reached = ta_ref_number(in, OP_EFFICIENCY, i, 1);
        if (ta_slice_equal(ta_ref_text(in, OP_CLASS, i), class) && reached < 0.3 &&
            time * reached >= 3000 * ta_ref_number(in, OP_CALLS, i, 1))
            lost += time * (1 - reached / 0.6);
    }
    for (size_t i = 0; i < ta_ref_rows(in, PRECISION_CLASS); i++)
        if (ta_slice_equal(ta_ref_text(in, PRECISION_CLASS, i), class))
            vector += ta_ref_number(in, VECTOR, i, 0);
    return vector > 0.5 * all || kernel_share(run, lost) >= 0.02;
}

struct bad {
    double lost, most;
    size_t row, kernels;
};

/* Adds up the badly filled kernels that matter. */
static struct bad find_bad(const struct ta_refs *in, const struct kernel_run *run,
                           double efficiency, double share)
{
    struct bad bad = {0};
    for (size_t i = 0; i < ta_ref_rows(in, WAVE_EFFICIENCY); i++) {
        const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, WAVE_NAME, i));
        const double lost = ta_ref_number(in, WAVE_LOST, i, 0);
        if (kernel == SIZE_MAX || ta_ref_number(in, WAVE_EFFICIENCY, i, 1) >= efficiency ||
            !kernel_matters(run, ta_ref_number(in, WAVE_TIME, i, 0), share) ||
            (!ta_ref_reads(in, KIND, kernel, "gemm") && !ta_ref_reads(in, KIND, kernel, "conv") &&
             !ta_ref_reads(in, KIND, kernel, "triton")) ||
            is_spoken_for(in, run, ta_ref_text(in, KIND, kernel)))
            continue;
        bad.lost += lost;
        bad.kernels++;
        if (lost > bad.most) {
            bad.most = lost;
            bad.row = i;
        }
    }
    return bad;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    const struct bad bad =
        find_bad(in, &run, ta_ctx_option(ctx, EFFICIENCY), ta_ctx_option(ctx, SHARE));
    if (bad.kernels == 0 || !kernel_matters(&run, bad.lost, threshold))
        return TA_OK;
    const struct ta_place worst = ta_place_at(in, WAVE_EFFICIENCY, bad.row);
    const bool under =
        ta_ref_number(in, WAVE_UNDER, bad.row, 0) > 0.5 * ta_ref_number(in, WAVE_CALLS, bad.row, 0);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, WAVE_EFFICIENCY, bad.row),
                                           ta_ref_evidence(in, WAVE_LOST, bad.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "waves-underfilled",
            .rule = "kernel_waves",
            .title = ta_advice_printf(
                advice, "%s %s, which costs up to %s",
                bad.kernels == 1 ? "1 kernel does not fill"
                                 : ta_advice_printf(advice, "%zu kernels do not fill", bad.kernels),
                device.words, kernel_time(advice, &run, bad.lost)),
            .why = ta_advice_printf(
                advice, "%s %s and uses %s of the GPU's time.",
                ta_place_text(advice, in, &worst, WAVE_NAME),
                under ? ta_advice_printf(advice, "has fewer blocks than the GPU has %s",
                                         device.is_amd ? "compute units" : "SMs")
                      : "ends with a mostly empty last wave",
                ta_advice_number(advice, worst.value, TA_UNIT_RATIO)),
            .advice = under
                          ? "Give the kernel more blocks: more rows at once (a larger batch), "
                            "split-K, or "
                            "independent work on a second stream."
                          : "Choose a tile size that divides the work evenly (max-autotune does).",
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = 0,
            .saving_high_ns = kernel_saving(&run, bad.lost),
            .confidence = 0.4,
            .threshold = ta_advice_printf(
                advice, "kernels of efficiency < %s lose > %s of the run",
                ta_advice_number(advice, ta_ctx_option(ctx, EFFICIENCY), TA_UNIT_RATIO),
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_waves, &ops, .title = "Badly filled kernels",
          .summary = "Fires when kernels have too few blocks or a short last wave", .version = "1",
          .options = options);
