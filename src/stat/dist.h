/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a distribution. */
#ifndef TA_STAT_DIST_H
#define TA_STAT_DIST_H

#include "traceanalyze/stat.h"

/* Values below 2^TA_DIST_SUB_BITS have a bucket each, each octave above has as many. */
enum { TA_DIST_SUB_BITS = 7, TA_DIST_BUCKETS = (64 - TA_DIST_SUB_BITS) * (1 << TA_DIST_SUB_BITS) };

struct ta_dist {
    /* Figures of the first `n_summed` samples and of what is in buckets: adding a sample puts it
     * down and no more, ta_dist_settle() sums up. */
    uint64_t n;
    unsigned __int128 sum, squares; /* exact; squares wrap only beyond any real trace */
    int64_t min, max;
    /* Exact samples, at most TA_DIST_EXACT, or those that are not in their buckets yet.  Nearly all
     * are below 2^32 ns, and while all are, `wide` is NULL. */
    uint32_t *narrow;
    int64_t *wide;
    size_t n_samples, max_samples, n_summed, n_sorted; /* n_sorted: all of them, or 0 */
    uint64_t *buckets; /* counts of the histogram, TA_DIST_BUCKETS of them */
    bool failed;       /* out of memory: quantiles are incomplete */
};

static inline int64_t ta_dist_sample(const struct ta_dist *dist, size_t i)
{
    return dist->wide ? dist->wide[i] : dist->narrow[i];
}

void ta_dist_free(struct ta_dist *dist);

/* Adds all samples of `from`, which stays as it is. */
void ta_dist_merge(struct ta_dist *into, const struct ta_dist *from);

/* The same, but `from` may be emptied: its memory is taken over where `into` has none. */
void ta_dist_move(struct ta_dist *into, struct ta_dist *from);

/* Sums the samples up and puts them in order, or into buckets, so that reading needs no writing:
 * call before finish(). */
void ta_dist_settle(struct ta_dist *dist);

/* Calls `each` with ascending values and the number of samples at or below each; exact samples
 * as they are, histogram buckets by their midpoint. */
void ta_dist_walk(const struct ta_dist *dist,
                  void (*each)(void *user, int64_t value, int64_t at_or_below), void *user);

/* The same for about `steps` of them, evenly by count: enough for a curve.  The first and the last
 * are always there. */
void ta_dist_steps(const struct ta_dist *dist, int64_t steps,
                   void (*each)(void *user, int64_t value, int64_t at_or_below), void *user);

/* Interval that holds the quantile of what the samples were drawn from with at least that
 * confidence, as ta_quantile_interval() gives it; false where there are too few samples. */
bool ta_dist_quantile_interval(const struct ta_dist *dist, unsigned percent, double confidence,
                               int64_t *low, int64_t *high);

#endif
