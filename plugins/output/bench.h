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

struct bench_figures {
    const struct ta_table *metrics; /* NULL of one run */
    const struct ta_report *report;
    size_t row, section, item;
};

static inline struct bench_figures bench_figures(const struct ta_report *report)
{
    return (struct bench_figures){.metrics = ta_report_table(report, "diff.metrics"),
                                  .report = report};
}

static inline bool bench_next_row(struct bench_figures *all, struct bench_figure *figure)
{
    const struct ta_table *table = all->metrics;
    if (all->row == table->n_rows)
        return false;
    const size_t row = all->row++;
    *figure = (struct bench_figure){
        .id = ta_row_text(table, row, "metric"),
        .value = ta_row_number(table, row, "new", (double)NAN),
        .spread = ta_row_number(table, row, "spread", (double)NAN),
        .unit = ta_table_unit(table, row, ta_table_column(table, "new")),
        .less_is_better = ta_row_reads(table, row, "polarity", ta_polarity_name(TA_LOWER)),
        .more_is_better = ta_row_reads(table, row, "polarity", ta_polarity_name(TA_HIGHER)),
    };
    return true;
}

static inline bool bench_next_scalar(struct bench_figures *all, struct bench_figure *figure)
{
    for (; all->section < ta_report_section_count(all->report); all->section++, all->item = 0) {
        const struct ta_section *section = ta_report_section(all->report, all->section);
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

/* The next figure that has a value and a better direction; false behind the last. */
static inline bool bench_next(struct bench_figures *all, struct bench_figure *figure)
{
    while (all->metrics ? bench_next_row(all, figure) : bench_next_scalar(all, figure))
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
