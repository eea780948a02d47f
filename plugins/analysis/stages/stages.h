/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of all ranks as the parts of this analysis hand them on. */
#ifndef TA_STAGES_H
#define TA_STAGES_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

/* Fields of a stage in the partial. */
enum {
    RANK,
    NAME,
    FIRST,
    CALLS,
    TOTAL,
    LEAST,
    MOST,
    LAST,
    DEVICE,
    SUMMED,
    ENDED_BADLY,
    SOURCE,
    TIMES,
    STAGE_FIELDS
};

/* How long the stages of a rank and source were watched, as far as the files tell that have them:
 * by sessions, which are of the same files, and by labelled snapshots of memory, which are of no
 * source. */
enum { WALL_RANK, WALL_SOURCE, SESSIONS, FIRST_MARK, LAST_MARK, WALL_FIELDS };

/* A stage of a rank. */
struct stage {
    const int64_t *row;
    struct ta_slice name, scope; /* of "engine/total" the scope is "engine", else it is empty */
    struct ta_slice source;      /* the scope, or what its kind of dump calls such rows */
    struct ta_slice family;      /* "chunk_N" for chunk_0, chunk_1 …; else the name */
    struct ta_slice inside;      /* the stage around it as far as that is known, else empty */
    int64_t order;               /* among those of its rank as the dump has them, from 1 */
    bool encloses;               /* others run inside, so that it is not counted beside them */
    int64_t inner_ns;            /* of a family that encloses others: what these take, else 0 */
    double share;                /* NAN without one */
    double own_share;            /* of the first of such a family: of what the others leave */
    const char *share_of, *own_share_of;
};

struct stages {
    struct stage *at;
    size_t n;
    const struct ta_partial *partial, *walls;
    struct ta_arena arena;
};

static inline int64_t total_of(const struct stage *stage)
{
    return stage->row[TOTAL] == TA_MISSING ? 0 : stage->row[TOTAL];
}

/* Whether the name says that other stages run inside: "total" of a scope, "run_inference". */
bool is_named_parent(const struct stage *stage);

/* Finds out which stages stand for one in several parts: `family`. */
bool find_families(struct stages *stages);

/* Finds out which stage encloses which, and what share of the time each has.  The stages are
 * sorted by rank, scope, source and order in the run afterwards. */
void share_stages(struct stages *stages);

/* stages.over_ranks; sorts the stages anew. */
bool add_stages_over_ranks(struct ta_section_builder *out, struct stages *stages);

#endif
