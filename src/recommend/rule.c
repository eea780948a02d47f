/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules share: finding the worst cell of a table, and turning it into a finding. */
#include "traceanalyze/rule.h"

#include "recommend/recommend.h"
#include "report/short_name.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 60 };

/* ---- by reference -------------------------------------------------------------------------- */

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

struct ta_place ta_place_beside(const struct ta_refs *in, const struct ta_place *place, size_t ref)
{
    return place->table && place->table == ta_ref_table(in, ref) ? ta_place_at(in, ref, place->row)
                                                                 : (struct ta_place){0};
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
    const struct ta_slice text = place->table && place->table == ta_ref_table(in, ref)
                                     ? ta_ref_text(in, ref, place->row)
                                     : TA_LIT("");
    const struct ta_slice name = ta_short_name(ta_advice_arena(advice), text, NAME_MAX_BYTES);
    return ta_advice_printf(advice, "%.*s", (int)name.len, name.len ? name.ptr : "");
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
    const char *name = rule->has_name ? ta_place_text(advice, in, place, rule->name) : "";
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = rule->finding,
            .rule = rule->rule,
            .title = ta_advice_printf(advice, "%s%s%s%s%s", rule->before, name,
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

bool ta_advise_cell(const struct ta_refs *in, struct ta_advice *advice,
                    const struct ta_cell_rule *rule, double threshold, double severe)
{
    struct ta_place place;
    return ta_look_worst(in, &rule->look, &place) &&
           ta_advise_place(in, advice, rule, &place, threshold, severe);
}

/* ---- by name: to be replaced by the above -------------------------------------------------- */

/* The columns of a look in one table, found once: there may be thousands of rows. */
struct columns {
    size_t where[2], value, rank; /* SIZE_MAX where the table has none */
};

static struct columns columns_of(const struct ta_old_look *look, const struct ta_table *table)
{
    struct columns columns = {.value = ta_table_column(table, look->column),
                              .rank = ta_table_column(table, "rank")};
    for (size_t i = 0; i < 2; i++)
        columns.where[i] =
            look->where[i].key ? ta_table_column(table, look->where[i].key) : SIZE_MAX;
    return columns;
}

static bool takes(const struct ta_old_look *look, const struct columns *columns,
                  const struct ta_table *table, size_t row)
{
    if (columns->value == SIZE_MAX)
        return false;
    for (size_t i = 0; i < 2 && look->where[i].key; i++) {
        if (columns->where[i] == SIZE_MAX)
            return false;
        const struct ta_cell *cell = ta_table_cell(table, row, columns->where[i]);
        if (cell->kind != TA_CELL_TEXT ||
            !ta_slice_equal(cell->text, ta_slice_of(look->where[i].text)))
            return false;
    }
    const struct ta_cell *cell = ta_table_cell(table, row, columns->value);
    return cell->kind == TA_CELL_INT || cell->kind == TA_CELL_NUM;
}

bool ta_old_look_takes(const struct ta_old_look *look, const struct ta_table *table, size_t row)
{
    const struct columns columns = columns_of(look, table);
    return takes(look, &columns, table, row);
}

static struct ta_place place_at(const struct ta_table *table, size_t row, size_t column)
{
    return (struct ta_place){table, row, column,
                             ta_cell_number(ta_table_cell(table, row, column), 0)};
}

bool ta_old_look_worst(const struct ta_report *report, const struct ta_old_look *look,
                       struct ta_place *place)
{
    const struct ta_table *table = ta_report_table(report, look->table);
    const struct columns columns = table ? columns_of(look, table) : (struct columns){0};
    struct ta_place worst = {0};
    for (size_t row = 0; table && row < table->n_rows; row++) {
        if (!takes(look, &columns, table, row))
            continue;
        const struct ta_place here = place_at(table, row, columns.value);
        if (!worst.table || (look->lowest ? here.value < worst.value : here.value > worst.value))
            worst = here;
    }
    if (worst.table)
        *place = worst;
    return worst.table != NULL;
}

static bool is_of_rank(const struct ta_table *table, size_t row, size_t column, int64_t rank)
{
    return rank == TA_MISSING ||
           (column != SIZE_MAX && ta_table_cell(table, row, column)->kind == TA_CELL_INT &&
            ta_table_cell(table, row, column)->i == rank);
}

double ta_old_look_sum(const struct ta_report *report, const struct ta_old_look *look, int64_t rank)
{
    const struct ta_table *table = ta_report_table(report, look->table);
    const struct columns columns = table ? columns_of(look, table) : (struct columns){0};
    double sum = 0;
    for (size_t row = 0; table && row < table->n_rows; row++)
        if (is_of_rank(table, row, columns.rank, rank) && takes(look, &columns, table, row))
            sum += place_at(table, row, columns.value).value;
    return sum;
}

double ta_old_look_most(const struct ta_report *report, const struct ta_old_look *look,
                        int64_t rank)
{
    const struct ta_table *table = ta_report_table(report, look->table);
    const struct columns columns = table ? columns_of(look, table) : (struct columns){0};
    double most = 0;
    for (size_t row = 0; table && row < table->n_rows; row++)
        if (is_of_rank(table, row, columns.rank, rank) && takes(look, &columns, table, row))
            most = fmax(most, place_at(table, row, columns.value).value);
    return most;
}

struct ta_place ta_old_beside(const struct ta_place *place, const char *column)
{
    const size_t other = place->table ? ta_table_column(place->table, column) : SIZE_MAX;
    if (other == SIZE_MAX)
        return (struct ta_place){0};
    const struct ta_place beside = place_at(place->table, place->row, other);
    const enum ta_cell_kind kind = ta_table_cell(place->table, place->row, other)->kind;
    return kind == TA_CELL_INT || kind == TA_CELL_NUM ? beside : (struct ta_place){0};
}

static int64_t integer_at(const struct ta_table *table, size_t row, size_t column)
{
    return column == SIZE_MAX || ta_table_cell(table, row, column)->kind != TA_CELL_INT
               ? TA_MISSING
               : ta_table_cell(table, row, column)->i;
}

bool ta_old_look_same(const struct ta_report *report, const struct ta_old_look *look,
                      const struct ta_place *place, struct ta_place *same)
{
    const struct ta_table *table = ta_report_table(report, look->table);
    const struct columns columns = table ? columns_of(look, table) : (struct columns){0};
    const size_t devices = table ? ta_table_column(table, "device") : SIZE_MAX;
    const int64_t rank = ta_row_integer(place->table, place->row, "rank");
    const int64_t device = ta_row_integer(place->table, place->row, "device");
    /* Rows of one device stand together: those after `place` come first. */
    const size_t start = table == place->table ? place->row : 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const size_t row = (start + i) % table->n_rows;
        if (integer_at(table, row, columns.rank) == rank &&
            integer_at(table, row, devices) == device && takes(look, &columns, table, row)) {
            *same = place_at(table, row, columns.value);
            return true;
        }
    }
    return false;
}

struct ta_evidence ta_place_evidence(const struct ta_place *place)
{
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
    const size_t rank = ta_table_column(place->table, "rank");
    const size_t device = ta_table_column(place->table, "device");
    const struct ta_cell none = ta_null();
    const struct ta_cell *r =
        rank == SIZE_MAX ? &none : ta_table_cell(place->table, place->row, rank);
    const struct ta_cell *d =
        device == SIZE_MAX ? &none : ta_table_cell(place->table, place->row, device);
    const bool say_rank = r->kind == TA_CELL_INT && ta_report_run(report)->n_ranks > 1;
    if (say_rank && d->kind == TA_CELL_INT)
        return ta_advice_printf(advice, " (rank %lld, device %lld)", (long long)r->i,
                                (long long)d->i);
    if (say_rank)
        return ta_advice_printf(advice, " (rank %lld)", (long long)r->i);
    if (d->kind == TA_CELL_INT)
        return ta_advice_printf(advice, " (device %lld)", (long long)d->i);
    return "";
}

const char *ta_old_place_text(struct ta_advice *advice, const struct ta_place *place,
                              const char *column)
{
    const struct ta_slice name = ta_short_name(
        ta_advice_arena(advice), ta_row_text(place->table, place->row, column), NAME_MAX_BYTES);
    return ta_advice_printf(advice, "%.*s", (int)name.len, name.len ? name.ptr : "");
}

const char *ta_advice_number(struct ta_advice *advice, double value, enum ta_unit unit)
{
    char text[TA_UNIT_TEXT_MAX];
    return ta_advice_printf(advice, "%s", ta_unit_format(text, value, unit));
}

bool ta_old_advise_place(const struct ta_report *report, struct ta_advice *advice,
                         const struct ta_old_cell_rule *rule, const struct ta_place *place,
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
            .title =
                ta_advice_printf(advice, "%s%s%s%s%s", rule->before,
                                 rule->name ? ta_old_place_text(advice, place, rule->name) : "",
                                 ta_advice_number(advice, place->value, evidence.unit), rule->after,
                                 ta_place_owner(advice, report, place)),
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

bool ta_old_advise_cell(const struct ta_report *report, struct ta_advice *advice,
                        const struct ta_old_cell_rule *rule, double threshold, double severe)
{
    struct ta_place place;
    return ta_old_look_worst(report, &rule->look, &place) &&
           ta_old_advise_place(report, advice, rule, &place, threshold, severe);
}
