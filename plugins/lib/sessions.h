/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a figure over the sessions of a dump, or a share of a stage, is of, in words. */
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

/* "the session", "the time in all stages", "the time of the engine", "the run": what the share of a
 * stage is of, by the column share_of of a table of stages.  Returns `words`, or a constant. */
const char *ta_share_words(const struct ta_refs *in, size_t share_of, size_t row, size_t ranks,
                           size_t kinds, char words[SESSION_WORDS_MAX]);

#endif
