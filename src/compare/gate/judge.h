/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One gate against a report. */
#ifndef TA_GATE_JUDGE_H
#define TA_GATE_JUDGE_H

#include "compare/gate/gates.h"

enum gate_outcome {
    GATE_PASSED,
    GATE_FAILED,
    GATE_INCONCLUSIVE, /* beyond the limit, and not sure; or nothing to judge a change by */
    GATE_ABSENT        /* the report has no such figure or name */
};

/* What a gate was judged by: of several figures or names the one that is furthest gone. */
struct verdict {
    enum gate_outcome outcome;
    const char *what;         /* in words */
    double base, new;         /* NaN where there is none */
    double change, low, high; /* relative change of it, and its interval; NaN where there is none */
    double beyond;            /* its distance past the limit, to compare with others */
    enum ta_unit unit;
    const char *reason;
};

struct gate_job {
    struct ta_ctx *ctx;
    const struct ta_registry *registry;
    const struct ta_gates *gates;
    const struct ta_report *report;
    struct ta_arena *arena;
    bool inconclusive; /* some gate before was */
};

/* A change that a limit is set on. */
struct gate_change {
    double base, new;
    enum ta_unit unit;
    bool worse;    /* the limit is on the change for the worse, and lower is better */
    bool rises;    /* higher is better: with `worse`, a fall is one */
    bool is_exact; /* a count: it needs no runs to be sure */
    struct ta_evidence_of_change evidence;
};

struct verdict gate_judge_change(const struct gate_job *job, const struct ta_gate *gate,
                                 const struct gate_change *change);
/* Of the value itself. */
struct verdict gate_judge_value(const struct ta_gate *gate, double value, enum ta_unit unit);
/* Takes the verdict that is worse into `worst`. */
void gate_take_worse(struct verdict *worst, const struct verdict *verdict);

/* One figure, and the figures that tell how long a run takes (figure.c); names of a table
 * (names.c).  TA_ERR_USAGE when the gate does not suit the report. */
enum ta_status gate_judge_figure(const struct gate_job *job, const struct ta_gate *gate,
                                 struct verdict *verdict) TA_MUST_CHECK;
enum ta_status gate_judge_regression(const struct gate_job *job, const struct ta_gate *gate,
                                     struct verdict *verdict) TA_MUST_CHECK;
enum ta_status gate_judge_names(const struct gate_job *job, const struct ta_gate *gate,
                                struct verdict *verdict) TA_MUST_CHECK;

/* Whether the report compares runs. */
bool gate_has_baseline(const struct gate_job *job);
/* Whether some figure that measures how long the run takes could not be judged. */
bool gate_is_any_inconclusive(const struct gate_job *job);

/* Whether the limit of a gate can be compared with values of a unit; refuses it otherwise. */
enum ta_status gate_check_limit(const struct gate_job *job, const struct ta_gate *gate,
                                enum ta_unit unit) TA_MUST_CHECK;
/* Whether the limit is on a change against the baseline. */
bool gate_is_relative(const struct ta_gate *gate, enum ta_unit unit);

#endif
