/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result model: sections, items, tables, and their memory. */
#include "report/report.h"

#include "report/sections.h"
#include "report/tables.h"
#include "traceanalyze/base.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct ta_table_builder {
    struct ta_table table;
    struct ta_report *report;
    struct ta_section_builder *section;
    struct ta_cell *cells; /* malloc'd while growing, the table's own once frozen */
    size_t rows_max;
};

/* An item while the report is built; tables point to their builder. */
struct draft {
    struct ta_item item;
    struct ta_table_builder *table;
    struct draft *next;
};

struct ta_section_builder {
    struct ta_section section;
    struct ta_report *report;
    struct draft *first, **last;
    const struct ta_scalar_def *scalars; /* of the running analysis */
    size_t n_scalars;
    struct draft *declared; /* tables of the running analysis, where its part begins; or NULL */
    struct ta_section_builder *next;
};

struct ta_report {
    struct ta_arena arena;
    bool failed;
    const char *fault; /* what its maker did wrong first, see ta_report_fault() */
    struct ta_report_view view;
    int64_t input_date_s;
    struct ta_timeline *timeline;
    void (*release_timeline)(struct ta_timeline *timeline);
    struct ta_section_builder *first, **last;
};

/* ---- building ------------------------------------------------------------------------ */

struct ta_report *ta_report_new(void)
{
    struct ta_report *report = calloc(1, sizeof *report);
    if (!report)
        return NULL;
    report->last = &report->first;
    report->view.run = (struct ta_run_info){.title = "", .world_size = TA_MISSING, .devices = ""};
    report->view.verdict.headline = "";
    return report;
}

void ta_report_free(struct ta_report *report)
{
    if (!report)
        return;
    for (struct ta_section_builder *s = report->first; s; s = s->next)
        for (struct draft *d = s->first; d; d = d->next)
            if (d->table)
                free(d->table->cells);
    if (report->timeline)
        report->release_timeline(report->timeline);
    ta_arena_free(&report->arena);
    free(report);
}

struct ta_arena *ta_report_arena(struct ta_report *report)
{
    return &report->arena;
}

struct ta_section_builder *ta_report_open_section(struct ta_report *report, const char *id,
                                                  const char *title)
{
    for (struct ta_section_builder *s = report->first; s; s = s->next)
        if (strcmp(s->section.id, id) == 0)
            return s;
    struct ta_section_builder *made = ta_arena_alloc(&report->arena, sizeof *made);
    if (!made)
        return NULL;
    made->section.id = ta_arena_copy(&report->arena, ta_slice_of(id));
    made->section.title = ta_arena_copy(&report->arena, ta_slice_of(title));
    if (!made->section.id || !made->section.title)
        return NULL;
    made->section.chapter = ta_section_chapter(id);
    made->report = report;
    made->last = &made->first;
    *report->last = made;
    report->last = &made->next;
    return made;
}

static const char *copy(struct ta_report *report, const char *text)
{
    return text ? ta_arena_copy(&report->arena, ta_slice_of(text)) : NULL;
}

static struct ta_cell copy_cell(struct ta_report *report, struct ta_cell cell)
{
    if (cell.kind == TA_CELL_UNSET)
        return ta_null();
    if (cell.kind == TA_CELL_TEXT) {
        cell.text.ptr = ta_arena_copy(&report->arena, cell.text);
        if (!cell.text.ptr)
            return ta_null();
    }
    return cell;
}

static struct draft *insert(struct ta_section_builder *section, struct draft **place,
                            struct ta_item item)
{
    struct draft *draft = ta_arena_alloc(&section->report->arena, sizeof *draft);
    if (!draft)
        return NULL;
    draft->item = item;
    draft->next = *place;
    *place = draft;
    if (!draft->next)
        section->last = &draft->next;
    return draft;
}

static struct draft *append(struct ta_section_builder *section, struct ta_item item)
{
    return insert(section, section->last, item);
}

