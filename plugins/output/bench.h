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
    size_t row, section, item;
};

static inline struct bench_figures bench_figures(const struct ta_report *report)
{
    struct bench_figures all = {.row = 0};
    ta_refs_open(&all.in, report, bench_reads, TA_LENGTH(bench_reads));
    return all;
}

static inline bool bench_next_row(struct bench_figures *all, struct bench_figure *figure)
{
    const struct ta_refs *in = &all->in;
    if (all->row == ta_ref_rows(in, BENCH_METRIC))
        return false;
    const size_t row = all->row++;
    *figure = (struct bench_figure){
        .id = ta_ref_text(in, BENCH_METRIC, row),
        .value = ta_ref_number(in, BENCH_NEW, row, (double)NAN),
        .spread = ta_ref_number(in, BENCH_SPREAD, row, (double)NAN),
        .unit = ta_table_unit(ta_ref_table(in, BENCH_NEW), row, ta_ref_column(in, BENCH_NEW)),
        .less_is_better = ta_ref_reads(in, BENCH_POLARITY, row, ta_polarity_name(TA_LOWER)),
        .more_is_better = ta_ref_reads(in, BENCH_POLARITY, row, ta_polarity_name(TA_HIGHER)),
    };
    return true;
}

static inline bool bench_next_scalar(struct bench_figures *all, struct bench_figure *figure)
{
    for (; all->section < ta_report_section_count(all->in.report); all->section++, all->item = 0) {
        const struct ta_section *section = ta_report_section(all->in.report, all->section);
        while (all->item < section->n_items) {
            const struct ta_item *item = &section->items[all->item++];
            if (item->kind != TA_ITEM_SCALAR)
                continue;
            *figure = (struct bench_figure){
                .id = ta_slice_of(item->scalar->id),
                .value = ta_cell_number(&item->scalar->value, (double)NAN),
                .spread = (double)NAN,
                .unit = item->scalar->unit,
                .less_is_better = item->scalar->polarity == TA_LOWER,
                .more_is_better = item->scalar->polarity == TA_HIGHER,
            };
            return true;
        }
    }
    return false;
}

/* The next figure that has a value and a better direction; false after the last. */
static inline bool bench_next(struct bench_figures *all, struct bench_figure *figure)
{
    while (ta_ref_rows(&all->in, BENCH_METRIC) ? bench_next_row(all, figure)
                                               : bench_next_scalar(all, figure))
        if (isfinite(figure->value) && (figure->less_is_better || figure->more_is_better))
            return true;
    return false;
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
