/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing one line of the log: the form of every message for the user. */
#ifndef TA_BASE_LOG_H
#define TA_BASE_LOG_H

#include "base/context.h"

/* Writes "traceanalyze: warning [truncated]: message" or, with --log-format=json, an object with
 * the same parts.  `code` is a constant ("TA-E003", "truncated") or NULL.  Escapes the message
 * and ends the line; one call is one write, and needs no memory. */
void ta_log_line(const struct ta_shared *shared, enum ta_log_level level, const char *code,
                 const char *message);

#endif
