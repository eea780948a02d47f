/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Change points by PELT, with the sum of squares as the cost of a segment. */
#include "stat/numbers.h"
#include "stat/series.h"

#include <stdlib.h>

enum {
    LEAST_SEGMENT = 3,
    EXACT = 8192, /* values that are partitioned as they are */
    WINDOW = 11,  /* values around each, by whose median outliers are judged */
    REACH = 50    /* in σ̂: outliers beyond count as that far */
};

/* Sums over the values before each place, of scaled and centered ones. */
struct prefix {
    double sum, squares;
};

struct work {
    double *scaled;        /* n values */
    struct prefix *before; /* n + 1 */
    double *cost;          /* n + 1: of the best partition of the values before each place */
    size_t *last;          /* n + 1: where its last segment starts */
    size_t *live, *dead;   /* n + 1: starts still in play; the end from which each no longer is */
};

/* ---- scale ------------------------------------------------------------------------------- */

/* σ̂ of the noise, from the steps between neighbors; `scratch` has room for n. */
static double noise(const double *series, size_t n, double *scratch)
{
    for (size_t i = 0; i + 1 < n; i++)
        scratch[i] = series[i + 1] - series[i];
    ta_sort_numbers(scratch, n - 1);
    const double mad = ta_mad(scratch, n - 1);
    if (mad != 0)
        return TA_MAD_SIGMA * mad / sqrt(2);
    const double middle = ta_middle(scratch, n - 1);
    long double sum = 0;
    for (size_t i = 0; i + 1 < n; i++)
        sum += fabsl((long double)scratch[i] - (long double)middle);
    return 1.253314 * (double)(sum / (long double)(n - 1)) / sqrt(2);
}

/* Median of the values around `at`, fewer at the ends. */
static double local_median(const double *series, size_t n, size_t at)
{
    const size_t first = at < WINDOW / 2 ? 0 : at - WINDOW / 2;
    const size_t end = at + WINDOW / 2 < n ? at + WINDOW / 2 + 1 : n;
    double window[WINDOW];
    memcpy(window, series + first, (end - first) * sizeof *window);
    ta_sort_numbers(window, end - first);
    return ta_middle(window, end - first);
}

/* (x − x_0)/σ̂, x held within REACH of its local median, into w->scaled; false where that has no
 * meaning. */
static bool scale(const double *series, size_t n, struct work *w, double *sigma)
{
    *sigma = noise(series, n, w->scaled);
    if (!(*sigma > 0) || isinf(*sigma))
        return false;
    for (size_t i = 0; i < n; i++) {
        const double middle = local_median(series, n, i), reach = REACH * *sigma;
        const double held = fmax(middle - reach, fmin(middle + reach, series[i]));
        w->scaled[i] = (held - series[0]) / *sigma;
        if (!(fabs(w->scaled[i]) < 1e100))
            return false; /* squares must fit */
    }
    return true;
}

/* ---- partition --------------------------------------------------------------------------- */

/* Sum of squares around the mean of the values from `from` up to `to`. */
static double cost_of(const struct prefix *before, size_t from, size_t to)
{
    const double sum = before[to].sum - before[from].sum;
    return before[to].squares - before[from].squares - sum * sum / (double)(to - from);
}

static void add_up(const double *values, size_t n, struct prefix *before)
{
    before[0] = (struct prefix){0, 0};
    for (size_t i = 0; i < n; i++)
        before[i + 1] =
            (struct prefix){before[i].sum + values[i], before[i].squares + values[i] * values[i]};
}

/* Cost of the best partition of the first `end` values, and w->last[end]. */
static double best_at(size_t end, size_t n_live, double weight, double penalty, struct work *w)
{
    double best = (double)INFINITY;
    for (size_t i = 0; i < n_live; i++) {
        const size_t from = w->live[i];
        const double cost = w->cost[from] + weight * cost_of(w->before, from, end) + penalty;
        if (cost < best) {
            best = cost;
            w->last[end] = from;
        }
    }
    return best;
}

/* A start that is beaten at `end` even without the penalty for a change there is beaten for every
 * end from which `end` can start a segment of its own.  Returns how many starts are left. */
static size_t prune(size_t end, size_t n_live, size_t least, double weight, struct work *w)
{
    const double bar = w->cost[end] + 1e-9 * fabs(w->cost[end]);
    size_t kept = 0;
    for (size_t i = 0; i < n_live; i++) {
        const size_t from = w->live[i];
        if (w->dead[from] > end + least &&
            w->cost[from] + weight * cost_of(w->before, from, end) > bar)
            w->dead[from] = end + least;
        if (w->dead[from] > end + 1)
            w->live[kept++] = from;
    }
    return kept;
}

