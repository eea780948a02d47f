/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.growth: whether memory in use rises from step to step, or from block to block.
 *
 * What is looked at is what is held at the end of each step.  The slope is Theil and Sen's, the
 * median over all pairs of steps, and whether it is a trend says the test of Mann and Kendall:
 * p < 0.01, and a rise of more than a thousandth of the median level per step. */
#include "memory_program.h"
#include "stat/series.h"

#include <math.h>
#include <stdlib.h>

enum {
    GROWTH_RANK,
    GROWTH_DEVICE,
    GROWTH_PER,
    GROWTH_STEPS,
    GROWTH_FIRST,
    GROWTH_LAST,
    GROWTH_SLOPE,
    GROWTH_SHARE,
    GROWTH_P,
    GROWTH_GROWS
};
static const struct ta_column memory_growth_columns[] = {
    [GROWTH_RANK] = TA_RANK_COLUMN,
    [GROWTH_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty if the dump does not name it"),
    [GROWTH_PER] = {"per", "Per", TA_WORD, .doc = "What the growth is measured per: step or block"},
    [GROWTH_STEPS] = {"steps", "Steps", TA_COUNT,
                      .doc = "Steps, or blocks, at whose end memory in use is known"},
    [GROWTH_FIRST] = {"first_bytes", "First", TA_BYTES,
                      .doc = "Bytes in use at the end of the first step"},
    [GROWTH_LAST] = {"last_bytes", "Last", TA_BYTES, .better = TA_LOWER,
                     .doc = "Bytes in use at the end of the last step"},
    [GROWTH_SLOPE] =
        {"slope_bytes", "Growth", TA_BYTES_MEAN, .better = TA_LOWER,
         .doc = "Bytes gained per step: median slope over all pairs of steps (Theil–Sen)"},
    [GROWTH_SHARE] = {"slope_share", "Growth share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Growth per step divided by the median of bytes in use"},
    [GROWTH_P] = {"p_value", "p", TA_NUMBER,
                  .doc = "p-value of the test for a trend (Mann–Kendall, two-sided)"},
    [GROWTH_GROWS] =
        {"grows", "Grows", TA_FLAG,
         .doc = "Whether memory grows: p < 0.01 and more than 0.1 % of the median level per step"},
};

const struct ta_table_def memory_growth = {
    "memory.growth", "Memory growth", TA_COLUMNS(memory_growth_columns), .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device with memory records in at least six steps, or in six "
           "blocks of a dump: memory in use at the end of each step, and whether it rises. A "
           "key-value cache grows on purpose."};

enum { LEAST_STEPS = 6 };
#define SURE 0.01
#define LEAST_SHARE 0.001

/* One series; false without memory. */
static bool add_series(struct ta_section_builder *out, int64_t rank, int64_t device,
                       const char *per, const double *levels, double *sorted, size_t n)
{
    struct ta_trend trend;
    struct ta_slope slope;
    if (n < LEAST_STEPS)
        return true;
    if (!ta_mann_kendall(levels, n, &trend) || !ta_theil_sen(NULL, levels, n, 0.95, &slope))
        return false;
    memcpy(sorted, levels, n * sizeof *sorted);
    ta_sort_numbers(sorted, n);
    const double middle = ta_quantile(sorted, n, 0.5);
    const double share = middle > 0 ? slope.slope.value / middle : NAN;
    TA_ROW(
        out, memory_growth, [GROWTH_RANK] = ta_int(rank), [GROWTH_DEVICE] = ta_int(device),
        [GROWTH_PER] = ta_text(ta_slice_of(per)), [GROWTH_STEPS] = ta_int((int64_t)n),
        [GROWTH_FIRST] = ta_int(ta_whole(levels[0])),
        [GROWTH_LAST] = ta_int(ta_whole(levels[n - 1])), [GROWTH_SLOPE] = ta_num(slope.slope.value),
        [GROWTH_SHARE] = ta_num(share), [GROWTH_P] = ta_num(trend.p),
        [GROWTH_GROWS] = ta_bool(trend.p < SURE && share > LEAST_SHARE));
    return true;
}

/* Steps of a device, in their order. */
static bool add_steps(struct ta_section_builder *out, const struct ta_partial *steps,
                      double *levels, double *sorted)
{
    bool done = true;
    for (size_t first = 0, end; done && first < ta_partial_rows(steps); first = end) {
        const int64_t *owner = ta_partial_at(steps, first);
        size_t n = 0;
        end = ta_partial_group_end(steps, first, DEVICE);
        for (size_t i = first; i < end; i++) {
            const int64_t *row = ta_partial_at(steps, i);
            if (row[END_ALLOCATED] != TA_MISSING)
                levels[n++] = (double)row[END_ALLOCATED];
        }
        done = add_series(out, owner[RANK], owner[DEVICE], "step", levels, sorted, n);
    }
    return done;
}

/* Blocks of a dump, rank by rank. */
static bool add_blocks(struct ta_section_builder *out, const struct ta_refs *in, double *levels,
                       double *sorted)
{
    bool done = true;
    for (size_t first = 0, end; done && first < ta_ref_rows(in, BLOCK_BYTES); first = end) {
        const int64_t rank = ta_ref_integer(in, BLOCK_RANK, first);
        size_t n = 0;
        for (end = first;
             end < ta_ref_rows(in, BLOCK_BYTES) && ta_ref_integer(in, BLOCK_RANK, end) == rank;
             end++) {
            const double bytes = ta_ref_number(in, BLOCK_BYTES, end, NAN);
            if (!isnan(bytes))
                levels[n++] = bytes;
        }
        done = add_series(out, rank, TA_MISSING, "block", levels, sorted, n);
    }
    return done;
}

bool memory_add_growth(struct ta_section_builder *out, const struct ta_partial *steps,
                       const struct ta_refs *in)
{
    const size_t most = ta_partial_rows(steps) + ta_ref_rows(in, BLOCK_BYTES) + 1;
    double *levels = calloc(most, sizeof *levels), *sorted = calloc(most, sizeof *sorted);
    const bool done = levels && sorted && add_steps(out, steps, levels, sorted) &&
                      add_blocks(out, in, levels, sorted);
    free(levels);
    free(sorted);
    return done;
}
