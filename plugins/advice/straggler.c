/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that the others wait for in collectives, with what it does meanwhile. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

enum { OTHERS_MOST = 1024 }; /* that a rank is compared with */

static const double SECOND_LEAST = 0.1; /* share from which a second cause is told */

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "Time that it costs the run, over the longest window of a device, from "
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
            (best == SIZE_MAX ||
             ta_row_number(ranks, row, "cost_ns", 0) > ta_row_number(ranks, best, "cost_ns", 0)))
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

/* ---- what is said --------------------------------------------------------------------------- */

/* "step 12" where it is not late from the start; NULL where it is. */
static const char *since(struct ta_advice *advice, const struct ta_place *rank)
{
    const double step = ta_row_number(rank->table, rank->row, "since_step", NAN);
    const double time = ta_row_number(rank->table, rank->row, "since_ns", NAN);
    if (!isnan(step))
        return ta_advice_printf(advice, "step %.0f", step);
    if (!isnan(time))
        return ta_advice_printf(advice, "%s after its first collective",
                                ta_advice_number(advice, time, TA_UNIT_NS));
    return NULL;
}

static const char *what(struct ta_advice *advice, const struct ta_place *blame)
{
    const char *within = ta_old_place_text(advice, blame, "within");
    return ta_advice_printf(advice, "%s%s%s", ta_old_place_text(advice, blame, "name"),
                            *within ? " in " : "", within);
}

/* Which rank, since when, how much; when it comes last tells something where it mostly does. */
static const char *verdict(struct ta_advice *advice, const struct ta_place *cost)
{
    const char *from = since(advice, cost);
    const double last = ta_old_beside(cost, "last_arrivals").value;
    const double all = ta_old_beside(cost, "collectives").value;
    const char *arrivals =
        last > all / 2
            ? ta_advice_printf(advice, ", and was the last to enter %.0f of %.0f", last, all)
            : "";
    return ta_advice_printf(
        advice, "%s%s rank %.0f takes %s longer between collectives than ranks that do the same%s.",
        from ? "Since " : "From the start of the recording", from ? from : "",
        ta_old_beside(cost, "rank").value,
        ta_advice_number(advice, ta_old_beside(cost, "excess").value, TA_UNIT_RATIO), arrivals);
}

static const char *kind_of(const struct ta_place *blame)
{
    return ta_row_reads(blame->table, blame->row, "kind", "gap")    ? "idle time of its device: "
           : ta_row_reads(blame->table, blame->row, "kind", "copy") ? "the copy "
           : ta_row_reads(blame->table, blame->row, "kind", "host") ? "the host, on "
                                                                    : "the kernel ";
}

/* What it does meanwhile: the first of its rows, and the second where it tells something. */
static const char *chain(struct ta_advice *advice, const struct ta_place *blame)
{
    const double rank = ta_old_beside(blame, "rank").value;
    struct ta_place second = {0};
    double all = 0;
    if (!blame->table)
        return "";
    for (size_t row = 0; row < blame->table->n_rows; row++) {
        const double excess = ta_row_number(blame->table, row, "excess_ns", 0);
        if (ta_row_number(blame->table, row, "rank", NAN) != rank)
            continue;
        all += excess;
        if (row > blame->row && !second.table &&
            !ta_row_reads(blame->table, row, "kind", "unexplained"))
            second = (struct ta_place){blame->table, row, blame->column, excess};
    }
    const bool both = second.table && second.value > SECOND_LEAST * all;
    return ta_advice_printf(advice, " Of what makes it late, %s (%s) goes to %s%s%s%s%s%s.",
                            ta_advice_number(advice, blame->value / all, TA_UNIT_RATIO),
                            ta_advice_number(advice, blame->value, TA_UNIT_NS), kind_of(blame),
                            what(advice, blame), both ? ", " : "",
                            both ? ta_advice_number(advice, second.value / all, TA_UNIT_RATIO) : "",
                            both ? ta_advice_printf(advice, " to %s", kind_of(&second)) : "",
                            both ? what(advice, &second) : "");
}

