/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hirschberg's algorithm: the best way through the middle row is known from the scores of both
 * halves, which need a row of memory each; then both halves are aligned by themselves. */
#include "diff/align.h"

#include <stdlib.h>

struct alignment {
    diff_fit *fit;
    const void *user;
    size_t *other;
    long *forward, *backward; /* a row of scores each */
};

static long larger(long a, long b)
{
    return a > b ? a : b;
}

/* Scores of rows [i, end) against every beginning of columns [k, last), from left to right. */
static void score_forward(const struct alignment *a, size_t i, size_t end, size_t k, size_t last)
{
    long *row = a->forward;
    for (size_t c = 0; c <= last - k; c++)
        row[c] = 0;
    for (; i < end; i++) {
        long corner = row[0];
        for (size_t c = 1; c <= last - k; c++) {
            const int fit = a->fit(a->user, i, k + c - 1);
            const long best = larger(larger(row[c], row[c - 1]), fit > 0 ? corner + fit : 0);
            corner = row[c];
            row[c] = best;
        }
    }
}

/* The same against every end of the columns, from right to left. */
static void score_backward(const struct alignment *a, size_t i, size_t end, size_t k, size_t last)
{
    long *row = a->backward;
    for (size_t c = 0; c <= last - k; c++)
        row[c] = 0;
    while (end-- > i) {
        long corner = row[last - k];
        for (size_t c = last - k; c-- > 0;) {
            const int fit = a->fit(a->user, end, k + c);
            const long best = larger(larger(row[c], row[c + 1]), fit > 0 ? corner + fit : 0);
            corner = row[c];
            row[c] = best;
        }
    }
}

static void align_one(const struct alignment *a, size_t i, size_t k, size_t last)
{
    int best = 0;
    for (size_t c = k; c < last; c++) {
        const int fit = a->fit(a->user, i, c);
        if (fit > best) {
            best = fit;
            a->other[i] = c;
        }
    }
}

static void align(const struct alignment *a, size_t i, size_t end, size_t k, size_t last)
{
    while (end - i > 1 && last > k) {
        const size_t middle = i + (end - i) / 2;
        score_forward(a, i, middle, k, last);
        score_backward(a, middle, end, k, last);
        size_t cut = 0;
        for (size_t c = 1; c <= last - k; c++)
            if (a->forward[c] + a->backward[c] > a->forward[cut] + a->backward[cut])
                cut = c;
        align(a, i, middle, k, k + cut);
        i = middle;
        k += cut;
    }
    if (end - i == 1)
        align_one(a, i, k, last);
}

bool diff_align(diff_fit *fit, const void *user, int most, size_t n, size_t m, size_t *other)
{
    size_t head = 0;
    /* No alignment is better without two first, or two last, elements that nothing fits better:
     * one of them at most has another partner, which can be given up for the other. */
    for (; head < n && head < m && fit(user, head, head) == most; head++)
        other[head] = head;
    for (; n > head && m > head && fit(user, n - 1, m - 1) == most; n--, m--)
        other[n - 1] = m - 1;
    for (size_t i = head; i < n; i++)
        other[i] = DIFF_GAP;
    long *rows = calloc(2 * (m - head + 1), sizeof *rows);
    if (!rows)
        return false;
    const struct alignment alignment = {fit, user, other, rows, rows + (m - head) + 1};
    align(&alignment, head, n, head, m);
    free(rows);
    return true;
}
