/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One of several ranks whose events a file holds, taken out of it as a trace of its own. */
#ifndef TA_MODEL_RANK_ROWS_H
#define TA_MODEL_RANK_ROWS_H

#include "base/clock.h"
#include "model/builder.h"

/* Members of a merged document: which traces it was made of, and, with the place of a trace among
 * them at its end, what that trace says of itself and the document does not say for all. */
#define TA_MERGE_MEMBER "traceanalyze"
#define TA_MERGE_TRACE "traceanalyze.trace."
/* In a merged document of which a part was chosen, at its beginning. */
#define TA_MERGE_AGAIN "traceanalyze.again"

/* In place of the number of a part. */
#define TA_PART_BY_PLACE (UINT32_MAX - 1)

struct ta_rank_rows {
    int64_t rank;
    struct ta_clock_shift clock; /* from the clock of the rank to the one of the file */
    bool keeps_clock;            /* its rows get the times of its own clock */
    const char *file;            /* of which it was merged; NULL: not known */
    int64_t more_metadata;       /* events that its own file had more, or fewer */
    struct ta_builder *builder;  /* what the file says of this rank alone, then its rows, too */
};

/* A new last one; NULL without memory.  It is valid until the next one. */
struct ta_rank_rows *ta_builder_add_part(struct ta_builder *builder, int64_t rank);

/* The rows of a part, where parts follow one another. */
struct ta_stretch {
    struct ta_row_counts from, to;
};

/* Which rows are of which part. */
struct ta_division {
    const uint32_t *of_track;           /* TA_PART_BY_PLACE: the stretches tell */
    const struct ta_stretch *stretches; /* by part; NULL: no track needs them */
    const uint32_t *of_row;     /* of spans on tracks that several parts share; NULL: none is */
    const uint32_t *of_process; /* by place in the kinds of the builder */
    const ta_str *pids;         /* by track: what its process is called in the part */
    const ta_str *names;        /* by track: the name of its process there */
};

/* Copies the rows of part number `i`, and what the file says of all ranks, to its builder.  False
 * without memory. */
bool ta_builder_take_part(struct ta_builder *from, size_t i,
                          const struct ta_division *division) TA_MUST_CHECK;

void ta_parts_free(struct ta_builder *builder);

#endif
