/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "classes.h"
#include "lib/outlier.h"

#include <math.h>
#include <stdlib.h>

const char *const step_class_words[STEP_CLASSES] = {
    [STEP_REGULAR] = "regular", [STEP_FULL] = "full",     [STEP_PARTIAL] = "partial",
    [STEP_CACHED] = "cached",   [STEP_SET_UP] = "set-up", [STEP_OUTLIER] = "outlier"};

const struct ta_kind step_class_kinds[] = {{"full", "full", TA_INK_SERIES_1},
                                           {"regular", "regular", TA_INK_SERIES_1},
                                           {"partial", "partial (step cache)", TA_INK_SERIES_2},
                                           {"cached", "cached", TA_INK_SERIES_3},
                                           {"set-up", "set-up", TA_INK_OTHER},
                                           {"outlier", "outlier", TA_INK_WORSE},
                                           {NULL, NULL, TA_INK_OTHER}};

/* ---- step caches ------------------------------------------------------------------------------
 */

static enum step_class class_of(const struct ta_refs *in, size_t row, size_t column)
{
    return ta_ref_reads(in, column, row, "full")     ? STEP_FULL
           : ta_ref_reads(in, column, row, "cached") ? STEP_CACHED
                                                     : STEP_PARTIAL;
}

/* The steps [begin, end) are of one rank.  Rows of a step cache are its steps, in order, where it
 * has as many of each pass; a step whose passes differ is partial. */
static void find_cached(const struct ta_refs *in, size_t first, int64_t rank,
                        enum step_class *classes, size_t n_steps)
{
    const size_t ranks = first + CACHED_RANK, column = first + CACHED_CLASS;
    for (int round = 0; round < 2; round++) { /* first whether they fit, then what they are */
        size_t at = 0, n = 0;
        for (size_t i = 0; i < ta_ref_rows(in, ranks); i++) {
            if (ta_ref_integer(in, ranks, i) != rank)
                continue;
            const bool is_next =
                n > 0 && (ta_ref_integer(in, first + CACHED_PASS, i) !=
                              ta_ref_integer(in, first + CACHED_PASS, i - 1) ||
                          !ta_slice_equal(ta_ref_text(in, first + CACHED_NAME, i),
                                          ta_ref_text(in, first + CACHED_NAME, i - 1)));
            if (is_next) {
                if (at != n_steps)
                    return;
                at = 0;
            }
            const enum step_class class = class_of(in, i, column);
            if (round == 1)
                classes[at] =
                    classes[at] == STEP_REGULAR || classes[at] == class ? class : STEP_PARTIAL;
            at++;
            n++;
            if (at > n_steps)
                return;
        }
        if (n == 0 || at != n_steps)
            return;
    }
}

/* ---- times ------------------------------------------------------------------------------------
 */

/* Of the steps [begin, end), which are of one rank: which steps of a class take far longer. */
static void find_outliers(const double *times, enum step_class *classes, size_t begin, size_t end,
                          enum step_class of, double *work)
{
    enum { LEAST = 8 };
    size_t n = 0;
    for (size_t i = begin; i < end; i++)
        if (classes[i] == of && !isnan(times[i]))
            work[n++] = times[i];
    if (n < LEAST)
        return;
    ta_sort_numbers(work, n);
    const double median = ta_quantile(work, n, 0.5);
    for (size_t i = 0; i < n; i++)
        work[i] = fabs(work[i] - median);
    ta_sort_numbers(work, n);
    const double mad = ta_quantile(work, n, 0.5);
    for (size_t i = begin; i < end; i++)
        if (classes[i] == of && ta_is_far_longer(times[i], median, mad))
            classes[i] = STEP_OUTLIER;
}

size_t step_classes_find(const struct ta_refs *in, size_t first, const bool *sets_up,
                         const double *times, enum step_class *classes)
{
    const struct ta_steps *steps = in->steps;
    size_t counts[STEP_CLASSES] = {0}, n = 0;
    double *work = calloc(steps->n + 1, sizeof *work);
    if (!work)
        return 0;
    for (size_t begin = 0, end; begin < steps->n; begin = end) {
        const int64_t rank = steps->at[begin].rank;
        for (end = begin; end < steps->n && steps->at[end].rank == rank; end++)
            classes[end] = STEP_REGULAR;
        find_cached(in, first, rank, classes + begin, end - begin);
        for (size_t i = begin; i < end; i++)
            classes[i] = sets_up[i] ? STEP_SET_UP : classes[i];
        for (int class = STEP_REGULAR; class <= STEP_CACHED; class ++)
            find_outliers(times, classes, begin, end, (enum step_class) class, work);
    }
    for (size_t i = 0; i < steps->n; i++)
        counts[classes[i]]++;
    for (size_t i = 0; i < STEP_CLASSES; i++)
        n += counts[i] > 0;
    free(work);
    return n ? n : 1;
}
