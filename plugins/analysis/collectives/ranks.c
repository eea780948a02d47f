/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stragglers.by_rank: how late each rank is to the collectives that all have to enter. */
#include "tables.h"

#include <math.h>

/* So many ranks come in their order; of more, the worst come first. */
enum { IN_ORDER_MOST = 64 };

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    {"is_late", "Late", TA_TYPE_BOOLEAN, TA_UNIT_NONE, TA_LOWER,
     "The verdict: z above 3.5 (of fewer than five ranks: excess above 10 %), excess of at least "
     "2 %, and p below 0.05"},
    {"excess", "Excess", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Own time beyond that of its peers, over theirs: of each collective the median of the other "
     "ranks that come to the same place of the program from the same place before. None without "
     "peers, such as of a pipeline stage that has no replicas"},
    TA_NS_COLUMN(
        "cost_ns", "Cost", TA_LOWER,
        "Of late ranks: by how much the run would be shorter had the rank taken as long as "
        "its peers; the collectives are gone through once more, where each rank goes on "
        "when the last one has come. All of its excess where ranks of its groups were not "
        "read, since how long others waited for these is not known"),
    TA_NS_COLUMN("cost_step_ns", "Cost per step", TA_LOWER,
                 "The same over the steps of the profiler that it was recorded in"),
    {"since", "Since", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "Of late ranks: start, or change where the excess before a change point (PELT) is less than a "
     "quarter of that behind it"},
    TA_NS_COLUMN("since_ns", "Since (time)", TA_NEUTRAL,
                 "When it changed, since the first collective of the rank"),
    {"since_step", "Since step", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "In which step of the profiler"},
    TA_COUNT_COLUMN(
        "last_arrivals", "Last", TA_LOWER,
        "Collectives that the rank was the last to enter, beyond the uncertainty of the "
        "clocks"),
    TA_COUNT_COLUMN("collectives", "Collectives", TA_NEUTRAL,
                    "Its collectives with other ranks that nobody can leave before all have "
                    "entered"),
    {"last_share", "Last %", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER, "The one over the other"},
    {"mean_lateness_ns", "Mean lateness", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Mean time from the start of the first rank to its own, on one clock"},
    TA_NS_COLUMN("max_lateness_ns", "Most lateness", TA_LOWER, "The longest of these"),
    TA_NS_COLUMN("wait_ns", "Waits", TA_LOWER,
                 "Time in these collectives before the last one came"),
    TA_NS_COLUMN("own_ns", "Own time", TA_LOWER,
                 "Time before these collectives, each since the end of the collective before: what "
                 "the rank itself takes"),
    TA_NS_COLUMN("host_late_ns", "Host late", TA_LOWER,
                 "Part of it in which the device is idle since the host has launched nothing. A "
                 "rank that computes no longer than others and waits little has it here"),
    TA_NS_COLUMN(
        "held_up_ns", "Held up", TA_LOWER,
        "Time by which the collectives that it entered last would have begun earlier had it "
        "taken as long as the typical rank: from the second last to it, at most its own "
        "excess"),
    {"z", "Modified z", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_LOWER,
     "Excess less the median of all ranks, in 1.48 median absolute deviations; none for fewer than "
     "five ranks"},
    {"p_value", "p", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL,
     "Probability that some rank takes longest so often while all are alike: of the collectives, "
     "and of the steps, that make up nine tenths of the excess of those who take longest, the "
     "smaller binomial tail times ranks. Of 32 ranks or more the collectives of one rank in one "
     "step are one event, and how often it is among the slowest sixteenth counts as well"},
};

static const struct ta_chart chart = {
    .id = "straggler",
    .title = "Who waits for whom",
    .caption =
        "Waiting of each rank in collectives for the last one, and its own time before them: "
        "the rank that hardly waits is the one others wait for.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank"},
    .y = {{"wait_ns", "Waiting", TA_INK_IDLE}, {"own_ns", "Own time", TA_INK_COMPUTE}},
};

static void add_row(const struct coll_rank *r, struct ta_table_builder *table)
{
    const bool changed = r->is_late && !r->from_start;
    TA_ROW(table, ta_int(r->rank), ta_bool(r->is_late), ta_num(r->excess),
           r->is_late ? ta_int(r->cost) : ta_null(), r->is_late ? ta_int(r->cost_step) : ta_null(),
           r->is_late ? ta_text(changed ? TA_LIT("change") : TA_LIT("start")) : ta_null(),
           changed ? ta_int(r->since_ns) : ta_null(),
           changed && r->since_step >= 0 ? ta_int(r->since_step) : ta_null(), ta_int(r->last),
           ta_int(r->n), ta_share(r->last, r->n), ta_num(r->lateness / (double)r->n),
           ta_int(r->most), ta_int(r->wait), ta_int(r->own), ta_int(r->host_late),
           ta_int(r->held_up), ta_num(r->z), ta_num(r->p));
}

/* Late ranks first, then those that take longest; without peers last. */
static int worst_first(const void *left, const void *right)
{
    const struct coll_rank *a = *(const struct coll_rank *const *)left;
    const struct coll_rank *b = *(const struct coll_rank *const *)right;
    if (a->is_late != b->is_late)
        return a->is_late ? -1 : 1;
    const double x = isnan(a->excess) ? -INFINITY : a->excess;
    const double y = isnan(b->excess) ? -INFINITY : b->excess;
    if (x != y)
        return x > y ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

bool coll_add_ranks(const struct coll_ranks *ranks, struct ta_section_builder *out)
{
    struct ta_table_builder *table = ta_add_table(out, "stragglers.by_rank", "Lateness by rank",
                                                  columns, sizeof columns / sizeof *columns);
    const struct coll_rank **order = calloc(ranks->n + 1, sizeof *order);
    for (size_t i = 0; order && i < ranks->n; i++)
        order[i] = &ranks->at[i];
    if (order && ranks->n > IN_ORDER_MOST)
        qsort(order, ranks->n, sizeof *order, worst_first);
    for (size_t i = 0; order && i < ranks->n; i++)
        if (order[i]->n > 0)
            add_row(order[i], table);
    ta_add_chart(table, &chart);
    const bool done = order;
    free(order);
    return done;
}
