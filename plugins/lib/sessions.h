/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a figure over the sessions of a dump is over, in words. */
#ifndef TA_LIB_SESSIONS_H
#define TA_LIB_SESSIONS_H

#include <traceanalyze/table.h>

enum { SESSION_WORDS_MAX = 32 };

/* "session", or "request" where all are requests.  `kinds` refers to the column kind of
 * run.sessions, `ranks` to its column rank. */
const char *ta_session_word(const struct ta_refs *in, size_t kinds);

/* "the session", "the request", or "the 2 sessions" where a rank has several.  Returns `words`. */
const char *ta_session_words(const struct ta_refs *in, size_t ranks, size_t kinds,
                             char words[SESSION_WORDS_MAX]);

#endif
