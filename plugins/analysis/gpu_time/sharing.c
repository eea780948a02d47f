/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dividing the busy time of a device between the activities that run. */
#include "gpu_time.h"

/* Gives the time up to `until` to all that run; none of them ends before. */
static void share(struct sharing *s, int64_t until)
{
    const int64_t length = until - s->now, n = (int64_t)s->n;
    for (size_t i = 0; i < s->n; i++)
        ta_sum(&s->running[i].row[NAME_SHARED], length / n + ((int64_t)i < length % n));
    s->now = until;
}

/* Goes on to `until`; activities end on the way. */
static void advance(struct sharing *s, int64_t until)
{
    while (s->n) {
        int64_t next = until;
        for (size_t i = 0; i < s->n; i++)
            next = ta_min_i64(next, s->running[i].end);
        share(s, next);
        size_t left = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->running[i].end > next)
                s->running[left++] = s->running[i];
        s->n = left;
        if (next >= until)
            break;
    }
    s->now = until;
}

void sharing_begin(struct sharing *sharing, int64_t start, int64_t end, int64_t *row)
{
    advance(sharing, start);
    if (end <= start || sharing->n == CONCURRENT_MOST)
        return;
    sharing->running[sharing->n].end = end;
    sharing->running[sharing->n++].row = row;
}

void sharing_end(struct sharing *sharing)
{
    advance(sharing, INT64_MAX);
    sharing->now = INT64_MIN;
}
