/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: a lane each, their parts side by side. */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES_MOST = 8 };

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

static void add_lane(const struct picture *picture, const struct lane *lane, bool name_devices)
{
    const size_t row = lane->row;
    const int64_t window = time_of(picture, PART_WINDOW, row);
    const int64_t rank = ta_ref_integer(picture->in, PART_RANK, row);
    const int64_t device = ta_ref_integer(picture->in, PART_DEVICE, row);
    char name[64], gpu[40] = "";
    if (name_devices && device != TA_MISSING)
        snprintf(gpu, sizeof gpu, " · GPU %" PRId64, device);
    snprintf(name, sizeof name, "rank %" PRId64 "%s", rank == TA_MISSING ? 0 : rank, gpu);
    int64_t times[PICTURE_CLASSES] = {0}, work = 0;
    times[PICTURE_COMPUTE] =
        time_of(picture, PART_COMPUTE, row) + time_of(picture, PART_HIDDEN, row);
    times[PICTURE_WAIT] = lane->wait;
    times[PICTURE_COMM] = time_of(picture, PART_COMM, row) - lane->wait;
    times[PICTURE_COPY] = time_of(picture, PART_COPY, row);
    static const enum picture_class order[] = {PICTURE_COMPUTE, PICTURE_WAIT, PICTURE_COMM,
                                               PICTURE_COPY, PICTURE_IDLE};
    for (int i = 0; i < PICTURE_CLASSES; i++)
        work += times[i];
    times[PICTURE_IDLE] = ta_max_i64(0, window - work);
    int64_t start = 0;
    for (size_t i = 0; i < TA_LENGTH(order); i++) {
        char label[2 * TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX];
        snprintf(label, sizeof label, "%s %s", picture_kinds[order[i]].label,
                 ta_unit_format(share, (double)times[order[i]] / (double)window, TA_UNIT_RATIO));
        picture_add(picture, name, start, times[order[i]], order[i], label);
        start += times[order[i]];
    }
}

/* Of many those that wait least, for which the others wait, and those that wait most. */
static size_t choose(struct lane *lanes, size_t n)
{
    if (n <= LANES_MOST)
        return n;
    qsort(lanes, n, sizeof *lanes, by_wait);
    const size_t half = LANES_MOST / 2;
    for (size_t i = 0; i < half; i++)
        lanes[half + i] = lanes[n - half + i];
    qsort(lanes, LANES_MOST, sizeof *lanes, by_row);
    return LANES_MOST;
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
    const size_t shown = lanes ? choose(lanes, rows) : 0;
    for (size_t i = 0; i < shown; i++)
        add_lane(picture, &lanes[i], name_devices);
    *picture->failed |= rows > 1 && !lanes;
    free(lanes);
    return rows > 1;
}
