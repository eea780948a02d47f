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
                    "The same in deviations of the other ranks, above which the rule fires; "
                    "ignored where fewer than three others have the figure"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    WHAT,
    TABLE,
    VALUE,
    MEDIAN,
    LATE_BY,
    LATE_SHARE,
    LATE_DEVIATIONS,
    RANKS,
    ENCLOSES,
    LOSS,
    STAGES,
    DIFFUSION
};

static const struct ta_ref reads[] = {
    [RANK] = {"ranks.late", "rank"},           [WHAT] = {"ranks.late", "what"},
    [TABLE] = {"ranks.late", "table"},         [VALUE] = {"ranks.late", "value_ns"},
    [MEDIAN] = {"ranks.late", "median_ns"},    [LATE_BY] = {"ranks.late", "excess_ns"},
    [LATE_SHARE] = {"ranks.late", "excess"},   [LATE_DEVIATIONS] = {"ranks.late", "deviations"},
    [RANKS] = {"ranks.late", "ranks"},         [ENCLOSES] = {"ranks.late", "encloses"},
    [LOSS] = {"ranks.late", "loss_ns"},        [STAGES] = {"stages.by_name", NULL},
    [DIFFUSION] = {"diffusion.by_rank", NULL},
};

static double number(const struct ta_refs *in, size_t ref, size_t row)
{
    return ta_ref_number(in, ref, row, NAN);
}

static bool encloses(const struct ta_refs *in, size_t row)
{
    const struct ta_cell *cell = ta_ref_cell(in, ENCLOSES, row);
    return cell->kind == TA_CELL_BOOL && cell->b;
}

/* What a rank loses is worth a word from this share of the longest figure on. */
#define LEAST_LOSS 1e-4

/* One rank often has more to do around the work of all, such as saving the video: a stage that
 * encloses others has to be late by twice as much. */
static bool is_late(struct ta_ctx *ctx, const struct ta_refs *in, size_t row)
{
    const double deviations = number(in, LATE_DEVIATIONS, row);
    double longest = 0;
    for (size_t other = 0; other < ta_ref_rows(in, VALUE); other++)
        longest = fmax(longest, number(in, VALUE, other));
    if (number(in, LOSS, row) < LEAST_LOSS * longest)
        return false;
    const double threshold = ta_ctx_option(ctx, EXCESS) * (encloses(in, row) ? 2 : 1);
    return number(in, LATE_SHARE, row) > threshold && number(in, LOSS, row) > 0 &&
           (isnan(deviations) || deviations > ta_ctx_option(ctx, DEVIATIONS));
}

/* How specific a figure is: a stage by itself most, then a step or a block, a stage that encloses
 * others least. */
static int specificity(const struct ta_refs *in, size_t row)
{
    if (encloses(in, row))
        return 0;
    return ta_ref_reads(in, TABLE, row, reads[STAGES].table)      ? 3
           : ta_ref_reads(in, TABLE, row, reads[DIFFUSION].table) ? 2
                                                                  : 1;
}

/* The figure that costs most.  A part of it is more specific: of the parts that make up at
 * least half of that loss, on the same rank, the most specific one, and the shortest of these. */
static size_t most_specific(struct ta_ctx *ctx, const struct ta_refs *in)
{
    size_t most = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, VALUE); row++)
        if (is_late(ctx, in, row) &&
            (most == SIZE_MAX || number(in, LOSS, row) > number(in, LOSS, most)))
            most = row;
    size_t best = most;
    for (size_t row = 0; most != SIZE_MAX && row < ta_ref_rows(in, VALUE); row++) {
        const bool is_part = is_late(ctx, in, row) &&
                             number(in, RANK, row) == number(in, RANK, most) &&
                             number(in, LOSS, row) >= number(in, LOSS, most) / 2;
        const int more = specificity(in, row) - specificity(in, best);
        if (is_part &&
            (more > 0 || (more == 0 && number(in, VALUE, row) < number(in, VALUE, best))))
            best = row;
    }
    return best;
}

/* Whether the host does the work of the stage: the clock of a GPU does not matter to it. */
static bool is_host_stage(struct ta_slice name)
{
    static const char *const words[] = {"prepare", "preprocess", "postprocess", "schedul",
                                        "tokeniz", "dataload",   "data_load",   "save",
                                        "export",  "write",      NULL};
    return ta_slice_has_any(name, words);
}

/* The time of a rank may be long for the work that it is given, or for the machine. */
static const char *what_to_do(const struct ta_refs *in, struct ta_advice *advice,
                              const struct ta_place *value)
{
    const double rank = number(in, RANK, value->row);
    if (is_host_stage(ta_ref_text(in, WHAT, value->row)))
        return ta_advice_printf(
            advice,
            "Look at the CPU of rank %.0f, which does %s: work of this rank alone (loading, "
            "logging, saving), other processes on its cores, cores of another NUMA node "
            "(`numactl`, `taskset`), garbage collection.",
            rank, ta_place_text(advice, in, value, WHAT));
    return ta_advice_printf(
        advice,
        "Check clock, temperature and power of the GPU of rank %.0f (`nvidia-smi dmon`), other "
        "processes on its GPU and cores, and that it is given no more work than the others.",
        rank);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t row = most_specific(ctx, in);
    if (row == SIZE_MAX)
        return TA_OK;
    const struct ta_place value = ta_place_at(in, VALUE, row);
    const struct ta_place rank = ta_place_beside(in, &value, RANK);
    const struct ta_place excess = ta_place_beside(in, &value, LATE_SHARE);
    const struct ta_place median = ta_place_beside(in, &value, MEDIAN);
    const double behind = number(in, LATE_BY, row);
    const int others = ta_whole_int(number(in, RANKS, row)) - 1;
    const struct ta_evidence evidence[] = {ta_place_evidence(&value), ta_place_evidence(&rank),
                                           ta_place_evidence(&median), ta_place_evidence(&excess)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "late-rank",
            .rule = "late_rank",
            .title = ta_advice_printf(
                advice,
                "Rank %.0f is slower than the others: %s takes it %s, %s (%s) more than the "
                "%s",
                rank.value, ta_place_text(advice, in, &value, WHAT),
                ta_advice_number(advice, value.value, TA_UNIT_NS),
                ta_advice_number(advice, behind, TA_UNIT_NS),
                ta_advice_number(advice, excess.value, TA_UNIT_RATIO),
                others == 1 ? "other rank"
                            : ta_advice_printf(advice, "median of the other %d ranks", others)),
            .advice = what_to_do(in, advice, &value),
            .details = "Ranks that work on one video wait for it in every step; of independent "
                       "ranks the run ends with the last.",
            .severity = excess.value > 0.25 ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = 0, /* it may have more to do */
            .saving_high_ns = ta_whole(number(in, LOSS, row)),
            .confidence = others >= 3 ? 0.8 : 0.5,
            .effect = TA_EFFECT_LATE_RANK,
            .rank = ta_whole(rank.value),
            .threshold = ta_advice_printf(
                advice, "time of the slowest rank > %s beyond the median of the others",
                ta_advice_number(advice, ta_ctx_option(ctx, EXCESS), TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, late_rank, &ops, .title = "Late rank",
          .summary = "Fires when one rank takes longer than the others for the same work",
          .version = "1", .options = options);
