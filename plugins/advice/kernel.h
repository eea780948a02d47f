/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules on kernels share: sums over tables, shares of the time of all kernels, and the
 * rule on kernels that could run several times faster. */
#ifndef TA_ADVICE_KERNEL_H
#define TA_ADVICE_KERNEL_H

#include <traceanalyze/rule.h>

/* Sum of the durations of all kernels of all ranks; 0 without kernels. */
static inline double kernel_time(const struct ta_report *report)
{
    const struct ta_table *classes = ta_report_table(report, "kernels.by_class");
    double sum = 0;
    for (size_t i = 0; classes && i < classes->n_rows; i++)
        sum += ta_row_number(classes, i, "total_ns", 0);
    return sum;
}

/* Tables of kernels are sums over ranks that run side by side: a saving is that of one rank. */
static inline int64_t kernel_saving(const struct ta_report *report, double all_ranks_ns)
{
    const size_t ranks = ta_report_run(report)->n_ranks;
    return ta_whole(all_ranks_ns / (double)(ranks ? ranks : 1));
}

/* ", all 4 ranks; the saving is that of one" for a sum beside such a saving; "" for one rank. */
static inline const char *kernel_all_ranks(const struct ta_report *report, struct ta_advice *advice)
{
    const size_t ranks = ta_report_run(report)->n_ranks;
    return ranks < 2
               ? ""
               : ta_advice_printf(advice, ", all %zu ranks; the saving is that of one", ranks);
}

static inline struct ta_evidence kernel_evidence(const struct ta_table *table, size_t row,
                                                 const char *column)
{
    const struct ta_place place = {
        .table = table, .row = row, .column = ta_table_column(table, column)};
    return ta_place_evidence(&place);
}

/* The row of a table whose column `name` reads so; SIZE_MAX without. */
static inline size_t kernel_row(const struct ta_table *table, struct ta_slice name)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_slice_equal(ta_row_text(table, i, "name"), name))
            return i;
    return SIZE_MAX;
}

/* ---- kernels that could run several times faster ----------------------------------------- */

/* Options of such a rule. */
enum { KERNEL_THRESHOLD, KERNEL_FACTOR_LOW, KERNEL_FACTOR_HIGH };

/* What the kernels of such a rule could gain. */
struct kernel_gain {
    double settled;   /* time of those that could gain nothing, which do not make the rule fire */
    double low, high; /* saving, all ranks */
    double confidence;
    const char *remark; /* behind the advice; "" for none */
};

struct kernel_rule {
    const char *table, *column, *text; /* the rows whose text column reads so; all have total_ns */
    const char *share;                 /* column cited beside total_ns */
    const char *finding, *rule;
    const char *what;      /* title: what, " 12 % of the kernel time (3 s)" */
    const char *predicate; /* threshold: predicate, " > 5 % of the kernel time" */
    const char *advice;
    /* Better than by the factors, which `gain` holds when it is called; may be NULL. */
    void (*estimate)(struct ta_ctx *ctx, const struct ta_report *report, struct ta_advice *advice,
                     double time, struct kernel_gain *gain);
};

/* Time of the kernels that a rule is about, and the row with most of it; 0 without any. */
static inline double kernel_rule_time(const struct ta_table *table, const struct kernel_rule *rule,
                                      size_t *most)
{
    double sum = 0, largest = -1;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (!ta_row_reads(table, i, rule->column, rule->text))
            continue;
        const double time = ta_row_number(table, i, "total_ns", 0);
        sum += time;
        if (time > largest) {
            largest = time;
            *most = i;
        }
    }
    return sum;
}

/* Gives the finding when these kernels take more than the threshold of the time of all. */
static inline void kernel_advise(struct ta_ctx *ctx, const struct ta_report *report,
                                 struct ta_advice *advice, const struct kernel_rule *rule)
{
    const double threshold = ta_ctx_option(ctx, KERNEL_THRESHOLD), all = kernel_time(report);
    const struct ta_table *table = ta_report_table(report, rule->table);
    size_t row = 0;
    const double time = kernel_rule_time(table, rule, &row);
    struct kernel_gain gain = {
        .low = time * (1 - 1 / ta_ctx_option(ctx, KERNEL_FACTOR_LOW)),
        .high = time * (1 - 1 / ta_ctx_option(ctx, KERNEL_FACTOR_HIGH)),
        .confidence = 0.4,
        .remark = "",
    };
    if (rule->estimate)
        rule->estimate(ctx, report, advice, time, &gain);
    if (all <= 0 || (time - gain.settled) / all <= threshold)
        return;
    const struct ta_evidence evidence[] = {kernel_evidence(table, row, "total_ns"),
                                           kernel_evidence(table, row, rule->share)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = rule->finding,
            .rule = rule->rule,
            .title = ta_advice_printf(advice, "%s %s of the kernel time (%s%s)", rule->what,
                                      ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                                      ta_advice_number(advice, time, TA_UNIT_NS),
                                      kernel_all_ranks(report, advice)),
            .advice = ta_advice_printf(advice, "%s%s", rule->advice, gain.remark),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = kernel_saving(report, gain.low),
            .saving_high_ns = kernel_saving(report, gain.high),
            .confidence = gain.confidence,
            .threshold = ta_advice_printf(advice, "%s > %s of the kernel time", rule->predicate,
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

#endif
