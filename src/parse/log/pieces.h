/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of a line: numbers with their units, clocks, what follows a text. */
#ifndef TA_PARSE_LOG_PIECES_H
#define TA_PARSE_LOG_PIECES_H

#include "traceanalyze/base.h"

/* What follows the first place of a text in a line; without it `ptr` is NULL. */
struct ta_slice ta_log_after(struct ta_slice line, const char *text);

/* Whether a line is of a text for people, Markdown or sentences that tell and compare, rather than
 * what a program prints of itself: a figure in it may be of anything. */
bool ta_log_is_prose(struct ta_slice text);

/* A number with its unit at the start of a text, "30.29 GiB", "9214.30 MB", "512MiB", as bytes;
 * units of 1000 are what programs call so, which mean 1024 nearly always, so all are of 1024.
 * Moves `*text` past it.  TA_MISSING, and nothing is moved, without one. */
int64_t ta_log_bytes(struct ta_slice *text);

/* A time, "641.68 seconds", "2.41s", "48 ms", in ns, likewise. */
int64_t ta_log_time(struct ta_slice *text);

/* "01:02:03", "04:02" or "1 day, 1:02:03" as ns, likewise. */
int64_t ta_log_clock(struct ta_slice *text);

/* A whole number, or one with decimals; NAN or TA_MISSING without one. */
int64_t ta_log_integer(struct ta_slice *text);
double ta_log_number(struct ta_slice *text);

#endif
