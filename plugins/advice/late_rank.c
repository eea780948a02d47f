/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that takes longer than the others for the same work, by the figures of dumps. */
#include "lib/slow_clock.h"

#include <traceanalyze/document.h>

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
    DIFFUSION,
    TAG_RANK,
    TAG_KEY,
    TAG_VALUE,
    SIGNAL,
    SAMPLE_RANK,
    SAMPLE_DEVICE,
    SAMPLE_MEAN,
    SAMPLE_MAX
};

static const struct ta_ref reads[] = {
    [RANK] = {"ranks.late", "rank"},
    [WHAT] = {"ranks.late", "what"},
    [TABLE] = {"ranks.late", "table"},
    [VALUE] = {"ranks.late", "value_ns"},
    [MEDIAN] = {"ranks.late", "median_ns"},
    [LATE_BY] = {"ranks.late", "excess_ns"},
    [LATE_SHARE] = {"ranks.late", "excess"},
    [LATE_DEVIATIONS] = {"ranks.late", "deviations"},
    [RANKS] = {"ranks.late", "ranks"},
    [ENCLOSES] = {"ranks.late", "encloses"},
    [LOSS] = {"ranks.late", "loss_ns"},
    [STAGES] = {"stages.by_name", NULL},
    [DIFFUSION] = {"diffusion.by_rank", NULL},
    [TAG_RANK] = {"run.tags", "rank"},
    [TAG_KEY] = {"run.tags", "key"},
    [TAG_VALUE] = {"run.tags", "value"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SAMPLE_RANK] = {"telemetry.by_rank", "rank"},
    [SAMPLE_DEVICE] = {"telemetry.by_rank", "device"},
    [SAMPLE_MEAN] = {"telemetry.by_rank", "mean"},
    [SAMPLE_MAX] = {"telemetry.by_rank", "max"},
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

/* ---- the clock of its GPU ------------------------------------------------------------------- */

/* Heat is why a clock is lower from this temperature on, where the others are cooler by as much. */
#define HOT 80
#define HOTTER 8
enum { DEVICES_MOST = 64 };

/* The row of a signal of the GPU of a rank: as it sampled that itself, or the only rank that did,
 * if that saw a device for each rank.  SIZE_MAX for none. */
static size_t sampled(const struct ta_refs *in, double rank, const char *signal)
{
    double device = NAN;
    size_t found = SIZE_MAX, n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TAG_KEY); i++)
        if (number(in, TAG_RANK, i) == rank && ta_ref_reads(in, TAG_KEY, i, "local_rank"))
            device = ta_text_double(ta_ref_text(in, TAG_VALUE, i));
    for (size_t i = 0; i < ta_ref_rows(in, SIGNAL); i++) {
        if (!ta_ref_reads(in, SIGNAL, i, signal) || isnan(number(in, SAMPLE_DEVICE, i)))
            continue;
        n++;
        if (number(in, SAMPLE_DEVICE, i) == device &&
            (found == SIZE_MAX || number(in, SAMPLE_RANK, i) == rank))
            found = i;
    }
    const bool is_its = found != SIZE_MAX && number(in, SAMPLE_RANK, found) == rank;
    return is_its || n == ta_report_run(in->report)->n_ranks ? found : SIZE_MAX;
}

/* Of a column, in the rows of the other devices that the same rank sampled. */
static double median_of_others(const struct ta_refs *in, size_t column, size_t row)
{
    double values[DEVICES_MOST];
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, column) && n < DEVICES_MOST; i++)
        if (i != row && !isnan(number(in, column, i)) &&
            ta_slice_equal(ta_ref_text(in, SIGNAL, i), ta_ref_text(in, SIGNAL, row)) &&
            number(in, SAMPLE_RANK, i) == number(in, SAMPLE_RANK, row) &&
            !isnan(number(in, SAMPLE_DEVICE, i)))
            values[n++] = number(in, column, i);
    ta_sort_numbers(values, n);
    return ta_quantile(values, n, 0.5);
}

static struct ta_slow_clock slow_clock_of(const struct ta_refs *in, double rank, double excess)
{
    const size_t clock = sampled(in, rank, "gpu_clock");
    const size_t heat = sampled(in, rank, "gpu_temperature");
    if (clock == SIZE_MAX)
        return (struct ta_slow_clock){.heat = NAN};
    struct ta_slow_clock slow = ta_slow_clock_judge(
        number(in, SAMPLE_MEAN, clock), median_of_others(in, SAMPLE_MEAN, clock), excess);
    if (heat != SIZE_MAX && number(in, SAMPLE_MAX, heat) >= HOT &&
        number(in, SAMPLE_MAX, heat) - median_of_others(in, SAMPLE_MAX, heat) >= HOTTER)
        slow.heat = number(in, SAMPLE_MAX, heat);
    return slow;
}

/* ---- what is said --------------------------------------------------------------------------- */

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
    const bool is_of_host = is_host_stage(ta_ref_text(in, WHAT, row));
    const struct ta_slow_clock slow = is_of_host ? (struct ta_slow_clock){.heat = NAN}
                                                 : slow_clock_of(in, rank.value, excess.value);
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
                "Rank %.0f is slower than the others%s: %s takes it %s, %s (%s) more than the "
                "%s",
                rank.value, ta_slow_clock_because(advice, &slow),
                ta_place_text(advice, in, &value, WHAT),
                ta_advice_number(advice, value.value, TA_UNIT_NS),
                ta_advice_number(advice, behind, TA_UNIT_NS),
                ta_advice_number(advice, excess.value, TA_UNIT_RATIO),
                others == 1 ? "other rank"
                            : ta_advice_printf(advice, "median of the other %d ranks", others)),
            .advice = slow.is_cause ? ta_slow_clock_advice(advice, &slow, rank.value)
                                    : what_to_do(in, advice, &value),
            .details = "Ranks that work on one video wait for it in every step; of independent "
                       "ranks the run ends with the last.",
            .severity = excess.value > 0.25 ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            /* Without a cause it may have more to do. */
            .saving_low_ns = slow.is_cause ? ta_whole(number(in, LOSS, row) / 3) : 0,
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
          .version = "2", .options = options);
