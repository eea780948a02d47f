/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Did you mean": the known word that a mistyped one is closest to. */
#ifndef TA_BASE_SUGGEST_H
#define TA_BASE_SUGGEST_H

#include <stddef.h>

/* Compares candidates one after the other; zero-initialize but for `word`. */
struct ta_suggest {
    const char *word;
    const char *best; /* NULL when nothing offered was close */
    size_t distance;
};

/* Offers one candidate, which must outlive the comparison. */
void ta_suggest_offer(struct ta_suggest *suggest, const char *candidate);

/* Room for any text of ta_suggest_text(), terminator included. */
#define TA_SUGGEST_TEXT_MAX 96

/* "; did you mean 'report'?", or "" when nothing was close: the end of an error message. */
const char *ta_suggest_text(const struct ta_suggest *suggest, char text[TA_SUGGEST_TEXT_MAX]);

#endif
