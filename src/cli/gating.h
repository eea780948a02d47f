/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What became of the gates of a call: files for other services, and what is said. */
#ifndef TA_CLI_GATING_H
#define TA_CLI_GATING_H

#include "traceanalyze/output.h"

struct ta_cli;

/* Places of files that are written with the products, and not yet in place. */
enum { TA_EXTRAS_MAX = 4 };
struct ta_extras {
    struct ta_sink *sinks[TA_EXTRAS_MAX];
    size_t n;
};

/* Writes what --junit, --bench-json, --bmf-json and --save-baseline ask for; whatever it returns,
 * ta_extras_free() ends it. */
enum ta_status ta_gating_write(struct ta_cli *cli, struct ta_extras *extras) TA_MUST_CHECK;
void ta_extras_free(struct ta_extras *extras);

/* Says which gates did not pass: on standard error, in the summary of --summary-md, in annotations.
 */
enum ta_status ta_gating_conclude(struct ta_cli *cli) TA_MUST_CHECK;

#endif
