/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hirschberg's algorithm: the best way through the middle row is known from the scores of both
 * halves, which need a row of memory each; then both halves are aligned by themselves.  Scores grow
 * along a row, so an element changes them only where it fits, and up to where they are as large. */
#include "compare/align.h"

#include <stdlib.h>

struct alignment {
    const struct diff_sequences *of;
    size_t *all; /* every column, where any elements may be paired */
    size_t *other;
    long *forward, *backward; /* a row of scores each */
};

static int fit_of(const struct alignment *a, size_t i, size_t k)
{
    return a->of->fit(a->of->user, i, k);
}

/* ---- what may be paired with an element ------------------------------------------------------ */

/* The number of columns before `k`. */
static size_t count_before(struct diff_columns columns, size_t k)
{
    size_t low = 0;
    for (size_t high = columns.n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (columns.at[middle] < k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Columns [k, last) that element i may be paired with. */
static struct diff_columns columns_of(const struct alignment *a, size_t i, size_t k, size_t last)
{
    if (!a->of->choice)
        return (struct diff_columns){a->all + k, last - k};
    const struct diff_columns columns = a->of->choice(a->of->user, i);
    const size_t from = count_before(columns, k), to = count_before(columns, last);
    return (struct diff_columns){columns.at + from, to - from};
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Scores of rows [i, end) against every beginning of columns [k, last). */
static void score_forward(const struct alignment *a, size_t i, size_t end, size_t k, size_t last)
{
    long *row = a->forward;
    for (size_t c = 0; c <= last - k; c++)
        row[c] = 0;
    for (; i < end; i++) {
        const struct diff_columns columns = columns_of(a, i, k, last);
        for (size_t j = columns.n;
             j-- > 0;) { /* what comes before still belongs to the row above */
            const size_t before = columns.at[j] - k;
            const int fit = fit_of(a, i, columns.at[j]);
            const long score = row[before] + fit;
            for (size_t c = before + 1; fit > 0 && c <= last - k && row[c] < score; c++)
                row[c] = score;
        }
    }
}

/* The same against every end of the columns. */
static void score_backward(const struct alignment *a, size_t i, size_t end, size_t k, size_t last)
{
    long *row = a->backward;
    for (size_t c = 0; c <= last - k; c++)
        row[c] = 0;
    while (end-- > i) {
        const struct diff_columns columns = columns_of(a, end, k, last);
        for (size_t j = 0; j < columns.n; j++) {
            const size_t at = columns.at[j] - k;
            const int fit = fit_of(a, end, columns.at[j]);
            const long score = row[at + 1] + fit;
            for (size_t c = at + 1; fit > 0 && c > 0 && row[c - 1] < score; c--)
                row[c - 1] = score;
        }
    }
}

/* ---- alignment ------------------------------------------------------------------------------- */

static void align_one(const struct alignment *a, size_t i, size_t k, size_t last)
{
    const struct diff_columns columns = columns_of(a, i, k, last);
    int best = 0;
    for (size_t j = 0; j < columns.n; j++) {
        const int fit = fit_of(a, i, columns.at[j]);
        if (fit > best) {
            best = fit;
            a->other[i] = columns.at[j];
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

bool diff_align(const struct diff_sequences *sequences, size_t *other)
{
    const struct diff_sequences *s = sequences;
    size_t n = s->n, m = s->m, head = 0;
    /* No alignment is better without two first, or two last, elements that nothing fits better:
     * one of them at most has another partner, which can be given up for the other. */
    for (; head < n && head < m && s->fit(s->user, head, head) == s->most; head++)
        other[head] = head;
    for (; n > head && m > head && s->fit(s->user, n - 1, m - 1) == s->most; n--, m--)
        other[n - 1] = m - 1;
    for (size_t i = head; i < n; i++)
        other[i] = DIFF_GAP;
    long *rows = calloc(2 * (m - head + 1), sizeof *rows);
    size_t *all = s->choice ? NULL : calloc(m + 1, sizeof *all);
    const bool done = rows && (s->choice || all);
    for (size_t k = 0; done && all && k < m; k++)
        all[k] = k;
    const struct alignment alignment = {s, all, other, rows, rows ? rows + (m - head) + 1 : NULL};
    if (done)
        align(&alignment, head, n, head, m);
    free(rows);
    free(all);
    return done;
}
