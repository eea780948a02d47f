/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What links deliver: collectives.by_size, the bandwidth of each size of message;
 * collectives.links, groups that are slow beside their peers; collectives.small, messages whose
 * time is all latency. */
#include "stat/sample.h"
#include "tables.h"

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
static const struct ta_column coll_by_size_columns[] = {
    [BY_SIZE_OP] = {"op", "Operation", TA_TEXT, .doc = "As in the table of collectives"},
    [BY_SIZE_GROUP] = {"group", "Group", TA_TEXT, .doc = "Process group, likewise"},
    [BY_SIZE_BYTES] = {"bytes", "Message", TA_BYTES, .doc = "Full buffer of one collective"},
    [BY_SIZE_SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks of the group, as recorded"},
    [BY_SIZE_COUNT] = {"count", "Count", TA_COUNT, .doc = "Collectives whose transfer is known"},
    [BY_SIZE_TRANSFER_MEAN] =
        {"transfer_mean_ns", "Mean transfer", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time from the start of the last rank to the median of the ends"},
    [BY_SIZE_TRANSFER_MIN] = {"transfer_min_ns", "Least transfer", TA_NS, .better = TA_LOWER,
                              .doc = "The shortest of these"},
    [BY_SIZE_ALGORITHM_BANDWIDTH] = {"algorithm_bandwidth", "Bandwidth", TA_TYPE_NUMBER,
                                     TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
                                     .doc = "Data over the time of transfer"},
    [BY_SIZE_BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc = "The same for the data on the busiest link, as in the table of collectives"},
    [BY_SIZE_WAIT_SHARE] = {"wait_share", "Wait %", TA_RATIO, .better = TA_LOWER,
                            .doc = "Share of their time, all ranks, before the last rank came"},
};

static const struct ta_chart_def size_chart = {
    .id = "collectives",
    .title = "Bandwidth of collectives by size",
    .caption = "Bus bandwidth over the size of the message, per operation and process group. Time "
               "before the last rank came does not count.",
    .kind = TA_CHART_SCATTER,
    .label = {&coll_by_size_columns[BY_SIZE_OP], &coll_by_size_columns[BY_SIZE_GROUP]},
    .x = &coll_by_size_columns[BY_SIZE_BYTES],
    .y = {{&coll_by_size_columns[BY_SIZE_BUS_BANDWIDTH], "Bus bandwidth", TA_INK_COMM}},
    .group = &coll_by_size_columns[BY_SIZE_OP],
    .size = &coll_by_size_columns[BY_SIZE_COUNT],
};

const struct ta_table_def coll_by_size = {"collectives.by_size", "Bandwidth of collectives by size",
                                          TA_COLUMNS(coll_by_size_columns), .tier = TA_TIER_DETAIL,
                                          .joining = TA_JOIN_NOT};

static void add_sizes(const struct coll_run *run, const struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct size *s = &sizes[i];
        const double seconds = s->transfer / 1e9, bus = bandwidth_of(run, s);
        char label[COLL_LABEL];
        any |= bus > 0 && s->bytes > 0;
        TA_ROW(out, coll_by_size, [BY_SIZE_OP] = ta_text(run->shapes[s->shape].op),
               [BY_SIZE_GROUP] = coll_group_cell(run, run->shapes[s->shape].group, label),
               [BY_SIZE_BYTES] = ta_int(s->bytes), [BY_SIZE_SIZE] = ta_int(ranks_of(run, s)),
               [BY_SIZE_COUNT] = ta_int(s->n),
               [BY_SIZE_TRANSFER_MEAN] = ta_num(s->transfer / (double)s->n),
               [BY_SIZE_TRANSFER_MIN] = ta_int(s->least),
               [BY_SIZE_ALGORITHM_BANDWIDTH] =
                   seconds > 0 ? ta_num((double)s->bytes * (double)s->n / seconds) : ta_null(),
               [BY_SIZE_BUS_BANDWIDTH] = ta_num(bus),
               [BY_SIZE_WAIT_SHARE] = ta_share(s->rank_wait, s->rank_time));
    }
    if (any)
        ta_draw(out, &coll_by_size, &size_chart);
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
static const struct ta_column coll_links_columns[] = {
    [LINKS_OP] = {"op", "Operation", TA_TEXT, .doc = "As in the table of collectives"},
    [LINKS_GROUP] = {"group", "Group", TA_TEXT, .doc = "Process group, likewise"},
    [LINKS_RANKS] = {"ranks", "Ranks", TA_TEXT, .doc = "Its ranks, as recorded"},
    [LINKS_SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks of the group, as recorded"},
    [LINKS_BYTES] = {"bytes", "Message", TA_BYTES, .doc = "Full buffer of one collective"},
    [LINKS_PEERS] = {"peers", "Peers", TA_COUNT,
                     .doc = "Groups with the same operation, size, and message, itself included"},
    [LINKS_BUS_BANDWIDTH] = {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                             .better = TA_HIGHER, .doc = "As in the bandwidth by size"},
    [LINKS_MEDIAN] = {"median", "Median of peers", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                      .doc = "Median of the same over the peers"},
    [LINKS_RATIO] = {"ratio", "Of the median", TA_RATIO, .better = TA_HIGHER,
                     .doc = "The one over the other"},
    [LINKS_Z] = {"z", "Modified z", TA_NUMBER, .better = TA_HIGHER,
                 .doc = "Of its logarithm among those of the peers"},
    [LINKS_IS_SLOW] = {"is_slow", "Slow", TA_FLAG, .better = TA_LOWER,
                       .doc = "z below −3.5 and less than 80 % of the median"},
    [LINKS_LOSS] = {"loss_ns", "Loss", TA_NS, .better = TA_LOWER,
                    .doc = "Time of its transfers beyond what the median would have taken"},
};

const struct ta_table_def coll_links = {
    "collectives.links", "Bandwidth of groups beside their peers", TA_COLUMNS(coll_links_columns),
    .order = {&coll_links_columns[LINKS_RATIO], TA_ASCENDING}, .joining = TA_JOIN_NOT};

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
                      struct ta_section_builder *out)
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
        TA_ROW(out, coll_links, [LINKS_OP] = ta_text(shape->op),
               [LINKS_GROUP] = coll_group_cell(run, shape->group, label),
               [LINKS_RANKS] = ta_text(run->groups[shape->group].ranks),
               [LINKS_SIZE] = ta_int(shape->size), [LINKS_BYTES] = ta_int(s->bytes),
               [LINKS_PEERS] = ta_int((int64_t)n), [LINKS_BUS_BANDWIDTH] = ta_num(bus),
               [LINKS_MEDIAN] = ta_num(median), [LINKS_RATIO] = ta_num(ratio),
               [LINKS_Z] = ta_num(z), [LINKS_IS_SLOW] = ta_bool(z < SLOW_Z && ratio < SLOW_BELOW),
               [LINKS_LOSS] = ta_int(ta_whole(fmax(0, s->transfer * (1 - ratio)))));
    }
}

static bool add_links(const struct coll_run *run, struct size *sizes, size_t n,
                      struct ta_section_builder *out)
{
    double *logs = calloc(n + 1, sizeof *logs);
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
            add_peers(run, sizes + from, to - from, logs, out);
    }
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
