/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How similar the kernels of ranks are: the weighted Jaccard index of how often each ran.  Names
 * are hashed into classes, so that a rank is a few numbers, whatever it ran, and ranks merge by
 * adding; names that share a class look alike, so the index is never too small.  A rank is
 * compared with the most similar rank: stages of a pipeline differ by design, and come in as
 * many ranks as there are replicas. */
#include "likeness.h"

#include <math.h>
#include <stdlib.h>

#define NAMES_1(digits)                                                                            \
    {                                                                                              \
        "n" digits, TA_FIELD_SUM                                                                   \
    }
#define NAMES_4(digit, a, b, c, d)                                                                 \
    NAMES_1(#digit #a), NAMES_1(#digit #b), NAMES_1(#digit #c), NAMES_1(#digit #d)
#define NAMES_16(digit)                                                                            \
    NAMES_4(digit, 0, 1, 2, 3), NAMES_4(digit, 4, 5, 6, 7), NAMES_4(digit, 8, 9, a, b),            \
        NAMES_4(digit, c, d, e, f)

const struct ta_field health_name_fields[HEALTH_NAMES_FIELDS] = {
    {"rank", TA_FIELD_RANK}, NAMES_16(0), NAMES_16(1), NAMES_16(2), NAMES_16(3)};

bool health_count_names(const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    const struct ta_activities activities = ta_trace_activities(trace);
    if (kernels.n == 0)
        return true;
    int64_t *counts = calloc(kernels.n, sizeof *counts);
    if (!counts)
        return false;
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].kernel != TA_NO_KERNEL)
            counts[activities.at[i].kernel]++;
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)));
    for (size_t k = 0; k < kernels.n; k++) {
        const struct ta_slice name = ta_trace_text(trace, kernels.at[k].name);
        /* FNV-1a, its halves folded. */
        uint64_t hash = UINT64_C(14695981039346656037);
        for (size_t i = 0; i < name.len; i++)
            hash = (hash ^ (uint8_t)name.ptr[i]) * UINT64_C(1099511628211);
        ta_sum(&row[HEALTH_NAMES_RANK + 1 + ((size_t)((hash ^ hash >> 32) % HEALTH_NAMES))],
               counts[k]);
    }
    free(counts);
    return true;
}

/* ---- the most similar rank ------------------------------------------------------------------- */

enum { PARTS = 8 };

struct rank {
    double counts[HEALTH_NAMES]; /* by class of name */
    double parts[PARTS], sum;    /* of several classes; of all */
    size_t index;                /* in the order of ranks */
};

