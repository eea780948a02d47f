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

struct rank {
    double counts[HEALTH_NAMES]; /* by class of name */
};

/* The rank most similar to rank `i`; of several, the next one. */
static size_t nearest(const struct rank *ranks, size_t n, size_t i, double *most)
{
    size_t found = i;
    *most = -1;
    for (size_t step = 1; step < n && *most < 1; step++) {
        const size_t j = (i + step) % n;
        const struct rank *a = &ranks[i];
        const struct rank *b = &ranks[j];
        double both = 0, either = 0;
        for (size_t k = 0; k < HEALTH_NAMES; k++) {
            both += a->counts[k] < b->counts[k] ? a->counts[k] : b->counts[k];
            either += a->counts[k] < b->counts[k] ? b->counts[k] : a->counts[k];
        }
        const double alike = either > 0 ? both / either : 1;
        if (alike > *most) {
            *most = alike;
            found = j;
        }
    }
    return found;
}

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

bool health_compare_names(const struct ta_partial *names, struct ta_section_builder *out,
                          double *least)
{
    const size_t n = ta_partial_rows(names);
    *least = NAN;
    if (n < 2)
        return true;
    struct rank *ranks = calloc(n + 1, sizeof *ranks);
    for (size_t i = 0; ranks && i < n; i++)
        for (size_t c = 0; c < HEALTH_NAMES; c++) {
            const int64_t count = ta_partial_at(names, i)[HEALTH_NAMES_RANK + 1 + c];
            ranks[i].counts[c] = count == TA_MISSING ? 0 : (double)count;
        }
    if (!ranks)
        return false;
    for (size_t i = 0; i < n; i++) {
        double alike, kernels = 0;
        const size_t near = nearest(ranks, n, i, &alike);
        for (size_t c = 0; c < HEALTH_NAMES; c++)
            kernels += ranks[i].counts[c];
        *least = fmin(isnan(*least) ? 1 : *least, alike);
        TA_ROW(out, health_kernels, [RANK] = ta_int(ta_partial_at(names, i)[HEALTH_NAMES_RANK]),
               [KERNELS] = ta_int(ta_whole(kernels)), [LIKENESS] = ta_num(alike),
               [NEAREST] = ta_int(ta_partial_at(names, near)[HEALTH_NAMES_RANK]));
    }
    free(ranks);
    return true;
}
