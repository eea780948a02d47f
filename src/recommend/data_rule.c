/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that a file defines: the worst number of a column against a threshold. */
#include "recommend/data_rule.h"

#include "base/context.h"
#include "base/suggest.h"
#include "base/template.h"
#include "report/report.h"
#include "report/tables.h"
#include "traceanalyze/output.h"
#include "traceanalyze/rule.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- does the report fit the rule? --------------------------------------------------------- */

/* Analyses open their tables whatever the input holds: one that is not there, be it without rows,
 * is mistyped, or of an analysis that was turned off.  One that is declared belongs to another
 * kind of report, such as a comparison. */
static const struct ta_table *find_table(const struct ta_report *report, const char *id,
                                         struct ta_suggest *close)
{
    const struct ta_table *table = NULL;
    while ((table = ta_report_table_after(report, table))) {
        if (strcmp(table->id, id) == 0)
            return table;
        ta_suggest_offer(close, table->id);
    }
    return NULL;
}

static bool is_any_off(const struct ta_registry *registry)
{
    bool any = false;
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_analysis); i++)
        any |= ta_registry_at(registry, TA_KIND_analysis, i)->off;
    return any;
}

static enum ta_status no_table(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_rule_data *data, const struct ta_suggest *close)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    const struct ta_entry *owner = NULL;
    const bool is_declared = ta_registry_table(registry, data->table, &owner);
    if (is_declared && !(owner && owner->off)) {
        ta_log(ctx, TA_LOG_INFO, "%s: The rule %s keeps silent: this report has no table %s",
               data->place, data->id, data->table);
        return TA_OK;
    }
    if (!is_declared && !is_any_off(registry))
        return ta_fail(ctx, TA_ERR_USAGE, "%s: There is no table %s%s", data->place, data->table,
                       ta_suggest_text(close, hint));
    ta_log(ctx, TA_LOG_WARNING, "%s: The rule %s keeps silent: there is no table %s", data->place,
           data->id, data->table);
    return TA_OK;
}

/* A number without a unit is taken for one of the unit of the column. */
static bool has_unit(const struct ta_entry *rule, enum ta_unit unit)
{
    switch (rule->plugin.options->unit) {
    case TA_OPTION_RATIO:
        return unit == TA_UNIT_RATIO;
    case TA_OPTION_NS:
        return unit == TA_UNIT_NS;
    case TA_OPTION_BYTES:
        return unit == TA_UNIT_BYTES;
    default:
        return true;
    }
}

/* ---- which cell ---------------------------------------------------------------------------- */

static bool is_value(const struct ta_cell *cell, const char *value)
{
    char *end;
    if (cell->kind == TA_CELL_TEXT)
        return ta_slice_equal(cell->text, ta_slice_of(value));
    if (cell->kind == TA_CELL_BOOL)
        return strcmp(cell->b ? "true" : "false", value) == 0;
    if (cell->kind == TA_CELL_NULL)
        return false;
    const double number = strtod(value, &end);
    return *value && !*end && ta_cell_number(cell, 0) == number;
}

static bool takes(const struct ta_rule_data *data, const struct ta_table *table, size_t row)
{
    bool taken = true;
    for (size_t i = 0; i < data->n_where; i++) {
        const size_t column = ta_table_column(table, data->where[i].column);
        taken &= is_value(ta_table_cell(table, row, column), data->where[i].value);
    }
    return taken;
}

static bool is_worse(const struct ta_rule_data *data, double value, double than)
{
    return data->is_below ? value < than : value > than;
}

/* The worst cell; its table is NULL when no row has a number. */
static enum ta_status find_worst(struct ta_ctx *ctx, const struct ta_entry *rule,
                                 const struct ta_table *table, struct ta_place *worst)
{
    const struct ta_rule_data *data = rule->data;
    const size_t column = ta_table_column(table, data->column);
    size_t other_units = 0;
    *worst = (struct ta_place){0};
    for (size_t row = 0; row < table->n_rows; row++) {
        const struct ta_cell *cell = ta_table_cell(table, row, column);
        if (!takes(data, table, row) || (cell->kind != TA_CELL_INT && cell->kind != TA_CELL_NUM))
            continue;
        const double value = ta_cell_number(cell, 0);
        if (!has_unit(rule, ta_table_unit(table, row, column)))
            other_units++;
        else if (!worst->table || is_worse(data, value, worst->value))
            *worst = (struct ta_place){table, row, column, value};
    }
    if (!worst->table && other_units)
        return ta_fail(ctx, TA_ERR_USAGE,
                       "%s: The threshold of %s has another unit than %s of the table %s",
                       data->place, data->id, data->column, data->table);
    return TA_OK;
}

