/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.exposed: communication that no compute covers, by what it is: waiting for the last
 * rank, or transfer.  The exposed time of a device is that of gpu_time.by_rank; it is divided as
 * its collectives are, of each of which the part that compute covers is taken from both alike. */
#include "tables.h"

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    {"window_ns", "Window", TA_NS, .doc = "As in GPU time by rank"},
    {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
     .doc = "Time in which communication runs and no compute, as in GPU time by rank"},
    {"wait_ns", "Waiting", TA_NS, .better = TA_LOWER,
     .doc = "Its part before the last rank had come: of each collective the share that compute "
            "does not cover, summed up and scaled to the exposed time"},
    {"transfer_ns", "Transfer", TA_NS, .better = TA_LOWER,
     .doc = "Its part from then on, likewise"},
    {"unknown_ns", "Unknown", TA_NS, .better = TA_LOWER,
     .doc = "The rest: collectives of which it is not known who came last"},
    {"exposed_share", "Exposed %", TA_RATIO, .better = TA_LOWER,
     .doc = "Exposed time over the window"},
    {"wait_share", "Waiting %", TA_RATIO, .better = TA_LOWER, .doc = "Waiting over the window"},
};

static const struct ta_chart chart = {
    .id = "exposed-communication",
    .title = "Exposed communication",
    .caption = "Time of each device in which communication runs and no compute, by whether the "
               "last rank had come already.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank", "device"},
    .y = {{"wait_ns", "Waiting for the last rank", TA_INK_IDLE},
          {"transfer_ns", "Transfer", TA_INK_COMM},
          {"unknown_ns", "Unknown", TA_INK_OTHER}},
};

struct parts {
    double wait, transfer, unknown;
};

static struct parts parts_of(const struct coll_run *run, const struct coll_member *member)
{
    struct parts parts = {0};
    for (size_t i = member->first; i < member->first + member->n; i++) {
        const struct coll_record *record = &run->records[i];
        const int64_t dur = record->end - record->start;
        if (dur == 0)
            continue;
        const int64_t hidden = coll_parts_of(run, record).hidden;
        const double bare = 1 - (double)ta_min_i64(hidden, dur) / (double)dur;
        const struct coll_instance *instance =
            record->instance == COLL_NONE ? NULL : &run->instances[record->instance];
        if (!instance || instance->transfer == TA_MISSING) {
            parts.unknown += (double)dur * bare;
            continue;
        }
        const int64_t wait = coll_wait_of(instance, record);
        parts.wait += (double)wait * bare;
        parts.transfer += (double)(dur - wait) * bare;
    }
    return parts;
}

static int by_member(const void *left, const void *right)
{
    const struct coll_member *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

/* Members come in this order, as rows of partials do. */
static const struct coll_member *member_of(const struct coll_run *run, int64_t rank, int64_t device)
{
    const struct coll_member key = {.rank = rank, .device = device};
    return run->n_members
               ? bsearch(&key, run->members, run->n_members, sizeof *run->members, by_member)
               : NULL;
}

static bool add_device(const struct coll_run *run, const struct ta_table *gpu, size_t row,
                       struct ta_table_builder *table)
{
    const int64_t rank = coll_cell_int(gpu, row, "rank");
    const int64_t device = coll_cell_int(gpu, row, "device");
    const int64_t window = coll_cell_int(gpu, row, "window_ns");
    const int64_t exposed = coll_cell_int(gpu, row, "comm_exposed_ns");
    const struct coll_member *member = member_of(run, rank, device);
    if (!member || exposed == TA_MISSING)
        return false;
    const struct parts parts = parts_of(run, member);
    const double all = parts.wait + parts.transfer + parts.unknown;
    const double scale = all > 0 ? (double)exposed / all : 0;
    const int64_t wait = ta_min_i64(ta_whole(parts.wait * scale + 0.5), exposed);
    const int64_t transfer =
        parts.unknown > 0 ? ta_min_i64(ta_whole(parts.transfer * scale + 0.5), exposed - wait)
        : all > 0         ? exposed - wait
                          : 0;
    TA_CELLS(table, ta_int(rank), ta_int(device), ta_int(window), ta_int(exposed), ta_int(wait),
             ta_int(transfer), ta_int(exposed - wait - transfer), ta_share(exposed, window),
             ta_share(wait, window));
    return wait + transfer > 0;
}

void coll_add_exposed(const struct coll_run *run, const struct ta_report *prior,
                      struct ta_section_builder *out)
{
    const struct ta_table *gpu = ta_report_table(prior, "gpu_time.by_rank");
    bool any = false;
    if (!gpu || run->n_members < 2)
        return;
    struct ta_table_builder *table =
        ta_add_table(out, "collectives.exposed", "Exposed communication by rank", columns,
                     sizeof columns / sizeof *columns);
    for (size_t row = 0; row < gpu->n_rows; row++)
        any |= add_device(run, gpu, row, table);
    if (any)
        ta_add_chart(table, &chart);
}
