/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who reads what: how the threads of a run are shared out among its files. */
#ifndef TA_PLANNER_H
#define TA_PLANNER_H

#include "traceanalyze/base.h"

#include <stdatomic.h>

/* A file gets a thread per so many bytes of content: parsing them takes some hundred times as long
 * as starting a thread. */
#define TA_PART_BYTES (UINT64_C(8) << 20)

/* Inflating, which one thread does at a time, is a third or more of reading a packed file. */
enum { TA_PACKED_MOST = 3 };

/* A file to be read, and how many threads besides its worker shall have a hand in it. */
struct ta_planned {
    uint64_t bytes;
    size_t most;    /* threads that can read it together */
    bool is_packed; /* one more can inflate ahead if these are not two */
    size_t helpers; /* set by ta_planner_init() */
};

struct ta_planner {
    size_t n_workers;    /* that read a file each at a time */
    atomic_size_t spare; /* helpers that nobody has */
};

/* Threads that can read a file of so many bytes of content together, one per `part_bytes`; 0 is
 * TA_PART_BYTES. */
size_t ta_planner_most(uint64_t content, bool is_packed, uint64_t part_bytes);

/* Shares out `n_threads` among files, given by falling size, and sets their helpers. */
void ta_planner_init(struct ta_planner *planner, size_t n_threads, struct ta_planned *files,
                     size_t n_files);

/* Takes up to `wanted` helpers, as many as are left; they go back with ta_planner_give(). */
size_t ta_planner_take(struct ta_planner *planner, size_t wanted);
void ta_planner_give(struct ta_planner *planner, size_t helpers);

#endif
