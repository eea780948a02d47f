/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a table by rank, for rules that look at one rank after the other: with thousands of
 * ranks none may go over all rows for each. */
#ifndef TA_LIB_RANK_ROWS_H
#define TA_LIB_RANK_ROWS_H

#include <traceanalyze/rule.h>

struct ta_rank_rows {
    const struct ta_refs *in;
    size_t ref;
    const size_t *at; /* rows by rank, and within a rank in their order */
    size_t n;
};

/* Of the table of a reference.  Empty without memory, of which the advice knows then. */
struct ta_rank_rows ta_rank_rows_of(const struct ta_refs *in, struct ta_advice *advice, size_t ref);

/* The rows of one rank alone. */
struct ta_rank_rows ta_rank_rows_find(const struct ta_rank_rows *rows, int64_t rank);

/* Sum of the numbers of one rank, and the largest of them or 0. */
double ta_rank_rows_sum(const struct ta_rank_rows *rows, int64_t rank);
double ta_rank_rows_most(const struct ta_rank_rows *rows, int64_t rank);

#endif
