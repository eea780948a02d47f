/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unions and differences of interval sets. */
#include "stat/interval.h"
#include "traceanalyze/model.h"
#include "traceanalyze/stat.h"

#include "base/merge_sort.h"
#include "base/vec.h"

#include <stdlib.h>

void ta_intervals_add(struct ta_intervals *set, int64_t start, int64_t end)
{
    if (start >= end)
        return;
    if (!ta_vec_grow((void **)&set->at, &set->max, set->n, sizeof *set->at)) {
        set->failed = true;
        return;
    }
    set->at[set->n++] = (struct ta_interval){start, end};
}

void ta_intervals_free(struct ta_intervals *set)
{
    free(set->at);
    *set = (struct ta_intervals){0};
}

TA_SORT_INLINE int by_start(const void *left, const void *right, const void *user)
{
    const struct ta_interval *a = left, *b = right;
    (void)user;
    return (a->start > b->start) - (a->start < b->start);
}

/* The same for qsort(), which needs no memory of ours. */
static int by_start_alone(const void *left, const void *right)
{
    return by_start(left, right, NULL);
}

/* What is united is a few ordered lists one after the other. */
static void sort(struct ta_intervals *set)
{
    if (!ta_merge_sort(set->at, set->n, sizeof *set->at, by_start, NULL))
        qsort(set->at, set->n, sizeof *set->at, by_start_alone);
}

static bool is_united(const struct ta_intervals *set)
{
    for (size_t i = 1; i < set->n; i++)
        if (set->at[i].start <= set->at[i - 1].end)
            return false;
    return true;
}

void ta_intervals_unite(struct ta_intervals *set)
{
    if (is_united(set))
        return;
    sort(set);
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct ta_interval next = set->at[i];
        if (n && next.start <= set->at[n - 1].end)
            set->at[n - 1].end = ta_max_i64(set->at[n - 1].end, next.end);
        else
            set->at[n++] = next;
    }
    set->n = n;
}

TA_SORT_INLINE int by_time(const void *left, const void *right, const void *user)
{
    const int64_t *a = left, *b = right;
    (void)user;
    return (*a > *b) - (*a < *b);
}

static int by_time_alone(const void *left, const void *right)
{
    return by_time(left, right, NULL);
}

/* How many of the times at the start are in order. */
static size_t in_order(const int64_t *times, size_t n)
{
    size_t i = 1;
    while (i < n && times[i - 1] <= times[i])
        i++;
    return i < n ? i : n;
}

/* How many of n ordered times lie at or before `time`: looks 1, 2, 4, … places on and then halves
 * the last step. */
static size_t count_until(const int64_t *times, size_t n, int64_t time)
{
    size_t low = 0, high = 1;
    while (high <= n && times[high - 1] <= time) {
        low = high;
        high *= 2;
    }
    high = high <= n ? high - 1 : n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges the ordered lists [0, middle) and [middle, n), by one stretch of a list after the other:
 * the times of two streams, of which one is much busier.  False without memory. */
static bool merge_two(int64_t *times, size_t middle, size_t n)
{
    int64_t *const first = malloc(middle * sizeof *first);
    if (!first)
        return false;
    memcpy(first, times, middle * sizeof *first);
    for (size_t a = 0, b = middle, to = 0; a < middle;) {
        const size_t from_a = count_until(first + a, middle - a, b < n ? times[b] : INT64_MAX);
        memcpy(times + to, first + a, from_a * sizeof *times);
        a += from_a;
        to += from_a;
        const size_t from_b = a < middle ? count_until(times + b, n - b, first[a]) : 0;
        memmove(times + to, times + b, from_b * sizeof *times);
        b += from_b;
        to += from_b;
    }
    free(first);
    return true;
}

/* Whether one of the lists is so much longer that stretches of it pay. */
static bool differ(size_t a, size_t b)
{
    enum { TIMES = 8 };
    return a / TIMES >= b || b / TIMES >= a;
}

void ta_sort_times(int64_t *times, size_t n)
{
    const size_t first = in_order(times, n);
    if (first == n)
        return;
    if (differ(first, n - first) && first + in_order(times + first, n - first) == n &&
        merge_two(times, first, n))
        return;
    if (!ta_merge_sort(times, n, sizeof *times, by_time, NULL))
        qsort(times, n, sizeof *times, by_time_alone);
}

int64_t ta_intervals_outside(const struct ta_intervals *a, const struct ta_intervals *b)
{
    int64_t outside = ta_intervals_length(a);
    size_t j = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct ta_interval x = a->at[i];
        while (j < b->n && b->at[j].end <= x.start)
            j++;
        for (size_t k = j; k < b->n && b->at[k].start < x.end; k++)
            outside -= ta_min_i64(x.end, b->at[k].end) - ta_max_i64(x.start, b->at[k].start);
    }
    return outside;
}

