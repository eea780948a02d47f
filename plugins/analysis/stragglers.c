/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stragglers.by_rank: how late each rank is to the collectives that all have to enter. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

/* So many ranks come in their order; of more, the worst come first. */
enum { IN_ORDER_MOST = 64 };

enum {
    RANK,
    IS_LATE,
    EXCESS,
    COST_NS,
    COST_STEP_NS,
    SINCE,
    SINCE_NS,
    SINCE_STEP,
    LAST_ARRIVALS,
    COLLECTIVES,
    LAST_SHARE,
    MEAN_LATENESS_NS,
    MAX_LATENESS_NS,
    WAIT_NS,
    OWN_NS,
    HOST_LATE_NS,
    HELD_UP_NS,
    Z,
    P_VALUE
};
static const struct ta_column by_rank_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [IS_LATE] =
        {"is_late", "Straggler", TA_FLAG, .better = TA_LOWER,
         .doc = "Whether the rank is a straggler: slower by at least 2 %, modified z above 3.5 "
                "(with fewer than five ranks: slower by more than 10 %), and p below 0.05"},
    [EXCESS] = {"excess", "Slower by", TA_RATIO, .better = TA_LOWER,
                .doc = "Own time minus its peers' own time, divided by the peers' time; the peers "
                       "are the other ranks that reach the same collective at the same place in "
                       "the program from the same previous one, and their median counts. Empty "
                       "without peers, such as for a pipeline stage without replicas"},
    [COST_NS] =
        {"cost_ns", "Cost", TA_NS, .better = TA_LOWER, .read_as = TA_AS_RANK_COST,
         .doc =
             "How much shorter the run would be if this late rank took as long as its peers, from "
             "replaying the collectives. If ranks of its groups were not read, all of its extra "
             "time, since the waiting of the others is unknown. Empty if the rank is not late"},
    [COST_STEP_NS] = {"cost_step_ns", "Cost per step", TA_NS, .better = TA_LOWER,
                      .doc = "Cost over the profiler steps that were recorded"},
    [SINCE] = {"since", "Late since", TA_WORD, .role = TA_NOTE,
               .doc =
                   "For a late rank: start, or change if its extra time before a change point "
                   "(PELT) is less than a quarter of that after it; empty if the rank is not late"},
    [SINCE_NS] = {"since_ns", "Late since (time)", TA_NS, .role = TA_NOTE,
                  .doc = "Time at which the rank became late, since its first collective; empty if "
                         "late from the start"},
    [SINCE_STEP] =
        {"since_step", "Since step", TA_INTEGER, .role = TA_NOTE,
         .doc = "Profiler step in which the rank became late; empty if late from the start"},
    [LAST_ARRIVALS] =
        {"last_arrivals", "Last", TA_COUNT, .better = TA_LOWER, .weight = 0.6,
         .doc =
             "Collectives that the rank entered last, by more than the uncertainty of the clocks"},
    [COLLECTIVES] = {"collectives", "Collectives", TA_COUNT,
                     .doc = "Collectives of the rank with other ranks that no rank can leave "
                            "before all have entered"},
    [LAST_SHARE] = {"last_share", "Last %", TA_RATIO, .better = TA_LOWER,
                    .doc = "Collectives entered last divided by all its collectives"},
    [MEAN_LATENESS_NS] =
        {"mean_lateness_ns", "Mean lateness", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.9,
         .doc = "Mean time from the first rank's entry to its own, on a common clock"},
    [MAX_LATENESS_NS] = {"max_lateness_ns", "Max lateness", TA_NS, .better = TA_LOWER,
                         .weight = 0.3,
                         .doc = "Longest time from the first rank's entry to its own"},
    [WAIT_NS] = {"wait_ns", "Waits", TA_NS, .better = TA_LOWER, .weight = 0.6,
                 .read_as = TA_AS_RANK_WAIT,
                 .doc = "Time in these collectives before the last rank entered"},
    [OWN_NS] = {"own_ns", "Own time", TA_NS, .better = TA_LOWER, .weight = 0.9,
                .doc = "Time between collectives, from the end of one to the entry into the next: "
                       "what the rank itself takes"},
    [HOST_LATE_NS] =
        {"host_late_ns", "Launch delay (host)", TA_NS, .better = TA_LOWER,
         .doc = "Part of its own time in which the device is idle because the host has launched "
                "nothing; a rank that neither computes longer nor waits may lose its time here"},
    [HELD_UP_NS] = {"held_up_ns", "Caused waiting", TA_NS, .better = TA_LOWER, .weight = 0.9,
                    .doc = "How much earlier the collectives that it entered last would have begun "
                           "if it had taken as long as the typical rank: its delay after the "
                           "second-to-last rank, at most its own extra time"},
    [Z] = {"z", "Modified z", TA_NUMBER, .better = TA_LOWER, .role = TA_NOTE,
           .doc = "Slower-by minus the median of all ranks, in 1.48 median absolute deviations; "
                  "empty below five ranks"},
    [P_VALUE] =
        {"p_value", "p", TA_NUMBER, .role = TA_NOTE,
         .doc = "Probability that some rank is the slowest this often if all ranks are alike: the "
                "smaller of two binomial tails times the number of ranks, over the collectives and "
                "over the steps that make up nine tenths of the slowest ranks' extra time. From 32 "
                "ranks on, the collectives of a rank in one step count as one event, and how often "
                "it is among the slowest sixteenth counts as well"},
};

