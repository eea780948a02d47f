/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.by_size, the bandwidth of each message size, and collectives.links, the groups
 * that are slower than their peers. */
#include "ranks/ranks.h"
#include "stat/sample.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

/* Collectives of one operation, group and message size. */
struct size {
    uint32_t shape;
    int64_t n, bytes, least, rank_wait, rank_time;
    double transfer; /* sum */
};

/* ---- sums ----------------------------------------------------------------------------------- */

static int by_message(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct ta_coll_shape *a = &ranks->shapes[((const struct size *)left)->shape];
    const struct ta_coll_shape *b = &ranks->shapes[((const struct size *)right)->shape];
    const int order = ta_slice_compare(a->op, b->op);
    if (order)
        return order;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

static void add_waits(const struct ta_ranks *ranks, const struct ta_collective *collective,
                      struct size *to)
{
    for (size_t i = 0; i < collective->n; i++) {
        const struct ta_coll_record *record =
            &ranks->records[ranks->entries[collective->first + i]];
        to->rank_wait = ta_add_sat(to->rank_wait, ta_coll_wait(collective, record));
        to->rank_time = ta_add_sat(to->rank_time, record->end - record->start);
    }
}

/* Makes one entry per shape, then joins entries that differ only in their elements.  Returns how
 * many remain. */
static size_t collect(const struct ta_ranks *ranks, struct size *sizes)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_shapes; i++)
        sizes[i] = (struct size){.shape = (uint32_t)i, .least = INT64_MAX};
    for (size_t i = 0; i < ranks->n_collectives; i++) {
        const struct ta_collective *collective = &ranks->collectives[i];
        struct size *to = &sizes[collective->shape];
        if (collective->transfer == TA_MISSING ||
            ranks->shapes[collective->shape].bytes == TA_MISSING)
            continue;
        to->n++;
        to->bytes = ranks->shapes[collective->shape].bytes;
        to->least = ta_min_i64(to->least, collective->transfer);
        to->transfer += (double)collective->transfer;
        add_waits(ranks, collective, to);
    }
    qsort_r(sizes, ranks->n_shapes, sizeof *sizes, by_message, (void *)(uintptr_t)ranks);
    for (size_t i = 0; i < ranks->n_shapes; i++) {
        if (sizes[i].n == 0)
            continue;
        struct size *last = n ? &sizes[n - 1] : NULL;
        if (!last || by_message(last, &sizes[i], (void *)(uintptr_t)ranks) != 0) {
            sizes[n++] = sizes[i];
            continue;
        }
        last->n += sizes[i].n;
        last->least = ta_min_i64(last->least, sizes[i].least);
        last->transfer += sizes[i].transfer;
        last->rank_wait = ta_add_sat(last->rank_wait, sizes[i].rank_wait);
        last->rank_time = ta_add_sat(last->rank_time, sizes[i].rank_time);
    }
    return n;
}

static double bandwidth_of(const struct ta_ranks *ranks, const struct size *size)
{
    const struct ta_coll_shape *shape = &ranks->shapes[size->shape];
    if (size->transfer <= 0 || shape->size == TA_MISSING)
        return NAN;
    return (double)size->bytes * (double)size->n * ta_coll_bus_factor(shape->kind, shape->size) /
           (size->transfer / 1e9);
}

/* ---- collectives.by_size -------------------------------------------------------------------- */

