/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dividing the busy time of a device between the activities that run. */
#include "lib/sharing.h"

#include <traceanalyze/partial.h>

/* Gives the time up to `until` to all that run; none of them ends before. */
static void share(struct ta_sharing *s, int64_t until)
{
    const int64_t length = until - s->now, n = (int64_t)s->n;
    for (size_t i = 0; i < s->n; i++)
        ta_sum(s->running[i].part, length / n + ((int64_t)i < length % n));
    s->now = until;
}

/* Goes on to `until`; activities end on the way. */
static void advance(struct ta_sharing *s, int64_t until)
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

void ta_sharing_begin(struct ta_sharing *sharing, int64_t start, int64_t end, int64_t *part)
{
    advance(sharing, start);
    if (end <= start || sharing->n == TA_SHARING_MOST)
        return;
    sharing->running[sharing->n].end = end;
    sharing->running[sharing->n++].part = part;
}

void ta_sharing_end(struct ta_sharing *sharing)
{
    advance(sharing, INT64_MAX);
    sharing->now = INT64_MIN;
}
