/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/sessions.h"

#include <stdio.h>

/* Sessions of the rank with most of them. */
static size_t count_sessions(const struct ta_refs *in, size_t ranks)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, ranks); i++) {
        const bool is_same = i > 0 && ta_ref_integer(in, ranks, i) != TA_MISSING &&
                             ta_ref_integer(in, ranks, i) == ta_ref_integer(in, ranks, i - 1);
        n = is_same ? n + 1 : 1;
        most = n > most ? n : most;
    }
    return most;
}

const char *ta_session_word(const struct ta_refs *in, size_t kinds)
{
    const size_t n = ta_ref_rows(in, kinds);
    size_t requests = 0;
    while (requests < n && ta_ref_reads(in, kinds, requests, "request"))
        requests++;
    return n > 0 && requests == n ? "request" : "session";
}

const char *ta_session_words(const struct ta_refs *in, size_t ranks, size_t kinds,
                             char words[SESSION_WORDS_MAX])
{
    const size_t n = count_sessions(in, ranks);
    const char *word = ta_session_word(in, kinds);
    if (n > 1)
        snprintf(words, SESSION_WORDS_MAX, "the %zu %ss", n, word);
    else
        snprintf(words, SESSION_WORDS_MAX, "the %s", word);
    return words;
}

const char *ta_share_words(const struct ta_refs *in, size_t share_of, size_t row, size_t ranks,
                           size_t kinds, char words[SESSION_WORDS_MAX])
{
    static const struct {
        const char *of, *words;
    } known[] = {{"sum", "the time in all stages"},
                 {"scope", "its scope"},
                 {"outer scope", "the time of the engine"},
                 {"parent", "the stage around it"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ta_ref_reads(in, share_of, row, known[i].of))
            return known[i].words;
    return ta_ref_reads(in, share_of, row, "session") ? ta_session_words(in, ranks, kinds, words)
                                                      : "the run";
}