/* What it costs all of them. */
static const char *price(struct ta_advice *advice, const struct ta_place *cost)
{
    const double step = ta_row_number(cost->table, cost->row, "cost_step_ns", NAN);
    return ta_advice_printf(advice, " Without it the run would be %s shorter%s%s. ",
                            ta_advice_number(advice, cost->value, TA_UNIT_NS),
                            isnan(step) ? "" : ", each step ",
                            isnan(step) ? "" : ta_advice_number(advice, step, TA_UNIT_NS));
}

/* ---- what else is known of it --------------------------------------------------------------- */

static double median_of_others(const struct ta_table *table, size_t row, const char *column,
                               const char *same)
{
    double values[OTHERS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows && n < OTHERS_MOST; i++)
        if (i != row &&
            ta_slice_equal(ta_row_text(table, i, same), ta_row_text(table, row, same)) &&
            !isnan(ta_row_number(table, i, column, NAN)))
            values[n++] = ta_row_number(table, i, column, NAN);
    ta_sort_numbers(values, n);
    return ta_quantile(values, n, 0.5);
}

/* Its row of a signal that was sampled; samples of a tool beside the run have no rank, but the
 * number of the device, which tells where no other rank has the same. */
static size_t sampled(const struct ta_report *report, const struct ta_table *samples, double rank,
                      const char *signal)
{
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    double device = NAN;
    size_t same = 0;
    for (size_t row = 0; gpu && row < gpu->n_rows; row++)
        if (ta_row_number(gpu, row, "rank", NAN) == rank)
            device = ta_row_number(gpu, row, "device", NAN);
    for (size_t row = 0; gpu && row < gpu->n_rows; row++)
        same += ta_row_number(gpu, row, "device", NAN) == device;
    for (size_t row = 0; row < samples->n_rows; row++) {
        const double of = ta_row_number(samples, row, "rank", NAN);
        if (ta_row_reads(samples, row, "signal", signal) &&
            (isnan(of) ? same == 1 && ta_row_number(samples, row, "device", NAN) == device
                       : of == rank))
            return row;
    }
    return SIZE_MAX;
}

/* A GPU that is hotter or slower than those of the others. */
static const char *telemetry(const struct ta_report *report, struct ta_advice *advice, double rank)
{
    static const struct {
        const char *name, *before;
        enum ta_unit unit;
        double least; /* of the others, or of them less */
    } signals[] = {{"gpu_clock", "runs at ", TA_UNIT_HERTZ, 0.97},
                   {"gpu_temperature", "is at ", TA_UNIT_CELSIUS, 1.1}};
    const struct ta_table *samples = ta_report_table(report, "telemetry.by_rank");
    const char *said = "";
    for (size_t i = 0; samples && i < sizeof signals / sizeof *signals; i++) {
        const size_t row = sampled(report, samples, rank, signals[i].name);
        if (row == SIZE_MAX)
            continue;
        const double its = ta_row_number(samples, row, "mean", NAN);
        const double others = median_of_others(samples, row, "mean", "signal");
        if (signals[i].least < 1 ? its <= signals[i].least * others
                                 : its >= signals[i].least * others)
            said = ta_advice_printf(advice, "%s%s%s%s, the others %s", said,
                                    *said ? ", and " : " Its GPU ", signals[i].before,
                                    ta_advice_number(advice, its, signals[i].unit),
                                    ta_advice_number(advice, others, signals[i].unit));
    }
    return *said ? ta_advice_printf(advice, "%s.", said) : "";
}

/* A rank whose device computes less than those of the others looks fast, while it is late. */
static const char *pseudo_fast(const struct ta_report *report, struct ta_advice *advice,
                               double rank, const struct ta_place *blame)
{
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    if (!gpu || !blame->table || !ta_row_reads(blame->table, blame->row, "kind", "gap"))
        return "";
    for (size_t row = 0; row < gpu->n_rows; row++) {
        if (ta_row_number(gpu, row, "rank", NAN) != rank)
            continue;
        const double its = ta_row_number(gpu, row, "compute_ns", NAN);
        const double others = median_of_others(gpu, row, "compute_ns", "name");
        if (its < 0.98 * others)
            return ta_advice_printf(
                advice,
                " It only looks fast: its device computes for %s, those of the others for %s.",
                ta_advice_number(advice, its, TA_UNIT_NS),
                ta_advice_number(advice, others, TA_UNIT_NS));
    }
    return "";
}

