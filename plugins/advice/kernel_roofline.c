/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators whose kernels stay far below what the device can do for their shapes.  Makers' peaks
 * are out of reach: good kernels reach two thirds of the arithmetic and more of the memory. */
#include "kernel.h"

#include <math.h>

enum { THRESHOLD, COMPUTE, MEMORY };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time that such operators lose, from which the rule fires"},
    [COMPUTE] = {"compute", TA_OPTION_NUMBER, 0.3, 0.01, 0.5, TA_OPTION_RATIO,
                 "Share of the roofline below which operators are slow that arithmetic bounds; the "
                 "upper end of the saving is for twice that"},
    [MEMORY] = {"memory", TA_OPTION_NUMBER, 0.4, 0.01, 0.5, TA_OPTION_RATIO,
                "The same of operators that memory bounds"},
    TA_OPTIONS_END,
};

enum { CLASS_TIME, NAME, KERNELS, BUSY, BOUND, REACHED };

static const struct ta_ref reads[] = {
    [CLASS_TIME] = {"kernels.by_class", "total_ns"}, [NAME] = {"roofline.by_op", "name"},
    [KERNELS] = {"roofline.by_op", "kernels"},       [BUSY] = {"roofline.by_op", "busy_ns"},
    [BOUND] = {"roofline.by_op", "bound"},           [REACHED] = {"roofline.by_op", "efficiency"},
};

/* Shorter kernels do not live long enough to reach a peak: they are to be joined, not tuned. */
#define LEAST_KERNEL_NS 20000.0

/* The plainest kernel, without matrix units and in another type than its device is best at, reaches
 * several times this share.  Below it the recorded shape is hardly that of the work. */
#define LEAST_PLAUSIBLE 0.002

/* A share of the confidence that is left where all figures are implausible. */
#define DOUBTFUL 0.25

/* What such operators take, and would no longer. */
struct slow {
    double time, low, high, most; /* most: gain of the row `row` */
    double doubtful;              /* time of those whose figures are implausible */
    size_t row;
};

static void add_up(struct ta_ctx *ctx, const struct ta_refs *in, size_t row, struct slow *slow)
{
    const double time = ta_ref_number(in, BUSY, row, 0);
    const double efficiency = ta_ref_number(in, REACHED, row, NAN);
    const double goal =
        ta_ctx_option(ctx, ta_ref_reads(in, BOUND, row, "memory") ? MEMORY : COMPUTE);
    if (isnan(efficiency) || efficiency >= goal ||
        time < LEAST_KERNEL_NS * ta_ref_number(in, KERNELS, row, 1))
        return;
    const double high = time * (1 - efficiency / (2 * goal));
    slow->time += time;
    if (efficiency < LEAST_PLAUSIBLE)
        slow->doubtful += time;
    else
        slow->low += time * (1 - efficiency / goal);
    slow->high += high;
    if (high > slow->most) {
        slow->most = high;
        slow->row = row;
    }
}

/* What is to be checked first; "" where nothing is doubtful. */
static const char *doubts(struct ta_advice *advice, const struct slow *slow)
{
    if (slow->doubtful <= 0)
        return "";
    return ta_advice_printf(
        advice,
        " %s of that time is doubtful: it is at less than %s of the roofline, which the plainest "
        "kernel reaches several times over. The recorded shapes are hardly those of the work, or "
        "the kernels wait: look at them first.",
        ta_advice_number(advice, slow->doubtful / slow->time, TA_UNIT_RATIO),
        ta_advice_number(advice, LEAST_PLAUSIBLE, TA_UNIT_RATIO));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD), all = ta_ref_sum(in, CLASS_TIME);
    struct slow slow = {0};
    for (size_t row = 0; row < ta_ref_rows(in, BUSY); row++)
        add_up(ctx, in, row, &slow);
    if (all <= 0 || slow.high / all <= threshold)
        return TA_OK;
    const struct ta_slice name = ta_ref_text(in, NAME, slow.row);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, REACHED, slow.row),
                                           ta_ref_evidence(in, BUSY, slow.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "below-roofline",
            .rule = "kernel_roofline",
            .title = ta_advice_printf(
                advice,
                "Operators far below the roofline take %s of the kernel time (%s%s); %.*s loses "
                "most, at %s",
                ta_advice_number(advice, slow.time / all, TA_UNIT_RATIO),
                ta_advice_number(advice, slow.time, TA_UNIT_NS),
                kernel_all_ranks(in->report, advice), (int)name.len, name.ptr,
                ta_advice_number(advice, ta_ref_number(in, REACHED, slow.row, 0), TA_UNIT_RATIO)),
            .advice = ta_advice_printf(
                advice,
                "By its peak rates the device could be several times faster at these shapes. "
                "Try other kernels: "
                "torch.compile(mode=\"max-autotune\"), another backend (flash-attn or cuDNN "
                "for attention, CK or AITER on AMD), tuned products (TunableOp), "
                "channels_last for convolutions and norms of images; and sizes that are "
                "multiples of 64, larger batches, contiguous inputs.%s",
                doubts(advice, &slow)),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = kernel_saving(in->report, slow.low),
            .saving_high_ns = kernel_saving(in->report, slow.high),
            .confidence = 0.4 * (1 - (1 - DOUBTFUL) * slow.doubtful / slow.time),
            .threshold = ta_advice_printf(
                advice,
                "operators below %s of the roofline, %s where memory bounds them, lose > %s of "
                "the kernel time",
                ta_advice_number(advice, ta_ctx_option(ctx, COMPUTE), TA_UNIT_RATIO),
                ta_advice_number(advice, ta_ctx_option(ctx, MEMORY), TA_UNIT_RATIO),
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_roofline, &ops, .title = "Slow operators",
          .summary = "Fires when operators stay far below what the device can do", .version = "1",
          .options = options);
