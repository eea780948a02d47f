/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this folder share: every figure that the tables have by rank. */
#ifndef RANKS_FIGURES_H
#define RANKS_FIGURES_H

#include <traceanalyze/analysis.h>

/* One figure of several ranks, and how much its differences tell. */
struct figure {
    const char *name;  /* "gpu_time.by_rank.busy_ns[0]" */
    const char *label; /* "GPU time: Busy" */
    const char *unit;  /* name of a unit */
    double weight;     /* of the column, 0 to 1 */
    double score;      /* how important a difference between ranks is */
    double low, high, mean, median;
    int64_t low_rank, high_rank; /* the lowest of equals */
    size_t n;
    const int64_t *ranks;  /* ascending */
    const double *values;  /* by rank, none is NaN */
    const double *ordered; /* the same, ascending */
};

struct figures {
    struct figure *at; /* the most important first */
    size_t n, max;
    struct ta_arena arena;
};

/* Reads all tables of `prior` that have ranks; without memory false.  ranks_free() ends it either
 * way. */
bool ranks_read(const struct ta_report *prior, struct figures *figures) TA_MUST_CHECK;
void ranks_free(struct figures *figures);

/* What is read of certain tables by name, besides every figure of all of them. */
enum {
    GPU_RANK,
    GPU_DEVICE,
    GROUPS_DESCRIPTION,
    GROUPS_RANK,
    GROUPS_NAME,
    GROUPS_RANKS,
    FIRST_SHOWN /* figures that parts are shown with: struct parts */
};

/* Which ranks belong together. */
enum ranks_by { RANKS_BY_RANK, RANKS_BY_NODE, RANKS_BY_GROUP };

extern const struct ta_table_def ranks_metrics, ranks_outliers, ranks_parts, parts_metrics;

/* ranks.metrics (metrics.c), ranks.outliers (outliers.c), of nodes and of groups ranks.parts and
 * parts.metrics (parts.c): false without memory. */
void ranks_add_metrics(const struct figures *figures, struct ta_section_builder *out);
bool ranks_add_outliers(const struct figures *figures, size_t most,
                        struct ta_section_builder *out) TA_MUST_CHECK;
bool ranks_add_nodes(const struct figures *figures, const struct ta_refs *in, int64_t per_node,
                     struct ta_section_builder *out) TA_MUST_CHECK;
bool ranks_add_groups(const struct figures *figures, const struct ta_refs *in,
                      struct ta_section_builder *out) TA_MUST_CHECK;

#endif
