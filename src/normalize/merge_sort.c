/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Natural merge sort: traces are nearly ordered, so most of the work is already done. */
#include "normalize/normalize.h"

#include <stdlib.h>

struct sorting {
    char *from, *to;
    size_t n, size;
    int (*compare)(const void *, const void *, const void *);
    const void *user;
};

/* End of the ascending run that begins at element `start`. */
static size_t run_end(const struct sorting *s, size_t start)
{
    size_t at = start + 1;
    while (at < s->n &&
           s->compare(s->from + (at - 1) * s->size, s->from + at * s->size, s->user) <= 0)
        at++;
    return at < s->n ? at : s->n;
}

static void merge(const struct sorting *s, size_t start, size_t middle, size_t end)
{
    const char *a = s->from + start * s->size, *const a_end = s->from + middle * s->size;
    const char *b = a_end, *const b_end = s->from + end * s->size;
    char *out = s->to + start * s->size;
    while (a < a_end && b < b_end) {
        const char **least = s->compare(a, b, s->user) <= 0 ? &a : &b;
        memcpy(out, *least, s->size);
        *least += s->size;
        out += s->size;
    }
    memcpy(out, a, (size_t)(a_end - a));
    out += a_end - a;
    memcpy(out, b, (size_t)(b_end - b));
}

bool ta_merge_sort(void *base, size_t n, size_t size,
                   int (*compare)(const void *a, const void *b, const void *user), const void *user)
{
    struct sorting s = {base, NULL, n, size, compare, user};
    if (n < 2 || run_end(&s, 0) == n)
        return true;
    char *const spare = reallocarray(NULL, n, size);
    if (!spare)
        return false;
    s.to = spare;
    for (size_t runs = 2; runs > 1;) {
        runs = 0;
        for (size_t start = 0; start < n; runs++) {
            const size_t middle = run_end(&s, start);
            const size_t end = middle < n ? run_end(&s, middle) : n;
            merge(&s, start, middle, end);
            start = end;
        }
        char *swap = s.from;
        s.from = s.to;
        s.to = swap;
    }
    if (s.from != base)
        memcpy(base, s.from, n * size);
    free(spare);
    return true;
}
