/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures that services for continuous benchmarking take: those after the change of a
 * comparison, or the scalars of one run. */
#ifndef TA_OUTPUT_BENCH_H
#define TA_OUTPUT_BENCH_H

#include <traceanalyze/output.h>

#include <math.h>
#include <stdio.h>

struct bench_figure {
    struct ta_slice id;
    double value;
    double spread; /* relative deviation between runs; NaN when not known */
    enum ta_unit unit;
    bool less_is_better, more_is_better;
};

enum { BENCH_METRIC, BENCH_NEW, BENCH_SPREAD, BENCH_POLARITY };
static const struct ta_ref bench_reads[] = {
    [BENCH_METRIC] = {"diff.metrics", "metric"},
    [BENCH_NEW] = {"diff.metrics", "new"},
    [BENCH_SPREAD] = {"diff.metrics", "spread"},
    [BENCH_POLARITY] = {"diff.metrics", "polarity"},
};

struct bench_figures {
    struct ta_refs in; /* no rows of one run */
    size_t row;
    struct ta_walk walk;
};

static inline struct bench_figures bench_figures(const struct ta_report *report)
{
    struct bench_figures all = {.row = 0};
    ta_refs_open(&all.in, report, bench_reads, TA_LENGTH(bench_reads));
    return all;
}

static inline struct bench_figure bench_row(const struct ta_refs *in, size_t row)
{
    return (struct bench_figure){
        .id = ta_ref_text(in, BENCH_METRIC, row),
        .value = ta_ref_number(in, BENCH_NEW, row, (double)NAN),
        .spread = ta_ref_number(in, BENCH_SPREAD, row, (double)NAN),
        .unit = ta_table_unit(ta_ref_table(in, BENCH_NEW), row, ta_ref_column(in, BENCH_NEW)),
        .less_is_better = ta_ref_reads(in, BENCH_POLARITY, row, ta_polarity_name(TA_LOWER)),
        .more_is_better = ta_ref_reads(in, BENCH_POLARITY, row, ta_polarity_name(TA_HIGHER)),
    };
}

static inline struct bench_figure bench_scalar(const struct ta_scalar *scalar)
{
    return (struct bench_figure){
        .id = ta_slice_of(scalar->id),
        .value = ta_cell_number(&scalar->value, (double)NAN),
        .spread = (double)NAN,
        .unit = scalar->unit,
        .less_is_better = scalar->polarity == TA_LOWER,
        .more_is_better = scalar->polarity == TA_HIGHER,
    };
}

/* The next figure that has a value and a better direction; false after the last. */
static inline bool bench_next(struct bench_figures *all, struct bench_figure *figure)
{
    const size_t n_rows = ta_ref_rows(&all->in, BENCH_METRIC);
    do {
        const struct ta_item *item =
            n_rows ? NULL : ta_report_next(all->in.report, TA_ITEM_SCALAR, &all->walk);
        if (!item && all->row == n_rows)
            return false;
        *figure = item ? bench_scalar(item->scalar) : bench_row(&all->in, all->row++);
    } while (!isfinite(figure->value) || !(figure->less_is_better || figure->more_is_better));
    return true;
}

/* "traceanalyze/fps@wall", cut where a name of the input is too long for a service. */
static inline void bench_put_name(struct ta_file *out, struct ta_slice id)
{
    char name[256];
    const int n = snprintf(name, sizeof name, "traceanalyze/%.*s", (int)id.len, id.ptr);
    ta_put_json(out, (struct ta_slice){name, n < (int)sizeof name ? (size_t)n : sizeof name - 1},
                false);
}

static inline void bench_put_number(struct ta_file *out, double value)
{
    const struct ta_cell cell = ta_num(value);
    ta_put_json_cell(out, &cell, false);
}

#endif
