/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces are of one run.  Traces of one family, whose names differ in ranks and numbers
 * alone, are; two families are of one run unless something speaks against it. */
#include "recordings/traces.h"

#include <stdlib.h>

/* ---- families ------------------------------------------------------------------------------ */

static void find_families(struct deciding *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        trace->family = i;
        for (size_t k = 0; k < i; k++)
            if (strcmp(d->traces[k].name.family, trace->name.family) == 0) {
                trace->family = d->traces[k].family;
                break;
            }
    }
}

/* ---- two families -------------------------------------------------------------------------- */

/* What two families say together. */
struct pair {
    bool clash;     /* a rank that both have, or world sizes that differ */
    bool one_owner; /* sections of one program */
    bool one_world; /* a world size of several ranks that both say */
    bool all_ranks; /* every trace of both has a rank */
    bool overlap;   /* two of them were recorded at the same time, or nobody knows when */
};

static void look_at(struct pair *pair, const struct trace *a, const struct trace *b)
{
    const int64_t x = a->facts->world_size, y = b->facts->world_size;
    pair->clash |= a->rank != TA_MISSING && a->rank == b->rank;
    pair->clash |= x != TA_MISSING && y != TA_MISSING && x != y;
    pair->one_owner |= a->owner != SIZE_MAX && a->owner == b->owner;
    pair->one_world |= x != TA_MISSING && x == y && x > 1;
    pair->all_ranks &= a->rank != TA_MISSING && b->rank != TA_MISSING;
    pair->overlap |= !are_apart(a, b);
}

static struct pair compare(const struct deciding *d, size_t a, size_t b)
{
    struct pair pair = {.all_ranks = true};
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->n; k++)
            if (d->traces[i].family == a && d->traces[k].family == b && !d->traces[i].aside &&
                !d->traces[k].aside)
                look_at(&pair, &d->traces[i], &d->traces[k]);
    return pair;
}

/* Processes of a run have different ranks, and nearly always record at the same time; clocks of
 * hosts that differ hide that, ranks do not. */
static bool are_one_run(const struct pair *pair)
{
    return pair->one_owner ||
           (!pair->clash && (pair->one_world || pair->all_ranks || pair->overlap));
}

/* ---- runs ---------------------------------------------------------------------------------- */

static bool is_first(const struct deciding *d, size_t i)
{
    return d->traces[i].family == i;
}

/* Whether no family of one run clashes with one of the other. */
static bool go_together(const struct deciding *d, size_t a, size_t b)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->n; k++) {
            if (!is_first(d, i) || !is_first(d, k) || d->traces[i].run != a ||
                d->traces[k].run != b)
                continue;
            const struct pair pair = compare(d, i, k);
            if (pair.clash && !pair.one_owner)
                return false;
        }
    return true;
}

/* All families of a run have the place of the first of them. */
static void join(struct deciding *d, size_t into, size_t from)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->traces[i].run == from)
            d->traces[i].run = into;
}

static void join_families(struct deciding *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->traces[i].run = d->traces[i].family;
    for (size_t a = 0; a < d->n; a++)
        for (size_t b = a + 1; is_first(d, a) && b < d->n; b++) {
            const size_t into = d->traces[a].run, from = d->traces[b].run;
            const struct pair pair = compare(d, a, b);
            if (is_first(d, b) && into != from && are_one_run(&pair) && go_together(d, into, from))
                join(d, into < from ? into : from, into < from ? from : into);
        }
}

/* ---- names --------------------------------------------------------------------------------- */

/* A name for people and for a folder of products: without what joins it to the rest of a path. */
const char *clean_run_name(struct ta_arena *arena, const char *text, size_t n)
{
    while (n > 0 && strchr("-_./", text[n - 1]))
        n--;
    size_t start = 0;
    while (start < n && strchr("-_./", text[start]))
        start++;
    if (start == n)
        return "run";
    char *name = ta_arena_copy(arena, (struct ta_slice){text + start, n - start});
    for (char *c = name; c && *c; c++)
        if (*c == '/')
            *c = '-';
    return name;
}

static size_t common_length(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && a[n] == b[n])
        n++;
    return n;
}

/* What the families of a run have in common, without what joins it to the rest: "flux_cp". */
static const char *name_of(struct deciding *d, size_t run)
{
    const char *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (d->traces[i].run != run || d->traces[i].aside)
            continue;
        const char *family = d->traces[i].name.family;
        n = first ? common_length(first, family, n) : strlen(family);
        first = first ? first : family;
    }
    return clean_run_name(&d->recordings->arena, first, n);
}

const char *unique_run_name(struct deciding *d, const char *name, size_t n)
{
    const struct ta_recorded_run *runs = d->recordings->runs;
    const char *unique = name;
    size_t same = 1;
    for (size_t i = 0; unique && i < n;) {
        const bool is_taken = strcmp(runs[i].name, unique) == 0;
        if (is_taken)
            unique = ta_arena_printf(&d->recordings->arena, "%s-%zu", name, ++same);
        i = is_taken ? 0 : i + 1;
    }
    return unique;
}

bool find_runs(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    find_families(d);
    if (d->ingestion->n_piles > 1 && !d->is_given)
        join_families(d);
    else
        for (size_t i = 0; i < d->n; i++)
            d->traces[i].run = 0;
    r->runs = ta_arena_alloc(&r->arena, (d->n + 1) * sizeof *r->runs);
    size_t *number = calloc(d->n + 1, sizeof *number); /* of a run, by its first trace */
    bool done = r->runs && number;
    for (size_t i = 0; done && i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        const size_t run = trace->run;
        if (trace->aside)
            continue;
        if (!number[run]) {
            const char *name = name_of(d, run);
            const char *unique = name ? unique_run_name(d, name, r->n_runs) : NULL;
            r->runs[r->n_runs] = (struct ta_recorded_run){.name = unique};
            number[run] = ++r->n_runs;
            done = unique != NULL;
        }
    }
    for (size_t i = 0; done && i < d->n; i++)
        if (!d->traces[i].aside)
            d->traces[i].run = number[d->traces[i].run] - 1;
    for (size_t i = 0; done && i < d->n; i++)
        if (d->traces[i].aside)
            d->traces[i].run = d->traces[i].partner->run;
    free(number);
    return done;
}
