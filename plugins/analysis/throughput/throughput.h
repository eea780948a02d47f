/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What throughput.values is made of, rank by rank. */
#ifndef TA_THROUGHPUT_H
#define TA_THROUGHPUT_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

/* What the sessions of a rank tell, its tokens, and over how many ranks its settings spread the
 * work on one video. */
enum {
    RANK,
    WALL,
    OTHER_WALL, /* of files without blocks */
    START,
    FIRST_READY,
    LAST_READY,
    CUT, /* files that have lost blocks */
    TOKENS,
    TOKENS_NS,
    ULYSSES,
    RING,
    RANK_FIELDS
};

/* Rates of which the run has one too. */
enum rate {
    RATE_FPS_BLOCKS,
    RATE_BPS_BLOCKS,
    RATE_FPS_STEADY,
    RATE_BPS_STEADY,
    RATE_FPS_WALL,
    RATE_BPS_WALL,
    RATE_FPS_CUT, /* instead of those, where the report is cut */
    RATE_BPS_CUT,
    RATE_STEPS,
    RATE_TOKENS,
    RATES
};

/* A rank that has records of any kind. */
struct rank {
    int64_t rank;
    const int64_t *row;     /* of the partial with RANK_FIELDS, or NULL */
    double of[RATES];       /* NAN when not known */
    int64_t frames, blocks; /* TA_MISSING when not known */
};

void add_rate(struct ta_section_builder *out, int64_t rank, enum rate rate, double value,
              const char *note);

/* Adds the rates of all ranks together, which are in ascending order. */
void add_run(struct ta_section_builder *out, const struct rank *ranks, size_t n);

#endif
