/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.mix: a mean can change because its parts changed, or because there is more of some parts.
 *
 * Of classes with shares w of the calls and means m the total mean is M = Σ w m, and with averages
 * of both sides its change is that of the means and that of the mix:
 *
 *     ΔM = Σ (w + w')/2 (m' - m)  +  Σ (m + m')/2 (w' - w)
 *
 * Where all classes of both sides changed one way and the mean the other way, it misleads (Simpson
 * 1951). */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/columns.h"

#include <math.h>

static const struct ta_column columns[] = {
    {"of", "Mean of", TA_WORD,
     .doc = "What the mean is of, and which classes it has: kernels by class, calls of stages, "
            "steps by "
            "rank"},
    {"classes", "Classes", TA_COUNT, .doc = "Classes of both sides"},
    {"base_mean_ns", "Before", TA_NS_MEAN, .better = TA_LOWER, .doc = "Mean in the baseline"},
    {"new_mean_ns", "After", TA_NS_MEAN, .better = TA_LOWER, .doc = "Mean in the other run"},
    {"delta_ns", "Change", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "After minus before"},
    {"within_ns", "Within classes", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "Part of the change that comes from classes that became faster or slower"},
    {"mix_ns", "By the mix", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "The other part: more or fewer calls of some classes"},
    {"misleads", "Misleads", TA_FLAG,
     .doc = "Every class changed one way and the mean the other way"},
};

/* Classes of a mean; without `calls` each row is one. */
struct classes {
    const char *of, *table, *key, *calls, *total;
};

static const struct classes means[] = {
    {"kernels_by_class", "kernels.by_class", "class", "calls", "total_ns"},
    {"stages", "stages.by_name", "stage", "calls", "total_ns"},
    {"steps_by_rank", "steps.by_step", "rank", NULL, "host_dur_ns"},
};

struct sum {
    double calls, total;
};

static bool is_key(const struct ta_table *a, size_t i, const struct ta_table *b, size_t k,
                   const char *key)
{
    const struct ta_cell *x = ta_table_cell(a, i, ta_table_column(a, key));
    const struct ta_cell *y = ta_table_cell(b, k, ta_table_column(b, key));
    return x->kind == y->kind && (x->kind == TA_CELL_TEXT ? ta_slice_equal(x->text, y->text)
                                                          : x->kind == TA_CELL_INT && x->i == y->i);
}

/* Rows of `table` with the key of row i of `like`. */
static struct sum sum_of(const struct ta_table *table, const struct ta_table *like, size_t i,
                         const struct classes *classes)
{
    struct sum sum = {0, 0};
    for (size_t k = 0; k < table->n_rows; k++)
        if (is_key(like, i, table, k, classes->key)) {
            sum.calls += classes->calls ? ta_row_number(table, k, classes->calls, 0) : 1;
            sum.total += ta_row_number(table, k, classes->total, 0);
        }
    return sum;
}

static struct sum sum_all(const struct ta_table *table, const struct classes *classes)
{
    struct sum sum = {0, 0};
    for (size_t k = 0; k < table->n_rows; k++) {
        sum.calls += classes->calls ? ta_row_number(table, k, classes->calls, 0) : 1;
        sum.total += ta_row_number(table, k, classes->total, 0);
    }
    return sum;
}

static bool is_first(const struct ta_table *table, size_t i, const char *key)
{
    for (size_t k = 0; k < i; k++)
        if (is_key(table, i, table, k, key))
            return false;
    return true;
}

/* Of means that are sums of a few hundred quotients. */
#define ROUNDING 1e-13

/* More classes than this are no classes. */
enum { CLASSES_MOST = 200 };

static void add_mean(struct ta_table_builder *out, const struct classes *classes,
                     const struct ta_table *base, const struct ta_table *new)
{
    const struct sum all = sum_all(base, classes), now = sum_all(new, classes);
    double within = 0;
    size_t n = 0, faster = 0, slower = 0;
    if (all.calls <= 0 || now.calls <= 0)
        return;
    for (size_t i = 0; i < base->n_rows; i++) {
        if (!is_first(base, i, classes->key))
            continue;
        const struct sum a = sum_of(base, base, i, classes), b = sum_of(new, base, i, classes);
        if (a.calls <= 0 || b.calls <= 0)
            continue; /* of one side alone: it changes the mix */
        const double change = b.total / b.calls - a.total / a.calls;
        within += (a.calls / all.calls + b.calls / now.calls) / 2 * change;
        faster += change < 0;
        slower += change > 0;
        n++;
    }
    const double before = all.total / all.calls, after = now.total / now.calls;
    double change = after - before;
    if (fabs(change - within) <= ROUNDING * (before + after)) /* there is no mix then */
        change = within;
    const bool misleads = n > 1 && ((faster == n && change > 0) || (slower == n && change < 0));
    if (n > 1)
        TA_CELLS(out, ta_text(ta_slice_of(classes->of)), ta_int((int64_t)n), ta_num(before),
                 ta_num(after), ta_num(change), ta_num(within), ta_num(change - within),
                 ta_bool(misleads));
}

void diff_add_mix(struct diff *diff)
{
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(diff->out, "diff", "What changed"), "diff.mix",
                     "Means and what they are of", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        const struct ta_table *base = ta_report_table(diff->shown[TA_DIFF_BASE], means[i].table);
        const struct ta_table *new = ta_report_table(diff->shown[TA_DIFF_NEW], means[i].table);
        if (base && new && base->n_rows <= CLASSES_MOST &&new->n_rows <= CLASSES_MOST)
            add_mean(table, &means[i], base, new);
    }
}
