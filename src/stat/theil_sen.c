/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Theil–Sen line.  The slopes of many points are too many to list; their order statistics are found
 * by counting instead.  The slope of two points is at most t just where their heights above a line
 * of slope t, y − t·x, do not rise from the left point to the right one: the slopes at or below t
 * are the inversions of these heights in the order of x. */
#include "stat/inversions.h"
#include "stat/numbers.h"
#include "stat/order.h"
#include "stat/series.h"

#include <stdlib.h>

enum {
    FEW_POINTS = 1024, /* 523 776 slopes are listed */
    LIST = 1 << 20     /* slopes that are listed at once */
};

struct point {
    double x, y; /* less the medians, so that heights lose few bits */
};

struct points {
    struct point *at; /* by x, then y */
    size_t n;
    uint64_t n_slopes;      /* pairs with different x */
    double steepest;        /* no slope is beyond */
    double *keys, *spare;   /* n each */
    double *slopes;         /* room for `room` */
    uint32_t *order, *next; /* n each; only for many points */
    size_t room;
};

static double slope_of(struct point a, struct point b)
{
    return (b.y - a.y) / (b.x - a.x);
}

/* ---- counting and listing ---------------------------------------------------------------- */

/* Groups of equal x, sorted by themselves, count no pair. */
static uint64_t pairs_within(const struct points *p, double *keys)
{
    uint64_t count = 0;
    for (size_t at = 0, end; at < p->n; at = end) {
        for (end = at + 1; end < p->n && p->at[end].x == p->at[at].x;)
            end++;
        if (end - at > 1)
            count += ta_inversions(keys + at, p->spare, end - at, true);
    }
    return count;
}

/* Slopes ≤ t. */
static uint64_t count_slopes(const struct points *p, double t)
{
    for (size_t i = 0; i < p->n; i++)
        p->keys[i] = p->at[i].y - t * p->at[i].x;
    const uint64_t all = ta_inversions(p->keys, p->spare, p->n, true);
    if (p->n_slopes == (uint64_t)p->n * (p->n - 1) / 2)
        return all;
    for (size_t i = 0; i < p->n; i++)
        p->keys[i] = p->at[i].y - t * p->at[i].x;
    return all - pairs_within(p, p->keys);
}

struct listing {
    const struct points *p;
    size_t n;
};

static void list_pair(struct listing *l, uint32_t left, uint32_t right)
{
    const struct point a = l->p->at[left], b = l->p->at[right];
    if (left < right && a.x < b.x && l->n < l->p->room)
        l->p->slopes[l->n++] = slope_of(a, b);
}

/* Merges two runs of points by height above the line of slope `t`, and lists what is inverted. */
static void list_merge(struct listing *l, const uint32_t *from, uint32_t *to, size_t middle,
                       size_t n)
{
    const double *height = l->p->keys;
    size_t i = 0, j = middle;
    for (size_t at = 0; at < n; at++) {
        const bool passes = j < n && (i == middle || height[from[j]] <= height[from[i]]);
        for (size_t k = i; passes && k < middle && l->n < l->p->room; k++)
            list_pair(l, from[k], from[j]);
        to[at] = passes ? from[j++] : from[i++];
    }
}

/* By height, then from right to left: a slope that equals the bound is not above it. */
static int by_height(const void *left, const void *right, void *user)
{
    const double *height = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (height[a] != height[b])
        return height[a] < height[b] ? -1 : 1;
    return a > b ? -1 : a < b;
}

/* Lists the slopes in (low, high], as many as there is room for: pairs that rise above the line of
 * slope low and do not above the line of slope high. */
static size_t list_slopes(struct points *p, double low, double high)
{
    for (size_t i = 0; i < p->n; i++) {
        p->order[i] = (uint32_t)i;
        p->keys[i] = p->at[i].y - low * p->at[i].x;
    }
    qsort_r(p->order, p->n, sizeof *p->order, by_height, p->keys);
    for (size_t i = 0; i < p->n; i++)
        p->keys[i] = p->at[i].y - high * p->at[i].x;
    struct listing listing = {p, 0};
    for (size_t width = 1; width < p->n; width *= 2) {
        for (size_t at = 0; at < p->n; at += 2 * width) {
            const size_t left = p->n - at;
            list_merge(&listing, p->order + at, p->next + at, left < width ? left : width,
                       left < 2 * width ? left : 2 * width);
        }
        uint32_t *const merged = p->next;
        p->next = p->order;
        p->order = merged;
    }
    ta_sort_numbers(p->slopes, listing.n);
    return listing.n;
}

