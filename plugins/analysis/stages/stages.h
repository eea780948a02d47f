/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of all ranks as the parts of this analysis hand them on. */
#ifndef TA_STAGES_H
#define TA_STAGES_H

#include "lib/stage_roles.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

/* What is read of other analyses. */
enum { DIFFUSION_RANK, STEPS_RANK, STEPS_TIME, BLOCKS_RANK, BLOCKS_TIME };

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
enum { WALL_RANK, WALL_SOURCE, SESSIONS, FIRST_MARK, LAST_MARK, BESIDE, WITHOUT, CUT, WALL_FIELDS };

/* What a stage that was not recorded as one is made of, and the figures of its parts. */
struct made {
    const char *of; /* "blocks" or "steps" */
    int64_t calls, total_ns, least_ns, most_ns;
    double p50_ns, p95_ns;
};

/* A stage of a rank. */
struct stage {
    const int64_t *row;
    struct ta_slice name, scope; /* of "engine/total" the scope is "engine", else it is empty */
    struct ta_slice source;      /* the scope, or what its kind of dump calls such rows */
    struct ta_slice group;   /* sources whose stages are of one run: Inferix's report and console */
    struct ta_slice program; /* what its kind of dump calls such rows, Inferix's all alike */
    struct ta_slice beside; /* the source among whose stages it is listed in the order of the run */
    const struct made *made; /* of a stage that was not recorded; else NULL */
    struct ta_slice family;  /* "chunk_N" for chunk_0, chunk_1 …; else the name */
    struct ta_slice inside;  /* the stage around it as far as that is known, else empty */
    int64_t order;           /* among the rows of its rank as the dump has them, from 1 */
    int64_t place;           /* in the order of the run, even numbers between the recorded stages */
    bool encloses;           /* others run inside, so that it is not counted in addition to them */
    int64_t inner_ns;        /* of a family that encloses others: what these take, else 0 */
    double share;            /* NAN without one */
    double own_share;        /* of the first of such a family: of what the others leave */
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

/* The group of Inferix: its report and its console are of the same run. */
#define INFERIX_GROUP "stages"

/* How much longer than the stages around it an inner stage may be: figures of printed tables are
 * rounded. */
#define ROUNDING 1.01

/* How much longer than the run stages one after the other may be, for the same reason. */
#define ROUNDING_OF_SUM 1.002

/* Whether the stage is as a console prints it. */
static inline bool is_printed(const struct stage *stage)
{
    return ta_slice_equal(stage->source, TA_LIT("console"));
}

/* Whether what a console prints, or the sum of so many such times, is a time that is known
 * exactly. */
bool is_as_printed(int64_t printed_ns, int64_t ns, int64_t parts);

/* Adds a stage "denoising" for ranks whose blocks or steps of diffusion no recorded stage is about;
 * false without memory.  `stages->at` has room for one per rank more. */
bool add_denoising(struct stages *stages, const struct ta_refs *in);

/* Puts the denoising of a rank and group into the stage that holds it, if any. */
void nest_denoising(struct stage *at, size_t n, int64_t run_ns);

/* stages.derived */
extern const struct ta_table_def stages_derived;
void add_derived(struct ta_section_builder *out, const struct stages *stages);

/* Time of the sessions of a rank and group; TA_MISSING without any. */
int64_t sessions_of(const struct stages *stages, int64_t rank, struct ta_slice group);

/* Whether records of a rank and group are lost that its files had. */
bool is_cut(const struct stages *stages, int64_t rank);

/* Whether the name says that other stages run inside: "total" of a scope, "run_inference". */
bool is_named_parent(const struct stage *stage);

/* Finds out which stages stand for one in several parts: `family`. */
bool find_families(struct stages *stages);

/* Finds out which stage encloses which, and what share of the time each has.  The stages are
 * sorted by rank, scope, source and order in the run afterwards. */
void share_stages(struct stages *stages);

/* Whether the terminal shows stages over all ranks and not by name: stages of one rank are listed
 * by name, but where one was not recorded as such. */
extern const struct ta_ref stages_derived_read[1];
bool are_over_ranks(const struct ta_refs *in);

/* stages.over_ranks; sorts the stages anew. */
extern const struct ta_table_def stages_over_ranks;
bool add_stages_over_ranks(struct ta_section_builder *out, struct stages *stages);

#endif
