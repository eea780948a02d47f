/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that the others wait for in collectives, with what it does meanwhile. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "Time by which it holds up the others, over the longest window of a device, from "
               "which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
              "The same share above which it is severe"},
    TA_OPTIONS_END,
};

/* Rows of ranks that are called late. */
static bool is_late(const struct ta_table *ranks, size_t row)
{
    const size_t at = ta_table_column(ranks, "is_late");
    const struct ta_cell *cell = at == SIZE_MAX ? NULL : ta_table_cell(ranks, row, at);
    return cell && cell->kind == TA_CELL_BOOL && cell->b;
}

static size_t worst(const struct ta_table *ranks)
{
    size_t best = SIZE_MAX;
    for (size_t row = 0; row < ranks->n_rows; row++)
        if (is_late(ranks, row) &&
            (best == SIZE_MAX || ta_row_number(ranks, row, "held_up_ns", 0) >
                                     ta_row_number(ranks, best, "held_up_ns", 0)))
            best = row;
    return best;
}

/* The largest row of the blame that is about a rank; rows come by their excess. */
static struct ta_place blame_of(const struct ta_report *report, double rank)
{
    const struct ta_table *blame = ta_report_table(report, "stragglers.blame");
    for (size_t row = 0; blame && row < blame->n_rows; row++)
        if (ta_row_number(blame, row, "rank", NAN) == rank &&
            !ta_row_reads(blame, row, "kind", "unexplained"))
            return (struct ta_place){blame, row, ta_table_column(blame, "excess_ns"),
                                     ta_row_number(blame, row, "excess_ns", 0)};
    return (struct ta_place){0};
}

/* ", since step 12" where it is not late from the start. */
static const char *since(struct ta_advice *advice, const struct ta_place *rank)
{
    const double step = ta_row_number(rank->table, rank->row, "since_step", NAN);
    const double time = ta_row_number(rank->table, rank->row, "since_ns", NAN);
    if (!isnan(step))
        return ta_advice_printf(advice, ", since step %.0f", step);
    if (!isnan(time))
        return ta_advice_printf(advice, ", since %s after its first collective",
                                ta_advice_number(advice, time, TA_UNIT_NS));
    return "";
}

static const char *cause(struct ta_advice *advice, const struct ta_place *blame)
{
    if (!blame->table)
        return "";
    const char *within = ta_place_text(advice, blame, "within");
    return ta_advice_printf(advice, ", mostly on %s%s%s (%s)", ta_place_text(advice, blame, "name"),
                            *within ? " in " : "", within,
                            ta_advice_number(advice, blame->value, TA_UNIT_NS));
}

static const char *what_to_do(const struct ta_place *blame)
{
    if (!blame->table || ta_row_reads(blame->table, blame->row, "kind", "kernel"))
        return "The same kernels take longer there, or it has more to compute: compare clocks, "
               "temperature and power of its GPU with the others (nvidia-smi dmon), other "
               "processes "
               "on it, and the sizes of its inputs.";
    if (ta_row_reads(blame->table, blame->row, "kind", "copy"))
        return "Only this rank copies, or its link is slower: look where the copy is made, pin its "
               "host memory, and overlap it with computation.";
    const struct ta_slice name = ta_row_text(blame->table, blame->row, "name");
    if (name.len > 6 && memcmp(name.ptr, "queued", 6) == 0)
        return "Its device had work in its queue that waited for other work: look at what that "
               "stream waits for (events, copies, collectives of other groups) on this rank alone.";
    return "Its device computes no longer than the others; its host comes late. Look at what the "
           "host does there: work for rank 0 alone (logging, saving, tokenizing), other processes "
           "on "
           "its cores, its NUMA node, garbage collection.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    static const struct ta_look windows = {.table = "gpu_time.by_rank", .column = "window_ns"};
    const struct ta_table *ranks = ta_report_table(report, "stragglers.by_rank");
    const size_t row = ranks ? worst(ranks) : SIZE_MAX;
    if (row == SIZE_MAX)
        return TA_OK;
    const double window = ta_look_most(report, &windows, TA_MISSING);
    const struct ta_place held = {ranks, row, ta_table_column(ranks, "held_up_ns"),
                                  ta_row_number(ranks, row, "held_up_ns", 0)};
    const double threshold = ta_ctx_option(ctx, SHARE);
    if (window > 0 && held.value / window <= threshold)
        return TA_OK;
    const struct ta_place rank = ta_place_beside(&held, "rank");
    const struct ta_place last = ta_place_beside(&held, "last_arrivals");
    const struct ta_place all = ta_place_beside(&held, "collectives");
    const struct ta_place excess = ta_place_beside(&held, "excess");
    const struct ta_place blame = blame_of(report, rank.value);
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&held), ta_place_evidence(&last),
        blame.table ? ta_place_evidence(&blame) : ta_place_evidence(&rank),
        ta_place_evidence(&all), ta_place_evidence(&excess)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "straggler",
            .rule = "straggler",
            .title = ta_advice_printf(
                advice,
                "Rank %.0f holds up the others for %s: last to %.0f of %.0f collectives%s%s",
                rank.value, ta_advice_number(advice, held.value, TA_UNIT_NS), last.value, all.value,
                cause(advice, &blame), since(advice, &held)),
            .advice = what_to_do(&blame),
            .severity =
                window > 0 && held.value / window > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = (int64_t)(held.value / 2), /* if part of it is waited for elsewhere */
            .saving_high_ns = (int64_t)held.value,
            .confidence = 0.9,
            .threshold = ta_advice_printf(
                advice,
                "late by the verdict on ranks, and holds up > %s of the window",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, straggler, &ops, .title = "Straggler",
          .summary = "Fires when one rank makes the others wait in collectives", .version = "1",
          .options = options);
