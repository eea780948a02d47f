/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that key_averages().table() prints; what else the text holds is not ours. */
#include "parse/text/operator_table.h"
#include "torch_tables.h"

int tt_sniff_operators(struct ta_slice head)
{
    return ta_operator_tables_begin_in(head) ? 85 : 0;
}

void tt_read_operators(struct text_reading *r)
{
    char set[TA_OPERATOR_SET_SIZE];
    struct ta_operator_tables *tables = ta_operator_tables_new(r->ctx, r->builder);
    if (!tables) {
        r->status = ta_ctx_status(r->ctx);
        return;
    }
    while (tt_next(r)) {
        switch (ta_operator_tables_take(tables, r->lines->line)) {
        case TA_OPERATOR_LINE_ROW:
            r->kept++;
            break;
        case TA_OPERATOR_LINE_BAD:
            tt_drop(r, "No row of a table of operators");
            break;
        default:
            break;
        }
    }
    if (r->status == TA_OK)
        r->status = ta_operator_tables_add(tables);
    /* Diffulex saves the rows as JSON and CSV beside the text. */
    const int64_t total_ns = ta_operator_tables_cpu_ns(tables);
    if (total_ns != TA_MISSING)
        ta_builder_set_copy(r->builder, ta_operator_set(set, total_ns), TA_EXACT_TEXT);
    ta_operator_tables_free(tables);
}
