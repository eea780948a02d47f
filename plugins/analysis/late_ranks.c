/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.late: for each figure of time that dumps have of several ranks, the slowest rank and how
 * much it is behind the others.
 *
 * It is compared with the median of the other ranks, and with how far these are apart: their median
 * absolute deviation, scaled to a standard deviation of normal noise.  Ranks that wait for each
 * other in every step all look late; then nothing stands out here, and traces must tell. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

/* Figures of time by rank.  `name` is what one is called; else a column has the names. */
static const struct source {
    const char *table, *key, *name;
    const char *value;
    const char *times;  /* how often it happens on a rank; NULL: the value is the sum already */
    const char *leaves; /* column that is null where others run inside, or NULL */
    const char * not ;  /* column of rows that another table has, or NULL */
} sources[] = {
    {"stages.by_name", "stage", NULL, "total_ns", NULL, "share", NULL},
    {"layers.by_name", "layer", NULL, "total_ns", NULL, NULL, NULL},
    {"iterations.by_name", "loop", NULL, "mean_ns", "count", NULL, "p50_ns"},
    {"diffusion.by_rank", NULL, "a denoising step", "step_mean_ns", "steps", NULL, NULL},
    {"diffusion.by_rank", NULL, "a block", "block_mean_ns", "blocks", NULL, NULL},
};

static const struct ta_column columns[] = {
    {"what", "What", TA_TEXT, .doc = "Stage, layer, loop, step or block"},
    {"table", "Table", TA_ID, .doc = "Where the figure stands"},
    {"encloses", "Encloses others", TA_FLAG, .doc = "Whether other stages run inside it"},
    {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that have the figure"},
    {"rank", "Slowest rank", TA_INTEGER,
     .doc = "The rank that takes longest, the lowest of equals"},
    {"value_ns", "Its time", TA_NS_MEAN, .better = TA_LOWER, .doc = "The figure of that rank"},
    {"median_ns", "Median", TA_NS_MEAN, .better = TA_LOWER,
     .doc = "Median of the figure over the other ranks"},
    {"excess_ns", "Behind", TA_NS_MEAN, .better = TA_LOWER, .doc = "Time beyond that median"},
    {"excess", "Behind (share)", TA_RATIO, .better = TA_LOWER, .doc = "The same over the median"},
    {"deviations", "Deviations", TA_NUMBER, .better = TA_LOWER,
     .doc = "The same over the scaled median absolute deviation of the other ranks; none for fewer "
            "than "
            "three of them"},
    {"loss_ns", "Loss", TA_NS_MEAN, .better = TA_LOWER,
     .doc = "Time beyond the median, as often as it happens on the rank"},
};

/* A figure of a rank. */
struct entry {
    struct ta_slice name;
    int64_t rank;
    double value, times;
    bool encloses;
};

static int by_name(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = ta_slice_compare(a->name, b->name);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return column ? ta_row_number(table, row, column, NAN) : NAN;
}

static size_t read_entries(const struct ta_table *table, const struct source *source,
                           struct entry *entries)
{
    const size_t rank = ta_table_column(table, "rank");
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows && rank != SIZE_MAX; row++) {
        const struct ta_cell *of = ta_table_cell(table, row, rank);
        const struct ta_slice name =
            source->key ? ta_row_text(table, row, source->key) : TA_LIT("");
        const double value = number(table, row, source->value);
        if (of->kind != TA_CELL_INT || isnan(value) || value < 0 ||
            !isnan(number(table, row, source->not )))
            continue;
        entries[n++] = (struct entry){
            .name = name.len ? name : ta_slice_of(source->name),
            .rank = of->i,
            .value = value,
            .times = source->times ? number(table, row, source->times) : 1,
            .encloses = source->leaves && isnan(number(table, row, source->leaves)),
        };
    }
    qsort(entries, n, sizeof *entries, by_name);
    return n;
}

/* How far the sorted values are from their median; NAN for fewer than three. */
static double deviation(double *values, size_t n, double median)
{
    if (n < 3)
        return NAN;
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - median);
    ta_sort_numbers(values, n);
    return 1.4826 * ta_quantile(values, n, 0.5);
}

/* One figure: entries [0, n), by rank; `values` has room for n. */
static void add_row(struct ta_table_builder *out, const struct source *source,
                    const struct entry *entries, size_t n, double *values)
{
    const struct entry *slowest = entries;
    bool encloses = false, repeats = false;
    for (size_t i = 0; i < n; i++) {
        slowest = entries[i].value > slowest->value ? &entries[i] : slowest;
        encloses |= entries[i].encloses;
        repeats |= i > 0 && entries[i].rank == entries[i - 1].rank;
    }
    size_t n_others = 0;
    for (size_t i = 0; i < n; i++)
        if (&entries[i] != slowest)
            values[n_others++] = entries[i].value;
    if (n_others == 0 || repeats)
        return;
    ta_sort_numbers(values, n_others);
    const double median = ta_quantile(values, n_others, 0.5);
    const double apart = deviation(values, n_others, median);
    const double excess = slowest->value - median;
    TA_CELLS(out, ta_text(slowest->name), ta_text(ta_slice_of(source->table)), ta_bool(encloses),
             ta_int((int64_t)n), ta_int(slowest->rank), ta_num(slowest->value), ta_num(median),
             ta_num(excess), median > 0 ? ta_num(excess / median) : ta_null(),
             apart > 0 ? ta_num(excess / apart) : ta_null(), ta_num(excess * slowest->times));
}

static bool add_source(struct ta_table_builder *out, const struct ta_table *table,
                       const struct source *source)
{
    struct entry *entries = calloc(table->n_rows + 1, sizeof *entries);
    double *values = calloc(table->n_rows + 1, sizeof *values);
    const bool done = entries && values;
    const size_t n = done ? read_entries(table, source, entries) : 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && ta_slice_equal(entries[end].name, entries[first].name);)
            end++;
        add_row(out, source, entries + first, end - first, values);
    }
    free(entries);
    free(values);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    struct ta_table_builder *table =
        ta_add_table(out, "ranks.late", "Slowest ranks", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct ta_table *of = ta_report_table(in->report, sources[i].table);
        if (of && !add_source(table, of, &sources[i]))
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the ranks");
    }
    ta_sort_rows(table, "loss_ns", true);
    return TA_OK;
}

static const char *const after[] = {"stages", "models", "iterations", "diffusion", NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "ranks", .finish = finish, .of_tables = true};

TA_PLUGIN(analysis, late_ranks, &ops, .title = "Ranks",
          .summary = "The slowest rank by each figure of time in dumps: ranks.late",
          .version = "1");
