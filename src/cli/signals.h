/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What signals mean: the first asks the run to stop; the next, or one second, ends it. */
#ifndef TA_CLI_SIGNALS_H
#define TA_CLI_SIGNALS_H

struct ta_run;

/* `run` is asked to stop, until ta_signals_release().  *json, which must live as long as the
 * process, says whether messages are JSON. */
void ta_signals_install(struct ta_run *run, const int *json);
void ta_signals_release(void);

/* Gives standard input, output and error something to stand for when they are closed, so that no
 * other file gets their number: reading or writing them fails. */
void ta_standard_files_open(void);

#endif
