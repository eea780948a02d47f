/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.small: messages so small that their time is that of starting a collective.
 *
 * The least time of an operation on so many ranks is the 5th percentile of its transfers.  A
 * message is small when it takes less than twice that, and reaches less than a tenth of the
 * bandwidth that the operation reaches at its best: equal large messages take the least time too.
 */
#include "tables.h"

#include <math.h>

static const double LATENCY_SHARE = 0.05;
static const double BANDWIDTH_PART = 0.1;

enum { OP, SIZE, COUNT, SMALL, LARGEST, LATENCY, TAX, SHARE };
static const struct ta_column coll_small_columns[] = {
    [OP] = {"op", "Operation", TA_TEXT, .doc = "As in the table of collectives"},
    [SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks of the groups"},
    [COUNT] = {"count", "Collectives", TA_COUNT, .doc = "Whose transfer and message are known"},
    [SMALL] = {"small", "Small", TA_COUNT, .better = TA_LOWER,
               .doc = "Those that take less than twice the latency, at less than a tenth of the "
                      "best bus bandwidth of the operation"},
    [LARGEST] = {"largest", "Largest small", TA_BYTES, .doc = "Largest message among them"},
    [LATENCY] = {"latency_ns", "Latency", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "5th percentile of the transfers of the operation on so many ranks"},
    [TAX] = {"tax_ns", "Tax", TA_NS, .better = TA_LOWER,
             .doc =
                 "Small collectives times the latency: what fewer, larger ones would save at most"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Of the transfers of all operations"},
};

const struct ta_table_def coll_small = {
    "collectives.small", "Small collectives", TA_COLUMNS(coll_small_columns),
    .order = {&coll_small_columns[TAX], TA_DESCENDING}, .joining = TA_JOIN_NOT};

static int by_class(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const struct coll_instance *a = &run->instances[*(const uint32_t *)left];
    const struct coll_instance *b = &run->instances[*(const uint32_t *)right];
    const struct coll_shape *x = &run->shapes[a->shape], *y = &run->shapes[b->shape];
    const int order = ta_slice_compare(x->op, y->op);
    if (order)
        return order;
    return x->size != y->size ? (x->size < y->size ? -1 : 1)
                              : (a->transfer > b->transfer) - (a->transfer < b->transfer);
}

static double rate_of(const struct coll_run *run, const struct coll_instance *instance)
{
    return (double)run->shapes[instance->shape].bytes / (double)instance->transfer;
}

/* The instances at[0 … n), of one operation and size of group, by transfer. */
static void add_class(const struct coll_run *run, const uint32_t *at, size_t n, double all,
                      double *transfers, struct ta_section_builder *out)
{
    double best = 0;
    int64_t small = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        transfers[i] = (double)run->instances[at[i]].transfer;
        best = fmax(best, rate_of(run, &run->instances[at[i]]));
    }
    const double latency = ta_quantile(transfers, n, LATENCY_SHARE);
    for (size_t i = 0; i < n; i++) {
        const struct coll_instance *instance = &run->instances[at[i]];
        if ((double)instance->transfer >= 2 * latency ||
            rate_of(run, instance) >= BANDWIDTH_PART * best)
            continue;
        small++;
        largest = ta_max_i64(largest, run->shapes[instance->shape].bytes);
    }
    if (small == 0)
        return;
    const struct coll_shape *shape = &run->shapes[run->instances[at[0]].shape];
    const double tax = (double)small * latency;
    TA_ROW(out, coll_small, [OP] = ta_text(shape->op), [SIZE] = ta_int(shape->size),
           [COUNT] = ta_int((int64_t)n), [SMALL] = ta_int(small), [LARGEST] = ta_int(largest),
           [LATENCY] = ta_num(latency), [TAX] = ta_int(ta_whole(round(tax))),
           [SHARE] = ta_num(tax / all));
}

bool coll_add_small(const struct coll_run *run, struct ta_section_builder *out)
{
    uint32_t *order = calloc(run->n_instances + 1, sizeof *order);
    double *transfers = calloc(run->n_instances + 1, sizeof *transfers);
    const bool done = order && transfers;
    double all = 0;
    size_t n = 0;
    for (size_t i = 0; done && i < run->n_instances; i++) {
        const struct coll_instance *instance = &run->instances[i];
        if (instance->transfer <= 0) /* TA_MISSING too */
            continue;
        all += (double)instance->transfer;
        if (run->shapes[instance->shape].bytes != TA_MISSING)
            order[n++] = (uint32_t)i;
    }
    if (n)
        qsort_r(order, n, sizeof *order, by_class, (void *)(uintptr_t)run);
    for (size_t from = 0, to; from < n; from = to) {
        const struct coll_shape *first = &run->shapes[run->instances[order[from]].shape];
        for (to = from + 1; to < n; to++) {
            const struct coll_shape *next = &run->shapes[run->instances[order[to]].shape];
            if (!ta_slice_equal(first->op, next->op) || first->size != next->size)
                break;
        }
        add_class(run, order + from, to - from, all, transfers, out);
    }
    free(order);
    free(transfers);
    return done;
}