/* ---- texts --------------------------------------------------------------------------------- */

struct texts {
    const struct ta_entry *rule;
    const struct ta_report *report;
    struct ta_advice *advice;
    struct ta_place place;
    const char *threshold;
};

/* {value}, {threshold}, {owner}, or a column of the row. */
static const char *field_of(const struct texts *texts, struct ta_slice name)
{
    const struct ta_place *place = &texts->place;
    char number[TA_UNIT_TEXT_MAX], key[128];
    if (ta_slice_equal(name, TA_LIT("threshold")))
        return texts->threshold;
    if (ta_slice_equal(name, TA_LIT("owner")))
        return ta_place_owner(texts->advice, texts->report, place);
    snprintf(key, sizeof key, "%.*s", (int)name.len, name.ptr);
    const size_t column =
        ta_slice_equal(name, TA_LIT("value")) ? place->column : ta_table_column(place->table, key);
    const struct ta_slice cell =
        ta_cell_text(ta_table_cell(place->table, place->row, column),
                     ta_table_unit(place->table, place->row, column), number);
    return ta_advice_printf(texts->advice, "%.*s", (int)cell.len, cell.ptr);
}

static const char *fill_in(const struct texts *texts, const char *pattern)
{
    struct ta_piece piece;
    const char *filled = "";
    while (ta_template_next(&pattern, &piece)) {
        const struct ta_slice part =
            piece.is_name ? ta_slice_of(field_of(texts, piece.text)) : piece.text;
        filled = ta_advice_printf(texts->advice, "%s%.*s", filled, (int)part.len, part.ptr);
    }
    return filled;
}

static void give(const struct texts *texts)
{
    const struct ta_rule_data *data = texts->rule->data;
    const struct ta_table *table = texts->place.table;
    const char *title = texts->rule->words[TA_RULE_TITLE].text;
    const char *advice = texts->rule->words[TA_RULE_ADVICE].text;
    const struct ta_evidence evidence = ta_place_evidence(&texts->place);
    const char *plain = ta_advice_printf(texts->advice, "%s: %s is {value}{owner}", table->title,
                                         table->columns[texts->place.column].title);
    ta_advise(texts->advice,
              &(struct ta_finding){
                  .id = ta_advice_printf(texts->advice, "rule.%s", data->id),
                  .rule = data->id,
                  .title = fill_in(texts, title ? title : plain),
                  .advice = fill_in(texts, advice ? advice : "Set by a rule of your own."),
                  .severity = TA_MEDIUM,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.5,
                  .threshold = texts->threshold,
              });
}

enum ta_status ta_data_rule_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_entry *rule, const struct ta_report *report,
                                struct ta_advice *advice)
{
    const struct ta_rule_data *data = rule->data;
    struct ta_suggest close = {.word = data->table};
    const struct ta_table *table = find_table(report, data->table, &close);
    const double threshold = rule->option_values[0];
    if (!table)
        return no_table(ctx, registry, data, &close);
    struct texts texts = {.rule = rule, .report = report, .advice = advice};
    enum ta_status status = ta_rule_check_columns(ctx, rule, table->columns, table->n_columns);
    if (status == TA_OK)
        status = find_worst(ctx, rule, table, &texts.place);
    if (status == TA_OK && !texts.place.table)
        ta_log(ctx, TA_LOG_INFO, "%s: The rule %s keeps silent: no row of %s has a number for it",
               data->place, data->id, data->table);
    if (status != TA_OK || !texts.place.table || !is_worse(data, texts.place.value, threshold))
        return status;
    const enum ta_unit unit = ta_table_unit(table, texts.place.row, texts.place.column);
    texts.threshold =
        ta_advice_printf(advice, "%s.%s %s %s", data->table, data->column,
                         data->is_below ? "<" : ">", ta_advice_number(advice, threshold, unit));
    give(&texts);
    return TA_OK;
}
