/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces are of one run.  Traces of one family, whose names differ in ranks and numbers
 * alone, are, unless their process was started again in between; two families are of one run unless
 * something speaks against it.
 *
 * There may be thousands of families, as of names with ids of processes: each is compared with the
 * runs so far, not with all other families. */
#include "recordings/traces.h"

#include "base/hash.h"

#include <ctype.h>
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
    bool has_undated, has_dated;     /* some traces are so */
    const char *vendor;              /* of the devices, or NULL */
    const char **devices;            /* their models; NULL or without any where nobody says them */
    size_t witnessed;                /* the run of the reports next to its traces, or SIZE_MAX */
    size_t first, last;              /* its traces, linked by `next` */
};

struct joining {
    struct deciding *d;
    struct said *runs;   /* by the first trace of each */
    size_t *next;        /* trace after a trace in its run, or SIZE_MAX */
    struct ta_map ranks; /* (run, rank), (run, worker) and (run, process) */
};

static uint64_t rank_of_run(size_t run, int64_t rank)
{
    return ta_hash_mix(ta_hash_mix(run) ^ (uint64_t)rank);
}

/* ---- processes without ranks --------------------------------------------------------------- */

/* Whether names differ in numbers alone. */
static bool are_numbered(const struct trace *left, const struct trace *right)
{
    const char *a = left->name.family, *b = right->name.family;
    while (*a || *b) {
        const bool are_digits = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        while (are_digits && isdigit((unsigned char)*a))
            a++;
        while (are_digits && isdigit((unsigned char)*b))
            b++;
        if (!are_digits && *a++ != *b++)
            return false;
    }
    return true;
}

/* "worker0", where processes have neither a rank nor a date. */
static bool is_worker(const struct trace *trace)
{
    return trace->name.worker != TA_MISSING && trace->rank == TA_MISSING &&
           trace->start == TA_MISSING;
}

static uint64_t worker_of_run(size_t run, const struct trace *trace)
{
    return ~rank_of_run(run, trace->name.worker);
}

/* A process that recorded at this very time, or nobody knows when.  Processes of different hosts
 * may have one number, but do not begin in the same nanosecond. */
static bool is_process(const struct trace *trace)
{
    return trace->rank == TA_MISSING && trace->facts->traits.process != TA_MISSING;
}

static uint64_t process_of_run(size_t run, const struct trace *trace)
{
    const uint64_t process = ta_hash_mix((uint64_t)trace->facts->traits.process);
    return ta_hash_mix(~ta_hash_mix(run) ^ process ^ (uint64_t)trace->start);
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
        *said = (struct said){.least_world = TA_MISSING,
                              .most_world = TA_MISSING,
                              .has_ranks = true,
                              .witnessed = SIZE_MAX,
                              .first = i};
    else
        j->next[said->last] = i;
    said->last = i;
    if (trace->aside) /* it speaks for nobody */
        return;
    take_world(said, trace->facts->world_size);
    if (said->witnessed == SIZE_MAX)
        said->witnessed = trace->witnessed;
    said->has_ranks &= trace->rank != TA_MISSING;
    said->has_undated |= trace->start == TA_MISSING;
    said->has_dated |= trace->start != TA_MISSING;
    said->vendor = said->vendor ? said->vendor : trace->facts->vendor;
    if (!said->devices || !*said->devices)
        said->devices = trace->facts->devices;
    if (trace->rank != TA_MISSING)
        ta_map_at(&j->ranks, rank_of_run(run, trace->rank), 0);
    if (is_worker(trace))
        ta_map_at(&j->ranks, worker_of_run(run, trace), 0);
    if (is_process(trace))
        ta_map_at(&j->ranks, process_of_run(run, trace), i);
}

/* Whether they were recorded on different hardware: another vendor, or no model of device in
 * common. */
static bool are_of_other_devices(const struct said *a, const struct said *b)
{
    if (a->vendor && b->vendor && strcmp(a->vendor, b->vendor) != 0)
        return true;
    if (!a->devices || !*a->devices || !b->devices || !*b->devices)
        return false;
    for (const char **x = a->devices; *x; x++)
        for (const char **y = b->devices; *y; y++)
            if (strcmp(*x, *y) == 0)
                return false;
    return true;
}

/* Whether the process of a trace has another one in a run. */
static bool is_in(const struct joining *j, size_t run, const struct trace *trace)
{
    const uint64_t *same =
        is_process(trace) ? ta_map_find(&j->ranks, process_of_run(run, trace)) : NULL;
    return (trace->rank != TA_MISSING && ta_map_find(&j->ranks, rank_of_run(run, trace->rank))) ||
           (is_worker(trace) && ta_map_find(&j->ranks, worker_of_run(run, trace))) ||
           (same && !are_numbered(trace, &j->d->traces[*same]));
}