static const char *what_to_do(const struct ta_report *report, const struct ta_place *blame)
{
    if (!ta_report_table(report, "gpu_time.by_rank"))
        return "Compare what its host does between collectives with the others, function by "
               "function, other processes on its cores, and the sizes of its inputs; a recording "
               "with device activities tells more.";
    if (!blame->table || ta_row_reads(blame->table, blame->row, "kind", "kernel"))
        return "The same kernels take longer there, or it has more to compute: compare clocks, "
               "temperature and power of its GPU with the others (nvidia-smi dmon), other "
               "processes on it, and the sizes of its inputs.";
    if (ta_row_reads(blame->table, blame->row, "kind", "copy"))
        return "Only this rank copies, or its link is slower: look where the copy is made, pin its "
               "host memory, and overlap it with computation.";
    const struct ta_slice name = ta_row_text(blame->table, blame->row, "name");
    if (name.len > 6 && memcmp(name.ptr, "queued", 6) == 0)
        return "Its device had work in its queue that waited for other work: look at what that "
               "stream waits for (events, copies, collectives of other groups) on this rank alone.";
    return "Its host comes late: look at what it does there, such as work for rank 0 alone "
           "(logging, saving, tokenizing), other processes on its cores, its NUMA node, garbage "
           "collection.";
}

/* ---- the rule ------------------------------------------------------------------------------- */

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_old_look windows = {.table = "gpu_time.by_rank", .column = "window_ns"};
    const struct ta_table *ranks = ta_report_table(in->report, "stragglers.by_rank");
    const size_t row = ranks ? worst(ranks) : SIZE_MAX;
    if (row == SIZE_MAX)
        return TA_OK;
    const double window = ta_old_look_most(in->report, &windows, TA_MISSING);
    const struct ta_place cost = {ranks, row, ta_table_column(ranks, "cost_ns"),
                                  ta_row_number(ranks, row, "cost_ns", 0)};
    const double threshold = ta_ctx_option(ctx, SHARE);
    if (window > 0 && cost.value / window <= threshold)
        return TA_OK;
    const struct ta_place rank = ta_old_beside(&cost, "rank");
    const struct ta_place last = ta_old_beside(&cost, "last_arrivals");
    const struct ta_place all = ta_old_beside(&cost, "collectives");
    const struct ta_place excess = ta_old_beside(&cost, "excess");
    const struct ta_place held = ta_old_beside(&cost, "held_up_ns");
    const struct ta_place blame = blame_of(in->report, rank.value);
    const struct ta_evidence evidence[] = {ta_place_evidence(&cost), ta_place_evidence(&excess),
                                           blame.table ? ta_place_evidence(&blame)
                                                       : ta_place_evidence(&rank),
                                           ta_place_evidence(&last), ta_place_evidence(&all)};
    const char *from = since(advice, &cost);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "straggler",
            .rule = "straggler",
            .title = ta_advice_printf(advice, "Rank %.0f holds up the others for %s%s%s%s%s",
                                      rank.value, ta_advice_number(advice, cost.value, TA_UNIT_NS),
                                      from ? ", since " : "", from ? from : "",
                                      blame.table ? ", most on " : "",
                                      blame.table ? what(advice, &blame) : ""),
            .advice = ta_advice_printf(advice, "%s%s%s%s%s%s", verdict(advice, &cost),
                                       chain(advice, &blame),
                                       pseudo_fast(in->report, advice, rank.value, &blame),
                                       telemetry(in->report, advice, rank.value),
                                       price(advice, &cost), what_to_do(in->report, &blame)),
            .severity =
                window > 0 && cost.value / window > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns =
                ta_whole(fmin(cost.value, held.value / 2)), /* if others are late, too */
            .saving_high_ns = ta_whole(cost.value),
            .confidence = 0.9,
            .threshold = ta_advice_printf(
                advice, "late by the verdict on ranks, and costs > %s of the window",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, straggler, &ops, .title = "Straggler",
          .summary = "Fires when one rank makes the others wait in collectives", .version = "1",
          .options = options);
