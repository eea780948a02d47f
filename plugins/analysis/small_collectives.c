/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.small: messages so small that starting a collective is all of their time.
 *
 * The least time of an operation on so many ranks is the 5th percentile of its transfers.  A
 * message is small when it takes less than twice that, and reaches less than a tenth of the
 * bandwidth that the operation reaches at its best: equal large messages take the least time too.
 */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

static const double LATENCY_SHARE = 0.05;
static const double BANDWIDTH_PART = 0.1;

enum { OP, SIZE, COUNT, SMALL, LARGEST, LATENCY, TAX, SHARE };
static const struct ta_column by_op_columns[] = {
    [OP] = {"op", "Operation", TA_TEXT, .doc = "Collective operation"},
    [SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks per process group"},
    [COUNT] = {"count", "Collectives", TA_COUNT,
               .doc =
                   "Collectives of the operation whose transfer time and message size are known"},
    [SMALL] = {"small", "Small", TA_COUNT, .better = TA_LOWER,
               .doc = "Collectives limited by latency: shorter than twice the latency, and below a "
                      "tenth of the operation's best bus bandwidth"},
    [LARGEST] = {"largest", "Largest message", TA_BYTES,
                 .doc = "Largest message among the small collectives"},
    [LATENCY] = {"latency_ns", "Latency", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "5th percentile of the transfer time of the operation at this group size"},
    [TAX] = {"tax_ns", "Latency cost", TA_NS, .better = TA_LOWER,
             .doc = "Latency times the mean number of small collectives per group: the most that "
                    "fewer, larger collectives would save a rank"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Latency cost divided by the transfer time of all operations"},
};

static const struct ta_table_def by_op = {
    "collectives.small",
    "Small collectives",
    TA_COLUMNS(by_op_columns),
    .doc = "One row per operation and group size with small messages: collectives shorter than "
           "twice the 5th percentile of the transfer time, and below a tenth of the operation's "
           "best bandwidth.",
    .order = {&by_op_columns[TAX], TA_DESCENDING},
    .joining = TA_JOIN_NOT};

static int by_class(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct ta_collective *a = &ranks->collectives[*(const uint32_t *)left];
    const struct ta_collective *b = &ranks->collectives[*(const uint32_t *)right];
    const struct ta_coll_shape *x = &ranks->shapes[a->shape], *y = &ranks->shapes[b->shape];
    const int order = ta_slice_compare(x->op, y->op);
    if (order)
        return order;
    return x->size != y->size ? (x->size < y->size ? -1 : 1)
                              : (a->transfer > b->transfer) - (a->transfer < b->transfer);
}

static double rate_of(const struct ta_ranks *ranks, const struct ta_collective *collective)
{
    return (double)ranks->shapes[collective->shape].bytes / (double)collective->transfer;
}

/* How many groups have collectives at[0 … n), which are in no order of theirs. */
static int64_t count_groups(const struct ta_ranks *ranks, const uint32_t *at, size_t n)
{
    int64_t groups = 0;
    for (size_t g = 0; g < ranks->n_groups; g++)
        for (size_t i = 0; i < n; i++)
            if (ranks->shapes[ranks->collectives[at[i]].shape].group == g) {
                groups++;
                break;
            }
    return groups;
}

/* The collectives at[0 … n), of one operation and size of group, by transfer. */
static void add_class(const struct ta_ranks *ranks, const uint32_t *at, size_t n, double all,
                      double *transfers, struct ta_section_builder *out)
{
    double best = 0;
    int64_t small = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        transfers[i] = (double)ranks->collectives[at[i]].transfer;
        best = fmax(best, rate_of(ranks, &ranks->collectives[at[i]]));
    }
    const double latency = ta_quantile(transfers, n, LATENCY_SHARE);
    for (size_t i = 0; i < n; i++) {
        const struct ta_collective *collective = &ranks->collectives[at[i]];
        if ((double)collective->transfer >= 2 * latency ||
            rate_of(ranks, collective) >= BANDWIDTH_PART * best)
            continue;
        small++;
        largest = ta_max_i64(largest, ranks->shapes[collective->shape].bytes);
    }
    if (small == 0)
        return;
    const struct ta_coll_shape *shape = &ranks->shapes[ranks->collectives[at[0]].shape];
    const double tax = (double)small / (double)count_groups(ranks, at, n) * latency;
    TA_ROW(out, by_op, [OP] = ta_text(shape->op), [SIZE] = ta_int(shape->size),
           [COUNT] = ta_int((int64_t)n), [SMALL] = ta_int(small), [LARGEST] = ta_int(largest),
           [LATENCY] = ta_num(latency), [TAX] = ta_int(ta_whole(round(tax))),
           [SHARE] = ta_num(tax / all));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_ranks *ranks = in->ranks;
    uint32_t *order = calloc(ranks->n_collectives + 1, sizeof *order);
    double *transfers = calloc(ranks->n_collectives + 1, sizeof *transfers);
    const bool done = order && transfers;
    double all = 0;
    size_t n = 0;
    for (size_t i = 0; done && i < ranks->n_collectives; i++) {
        const struct ta_collective *collective = &ranks->collectives[i];
        if (collective->transfer <= 0) /* TA_MISSING too */
            continue;
        all += (double)collective->transfer;
        if (ranks->shapes[collective->shape].bytes != TA_MISSING)
            order[n++] = (uint32_t)i;
    }
    if (n)
        qsort_r(order, n, sizeof *order, by_class, (void *)(uintptr_t)ranks);
    for (size_t from = 0, to; from < n; from = to) {
        const struct ta_coll_shape *first = &ranks->shapes[ranks->collectives[order[from]].shape];
        for (to = from + 1; to < n; to++) {
            const struct ta_coll_shape *next = &ranks->shapes[ranks->collectives[order[to]].shape];
            if (!ta_slice_equal(first->op, next->op) || first->size != next->size)
                break;
        }
        add_class(ranks, order + from, to - from, all, transfers, out);
    }
    free(order);
    free(transfers);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot put the collectives in order");
}

static const struct ta_table_def *const tables[] = {&by_op, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 5,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, small_collectives, &ops, .title = "Small collectives",
          .summary = "Messages so small that their time is all latency: collectives.small",
          .version = "1");
