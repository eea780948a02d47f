/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of ranks and of the run: what is known of a rank, and who adds rows. */
#ifndef TA_THROUGHPUT_THROUGHPUT_H
#define TA_THROUGHPUT_THROUGHPUT_H

#include <traceanalyze/analysis.h>

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

/* Figures of the profiler; of several files of a rank the first one counts. */
enum { FIGURE_RANK, NAME, GROUP, FILE_KEY, VALUE, UNIT, FIGURE_FIELDS };

/* Adds a row of throughput.values; what is not finite is left out.  `note` may be NULL. */
void throughput_add_value(struct ta_section_builder *out, int64_t rank, const char *metric,
                          const char *basis, double value, enum ta_unit unit, const char *note);
void throughput_add_rate(struct ta_section_builder *out, int64_t rank, enum rate rate, double value,
                         const char *note);

/* run.c: adds the rates of all ranks together, which are in ascending order. */
void throughput_add_run(struct ta_section_builder *out, const struct rank *ranks, size_t n);

/* theirs.c: adds what profilers say of one rank and metric: rows [first, end) of the partial, by
 * group and file. */
void throughput_add_metric(const struct rank *rank, const struct ta_partial *figures, size_t first,
                           size_t end, struct ta_section_builder *out);

#endif
