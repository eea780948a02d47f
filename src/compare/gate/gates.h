/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates: what a report has to hold for a job to go on.
 *
 * They are judged by the tables of the report alone, of a comparison or of one run, and their
 * outcome is a table of it, so that every output shows it. */
#ifndef TA_GATE_GATES_H
#define TA_GATE_GATES_H

#include "compare/evidence.h"
#include "compare/gate/expression.h"
#include "traceanalyze/run.h"

struct ta_part;
struct ta_registry;

/* When a change beyond a limit fails a gate. */
enum ta_gate_mode {
    TA_MODE_CONFIDENT, /* it is beyond the limit, and its interval excludes zero */
    TA_MODE_STRICT,    /* the whole interval is beyond the limit */
    TA_MODE_POINT      /* it is beyond the limit */
};

struct ta_gates {
    struct ta_gate *at;
    size_t n;
    enum ta_gate_mode mode;
    const struct ta_judging *judging;
    bool incomplete; /* data was lost */
};

/* Judges a report and adds the section "gates" with gates.results.  TA_ERR_USAGE for a figure that
 * there is not, with what was probably meant, and for a limit that does not suit it. */
enum ta_status ta_gates_judge(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_gates *gates, struct ta_report *report,
                              struct ta_gates_outcome *outcome) TA_MUST_CHECK;

/* What gates declare: the table of what became of them, and what they read of a report. */
extern const struct ta_part ta_gates_part, ta_gate_figures_part, ta_gate_names_part;

#endif
