/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.link_use: how much of the bandwidth between devices collectives reach.
 *
 * The fastest tenth of the calls of a size shows what the link does: with the trace of one rank
 * alone, a call that waits for a partner looks like one with slow data, and the fastest calls
 * wait least.  A link is judged only by messages that should take far less time than they did,
 * so that latency explains nothing. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { DEVICE_RANK, DEVICE_ID, DEVICE_HARDWARE, DEVICE_PEER, DEVICE_HOST, DEVICE_FIELDS };

static const struct ta_field device_fields[DEVICE_FIELDS] = {
    [DEVICE_RANK] = {"rank", TA_FIELD_RANK},         [DEVICE_ID] = {"device", TA_FIELD_INT},
    [DEVICE_HARDWARE] = {"hardware", TA_FIELD_TEXT}, [DEVICE_PEER] = {"peer", TA_FIELD_MIN},
    [DEVICE_HOST] = {"host", TA_FIELD_MIN},
};

static const struct ta_partial_def partials[] = {{"devices", device_fields, DEVICE_FIELDS}, {0}};

enum {
    OP,
    GROUP,
    SIZE,
    BYTES,
    COUNT,
    BASIS,
    FASTEST,
    BUS_BANDWIDTH,
    LINK,
    LINK_BANDWIDTH,
    LINK_SHARE,
    EXPOSED,
    LIMIT,
    LOSS_LOW,
    LOSS_HIGH
};
static const struct ta_column link_use_columns[] = {
    [OP] = {"op", "Operation", TA_TEXT,
            .doc = "Operation as the trace names it, otherwise the name of the kernel"},
    [GROUP] = {"group", "Group", TA_TEXT,
               .doc = "Name of the process group; empty if no record names it"},
    [SIZE] = {"size", "Group size", TA_COUNT,
              .doc = "Number of ranks in the process group, as recorded"},
    [BYTES] = {"bytes", "Message size", TA_BYTES, .doc = "Full buffer of one collective"},
    [COUNT] = {"count", "Count", TA_COUNT, .doc = "Number of calls that the figures are based on"},
    [BASIS] = {"basis", "Basis", TA_WORD,
               .doc = "`transfer`: time without waiting for the last rank; `duration`: time "
                      "including the wait, since the traces of the other ranks were not read"},
    [FASTEST] = {"fastest_ns", "Fastest tenth", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "10th percentile of the transfer time or duration of these calls"},
    [BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc =
             "Bandwidth on the busiest link at the fastest tenth: data per time, times 2(n−1)/n "
             "for all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all, 1 for others"},
    [LINK] = {"link", "Link", TA_TEXT,
              .doc = "Link between the devices: NVLink, Infinity Fabric or PCIe; the network if "
                     "the ranks of the group span several nodes"},
    [LINK_BANDWIDTH] =
        {"link_bandwidth", "Link bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
         .doc =
             "Data sheet bandwidth of the link for one device and direction; empty for a network"},
    [LINK_SHARE] = {"share", "Link utilization", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Bus bandwidth divided by link bandwidth"},
    [EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                 .doc = "Time of these calls per rank in which nothing is computed and the rank is "
                        "not known to wait"},
    [LIMIT] = {"limit", "Limited by", TA_WORD,
               .doc = "What explains a bandwidth far below the link: `host_memory`: less than a "
                      "third of what PCIe reaches; `pcie`: less than PCIe reaches; `protocol`: "
                      "less than a fifth of the link; `network`: less than 6 GB/s between nodes"},
    [LOSS_LOW] = {"loss_low_ns", "Loss (low)", TA_NS, .better = TA_LOWER,
                  .doc = "Exposed time beyond what these calls would take at 30 % of the link "
                         "bandwidth; empty for a network"},
    [LOSS_HIGH] = {"loss_high_ns", "Loss (high)", TA_NS, .better = TA_LOWER,
                   .doc = "Exposed time beyond what these calls would take at 90 % of the link "
                          "bandwidth; empty for a network"},
};

static const struct ta_table_def link_use = {
    "collectives.link_use",
    "Link use by collectives",
    TA_COLUMNS(link_use_columns),
    .doc = "One row per operation, process group and message size, if the link between the devices "
           "is known. Operations whose ranks send different amounts are left out.",
    .tier = TA_TIER_DETAIL,
    .order = {&link_use_columns[EXPOSED], TA_DESCENDING},
    .joining = TA_JOIN_NOT};

/* ---- devices -------------------------------------------------------------------------------- */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    for (size_t from = 0; from < activities.n; from = ta_device_end(&activities, from)) {
        const struct ta_device *device = ta_trace_device(trace, activities.at[from].device);
        const char *why;
        const struct ta_hardware *hardware = device ? ta_ctx_hardware(ctx, device, &why) : NULL;
        if (!hardware)
            continue;
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)),
                                      ta_key_int(activities.at[from].device),
                                      ta_key_text(ta_slice_of(hardware->name)));
        ta_least(&row[DEVICE_PEER], ta_whole(hardware->peer_bytes_per_s));
        ta_least(&row[DEVICE_HOST], ta_whole(hardware->host_bytes_per_s));
    }
    return TA_OK;
}

