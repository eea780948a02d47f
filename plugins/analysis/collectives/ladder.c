/* SPDX-License-Identifier: GPL-3.0-or-later */
/* efficiency.ladder: where the parallel efficiency of a run goes, as factors whose product it is
 * (POP model, with a term for the host).
 *
 *     T ≥ T1 ≥ T2 ≥ max u ≥ mean u        u: time in which a rank computes
 *
 * T is the longest window.  T1 is what is left of it when transfers take no time, T2 when besides
 * the host is never late.  Both are T less what a replay of the collectives saves. */
#include "replay.h"
#include "tables.h"

#include <math.h>

/* ---- the ladder ----------------------------------------------------------------------------- */

struct ladder {
    double whole, no_transfer, no_host, most, mean; /* T, T1, T2, max u, mean u */
    int64_t ranks;
};

/* From gpu_time.by_rank: windows and times of compute; a rank with several devices computes on
 * their average. */
static void read_devices(const struct ta_refs *in, struct ladder *l)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_COMPUTE); row++) {
        const double compute = ta_ref_number(in, GPU_COMPUTE, row, 0);
        l->whole = fmax(l->whole, ta_ref_number(in, GPU_WINDOW, row, 0));
        l->most = fmax(l->most, compute);
        sum += compute;
    }
    l->mean = sum / (double)ta_ref_rows(in, GPU_COMPUTE);
    l->ranks = (int64_t)ta_ref_rows(in, GPU_COMPUTE);
}

static bool climb(const struct coll_run *run, struct ladder *l)
{
    struct coll_replay *r = coll_replay_open(run);
    if (r) {
        const double actual = coll_replay_end(r, &(struct coll_change){0});
        const double no_transfer = coll_replay_end(r, &(struct coll_change){.no_transfer = true});
        const double no_host =
            coll_replay_end(r, &(struct coll_change){.no_transfer = true, .no_host = true});
        l->no_transfer = fmax(l->most, fmin(l->whole, l->whole - (actual - no_transfer)));
        l->no_host = fmax(l->most, fmin(l->no_transfer, l->whole - (actual - no_host)));
    }
    coll_replay_close(r);
    return r != NULL;
}

enum { TERM, EFFICIENCY, WITH, WITHOUT, LOSS, MEANING };
static const struct ta_column coll_ladder_columns[] = {
    [TERM] = {"term", "Efficiency", TA_WORD,
              .doc = "transfer, host, serialization, balance; parallel is their product"},
    [EFFICIENCY] = {"efficiency", "Value", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Time without the loss over the time with it; from 0.8 on acceptable"},
    [WITH] = {"with_ns", "With", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Time of the run with the loss"},
    [WITHOUT] = {"without_ns", "Without", TA_NS_MEAN,
                 .doc = "Time of the run without it: transfers that take no time; a host that is "
                        "never late; the time in which the rank computes that computes longest; "
                        "the mean over ranks of that time"},
    [LOSS] = {"loss_ns", "Loss", TA_NS_MEAN, .better = TA_LOWER, .doc = "The one less the other"},
    [MEANING] = {"meaning", "Meaning", TA_SENTENCE, .doc = "What is lost there"},
};

static const struct ta_chart_def chart = {
    .id = "efficiency-ladder",
    .title = "Where parallel efficiency goes",
    .caption = "Each rung is a factor of the parallel efficiency, the mean time in which ranks "
               "compute over the longest window; 80 % each is acceptable.",
    .kind = TA_CHART_BARS,
    .label = {&coll_ladder_columns[TERM]},
    .y = {{&coll_ladder_columns[EFFICIENCY], "Efficiency", TA_INK_SERIES_1}},
};

const struct ta_table_def coll_ladder = {"efficiency.ladder", "Parallel efficiency",
                                         TA_COLUMNS(coll_ladder_columns), .chart = {&chart}};

static void add_rung(struct ta_section_builder *out, const char *term, double with, double without,
                     const char *meaning)
{
    TA_ROW(out,
           coll_ladder, [TERM] = ta_text(ta_slice_of(term)), [EFFICIENCY] = ta_num(without / with),
           [WITH] = ta_num(with), [WITHOUT] = ta_num(without), [LOSS] = ta_num(with - without),
           [MEANING] = ta_text(ta_slice_of(meaning)));
}

bool coll_add_ladder(const struct coll_run *run, const struct ta_refs *in,
                     struct ta_section_builder *out)
{
    struct ladder l = {0};
    bool any = false;
    for (size_t i = 0; i < run->n_instances; i++)
        any |= run->instances[i].transfer != TA_MISSING;
    if (!any)
        return true;
    read_devices(in, &l);
    if (l.ranks < 2 || l.mean <= 0)
        return true;
    if (!climb(run, &l))
        return false;
    add_rung(out, "transfer", l.whole, l.no_transfer, "Data on its way that nothing covers");
    add_rung(out, "host", l.no_transfer, l.no_host,
             "Devices idle since their host has launched nothing");
    add_rung(out, "serialization", l.no_host, l.most,
             "Waiting for each other in turn, copies, and gaps on the device");
    add_rung(out, "balance", l.most, l.mean, "Ranks that compute less than the one with most");
    add_rung(out, "parallel", l.whole, l.mean,
             "All of it: the part of the longest window in which the average rank computes");
    return true;
}
