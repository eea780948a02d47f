/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on input by name, as --limit sets them. */
#ifndef TA_BASE_LIMITS_H
#define TA_BASE_LIMITS_H

#include "traceanalyze/base.h"

/* Sets a limit by name and size text ("64MiB", "250"). */
enum ta_status ta_limits_set(struct ta_ctx *ctx, const char *assignment) TA_MUST_CHECK;
/* Name of a limit, what it bounds and what happens there, and its default, for --help. */
const char *ta_limit_name(enum ta_limit limit);
const char *ta_limit_meaning(enum ta_limit limit);
uint64_t ta_limit_default(enum ta_limit limit);
enum { TA_LIMIT_TEXT_MAX = 24 };
const char *ta_limit_default_text(enum ta_limit limit, char text[TA_LIMIT_TEXT_MAX]);

/* Reads "64", "64MiB", "1.5GiB", "2k": bytes, powers of 1024; false when it is none. */
bool ta_size_parse(const char *text, uint64_t *size);

#endif