/* The link between two devices of a node. */
struct link {
    const char *name; /* NULL if unknown */
    double rate, pcie;
    bool is_for_each; /* whether the rate is to one other device, with a link to each */
    int64_t per_node; /* devices */
};

enum { PER_NODE_PRESET = 8, LINKS_MOST = 7 };

/* If devices differ, the slowest counts. */
static struct link link_of(const struct ta_partial *devices, const struct ta_ranks *ranks)
{
    static const char *const racks[] = {"GB200", "GB300", NULL};
    struct link link = {.per_node = PER_NODE_PRESET};
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        const struct ta_slice hardware = ta_partial_text(devices, row, DEVICE_HARDWARE);
        const bool is_amd = ta_slice_starts(hardware, "AMD");
        const bool has_peer = row[DEVICE_PEER] > 0;
        const double rate = (double)(has_peer ? row[DEVICE_PEER] : row[DEVICE_HOST]);
        if (rate <= 0 || (link.name && rate >= link.rate))
            continue;
        link.name = !has_peer ? "PCIe" : is_amd ? "Infinity Fabric" : "NVLink";
        link.rate = rate;
        link.pcie = (double)row[DEVICE_HOST];
        link.is_for_each = has_peer && is_amd;
        if (ta_slice_has_any(hardware, racks))
            link.per_node = 72; /* NVLink joins the devices of a rack */
    }
    for (size_t i = 0; i < ranks->n_members; i++)
        link.per_node = ta_max_i64(link.per_node, ta_add_sat(ranks->members[i].device, 1));
    return link;
}

/* Whether a group has ranks on several nodes according to its list; nodes have consecutive
 * ranks. */
static bool crosses_nodes(const struct ta_coll_group *group, int64_t size, int64_t per_node)
{
    int64_t least = INT64_MAX, most = -1;
    if (size != TA_MISSING && size > per_node)
        return true;
    for (size_t i = 0; i < group->ranks.len;) {
        int64_t value = 0;
        if (!isdigit((unsigned char)group->ranks.ptr[i])) {
            i++;
            continue;
        }
        for (; i < group->ranks.len && isdigit((unsigned char)group->ranks.ptr[i]) &&
               value < INT32_MAX;
             i++)
            value = value * 10 + group->ranks.ptr[i] - '0';
        least = ta_min_i64(least, value);
        most = ta_max_i64(most, value);
    }
    return most >= 0 && least / per_node != most / per_node;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* One call of a rank. */
struct call {
    uint32_t shape, member;
    bool is_transfer;
    int64_t ns, exposed;
};

static bool has_rate(const struct ta_coll_shape *shape)
{
    return shape->bytes != TA_MISSING && shape->bytes > 0 && shape->size != TA_MISSING &&
           shape->size > 1 && ta_coll_synchronizes(shape->kind);
}

static size_t collect(const struct ta_ranks *ranks, struct call *calls)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_records; i++) {
        const struct ta_coll_record *record = &ranks->records[i];
        const int64_t dur = record->end - record->start;
        if (!has_rate(&ranks->shapes[record->shape]) || dur <= 0 ||
            ta_coll_is_before(ranks, record))
            continue;
        const struct ta_collective *collective = ta_coll_with_waits(ranks, (uint32_t)i);
        const int64_t wait = collective ? ta_coll_wait(collective, record) : 0;
        const double bare =
            1 - (double)ta_min_i64(ta_coll_parts(ranks, record).hidden, dur) / (double)dur;
        if (collective && collective->transfer <= 0)
            continue;
        calls[n++] = (struct call){.shape = record->shape,
                                   .member = record->member,
                                   .is_transfer = collective != NULL,
                                   .ns = collective ? collective->transfer : dur,
                                   .exposed = ta_whole((double)(dur - wait) * bare)};
    }
    return n;
}

