/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that many tables have, and their cells. */
#ifndef TRACEANALYZE_COLUMNS_H
#define TRACEANALYZE_COLUMNS_H

#include "table.h"
#include "stat.h"

/* clang-format off */

/* ---- whose row it is --------------------------------------------------------------------- */

#define TA_RANK_COLUMN_OF(what) \
    {"rank", "Rank", TA_INTEGER, .role = TA_RANK, .doc = what}
#define TA_DEVICE_COLUMN_OF(what) \
    {"device", "Device", TA_INTEGER, .role = TA_DEVICE, .doc = what}

/* Of traces, and of the dumps of other profilers. */
#define TA_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the trace")
#define TA_DUMP_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the dump")
#define TA_DEVICE_COLUMN \
    TA_DEVICE_COLUMN_OF("Device number as recorded; none when the trace does not say")

/* ---- statistics --------------------------------------------------------------------------- */

/* How a distribution of durations spreads: seven columns from enumerator `mean` on. */
#define TA_SPREAD_COLUMNS(mean) \
    [(mean)] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, \
                .doc = "Total divided by calls"}, \
    [(mean) + 1] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest"}, \
    [(mean) + 2] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .doc = "Longest"}, \
    [(mean) + 3] = {"stddev_ns", "Std dev", TA_NS_MEAN, .better = TA_LOWER, \
                    .doc = "Sample standard deviation; none for a single call"}, \
    [(mean) + 4] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .doc = "Median duration"}, \
    [(mean) + 5] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER, \
                    .doc = "95th percentile (type 7)"}, \
    [(mean) + 6] = {"p99_ns", "p99", TA_NS_MEAN, .better = TA_LOWER, \
                    .doc = "99th percentile (type 7)"}

/* How many columns these are: the enumerator after `mean` is mean + TA_SPREAD. */
#define TA_SPREAD 7

/* clang-format on */

#define TA_OLD_SPREAD_CELLS(dist)                                                                  \
    ta_num(ta_dist_mean(dist)), ta_int(ta_dist_min(dist)), ta_int(ta_dist_max(dist)),              \
        ta_num(ta_dist_stddev(dist)), ta_num(ta_dist_quantile((dist), 50)),                        \
        ta_num(ta_dist_quantile((dist), 95)), ta_num(ta_dist_quantile((dist), 99))

/* The cells of these columns in a TA_ROW(), whose first is `mean`. */
#define TA_SPREAD_CELLS(mean, dist)                                                                \
    [(mean)] = ta_num(ta_dist_mean(dist)), [(mean) + 1] = ta_int(ta_dist_min(dist)),               \
    [(mean) + 2] = ta_int(ta_dist_max(dist)), [(mean) + 3] = ta_num(ta_dist_stddev(dist)),         \
    [(mean) + 4] = ta_num(ta_dist_quantile((dist), 50)),                                           \
    [(mean) + 5] = ta_num(ta_dist_quantile((dist), 95)),                                           \
    [(mean) + 6] = ta_num(ta_dist_quantile((dist), 99))

/* A share as a cell: null when the whole is 0 or missing. */
static inline struct ta_cell ta_share(int64_t part, int64_t whole)
{
    return part == TA_MISSING || whole <= 0 ? ta_null() : ta_num((double)part / (double)whole);
}

#endif
