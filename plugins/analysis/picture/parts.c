/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time in the parts of run.bound. */
#include "picture.h"

/* What these parts are in pictures; the others are work.  The last one may hold exposed
 * communication too: it gets what the others leave. */
static const struct {
    const char *part;
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

enum picture_class picture_class_of_part(struct ta_slice part)
{
    for (size_t i = 0; i < TA_LENGTH(idle); i++)
        if (ta_slice_equal(part, ta_slice_of(idle[i].part)))
            return idle[i].class;
    return PICTURE_UNKNOWN;
}

void picture_add_part(int64_t parts[PICTURE_CLASSES], struct ta_slice part, int64_t ns)
{
    const enum picture_class class = picture_class_of_part(part);
    if (class != PICTURE_UNKNOWN)
        parts[class] += ns;
}

void picture_share_idle_time(int64_t times[PICTURE_CLASSES], const int64_t parts[PICTURE_CLASSES])
{
    const int64_t all = times[PICTURE_IDLE];
    for (size_t i = 0; i < TA_LENGTH(idle); i++) {
        const int64_t part = ta_min_i64(times[PICTURE_IDLE], parts[idle[i].class]);
        times[idle[i].class] += part;
        times[PICTURE_IDLE] -= part;
    }
    if (times[PICTURE_IDLE] < all) {
        times[PICTURE_UNKNOWN] += times[PICTURE_IDLE];
        times[PICTURE_IDLE] = 0;
    }
}
