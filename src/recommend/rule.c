/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules share: finding the worst cell of a table, and turning it into a finding. */
#include "traceanalyze/rule.h"

#include "recommend/recommend.h"
#include "recommend/rule.h"
#include "report/short_name.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 60 };

static bool is_number(const struct ta_cell *cell)
{
    return cell->kind == TA_CELL_INT || cell->kind == TA_CELL_NUM;
}

bool ta_look_takes(const struct ta_refs *in, const struct ta_look *look, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(look->where) && look->where[i].text; i++)
        if (!ta_ref_reads(in, look->where[i].column, row, look->where[i].text))
            return false;
    return is_number(ta_ref_cell(in, look->cells, row));
}

struct ta_place ta_place_at(const struct ta_refs *in, size_t ref, size_t row)
{
    const struct ta_cell *cell = ta_ref_cell(in, ref, row);
    return is_number(cell) ? (struct ta_place){ta_ref_table(in, ref), row, ta_ref_column(in, ref),
                                               ta_cell_number(cell, 0)}
                           : (struct ta_place){0};
}

bool ta_look_worst(const struct ta_refs *in, const struct ta_look *look, struct ta_place *place)
{
    struct ta_place worst = {0};
    for (size_t row = 0; row < ta_ref_rows(in, look->cells); row++) {
        if (!ta_look_takes(in, look, row))
            continue;
        const struct ta_place here = ta_place_at(in, look->cells, row);
        if (!worst.table || (look->lowest ? here.value < worst.value : here.value > worst.value))
            worst = here;
    }
    if (worst.table)
        *place = worst;
    return worst.table != NULL;
}

/* Rank, or device, of a row; TA_MISSING without. */
static int64_t owner_of(const struct ta_table *table, size_t row, size_t column)
{
    return column == SIZE_MAX || ta_table_cell(table, row, column)->kind != TA_CELL_INT
               ? TA_MISSING
               : ta_table_cell(table, row, column)->i;
}

/* Whether a look takes a row, of a rank or of any. */
static bool takes_of(const struct ta_refs *in, const struct ta_look *look, size_t row, size_t ranks,
                     int64_t rank)
{
    return (rank == TA_MISSING || owner_of(ta_ref_table(in, look->cells), row, ranks) == rank) &&
           ta_look_takes(in, look, row);
}

static size_t ranks_of(const struct ta_refs *in, const struct ta_look *look)
{
    const struct ta_table *table = ta_ref_table(in, look->cells);
    return table ? ta_table_rank(table) : SIZE_MAX;
}

double ta_look_sum(const struct ta_refs *in, const struct ta_look *look, int64_t rank)
{
    const size_t ranks = ranks_of(in, look);
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, look->cells); row++)
        if (takes_of(in, look, row, ranks, rank))
            sum += ta_ref_number(in, look->cells, row, 0);
    return sum;
}

double ta_look_most(const struct ta_refs *in, const struct ta_look *look, int64_t rank)
{
    const size_t ranks = ranks_of(in, look);
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, look->cells); row++)
        if (takes_of(in, look, row, ranks, rank))
            most = fmax(most, ta_ref_number(in, look->cells, row, 0));
    return most;
}

struct ta_evidence ta_ref_evidence(const struct ta_refs *in, size_t ref, size_t row)
{
    const struct ta_table *table = ta_ref_table(in, ref);
    const size_t column = ta_ref_column(in, ref);
    return (struct ta_evidence){
        .table = in->list[ref].table,
        .column = in->list[ref].column,
        .row = table && row < table->n_rows ? *ta_table_cell(table, row, 0) : ta_null(),
        .value = *ta_ref_cell(in, ref, row),
        .unit = table && column != SIZE_MAX ? ta_table_unit(table, row, column) : TA_UNIT_NONE,
    };
}

