/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What links deliver: collectives.by_size, the bandwidth of each size of message;
 * collectives.links, groups that are slow beside their peers; collectives.small, messages whose
 * time is all latency. */
#include "tables.h"

#include <traceanalyze/stat_sample.h>

#include <math.h>

/* Instances of one operation, group and size of message. */
struct size {
    uint32_t shape;
    int64_t n, bytes, least, rank_wait, rank_time;
    double transfer; /* sum */
};

static int64_t ranks_of(const struct coll_run *run, const struct size *size)
{
    const struct coll_shape *shape = &run->shapes[size->shape];
    return shape->size;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const struct coll_shape *a = &run->shapes[((const struct size *)left)->shape];
    const struct coll_shape *b = &run->shapes[((const struct size *)right)->shape];
    const int order = ta_slice_compare(a->op, b->op);
    if (order)
        return order;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

static void add_waits(const struct coll_run *run, const struct coll_instance *instance,
                      struct size *to)
{
    for (size_t i = 0; i < instance->n; i++) {
        const struct coll_record *record = &run->records[run->entries[instance->first + i]];
        to->rank_wait = ta_add_sat(to->rank_wait, coll_wait_of(instance, record));
        to->rank_time = ta_add_sat(to->rank_time, record->end - record->start);
    }
}

/* One for each shape, then those that are equal but for their elements become one.  Returns how
 * many there are. */
static size_t collect(const struct coll_run *run, struct size *sizes)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_shapes; i++)
        sizes[i] = (struct size){.shape = (uint32_t)i, .least = INT64_MAX};
    for (size_t i = 0; i < run->n_instances; i++) {
        const struct coll_instance *instance = &run->instances[i];
        struct size *to = &sizes[instance->shape];
        if (instance->transfer == TA_MISSING || run->shapes[instance->shape].bytes == TA_MISSING)
            continue;
        to->n++;
        to->bytes = run->shapes[instance->shape].bytes;
        to->least = ta_min_i64(to->least, instance->transfer);
        to->transfer += (double)instance->transfer;
        add_waits(run, instance, to);
    }
    qsort_r(sizes, run->n_shapes, sizeof *sizes, by_size, (void *)(uintptr_t)run);
    for (size_t i = 0; i < run->n_shapes; i++) {
        if (sizes[i].n == 0)
            continue;
        struct size *last = n ? &sizes[n - 1] : NULL;
        if (!last || by_size(last, &sizes[i], (void *)(uintptr_t)run) != 0) {
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

static double bandwidth_of(const struct coll_run *run, const struct size *size)
{
    const struct coll_shape *shape = &run->shapes[size->shape];
    if (size->transfer <= 0 || shape->size == TA_MISSING)
        return NAN;
    return (double)size->bytes * (double)size->n * coll_bus_factor(shape->kind, shape->size) /
           (size->transfer / 1e9);
}

/* ---- collectives.by_size -------------------------------------------------------------------- */

static const struct ta_column size_columns[] = {
    {"op", "Operation", TA_TEXT, .doc = "As in the table of collectives"},
    {"group", "Group", TA_TEXT, .doc = "Process group, likewise"},
    {"bytes", "Message", TA_BYTES, .doc = "Full buffer of one collective"},
    {"size", "Group size", TA_COUNT, .doc = "Ranks of the group, as recorded"},
    {"count", "Count", TA_COUNT, .doc = "Collectives whose transfer is known"},
    {"transfer_mean_ns", "Mean transfer", TA_NS_MEAN, .better = TA_LOWER,
     .doc = "Mean time from the start of the last rank to the median of the ends"},
    {"transfer_min_ns", "Least transfer", TA_NS, .better = TA_LOWER,
     .doc = "The shortest of these"},
    {"algorithm_bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
     .doc = "Data over the time of transfer"},
    {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
     .doc = "The same for the data on the busiest link, as in the table of collectives"},
    {"wait_share", "Wait %", TA_RATIO, .better = TA_LOWER,
     .doc = "Share of their time, all ranks, before the last rank came"},
};

static const struct ta_chart size_chart = {
    .id = "collectives",
    .title = "Bandwidth of collectives by size",
    .caption = "Bus bandwidth over the size of the message, per operation and process group. Time "
               "before the last rank came does not count.",
    .kind = TA_CHART_SCATTER,
    .label = {"op", "group"},
    .x = "bytes",
    .y = {{"bus_bandwidth", "Bus bandwidth", TA_INK_COMM}},
    .group = "op",
    .size = "count",
};

static void add_sizes(const struct coll_run *run, const struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "collectives.by_size", "Bandwidth of collectives by size", size_columns,
                     sizeof size_columns / sizeof *size_columns);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct size *s = &sizes[i];
        const double seconds = s->transfer / 1e9, bus = bandwidth_of(run, s);
        char label[COLL_LABEL];
        any |= bus > 0 && s->bytes > 0;
        TA_CELLS(table, ta_text(run->shapes[s->shape].op),
                 coll_group_cell(run, run->shapes[s->shape].group, label), ta_int(s->bytes),
                 ta_int(ranks_of(run, s)), ta_int(s->n), ta_num(s->transfer / (double)s->n),
                 ta_int(s->least),
                 seconds > 0 ? ta_num((double)s->bytes * (double)s->n / seconds) : ta_null(),
                 ta_num(bus), ta_share(s->rank_wait, s->rank_time));
    }
    if (any)
        ta_add_chart(table, &size_chart);
}

