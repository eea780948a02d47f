/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.exposed: communication that no compute covers, by what it is: waiting for the last
 * rank, or transfer.  The exposed time of a device is that of gpu_time.by_rank; it is divided as
 * its collectives are, of each of which the part that compute covers is taken from both alike. */
#include "tables.h"

enum { RANK, DEVICE, WINDOW, EXPOSED, WAIT, TRANSFER, UNKNOWN, EXPOSED_SHARE, WAIT_SHARE };
static const struct ta_column coll_exposed_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN,
    [WINDOW] = {"window_ns", "Window", TA_NS, .doc = "As in GPU time by rank"},
    [EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                 .doc = "Time in which communication runs and no compute, as in GPU time by rank"},
    [WAIT] = {"wait_ns", "Waiting", TA_NS, .better = TA_LOWER, .weight = 0.6,
              .doc = "Its part before the last rank had come: of each collective the share that "
                     "compute does not cover, summed up and scaled to the exposed time"},
    [TRANSFER] = {"transfer_ns", "Transfer", TA_NS, .better = TA_LOWER, .weight = 0.6,
                  .doc = "Its part from then on, likewise"},
    [UNKNOWN] = {"unknown_ns", "Unknown", TA_NS, .better = TA_LOWER,
                 .doc = "The rest: collectives of which it is not known who came last"},
    [EXPOSED_SHARE] = {"exposed_share", "Exposed %", TA_RATIO, .better = TA_LOWER,
                       .doc = "Exposed time over the window"},
    [WAIT_SHARE] = {"wait_share", "Waiting %", TA_RATIO, .better = TA_LOWER,
                    .doc = "Waiting over the window"},
};

static const struct ta_chart_def chart = {
    .id = "exposed-communication",
    .title = "Exposed communication",
    .caption = "Time of each device in which communication runs and no compute, by whether the "
               "last rank had come already.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&coll_exposed_columns[RANK], &coll_exposed_columns[DEVICE]},
    .y = {{&coll_exposed_columns[WAIT], "Waiting for the last rank", TA_INK_IDLE},
          {&coll_exposed_columns[TRANSFER], "Transfer", TA_INK_COMM},
          {&coll_exposed_columns[UNKNOWN], "Unknown", TA_INK_OTHER}},
};

const struct ta_table_def coll_exposed = {
    "collectives.exposed", "Exposed communication by rank", TA_COLUMNS(coll_exposed_columns),
    .rank_words = "Exposed communication", .joining = TA_JOIN_NOT};

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

static bool add_device(const struct coll_run *run, const struct ta_refs *in, size_t row,
                       struct ta_section_builder *out)
{
    const int64_t rank = ta_ref_integer(in, GPU_RANK, row);
    const int64_t device = ta_ref_integer(in, GPU_DEVICE, row);
    const int64_t window = ta_ref_integer(in, GPU_WINDOW, row);
    const int64_t exposed = ta_ref_integer(in, GPU_EXPOSED, row);
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
    TA_ROW(out, coll_exposed, [RANK] = ta_int(rank), [DEVICE] = ta_int(device),
           [WINDOW] = ta_int(window), [EXPOSED] = ta_int(exposed), [WAIT] = ta_int(wait),
           [TRANSFER] = ta_int(transfer), [UNKNOWN] = ta_int(exposed - wait - transfer),
           [EXPOSED_SHARE] = ta_share(exposed, window), [WAIT_SHARE] = ta_share(wait, window));
    return wait + transfer > 0;
}

void coll_add_exposed(const struct coll_run *run, const struct ta_refs *in,
                      struct ta_section_builder *out)
{
    bool any = false;
    if (run->n_members < 2)
        return;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++)
        any |= add_device(run, in, row, out);
    if (any)
        ta_draw(out, &coll_exposed, &chart);
}
