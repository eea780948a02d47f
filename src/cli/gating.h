/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates of a call: what the options say, judging, and the exit code. */
#ifndef TA_CLI_GATING_H
#define TA_CLI_GATING_H

#include "compare/gate/gates.h"

struct ta_cli;
struct ta_render_options;
struct ta_sink;

/* Zero-initialize to start. */
struct ta_gating {
    struct ta_gates gates;
    struct ta_judging judging;
    struct ta_noise *noise;
    struct ta_gates_outcome outcome;
};

/* Reads the expressions and the noise floor; a mistake in one ends the call before any trace is
 * read. */
enum ta_status ta_gating_prepare(struct ta_cli *cli) TA_MUST_CHECK;

/* Judges the report, to which it adds what became of the gates. */
enum ta_status ta_gating_judge(struct ta_cli *cli, struct ta_report *report) TA_MUST_CHECK;

/* Places of files beside the products, written and not yet in place. */
enum { TA_EXTRAS_MAX = 4 };
struct ta_extras {
    struct ta_sink *sinks[TA_EXTRAS_MAX];
    size_t n;
};

/* Writes what --junit, --bench-json, --bmf-json and --save-baseline ask for; whatever it returns,
 * ta_extras_free() ends it. */
enum ta_status ta_gating_write(struct ta_cli *cli, const struct ta_report *report,
                               const struct ta_render_options *options,
                               struct ta_extras *extras) TA_MUST_CHECK;
void ta_extras_free(struct ta_extras *extras);

/* Says which gates did not pass: on standard error, in the summary of --summary-md, in annotations.
 */
enum ta_status ta_gating_conclude(struct ta_cli *cli, const struct ta_report *report,
                                  const struct ta_render_options *options) TA_MUST_CHECK;

void ta_gating_free(struct ta_gating *gating);

#endif