/* Where a scalar comes: at the end, but before declared tables that have no rows yet. */
static struct draft **place_of_scalar(struct ta_section_builder *section)
{
    struct draft **place = section->last;
    bool is_own = false;
    for (struct draft **at = &section->first; section->declared && *at; at = &(*at)->next) {
        if (*at == section->declared) {
            place = at;
            is_own = true;
        }
        if (is_own && (!(*at)->table || (*at)->table->table.n_rows > 0))
            place = &(*at)->next;
    }
    return place;
}

void ta_add_scalar(struct ta_section_builder *section, const struct ta_scalar *scalar)
{
    if (!section)
        return;
    struct ta_scalar *own = ta_arena_alloc(&section->report->arena, sizeof *own);
    if (!own)
        return;
    *own = *scalar;
    own->id = copy(section->report, scalar->id);
    own->title = copy(section->report, scalar->title);
    own->note = copy(section->report, scalar->note);
    own->value = copy_cell(section->report, scalar->value);
    insert(section, place_of_scalar(section),
           (struct ta_item){.kind = TA_ITEM_SCALAR, .scalar = own});
}

void ta_add_finding(struct ta_section_builder *section, const struct ta_finding *finding)
{
    if (!section)
        return;
    struct ta_report *report = section->report;
    struct ta_finding *own = ta_arena_alloc(&report->arena, sizeof *own);
    struct ta_evidence *evidence =
        ta_arena_alloc(&report->arena, finding->n_evidence * sizeof *evidence);
    if (!own || !evidence)
        return;
    *own = *finding;
    own->id = copy(report, finding->id);
    own->rule = copy(report, finding->rule);
    own->title = copy(report, finding->title);
    own->why = copy(report, finding->why);
    own->advice = copy(report, finding->advice);
    own->details = copy(report, finding->details);
    own->threshold = copy(report, finding->threshold);
    own->evidence = evidence;
    for (size_t i = 0; i < finding->n_evidence; i++) {
        evidence[i] = finding->evidence[i];
        evidence[i].table = copy(report, finding->evidence[i].table);
        evidence[i].column = copy(report, finding->evidence[i].column);
        evidence[i].row = copy_cell(report, finding->evidence[i].row);
        evidence[i].value = copy_cell(report, finding->evidence[i].value);
    }
    append(section, (struct ta_item){.kind = TA_ITEM_FINDING, .finding = own});
}

void ta_add_missing(struct ta_section_builder *section, const char *format, ...)
{
    if (!section)
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct ta_arena *arena = &section->report->arena;
    const char *before = section->section.missing;
    section->section.missing =
        before ? ta_arena_printf(arena, "%s %s", before, line) : ta_arena_printf(arena, "%s", line);
}

void ta_section_set_summary(struct ta_section_builder *section, const char *summary)
{
    if (section)
        section->section.summary = copy(section->report, summary);
}

void ta_section_set_missing(struct ta_section_builder *section, const char *missing)
{
    if (section)
        section->section.missing = copy(section->report, missing);
}

struct ta_table_builder *ta_add_table(struct ta_section_builder *section, const char *id,
                                      const char *title, const struct ta_column *columns,
                                      size_t n_columns)
{
    if (!section)
        return NULL;
    struct ta_report *report = section->report;
    struct ta_table_builder *table = ta_arena_alloc(&report->arena, sizeof *table);
    if (!table)
        return NULL;
    *table = (struct ta_table_builder){
        .report = report,
        .section = section,
        .table = {.id = copy(report, id),
                  .title = copy(report, title),
                  .columns = columns,
                  .n_columns = n_columns},
    };
    struct draft *draft =
        append(section, (struct ta_item){.kind = TA_ITEM_TABLE, .table = &table->table});
    if (!draft)
        return NULL;
    draft->table = table;
    return table;
}

static void note_fault(struct ta_report *report, const char *what, const struct ta_table *table,
                       const struct ta_column *column)
{
    if (!report->fault)
        report->fault = ta_arena_printf(&report->arena, "%s: table=%s, column=%s", what, table->id,
                                        column ? column->key : "");
}

