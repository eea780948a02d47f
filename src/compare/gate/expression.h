/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on takes: METRIC[@SELECTOR] OP VALUE[%|unit], or a word.
 *
 *     regression>5%   step_time.p50>3%   total@op:attn*>10%   fps<-3%     against a baseline
 *     fps<10   peak_memory>60GiB   straggler_skew>15%   finding>=high     of the run itself
 *     inconclusive   incomplete
 *
 * A percentage is a change against the baseline, but of a figure that is a share itself. */
#ifndef TA_GATE_EXPRESSION_H
#define TA_GATE_EXPRESSION_H

#include "traceanalyze/report.h"

struct ta_ctx;

enum ta_gate_kind {
    TA_GATE_REGRESSION, /* of the figures that tell how long a run takes */
    TA_GATE_FIGURE,     /* one figure */
    TA_GATE_NAMES,      /* names of a table: operators, kernels, stages */
    TA_GATE_FINDING,
    TA_GATE_INCONCLUSIVE,
    TA_GATE_INCOMPLETE
};

enum ta_gate_operator { TA_GATE_ABOVE, TA_GATE_FROM, TA_GATE_BELOW, TA_GATE_TO };

/* What the value is of. */
enum ta_gate_scale { TA_GATE_PLAIN, TA_GATE_PERCENT, TA_GATE_UNIT };

struct ta_gate {
    const char *text; /* as given */
    enum ta_gate_kind kind;
    struct ta_slice metric;  /* of a figure, with its basis; of names "total", "mean" or "calls" */
    struct ta_slice names;   /* "op", "kernel", "stage" or "copy" */
    struct ta_slice pattern; /* of names: "*" any text, "?" any byte */
    enum ta_gate_operator operator;
    enum ta_gate_scale scale;
    double value;      /* 0.05 for 5 %; ns, bytes … with a unit */
    enum ta_unit unit; /* with TA_GATE_UNIT */
    enum ta_severity severity;
};

/* Reads one expression, whose text the gate keeps.  TA_ERR_USAGE names the column, what is expected
 * there, and what was probably meant. */
enum ta_status ta_gate_read(struct ta_ctx *ctx, const char *text,
                            struct ta_gate *gate) TA_MUST_CHECK;

/* Whether a number does what the gate fails on. */
bool ta_gate_trips(const struct ta_gate *gate, double number);

/* Whether a name fits the pattern as a whole. */
bool ta_gate_fits(struct ta_slice pattern, struct ta_slice name);

/* Refuses a gate because of an error at a place of its text. */
enum ta_status ta_gate_refuse(struct ta_ctx *ctx, const char *text, const char *place,
                              const char *format, ...) TA_PRINTF(4, 5);

#endif
