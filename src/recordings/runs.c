/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces are of one run.  Traces of one family, whose names differ in ranks and numbers
 * alone, are, unless their process was started again in between; two families are of one run unless
 * something speaks against it.
 *
 * There may be thousands of families, as of names with ids of processes: each is compared with the
 * runs so far, not with all other families. */
#include "recordings/traces.h"

#include "base/hash.h"

#include <stdlib.h>

/* ---- families ------------------------------------------------------------------------------ */

static uint64_t hash_rank(const struct trace *trace)
{
    const uint64_t rank = ta_hash_mix((uint64_t)trace->rank);
    return ta_hash_mix(rank ^ (uint64_t)trace->name.worker);
}

/* Whether a later trace of the same name is of a process that was started anew.  What a program
 * counts, and warm-ups, are of one program whoever runs it. */
static bool is_restarted(const struct trace *before, const struct trace *after)
{
    const int64_t x = before->facts->traits.process, y = after->facts->traits.process;
    const bool is_counted =
        after->name.ordinal != TA_MISSING && after->name.ordinal < TA_COUNTED_MOST;
    return x != TA_MISSING && y != TA_MISSING && x != y && !is_counted &&
           before->name.is_warm_up == after->name.is_warm_up && !are_inseparable(before, after) &&
           before->end != TA_MISSING && after->start != TA_MISSING && before->end <= after->start;
}

static int by_start(const void *left, const void *right)
{
    const struct trace *a = *(struct trace *const *)left, *b = *(struct trace *const *)right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a > b) - (a < b);
}

/* How often the process of each trace was started anew before, in `generation`. */
static bool find_restarts(struct deciding *d, size_t *generation)
{
    struct trace **order = calloc(d->n + 1, sizeof *order);
    struct ta_map last = {0}; /* by process of a family: its trace before */
    bool done = order != NULL;
    for (size_t i = 0; done && i < d->n; i++)
        order[i] = &d->traces[i];
    if (done)
        qsort(order, d->n, sizeof *order, by_start);
    for (size_t i = 0; done && i < d->n; i++) {
        const struct trace *trace = order[i];
        if (trace->aside)
            continue;
        uint64_t *at = ta_map_at(&last, ta_hash_mix(trace->family) ^ hash_rank(trace), SIZE_MAX);
        done = at != NULL;
        if (done && *at != SIZE_MAX)
            generation[trace - d->traces] = generation[*at] + is_restarted(&d->traces[*at], trace);
        if (done)
            *at = (uint64_t)(trace - d->traces);
    }
    ta_map_free(&last);
    free(order);
    return done;
}

static bool find_families(struct deciding *d)
{
    struct ta_map first = {0};
    size_t *generation = calloc(d->n + 1, sizeof *generation);
    bool done = generation != NULL;
    for (size_t i = 0; done && i < d->n; i++) {
        const char *name = d->traces[i].name.family;
        const uint64_t *at = ta_map_at(&first, ta_hash_bytes(name, strlen(name), 0), i);
        done = at != NULL;
        if (done)
            d->traces[i].family = *at;
    }
    done = done && (d->ingestion->is_one || d->is_given || find_restarts(d, generation));
    for (size_t i = 0; done && i < d->n; i++) {
        const uint64_t hash = ta_hash_mix(d->traces[i].family) + generation[i];
        const uint64_t *at = generation[i] ? ta_map_at(&first, ta_hash_mix(hash), i) : NULL;
        done = at || !generation[i];
        if (at)
            d->traces[i].family = *at;
    }
    ta_map_free(&first);
    free(generation);
    return done;
}

/* ---- what a run says ----------------------------------------------------------------------- */

/* What the traces of a run, or of a family that may be of it, say. */
struct said {
    int64_t least_world, most_world; /* TA_MISSING: none says one */
    bool has_ranks;                  /* all traces of a family in it have ranks */
    bool has_undated;
    size_t first, last; /* its traces, linked by `next` */
};

struct joining {
    struct deciding *d;
    struct said *runs;   /* by the first trace of each */
    size_t *next;        /* trace after a trace in its run, or SIZE_MAX */
    struct ta_map ranks; /* (run, rank) */
};

static uint64_t rank_of_run(size_t run, int64_t rank)
{
    return ta_hash_mix(ta_hash_mix(run) ^ (uint64_t)rank);
}

static void take_world(struct said *said, int64_t world)
{
    if (world == TA_MISSING)
        return;
    if (said->least_world == TA_MISSING || world < said->least_world)
        said->least_world = world;
    if (said->most_world == TA_MISSING || world > said->most_world)
        said->most_world = world;
}

