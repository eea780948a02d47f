/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names by their place in the program: what ran of both sides, laid side by side. */
#ifndef TA_COMPARE_ORDER_H
#define TA_COMPARE_ORDER_H

#include "compare/compare.h"

/* A table whose rows say which operator runs what, by what its columns are read as. */
struct diff_order {
    enum ta_reading name, op, within, calls; /* within: or TA_AS_NOTHING */
    /* What says in which order they first ran: when each of them did, or a number among the rows
     * of a rank.  One of the two. */
    enum ta_reading start, order;
    bool is_of_ops;    /* the names are operators themselves, else kernels */
    bool is_of_stages; /* that goes for them, too, but nothing says what they are: they are the same
                          at the same place alone, and with times that are alike */
};

/* The least confidence of a pair of names that one operator runs, and of a pair that only has the
 * same place; a pair that does the same kind of work is between the two. */
#define DIFF_SURE_OP 0.8
#define DIFF_SURE_PLACE 0.5

/* Joins different names at the same place of the program: paired in the order of first runs, run by
 * the same operator or doing the same kind of work. False without memory. */
bool diff_match_order(struct diff *diff, const struct diff_order *order,
                      struct diff_items items[TA_DIFF_SIDES]);

/* Joins names that no operator runs where as many stand between the same neighbors, and then what
 * those run.  False without memory. */
bool diff_match_places(struct diff *diff, const struct diff_order *order,
                       struct diff_items items[TA_DIFF_SIDES]);

/* Makes sets of the names that are left: names of both sides between the same neighbors replaced
 * one another. False without memory. */
bool diff_match_sets(struct diff *diff, const struct diff_order *order,
                     struct diff_items items[TA_DIFF_SIDES]);

#endif
