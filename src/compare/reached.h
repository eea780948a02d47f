/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that say which operator runs what, in the order in which the program first reached them.
 * People see them by time, so a comparison sorts them for itself. */
#ifndef TA_COMPARE_REACHED_H
#define TA_COMPARE_REACHED_H

#include "compare/compare.h"

/* What the columns of such a table are read as. */
struct diff_reached {
    enum ta_reading op, name, within, start;
};

/* The rows of the table on one side in that order; NULL without memory. */
const size_t *diff_rows_reached(struct diff *diff, int side, const struct diff_reached *columns);

#endif