static void take_trace(struct joining *j, size_t i, size_t run)
{
    const struct trace *trace = &j->d->traces[i];
    struct said *said = &j->runs[run];
    j->next[i] = SIZE_MAX;
    if (said->first == SIZE_MAX)
        *said = (struct said){
            .least_world = TA_MISSING, .most_world = TA_MISSING, .has_ranks = true, .first = i};
    else
        j->next[said->last] = i;
    said->last = i;
    if (trace->aside) /* it speaks for nobody */
        return;
    take_world(said, trace->facts->world_size);
    said->has_ranks &= trace->rank != TA_MISSING;
    said->has_undated |= trace->start == TA_MISSING;
    if (trace->rank != TA_MISSING)
        ta_map_at(&j->ranks, rank_of_run(run, trace->rank), 0);
}

/* A rank that both have, or world sizes that differ. */
static bool do_clash(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    if (a->least_world != TA_MISSING && b->least_world != TA_MISSING &&
        (a->least_world != b->most_world || a->most_world != b->least_world))
        return true;
    for (size_t i = b->first; i != SIZE_MAX; i = j->next[i]) {
        const struct trace *trace = &j->d->traces[i];
        if (!trace->aside && trace->rank != TA_MISSING &&
            ta_map_find(&j->ranks, rank_of_run(into, trace->rank)))
            return true;
    }
    return false;
}

/* Whether two of their traces were recorded at the same time, or nobody knows when. */
static bool do_overlap(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    if (a->has_undated || b->has_undated)
        return true;
    for (size_t i = a->first; i != SIZE_MAX; i = j->next[i])
        for (size_t k = b->first; !j->d->traces[i].aside && k != SIZE_MAX; k = j->next[k])
            if (!j->d->traces[k].aside && !are_apart(&j->d->traces[i], &j->d->traces[k]))
                return true;
    return false;
}

/* Processes of a run have different ranks, and nearly always record at the same time; clocks of
 * hosts that differ hide that, ranks and a world of several do not. */
static bool are_one_run(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    const bool one_world = a->least_world > 1 && a->least_world == b->least_world;
    return !do_clash(j, into, from) &&
           (one_world || (a->has_ranks && b->has_ranks) || do_overlap(j, into, from));
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* All traces of a run are of the other one from here on. */
static void join(struct joining *j, size_t into, size_t from)
{
    struct said *a = &j->runs[into];
    const struct said b = j->runs[from];
    const bool has_ranks = a->has_ranks || b.has_ranks;
    for (size_t i = b.first, next; i != SIZE_MAX; i = next) {
        next = j->next[i];
        j->d->traces[i].run = into;
        take_trace(j, i, into);
    }
    a->has_ranks = has_ranks;
    j->runs[from].first = SIZE_MAX;
}

/* Traces of one family, and those that cannot be told apart, whatever they say. */
static void join_inseparable(struct joining *j)
{
    struct deciding *d = j->d;
    for (size_t i = 0; i < d->n; i++) {
        const size_t family = d->traces[i].family;
        d->traces[i].run = family;
        take_trace(j, i, family);
    }
    for (size_t i = 0; i < d->n; i++) {
        if (d->traces[i].owner == SIZE_MAX && !d->traces[i].facts->source->summary)
            continue;
        for (size_t k = i + 1; k < d->n; k++)
            if (d->traces[i].run != d->traces[k].run &&
                are_inseparable(&d->traces[i], &d->traces[k]))
                join(j, d->traces[i].run, d->traces[k].run);
    }
}

/* Each family, with those it belongs to, comes to the first run that it fits, and so do runs that
 * it joins. */
static bool join_families(struct deciding *d)
{
    struct joining j = {
        .d = d, .runs = calloc(d->n + 1, sizeof *j.runs), .next = calloc(d->n + 1, sizeof *j.next)};
    size_t *runs = calloc(d->n + 1, sizeof *runs), n = 0; /* in the order of their first traces */
    const bool done = j.runs && j.next && runs;
    for (size_t i = 0; done && i < d->n; i++)
        j.runs[i].first = SIZE_MAX;
    if (done)
        join_inseparable(&j);
    for (size_t i = 0; done && i < d->n; i++) {
        size_t own = i;
        if (j.runs[i].first == SIZE_MAX)
            continue;
        for (size_t k = 0; k < n; k++) {
            if (j.runs[runs[k]].first == SIZE_MAX || !are_one_run(&j, runs[k], own))
                continue;
            join(&j, runs[k], own);
            own = runs[k];
        }
        if (own == i)
            runs[n++] = i;
    }
    const bool complete = done && !j.ranks.failed;
    ta_map_free(&j.ranks);
    free(j.runs);
    free(j.next);
    free(runs);
    return complete;
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
    const bool is_apart = !d->ingestion->is_one && !d->is_given;
    if (!find_families(d) || (is_apart && !join_families(d)))
        return false;
    for (size_t i = 0; !is_apart && i < d->n; i++)
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