/* A process that both have, world sizes that differ, or reports of different runs. */
static bool do_clash(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    if (a->least_world != TA_MISSING && b->least_world != TA_MISSING &&
        (a->least_world != b->most_world || a->most_world != b->least_world))
        return true;
    if (a->witnessed != SIZE_MAX && b->witnessed != SIZE_MAX && a->witnessed != b->witnessed)
        return true;
    for (size_t i = b->first; i != SIZE_MAX; i = j->next[i]) {
        const struct trace *trace = &j->d->traces[i];
        if (!trace->aside && is_in(j, into, trace))
            return true;
    }
    return false;
}

/* The first trace of a run that is not set aside, or the last one. */
static const struct trace *first_of(const struct joining *j, const struct said *said)
{
    size_t i = said->first;
    while (j->d->traces[i].aside && j->next[i] != SIZE_MAX)
        i = j->next[i];
    return &j->d->traces[i];
}

/* Whether two of their traces were recorded at the same time.  Where nobody knows when, names that
 * differ in numbers alone say so: one program gave them.  One profiler writes all its files with
 * dates, or none. */
static bool do_overlap(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    if (a->has_undated && b->has_undated)
        return are_numbered(first_of(j, a), first_of(j, b));
    if (!a->has_dated || !b->has_dated)
        return false;
    for (size_t i = a->first; i != SIZE_MAX; i = j->next[i])
        for (size_t k = b->first; !j->d->traces[i].aside && k != SIZE_MAX; k = j->next[k])
            if (!j->d->traces[k].aside && !are_apart(&j->d->traces[i], &j->d->traces[k]))
                return true;
    return false;
}

/* Processes of a run have different ranks, and nearly always record at the same time; clocks of
 * hosts that differ hide that, ranks and a world of several do not.  Devices of different kinds are
 * of one run where one world says so. */
static bool are_one_run(const struct joining *j, size_t into, size_t from)
{
    const struct said *a = &j->runs[into], *b = &j->runs[from];
    const bool one_world = a->least_world > 1 && a->least_world == b->least_world;
    if (do_clash(j, into, from))
        return false;
    return one_world || (!are_of_other_devices(a, b) &&
                         ((a->has_ranks && b->has_ranks) || do_overlap(j, into, from)));
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

/* ---- the list of runs ---------------------------------------------------------------------- */

/* Numbers the runs of traces in the order of their first traces; those set aside follow. */
static bool list_runs(struct deciding *d)
{
    size_t *number = calloc(d->n + 1, sizeof *number); /* of a run, by its first trace, from 1 */
    for (size_t i = 0; number && i < d->n; i++) {
        size_t *own = &number[d->traces[i].run];
        if (!d->traces[i].aside && !*own)
            *own = ++d->recordings->n_runs;
    }
    for (size_t i = 0; number && i < d->n; i++)
        if (!d->traces[i].aside)
            d->traces[i].run = number[d->traces[i].run] - 1;
    for (size_t i = 0; number && i < d->n; i++)
        if (d->traces[i].aside)
            d->traces[i].run = d->traces[i].partner->run;
    free(number);
    return number;
}

/* A run of reports of other profilers is the run of their traces; several without traces are runs
 * as well. */
static bool list_witnessed(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    d->run_of = ta_arena_alloc(&r->arena, (d->n_witnessed + 1) * sizeof *d->run_of);
    for (size_t k = 0; d->run_of && k < d->n_witnessed; k++) {
        d->run_of[k] = SIZE_MAX;
        for (size_t i = 0; i < d->n && d->run_of[k] == SIZE_MAX; i++)
            if (!d->traces[i].aside && d->traces[i].witnessed == k)
                d->run_of[k] = d->traces[i].run;
        if (d->run_of[k] == SIZE_MAX && d->n_witnessed > 1)
            d->run_of[k] = r->n_runs++;
    }
    return d->run_of;
}

bool find_runs(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    const bool is_apart = !d->ingestion->is_one && !d->is_given;
    if (!find_families(d) || (is_apart && !join_families(d)))
        return false;
    for (size_t i = 0; !is_apart && i < d->n; i++)
        d->traces[i].run = 0;
    if (!list_runs(d) || !list_witnessed(d))
        return false;
    r->n_runs += r->n_runs == 0; /* of dumps alone */
    r->runs = ta_arena_alloc(&r->arena, r->n_runs * sizeof *r->runs);
    return r->runs;
}
