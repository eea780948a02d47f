/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking things up in united sets of intervals, and ordering times. */
#ifndef TA_STAT_INTERVAL_H
#define TA_STAT_INTERVAL_H

#include "traceanalyze/model.h"
#include "traceanalyze/stat.h"

/* Index of the first interval of a united set that ends after `time`; n when none does.
 * O(log n). */
size_t ta_intervals_behind(const struct ta_intervals *set, int64_t time);

/* The same, begun at a guess, such as what the last call gave: O(log d) when it is d away. */
size_t ta_intervals_near(const struct ta_intervals *set, int64_t time, size_t guess);

/* How much of [from, to) a united set overlaps.  O(log n) and the intervals in it. */
int64_t ta_intervals_within(const struct ta_intervals *set, int64_t from, int64_t to);

/* The same, with the first of these intervals searched from `*guess` on, which becomes its index.
 */
int64_t ta_intervals_within_near(const struct ta_intervals *set, int64_t from, int64_t to,
                                 size_t *guess);

/* How much of [from, to) lies between the intervals of a united set, after the first and before
 * the last one. */
int64_t ta_intervals_gaps(const struct ta_intervals *set, int64_t from, int64_t to);

/* Adds the parts of `a` that `b` does not overlap to `out`; both are united sets. */
void ta_intervals_subtract(const struct ta_intervals *a, const struct ta_intervals *b,
                           struct ta_intervals *out);

/* Adds the intervals of `b` to `a` and unites. */
void ta_intervals_join(struct ta_intervals *a, const struct ta_intervals *b);

/* Puts points in time into ascending order; O(n) when they are nearly in it. */
void ta_sort_times(int64_t *times, size_t n);

#endif
