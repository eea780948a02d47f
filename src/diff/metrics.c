/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.metrics: every figure that both runs have. */
#include "diff/compare.h"
#include "result/report.h"
#include "traceanalyze/columns.h"

static const struct ta_column columns[] = {
    TA_TEXT_COLUMN("metric", "Metric", "Id of the figure, with what it is of behind an @"),
    {"title", "What", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "The figure in words"},
    {"base", "Before", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Value in the baseline"},
    {"new", "After", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Value in the other run"},
    {"delta", "Change", TA_TYPE_NUMBER, TA_UNIT_CHANGE, TA_NEUTRAL, "After minus before"},
    {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, TA_NEUTRAL, "Change over before"},
    {"ratio", "After / before", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL, "After over before"},
    {"polarity", "Better", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "Whether lower or higher values are better, or neither"},
    {"verdict", "Verdict", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "faster: better by its polarity; slower: worse; same: equal, or neither way is better; "
     "inconclusive: the runs are too few or too different to say"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of the values"},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* A figure of a run. */
struct figure {
    const char *title;
    double value;
    enum ta_unit unit;
    enum ta_polarity polarity;
};

static const char *verdict_of(const struct figure *base, const struct figure *new)
{
    if (base->value == new->value || base->polarity == TA_NEUTRAL)
        return "same";
    return "inconclusive";
}

static void add_row(struct ta_table_builder *table, const char *id, const struct figure *base,
                    const struct figure *new)
{
    const double change = new->value - base->value;
    const bool positive = base->value > 0;
    TA_ROW(table, ta_text(ta_slice_of(id)), ta_text(ta_slice_of(base->title)), ta_num(base->value),
           ta_num(new->value), ta_num(change), positive ? ta_num(change / base->value) : ta_null(),
           positive ? ta_num(new->value / base->value) : ta_null(),
           ta_text(ta_slice_of(ta_polarity_name(base->polarity))),
           ta_text(ta_slice_of(verdict_of(base, new))),
           ta_text(ta_slice_of(ta_unit_name(base->unit))));
}

/* ---- scalars ------------------------------------------------------------------------------ */

static bool figure_of_scalar(const struct ta_scalar *scalar, struct figure *figure)
{
    if (!scalar || (scalar->value.kind != TA_CELL_INT && scalar->value.kind != TA_CELL_NUM))
        return false;
    *figure = (struct figure){scalar->title, ta_cell_number(&scalar->value, 0), scalar->unit,
                              scalar->polarity};
    return true;
}

static void add_scalars(struct diff *diff, struct ta_table_builder *table)
{
    const struct ta_report *before = diff->shown[TA_DIFF_BASE], *after = diff->shown[TA_DIFF_NEW];
    for (size_t s = 0; s < ta_report_section_count(before); s++) {
        const struct ta_section *section = ta_report_section(before, s);
        for (size_t i = 0; i < section->n_items; i++) {
            struct figure base, new;
            if (section->items[i].kind != TA_ITEM_SCALAR)
                continue;
            const struct ta_scalar *scalar = section->items[i].scalar;
            if (figure_of_scalar(scalar, &base) &&
                figure_of_scalar(ta_report_scalar(after, scalar->id), &new) &&
                base.unit == new.unit)
                add_row(table, scalar->id, &base, &new);
        }
    }
}

/* ---- throughput --------------------------------------------------------------------------- */

static const char throughput[] = "throughput.values";

/* The row of the same metric, basis and rank. */
static size_t find_throughput(const struct ta_table *table, const struct ta_table *like, size_t row)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (ta_slice_equal(ta_row_text(table, i, "metric"), ta_row_text(like, row, "metric")) &&
            ta_slice_equal(ta_row_text(table, i, "basis"), ta_row_text(like, row, "basis")) &&
            ta_slice_equal(ta_row_text(table, i, "unit"), ta_row_text(like, row, "unit")) &&
            ta_row_number(table, i, "rank", -1) == ta_row_number(like, row, "rank", -1))
            return i;
    return SIZE_MAX;
}

static void add_throughput(struct diff *diff, struct ta_table_builder *table)
{
    const struct ta_table *before = ta_report_table(diff->shown[TA_DIFF_BASE], throughput);
    const struct ta_table *after = ta_report_table(diff->shown[TA_DIFF_NEW], throughput);
    for (size_t i = 0; before && after && i < before->n_rows; i++) {
        const size_t k = find_throughput(after, before, i),
                     value = ta_table_column(before, "value");
        if (k == SIZE_MAX || ta_row_number(before, i, "value", -1) < 0 ||
            ta_row_number(after, k, "value", -1) < 0)
            continue;
        const enum ta_unit unit = ta_table_unit(before, i, value);
        const double rank = ta_row_number(before, i, "rank", -1);
        const struct ta_slice metric = ta_row_text(before, i, "metric");
        const struct ta_slice basis = ta_row_text(before, i, "basis");
        char *id = rank < 0 ? ta_arena_printf(&diff->arena, "%.*s@%.*s", (int)metric.len,
                                              metric.ptr, (int)basis.len, basis.ptr)
                            : ta_arena_printf(&diff->arena, "%.*s@%.*s,rank=%.0f", (int)metric.len,
                                              metric.ptr, (int)basis.len, basis.ptr, rank);
        const enum ta_polarity polarity = unit == TA_UNIT_NS ? TA_LOWER : TA_HIGHER;
        const struct figure base = {id, ta_row_number(before, i, "value", 0), unit, polarity};
        const struct figure new = {id, ta_row_number(after, k, "value", 0), unit, polarity};
        if (id)
            add_row(table, id, &base, &new);
    }
}

void diff_add_metrics(struct diff *diff)
{
    struct ta_section_builder *section = ta_report_open_section(diff->out, "diff", "What changed");
    struct ta_table_builder *table =
        ta_add_table(section, "diff.metrics", "Figures compared", columns, COLUMNS);
    add_scalars(diff, table);
    add_throughput(diff, table);
}
