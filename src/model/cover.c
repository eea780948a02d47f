/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activities come in the order of their start, so for the earlier ones it is enough to know their
 * latest end; no set of intervals is kept. */
#include "model/cover.h"

static int64_t start_of(const struct ta_cover *cover, size_t i)
{
    return cover->spans.ts[cover->activities.at[i].span];
}

static int64_t end_of(const struct ta_cover *cover, size_t i)
{
    return start_of(cover, i) + cover->spans.dur[cover->activities.at[i].span];
}

static bool counts(const struct ta_cover *cover, size_t i)
{
    return cover->counts(cover->user, &cover->activities.at[i]);
}

/* Looks at the activities before `i`. */
static void go_on(struct ta_cover *cover, size_t i)
{
    const int64_t device = cover->activities.at[i].device;
    if (!cover->begun || cover->device != device)
        cover->until = INT64_MIN;
    cover->begun = true;
    cover->device = device;
    for (; cover->next < i; cover->next++)
        if (cover->activities.at[cover->next].device == device && counts(cover, cover->next))
            cover->until = ta_max_i64(cover->until, end_of(cover, cover->next));
}

int64_t ta_cover_of(struct ta_cover *cover, size_t i)
{
    go_on(cover, i);
    const int64_t start = start_of(cover, i), end = end_of(cover, i);
    int64_t reached = ta_max_i64(start, ta_min_i64(cover->until, end)), covered = reached - start;
    for (size_t j = i + 1; reached < end && j < cover->activities.n && start_of(cover, j) < end &&
                           cover->activities.at[j].device == cover->device;
         j++) {
        if (!counts(cover, j))
            continue;
        const int64_t from = ta_max_i64(start_of(cover, j), reached);
        const int64_t to = ta_min_i64(end_of(cover, j), end);
        if (from < to) {
            covered += to - from;
            reached = to;
        }
    }
    return covered;
}
