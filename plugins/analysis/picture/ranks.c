/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: a lane each, their parts side by side. */
#include "lib/idle_parts.h"
#include "picture.h"

#include <traceanalyze/rule.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct lane {
    size_t row; /* of gpu_time.parts */
    int64_t wait;
};

static int64_t time_of(const struct picture *picture, size_t ref, size_t row)
{
    return ta_max_i64(0, ta_ref_integer(picture->in, ref, row));
}

/* How long a device waits in collectives for the last rank, at most what it communicates. */
static int64_t wait_of(const struct picture *picture, size_t row)
{
    const int64_t rank = ta_ref_integer(picture->in, PART_RANK, row);
    const int64_t device = ta_ref_integer(picture->in, PART_DEVICE, row);
    for (size_t i = 0; i < ta_ref_rows(picture->in, WAIT_NS); i++)
        if (ta_ref_rank(picture->in, WAIT_NS, i) == rank &&
            ta_ref_device(picture->in, WAIT_NS, i) == device)
            return ta_min_i64(time_of(picture, WAIT_NS, i), time_of(picture, PART_COMM, row));
    return 0;
}

static int by_wait(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;
    return a->wait != b->wait ? (a->wait > b->wait) - (a->wait < b->wait)
                              : (a->row > b->row) - (a->row < b->row);
}

static int by_row(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;
    return (a->row > b->row) - (a->row < b->row);
}

/* The share of a window from which on waiting is drawn as that for one rank, which itself waits no
 * more than this part of what each of the others does. */
#define MUCH 0.02
#define PART_OF_OTHERS 0.25

/* The rank that all others wait for; TA_MISSING where it is not one. */
static int64_t find_last(const struct picture *picture, const struct lane *lanes, size_t n)
{
    size_t last = 0;
    for (size_t i = 1; i < n; i++)
        last = lanes[i].wait < lanes[last].wait ? i : last;
    const int64_t rank = n ? ta_ref_integer(picture->in, PART_RANK, lanes[last].row) : TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const double wait = (double)lanes[i].wait;
        if (ta_ref_integer(picture->in, PART_RANK, lanes[i].row) != rank &&
            (wait < MUCH * (double)time_of(picture, PART_WINDOW, lanes[i].row) ||
             (double)lanes[last].wait > PART_OF_OTHERS * wait))
            return TA_MISSING;
    }
    return rank;
}

/* Idle time of a device by its causes, as run.bound has it for all; not of a recording of which
 * nobody knows why a device was idle. */
static void share_idle_time(const struct picture *picture, int64_t rank, int64_t device,
                            int64_t times[PICTURE_CLASSES])
{
    static const struct ta_idle_edges edges = {EDGE_EDGE, EDGE_CAUSE, EDGE_NS};
    const struct ta_refs *in = picture->in;
    if (ta_ref_scalar(in, TRUST, 1) < TA_TRUST_LEAST)
        return;
    const bool is_phase = ta_idle_is_phase(in, &edges, rank, device);
    int64_t parts[PICTURE_CLASSES] = {0};
    for (size_t i = 0; i < ta_ref_rows(in, IDLE_NS); i++)
        if (ta_ref_rank(in, IDLE_NS, i) == rank && ta_ref_device(in, IDLE_NS, i) == device)
            picture_add_part(parts, ta_slice_of(ta_idle_part(ta_ref_text(in, IDLE_OWNER, i))),
                             time_of(picture, IDLE_NS, i));
    for (size_t i = 0; i < ta_ref_rows(in, EDGE_NS); i++)
        if (ta_ref_rank(in, EDGE_NS, i) == rank && ta_ref_device(in, EDGE_NS, i) == device)
            picture_add_part(
                parts,
                ta_slice_of(ta_idle_edge_part(ta_ref_text(in, EDGE_CAUSE, i),
                                              ta_ref_reads(in, EDGE_EDGE, i, "before"), is_phase)),
                time_of(picture, EDGE_NS, i));
    picture_share_idle_time(times, parts);
}

/* Windows of ranks that were recorded together are as long, but for the ends. */
#define ALIKE 0.99

/* What shares of a lane are of: the run, which is the longest window, as in findings. */
static double whole_of(const struct picture *picture, size_t row)
{
    int64_t longest = 0;
    for (size_t i = 0; i < ta_ref_rows(picture->in, PART_WINDOW); i++)
        longest = ta_max_i64(longest, time_of(picture, PART_WINDOW, i));
    const double window = (double)time_of(picture, PART_WINDOW, row);
    return window >= ALIKE * (double)longest ? window : (double)longest;
}