enum {
    BY_SIZE_OP,
    BY_SIZE_GROUP,
    BY_SIZE_BYTES,
    BY_SIZE_SIZE,
    BY_SIZE_COUNT,
    BY_SIZE_TRANSFER_MEAN,
    BY_SIZE_TRANSFER_MIN,
    BY_SIZE_ALGORITHM_BANDWIDTH,
    BY_SIZE_BUS_BANDWIDTH,
    BY_SIZE_WAIT_SHARE
};
static const struct ta_column by_size_columns[] = {
    [BY_SIZE_OP] = {"op", "Operation", TA_TEXT,
                    .doc = "Operation as the trace names it, otherwise the name of the kernel"},
    [BY_SIZE_GROUP] = {"group", "Group", TA_TEXT,
                       .doc = "Name of the process group; empty if no record names it"},
    [BY_SIZE_BYTES] = {"bytes", "Message size", TA_BYTES, .doc = "Full buffer of one collective"},
    [BY_SIZE_SIZE] = {"size", "Group size", TA_COUNT,
                      .doc = "Number of ranks in the process group, as recorded"},
    [BY_SIZE_COUNT] = {"count", "Count", TA_COUNT,
                       .doc = "Number of collectives whose transfer time is known"},
    [BY_SIZE_TRANSFER_MEAN] =
        {"transfer_mean_ns", "Mean transfer", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time from the start of the last rank to the median end over the ranks"},
    [BY_SIZE_TRANSFER_MIN] = {"transfer_min_ns", "Min transfer", TA_NS, .better = TA_LOWER,
                              .doc = "Shortest transfer of one collective"},
    [BY_SIZE_ALGORITHM_BANDWIDTH] = {"algorithm_bandwidth", "Bandwidth", TA_TYPE_NUMBER,
                                     TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
                                     .doc = "Data divided by transfer time"},
    [BY_SIZE_BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc = "Bandwidth times the share of the data that crosses the busiest link: 2(n−1)/n for "
                "all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all, 1 for others"},
    [BY_SIZE_WAIT_SHARE] =
        {"wait_share", "Wait %", TA_RATIO, .better = TA_LOWER,
         .doc = "Share of the collectives' time, all ranks, before the last rank arrived"},
};

static const struct ta_chart_def size_chart = {
    .id = "collectives",
    .title = "Collective bandwidth by size",
    .caption = "Bus bandwidth by message size, operation and process group. Waiting for the last "
               "rank is left out.",
    .kind = TA_CHART_SCATTER,
    .label = {&by_size_columns[BY_SIZE_OP], &by_size_columns[BY_SIZE_GROUP]},
    .x = &by_size_columns[BY_SIZE_BYTES],
    .y = {{&by_size_columns[BY_SIZE_BUS_BANDWIDTH], "Bus bandwidth", TA_INK_COMM}},
    .group = &by_size_columns[BY_SIZE_OP],
    .size = &by_size_columns[BY_SIZE_COUNT],
};

static const struct ta_table_def by_size = {
    "collectives.by_size",
    "Collective bandwidth by size",
    TA_COLUMNS(by_size_columns),
    .doc = "One row per operation, process group and message size whose transfer time is known "
           "because all or most of its ranks were read. Chart `collectives`.",
    .tier = TA_TIER_DETAIL,
    .joining = TA_JOIN_NOT};

static void add_sizes(const struct ta_ranks *ranks, const struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct size *s = &sizes[i];
        const double seconds = s->transfer / 1e9, bus = bandwidth_of(ranks, s);
        char label[TA_COLL_LABEL];
        any |= bus > 0 && s->bytes > 0;
        TA_ROW(
            out, by_size, [BY_SIZE_OP] = ta_text(ranks->shapes[s->shape].op),
            [BY_SIZE_GROUP] = ta_text(ta_coll_label(ranks, ranks->shapes[s->shape].group, label)),
            [BY_SIZE_BYTES] = ta_int(s->bytes),
            [BY_SIZE_SIZE] = ta_int(ranks->shapes[s->shape].size), [BY_SIZE_COUNT] = ta_int(s->n),
            [BY_SIZE_TRANSFER_MEAN] = ta_num(s->transfer / (double)s->n),
            [BY_SIZE_TRANSFER_MIN] = ta_int(s->least),
            [BY_SIZE_ALGORITHM_BANDWIDTH] =
                seconds > 0 ? ta_num((double)s->bytes * (double)s->n / seconds) : ta_null(),
            [BY_SIZE_BUS_BANDWIDTH] = ta_num(bus),
            [BY_SIZE_WAIT_SHARE] = ta_share(s->rank_wait, s->rank_time));
    }
    if (any)
        ta_draw(out, &by_size, &size_chart);
}

/* ---- collectives.links ---------------------------------------------------------------------- */

enum { PEERS_LEAST = 5 };
static const double SLOW_BELOW = 0.8; /* of the median of the peers */
static const double SLOW_Z = -3.5;

enum {
    LINKS_OP,
    LINKS_GROUP,
    LINKS_RANKS,
    LINKS_SIZE,
    LINKS_BYTES,
    LINKS_PEERS,
    LINKS_BUS_BANDWIDTH,
    LINKS_MEDIAN,
    LINKS_RATIO,
    LINKS_Z,
    LINKS_IS_SLOW,
    LINKS_LOSS
};
static const struct ta_column links_columns[] = {
    [LINKS_OP] = {"op", "Operation", TA_TEXT,
                  .doc = "Operation as the trace names it, otherwise the name of the kernel"},
    [LINKS_GROUP] = {"group", "Group", TA_TEXT,
                     .doc = "Name of the process group; empty if no record names it"},
    [LINKS_RANKS] = {"ranks", "Ranks", TA_TEXT, .doc = "Ranks of the process group, as recorded"},
    [LINKS_SIZE] = {"size", "Group size", TA_COUNT,
                    .doc = "Number of ranks in the process group, as recorded"},
    [LINKS_BYTES] = {"bytes", "Message size", TA_BYTES, .doc = "Full buffer of one collective"},
    [LINKS_PEERS] = {"peers", "Peers", TA_COUNT,
                     .doc = "Number of groups with the same operation, group size and message "
                            "size, including this one"},
    [LINKS_BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc = "Bandwidth on the busiest link: data per transfer time, times 2(n−1)/n for "
                "all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all, 1 for others"},
    [LINKS_MEDIAN] = {"median", "Median of peers", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                      .doc = "Median bus bandwidth of the peers"},
    [LINKS_RATIO] = {"ratio", "Ratio to median", TA_RATIO, .better = TA_HIGHER,
                     .doc = "Bus bandwidth divided by the median of the peers"},
    [LINKS_Z] = {"z", "Modified z", TA_NUMBER, .better = TA_HIGHER,
                 .doc = "Modified z-score of the logarithm of the bus bandwidth among its peers"},
    [LINKS_IS_SLOW] = {"is_slow", "Slow", TA_FLAG, .better = TA_LOWER,
                       .doc = "Whether z is below −3.5 and the bandwidth below 80 % of the median"},
    [LINKS_LOSS] =
        {"loss_ns", "Loss", TA_NS, .better = TA_LOWER,
         .doc =
             "Transfer time of the group beyond what the median bandwidth of its peers would take"},
};

