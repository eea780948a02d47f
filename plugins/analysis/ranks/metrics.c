/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.metrics: every figure of the tables by rank, compared over all ranks. */
#include "ranks.h"

static const struct ta_column columns[] = {
    {"metric", "Metric", TA_ID,
     .doc = "Table and column, with the other keys of the row in brackets"},
    {"label", "Figure", TA_TEXT,
     .doc = "What is compared; the most telling comes first: large differences of what the run "
            "waits for"},
    {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
    {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that have a value"},
    {"min", "Min", TA_NUMBER, .doc = "Smallest value"},
    {"min_rank", "Rank of min", TA_INTEGER,
     .doc = "Rank with the smallest value, the lowest of equals"},
    {"max", "Max", TA_NUMBER, .doc = "Largest value"},
    {"max_rank", "Rank of max", TA_INTEGER,
     .doc = "Rank with the largest value, the lowest of equals"},
    {"mean", "Mean", TA_NUMBER, .doc = "Mean over the ranks"},
    {"p50", "p50", TA_NUMBER, .doc = "Median over the ranks"},
    {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
     .doc = "1 − smallest over largest; none where a value is negative"},
};

void ranks_add_metrics(const struct figures *figures, struct ta_section_builder *out)
{
    struct ta_table_builder *table = ta_add_table(out, "ranks.metrics", "Ranks compared", columns,
                                                  sizeof columns / sizeof *columns);
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->at[i];
        TA_CELLS(table, ta_text(ta_slice_of(f->name)), ta_text(ta_slice_of(f->label)),
                 ta_text(ta_slice_of(f->unit)), ta_int((int64_t)f->n), ta_num(f->low),
                 ta_int(f->low_rank), ta_num(f->high), ta_int(f->high_rank), ta_num(f->mean),
                 ta_num(f->median),
                 f->low >= 0 && f->high > 0 ? ta_num(1 - f->low / f->high) : ta_null());
    }
}