static bool fits(const struct ta_column *column, enum ta_cell_kind kind)
{
    if (kind == TA_CELL_NULL)
        return true;
    switch (column->type) {
    case TA_TYPE_INTEGER:
        return kind == TA_CELL_INT;
    case TA_TYPE_NUMBER:
        return kind == TA_CELL_INT || kind == TA_CELL_NUM;
    case TA_TYPE_BOOLEAN:
        return kind == TA_CELL_BOOL;
    default:
        return kind == TA_CELL_TEXT;
    }
}

/* Whether the cells make a valid row; what is wrong with them is kept. */
static bool are_a_row(struct ta_table_builder *table, const struct ta_cell *cells)
{
    for (size_t i = 0; i < table->table.n_columns; i++) {
        const struct ta_column *column = &table->table.columns[i];
        const enum ta_cell_kind kind = cells[i].kind;
        if (table->table.def ? fits(column, kind) : kind != TA_CELL_UNSET)
            continue;
        if (column->from.table && kind == TA_CELL_UNSET)
            continue; /* comes with ta_report_join_columns() */
        note_fault(table->report,
                   kind == TA_CELL_UNSET ? "A row has no cell for a column"
                                         : "A cell is not of the type of its column",
                   &table->table, column);
        return false;
    }
    return true;
}

void ta_add_row(struct ta_table_builder *table, const struct ta_cell *cells)
{
    if (!table || !are_a_row(table, cells))
        return;
    const size_t width = table->table.n_columns;
    if (table->table.n_rows == table->rows_max) {
        size_t more = table->rows_max ? table->rows_max * 2 : 16;
        struct ta_cell *grown = reallocarray(table->cells, more, width * sizeof *grown);
        if (!grown) {
            table->report->failed = true;
            return;
        }
        table->cells = grown;
        table->rows_max = more;
    }
    struct ta_cell *row = table->cells + table->table.n_rows++ * width;
    for (size_t i = 0; i < width; i++)
        row[i] = copy_cell(table->report, cells[i]);
    table->table.cells = table->cells;
}

void ta_table_left_out(struct ta_table_builder *table, size_t n_rows)
{
    if (table)
        table->table.n_left_out = n_rows;
}

void ta_add_chart(struct ta_table_builder *table, const struct ta_chart *chart)
{
    if (!table)
        return;
    struct ta_chart *own = ta_arena_alloc(&table->report->arena, sizeof *own);
    if (!own)
        return;
    *own = *chart;
    own->next = NULL;
    const struct ta_chart **end = &table->table.chart;
    while (*end) /* the few charts of a table keep the order of adding */
        end = (const struct ta_chart **)&((struct ta_chart *)(uintptr_t)*end)->next;
    *end = own;
}

void ta_sort_rows(struct ta_table_builder *table, const char *within, const char *column,
                  bool descending)
{
    const size_t place = table ? ta_table_column(&table->table, column) : SIZE_MAX;
    if (place != SIZE_MAX)
        ta_cells_sort(table->cells, table->table.n_rows, table->table.n_columns,
                      within ? ta_table_column(&table->table, within) : SIZE_MAX, place,
                      descending);
}

/* ---- declared tables ------------------------------------------------------------------- */

static const char *key_of(const struct ta_column *column)
{
    return column ? column->key : NULL;
}

/* A declared chart by the keys of its columns, as outputs and saved reports have it. */
static struct ta_chart chart_of(const struct ta_chart_def *def)
{
    struct ta_chart chart = {
        .id = def->id,
        .title = def->title,
        .caption = def->caption,
        .kind = def->kind,
        .x = key_of(def->x),
        .group = key_of(def->group),
        .size = key_of(def->size),
        .log_x = def->log_x,
        .log_y = def->log_y,
        .top = def->top,
        .whole = def->whole,
        .steps = def->steps,
        .band = key_of(def->band),
        .with = key_of(def->with),
        .without = key_of(def->without),
        .kinds = def->kinds,
        .roof = {key_of(def->roof.level), key_of(def->roof.slope), key_of(def->roof.name)}};
    for (size_t i = 0; i < TA_CHART_LABELS; i++)
        chart.label[i] = key_of(def->label[i]);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && def->y[i].column; i++)
        chart.y[i] = (struct ta_series){def->y[i].column->key, def->y[i].label, def->y[i].ink};
    return chart;
}