/* ---- order statistics -------------------------------------------------------------------- */

struct bracket {
    double low, high;               /* slopes ≤ low are too few, those ≤ high are enough */
    uint64_t below_low, below_high; /* how many there are */
};

/* Where the slope should be if slopes were spread evenly over the bracket. */
static double guess(const struct bracket *b, uint64_t rank)
{
    const double share =
        ((double)(rank - b->below_low) - 0.5) / (double)(b->below_high - b->below_low);
    return b->low + (b->high - b->low) * share;
}

/* The bound to try next: a guess, the middle, a guess, the middle of the doubles in between, so
 * that the search ends after 4 · 64 steps whatever the slopes are. */
static double next_bound(const struct bracket *b, uint64_t rank, unsigned step)
{
    const double even = step % 2 ? guess(b, rank) : b->low / 2 + b->high / 2;
    if (step % 4 && even > b->low && even < b->high)
        return even;
    return ta_order_value(ta_order_middle(ta_order_of(b->low), ta_order_of(b->high)));
}

/* The slope of the given rank, from 1.  What is left when low and high touch differs by rounding
 * alone, however many there are. */
static double nth_slope(struct points *p, uint64_t rank)
{
    struct bracket b = {-p->steepest, p->steepest, 0, p->n_slopes};
    for (unsigned step = 1; b.below_high - b.below_low > LIST / 2; step++) {
        const double bound = next_bound(&b, rank, step);
        if (!(bound > b.low && bound < b.high))
            break;
        const uint64_t below = count_slopes(p, bound);
        if (below >= rank) {
            b.high = bound;
            b.below_high = below;
        } else {
            b.low = bound;
            b.below_low = below;
        }
    }
    const size_t listed = list_slopes(p, b.low, b.high);
    if (listed == 0)
        return b.high;
    const uint64_t wanted = rank - b.below_low;
    if (b.below_high - b.below_low > LIST / 2) /* all alike */
        return p->slopes[listed / 2];
    return p->slopes[wanted <= listed ? wanted - 1 : listed - 1];
}

/* ---- the line ---------------------------------------------------------------------------- */

/* Σ t (t − 1)(2 t + 5) over groups of equal values. */
static double tie_variance(const double *sorted, size_t n)
{
    double sum = 0;
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at + 1; end < n && sorted[end] == sorted[at];)
            end++;
        const double t = (double)(end - at);
        sum += t * (t - 1) * (2 * t + 5);
    }
    return sum;
}

/* Ranks of the interval, from 1; 0 where the slopes do not reach that far.  Sen's variance of
 * Kendall's S, with ties in x and y. */
static void interval_ranks(const struct points *p, double ties, double confidence, uint64_t *low,
                           uint64_t *high)
{
    const double n = (double)p->n, slopes = (double)p->n_slopes;
    const double sigma = sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18);
    const double reach = ta_z_of(confidence) * sigma;
    const double first = rint((slopes - reach) / 2), last = rint((slopes + reach) / 2) + 1;
    *low = *high = 0;
    if (first >= 1 && last <= slopes) {
        *low = (uint64_t)ta_whole(first);
        *high = (uint64_t)ta_whole(last);
    }
}

static void list_all(struct points *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = i + 1; j < p->n; j++)
            if (p->at[i].x < p->at[j].x)
                p->slopes[n++] = slope_of(p->at[i], p->at[j]);
    ta_sort_numbers(p->slopes, n);
}

static double slope_at(struct points *p, uint64_t rank)
{
    return p->n <= FEW_POINTS ? p->slopes[rank - 1] : nth_slope(p, rank);
}

