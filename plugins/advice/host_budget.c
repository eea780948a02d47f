/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denoising steps whose host needs nearly as long as the device: hidden now, and the bound of steps
 * that become shorter.  Where the host waits in each step it is hidden nowhere, which other rules
 * say. */
#include <traceanalyze/model.h>
#include <traceanalyze/rule.h>

#include <math.h>
#include <string.h>

enum { RATIO };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
               "Host time over GPU time of a denoising step above which the rule fires, as long as "
               "the GPU needs longer"},
    TA_OPTIONS_END,
};

enum { KIND, BOUND, HOST, LEAST, MOST, DEVICE, AHEAD, LAUNCHES, LARGEST, SHARE, WIDTH, HEIGHT };

static const struct ta_ref reads[] = {
    [KIND] = {"steps.host_budget", "kind"},
    [BOUND] = {"steps.host_budget", "bound"},
    [HOST] = {"steps.host_budget", "host_ns"},
    [LEAST] = {"steps.host_budget", "host_least_ns"},
    [MOST] = {"steps.host_budget", "host_most_ns"},
    [DEVICE] = {"steps.host_budget", "device_ns"},
    [AHEAD] = {"steps.host_budget", "run_ahead_ns"},
    [LAUNCHES] = {"steps.host_budget", "launches"},
    [LARGEST] = {"steps.host_budget", "largest"},
    [SHARE] = {"steps.host_budget", "largest_share"},
    [WIDTH] = {"steps.host_budget", "turn_width"},
    [HEIGHT] = {"steps.host_budget", "turn_height"},
};

/* What the host needs: without what recording takes of it, where that is known. */
static double host_of(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, MOST, row, ta_ref_number(in, HOST, row, 0));
}

/* The row of the rank whose host is nearest to its device, which needs longer; SIZE_MAX without. */
static size_t nearest(const struct ta_refs *in, double least)
{
    size_t found = SIZE_MAX;
    double most = least;
    for (size_t i = 0; i < ta_ref_rows(in, KIND); i++) {
        const double ratio = host_of(in, i) / ta_ref_number(in, DEVICE, i, INFINITY);
        if (ta_ref_integer(in, KIND, i) != 0 || !ta_ref_reads(in, BOUND, i, "device") ||
            ta_ref_number(in, AHEAD, i, 0) <= TA_FRONT_END_NS || ratio <= most)
            continue;
        most = ratio;
        found = i;
    }
    return found;
}

static const char *time_of(struct ta_advice *advice, double ns)
{
    return ta_advice_number(advice, ns, TA_UNIT_NS);
}

static const char *why(const struct ta_refs *in, struct ta_advice *advice,
                       const struct ta_place *place)
{
    const double width = ta_ref_number(in, WIDTH, place->row, 0);
    const double share = ta_ref_number(in, SHARE, place->row, NAN);
    const char *name = ta_place_text(advice, in, place, LARGEST);
    const char *part = ta_advice_number(advice, share, TA_UNIT_RATIO);
    /* A range with a number is the step itself. */
    const bool is_step = *name == 0 || name[strlen(name) - 1] == '*';
    const char *largest =
        isnan(share) ? ""
        : is_step ? ta_advice_printf(advice, "%s of the host's time is in no recorded call. ", part)
                  : ta_advice_printf(advice, "%s takes %s of the host's time. ", name, part);
    const char *at_size = width > 0
                              ? ta_advice_printf(advice, " Both need the same at about %.0f×%.0f.",
                                                 width, ta_ref_number(in, HEIGHT, place->row, 0))
                              : "";
    return ta_advice_printf(advice,
                            "%sThe host runs ahead, so that its %.0f launches of a step cost "
                            "nothing now.%s",
                            largest, ta_ref_number(in, LAUNCHES, place->row, 0), at_size);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, RATIO);
    const size_t row = nearest(in, least);
    if (row == SIZE_MAX)
        return TA_OK;
    const double host = host_of(in, row), device = ta_ref_number(in, DEVICE, row, 0);
    const bool is_slowed = !isnan(ta_ref_number(in, MOST, row, NAN));
    const struct ta_place place = ta_place_at(in, is_slowed ? MOST : HOST, row);
    const struct ta_evidence evidence[] = {ta_place_evidence(&place),
                                           ta_ref_evidence(in, DEVICE, row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-near-bound",
            .rule = "host_budget",
            .title = ta_advice_printf(advice,
                                      "The host needs %s%s for a denoising step, the GPU %s: a "
                                      "step shorter than %s would wait for the host%s",
                                      is_slowed ? "up to " : "", time_of(advice, host),
                                      time_of(advice, device), time_of(advice, host),
                                      ta_place_owner(advice, in->report, &place)),
            .why = why(in, advice, &place),
            .advice = ta_advice_printf(
                advice,
                "Before you make steps shorter (a smaller picture, a step cache, a faster "
                "GPU) let the host launch less: capture the step in a %s "
                "(torch.compile(mode=\"reduce-overhead\")), or compile the denoiser as a "
                "whole.",
                ta_run_is_amd(ta_report_run(in->report)) ? "HIP graph, which torch calls CUDAGraph"
                                                         : "CUDA graph"),
            .severity = TA_INFO,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = is_slowed ? 0.5 : 0.8,
            .threshold = ta_advice_printf(advice, "host over GPU > %s",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_budget, &ops, .title = "Little headroom of the host",
          .summary = "Fires when the host needs much of the GPU's time for a denoising step, so "
                     "that faster steps would wait for it",
          .version = "1", .options = options);