static void add_declared_chart(struct ta_table_builder *table, const struct ta_chart_def *def)
{
    const struct ta_chart chart = chart_of(def);
    ta_add_chart(table, &chart);
}

void ta_declare_tables(struct ta_section_builder *section, const struct ta_table_def *const *defs)
{
    if (!section)
        return;
    section->declared = NULL;
    for (; defs && *defs; defs++) {
        const struct ta_table_def *def = *defs;
        struct draft **at = section->last;
        struct ta_table_builder *table =
            ta_add_table(section, def->id, def->title, def->columns, def->n_columns);
        if (!table)
            return;
        table->table.def = def;
        for (size_t i = 0; i < TA_TABLE_CHARTS && def->chart[i]; i++)
            add_declared_chart(table, def->chart[i]);
        if (!section->declared)
            section->declared = *at;
    }
}

struct ta_table_builder *ta_rows(struct ta_section_builder *section, const struct ta_table_def *def)
{
    for (struct draft *d = section ? section->declared : NULL; d; d = d->next)
        if (d->table && d->table->table.def == def)
            return d->table;
    if (section && !section->report->arena.failed)
        note_fault(section->report, "A table is filled that is not declared",
                   &(struct ta_table){.id = def->id}, NULL);
    return NULL;
}

void ta_table_set_def(struct ta_table_builder *table, const struct ta_table_def *def)
{
    if (table)
        table->table.def = def;
}

void ta_draw(struct ta_section_builder *section, const struct ta_table_def *def,
             const struct ta_chart_def *chart)
{
    struct ta_table_builder *table = ta_rows(section, def);
    if (table)
        add_declared_chart(table, chart);
}

void ta_order_rows(struct ta_section_builder *section, const struct ta_table_def *def,
                   const struct ta_column *column, enum ta_direction direction)
{
    struct ta_table_builder *table = ta_rows(section, def);
    if (table)
        ta_cells_sort(table->cells, table->table.n_rows, table->table.n_columns,
                      def->order.within ? (size_t)(def->order.within - def->columns) : SIZE_MAX,
                      (size_t)(column - def->columns), direction == TA_DESCENDING);
}

void ta_close_tables(struct ta_section_builder *section)
{
    for (struct draft *d = section ? section->declared : NULL; d; d = d->next)
        if (d->table && d->table->table.def && d->table->table.def->order.by)
            ta_order_rows(section, d->table->table.def, d->table->table.def->order.by,
                          d->table->table.def->order.direction);
    if (section)
        section->declared = NULL;
    ta_declare_scalars(section, NULL, 0);
}

void ta_declare_scalars(struct ta_section_builder *section, const struct ta_scalar_def *defs,
                        size_t n)
{
    if (section) {
        section->scalars = defs;
        section->n_scalars = n;
    }
}

void ta_word_scalar(struct ta_section_builder *section, const struct ta_scalar_def *def,
                    struct ta_cell value, const char *title, const char *doc)
{
    if (section && (def < section->scalars || def >= section->scalars + section->n_scalars))
        note_fault(section->report, "A scalar is set that is not declared",
                   &(struct ta_table){.id = ""}, &(struct ta_column){.key = def->id});
    ta_add_scalar(section, &(struct ta_scalar){.id = def->id,
                                               .title = title ? title : def->title,
                                               .value = value,
                                               .unit = def->unit,
                                               .polarity = def->better,
                                               .note = doc ? doc : def->doc});
}

const char *ta_report_fault(const struct ta_report *report)
{
    return report->fault;
}

/* ---- references ------------------------------------------------------------------------ */