static int by_class(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct call *a = left, *b = right;
    const struct ta_coll_shape *x = &ranks->shapes[a->shape], *y = &ranks->shapes[b->shape];
    const int order = ta_slice_compare(x->op, y->op);
    if (order)
        return order;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static int by_class_and_member(const void *left, const void *right, void *user)
{
    const struct call *a = left, *b = right;
    const int order = by_class(left, right, user);
    return order ? order : (a->member > b->member) - (a->member < b->member);
}

/* ---- the judgment --------------------------------------------------------------------------- */

#define LATENCY_NS 30e3 /* of one call within a node, */
#define LEAST_LATENCY_NS 10e3
#define REACHED_AT_LEAST 0.3 /* of a link, by large messages */
#define REACHED_AT_MOST 0.9
#define FAR_BELOW 3      /* times what half of the link would take, */
#define FAR_BELOW_PCIE 2 /* which few reach more of */
#define OF_HOST_MEMORY                                                                             \
    (1. / 3)                /* of PCIe: data is copied into memory of the host and out of it       \
                             */
#define OF_PROTOCOL 0.2     /* of a link that is used: LL moves a flag with each word of data */
#define PROTOCOL_FROM 200e9 /* where every device reaches all others over all of its links */
#define SLOW_NETWORK 6e9    /* what TCP over a 50 Gb/s network moves */

enum { ALONE_FEW = 3 }; /* or so few, that are all as long */
#define FEW_SPREAD 1.15
enum { ALONE_FROM = 8 }; /* calls of a rank alone that show the link, */
#define ALONE_SPREAD 1.3 /* if their median is not longer than the fastest by more */

static double time_at(double moved, double rate, double latency)
{
    return latency + moved / rate * 1e9;
}

/* What explains a bandwidth far below the link; NULL if it is not far below. */
static const char *limit_of(const struct link *link, double rate, double moved, double fastest,
                            double bus)
{
    if (!link->name)
        return moved > 0 && bus < SLOW_NETWORK && fastest > 10 * LATENCY_NS ? "network" : NULL;
    const bool is_pcie = rate <= link->pcie;
    if (fastest < (is_pcie ? FAR_BELOW_PCIE : FAR_BELOW) * time_at(moved, rate / 2, LATENCY_NS))
        return NULL;
    if (link->pcie > 0 && bus < OF_HOST_MEMORY * link->pcie)
        return "host_memory";
    if (!is_pcie && bus < link->pcie)
        return "pcie";
    return rate >= PROTOCOL_FROM && bus < OF_PROTOCOL * rate ? "protocol" : NULL;
}

static double loss(int64_t exposed, double fastest, double at_rate)
{
    return fmax(0, (double)exposed * (1 - at_rate / fastest));
}

/* Calls of one operation, group and message size. */
struct class
{
    const struct ta_coll_shape *shape;
    int64_t n, exposed; /* per rank */
    bool is_transfer, crosses;
    double fastest, median, slowest, moved, bus;
};

static struct class class_of(const struct ta_ranks *ranks, const struct call *calls, size_t n,
                             const struct link *node, double *times)
{
    const struct ta_coll_shape *shape = &ranks->shapes[calls[0].shape];
    int64_t members = 0;
    struct class c = {.shape = shape,
                      .n = (int64_t)n,
                      .is_transfer = true,
                      .crosses =
                          crosses_nodes(&ranks->groups[shape->group], shape->size, node->per_node),
                      .moved = (double)shape->bytes * ta_coll_bus_factor(shape->kind, shape->size)};
    for (size_t i = 0; i < n; i++) {
        times[i] = (double)calls[i].ns;
        c.exposed = ta_add_sat(c.exposed, calls[i].exposed);
        c.is_transfer &= calls[i].is_transfer;
        members += i == 0 || calls[i].member != calls[i - 1].member;
    }
    c.exposed /= members;
    ta_sort_numbers(times, n);
    c.fastest = ta_quantile(times, n, 0.1);
    c.median = ta_quantile(times, n, 0.5);
    c.slowest = times[n - 1];
    c.bus = c.moved / c.fastest * 1e9;
    return c;
}

/* Whether the fastest calls show the link: with one rank alone, they do if there are enough and
 * most take equally long, since waits would differ. */
static bool shows_link(const struct class *c)
{
    return c->is_transfer || (c->n >= ALONE_FROM && c->median <= ALONE_SPREAD * c->fastest) ||
           (c->n >= ALONE_FEW && c->slowest <= FEW_SPREAD * c->fastest);
}

/* `best`: the highest bandwidth of any message size of the group. */
static void add_class(const struct ta_ranks *ranks, const struct class *c, double best,
                      const struct link *node, struct ta_section_builder *out)
{
    const struct link link = c->crosses ? (struct link){0} : *node;
    const double rate =
        link.rate * (link.is_for_each ? (double)ta_min_i64(c->shape->size - 1, LINKS_MOST) : 1);
    const char *limit = shows_link(c) ? limit_of(&link, rate, c->moved, c->fastest, best) : NULL;
    const bool has_loss = limit && link.name;
    const double slow = time_at(c->moved, REACHED_AT_LEAST * rate, LATENCY_NS);
    const double fast = time_at(c->moved, REACHED_AT_MOST * rate, LEAST_LATENCY_NS);
    char label[TA_COLL_LABEL];
    TA_ROW(out, link_use, [OP] = ta_text(c->shape->op),
           [GROUP] = ta_text(ta_coll_label(ranks, c->shape->group, label)),
           [SIZE] = ta_int(c->shape->size), [BYTES] = ta_int(c->shape->bytes),
           [COUNT] = ta_int(c->n), [BASIS] = ta_string(c->is_transfer ? "transfer" : "duration"),
           [FASTEST] = ta_num(c->fastest), [BUS_BANDWIDTH] = ta_num(c->bus),
           [LINK] = ta_string(link.name ? link.name : "network"),
           [LINK_BANDWIDTH] = link.name ? ta_num(rate) : ta_null(),
           [LINK_SHARE] = link.name ? ta_num(c->bus / rate) : ta_null(),
           [EXPOSED] = ta_int(c->exposed), [LIMIT] = ta_string(limit),
           [LOSS_LOW] = has_loss ? ta_int(ta_whole(loss(c->exposed, c->fastest, slow))) : ta_null(),
           [LOSS_HIGH] =
               has_loss ? ta_int(ta_whole(loss(c->exposed, c->fastest, fast))) : ta_null());
}

static void add_classes(const struct ta_ranks *ranks, const struct class *classes, size_t n,
                        const struct link *link, double *best, struct ta_section_builder *out)
{
    for (size_t i = 0; i < n; i++)
        best[classes[i].shape->group] = fmax(best[classes[i].shape->group], classes[i].bus);
    for (size_t i = 0; i < n; i++)
        add_class(ranks, &classes[i], best[classes[i].shape->group], link, out);
}

static size_t classify(const struct ta_ranks *ranks, const struct call *calls, size_t n,
                       const struct link *link, double *times, struct class *classes)
{
    size_t known = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1;
             to < n && by_class(&calls[from], &calls[to], (void *)(uintptr_t)ranks) == 0;)
            to++;
        classes[known++] = class_of(ranks, calls + from, to - from, link, times);
    }
    return known;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_ranks *ranks = in->ranks;
    const struct link link = link_of(merged[0], ranks);
    if (!link.name)
        return TA_OK;
    struct call *calls = calloc(ranks->n_records + 1, sizeof *calls);
    double *times = calloc(ranks->n_records + 1, sizeof *times);
    struct class *classes = calloc(ranks->n_shapes + 1, sizeof *classes);
    double *best = calloc(ranks->n_groups + 1, sizeof *best);
    const bool done = calls && times && classes && best;
    const size_t n = done ? collect(ranks, calls) : 0;
    if (n) {
        qsort_r(calls, n, sizeof *calls, by_class_and_member, (void *)(uintptr_t)ranks);
        add_classes(ranks, classes, classify(ranks, calls, n, &link, times, classes), &link, best,
                    out);
    }
    free(calls);
    free(times);
    free(classes);
    free(best);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot put the collectives in order");
}

static const struct ta_table_def *const tables[] = {&link_use, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 6,
    .partials = partials,
    .map = map,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, link_use, &ops, .title = "Link use by collectives",
          .summary = "Link bandwidth that collectives reach between devices: collectives.link_use",
          .version = "1");
