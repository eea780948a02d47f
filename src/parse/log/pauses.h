/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest pauses of a log: time between two lines with a clock that no line accounts for. */
#ifndef TA_PARSE_LOG_PAUSES_H
#define TA_PARSE_LOG_PAUSES_H

#include "parse/log/prefix.h"

struct ta_log_pauses;

/* NULL without memory. */
struct ta_log_pauses *ta_log_pauses_new(void);
void ta_log_pauses_free(struct ta_log_pauses *pauses);

/* Takes a line, with clock or without, after the plugins have seen it: `log` has what they account
 * for since the last line with a clock, and starts anew with each. */
void ta_log_pauses_take(struct ta_log_pauses *pauses, struct ta_log_reading *log,
                        struct ta_slice line);

/* Adds the longest ones in the order of the log.  Only those in which something was loaded or
 * compiled for a good part of the log are figures of it: the others alone are none. */
void ta_log_pauses_add(struct ta_log_pauses *pauses, struct ta_log_reading *log);

#endif
