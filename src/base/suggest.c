/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The known word that a mistyped one is closest to. */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

/* Longer words are not compared; no name of ours is half as long. */
enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbors, each
 * counted as one, no part edited twice.  Lengths are at most WORD_MAX. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void ta_suggest_offer(struct ta_suggest *suggest, const char *candidate)
{
    size_t n = strlen(suggest->word), m = strlen(candidate);
    if (n == 0 || n > WORD_MAX || m > WORD_MAX)
        return;
    size_t distance = edit_distance(suggest->word, n, candidate, m);
    /* A beginning of at least three letters counts as a typo of one letter. */
    if (n >= 3 && n < m && memcmp(suggest->word, candidate, n) == 0)
        distance = 1;
    size_t tolerated = n < 4 ? 1 : n / 3 + 1;
    if (distance > tolerated || distance >= m || (suggest->best && distance >= suggest->distance))
        return;
    suggest->best = candidate;
    suggest->distance = distance;
}

const char *ta_suggest_text(const struct ta_suggest *suggest, char text[TA_SUGGEST_TEXT_MAX])
{
    if (!suggest->best)
        return "";
    snprintf(text, TA_SUGGEST_TEXT_MAX, "; did you mean '%s'?", suggest->best);
    return text;
}
