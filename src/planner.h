/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who reads what: how the threads of a run are shared out among its files. */
#ifndef TA_PLANNER_H
#define TA_PLANNER_H

#include "traceanalyze/base.h"

#include <stdatomic.h>

/* A plain file is read in parts of at least this size: parsing one takes some hundred times as long
 * as starting a thread and joining two parts. */
#define TA_PART_BYTES (UINT64_C(32) << 20)

/* A file to be read, and how many threads besides its worker shall have a hand in it. */
struct ta_planned {
    uint64_t bytes;
    bool is_plain;  /* parts can be read side by side; else one thread may inflate ahead */
    size_t helpers; /* set by ta_planner_init() */
};

struct ta_planner {
    size_t n_workers;    /* that read a file each at a time */
    atomic_size_t spare; /* helpers that nobody has */
};

/* Shares out `n_threads` among files, given by falling size, and sets their helpers.  Parts have
 * `part_bytes` at least, 0 is TA_PART_BYTES. */
void ta_planner_init(struct ta_planner *planner, size_t n_threads, struct ta_planned *files,
                     size_t n_files, uint64_t part_bytes);

/* Takes up to `wanted` helpers, as many as are left; they go back with ta_planner_give(). */
size_t ta_planner_take(struct ta_planner *planner, size_t wanted);
void ta_planner_give(struct ta_planner *planner, size_t helpers);

#endif
