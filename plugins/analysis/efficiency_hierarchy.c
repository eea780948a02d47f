/* SPDX-License-Identifier: GPL-3.0-or-later */
/* efficiency.ladder: the parallel efficiency of a run as a product of factors (POP model, with a
 * term for the host).
 *
 * T ≥ T1 ≥ T2 ≥ max u ≥ mean u, where u is the compute time of a rank.
 *
 * T is the longest window, T1 what remains of it if transfers take no time, and T2 if the host
 * is also never late.  Both are T minus what a replay of the collectives saves. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <math.h>

/* ---- the hierarchy -----------------------------------------------------------------------------
 */

struct hierarchy {
    double whole, no_transfer, no_host, most, mean; /* T, T1, T2, max u, mean u */
    int64_t ranks;
};

enum { GPU_WINDOW, GPU_COMPUTE };
static const struct ta_ref reads[] = {[GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
                                      [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"}};

/* From gpu_time.by_rank: windows and compute times; for a rank with several devices the mean
 * over them. */
static void read_devices(const struct ta_refs *in, struct hierarchy *h)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_COMPUTE); row++) {
        const double compute = ta_ref_number(in, GPU_COMPUTE, row, 0);
        h->whole = fmax(h->whole, ta_ref_number(in, GPU_WINDOW, row, 0));
        h->most = fmax(h->most, compute);
        sum += compute;
    }
    h->mean = sum / (double)ta_ref_rows(in, GPU_COMPUTE);
    h->ranks = (int64_t)ta_ref_rows(in, GPU_COMPUTE);
}

static bool replay(const struct ta_ranks *ranks, struct hierarchy *h)
{
    struct ta_replay *r = ta_replay_open(ranks);
    if (r) {
        const double actual = ta_replay_end(r, &(struct ta_replay_change){0});
        const double no_transfer =
            ta_replay_end(r, &(struct ta_replay_change){.no_transfer = true});
        const double no_host =
            ta_replay_end(r, &(struct ta_replay_change){.no_transfer = true, .no_host = true});
        h->no_transfer = fmax(h->most, fmin(h->whole, h->whole - (actual - no_transfer)));
        h->no_host = fmax(h->most, fmin(h->no_transfer, h->whole - (actual - no_host)));
    }
    ta_replay_close(r);
    return r != NULL;
}

enum { TERM, EFFICIENCY, WITH, WITHOUT, LOSS, MEANING };
static const struct ta_column hierarchy_columns[] = {
    [TERM] = {"term", "Efficiency", TA_WORD, .read_as = TA_AS_FACTOR,
              .doc = "Factor of the parallel efficiency: transfer, host, serialization or balance; "
                     "parallel is their product"},
    [EFFICIENCY] =
        {"efficiency", "Value", TA_RATIO, .better = TA_HIGHER, .read_as = TA_AS_FACTOR_EFFICIENCY,
         .doc = "Time without the loss divided by the time with it; 0.8 or more is acceptable"},
    [WITH] = {"with_ns", "Time with loss", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Duration of the run with the loss"},
    [WITHOUT] = {"without_ns", "Time without loss", TA_NS_MEAN,
                 .doc = "Duration of the run without the loss. transfer: transfers take no time; "
                        "host: the host is never late; serialization: compute time of the rank "
                        "that computes longest; balance: mean compute time of the ranks"},
    [LOSS] = {"loss_ns", "Loss", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Time with the loss minus time without it"},
    [MEANING] = {"meaning", "Meaning", TA_SENTENCE, .doc = "What the lost time is spent on"},
};

static const struct ta_chart_def chart = {
    .id = "efficiency-ladder",
    .title = "Parallel efficiency by factor",
    .caption =
        "The factors multiply to the parallel efficiency: mean compute time of the ranks over "
        "the longest window. 80 % each is acceptable.",
    .kind = TA_CHART_BARS,
    .label = {&hierarchy_columns[TERM]},
    .y = {{&hierarchy_columns[EFFICIENCY], "Efficiency", TA_INK_SERIES_1}},
};

static const struct ta_table_def hierarchy = {
    "efficiency.ladder",
    "Parallel efficiency",
    TA_COLUMNS(hierarchy_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per factor of the parallel efficiency, which is their product: T ≥ T₁ ≥ T₂ ≥ "
           "max u ≥ mean u, where T is the longest window, T₁ the window without transfers, T₂ "
           "also without a late host (both by a replay of the collectives), and u the compute time "
           "of a rank. Chart `efficiency-ladder`.",
    .chart = {&chart}};

static void add_factor(struct ta_section_builder *out, const char *term, double with,
                       double without, const char *meaning)
{
    TA_ROW(out,
           hierarchy, [TERM] = ta_text(ta_slice_of(term)), [EFFICIENCY] = ta_num(without / with),
           [WITH] = ta_num(with), [WITHOUT] = ta_num(without), [LOSS] = ta_num(with - without),
           [MEANING] = ta_text(ta_slice_of(meaning)));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_ranks *ranks = in->ranks;
    struct hierarchy h = {0};
    bool any = false;
    for (size_t i = 0; i < ranks->n_collectives; i++)
        any |= ranks->collectives[i].transfer != TA_MISSING;
    if (!any)
        return TA_OK;
    read_devices(in, &h);
    if (h.ranks < 2 || h.mean <= 0)
        return TA_OK;
    if (!replay(ranks, &h))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot go through the collectives once more");
    add_factor(out, "transfer", h.whole, h.no_transfer, "Transfers that no computation hides");
    add_factor(out, "host", h.no_transfer, h.no_host,
               "Devices idle because their host had not launched anything");
    add_factor(out, "serialization", h.no_host, h.most,
               "Ranks waiting for each other in turn, copies, and gaps on the device");
    add_factor(out, "balance", h.most, h.mean,
               "Ranks that compute less than the rank that computes most");
    add_factor(
        out, "parallel", h.whole, h.mean,
        "All factors together: the part of the longest window in which the average rank computes");
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&hierarchy, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 7,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
    TA_READS(reads),
};

TA_PLUGIN(analysis, efficiency_hierarchy, &ops, .title = "Parallel efficiency",
          .summary = "Parallel efficiency as a product of factors: efficiency.ladder",
          .version = "1");
