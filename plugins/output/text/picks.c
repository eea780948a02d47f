/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables the summary shows: those whose declarations say so (struct ta_brief). */
#include "report/tables.h"
#include "text.h"

#include <stdlib.h>

size_t text_place_of(const struct ta_table *table, const struct ta_column *column)
{
    return column ? ta_table_column(table, column->key) : SIZE_MAX;
}

static bool has_rows(const struct ta_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (!text_row_is_hidden(table, i))
            return true;
    return false;
}

static bool is_shown(const struct ta_report *report, const struct ta_table *table)
{
    const struct ta_brief *brief = table->def ? table->def->brief : NULL;
    if (!brief || table->n_rows < brief->least_rows || !has_rows(table) ||
        (brief->unless && ta_report_table(report, brief->unless)))
        return false;
    if (!brief->applies)
        return true;
    struct ta_refs in;
    ta_refs_open(&in, report, brief->reads, brief->n_reads);
    return brief->applies(&in);
}

static int by_place(const void *left, const void *right)
{
    const struct ta_table *a = *(const struct ta_table *const *)left;
    const struct ta_table *b = *(const struct ta_table *const *)right;
    const int x = a->def->brief->place, y = b->def->brief->place;
    return x != y ? (x > y) - (x < y) : strcmp(a->id, b->id);
}

bool text_pick_tables(const struct ta_report *report, struct text_picks *picks)
{
    size_t n = 0;
    bool says_more = false;
    for (const struct ta_table *t = NULL; (t = ta_report_table_after(report, t));)
        n++;
    *picks = (struct text_picks){.at = calloc(n + 1, sizeof *picks->at)};
    if (!picks->at)
        return false;
    for (const struct ta_table *t = NULL; (t = ta_report_table_after(report, t));) {
        if (!is_shown(report, t))
            continue;
        picks->at[picks->n++] = t;
        says_more = says_more || !(t->def->brief->alone || t->def->brief->is_supplement);
    }
    n = picks->n;
    picks->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!says_more || !picks->at[i]->def->brief->alone)
            picks->at[picks->n++] = picks->at[i];
    qsort(picks->at, picks->n, sizeof *picks->at, by_place);
    return true;
}

bool text_is_picked(const struct text_picks *picks, const struct ta_table *table)
{
    for (size_t i = 0; i < picks->n; i++)
        if (picks->at[i] == table)
            return true;
    return false;
}