static const struct ta_chart_def chart = {
    .id = "straggler",
    .title = "Waiting for other ranks",
    .caption = "Time that each rank waits in collectives for the last one, and its own time before "
               "them. The others wait for the rank that hardly waits.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_rank_columns[RANK]},
    .y = {{&by_rank_columns[WAIT_NS], "Waiting", TA_INK_WAIT},
          {&by_rank_columns[OWN_NS], "Own time", TA_INK_COMPUTE}},
};

static const struct ta_table_def by_rank = {
    "stragglers.by_rank",
    "Lateness by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank that has collectives with others on a common clock. A straggler needs "
           "both magnitude and persistence: either alone is common among ranks that are all alike. "
           "Both are measured on the time that a rank takes for itself between collectives, "
           "compared with its peers: ranks that do the same work there, in its group or in another "
           "one, such as replicas. Peers reach a collective, or a transfer between two ranks, from "
           "the same previous one, each at the same place in the sequence of its group. Up to 64 "
           "ranks are in rank order; with more, late ones come first, then those with the most "
           "extra time. Chart `straggler`.",
    .chart = {&chart},
    .rank_words = "Collectives",
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){
        .place = 190,
        .rows = 8,
        .largest = &by_rank_columns[HELD_UP_NS],
        .first = {&by_rank_columns[LAST_ARRIVALS], &by_rank_columns[MEAN_LATENESS_NS],
                  &by_rank_columns[WAIT_NS], &by_rank_columns[HELD_UP_NS],
                  &by_rank_columns[HOST_LATE_NS], &by_rank_columns[SINCE]}}};

static void add_row(const struct ta_late_rank *r, struct ta_section_builder *out)
{
    const bool changed = r->is_late && !r->from_start;
    TA_ROW(out, by_rank, [RANK] = ta_int(r->rank), [IS_LATE] = ta_bool(r->is_late),
           [EXCESS] = ta_num(r->excess), [COST_NS] = r->is_late ? ta_int(r->cost) : ta_null(),
           [COST_STEP_NS] = r->is_late ? ta_int(r->cost_step) : ta_null(),
           [SINCE] = r->is_late ? ta_text(changed ? TA_LIT("change") : TA_LIT("start")) : ta_null(),
           [SINCE_NS] = changed ? ta_int(r->since_ns) : ta_null(),
           [SINCE_STEP] = changed && r->since_step >= 0 ? ta_int(r->since_step) : ta_null(),
           [LAST_ARRIVALS] = ta_int(r->last), [COLLECTIVES] = ta_int(r->n),
           [LAST_SHARE] = ta_share(r->last, r->n),
           [MEAN_LATENESS_NS] = ta_num(r->lateness / (double)r->n),
           [MAX_LATENESS_NS] = ta_int(r->most), [WAIT_NS] = ta_int(r->wait),
           [OWN_NS] = ta_int(r->own), [HOST_LATE_NS] = ta_int(r->host_late),
           [HELD_UP_NS] = ta_int(r->held_up), [Z] = ta_num(r->z), [P_VALUE] = ta_num(r->p));
}

/* Late ranks first, then those that take longest; without peers last. */
static int worst_first(const void *left, const void *right)
{
    const struct ta_late_rank *a = *(const struct ta_late_rank *const *)left;
    const struct ta_late_rank *b = *(const struct ta_late_rank *const *)right;
    if (a->is_late != b->is_late)
        return a->is_late ? -1 : 1;
    const double x = isnan(a->excess) ? -INFINITY : a->excess;
    const double y = isnan(b->excess) ? -INFINITY : b->excess;
    if (x != y)
        return x > y ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_lateness *lateness = &in->ranks->lateness;
    const struct ta_late_rank **order = calloc(lateness->n + 1, sizeof *order);
    for (size_t i = 0; order && i < lateness->n; i++)
        order[i] = &lateness->at[i];
    if (order && lateness->n > IN_ORDER_MOST)
        qsort(order, lateness->n, sizeof *order, worst_first);
    for (size_t i = 0; order && i < lateness->n; i++)
        if (order[i]->n > 0)
            add_row(order[i], out);
    const bool done = order;
    free(order);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot put the ranks in order");
}

static const struct ta_table_def *const tables[] = {&by_rank, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 1,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(
    analysis, stragglers, &ops, .title = "Late ranks",
    .summary =
        "How late each rank enters the collectives that all have to enter: stragglers.by_rank",
    .version = "1");
