/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runs say about each pair of names. */
#include "compare/compare.h"

#include <math.h>

const struct diff_evidence diff_no_evidence = {(double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                               (double)NAN, (double)NAN, (double)NAN};

/* Of the time of either side; names with less are not tested, so that they do not cost the others
 * their power. */
#define LEAST_SHARE 0.001

static double sum_of(const struct diff_pairs *pairs, int side)
{
    double sum = 0;
    for (size_t i = 0; i < pairs->n; i++)
        if (pairs->at[i].item[side])
            sum += (double)pairs->at[i].item[side]->total_ns;
    return sum;
}

static bool counts(const struct diff_pair *pair, const double sums[TA_DIFF_SIDES])
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (pair->item[side] && (double)pair->item[side]->total_ns >= LEAST_SHARE * sums[side])
            return pair->item[TA_DIFF_BASE] && pair->item[TA_DIFF_NEW];
    return false;
}

/* The totals of all runs of a side; false when a run has the name not. */
static bool read_values(const struct diff *diff, const struct diff_item *item, int side,
                        double *values)
{
    for (size_t run = 0; run < diff->sides[side].n; run++) {
        if (item->run_ns[run] == TA_MISSING || item->run_ns[run] <= 0)
            return false;
        values[run] = (double)item->run_ns[run];
    }
    return true;
}

static bool judge(struct diff *diff, const char *figure, struct diff_pair *pair,
                  double *values[TA_DIFF_SIDES])
{
    struct ta_evidence_of_change evidence;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_values(diff, pair->item[side], side, values[side]))
            return true;
    const struct ta_slice name = pair->item[TA_DIFF_BASE]->name;
    const char *id = ta_arena_printf(&diff->arena, "%s%.*s", figure, (int)name.len, name.ptr);
    if (!id || !ta_evidence_of_runs(
                   diff->judging, id,
                   (struct ta_values){values[TA_DIFF_BASE], diff->sides[TA_DIFF_BASE].n},
                   (struct ta_values){values[TA_DIFF_NEW], diff->sides[TA_DIFF_NEW].n}, &evidence))
        return false;
    pair->evidence.ratio = evidence.ratio.value;
    pair->evidence.ci_low = evidence.ratio.low;
    pair->evidence.ci_high = evidence.ratio.high;
    pair->evidence.p = evidence.p;
    pair->evidence.spread = evidence.spread;
    pair->evidence.detectable = evidence.detectable;
    return true;
}

bool diff_judge_pairs(struct diff *diff, const char *figure, struct diff_pairs *pairs)
{
    const double sums[] = {sum_of(pairs, TA_DIFF_BASE), sum_of(pairs, TA_DIFF_NEW)};
    double *values[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        values[side] = ta_arena_alloc(&diff->arena, diff->sides[side].n * sizeof(double));
    double *p = ta_arena_alloc(&diff->arena, (pairs->n + 1) * sizeof *p);
    if (!values[TA_DIFF_BASE] || !values[TA_DIFF_NEW] || !p)
        return false;
    for (size_t i = 0; i < pairs->n; i++) {
        if (counts(&pairs->at[i], sums) && !judge(diff, figure, &pairs->at[i], values))
            return false;
        p[i] = pairs->at[i].evidence.p;
    }
    if (!ta_benjamini_hochberg(p, pairs->n, p))
        return false;
    for (size_t i = 0; i < pairs->n; i++)
        pairs->at[i].evidence.q = p[i];
    return true;
}