void ta_refs_open(struct ta_refs *refs, const struct ta_report *report, const struct ta_ref *list,
                  size_t n)
{
    *refs =
        (struct ta_refs){.report = report, .list = list, .n = n < TA_REFS_MAX ? n : TA_REFS_MAX};
    for (size_t i = 0; i < refs->n; i++) {
        struct ta_ref_place *place = &refs->places[i];
        const char *before = i > 0 ? list[i - 1].table : NULL;
        place->scalar = list[i].scalar ? ta_report_scalar(report, list[i].scalar) : NULL;
        if (!list[i].table)
            place->table = NULL;
        else if (before && strcmp(before, list[i].table) == 0)
            place->table = refs->places[i - 1].table;
        else
            place->table = ta_report_table(report, list[i].table);
        place->column = place->table && list[i].column
                            ? ta_table_column(place->table, list[i].column)
                            : SIZE_MAX;
        place->rank = place->table ? ta_table_rank(place->table) : SIZE_MAX;
        place->device = place->table ? ta_table_device(place->table) : SIZE_MAX;
    }
}

/* ---- freezing and reading ------------------------------------------------------------ */

void ta_report_set_kind(struct ta_report *report, enum ta_report_kind kind)
{
    report->view.kind = kind;
}

void ta_report_set_run(struct ta_report *report, const struct ta_run_info *run)
{
    int64_t *ranks = ta_arena_alloc(&report->arena, (run->n_ranks + 1) * sizeof *ranks);
    if (!ranks)
        return;
    if (run->n_ranks)
        memcpy(ranks, run->ranks, run->n_ranks * sizeof *ranks);
    report->view.run = *run;
    report->view.run.ranks = ranks;
    report->view.run.title = copy(report, run->title);
    report->view.run.devices = copy(report, run->devices);
}

void ta_report_set_verdict(struct ta_report *report, const char *headline, const char *bottleneck)
{
    report->view.verdict.headline = copy(report, headline);
    report->view.verdict.bottleneck = copy(report, bottleneck);
}

void ta_report_add_figure(struct ta_report *report, const char *id)
{
    struct ta_verdict *verdict = &report->view.verdict;
    if (verdict->n_figures < TA_FIGURES_MOST)
        verdict->figures[verdict->n_figures++] = copy(report, id);
}

void ta_report_set_accounts(struct ta_report *report, const struct ta_accounts *accounts)
{
    report->view.accounts = *accounts;
}

void ta_report_set_timeline(struct ta_report *report, struct ta_timeline *timeline,
                            void (*release)(struct ta_timeline *timeline))
{
    report->timeline = timeline;
    report->view.timeline = timeline;
    report->release_timeline = release;
}

void ta_report_set_input_date(struct ta_report *report, int64_t date_s)
{
    report->input_date_s = date_s;
}

int64_t ta_report_input_date(const struct ta_report *report)
{
    return report->input_date_s;
}

static void freeze_section(struct ta_report *report, struct ta_section_builder *builder)
{
    size_t n = 0;
    for (struct draft *d = builder->first; d; d = d->next)
        n += !d->table || d->table->table.n_rows > 0;
    struct ta_item *items = ta_arena_alloc(&report->arena, (n + 1) * sizeof *items);
    if (!items)
        return;
    builder->section.items = items;
    builder->section.n_items = 0;
    for (struct draft *d = builder->first; d; d = d->next)
        if (!d->table || d->table->table.n_rows > 0)
            items[builder->section.n_items++] = d->item;
}

void ta_report_trim(struct ta_report *report)
{
    for (struct ta_section_builder *s = report->first; s; s = s->next)
        for (struct draft *d = s->first; d; d = d->next) {
            struct ta_table_builder *table = d->table;
            if (!table || !table->table.n_rows || table->rows_max == table->table.n_rows)
                continue;
            const size_t row = table->table.n_columns * sizeof *table->cells;
            struct ta_cell *cells = reallocarray(table->cells, table->table.n_rows, row);
            if (!cells)
                continue;
            table->table.cells = table->cells = cells;
            table->rows_max = table->table.n_rows;
        }
}

/* The sections of a chapter that say anything, in the order of making. */
static void list_chapter(struct ta_report *report, enum ta_chapter chapter)
{
    for (const struct ta_section_builder *s = report->first; s; s = s->next)
        if (s->section.chapter == chapter && (s->section.n_items || s->section.missing))
            report->view.sections[report->view.n_sections++] = &s->section;
}

