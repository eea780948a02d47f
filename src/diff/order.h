/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels by their place in the program: kernels.by_op of both sides, laid side by side. */
#ifndef TA_DIFF_ORDER_H
#define TA_DIFF_ORDER_H

#include "diff/compare.h"

/* Joins kernels that different names stand for at the same place of the program: beside each other
 * in the order of first runs, launched by the same operator or doing the same kind of work.  False
 * without memory. */
bool diff_match_order(struct diff *diff, struct diff_items items[TA_DIFF_SIDES]);

/* Makes sets of the kernels that are left: those of both sides between the same neighbors took the
 * place of one another.  False without memory. */
bool diff_match_sets(struct diff *diff, struct diff_items items[TA_DIFF_SIDES]);

#endif
