/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a figure over the sessions of a dump is over, in words. */
#ifndef TA_LIB_SESSIONS_H
#define TA_LIB_SESSIONS_H

#include <traceanalyze/table.h>

enum { SESSION_WORDS_MAX = 32 };

/* "the session", or "the 2 sessions" where a rank has several.  `ranks` refers to the column rank
 * of run.sessions.  Returns `words`. */
const char *ta_session_words(const struct ta_refs *in, size_t ranks, char words[SESSION_WORDS_MAX]);

#endif
