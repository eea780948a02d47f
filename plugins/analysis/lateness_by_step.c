/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stragglers.by_step: how late each rank is in each step, for a picture of the whole run.
 *
 * Without steps, or with too many, the collectives in the order of time are divided into parts
 * of equal number.  If there are many ranks, neighbors share a row, which shows the latest of
 * them. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum { PARTS_MOST = 64, ROWS_MOST = 64 };

struct parts {
    const struct ta_ranks *ranks;
    uint32_t *of;   /* part of each collective, TA_COLL_NONE if it does not synchronize ranks */
    bool are_steps; /* whether a part is a step rather than a series of collectives */
    size_t n;       /* parts */
    int32_t first;  /* step of the first part */
};

/* ---- parts ---------------------------------------------------------------------------------- */

static int32_t step_of(const struct ta_ranks *ranks, const struct ta_collective *collective)
{
    return ranks->records[collective->last].step;
}

/* Whether all synchronizing collectives lie in a few consecutive steps. */
static bool have_steps(struct parts *p)
{
    int32_t least = INT32_MAX, most = -1;
    for (size_t i = 0; i < p->ranks->n_collectives; i++) {
        const struct ta_collective *collective = &p->ranks->collectives[i];
        if (!collective->is_synchronizing)
            continue;
        const int32_t step = step_of(p->ranks, collective);
        if (step < 0)
            return false;
        least = step < least ? step : least;
        most = step > most ? step : most;
    }
    p->first = least;
    p->n = most > least && most - least < PARTS_MOST ? (size_t)(most - least) + 1 : 0;
    return p->n > 0;
}

static int by_time(const void *left, const void *right, void *user)
{
    const struct ta_collective *at = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (at[a].last_start != at[b].last_start)
        return at[a].last_start < at[b].last_start ? -1 : 1;
    return (a > b) - (a < b);
}

static bool divide_evenly(struct parts *p)
{
    uint32_t *order = calloc(p->ranks->n_collectives + 1, sizeof *order);
    size_t n = 0;
    for (uint32_t i = 0; order && i < p->ranks->n_collectives; i++)
        if (p->ranks->collectives[i].is_synchronizing)
            order[n++] = i;
    if (n)
        qsort_r(order, n, sizeof *order, by_time, p->ranks->collectives);
    p->n = n < PARTS_MOST ? n : PARTS_MOST;
    for (size_t i = 0; i < n; i++)
        p->of[order[i]] = (uint32_t)(i * p->n / n);
    free(order);
    return order != NULL;
}

