/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.outliers: the ranks that differ most from the others, and in what.
 *
 * A rank differs in a figure when its value is beyond three interquartile ranges of the quartiles
 * (Tukey's severe fence), has a modified z above 3.5 (Iglewicz & Hoaglin), and is a hundredth of
 * the median away from it: of equal ranks the last digit is no difference. */
#include "base/vec.h"
#include "figures.h"
#include "stat/sample.h"

#include <math.h>
#include <stdlib.h>

enum { RANKS_LEAST = 5, NAMED_MOST = 3 };

#define Z_LIMIT 3.5
#define APART 0.01

enum { RANK, FIGURES, LABEL, METRIC, UNIT, VALUE, P50, DIFFERENCE, OTHERS };
static const struct ta_column ranks_outliers_columns[] = {
    [RANK] = {"rank", "Rank", TA_INTEGER, .role = TA_NOTE,
              .doc = "Rank that differs from the others"},
    [FIGURES] = {"figures", "Metrics", TA_COUNT, .better = TA_LOWER,
                 .doc = "Number of metrics in which it differs"},
    [LABEL] = {"label", "Main metric", TA_TEXT, .doc = "Metric with the most important difference"},
    [METRIC] = {"metric", "Metric", TA_ID, .doc = "The same metric, named as in `ranks.metrics`"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of value and median"},
    [VALUE] = {"value", "Value", TA_NUMBER, .doc = "Value of that metric on this rank"},
    [P50] = {"p50", "p50", TA_NUMBER, .doc = "Median of that metric over all ranks"},
    [DIFFERENCE] = {"difference", "Difference", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
                    .doc = "Value minus median, divided by the median; empty if the median is 0"},
    [OTHERS] = {"others", "Other metrics", TA_TEXT,
                .doc = "Other metrics in which the rank differs, most important first"},
};

const struct ta_table_def ranks_outliers = {
    "ranks.outliers", "Outlier ranks", TA_COLUMNS(ranks_outliers_columns),
    .doc =
        "The ranks that differ most from the others, at most `ranks.outliers` (16; `--outliers`), "
        "in runs of five ranks or more. A rank differs in a metric if its value is more than three "
        "interquartile ranges outside the quartiles, has a modified z above 3.5, and differs from "
        "the median by at least 1 %. The rank with the most important difference comes first.",
    .joining = TA_JOIN_NOT};

/* A rank and a figure in which it differs. */
struct difference {
    int64_t rank;
    const struct figure *figure;
    double value;
    double tells; /* weight of the figure times the distance of the values */
};

struct differences {
    struct difference *at;
    size_t n, max;
};

static bool add(struct differences *list, const struct difference *difference)
{
    return ta_vec_push(list, *difference);
}

static bool find_in(const struct figure *f, struct differences *list)
{
    struct ta_fences fences;
    if (f->n < RANKS_LEAST || f->low == f->high)
        return true;
    double *z = calloc(f->n, sizeof *z);
    bool done = z != NULL;
    ta_tukey_fences(f->ordered, f->n, &fences);
    if (done)
        ta_modified_z(f->ordered, f->n, f->values, f->n, z);
    for (size_t i = 0; i < f->n && done; i++) {
        const double value = f->values[i], apart = fabs(value - f->median);
        if ((value >= fences.severe_low && value <= fences.severe_high) ||
            apart <= APART * fabs(f->median))
            continue;
        if (fabs(z[i]) > Z_LIMIT)
            done = add(
                list, &(struct difference){f->ranks[i], f, value,
                                           f->weight * apart / fmax(fabs(value), fabs(f->median))});
    }
    free(z);
    return done;
}

static int by_rank(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->tells != b->tells)
        return a->tells > b->tells ? -1 : 1;
    return strcmp(a->figure->name, b->figure->name);
}

/* The differences of one rank, the most important first. */
struct outlier {
    const struct difference *first;
    size_t n;
};

static int by_telling(const void *left, const void *right)
{
    const struct outlier *a = left, *b = right;
    if (a->first->tells != b->first->tells)
        return a->first->tells > b->first->tells ? -1 : 1;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->first->rank > b->first->rank) - (a->first->rank < b->first->rank);
}

static size_t gather(struct differences *list, struct outlier *outliers)
{
    size_t n = 0;
    qsort(list->at, list->n, sizeof *list->at, by_rank);
    for (size_t i = 0; i < list->n; i++) {
        if (i == 0 || list->at[i].rank != list->at[i - 1].rank)
            outliers[n++] = (struct outlier){&list->at[i], 0};
        outliers[n - 1].n++;
    }
    qsort(outliers, n, sizeof *outliers, by_telling);
    return n;
}

static bool add_row(const struct outlier *outlier, struct ta_arena *arena,
                    struct ta_section_builder *out)
{
    const struct difference *most = outlier->first;
    const struct figure *f = most->figure;
    const char *others = "";
    const size_t named = outlier->n <= NAMED_MOST + 1 ? outlier->n : NAMED_MOST + 1;
    for (size_t i = 1; i < named && others; i++)
        others = ta_arena_printf(arena, "%s%s%s", others, *others ? ", " : "",
                                 outlier->first[i].figure->label);
    if (others && outlier->n > named)
        others = ta_arena_printf(arena, "%s and %zu more", others, outlier->n - named);
    if (!others)
        return false;
    TA_ROW(out, ranks_outliers, [RANK] = ta_int(most->rank),
           [FIGURES] = ta_int((int64_t)outlier->n), [LABEL] = ta_text(ta_slice_of(f->label)),
           [METRIC] = ta_text(ta_slice_of(f->name)), [UNIT] = ta_text(ta_slice_of(f->unit)),
           [VALUE] = ta_num(most->value), [P50] = ta_num(f->median),
           [DIFFERENCE] =
               f->median != 0 ? ta_num((most->value - f->median) / fabs(f->median)) : ta_null(),
           [OTHERS] = *others ? ta_text(ta_slice_of(others)) : ta_null());
    return true;
}

bool ranks_add_outliers(const struct figures *figures, size_t most, struct ta_section_builder *out)
{
    struct differences list = {NULL, 0, 0};
    struct ta_arena arena = {0};
    bool done = true;
    for (size_t i = 0; i < figures->n && done; i++)
        done = find_in(&figures->at[i], &list);
    struct outlier *outliers = calloc(list.n + 1, sizeof *outliers);
    done = done && outliers;
    const size_t n = done && list.n ? gather(&list, outliers) : 0;
    for (size_t i = 0; i < n && i < most && done; i++)
        done = add_row(&outliers[i], &arena, out);
    if (n > most)
        ta_add_missing(
            out,
            "%zu ranks differ from the others; the %zu that differ most are listed (--outliers).",
            n, most);
    free(list.at);
    free(outliers);
    ta_arena_free(&arena);
    return done;
}