/* The first interval of [low, high) that ends past `time`; `high` when none does. */
static size_t search(const struct ta_intervals *set, int64_t time, size_t low, size_t high)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->at[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t ta_intervals_behind(const struct ta_intervals *set, int64_t time)
{
    return search(set, time, 0, set->n);
}

/* Goes away from the guess in steps that double, until the interval is after it. */
size_t ta_intervals_near(const struct ta_intervals *set, int64_t time, size_t guess)
{
    size_t low = guess < set->n ? guess : set->n, high = low, step = 1;
    while (low > 0 && set->at[low - 1].end > time) {
        high = low - 1;
        low = step < high ? high - step : 0;
        step *= 2;
    }
    while (high < set->n && set->at[high].end <= time) {
        low = high + 1;
        high = step < set->n - low ? low + step : set->n;
        step *= 2;
    }
    return search(set, time, low, high);
}

/* How much of [from, to) is covered by the interval `i`, the first that ends past `from`, and
 * those after it. */
static int64_t covered(const struct ta_intervals *set, size_t i, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (; i < set->n && set->at[i].start < to; i++)
        sum += ta_min_i64(set->at[i].end, to) - ta_max_i64(set->at[i].start, from);
    return sum;
}

int64_t ta_intervals_within(const struct ta_intervals *set, int64_t from, int64_t to)
{
    return from < to ? covered(set, ta_intervals_behind(set, from), from, to) : 0;
}

int64_t ta_intervals_within_near(const struct ta_intervals *set, int64_t from, int64_t to,
                                 size_t *guess)
{
    if (from >= to)
        return 0;
    *guess = ta_intervals_near(set, from, *guess);
    return covered(set, *guess, from, to);
}

int64_t ta_intervals_gaps(const struct ta_intervals *set, int64_t from, int64_t to)
{
    if (set->n == 0)
        return 0;
    const int64_t start = ta_max_i64(from, set->at[0].start);
    const int64_t end = ta_min_i64(to, set->at[set->n - 1].end);
    return start < end ? end - start - ta_intervals_within(set, start, end) : 0;
}

/* Makes room for just so many more: sets that are joined are large and do not grow further. */
static void reserve(struct ta_intervals *set, size_t n)
{
    if (n <= set->max - set->n)
        return;
    struct ta_interval *grown = reallocarray(set->at, set->n + n, sizeof *grown);
    if (!grown)
        return; /* what is added finds out */
    set->at = grown;
    set->max = set->n + n;
}

void ta_intervals_subtract(const struct ta_intervals *a, const struct ta_intervals *b,
                           struct ta_intervals *out)
{
    for (size_t i = 0, k = 0; i < a->n; i++) {
        int64_t from = a->at[i].start;
        while (k < b->n && b->at[k].end <= from)
            k++;
        for (size_t m = k; m < b->n && b->at[m].start < a->at[i].end; m++) {
            if (b->at[m].start > from)
                ta_intervals_add(out, from, b->at[m].start);
            from = ta_max_i64(from, b->at[m].end);
        }
        if (from < a->at[i].end)
            ta_intervals_add(out, from, a->at[i].end);
    }
    ta_intervals_unite(out);
    out->failed |= a->failed || b->failed;
}

void ta_intervals_join(struct ta_intervals *a, const struct ta_intervals *b)
{
    reserve(a, b->n);
    for (size_t i = 0; i < b->n; i++)
        ta_intervals_add(a, b->at[i].start, b->at[i].end);
    a->failed |= b->failed;
    ta_intervals_unite(a);
}
