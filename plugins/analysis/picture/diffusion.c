/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion on one device: phases and steps in the order of time over what the device does. */
#include "model/program/generation.h"
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t window_of(const struct picture *picture)
{
    int64_t window = 0;
    for (size_t i = 0; i < ta_partial_rows(picture->stretches); i++)
        window += ta_partial_at(picture->stretches, i)[STRETCH_LENGTH];
    return window;
}

static bool is_diffusion(const struct picture *picture)
{
    for (size_t i = 0; i < ta_partial_rows(picture->stretches); i++)
        if (ta_partial_at(picture->stretches, i)[STRETCH_PHASE] == TA_GENERATION_DENOISE)
            return true;
    return false;
}

static void add_phase(const struct picture *picture, const int64_t *row, int64_t start,
                      int64_t window)
{
    char label[64] = "", share[TA_UNIT_TEXT_MAX];
    const int64_t phase = row[STRETCH_PHASE];
    const bool is_known = phase >= 0 && phase < TA_GENERATION_PHASES;
    if (row[STRETCH_STEP] != TA_MISSING)
        snprintf(label, sizeof label, "step %" PRId64, row[STRETCH_STEP]);
    else
        snprintf(
            label, sizeof label, "%s %s", is_known ? ta_generation_phase_names[phase] : "other",
            ta_unit_format(share, (double)row[STRETCH_LENGTH] / (double)window, TA_UNIT_RATIO));
    picture_add(picture, "phases", start, row[STRETCH_LENGTH], PICTURE_PHASE, label);
}

/* What causes leave of idle time has none that was recorded, where any has. */
static void split_idle_time(int64_t times[PICTURE_CLASSES], bool has_causes)
{
    if (!has_causes)
        return;
    int64_t rest = times[PICTURE_IDLE];
    for (int i = PICTURE_WORK; i < PICTURE_IDLE; i++)
        rest -= i == PICTURE_BEFORE || i == PICTURE_AFTER ? 0 : times[i];
    times[PICTURE_UNKNOWN] += ta_max_i64(0, rest);
    times[PICTURE_IDLE] = 0;
}

static bool has_causes(const struct picture *picture)
{
    for (size_t i = 0; i < ta_partial_rows(picture->times); i++) {
        const int64_t class = ta_partial_at(picture->times, i)[TIME_CLASS];
        if (class >= PICTURE_LAUNCH && class < PICTURE_BEFORE)
            return true;
    }
    return false;
}

bool picture_of_diffusion(const struct picture *picture)
{
    if (ta_ref_rows(picture->in, PART_WINDOW) != 1 || !is_diffusion(picture))
        return false;
    const int64_t window = window_of(picture);
    const bool is_split = has_causes(picture);
    int64_t start = 0;
    for (size_t i = 0; i < ta_partial_rows(picture->stretches); i++) {
        const int64_t *row = ta_partial_at(picture->stretches, i);
        add_phase(picture, row, start, window);
        start += row[STRETCH_LENGTH];
    }
    start = 0;
    for (size_t i = 0; i < ta_partial_rows(picture->stretches); i++) {
        const int64_t *row = ta_partial_at(picture->stretches, i);
        int64_t times[PICTURE_CLASSES] = {0};
        for (size_t k = 0; k < ta_partial_rows(picture->times); k++) {
            const int64_t *time = ta_partial_at(picture->times, k);
            if (time[TIME_INDEX] == row[STRETCH_INDEX])
                times[time[TIME_CLASS]] += time[TIME_NS];
        }
        split_idle_time(times, is_split);
        picture_add_classes(picture, "GPU", start, times, window);
        start += row[STRETCH_LENGTH];
    }
    return true;
}