static bool divide(struct parts *p)
{
    p->of = calloc(p->ranks->n_collectives + 1, sizeof *p->of);
    if (!p->of)
        return false;
    for (size_t i = 0; i < p->ranks->n_collectives; i++)
        p->of[i] = TA_COLL_NONE;
    p->are_steps = have_steps(p);
    if (!p->are_steps)
        return divide_evenly(p);
    for (size_t i = 0; i < p->ranks->n_collectives; i++)
        if (p->ranks->collectives[i].is_synchronizing)
            p->of[i] = (uint32_t)(step_of(p->ranks, &p->ranks->collectives[i]) - p->first);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------ */

enum { RANK, RANKS, PART, IS_STEP, LATENESS };
static const struct ta_column by_step_columns[] = {
    [RANK] = TA_RANK_COLUMN_OF("Rank, or the first of several ranks that share the row"),
    [RANKS] = {"ranks", "Ranks", TA_COUNT,
               .doc = "Number of ranks that share the row: 1 for up to 64 ranks"},
    [PART] = {"part", "Step", TA_INTEGER, .role = TA_IN_SERIES,
              .doc = "Number of the step: N of `ProfilerStep#N`, otherwise its position in the "
                     "recording; without steps, or with more than 64, number of the part: the "
                     "collectives in order of time, divided into up to 64 parts of equal number"},
    [IS_STEP] = {"is_step", "Is a step", TA_FLAG,
                 .doc = "Whether the row is a step rather than a part of the run"},
    [LATENESS] =
        {"lateness_ns", "Lateness", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time from the start of the first rank to the start of this rank, over the "
                "collectives of the step or part; if several ranks share the row, the largest"},
};

static const struct ta_chart_def chart = {
    .id = "rank-step-heatmap",
    .title = "Lateness by rank and step",
    .caption =
        "Mean delay with which each rank enters collectives after the first one. A bright row is a "
        "rank that is always late, a bright column a step in which the ranks drift apart.",
    .kind = TA_CHART_HEAT,
    .label = {&by_step_columns[RANK]},
    .x = &by_step_columns[PART],
    .y = {{&by_step_columns[LATENESS], "Lateness", TA_INK_HEAT_7}},
};

static const struct ta_table_def by_step = {
    "stragglers.by_step",
    "Lateness by step",
    TA_COLUMNS(by_step_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per rank (or group of neighbors beyond 64 ranks) and step or part of the run. "
           "Chart `rank-step-heatmap`.",
    .joining = TA_JOIN_NOT};

/* Mean lateness of a rank in each part, NAN if it has no collectives there. */
static void sum_rank(const struct parts *p, const struct ta_lateness *lateness, uint32_t rank,
                     size_t *member, double *sums, size_t *counts)
{
    const struct ta_ranks *ranks = p->ranks;
    memset(sums, 0, p->n * sizeof *sums);
    memset(counts, 0, p->n * sizeof *counts);
    for (; *member < ranks->n_members && lateness->of[*member] == rank; ++*member) {
        const struct ta_rank_member *m = &ranks->members[*member];
        for (size_t r = m->first; r < m->first + m->n; r++) {
            const struct ta_collective *collective = ta_coll_synchronizing(ranks, (uint32_t)r);
            const uint32_t part =
                collective ? p->of[collective - ranks->collectives] : TA_COLL_NONE;
            if (part == TA_COLL_NONE)
                continue;
            sums[part] += (double)(ranks->records[r].start - collective->first_start);
            counts[part]++;
        }
    }
    for (size_t i = 0; i < p->n; i++)
        sums[i] = counts[i] ? sums[i] / (double)counts[i] : NAN;
}

static void add_rows(const struct parts *p, int64_t first_rank, size_t n_ranks, double *latest,
                     struct ta_section_builder *out)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!isnan(latest[i]))
            TA_ROW(out, by_step, [RANK] = ta_int(first_rank), [RANKS] = ta_int((int64_t)n_ranks),
                   [PART] = ta_int((p->are_steps ? p->first : 0) + (int64_t)i),
                   [IS_STEP] = ta_bool(p->are_steps), [LATENESS] = ta_num(latest[i]));
        latest[i] = NAN;
    }
}

static bool add_table(const struct parts *p, const struct ta_lateness *lateness,
                      struct ta_section_builder *out)
{
    double *sums = calloc(p->n, sizeof *sums), *latest = calloc(p->n, sizeof *latest);
    size_t *counts = calloc(p->n, sizeof *counts);
    const bool done = sums && latest && counts;
    const size_t together = (lateness->n + ROWS_MOST - 1) / ROWS_MOST;
    for (size_t i = 0; done && i < p->n; i++)
        latest[i] = NAN;
    for (size_t rank = 0, member = 0, first = 0; done && rank < lateness->n; rank++) {
        sum_rank(p, lateness, (uint32_t)rank, &member, sums, counts);
        for (size_t i = 0; i < p->n; i++)
            latest[i] = fmax(latest[i], sums[i]); /* fmax() ignores NAN */
        if (rank + 1 - first < together && rank + 1 < lateness->n)
            continue;
        add_rows(p, lateness->at[first].rank, rank + 1 - first, latest, out);
        first = rank + 1;
    }
    if (p->n > 1)
        ta_draw(out, &by_step, &chart);
    free(sums);
    free(latest);
    free(counts);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    struct parts p = {.ranks = in->ranks};
    bool done = divide(&p);
    if (done && p.n > 0)
        done = add_table(&p, &in->ranks->lateness, out);
    free(p.of);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot divide the collectives into parts");
}

static const struct ta_table_def *const tables[] = {&by_step, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 3,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, lateness_by_step, &ops, .title = "Lateness by step",
          .summary = "How late each rank is in each step: stragglers.by_step", .version = "1");