/* ---- collectives.links ---------------------------------------------------------------------- */

enum { PEERS_LEAST = 5 };
static const double SLOW_BELOW = 0.8; /* of the median of the peers */
static const double SLOW_Z = -3.5;

static const struct ta_column link_columns[] = {
    {"op", "Operation", TA_TEXT, .doc = "As in the table of collectives"},
    {"group", "Group", TA_TEXT, .doc = "Process group, likewise"},
    {"ranks", "Ranks", TA_TEXT, .doc = "Its ranks, as recorded"},
    {"size", "Group size", TA_COUNT, .doc = "Ranks of the group, as recorded"},
    {"bytes", "Message", TA_BYTES, .doc = "Full buffer of one collective"},
    {"peers", "Peers", TA_COUNT,
     .doc = "Groups with the same operation, size, and message, itself included"},
    {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
     .doc = "As in the bandwidth by size"},
    {"median", "Median of peers", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
     .doc = "Median of the same over the peers"},
    {"ratio", "Of the median", TA_RATIO, .better = TA_HIGHER, .doc = "The one over the other"},
    {"z", "Modified z", TA_NUMBER, .better = TA_HIGHER,
     .doc = "Of its logarithm among those of the peers"},
    {"is_slow", "Slow", TA_FLAG, .better = TA_LOWER,
     .doc = "z below −3.5 and less than 80 % of the median"},
    {"loss_ns", "Loss", TA_NS, .better = TA_LOWER,
     .doc = "Time of its transfers beyond what the median would have taken"},
};

static bool is_peer(const struct coll_run *run, const struct size *a, const struct size *b)
{
    const struct coll_shape *x = &run->shapes[a->shape], *y = &run->shapes[b->shape];
    return ta_slice_equal(x->op, y->op) && x->size == y->size && a->bytes == b->bytes;
}

static int by_peers(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const struct size *a = left, *b = right;
    const struct coll_shape *x = &run->shapes[a->shape], *y = &run->shapes[b->shape];
    const int order = ta_slice_compare(x->op, y->op);
    if (order)
        return order;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void add_peers(const struct coll_run *run, const struct size *peers, size_t n, double *logs,
                      struct ta_table_builder *table)
{
    for (size_t i = 0; i < n; i++)
        logs[i] = log(bandwidth_of(run, &peers[i]));
    ta_sort_numbers(logs, n);
    const double median = exp(ta_quantile(logs, n, 0.5));
    for (size_t i = 0; i < n; i++) {
        const struct size *s = &peers[i];
        const struct coll_shape *shape = &run->shapes[s->shape];
        const double bus = bandwidth_of(run, s), value = log(bus), ratio = bus / median;
        char label[COLL_LABEL];
        double z;
        ta_modified_z(logs, n, &value, 1, &z);
        TA_CELLS(table, ta_text(shape->op), coll_group_cell(run, shape->group, label),
                 ta_text(run->groups[shape->group].ranks), ta_int(shape->size), ta_int(s->bytes),
                 ta_int((int64_t)n), ta_num(bus), ta_num(median), ta_num(ratio), ta_num(z),
                 ta_bool(z < SLOW_Z && ratio < SLOW_BELOW),
                 ta_int(ta_whole(fmax(0, s->transfer * (1 - ratio)))));
    }
}

static bool add_links(const struct coll_run *run, struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    double *logs = calloc(n + 1, sizeof *logs);
    struct ta_table_builder *table =
        ta_add_table(out, "collectives.links", "Bandwidth of groups beside their peers",
                     link_columns, sizeof link_columns / sizeof *link_columns);
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (bandwidth_of(run, &sizes[i]) > 0)
            sizes[known++] = sizes[i];
    if (known)
        qsort_r(sizes, known, sizeof *sizes, by_peers, (void *)(uintptr_t)run);
    for (size_t from = 0, to; logs && from < known; from = to) {
        for (to = from + 1; to < known && is_peer(run, &sizes[from], &sizes[to]);)
            to++;
        if (to - from >= PEERS_LEAST)
            add_peers(run, sizes + from, to - from, logs, table);
    }
    ta_sort_rows(table, "ratio", false);
    free(logs);
    return logs != NULL;
}

/* ---- all ------------------------------------------------------------------------------------ */

bool coll_add_sizes(const struct coll_run *run, struct ta_section_builder *out)
{
    struct size *sizes = calloc(run->n_shapes + 1, sizeof *sizes);
    if (!sizes)
        return false;
    const size_t n = collect(run, sizes);
    add_sizes(run, sizes, n, out);
    const bool done = add_links(run, sizes, n, out);
    free(sizes);
    return done;
}
