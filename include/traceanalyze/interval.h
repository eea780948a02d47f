/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of half-open intervals [start, end) of integer nanoseconds. */
#ifndef TRACEANALYZE_INTERVAL_H
#define TRACEANALYZE_INTERVAL_H

#include "base.h"

TA_BEGIN_DECLS

struct ta_interval {
    int64_t start, end;
};

/* Growable list; zero-initialize, free with ta_intervals_free(). */
struct ta_intervals {
    struct ta_interval *at;
    size_t n, max;
    bool failed; /* out of memory: what was added is incomplete */
};

/* Appends [start, end); empty intervals are left out. */
TA_API void ta_intervals_add(struct ta_intervals *set, int64_t start, int64_t end);
TA_API void ta_intervals_free(struct ta_intervals *set);

/* Turns any list into disjoint, ascending, non-touching intervals that cover the same points.
 * O(n) when already ordered by start, else O(n log n). */
TA_API void ta_intervals_unite(struct ta_intervals *set);

/* Total length; of a united set this is U(S). */
TA_API int64_t ta_intervals_length(const struct ta_intervals *set);

/* Length of the part of `a` that `b` does not cover; both united.  O(n + m). */
TA_API int64_t ta_intervals_outside(const struct ta_intervals *a, const struct ta_intervals *b);

/* Index of the first interval of a united set that ends after `time`; n when none does.
 * O(log n). */
TA_API size_t ta_intervals_behind(const struct ta_intervals *set, int64_t time);
/* The same, begun at a guess, such as what the last call gave: O(log d) when it is d away. */
TA_API size_t ta_intervals_near(const struct ta_intervals *set, int64_t time, size_t guess);

/* How much of [from, to) a united set overlaps.  O(log n) and the intervals in it. */
TA_API int64_t ta_intervals_within(const struct ta_intervals *set, int64_t from, int64_t to);

/* The same, with the first of these intervals searched from `*guess` on, which becomes its index.
 */
TA_API int64_t ta_intervals_within_near(const struct ta_intervals *set, int64_t from, int64_t to,
                                        size_t *guess);

/* How much of [from, to) lies between the intervals of a united set, after the first and before
 * the last one. */
TA_API int64_t ta_intervals_gaps(const struct ta_intervals *set, int64_t from, int64_t to);

/* Adds the intervals of `b` to `a` and unites. */
TA_API void ta_intervals_join(struct ta_intervals *a, const struct ta_intervals *b);

TA_END_DECLS

#endif
