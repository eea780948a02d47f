/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One device: its window as one bar. */
#include "lib/damage.h"
#include "picture.h"

/* Gives idle time to its causes. */
static void share_idle_time(const struct picture *picture, int64_t times[PICTURE_CLASSES])
{
    int64_t parts[PICTURE_CLASSES] = {0};
    for (size_t i = 0; i < ta_ref_rows(picture->in, BOUND_NAME); i++)
        picture_add_part(parts, ta_ref_text(picture->in, BOUND_NAME, i),
                         ta_ref_integer(picture->in, BOUND_TOTAL, i));
    picture_share_idle_time(times, parts);
    if (ta_lacks_work(picture->in, DAMAGE, DAMAGE_SHARE)) {
        times[PICTURE_UNSEEN] = times[PICTURE_UNKNOWN];
        times[PICTURE_UNKNOWN] = 0;
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