bool ta_look_same(const struct ta_refs *in, const struct ta_look *look,
                  const struct ta_place *place, struct ta_place *same)
{
    const struct ta_table *table = ta_ref_table(in, look->cells);
    const size_t n_rows = ta_ref_rows(in, look->cells);
    const int64_t rank = owner_of(place->table, place->row, ta_table_rank(place->table));
    const int64_t device = owner_of(place->table, place->row, ta_table_device(place->table));
    const size_t ranks = ranks_of(in, look), devices = table ? ta_table_device(table) : SIZE_MAX;
    /* Rows of one device are next to each other: those after `place` come first. */
    const size_t start = table == place->table ? place->row : 0;
    for (size_t i = 0; i < n_rows; i++) {
        const size_t row = (start + i) % n_rows;
        if (owner_of(table, row, ranks) == rank && owner_of(table, row, devices) == device &&
            ta_look_takes(in, look, row)) {
            *same = ta_place_at(in, look->cells, row);
            return true;
        }
    }
    return false;
}

const char *ta_place_text(struct ta_advice *advice, const struct ta_refs *in,
                          const struct ta_place *place, size_t ref)
{
    static const char backward[] = "autograd::engine::evaluate_function: "; /* before a node */
    struct ta_slice text = place->table && place->table == ta_ref_table(in, ref)
                               ? ta_ref_text(in, ref, place->row)
                               : TA_LIT("");
    if (ta_slice_starts(text, backward))
        text = (struct ta_slice){ta_slice_at(text, strlen(backward)), text.len - strlen(backward)};
    const struct ta_slice name = ta_short_name(ta_advice_arena(advice), text, NAME_MAX_BYTES);
    return ta_advice_printf(advice, "%.*s", (int)name.len, name.len ? name.ptr : "");
}

struct ta_evidence ta_place_evidence(const struct ta_place *place)
{
    if (!place->table)
        return (struct ta_evidence){.table = NULL};
    return (struct ta_evidence){
        .table = place->table->id,
        .column = place->table->columns[place->column].key,
        .row = *ta_table_cell(place->table, place->row, 0),
        .value = *ta_table_cell(place->table, place->row, place->column),
        .unit = ta_table_unit(place->table, place->row, place->column),
    };
}

const char *ta_place_owner(struct ta_advice *advice, const struct ta_report *report,
                           const struct ta_place *place)
{
    const int64_t rank = owner_of(place->table, place->row, ta_table_rank(place->table));
    const int64_t device = owner_of(place->table, place->row, ta_table_device(place->table));
    const bool say_rank = rank != TA_MISSING && ta_report_run(report)->n_ranks > 1;
    const bool say_device = device != TA_MISSING && !ta_advice_has_one_device(advice);
    if (say_rank && say_device)
        return ta_advice_printf(advice, " (rank %lld, device %lld)", (long long)rank,
                                (long long)device);
    if (say_rank)
        return ta_advice_printf(advice, " (rank %lld)", (long long)rank);
    return say_device ? ta_advice_printf(advice, " (device %lld)", (long long)device) : "";
}

const char *ta_advice_number(struct ta_advice *advice, double value, enum ta_unit unit)
{
    char text[TA_UNIT_TEXT_MAX];
    return ta_advice_printf(advice, "%s", ta_unit_format(text, value, unit));
}

const char *ta_advice_part(struct ta_advice *advice, double part, double whole, enum ta_unit unit)
{
    char of[TA_UNIT_TEXT_MAX], text[TA_UNIT_TEXT_MAX];
    return ta_advice_printf(advice, "%s of %s", ta_unit_format_compared(text, part, whole, unit),
                            ta_unit_format_compared(of, whole, part, unit));
}

bool ta_advise_place(const struct ta_refs *in, struct ta_advice *advice,
                     const struct ta_cell_rule *rule, const struct ta_place *place,
                     double threshold, double severe)
{
    const bool lowest = rule->look.lowest;
    if (lowest ? place->value >= threshold : place->value <= threshold)
        return false;
    const bool is_severe = lowest ? place->value < severe : place->value > severe;
    const struct ta_evidence evidence = ta_place_evidence(place);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = rule->finding,
            .rule = rule->rule,
            .title = ta_advice_printf(advice, "%s%s%s%s", rule->before,
                                      ta_advice_number(advice, place->value, evidence.unit),
                                      rule->after, ta_place_owner(advice, in->report, place)),
            .advice = rule->advice,
            .severity = is_severe ? rule->severity + 1 : rule->severity,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = rule->confidence,
            .threshold = ta_advice_printf(advice, "%s %s %s", rule->predicate, lowest ? "<" : ">",
                                          ta_advice_number(advice, threshold, evidence.unit)),
        });
    return true;
}
