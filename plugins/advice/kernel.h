/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules on kernels share: savings of one rank, and finding a kernel by its name. */
#ifndef TA_ADVICE_KERNEL_H
#define TA_ADVICE_KERNEL_H

#include <traceanalyze/rule.h>

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

/* The row in which a column of names has this one; SIZE_MAX without. */
static inline size_t kernel_row(const struct ta_refs *in, size_t names, struct ta_slice name)
{
    for (size_t row = 0; row < ta_ref_rows(in, names); row++)
        if (ta_slice_equal(ta_ref_text(in, names, row), name))
            return row;
    return SIZE_MAX;
}

#endif
