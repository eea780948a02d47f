/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that takes longer than the others for the same work, by the figures of dumps. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { EXCESS, DEVIATIONS };

static const struct ta_option options[] = {
    [EXCESS] = {"excess", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                "Time of the slowest rank beyond the median of the others, over that median, above "
                "which the rule fires"},
    [DEVIATIONS] = {"deviations", TA_OPTION_NUMBER, 4, 0, 1e6, TA_OPTION_PLAIN,
                    "The same in deviations of the other ranks, above which the rule fires; not "
                    "looked at where fewer than three others have the figure"},
    TA_OPTIONS_END,
};

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NAN);
}

static bool encloses(const struct ta_table *late, size_t row)
{
    const size_t at = ta_table_column(late, "encloses");
    const struct ta_cell *cell = at == SIZE_MAX ? NULL : ta_table_cell(late, row, at);
    return cell && cell->kind == TA_CELL_BOOL && cell->b;
}

/* One rank often has more to do around the work of all, such as saving the video: what encloses
 * others has to be behind twice as far. */
static bool is_late(struct ta_ctx *ctx, const struct ta_table *late, size_t row)
{
    const double deviations = number(late, row, "deviations");
    const double threshold = ta_ctx_option(ctx, EXCESS) * (encloses(late, row) ? 2 : 1);
    return number(late, row, "excess") > threshold && number(late, row, "loss_ns") > 0 &&
           (isnan(deviations) || deviations > ta_ctx_option(ctx, DEVIATIONS));
}

/* How much a figure tells: a stage by itself most, then a step or a block, what encloses others
 * least. */
static int telling(const struct ta_table *late, size_t row)
{
    if (encloses(late, row))
        return 0;
    return ta_row_reads(late, row, "table", "stages.by_name")      ? 3
           : ta_row_reads(late, row, "table", "diffusion.by_rank") ? 2
                                                                   : 1;
}

/* The figure that costs most.  One that is a part of it tells more: of those that make up at least
 * half of that loss, on the same rank, the most telling one, and the shortest of these. */
static size_t most_telling(struct ta_ctx *ctx, const struct ta_table *late)
{
    size_t most = SIZE_MAX;
    for (size_t row = 0; row < late->n_rows; row++)
        if (is_late(ctx, late, row) &&
            (most == SIZE_MAX || number(late, row, "loss_ns") > number(late, most, "loss_ns")))
            most = row;
    size_t best = most;
    for (size_t row = 0; most != SIZE_MAX && row < late->n_rows; row++) {
        const bool is_part = is_late(ctx, late, row) &&
                             number(late, row, "rank") == number(late, most, "rank") &&
                             number(late, row, "loss_ns") >= number(late, most, "loss_ns") / 2;
        const int more = telling(late, row) - telling(late, best);
        if (is_part && (more > 0 || (more == 0 && number(late, row, "value_ns") <
                                                      number(late, best, "value_ns"))))
            best = row;
    }
    return best;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct ta_table *late = ta_report_table(in->report, "ranks.late");
    const size_t row = late ? most_telling(ctx, late) : SIZE_MAX;
    if (row == SIZE_MAX)
        return TA_OK;
    const struct ta_place value = {late, row, ta_table_column(late, "value_ns"),
                                   number(late, row, "value_ns")};
    const struct ta_place rank = ta_old_beside(&value, "rank");
    const struct ta_place excess = ta_old_beside(&value, "excess");
    const struct ta_place median = ta_old_beside(&value, "median_ns");
    const double behind = number(late, row, "excess_ns");
    const int others = ta_whole_int(number(late, row, "ranks")) - 1;
    const struct ta_evidence evidence[] = {ta_place_evidence(&value), ta_place_evidence(&rank),
                                           ta_place_evidence(&median), ta_place_evidence(&excess)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "late-rank",
            .rule = "late_rank",
            .title = ta_advice_printf(
                advice, "Rank %.0f is late: %s for %s, %s (%s) more than the %s", rank.value,
                ta_advice_number(advice, value.value, TA_UNIT_NS),
                ta_old_place_text(advice, &value, "what"),
                ta_advice_number(advice, behind, TA_UNIT_NS),
                ta_advice_number(advice, excess.value, TA_UNIT_RATIO),
                others == 1 ? "other rank"
                            : ta_advice_printf(advice, "median of the other %d ranks", others)),
            .advice = "Look for what differs on that rank: temperature and clocks of its GPU "
                      "(nvidia-smi dmon), other processes on it, processors of its NUMA node, its "
                      "link, or more work than the others have. Ranks that work on one video wait "
                      "for it in every step; of independent ranks the run ends with the last.",
            .severity = excess.value > 0.25 ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = 0, /* if it has more work than the others */
            .saving_high_ns = ta_whole(number(late, row, "loss_ns")),
            .confidence = others >= 3 ? 0.8 : 0.5,
            .threshold = ta_advice_printf(
                advice, "time of the slowest rank > %s beyond the median of the others",
                ta_advice_number(advice, ta_ctx_option(ctx, EXCESS), TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, late_rank, &ops, .title = "Late rank",
          .summary = "Fires when one rank takes longer than the others for the same work",
          .version = "1", .options = options);
