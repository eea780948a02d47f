/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the stage share; ranks.c runs them one after the other. */
#ifndef TA_RANKS_STAGE_H
#define TA_RANKS_STAGE_H

#include "base/pack.h"
#include "base/vec.h"
#include "ranks/ranks.h"

/* The partial: a row per rank, device and pack. */
enum {
    RECORDS_RANK,
    RECORDS_DEVICE,
    RECORDS_PACK,
    RECORDS_LEFT_OUT,
    RECORDS_BEGAN,
    RECORDS_FIELDS
};

/* The layout of packs; others are refused. */
enum { PACK_VERSION = 2 };

extern const char *const collective_args[];

enum ta_status map_collectives(struct ta_ctx *ctx, const struct ta_trace *trace,
                               struct ta_partial *const *out);

/* Where records come from. */
struct ta_coll_pack {
    uint32_t member;
    size_t first_item, n_items;
    const char *end; /* of its text */
};

/* The collectives of a group that follow each other in the same order on all its ranks. */
struct ta_communicator {
    uint32_t group;
    bool between_two;
    enum ta_coll_kind kind; /* of a group that no record names: it has one for each kind */
    size_t first, n;        /* in ta_ranks.order */
};

/* The same stretch between two collectives on several members: records of `by_stretch`, the one
 * with the least own time first. */
struct ta_coll_stretch {
    uint32_t first, n;
};

/* The steps of the stage; false without memory. */
bool read_records(const struct ta_partial *records, struct ta_ranks *ranks);
bool match_records(struct ta_ranks *ranks);
bool align_clocks(struct ta_ranks *ranks);
bool find_arrivals(struct ta_ranks *ranks);
bool compare_stretches(struct ta_ranks *ranks);
bool judge_ranks(const struct ta_ranks *ranks, struct ta_lateness *lateness);

/* The steps of judge_ranks(), each after the one before. */
bool lateness_weigh(const struct ta_ranks *ranks, struct ta_lateness *lateness); /* p */
bool lateness_date(const struct ta_ranks *ranks, struct ta_lateness *lateness);  /* since when */
bool lateness_cost(const struct ta_ranks *ranks, struct ta_lateness *lateness);

#endif
