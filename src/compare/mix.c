/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.mix: a mean can change because its parts changed, or because there is more of some parts.
 *
 * With shares w of the calls and means m of the classes, the total mean is M = Σ w m, and with
 * averages of both sides its change is the sum of the effect of the means and the effect of the
 * mix:
 *
 *     ΔM = Σ (w + w')/2 (m' - m)  +  Σ (m + m')/2 (w' - w)
 *
 * Where all classes of both sides changed one way and the mean the other way, it misleads (Simpson
 * 1951). */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>

enum { OF, CLASSES, BASE_MEAN, NEW_MEAN, DELTA, WITHIN, MIX, MISLEADS };

static const struct ta_column mix_columns[] = {
    [OF] = {"of", "Mean of", TA_WORD,
            .doc = "What the mean is over, and its classes: kernels by class, stage calls, steps "
                   "by rank"},
    [CLASSES] = {"classes", "Classes", TA_COUNT, .doc = "Number of classes on both sides"},
    [BASE_MEAN] = {"base_mean_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Mean in the baseline"},
    [NEW_MEAN] = {"new_mean_ns", "After", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Mean in the other run"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before"},
    [WITHIN] = {"within_ns", "Class effect", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
                .doc = "Part of the change due to classes becoming faster or slower"},
    [MIX] = {"mix_ns", "Mix effect", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
             .doc = "Rest of the change: more or fewer calls of some classes"},
    [MISLEADS] = {"misleads", "Misleading mean", TA_FLAG,
                  .doc = "Whether every class changed in one direction and the mean in the other"},
};

static const struct ta_table_def mix = {"diff.mix", "Means and mix effect", TA_COLUMNS(mix_columns),
                                        .tier = TA_TIER_DETAIL};

/* Classes of a mean.  Without `key` they are the ranks, and without `calls` each row is one. */
static const struct classes {
    const char *of;
    enum ta_reading key, calls, total;
} means[] = {
    {"kernels_by_class", TA_AS_KERNEL_KIND, TA_AS_KERNEL_KIND_CALLS, TA_AS_KERNEL_KIND_TIME},
    {"stages", TA_AS_STAGE, TA_AS_STAGE_CALLS, TA_AS_STAGE_TIME},
    {"steps_by_rank", TA_AS_NOTHING, TA_AS_NOTHING, TA_AS_STEP_HOST_TIME},
};

struct sum {
    double calls, total;
};

static bool is_key(const struct ta_refs *a, size_t i, const struct ta_refs *b, size_t k,
                   const struct classes *classes)
{
    const int64_t rank = ta_ref_rank(a, classes->total, i);
    const struct ta_slice key = ta_ref_text(a, classes->key, i);
    return classes->key == TA_AS_NOTHING
               ? rank != TA_MISSING && rank == ta_ref_rank(b, classes->total, k)
               : key.len && ta_slice_equal(key, ta_ref_text(b, classes->key, k));
}

static void add_row(const struct ta_refs *in, size_t row, const struct classes *classes,
                    struct sum *sum)
{
    sum->calls += classes->calls == TA_AS_NOTHING ? 1 : ta_ref_number(in, classes->calls, row, 0);
    sum->total += ta_ref_number(in, classes->total, row, 0);
}

/* Rows with the key of row i of `like`. */
static struct sum sum_of(const struct ta_refs *in, const struct ta_refs *like, size_t i,
                         const struct classes *classes)
{
    struct sum sum = {0, 0};
    for (size_t k = 0; k < ta_ref_rows(in, classes->total); k++)
        if (is_key(like, i, in, k, classes))
            add_row(in, k, classes, &sum);
    return sum;
}

static struct sum sum_all(const struct ta_refs *in, const struct classes *classes)
{
    struct sum sum = {0, 0};
    for (size_t k = 0; k < ta_ref_rows(in, classes->total); k++)
        add_row(in, k, classes, &sum);
    return sum;
}

static bool is_first(const struct ta_refs *in, size_t i, const struct classes *classes)
{
    for (size_t k = 0; k < i; k++)
        if (is_key(in, i, in, k, classes))
            return false;
    return true;
}

/* Of means that are sums of a few hundred quotients. */
#define ROUNDING 1e-13

/* More classes than this are no classes. */
enum { CLASSES_MOST = 200 };

static void add_mean(struct ta_section_builder *out, const struct classes *classes,
                     const struct ta_refs *base, const struct ta_refs *new)
{
    const struct sum all = sum_all(base, classes), now = sum_all(new, classes);
    double within = 0;
    size_t n = 0, faster = 0, slower = 0;
    if (all.calls <= 0 || now.calls <= 0)
        return;
    for (size_t i = 0; i < ta_ref_rows(base, classes->total); i++) {
        if (!is_first(base, i, classes))
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
        TA_ROW(out, mix, [OF] = ta_text(ta_slice_of(classes->of)), [CLASSES] = ta_int((int64_t)n),
               [BASE_MEAN] = ta_num(before), [NEW_MEAN] = ta_num(after), [DELTA] = ta_num(change),
               [WITHIN] = ta_num(within), [MIX] = ta_num(change - within),
               [MISLEADS] = ta_bool(misleads));
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    for (size_t i = 0; i < TA_LENGTH(means); i++)
        if (ta_ref_rows(base, means[i].total) <= CLASSES_MOST &&
            ta_ref_rows(new, means[i].total) <= CLASSES_MOST)
            add_mean(out, &means[i], base, new);
    return true;
}

static const struct ta_table_def *const tables[] = {&mix, NULL};

const struct diff_part diff_of_means = {
    .declares = {.name = "diff.mix", .tables = tables}, .section = "diff", .add = add};
