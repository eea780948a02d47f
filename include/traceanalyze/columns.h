/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that many tables have, and columns by what they hold: initializers of struct ta_column.
 * Each takes the stable key, the head for people, what is better where that differs, and a sentence
 * that says what a cell is and how it is computed. */
#ifndef TRACEANALYZE_COLUMNS_H
#define TRACEANALYZE_COLUMNS_H

#include "result.h"

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

/* clang-format on */

#endif
