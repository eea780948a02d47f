/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of torch's table of operators: headings to columns, rows to cells. */
#ifndef TA_PARSE_OPERATOR_ROW_H
#define TA_PARSE_OPERATOR_ROW_H

#include "traceanalyze/base.h"

enum { OPERATOR_COLUMNS_MAX = 48, OPERATOR_PREFIX_MAX = 120, OPERATOR_DEVICE_MAX = 32 };

enum operator_field {
    OPERATOR_NAME,
    OPERATOR_OVERLOAD,
    OPERATOR_SELF_CPU,
    OPERATOR_CPU,
    OPERATOR_SELF_DEVICE,
    OPERATOR_DEVICE,
    OPERATOR_SELF_CPU_BYTES,
    OPERATOR_SELF_DEVICE_BYTES,
    OPERATOR_CALLS,
    OPERATOR_SHAPES,
    OPERATOR_SOURCE,
    OPERATOR_FLOPS,
    /* Not kept: they follow from others. */
    OPERATOR_PERCENT,
    OPERATOR_MEAN,
    OPERATOR_BYTES,
    OPERATOR_NODE,
    OPERATOR_RATE
};

struct operator_columns {
    size_t n;
    unsigned char field[OPERATOR_COLUMNS_MAX]; /* enum operator_field */
    size_t tail;                      /* first of the columns after the columns of values */
    int flops_shift;                  /* "GFLOPs": 9 */
    bool piped;                       /* cells have bars between them */
    bool has_source;                  /* with call sites in lines of their own */
    char device[OPERATOR_DEVICE_MAX]; /* "CUDA", "XPU"; empty without device columns */
    char prefix[OPERATOR_PREFIX_MAX]; /* what a log or a comment has before the table */
    size_t prefix_len;
};

/* False when the line does not hold the headings of such a table. */
bool operator_columns_read(struct ta_slice line, struct operator_columns *columns);

/* The cells of a row, one for each column; false when the line is no row of the table. */
bool operator_row_read(const struct operator_columns *columns, struct ta_slice line,
                       struct ta_slice cells[OPERATOR_COLUMNS_MAX]);

/* Whether the line is only drawn: dashes, bars, crosses. */
bool operator_line_is_ruler(const struct operator_columns *columns, struct ta_slice line);

/* "539.000us", "1.5 s" to nanoseconds; "-4.50 Kb", "16 B" to bytes, all units in steps of 1024;
 * TA_MISSING for all else. */
int64_t operator_time(struct ta_slice cell);
int64_t operator_bytes(struct ta_slice cell);

#endif