static const struct ta_table_def links = {
    "collectives.links",
    "Bandwidth of groups against their peers",
    TA_COLUMNS(links_columns),
    .doc = "One row per operation, process group and message size if at least five groups of the "
           "same size do the same.",
    .order = {&links_columns[LINKS_RATIO], TA_ASCENDING},
    .joining = TA_JOIN_NOT};

static bool is_peer(const struct ta_ranks *ranks, const struct size *a, const struct size *b)
{
    const struct ta_coll_shape *x = &ranks->shapes[a->shape], *y = &ranks->shapes[b->shape];
    return ta_slice_equal(x->op, y->op) && x->size == y->size && a->bytes == b->bytes;
}

static int by_peers(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct size *a = left, *b = right;
    const struct ta_coll_shape *x = &ranks->shapes[a->shape], *y = &ranks->shapes[b->shape];
    const int order = ta_slice_compare(x->op, y->op);
    if (order)
        return order;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void add_peers(const struct ta_ranks *ranks, const struct size *peers, size_t n,
                      double *logs, struct ta_section_builder *out)
{
    for (size_t i = 0; i < n; i++)
        logs[i] = log(bandwidth_of(ranks, &peers[i]));
    ta_sort_numbers(logs, n);
    const double median = exp(ta_quantile(logs, n, 0.5));
    for (size_t i = 0; i < n; i++) {
        const struct size *s = &peers[i];
        const struct ta_coll_shape *shape = &ranks->shapes[s->shape];
        const double bus = bandwidth_of(ranks, s), value = log(bus), ratio = bus / median;
        char label[TA_COLL_LABEL];
        double z;
        ta_modified_z(logs, n, &value, 1, &z);
        TA_ROW(out, links, [LINKS_OP] = ta_text(shape->op),
               [LINKS_GROUP] = ta_text(ta_coll_label(ranks, shape->group, label)),
               [LINKS_RANKS] = ta_text(ranks->groups[shape->group].ranks),
               [LINKS_SIZE] = ta_int(shape->size), [LINKS_BYTES] = ta_int(s->bytes),
               [LINKS_PEERS] = ta_int((int64_t)n), [LINKS_BUS_BANDWIDTH] = ta_num(bus),
               [LINKS_MEDIAN] = ta_num(median), [LINKS_RATIO] = ta_num(ratio),
               [LINKS_Z] = ta_num(z), [LINKS_IS_SLOW] = ta_bool(z < SLOW_Z && ratio < SLOW_BELOW),
               [LINKS_LOSS] = ta_int(ta_whole(fmax(0, s->transfer * (1 - ratio)))));
    }
}

static bool add_links(const struct ta_ranks *ranks, struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    double *logs = calloc(n + 1, sizeof *logs);
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (bandwidth_of(ranks, &sizes[i]) > 0)
            sizes[known++] = sizes[i];
    if (known)
        qsort_r(sizes, known, sizeof *sizes, by_peers, (void *)(uintptr_t)ranks);
    for (size_t from = 0, to; logs && from < known; from = to) {
        for (to = from + 1; to < known && is_peer(ranks, &sizes[from], &sizes[to]);)
            to++;
        if (to - from >= PEERS_LEAST)
            add_peers(ranks, sizes + from, to - from, logs, out);
    }
    free(logs);
    return logs != NULL;
}

/* ---- all ------------------------------------------------------------------------------------ */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_ranks *ranks = in->ranks;
    struct size *sizes = calloc(ranks->n_shapes + 1, sizeof *sizes);
    bool done = sizes;
    if (done) {
        const size_t n = collect(ranks, sizes);
        add_sizes(ranks, sizes, n, out);
        done = add_links(ranks, sizes, n, out);
    }
    free(sizes);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up the collectives by size");
}

static const struct ta_table_def *const tables[] = {&by_size, &links, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 4,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, link_bandwidth, &ops, .title = "Bandwidth of collectives",
          .summary = "Bandwidth by message size, and groups slower than their peers: "
                     "collectives.by_size, collectives.links",
          .version = "1");