enum ta_status ta_report_freeze(struct ta_report *report)
{
    size_t n = 0;
    for (struct ta_section_builder *s = report->first; s; s = s->next)
        n++;
    report->view.sections = ta_arena_alloc(&report->arena, (n + 1) * sizeof(struct ta_section *));
    report->view.n_sections = 0;
    for (struct ta_section_builder *s = report->first; s; s = s->next)
        freeze_section(report, s);
    for (size_t i = 0; i < TA_CHAPTERS && report->view.sections; i++)
        list_chapter(report, (enum ta_chapter)i);
    return report->failed || report->arena.failed ? TA_ERR_NOMEM : TA_OK;
}

const struct ta_report_view *ta_report_view(const struct ta_report *report)
{
    return &report->view;
}

static const char *item_id(const struct ta_item *item)
{
    switch (item->kind) {
    case TA_ITEM_SCALAR:
        return item->scalar->id;
    case TA_ITEM_TABLE:
        return item->table->id;
    case TA_ITEM_FINDING:
        return item->finding->id;
    }
    return "";
}

/* Looks through builders, so that advice can read a report before it is frozen. */
static const struct ta_item *find(const struct ta_report *report, enum ta_item_kind kind,
                                  const char *id)
{
    for (const struct ta_section_builder *s = report->first; s; s = s->next)
        for (const struct draft *d = s->first; d; d = d->next)
            if (d->item.kind == kind && strcmp(item_id(&d->item), id) == 0)
                return &d->item;
    return NULL;
}

const struct ta_table *ta_report_table(const struct ta_report *report, const char *id)
{
    const struct ta_item *item = find(report, TA_ITEM_TABLE, id);
    return item && item->table->n_rows ? item->table : NULL;
}

const struct ta_table *ta_report_table_after(const struct ta_report *report,
                                             const struct ta_table *table)
{
    bool is_next = !table;
    for (const struct ta_section_builder *s = report->first; s; s = s->next)
        for (const struct draft *d = s->first; d; d = d->next) {
            if (d->item.kind != TA_ITEM_TABLE)
                continue;
            if (is_next)
                return d->item.table;
            is_next = d->item.table == table;
        }
    return NULL;
}

/* A share of a cost below this prints as next to nothing. */
#define LEAST_SHARE 0.0005

bool ta_scalar_is_shown(const struct ta_report *report, const struct ta_scalar *scalar)
{
    const double value = fabs(ta_cell_number(&scalar->value, (double)INFINITY));
    if (ta_report_kind(report) == TA_REPORT_DIFF) /* whose tables have the windows */
        return scalar->polarity != TA_NEUTRAL && value != 0 && !isinf(value);
    if (scalar->polarity == TA_HIGHER)
        return true;
    return scalar->unit == TA_UNIT_RATIO ? value >= LEAST_SHARE : value > 0;
}

const struct ta_scalar *ta_report_scalar(const struct ta_report *report, const char *id)
{
    const struct ta_item *item = find(report, TA_ITEM_SCALAR, id);
    return item ? item->scalar : NULL;
}

size_t ta_report_figures(const struct ta_report *report,
                         const struct ta_scalar *figures[TA_FIGURES_MOST])
{
    const struct ta_verdict *verdict = &report->view.verdict;
    size_t n = 0;
    for (size_t i = 0; i < verdict->n_figures; i++) {
        const struct ta_scalar *scalar = ta_report_scalar(report, verdict->figures[i]);
        if (scalar)
            figures[n++] = scalar;
    }
    const bool is_diff = ta_report_kind(report) == TA_REPORT_DIFF;
    if (verdict->n_figures || is_diff)
        return n;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while (n < TA_FIGURES_MOST && (item = ta_report_next(report, TA_ITEM_SCALAR, &walk)) != NULL) {
        const struct ta_scalar *scalar = item->scalar;
        if (scalar->value.kind != TA_CELL_NULL && ta_scalar_is_shown(report, scalar) &&
            scalar->polarity != TA_NEUTRAL)
            figures[n++] = scalar;
    }
    return n;
}

const struct ta_finding *ta_report_finding(const struct ta_report *report, const char *id)
{
    const struct ta_item *item = find(report, TA_ITEM_FINDING, id);
    return item ? item->finding : NULL;
}