/* `last`: the rank that the others wait for, or TA_MISSING. */
static void add_lane(const struct picture *picture, const struct lane *lane, bool name_devices,
                     int64_t last)
{
    const size_t row = lane->row;
    const double whole = whole_of(picture, row);
    const int64_t rank = ta_ref_integer(picture->in, PART_RANK, row);
    const int64_t device = ta_ref_integer(picture->in, PART_DEVICE, row);
    char name[64], gpu[40] = "";
    if (name_devices && device != TA_MISSING)
        snprintf(gpu, sizeof gpu, " · GPU %" PRId64, device);
    snprintf(name, sizeof name, "rank %" PRId64 "%s", rank == TA_MISSING ? 0 : rank, gpu);
    char waiting[64];
    snprintf(waiting, sizeof waiting, "waiting for rank\u00a0%" PRId64, last);
    int64_t times[PICTURE_CLASSES] = {0}, work = 0;
    times[PICTURE_COMPUTE] =
        time_of(picture, PART_COMPUTE, row) + time_of(picture, PART_HIDDEN, row);
    times[PICTURE_WAIT] = lane->wait;
    times[PICTURE_COMM] = time_of(picture, PART_COMM, row) - lane->wait;
    times[PICTURE_COPY] = time_of(picture, PART_COPY, row);
    for (int i = 0; i < PICTURE_CLASSES; i++)
        work += times[i];
    times[PICTURE_IDLE] = ta_max_i64(0, time_of(picture, PART_WINDOW, row) - work);
    share_idle_time(picture, rank, device, times);
    static const enum picture_class order[] = {
        PICTURE_COMPUTE, PICTURE_WAIT,   PICTURE_COMM,        PICTURE_COPY,       PICTURE_LAUNCH,
        PICTURE_SYNC,    PICTURE_INPUT,  PICTURE_COMPUTATION, PICTURE_ALLOCATION, PICTURE_SETUP,
        PICTURE_HOST,    PICTURE_QUEUED, PICTURE_BEFORE,      PICTURE_EARLIER,    PICTURE_AFTER,
        PICTURE_UNKNOWN, PICTURE_IDLE};
    int64_t start = 0;
    for (size_t i = 0; i < TA_LENGTH(order); i++) {
        char label[2 * TA_UNIT_TEXT_MAX + 64], share[TA_UNIT_TEXT_MAX];
        const bool is_for_last = order[i] == PICTURE_WAIT && last != TA_MISSING && rank != last;
        snprintf(label, sizeof label, "%s %s",
                 is_for_last ? waiting : picture_kinds[order[i]].label,
                 ta_unit_format(share, (double)times[order[i]] / whole, TA_UNIT_RATIO));
        picture_add(picture, name, start, times[order[i]], order[i], label);
        start += times[order[i]];
    }
}

/* Of many those that wait least, for which the others wait, and those that wait most. */
static size_t choose(struct lane *lanes, size_t n)
{
    if (n <= TA_PICTURE_RANKS_MOST)
        return n;
    qsort(lanes, n, sizeof *lanes, by_wait);
    const size_t half = TA_PICTURE_RANKS_MOST / 2;
    for (size_t i = 0; i < half; i++)
        lanes[half + i] = lanes[n - half + i];
    qsort(lanes, TA_PICTURE_RANKS_MOST, sizeof *lanes, by_row);
    return TA_PICTURE_RANKS_MOST;
}

bool picture_of_ranks(const struct picture *picture)
{
    const size_t rows = ta_ref_rows(picture->in, PART_WINDOW);
    struct lane *lanes = rows > 1 ? calloc(rows, sizeof *lanes) : NULL;
    bool name_devices = false;
    for (size_t i = 0; lanes && i < rows; i++) {
        lanes[i] = (struct lane){i, wait_of(picture, i)};
        name_devices |= i > 0 && ta_ref_integer(picture->in, PART_RANK, i) ==
                                     ta_ref_integer(picture->in, PART_RANK, i - 1);
    }
    const int64_t last = lanes ? find_last(picture, lanes, rows) : TA_MISSING;
    const size_t shown = lanes ? choose(lanes, rows) : 0;
    for (size_t i = 0; i < shown; i++)
        add_lane(picture, &lanes[i], name_devices, last);
    *picture->failed |= rows > 1 && !lanes;
    free(lanes);
    return rows > 1;
}
