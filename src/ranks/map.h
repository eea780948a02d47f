/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What map.c is made of: the calls of a trace by how they look, its steps, and what fills the time
 * before a collective. */
#ifndef TA_RANKS_MAP_H
#define TA_RANKS_MAP_H

#include "ranks/stage.h"

#include "traceanalyze/base.h"

/* ---- calls (calls.c) ------------------------------------------------------------------------- */

/* How calls of collectives look; texts absent and numbers TA_MISSING where not recorded. */
struct call {
    enum ta_coll_kind kind;
    ta_str op, group, description, ranks, dtype;
    int64_t group_number; /* its name, when that is one */
    int64_t in, out, size;
    int64_t peer;     /* of a transfer between two: the rank at the other end */
    bool is_numbered; /* its records have their number in the group's sequence */
    int64_t seq;      /* the last of these in a pack */
    uint64_t before;  /* number of the call before it with the same key; UINT64_MAX: none */
};

struct calls {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_args op, group, description, ranks, dtype, in, out, size, seq, source, target,
        in_splits, out_splits;
    struct call *at;
    size_t n, max;
    struct ta_map latest; /* number of the latest call of a key */
    bool failed;
};

void calls_open(struct calls *calls, const struct ta_trace *trace);
void calls_free(struct calls *calls);
/* Number of the call that a span is, or that a device activity was launched by; `launch` is
 * TA_NO_ROW for a span of the host.  `seq` becomes its number in the sequence of the group, or
 * TA_MISSING. */
size_t calls_of(struct calls *calls, ta_row span, ta_row launch, int64_t *seq);
void calls_put(const struct calls *calls, struct ta_pack *pack);

/* Whether a host span is a collective itself, not the launch of one. */
bool calls_is_of_host(struct ta_slice name);

/* ---- items (items.c) ------------------------------------------------------------------------- */

/* Time by what was done in it, between two collectives. */
enum { ITEMS_RECENT = 256 };

struct items {
    const struct ta_trace *trace;
    struct ta_map numbers;
    struct {
        uint64_t key; /* 0: not used */
        uint32_t number;
    } recent[ITEMS_RECENT]; /* by the last bits of the names: hundreds of thousands are of few */
    struct item {
        enum ta_coll_item_kind kind;
        ta_str name, within;
        int64_t ns;
        uint32_t number; /* in the pack, TA_COLL_NONE before it is in one */
    } * at;
    size_t n, max;
    uint32_t *touched; /* those with time */
    size_t n_touched, max_touched;
    uint32_t *kept; /* those in the pack, by their number there */
    size_t n_kept, max_kept;
    bool failed;
};

/* Adds time to an item; returns its number. */
uint32_t items_add(struct items *items, enum ta_coll_item_kind kind, ta_str name, ta_str within,
                   int64_t ns);
/* Puts the longest items of `whole` nanoseconds into a pack, and starts anew. */
void items_flush(struct items *items, int64_t whole, struct ta_pack *pack);
/* The names of what was flushed. */
void items_put(const struct items *items, struct ta_pack *pack);
void items_free(struct items *items);

/* ---- hosts without devices (host_work.c) ---------------------------------------------------- */

/* How much of the busiest thread of a trace was gone through. */
struct host_work {
    struct ta_spans spans;
    ta_row next, end; /* its spans that were not reached */
    ta_row top;       /* innermost one now, or TA_NO_ROW */
    int64_t now;
};

void host_work_open(struct host_work *work, const struct ta_trace *trace);
/* Goes on to a time and adds what is done until then to `items`, unless that is NULL.  Times must
 * not fall; the first is where the way begins. */
void host_work_until(struct host_work *work, int64_t time, struct items *items);

#endif
