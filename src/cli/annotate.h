/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that GitHub shows next to a change.
 *
 * A job's log is scanned for commands, "::error::…" at the start of a line after blanks and
 * "##[error]…" anywhere, and what this program prints holds names from traces. So within such a job
 * commands are stopped first, by a word that nobody can know, and taken up again for our own. */
#ifndef TA_CLI_ANNOTATE_H
#define TA_CLI_ANNOTATE_H

#include "traceanalyze/output.h"

struct ta_cli;

/* Stops commands when this call is to annotate. */
enum ta_status ta_annotate_begin(struct ta_cli *cli) TA_MUST_CHECK;
/* Prints a line for each gate that did not pass. */
enum ta_status ta_annotate(struct ta_cli *cli) TA_MUST_CHECK;
/* Whether a gate came to that outcome. */
bool ta_gate_is(const struct ta_table *gates, size_t row, const char *outcome);
/* Takes commands up again, whatever happened in between. */
void ta_annotate_end(struct ta_cli *cli);

/* The message of a line that GitHub acts on, or with `is_property` the value of one of its
 * properties: no text can end the line, the property or the command. */
void ta_put_github(struct ta_file *out, struct ta_slice text, bool is_property);

#endif
