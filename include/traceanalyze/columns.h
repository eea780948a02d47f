/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that many tables have, and columns by what they hold: initializers of struct ta_column.
 * Each takes the stable key, the head for people, what is better where that differs, and a sentence
 * that says what a cell is and how it is computed. */
#ifndef TRACEANALYZE_COLUMNS_H
#define TRACEANALYZE_COLUMNS_H

#include "result.h"
#include "stat.h"

/* clang-format off */

/* ---- by content -------------------------------------------------------------------------- */

#define TA_TEXT_COLUMN(key, title, doc) \
    {key, title, TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, doc}
#define TA_NS_COLUMN(key, title, polarity, doc) \
    {key, title, TA_TYPE_INTEGER, TA_UNIT_NS, polarity, doc}
#define TA_COUNT_COLUMN(key, title, polarity, doc) \
    {key, title, TA_TYPE_INTEGER, TA_UNIT_COUNT, polarity, doc}
#define TA_BYTES_COLUMN(key, title, polarity, doc) \
    {key, title, TA_TYPE_INTEGER, TA_UNIT_BYTES, polarity, doc}
#define TA_RATIO_COLUMN(key, title, polarity, doc) \
    {key, title, TA_TYPE_NUMBER, TA_UNIT_RATIO, polarity, doc}

/* ---- whose row it is --------------------------------------------------------------------- */

#define TA_RANK_COLUMN_OF(what) \
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, what}
#define TA_DEVICE_COLUMN_OF(what) \
    {"device", "Device", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, what}

/* Of traces, and of the dumps of other profilers. */
#define TA_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the trace")
#define TA_DUMP_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the dump")
#define TA_DEVICE_COLUMN \
    TA_DEVICE_COLUMN_OF("Device number as recorded; none when the trace does not say")

/* ---- statistics --------------------------------------------------------------------------- */

/* How a distribution of durations spreads: seven columns, and the cells of their rows. */
#define TA_SPREAD_COLUMNS                                                                          \
    {"mean_ns", "Mean", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Total divided by calls"},           \
        {"min_ns", "Min", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Shortest"},                      \
        {"max_ns", "Max", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Longest"},                       \
        {"stddev_ns", "Std dev", TA_TYPE_NUMBER,                                                   \
         TA_UNIT_NS,  TA_LOWER,  "Sample standard deviation; none for a single call"},             \
        {"p50_ns", "p50", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Median duration"},                \
        {"p95_ns", "p95", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "95th percentile (type 7)"},       \
    {                                                                                              \
        "p99_ns", "p99", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "99th percentile (type 7)"          \
    }

/* clang-format on */

#define TA_SPREAD_CELLS(dist)                                                                      \
    ta_num(ta_dist_mean(dist)), ta_int(ta_dist_min(dist)), ta_int(ta_dist_max(dist)),              \
        ta_num(ta_dist_stddev(dist)), ta_num(ta_dist_quantile((dist), 50)),                        \
        ta_num(ta_dist_quantile((dist), 95)), ta_num(ta_dist_quantile((dist), 99))

/* A share as a cell: null when the whole is 0 or missing. */
static inline struct ta_cell ta_share(int64_t part, int64_t whole)
{
    return part == TA_MISSING || whole <= 0 ? ta_null() : ta_num((double)part / (double)whole);
}

#endif
