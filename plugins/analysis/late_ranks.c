/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.late: for each time that dumps have for several ranks, the slowest rank and how much
 * longer it takes than the others.
 *
 * It is compared with the median of the other ranks, and with their spread: their median
 * absolute deviation, scaled to a standard deviation of normal noise.  Ranks that wait for each
 * other in every step all look late; then no rank is an outlier here, and traces are needed. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum {
    STAGE_RANK,
    STAGE_NAME,
    STAGE_TOTAL,
    STAGE_SHARE,
    LAYER_RANK,
    LAYER_NAME,
    LAYER_TOTAL,
    LOOP_RANK,
    LOOP_NAME,
    LOOP_COUNT,
    LOOP_MEAN,
    LOOP_P50,
    DIFFUSION_RANK,
    DIFFUSION_STEPS,
    DIFFUSION_STEP_MEAN,
    DIFFUSION_BLOCKS,
    DIFFUSION_BLOCK_MEAN,
    NONE
};
static const struct ta_ref reads[] = {
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE_NAME] = {"stages.by_name", "stage"},
    [STAGE_TOTAL] = {"stages.by_name", "total_ns"},
    [STAGE_SHARE] = {"stages.by_name", "share"},
    [LAYER_RANK] = {"layers.by_name", "rank"},
    [LAYER_NAME] = {"layers.by_name", "layer"},
    [LAYER_TOTAL] = {"layers.by_name", "total_ns"},
    [LOOP_RANK] = {"iterations.by_name", "rank"},
    [LOOP_NAME] = {"iterations.by_name", "loop"},
    [LOOP_COUNT] = {"iterations.by_name", "count"},
    [LOOP_MEAN] = {"iterations.by_name", "mean_ns"},
    [LOOP_P50] = {"iterations.by_name", "p50_ns"},
    [DIFFUSION_RANK] = {"diffusion.by_rank", "rank"},
    [DIFFUSION_STEPS] = {"diffusion.by_rank", "steps"},
    [DIFFUSION_STEP_MEAN] = {"diffusion.by_rank", "step_mean_ns"},
    [DIFFUSION_BLOCKS] = {"diffusion.by_rank", "blocks"},
    [DIFFUSION_BLOCK_MEAN] = {"diffusion.by_rank", "block_mean_ns"},
};

/* Times by rank; columns are references, NONE if there is no such column. */
static const struct source {
    size_t rank, key;
    const char *name; /* name of the time if there is no key */
    size_t value;
    size_t times;  /* how often it occurs on a rank; NONE: the value is already the sum */
    size_t leaves; /* null if others run inside */
    size_t spared; /* not null if another table has the row */
} sources[] = {
    {STAGE_RANK, STAGE_NAME, NULL, STAGE_TOTAL, NONE, STAGE_SHARE, NONE},
    {LAYER_RANK, LAYER_NAME, NULL, LAYER_TOTAL, NONE, NONE, NONE},
    {LOOP_RANK, LOOP_NAME, NULL, LOOP_MEAN, LOOP_COUNT, NONE, LOOP_P50},
    {DIFFUSION_RANK, NONE, "a denoising step", DIFFUSION_STEP_MEAN, DIFFUSION_STEPS, NONE, NONE},
    {DIFFUSION_RANK, NONE, "a block", DIFFUSION_BLOCK_MEAN, DIFFUSION_BLOCKS, NONE, NONE},
};