/* By number of kernels, then kernels; equal ranks in their order. */
static int by_counts(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    for (size_t c = 0; c < HEALTH_NAMES; c++)
        if (a->counts[c] != b->counts[c])
            return a->counts[c] < b->counts[c] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool is_equal(const struct rank *a, const struct rank *b)
{
    for (size_t c = 0; c < HEALTH_NAMES; c++)
        if (a->counts[c] != b->counts[c])
            return false;
    return true;
}

/* Weighted Jaccard index. */
static double alike(const double *a, const double *b, size_t n)
{
    double both = 0, either = 0;
    for (size_t i = 0; i < n; i++) {
        both += a[i] < b[i] ? a[i] : b[i]; /* faster than fmin() */
        either += a[i] < b[i] ? b[i] : a[i];
    }
    return either > 0 ? both / either : 1;
}

struct nearest {
    double alike;
    size_t index, steps; /* steps from the rank to it, past the last rank to the first */
};

static void take(struct nearest *nearest, double alike, size_t from, size_t index, size_t n)
{
    const size_t steps = (index + n - from) % n;
    if (alike > nearest->alike || (alike == nearest->alike && steps < nearest->steps))
        *nearest = (struct nearest){alike, index, steps};
}

/* Of rounding, so that ranks that are as similar are all seen. */
#define SLACK 1e-9

/* Sums over classes are never less alike than the classes themselves: mostly they are enough. */
static void compare(const struct rank *rank, const struct rank *other, size_t n,
                    struct nearest *nearest)
{
    if (alike(rank->parts, other->parts, PARTS) >= nearest->alike - SLACK)
        take(nearest, alike(rank->counts, other->counts, HEALTH_NAMES), rank->index, other->index,
             n);
}

/* Ranks with the same kernels follow each other, from `first` on; the next one of them is the
 * nearest of each. */
static void pair_equals(const struct rank *sorted, size_t first, size_t end, size_t n,
                        struct nearest *of)
{
    for (size_t i = first; i < end && end - first > 1; i++) {
        const size_t next = i + 1 < end ? i + 1 : first;
        of[sorted[i].index].alike = -1;
        take(&of[sorted[i].index], 1, sorted[i].index, sorted[next].index, n);
    }
}

/* No rank is more alike than the numbers of their kernels are: the search begins at ranks with
 * about as many kernels, and ends where that is less than what was found. */
static void search(const struct rank *sorted, size_t n, size_t at, struct nearest *nearest)
{
    const struct rank *rank = &sorted[at];
    for (size_t i = at; i-- > 0 && sorted[i].sum >= (nearest->alike - SLACK) * rank->sum;)
        compare(rank, &sorted[i], n, nearest);
    for (size_t i = at + 1; i < n && rank->sum >= (nearest->alike - SLACK) * sorted[i].sum; i++)
        compare(rank, &sorted[i], n, nearest);
}

/* Sorts the ranks; of several that are as similar the next one counts. */
static void find_nearest(struct rank *ranks, size_t n, struct nearest *of)
{
    qsort(ranks, n, sizeof *ranks, by_counts);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_equal(&ranks[first], &ranks[end]);)
            end++;
        if (end - first > 1) {
            pair_equals(ranks, first, end, n, of);
            continue;
        }
        of[ranks[first].index] = (struct nearest){.alike = -1};
        search(ranks, n, first, &of[ranks[first].index]);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { RANK, KERNELS, LIKENESS, NEAREST };
static const struct ta_column health_kernels_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Number of kernels that ran"},
    [LIKENESS] = {"likeness", "Similarity", TA_RATIO, .better = TA_HIGHER,
                  .doc = "Weighted share of kernels, by name, that the rank and its most similar "
                         "rank have in common (Jaccard index)"},
    [NEAREST] = {"nearest", "Most similar rank", TA_INTEGER,
                 .doc = "Rank whose kernels are most similar"},
};

const struct ta_table_def health_kernels = {
    "health.kernels", "Kernels of ranks compared", TA_COLUMNS(health_kernels_columns),
    .doc =
        "One row per rank that ran kernels, if there are two or more: the weighted Jaccard index "
        "of its kernels, by name, and the kernels of the most similar rank. Stages of a pipeline "
        "differ by design and come in as many ranks as there are replicas. Names are distinguished "
        "by 64 classes of a hash, so the index may be too large but never too small.",
    .tier = TA_TIER_DETAIL};

/* The kernels of a rank by class of name. */
static void read_counts(const struct ta_partial *names, size_t row, struct rank *rank)
{
    *rank = (struct rank){.index = row};
    for (size_t c = 0; c < HEALTH_NAMES; c++) {
        const int64_t count = ta_partial_at(names, row)[HEALTH_NAMES_RANK + 1 + c];
        rank->counts[c] = count == TA_MISSING ? 0 : (double)count;
        rank->parts[c * PARTS / HEALTH_NAMES] += rank->counts[c];
        rank->sum += rank->counts[c];
    }
}

bool health_compare_names(const struct ta_partial *names, struct ta_section_builder *out,
                          double *least)
{
    const size_t n = ta_partial_rows(names);
    *least = NAN;
    if (n < 2)
        return true;
    struct rank *ranks = calloc(n, sizeof *ranks);
    struct nearest *of = calloc(n, sizeof *of);
    double *sums = calloc(n, sizeof *sums);
    const bool done = ranks && of && sums;
    for (size_t i = 0; done && i < n; i++) {
        read_counts(names, i, &ranks[i]);
        sums[i] = ranks[i].sum;
    }
    if (done)
        find_nearest(ranks, n, of);
    for (size_t i = 0; done && i < n; i++) {
        *least = fmin(isnan(*least) ? 1 : *least, of[i].alike);
        TA_ROW(out, health_kernels, [RANK] = ta_int(ta_partial_at(names, i)[HEALTH_NAMES_RANK]),
               [KERNELS] = ta_int(ta_whole(sums[i])), [LIKENESS] = ta_num(of[i].alike),
               [NEAREST] = ta_int(ta_partial_at(names, of[i].index)[HEALTH_NAMES_RANK]));
    }
    free(ranks);
    free(of);
    free(sums);
    return done;
}
