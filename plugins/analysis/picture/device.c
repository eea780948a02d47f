/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One device: its window as one bar. */
#include "picture.h"

/* What the idle parts of run.bound are in the picture; the others are work. */
static const struct {
    const char *bound;
    enum picture_class class;
} idle[] = {
    {"launch", PICTURE_LAUNCH},     {"sync", PICTURE_SYNC},
    {"input", PICTURE_INPUT},       {"host computation", PICTURE_COMPUTATION},
    {"allocation", PICTURE_SETUP},  {"setup", PICTURE_SETUP},
    {"host", PICTURE_HOST},         {"dependency", PICTURE_QUEUED},
    {"preparation", PICTURE_EDGES}, {"completion", PICTURE_EDGES},
};

bool picture_of_device(const struct picture *picture)
{
    int64_t times[PICTURE_CLASSES] = {0}, window = 0;
    if (ta_ref_rows(picture->in, PART_WINDOW) != 1)
        return false;
    for (size_t i = 0; i < ta_partial_rows(picture->times); i++) {
        const int64_t *row = ta_partial_at(picture->times, i);
        times[row[TIME_CLASS]] += row[TIME_NS];
        window += row[TIME_NS];
    }
    /* The causes of idle time; what they leave of it has none that is known. */
    for (size_t i = 0; i < ta_ref_rows(picture->in, BOUND_NAME); i++)
        for (size_t k = 0; k < TA_LENGTH(idle); k++)
            if (ta_ref_reads(picture->in, BOUND_NAME, i, idle[k].bound)) {
                const int64_t part =
                    ta_min_i64(times[PICTURE_IDLE], ta_ref_integer(picture->in, BOUND_TOTAL, i));
                times[idle[k].class] += part;
                times[PICTURE_IDLE] -= part;
            }
    if (window > 0)
        picture_add_classes(picture, "GPU", 0, times, window);
    return window > 0;
}