static struct ta_estimate estimate(struct points *p, double ties, double confidence)
{
    if (p->n <= FEW_POINTS)
        list_all(p);
    const uint64_t half = (p->n_slopes + 1) / 2;
    const double middle = slope_at(p, half);
    const double next = p->n_slopes % 2 ? middle : slope_at(p, half + 1);
    uint64_t low, high;
    interval_ranks(p, ties, confidence, &low, &high);
    return ta_estimate_of(middle / 2 + next / 2, low ? slope_at(p, low) : TA_NAN,
                          low ? slope_at(p, high) : TA_NAN);
}

static int by_x(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->y > b->y) - (a->y < b->y);
}

/* Counts the slopes and bounds them. */
static void survey(struct points *p)
{
    const double height = p->spare[p->n - 1] - p->spare[0]; /* of the sorted y */
    double gap = (double)INFINITY;
    p->n_slopes = (uint64_t)p->n * (p->n - 1) / 2;
    for (size_t at = 0, end; at < p->n; at = end) {
        for (end = at + 1; end < p->n && p->at[end].x == p->at[at].x;)
            end++;
        p->n_slopes -= (uint64_t)(end - at) * (end - at - 1) / 2;
        if (end < p->n)
            gap = fmin(gap, p->at[end].x - p->at[at].x);
    }
    p->steepest = height / gap * (1 + 1e-9);
}

/* Whether heights above any line that is tried fit into a double. */
static bool is_moderate(const struct points *p)
{
    const double reach = fmax(fabs(p->at[0].x), fabs(p->at[p->n - 1].x));
    return isfinite(4 * p->steepest * reach) && isfinite(4 * (p->spare[p->n - 1] - p->spare[0]));
}

static bool reserve(struct points *p, size_t n)
{
    const bool many = n > FEW_POINTS;
    p->n = n;
    p->room = many ? LIST : n * (n - 1) / 2;
    p->at = reallocarray(NULL, n, sizeof *p->at);
    p->keys = ta_numbers(n);
    p->spare = ta_numbers(n);
    p->slopes = ta_numbers(p->room);
    p->order = many ? reallocarray(NULL, n, sizeof *p->order) : NULL;
    p->next = many ? reallocarray(NULL, n, sizeof *p->next) : NULL;
    return p->at && p->keys && p->spare && p->slopes && (!many || (p->order && p->next));
}

static void release(struct points *p)
{
    free(p->at);
    free(p->keys);
    free(p->spare);
    free(p->slopes);
    free(p->order);
    free(p->next);
}

static void fit(struct points *p, const double *x, const double *y, double confidence,
                struct ta_slope *out)
{
    const size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        p->keys[i] = x ? x[i] : (double)i;
        p->spare[i] = y[i];
    }
    ta_sort_numbers(p->keys, n);
    ta_sort_numbers(p->spare, n);
    const double ties = tie_variance(p->keys, n) + tie_variance(p->spare, n);
    const double middle_x = ta_middle(p->keys, n), middle_y = ta_middle(p->spare, n);
    for (size_t i = 0; i < n; i++)
        p->at[i] = (struct point){(x ? x[i] : (double)i) - middle_x, y[i] - middle_y};
    qsort(p->at, n, sizeof *p->at, by_x);
    survey(p);
    *out = (struct ta_slope){TA_NO_ESTIMATE, TA_NAN};
    if (p->n_slopes == 0 || !is_moderate(p))
        return;
    out->slope = estimate(p, ties, confidence);
    out->intercept = ta_if_finite(middle_y - out->slope.value * middle_x);
}

bool ta_theil_sen(const double *x, const double *y, size_t n, double confidence,
                  struct ta_slope *out)
{
    if (n < 2 || n >= UINT32_MAX || (x && !ta_all_finite(x, n)) || !ta_all_finite(y, n)) {
        *out = (struct ta_slope){TA_NO_ESTIMATE, TA_NAN};
        return true;
    }
    struct points p = {0};
    const bool done = reserve(&p, n);
    if (done)
        fit(&p, x, y, confidence, out);
    release(&p);
    return done;
}