static void partition(size_t n, size_t least, double weight, double penalty, struct work *w)
{
    for (size_t at = 0; at <= n; at++) {
        w->cost[at] = (double)INFINITY;
        w->dead[at] = SIZE_MAX;
        w->last[at] = 0;
    }
    w->cost[0] = -penalty;
    w->live[0] = 0;
    size_t n_live = 1;
    for (size_t end = least; end <= n; end++) {
        w->cost[end] = best_at(end, n_live, weight, penalty, w);
        n_live = prune(end, n_live, least, weight, w);
        const size_t start = end + 1 - least; /* long enough for the next end */
        if (start >= least)
            w->live[n_live++] = start;
    }
}

/* The starts of all segments but the first, ascending. */
static bool read_back(const struct work *w, size_t n, struct ta_changes *out)
{
    size_t count = 0;
    for (size_t end = n; w->last[end] > 0; end = w->last[end])
        count++;
    size_t *at = reallocarray(NULL, count ? count : 1, sizeof *at);
    if (!at)
        return false;
    out->n = count;
    for (size_t end = n; w->last[end] > 0; end = w->last[end])
        at[--count] = w->last[end];
    out->at = at;
    return true;
}

/* ---- long series ------------------------------------------------------------------------- */

/* Replaces the values by the means of groups of `width`; the last group may be shorter.  Each group
 * then counts `width` times. */
static size_t thin(const double *values, size_t n, size_t width, double *means)
{
    size_t groups = 0;
    for (size_t at = 0; at < n; at += width) {
        const size_t size = n - at < width ? n - at : width;
        double sum = 0;
        for (size_t i = 0; i < size; i++)
            sum += values[at + i];
        means[groups++] = sum / (double)size;
    }
    return groups;
}

/* The place within `width` of `guess` that divides [left, right) best, and how much that saves. */
static size_t divide(const struct prefix *before, size_t left, size_t guess, size_t right,
                     size_t width, double *saved)
{
    const double whole = cost_of(before, left, right);
    size_t place = 0;
    *saved = 0;
    for (size_t at = guess - width; at <= guess + width; at++) {
        if (at < left + LEAST_SEGMENT || at + LEAST_SEGMENT > right)
            continue;
        const double saves = whole - cost_of(before, left, at) - cost_of(before, at, right);
        if (saves > *saved) {
            *saved = saves;
            place = at;
        }
    }
    return place;
}

/* Changes of groups become changes of values.  A group with a change inside differs from both
 * sides and was cut off twice; once the first cut is where it belongs the second saves less than it
 * costs. */
static void refine(const struct prefix *before, size_t n, size_t width, double penalty,
                   struct ta_changes *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        const size_t left = kept ? out->at[kept - 1] : 0;
        const size_t right = i + 1 < out->n ? out->at[i + 1] * width : n;
        double saved;
        const size_t place = divide(before, left, out->at[i] * width, right, width, &saved);
        if (saved > penalty)
            out->at[kept++] = place;
    }
    out->n = kept;
}

static bool find(size_t n, struct work *w, struct ta_changes *out)
{
    const double penalty = 3 * log((double)n);
    const size_t width = (n + EXACT - 1) / EXACT;
    if (width == 1) {
        add_up(w->scaled, n, w->before);
        partition(n, LEAST_SEGMENT, 1, penalty, w);
        return read_back(w, n, out);
    }
    const size_t groups = thin(w->scaled, n, width, w->cost);
    add_up(w->cost, groups, w->before);
    partition(groups, 1 + LEAST_SEGMENT / width, (double)width, penalty, w);
    if (!read_back(w, groups, out))
        return false;
    add_up(w->scaled, n, w->before);
    refine(w->before, n, width, penalty, out);
    return true;
}

/* ---- the call ---------------------------------------------------------------------------- */

bool ta_change_points(const double *series, size_t n, struct ta_changes *out)
{
    struct ta_changes none = {NULL, 0, TA_NAN};
    if (n < 2 * LEAST_SEGMENT || !ta_all_finite(series, n)) {
        *out = none;
        return true;
    }
    struct work w = {ta_numbers(n),
                     reallocarray(NULL, n + 1, sizeof *w.before),
                     ta_numbers(n + 1),
                     reallocarray(NULL, n + 1, sizeof *w.last),
                     reallocarray(NULL, n + 1, sizeof *w.live),
                     reallocarray(NULL, n + 1, sizeof *w.dead)};
    bool done = w.scaled && w.before && w.cost && w.last && w.live && w.dead;
    if (done && scale(series, n, &w, &none.sigma))
        done = find(n, &w, &none);
    none.sigma = ta_if_finite(none.sigma);
    if (done)
        *out = none;
    free(w.scaled);
    free(w.before);
    free(w.cost);
    free(w.last);
    free(w.live);
    free(w.dead);
    return done;
}
