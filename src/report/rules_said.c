/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules found, in one sentence. */
#include "report/tables.h"

#include <stdio.h>

static size_t count(const struct ta_table *table, const char *outcome)
{
    const size_t column = ta_table_column(table, "outcome");
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows; row++) {
        const struct ta_cell *cell = ta_table_cell(table, row, column);
        n += cell->kind == TA_CELL_TEXT && ta_slice_equal(cell->text, ta_slice_of(outcome));
    }
    return n;
}

const char *ta_rules_said(const struct ta_report *report, char text[TA_RULES_TEXT_MAX])
{
    const struct ta_table *rules = ta_report_table(report, "findings.rules");
    const size_t nothing = rules ? count(rules, "nothing") : 0;
    const size_t no_data = rules ? count(rules, "no data") : 0;
    const bool is_more = rules && count(rules, "found") > 0;
    *text = '\0';
    if (nothing > 0)
        snprintf(text, TA_RULES_TEXT_MAX,
                 "%zu %srules found nothing to improve; for %zu there was no data.", nothing,
                 is_more ? "more " : "", no_data);
    return text;
}