enum {
    WHAT,
    TABLE,
    ENCLOSES,
    RANKS,
    RANK,
    VALUE_NS,
    MEDIAN_NS,
    EXCESS_NS,
    EXCESS,
    DEVIATIONS,
    LOSS_NS
};
static const struct ta_column late_columns[] = {
    [WHAT] =
        {"what", "Compared", TA_TEXT,
         .doc =
             "What is compared between the ranks: a stage, layer, loop, denoising step or block"},
    [TABLE] = {"table", "Table", TA_ID, .doc = "Table that has the compared time"},
    [ENCLOSES] = {"encloses", "Encloses others", TA_FLAG,
                  .doc = "Whether other stages run inside the stage"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that have the compared time"},
    [RANK] = {"rank", "Slowest rank", TA_INTEGER,
              .doc = "Rank that takes longest; the lowest number if several do"},
    [VALUE_NS] = {"value_ns", "Rank's time", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Time of the slowest rank: total of a stage or layer, mean of an "
                         "iteration, step or block"},
    [MEDIAN_NS] = {"median_ns", "Median", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Median time of the other ranks"},
    [EXCESS_NS] = {"excess_ns", "Extra time", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Time of the slowest rank beyond the median of the others"},
    [EXCESS] = {"excess", "Slower by", TA_RATIO, .better = TA_LOWER,
                .doc = "Extra time divided by the median of the other ranks"},
    [DEVIATIONS] = {"deviations", "MADs above median", TA_NUMBER, .better = TA_LOWER,
                    .doc = "Extra time in scaled median absolute deviations (MADs) of the other "
                           "ranks; empty if there are fewer than three"},
    [LOSS_NS] = {"loss_ns", "Total loss", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "Extra time multiplied by how often it occurs on the slowest rank"},
};

static const struct ta_table_def late = {
    "ranks.late",
    "Slowest ranks",
    TA_COLUMNS(late_columns),
    .doc = "For each time that dumps have for several ranks (total of a stage or layer, mean of an "
           "iteration, denoising step or block), the slowest rank and how much longer it takes "
           "than the median of the others; the one that costs most comes first. Ranks that wait "
           "for each other in every step all look late, and none stands out.",
    .order = {&late_columns[LOSS_NS], TA_DESCENDING},
    .not_of_ranks = true,
    .joining = TA_JOIN_NOT};

/* A time of a rank. */
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

/* NAN if there is no such column. */
static double number(const struct ta_refs *in, size_t row, size_t ref)
{
    return ref == NONE ? NAN : ta_ref_number(in, ref, row, NAN);
}

static size_t read_entries(const struct ta_refs *in, const struct source *source,
                           struct entry *entries)
{
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, source->rank); row++) {
        const int64_t rank = ta_ref_integer(in, source->rank, row);
        const struct ta_slice name =
            source->key == NONE ? TA_LIT("") : ta_ref_text(in, source->key, row);
        const double value = number(in, row, source->value);
        if (rank == TA_MISSING || isnan(value) || value < 0 ||
            !isnan(number(in, row, source->spared)))
            continue;
        entries[n++] = (struct entry){
            .name = name.len ? name : ta_slice_of(source->name),
            .rank = rank,
            .value = value,
            .times = source->times == NONE ? 1 : number(in, row, source->times),
            .encloses = source->leaves != NONE && isnan(number(in, row, source->leaves)),
        };
    }
    if (n)
        qsort(entries, n, sizeof *entries, by_name);
    return n;
}

/* Scaled median absolute deviation of the sorted values; NAN for fewer than three. */
static double deviation(double *values, size_t n, double median)
{
    if (n < 3)
        return NAN;
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - median);
    ta_sort_numbers(values, n);
    return 1.4826 * ta_quantile(values, n, 0.5);
}

/* Adds one time: entries [0, n), by rank; `values` has room for n. */
static void add_row(struct ta_section_builder *out, const struct source *source,
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
    TA_ROW(
        out, late, [WHAT] = ta_text(slowest->name),
        [TABLE] = ta_text(ta_slice_of(reads[source->value].table)), [ENCLOSES] = ta_bool(encloses),
        [RANKS] = ta_int((int64_t)n), [RANK] = ta_int(slowest->rank),
        [VALUE_NS] = ta_num(slowest->value), [MEDIAN_NS] = ta_num(median),
        [EXCESS_NS] = ta_num(excess), [EXCESS] = median > 0 ? ta_num(excess / median) : ta_null(),
        [DEVIATIONS] = apart > 0 ? ta_num(excess / apart) : ta_null(),
        [LOSS_NS] = ta_num(excess * slowest->times));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    for (size_t i = 0; i < TA_LENGTH(sources); i++) {
        const struct source *source = &sources[i];
        const size_t most = ta_ref_rows(in, source->rank);
        struct entry *entries = calloc(most + 1, sizeof *entries);
        double *values = calloc(most + 1, sizeof *values);
        const bool done = entries && values;
        const size_t n = done ? read_entries(in, source, entries) : 0;
        for (size_t first = 0, end; first < n; first = end) {
            for (end = first + 1;
                 end < n && ta_slice_equal(entries[end].name, entries[first].name);)
                end++;
            add_row(out, source, entries + first, end - first, values);
        }
        free(entries);
        free(values);
        if (!done)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the ranks");
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&late, NULL};

static const struct ta_analysis_ops ops = {
    .section = "ranks", .finish = finish, .of_tables = true, .tables = tables, TA_READS(reads)};

TA_PLUGIN(analysis, late_ranks, &ops, .title = "Ranks",
          .summary = "Slowest rank by each time in dumps: ranks.late", .version = "1");
