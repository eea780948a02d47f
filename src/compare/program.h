/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs of both sides laid side by side: what ran where, in the order of first runs. */
#ifndef TA_COMPARE_PROGRAM_H
#define TA_COMPARE_PROGRAM_H

#include "compare/align.h"
#include "compare/order.h"

/* One operator and what it runs: a kernel that it launches, or another operator. */
struct place {
    struct ta_slice op;     /* empty when nothing known runs it */
    struct ta_slice within; /* operators around that */
    struct ta_slice kind;   /* what the work is; empty when its name does not tell */
    struct diff_item *item;
    const struct diff_item *op_item; /* the operator among the names that were matched, or NULL */
    int64_t calls;                   /* of the item at this place */
    int64_t order;                   /* among the places of its side */
    bool is_marked;                  /* member of the set that is being made */
};

/* The places of a side, in the order in which they were first reached. */
struct places {
    struct place *at;
    size_t n;
};

struct program {
    const struct diff_order *order;
    struct places side[TA_DIFF_SIDES];
    size_t *other; /* place of the new side paired with each of the baseline, or DIFF_GAP */
    size_t *alone, n_alone; /* places of the new side whose names have no mate, once listed */
};

/* Reads the programs by the tables of an order; false without memory. */
bool diff_program_read(struct diff *diff, const struct diff_order *order,
                       const struct diff_items items[TA_DIFF_SIDES], struct program *program);

/* The places of the new side that belong to the mate of place i of the baseline. */
struct diff_columns diff_mates_of(const struct program *program, size_t i);

/* Aligns places of names that were matched; false without memory. */
bool diff_program_align(struct program *program);

/* The elements between two such places on both sides. */
struct stretch {
    struct places side[TA_DIFF_SIDES];
    bool is_open;               /* no such place comes before or after it */
    bool end;                   /* it is the last */
    size_t from[TA_DIFF_SIDES]; /* where the next begins */
};

/* The next stretch, the first of one that is zero; false after the last. */
bool diff_next_stretch(const struct program *program, struct stretch *stretch);

/* Whether one operator runs both, whatever it is called on either side; never without one. */
bool diff_is_same_op(const struct place *a, const struct place *b);
/* Whether both are known to do one kind of work. */
bool diff_is_same_kind(const struct place *a, const struct place *b);

/* The names around a place and the name of its operator, "outer;inner;op". */
struct ta_slice diff_path_of(struct ta_arena *arena, const struct place *place);
/* What two paths begin with alike, "outer;inner". */
struct ta_slice diff_common_path(struct ta_slice a, struct ta_slice b);
/* The innermost name of a path. */
struct ta_slice diff_last_name(struct ta_slice path);

#endif
