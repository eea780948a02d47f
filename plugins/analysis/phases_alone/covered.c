/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "covered.h"

#include <stdlib.h>

static int by_time(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int by_start(const void *left, const void *right)
{
    const struct window *a = left, *b = right;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start)
                                : (a->of > b->of) - (a->of < b->of);
}

struct end {
    int64_t time;
    size_t place;
};

static int by_end(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    return a->time != b->time ? (a->time > b->time) - (a->time < b->time)
                              : (a->place > b->place) - (a->place < b->place);
}

bool windows_order(struct windows *windows)
{
    struct end *ends = calloc(windows->n + 1, sizeof *ends);
    windows->by_end = calloc(windows->n + 1, sizeof *windows->by_end);
    const bool done = ends && windows->by_end;
    qsort(windows->at, windows->n, sizeof *windows->at, by_start);
    for (size_t i = 0; done && i < windows->n; i++)
        ends[i] = (struct end){windows->at[i].end, i};
    if (done)
        qsort(ends, windows->n, sizeof *ends, by_end);
    for (size_t i = 0; done && i < windows->n; i++)
        windows->by_end[i] = ends[i].place;
    free(ends);
    return done;
}

void windows_free(struct windows *windows)
{
    free(windows->at);
    free(windows->by_end);
}

/* What lies before a moment: the sum of how long ago each of some times was.  Sums may wrap: only
 * differences are used. */
struct past {
    const int64_t *times;
    size_t n, passed;
    uint64_t sum;
};

static uint64_t ago(struct past *past, int64_t now)
{
    while (past->passed < past->n && past->times[past->passed] < now)
        past->sum += (uint64_t)past->times[past->passed++];
    return past->passed * (uint64_t)now - past->sum;
}

/* What stretches cover before a moment: the sum for their starts minus the sum for their ends. */
void windows_cover(struct windows *windows, struct stretches *stretches)
{
    qsort(stretches->starts, stretches->n, sizeof *stretches->starts, by_time);
    qsort(stretches->ends, stretches->n, sizeof *stretches->ends, by_time);
    struct past begun = {.times = stretches->starts, .n = stretches->n}, first = begun;
    struct past over = {.times = stretches->ends, .n = stretches->n}, last = over;
    for (size_t i = 0; i < windows->n; i++) {
        struct window *at = &windows->at[i];
        at->covered = ago(&first, at->start) - ago(&last, at->start);
    }
    for (size_t i = 0; i < windows->n; i++) {
        struct window *at = &windows->at[windows->by_end[i]];
        at->covered = ago(&begun, at->end) - ago(&over, at->end) - at->covered;
    }
}
