/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an analysis or advice plugin is: everything it may include comes with this header. */
#ifndef TRACEANALYZE_ANALYSIS_H
#define TRACEANALYZE_ANALYSIS_H

#include "base.h"
#include "chart.h"
#include "model.h"
#include "partial.h"
#include "plugin.h"
#include "report.h"
#include "table.h"

TA_BEGIN_DECLS

/* Tables of the model that are only kept when some analysis asks. */
#define TA_NEED_FLOWS UINT32_C(1)
#define TA_NEED_COUNTERS UINT32_C(2)
#define TA_NEED_INSTANTS UINT32_C(4)
#define TA_NEED_ASYNCS UINT32_C(8)
#define TA_NEED_HOST_WORK UINT32_C(16) /* what host spans do, ta_spans.work */
#define TA_NEED_BACKWARD UINT32_C(32)  /* of the flows those that ta_trace_backward() asks for */

/* What a sample of a file is taken from, see samples_op_args: some 40,000 operators. */
#define TA_SAMPLED_BYTES (UINT64_C(32) << 20)

struct ta_analysis_ops {
    uint32_t needs;                        /* TA_NEED_… */
    const char *const *needs_args;         /* event arguments to keep, NULL-terminated, or NULL */
    const char *section;                   /* id of the section, analyze/sections.c */
    int place;                             /* in it: items of lower places come first */
    const struct ta_partial_def *partials; /* ends with a NULL name; NULL when none */

    /* Turns one trace into partials, out[i] for partials[i].  Runs on any thread, many traces at
     * a time: no state outside `out`.  NULL when there is nothing to map. */
    enum ta_status (*map)(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out);

    /* Turns merged partials into rows of `tables`, and other items.  `in` are the references of
     * `reads`, resolved in the results of the analyses before this one. */
    enum ta_status (*finish)(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out);

    const struct ta_bound *bounds; /* of cells of `partials`; ends with TA_BOUNDS_END, or NULL */

    /* finish() makes everything of the tables that it reads, so it is also called where reports of
     * several parts of a run are joined, whose traces are gone: all partials are empty then. */
    bool of_tables;

    /* Event arguments of operators of which a sample is enough: only operators in the first
     * TA_SAMPLED_BYTES of a file's text keep them, whichever thread reads it, and all operators do
     * where another analysis names the argument in needs_args. NULL for none. */
    const char *const *samples_op_args;

    /* The tables that finish() fills, in the order of the report; ends with NULL, or NULL. */
    const struct ta_table_def *const *tables;

    /* What finish() reads of other analyses, which run before it; TA_READS(). */
    const struct ta_ref *reads;
    size_t n_reads;
    bool reads_ranks; /* and every table in which ranks are compared, whosever it is */

    /* finish() reads what is known across ranks, `in->ranks`: matched collectives, clocks and late
     * ranks, a structure that built-in analyses know (src/ranks/ranks.h). */
    bool needs_ranks;
    bool needs_steps; /* and the marked steps of all ranks, `in->steps` (src/ranks/steps.h) */

    /* The scalars that finish() sets; TA_SCALARS(). */
    const struct ta_scalar_def *scalars;
    size_t n_scalars;
};

/* ---- advice ---------------------------------------------------------------------------- */

/* Where a rule puts its findings; the core ranks them by confidence × mean saving. */
struct ta_advice;

/* Adds a finding; without evidence it is refused (a bug of the rule, TA_ERR_INTERNAL later). */
TA_API void ta_advise(struct ta_advice *advice, const struct ta_finding *finding);

/* Text that lives as long as the advice. */
TA_API const char *ta_advice_printf(struct ta_advice *advice, const char *format, ...)
    TA_PRINTF(2, 3);

struct ta_advice_ops {
    /* Looks at the tables of a report; absent tables mean the rule does not apply.  `in` are the
     * references of `reads`, resolved in it. */
    enum ta_status (*advise)(struct ta_ctx *ctx, const struct ta_refs *in,
                             struct ta_advice *advice);

    /* TA_READS(); the first is of what the rule is about, see the table findings.rules. */
    const struct ta_ref *reads;
    size_t n_reads;
};

TA_END_DECLS

#endif
