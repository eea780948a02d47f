/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One device: its window as one bar. */
#include "picture.h"

/* What the idle parts of run.bound are in the picture; the others are work.  The last one may hold
 * exposed communication too: it gets what the others leave. */
static const struct {
    const char *bound;
    enum picture_class class;
} idle[] = {
    {"launch", PICTURE_LAUNCH},
    {"sync", PICTURE_SYNC},
    {"input", PICTURE_INPUT},
    {"host computation", PICTURE_COMPUTATION},
    {"allocation", PICTURE_ALLOCATION},
    {"setup", PICTURE_SETUP},
    {"host", PICTURE_HOST},
    {"dependency", PICTURE_QUEUED},
    {"preparation", PICTURE_BEFORE},
    {"completion", PICTURE_AFTER},
    {"before the recording", PICTURE_EARLIER},
};

/* Gives idle time to its causes. */
static void share_idle_time(const struct picture *picture, int64_t times[PICTURE_CLASSES])
{
    const int64_t all = times[PICTURE_IDLE];
    for (size_t k = 0; k < TA_LENGTH(idle); k++)
        for (size_t i = 0; i < ta_ref_rows(picture->in, BOUND_NAME); i++)
            if (ta_ref_reads(picture->in, BOUND_NAME, i, idle[k].bound)) {
                const int64_t part =
                    ta_min_i64(times[PICTURE_IDLE], ta_ref_integer(picture->in, BOUND_TOTAL, i));
                times[idle[k].class] += part;
                times[PICTURE_IDLE] -= part;
            }
    if (times[PICTURE_IDLE] < all) {
        times[PICTURE_UNKNOWN] = times[PICTURE_IDLE];
        times[PICTURE_IDLE] = 0;
    }
}

bool picture_of_device(const struct picture *picture)
{
    int64_t times[PICTURE_CLASSES] = {0}, window = 0;
    if (ta_ref_rows(picture->in, PART_WINDOW) != 1)
        return false;
    for (size_t i = 0; i < ta_partial_rows(picture->times); i++) {
        const int64_t *row = ta_partial_at(picture->times, i);
        const bool is_around =
            row[TIME_CLASS] == PICTURE_BEFORE || row[TIME_CLASS] == PICTURE_AFTER;
        /* run.bound has the causes, and knows what is around the work as well. */
        if (row[TIME_CLASS] >= PICTURE_WORK && row[TIME_CLASS] != PICTURE_IDLE && !is_around)
            continue;
        times[is_around ? PICTURE_IDLE : row[TIME_CLASS]] += row[TIME_NS];
        window += row[TIME_NS];
    }
    share_idle_time(picture, times);
    if (window > 0)
        picture_add_classes(picture, "GPU", 0, times, window);
    return window > 0;
}
