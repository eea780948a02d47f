/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encoders that run several times for one image, each time with the same kernels: as a prompt and
 * its negative one by one, which one batch could hold. */
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "Share of the run in encoders that run again from which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, PHASE, MODEL, CALLS, IMAGES, AGAIN, TIME, BUSY, WINDOW, DISPATCH, RECORDER };

static const struct ta_ref reads[] = {
    [RANK] = {"diffusion.encodes", "rank"},
    [PHASE] = {"diffusion.encodes", "phase"},
    [MODEL] = {"diffusion.encodes", "model"},
    [CALLS] = {"diffusion.encodes", "calls"},
    [IMAGES] = {"diffusion.encodes", "images"},
    [AGAIN] = {"diffusion.encodes", "again"},
    [TIME] = {"diffusion.encodes", "again_ns"},
    [BUSY] = {"diffusion.encodes", "again_busy_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"},
    RECORDER_READS(RECORDER),
};

/* The encoders of a rank, together. */
struct again {
    struct ta_place largest; /* the time of the one that takes most */
    double ns, busy, window;
    double models, calls, images;
};

static struct again again_of(const struct ta_refs *in, int64_t rank)
{
    static const struct ta_look windows = {.cells = WINDOW};
    struct again again = {.window = ta_look_most(in, &windows, rank)};
    for (size_t row = 0; row < ta_ref_rows(in, RANK); row++) {
        const struct ta_place time = ta_place_at(in, TIME, row);
        if (ta_ref_integer(in, RANK, row) != rank || !time.table)
            continue;
        again.ns += time.value;
        again.busy += ta_ref_number(in, BUSY, row, 0);
        again.models++;
        again.calls += ta_ref_number(in, CALLS, row, 0);
        again.images = fmax(again.images, ta_ref_number(in, IMAGES, row, 0));
        if (!again.largest.table || time.value > again.largest.value)
            again.largest = time;
    }
    return again;
}

/* What recording explains of the time that the device waits there. */
static struct ta_recorded recorded_of(const struct ta_refs *in, const struct again *again,
                                      double waits)
{
    const int64_t rank = ta_ref_rank(in, TIME, again->largest.row);
    for (size_t row = 0; row < ta_ref_rows(in, DISPATCH); row++) {
        const struct ta_place dispatch = ta_place_at(in, DISPATCH, row);
        if (ta_ref_rank(in, DISPATCH, row) == rank && dispatch.table && dispatch.value > 0)
            return ta_recorder_of(in, RECORDER, "dispatch", &dispatch,
                                  fmin(1, waits / dispatch.value));
    }
    return (struct ta_recorded){.ns = 0};
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct again *again,
                 double least)
{
    const double each = again->calls / again->models / fmax(1, again->images);
    const bool is_twice = each > 1.5 && each < 2.5;
    const bool is_text = ta_ref_reads(in, PHASE, again->largest.row, "text encode");
    const struct ta_evidence evidence[] = {ta_place_evidence(&again->largest),
                                           ta_ref_evidence(in, CALLS, again->largest.row)};
    /* A batch of both launches once, reads weights once, and fills the device better: measured, an
     * eighth of the work at least; the same prompt again needs no work, which is not known here. */
    const double waits = fmax(0, again->ns - again->busy);
    const struct ta_recorded recorded = recorded_of(in, again, waits);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "repeated-encodes",
            .rule = "repeated_encodes",
            .title = ta_advice_printf(
                advice, "%s for one image, with the same kernels: %s %s of the run (%s)%s",
                again->models > 1
                    ? ta_advice_printf(advice, "Each of %.0f encoders runs %s", again->models,
                                       is_twice ? "twice" : "several times")
                    : ta_advice_printf(advice, "%s runs %s",
                                       ta_place_text(advice, in, &again->largest, MODEL),
                                       is_twice ? "twice" : "several times"),
                is_twice && again->models < 2 ? "the second time takes" : "running again takes",
                ta_advice_number(advice, again->ns / again->window, TA_UNIT_RATIO),
                ta_advice_number(advice, again->ns, TA_UNIT_NS),
                ta_place_owner(advice, in->report, &again->largest)),
            .why = ta_advice_printf(
                advice, "Of these %s the GPU works for %s; %s takes the largest part (%s).",
                ta_advice_number(advice, again->ns, TA_UNIT_NS),
                ta_advice_number(advice, again->busy, TA_UNIT_NS),
                ta_place_text(advice, in, &again->largest, MODEL),
                ta_advice_number(advice, again->largest.value, TA_UNIT_NS)),
            .advice = is_text && is_twice
                          ? "Encode the prompt and its negative as one batch, and keep the "
                            "embedding of a negative prompt that stays the same."
                          : "Encode a repeated input once and keep its embedding; encode different "
                            "inputs as one batch.",
            .details =
                "The inputs are not recorded: the same kernels may have had different inputs.",
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(0.5 * waits + 0.12 * again->busy),
            .saving_high_ns = ta_whole(waits + 0.5 * again->busy),
            .steps_ns = is_text ? TA_OUTSIDE_LOOP : 0,
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "encoders that run again > %s of the run",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, SHARE);
    struct again worst = {.window = 0};
    for (size_t row = 0; row < ta_ref_rows(in, RANK); row++) {
        const struct again again = again_of(in, ta_ref_integer(in, RANK, row));
        if (again.largest.table && (!worst.largest.table || again.ns > worst.ns))
            worst = again;
    }
    if (worst.largest.table && worst.window > 0 && worst.ns > least * worst.window)
        give(in, advice, &worst, least);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, repeated_encodes, &ops, .title = "Repeated encoder calls",
          .summary = "Fires when an encoder runs several times for an image with the same kernels",
          .version = "1", .options = options);
