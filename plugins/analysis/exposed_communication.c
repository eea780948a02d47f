/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.exposed: communication while no compute runs, as waiting for the last rank and as
 * transfer.  The exposed time of a device comes from gpu_time.by_rank; it is divided in
 * proportion to the waiting and transfer of its collectives, after the part that overlaps
 * compute is taken from both alike. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { RANK, DEVICE, WINDOW, EXPOSED, WAIT, TRANSFER, UNKNOWN, BEFORE, EXPOSED_SHARE, WAIT_SHARE };
static const struct ta_column by_device_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN,
    [WINDOW] = {"window_ns", "Window", TA_NS,
                .doc = "From the first to the last activity of the device"},
    [EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                 .doc = "Time in which communication and no compute kernel runs on the device"},
    [WAIT] = {"wait_ns", "Waiting", TA_NS, .better = TA_LOWER, .weight = 0.6,
              .doc = "Part of the exposed time before the last rank had arrived: each collective's "
                     "part that compute does not overlap, summed and scaled to the exposed time"},
    [TRANSFER] = {"transfer_ns", "Transfer", TA_NS, .better = TA_LOWER, .weight = 0.6,
                  .doc = "Part of the exposed time after the last rank had arrived"},
    [UNKNOWN] = {"unknown_ns", "Unknown", TA_NS, .better = TA_LOWER,
                 .doc = "Exposed time of collectives whose last rank is not known"},
    [BEFORE] = {"before_ns", "Before recording", TA_NS,
                .doc = "Exposed time that began before the recording: collectives that were "
                       "launched before it, and waits for a rank whose recording began later"},
    [EXPOSED_SHARE] = {"exposed_share", "Exposed %", TA_RATIO, .better = TA_LOWER,
                       .doc = "Exposed time divided by the window"},
    [WAIT_SHARE] = {"wait_share", "Waiting %", TA_RATIO, .better = TA_LOWER,
                    .doc = "Waiting time divided by the window"},
};

static const struct ta_chart_def chart = {
    .id = "exposed-communication",
    .title = "Exposed communication",
    .caption = "Exposed communication of each device: waiting for the last rank, and transfer "
               "after it arrived.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_device_columns[RANK], &by_device_columns[DEVICE]},
    .y = {{&by_device_columns[WAIT], "Waiting for the last rank", TA_INK_WAIT},
          {&by_device_columns[TRANSFER], "Transfer", TA_INK_COMM},
          {&by_device_columns[UNKNOWN], "Unknown", TA_INK_MUTED},
          {&by_device_columns[BEFORE], "Began before the recording", TA_INK_COMM_HIDDEN}},
};

static const struct ta_table_def by_device = {
    "collectives.exposed",
    "Exposed communication by rank",
    TA_COLUMNS(by_device_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device of `gpu_time.by_rank`, if several ranks were read. Chart "
           "`exposed-communication`.",
    .rank_words = "Exposed communication",
    .joining = TA_JOIN_NOT};

enum { GPU_RANK, GPU_DEVICE, GPU_WINDOW, GPU_EXPOSED };
static const struct ta_ref reads[] = {[GPU_RANK] = {"gpu_time.by_rank", "rank"},
                                      [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
                                      [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
                                      [GPU_EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"}};

struct parts {
    double wait, transfer, unknown, before;
};

static struct parts parts_of(const struct ta_ranks *ranks, const struct ta_rank_member *member)
{
    struct parts parts = {0};
    for (size_t i = member->first; i < member->first + member->n; i++) {
        const struct ta_coll_record *record = &ranks->records[i];
        const int64_t dur = record->end - record->start;
        if (dur == 0)
            continue;
        const int64_t hidden = ta_coll_parts(ranks, record).hidden;
        const double bare = 1 - (double)ta_min_i64(hidden, dur) / (double)dur;
        const struct ta_collective *collective =
            record->collective == TA_COLL_NONE ? NULL : &ranks->collectives[record->collective];
        if (!collective || collective->transfer == TA_MISSING) {
            *(ta_coll_is_before(ranks, record) ? &parts.before : &parts.unknown) +=
                (double)dur * bare;
            continue;
        }
        const int64_t wait = ta_coll_wait(collective, record);
        *(ta_coll_is_before(ranks, record) ? &parts.before : &parts.wait) += (double)wait * bare;
        parts.transfer += (double)(dur - wait) * bare;
    }
    return parts;
}

/* The order of members. */
static int by_member(const void *left, const void *right)
{
    const struct ta_rank_member *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

static bool add_device(const struct ta_ranks *ranks, const struct ta_refs *in, size_t row,
                       struct ta_section_builder *out)
{
    const int64_t rank = ta_ref_integer(in, GPU_RANK, row);
    const int64_t device = ta_ref_integer(in, GPU_DEVICE, row);
    const int64_t window = ta_ref_integer(in, GPU_WINDOW, row);
    const int64_t exposed = ta_ref_integer(in, GPU_EXPOSED, row);
    const struct ta_rank_member key = {.rank = rank, .device = device};
    const struct ta_rank_member *member =
        ranks->n_members
            ? bsearch(&key, ranks->members, ranks->n_members, sizeof *ranks->members, by_member)
            : NULL;
    if (!member || exposed == TA_MISSING)
        return false;
    const struct parts parts = parts_of(ranks, member);
    const double all = parts.wait + parts.transfer + parts.unknown + parts.before;
    const double scale = all > 0 ? (double)exposed / all : 0;
    const int64_t wait = ta_min_i64(ta_whole(parts.wait * scale + 0.5), exposed);
    const int64_t before = ta_min_i64(ta_whole(parts.before * scale + 0.5), exposed - wait);
    const int64_t rest = exposed - wait - before;
    const int64_t transfer = parts.unknown > 0
                                 ? ta_min_i64(ta_whole(parts.transfer * scale + 0.5), rest)
                             : all > 0 ? rest
                                       : 0;
    TA_ROW(out,
           by_device, [RANK] = ta_int(rank), [DEVICE] = ta_int(device), [WINDOW] = ta_int(window),
           [EXPOSED] = ta_int(exposed), [WAIT] = ta_int(wait), [TRANSFER] = ta_int(transfer),
           [UNKNOWN] = ta_int(rest - transfer), [BEFORE] = ta_int(before),
           [EXPOSED_SHARE] = ta_share(exposed, window), [WAIT_SHARE] = ta_share(wait, window));
    return wait + transfer + before > 0;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    (void)ctx;
    const struct ta_ranks *ranks = in->ranks;
    bool any = false;
    if (ranks->n_members < 2)
        return TA_OK;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++)
        any |= add_device(ranks, in, row, out);
    if (any)
        ta_draw(out, &by_device, &chart);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_device, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 8,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
    TA_READS(reads),
};

TA_PLUGIN(
    analysis, exposed_communication, &ops, .title = "Exposed communication",
    .summary =
        "Communication that no compute overlaps, as waiting and as transfer: collectives.exposed",
    .version = "1");
