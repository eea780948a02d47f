/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed communication: collectives that no computation covers, waiting for late ranks included.
 */
#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Exposed share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

struct extremes {
    size_t most, least; /* rows with the largest and the smallest exposed time */
};

static struct extremes find_extremes(const struct ta_table *gpu, size_t column)
{
    struct extremes e = {0, 0};
    for (size_t i = 1; i < gpu->n_rows; i++) {
        const double value = ta_cell_number(ta_table_cell(gpu, i, column), 0);
        if (value > ta_cell_number(ta_table_cell(gpu, e.most, column), 0))
            e.most = i;
        if (value < ta_cell_number(ta_table_cell(gpu, e.least, column), 0))
            e.least = i;
    }
    return e;
}

/* The part of the exposed time of a row that is waiting for the last rank; its table is NULL where
 * that is not known. */
static struct ta_place waiting(const struct ta_report *report, const struct ta_place *exposed)
{
    static const struct ta_old_look look = {.table = "collectives.exposed", .column = "wait_ns"};
    struct ta_place wait = {0};
    if (!ta_old_look_same(report, &look, exposed, &wait) ||
        ta_row_number(wait.table, wait.row, "unknown_ns", 1) > wait.value)
        wait.table = NULL;
    return wait;
}

/* ", 9.31 ms of it waiting for the last rank". */
static const char *wait_text(struct ta_advice *advice, const struct ta_place *wait)
{
    if (!wait->table)
        return "";
    return ta_advice_printf(advice, ", %s of it waiting for the last rank",
                            ta_advice_number(advice, wait->value, TA_UNIT_NS));
}

/* A rank that waits little while the others wait long is the one they wait for. */
static const char *suspect(struct ta_advice *advice, const struct ta_table *gpu, size_t column,
                           struct extremes e)
{
    const double most = ta_cell_number(ta_table_cell(gpu, e.most, column), 0);
    const double least = ta_cell_number(ta_table_cell(gpu, e.least, column), 0);
    const struct ta_cell *rank = ta_table_cell(gpu, e.least, 0);
    if (gpu->n_rows < 2 || least > most / 2 || rank->kind != TA_CELL_INT)
        return "Overlap collectives with computation (asynchronous launch, smaller chunks on an "
               "own stream) or send less.";
    return ta_advice_printf(advice,
                            "Look at rank %lld first: it waits least, so it probably arrives last "
                            "and the others wait for it. Then overlap collectives with "
                            "computation.",
                            (long long)rank->i);
}

/* Overlap does not shorten waiting for a rank that is late. */
static int64_t saving_low(double saving, const struct ta_place *wait)
{
    return ta_whole(fmax(0, saving - (wait->table ? wait->value : 0)));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct ta_table *gpu = ta_report_table(in->report, "gpu_time.by_rank");
    if (!gpu)
        return TA_OK;
    const size_t exposed = ta_table_column(gpu, "comm_exposed_ns");
    const struct extremes e = find_extremes(gpu, exposed);
    const struct ta_cell *most = ta_table_cell(gpu, e.most, exposed);
    const struct ta_cell *least = ta_table_cell(gpu, e.least, exposed);
    const struct ta_cell *rank = ta_table_cell(gpu, e.most, 0);
    const double window =
        ta_cell_number(ta_table_cell(gpu, e.most, ta_table_column(gpu, "window_ns")), 0);
    if (window <= 0 || ta_cell_number(most, 0) / window <= threshold)
        return TA_OK;
    const double share = ta_cell_number(most, 0) / window;
    const struct ta_place worst = {gpu, e.most, exposed, ta_cell_number(most, 0)};
    const struct ta_place wait = waiting(in->report, &worst);
    char part[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], limit[TA_UNIT_TEXT_MAX];
    ta_unit_format(part, share, TA_UNIT_RATIO);
    ta_unit_format(time, ta_cell_number(most, 0), TA_UNIT_NS);
    ta_unit_format(limit, threshold, TA_UNIT_RATIO);
    const struct ta_evidence evidence[] = {
        {"gpu_time.by_rank", "comm_exposed_ns", *rank, *most, TA_UNIT_NS},
        {"gpu_time.by_rank", "comm_exposed_ns", *ta_table_cell(gpu, e.least, 0), *least,
         TA_UNIT_NS},
        wait.table ? ta_place_evidence(&wait) : (struct ta_evidence){0},
    };
    const size_t n_evidence = wait.table ? 3 : gpu->n_rows > 1 ? 2 : 1;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-comm",
            .rule = "exposed_comm",
            .title = ta_advice_printf(advice,
                                      "Communication is exposed for %s of the window of rank "
                                      "%lld (%s%s)",
                                      part, (long long)rank->i, time, wait_text(advice, &wait)),
            .advice = suspect(advice, gpu, exposed, e),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = n_evidence,
            .saving_low_ns = saving_low((share - threshold) * window, &wait),
            .saving_high_ns = most->i,
            .confidence = 0.6,
            .threshold =
                ta_advice_printf(advice, "exposed communication > %s of the window", limit),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, exposed_comm, &ops, .title = "Exposed communication",
          .summary = "Fires when collectives are not covered by computation", .version = "1",
          .options = options);
