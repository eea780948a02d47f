/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.metrics: every figure of the tables by rank, compared over all ranks. */
#include "figures.h"

enum { METRIC, LABEL, UNIT, RANKS, MIN, MIN_RANK, MAX, MAX_RANK, MEAN, P50, SPREAD };
static const struct ta_column ranks_metrics_columns[] = {
    [METRIC] = {"metric", "Metric", TA_ID,
                .doc =
                    "Table and column of the metric, with the other keys of the row in brackets"},
    [LABEL] =
        {"label", "Name", TA_TEXT,
         .doc = "Name of what is compared; large differences in what the run waits for come first"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks with a value"},
    [MIN] = {"min", "Min", TA_NUMBER, .doc = "Smallest value"},
    [MIN_RANK] = {"min_rank", "Rank of min", TA_INTEGER,
                  .doc = "Rank with the smallest value; the lowest if several are equal"},
    [MAX] = {"max", "Max", TA_NUMBER, .doc = "Largest value"},
    [MAX_RANK] = {"max_rank", "Rank of max", TA_INTEGER,
                  .doc = "Rank with the largest value; the lowest if several are equal"},
    [MEAN] = {"mean", "Mean", TA_NUMBER, .doc = "Mean over the ranks"},
    [P50] = {"p50", "p50", TA_NUMBER, .doc = "Median over the ranks"},
    [SPREAD] = {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
                .doc = "1 − smallest / largest; empty if a value is negative"},
};

const struct ta_table_def ranks_metrics = {
    "ranks.metrics",
    "Metrics across ranks",
    TA_COLUMNS(ranks_metrics_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per figure of the tables by rank that at least two ranks have. A metric is "
           "named by table and column, and by the other keys of the row in brackets if a rank has "
           "several rows: `stages.by_name.total_ns[decode]`. If each rank has one device, the "
           "device number is not such a key. Large differences in what the run waits for come "
           "first. All tables with a rank are compared except those whose rows are moments, places "
           "or reasons; marked steps are compared in `steps.by_rank`, not in `steps.by_step`.",
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){
        .place = 470,
        .rows = 10,
        .rows_are = "the most important differences",
        .first = {&ranks_metrics_columns[SPREAD], &ranks_metrics_columns[MAX],
                  &ranks_metrics_columns[MAX_RANK], &ranks_metrics_columns[MIN],
                  &ranks_metrics_columns[MIN_RANK], &ranks_metrics_columns[MEAN]},
        .whole_names = true,
        .hidden = {&ranks_metrics_columns[METRIC], .tables = {"events.by_kind", "run.files"}},
        .nonzero = &ranks_metrics_columns[SPREAD],
        .unless = "gpu_time.by_rank",
        .is_supplement = true}};

void ranks_add_metrics(const struct figures *figures, struct ta_section_builder *out)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->at[i];
        TA_ROW(
            out, ranks_metrics, [METRIC] = ta_text(ta_slice_of(f->name)),
            [LABEL] = ta_text(ta_slice_of(f->label)), [UNIT] = ta_text(ta_slice_of(f->unit)),
            [RANKS] = ta_int((int64_t)f->n), [MIN] = ta_num(f->low),
            [MIN_RANK] = ta_int(f->low_rank), [MAX] = ta_num(f->high),
            [MAX_RANK] = ta_int(f->high_rank), [MEAN] = ta_num(f->mean), [P50] = ta_num(f->median),
            [SPREAD] = f->low >= 0 && f->high > 0 ? ta_num(1 - f->low / f->high) : ta_null());
    }
}
