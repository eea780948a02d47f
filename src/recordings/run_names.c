/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs are called, for --run and for the folders of their reports: the folder that a run has
 * of its own, else what the names of its files have in common, with its date where others have that
 * name, too. */
#include "recordings/witnesses.h"

#include <time.h>

/* A run, and what its name is made of. */
struct named {
    const char *first; /* name of its first file without ranks and numbers, and … */
    size_t n;          /* … how much of it the others begin with */
    size_t folder;     /* how much of that is a folder that all are in */
    int64_t start;     /* or TA_MISSING */
    bool is_report;    /* of another profiler */
};

static size_t common_length(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && a[n] == b[n])
        n++;
    return n;
}

static size_t folder_length(const char *text, size_t n)
{
    while (n > 0 && text[n - 1] != '/')
        n--;
    return n;
}

static void take_file(struct named *named, const char *family, int64_t start)
{
    named->n = named->first ? common_length(named->first, family, named->n) : strlen(family);
    named->first = named->first ? named->first : family;
    named->folder = folder_length(named->first, named->n);
    if (start != TA_MISSING && (named->start == TA_MISSING || start < named->start))
        named->start = start;
}

/* Without what joins it to the rest of a path: from `*start`, `n` bytes. */
static size_t trim(const char *text, size_t n, size_t *start)
{
    while (n > 0 && strchr("-_./", text[n - 1]))
        n--;
    *start = 0;
    while (*start < n && strchr("-_./", text[*start]))
        ++*start;
    return n - *start;
}

/* Traces name their run, but for traces that a report of another profiler names: each run writes
 * over them.  Without others the reports do, the last one for all. */
static void take_files(const struct deciding *d, struct named *named)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct trace *trace = &d->traces[i];
        if (!trace->aside && (trace->owner == SIZE_MAX || trace->witnessed == SIZE_MAX))
            take_file(&named[trace->run], trace->name.family, trace->start);
    }
    for (size_t i = d->n_witnesses; i-- > 0;) {
        const struct witness *witness = &d->witnesses[i];
        const size_t run = d->run_of[witness->run];
        if (run == SIZE_MAX)
            continue;
        if (!named[run].first || named[run].is_report)
            take_file(&named[run], named[run].first ? named[run].first : witness->family,
                      witness->period.start);
        named[run].is_report |= named[run].first == witness->family;
    }
}

/* How much of their paths are folders that all runs are in. */
static size_t shared_folders(const struct named *named, size_t n)
{
    size_t shared = named[0].first ? named[0].folder : 0;
    for (size_t i = 1; i < n; i++)
        shared = shared ? common_length(named[0].first, named[i].first, shared) : 0;
    return folder_length(named[0].first, shared);
}

/* Whether each run is in a folder of its own below those that all are in. */
static bool have_folders(const struct named *named, size_t n, size_t shared)
{
    size_t start;
    for (size_t i = 0; i < n; i++) {
        if (!trim(named[i].first + shared, named[i].folder - shared, &start))
            return false;
        for (size_t k = 0; k < n; k++)
            if (k != i && named[i].folder <= named[k].folder &&
                common_length(named[i].first, named[k].first, named[i].folder) == named[i].folder)
                return false; /* one is in the other, or both are in one */
    }
    return true;
}

static const char *base_name(struct ta_arena *arena, const struct named *named, size_t n,
                             size_t shared)
{
    size_t start = 0;
    size_t length = trim(named->first + shared, n - shared, &start);
    if (length == 0) /* nothing in common */
        length = trim(named->first + shared, strlen(named->first) - shared, &start);
    if (length == 0)
        return "run";
    char *name = ta_arena_copy(arena, (struct ta_slice){named->first + shared + start, length});
    for (char *c = name; c && *c; c++)
        *c = *c == '/' ? '-' : *c;
    return name;
}

static bool is_taken(const struct ta_recordings *r, size_t n, size_t but, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (i != but && strcmp(r->runs[i].name, name) == 0)
            return true;
    return false;
}

/* "worker-20260812_101500", in UTC. */
static const char *dated_name(struct ta_arena *arena, const char *name, int64_t start_ns)
{
    const time_t start = (time_t)(start_ns / INT64_C(1000000000));
    struct tm utc;
    char date[32];
    if (!gmtime_r(&start, &utc) || !strftime(date, sizeof date, "%Y%m%d_%H%M%S", &utc))
        return name;
    return ta_arena_printf(arena, "%s-%s", name, date);
}

/* Runs of one name are told apart by their dates, and by a number where these are the same. */
static bool tell_apart(struct ta_recordings *r, const struct named *named)
{
    const char **dated = ta_arena_alloc(&r->arena, r->n_runs * sizeof *dated);
    bool done = dated != NULL;
    for (size_t i = 0; done && i < r->n_runs; i++) {
        const char *name = r->runs[i].name;
        dated[i] = named[i].start != TA_MISSING && is_taken(r, r->n_runs, i, name)
                       ? dated_name(&r->arena, name, named[i].start)
                       : name;
        done = dated[i] != NULL;
    }
    for (size_t i = 0; done && i < r->n_runs; i++) {
        size_t same = 1;
        r->runs[i].name = dated[i];
        while (done && is_taken(r, i, i, r->runs[i].name)) {
            r->runs[i].name = ta_arena_printf(&r->arena, "%s-%zu", dated[i], ++same);
            done = r->runs[i].name != NULL;
        }
    }
    return done;
}

/* The only run is called by what its traces have in common, or "run". */
static const char *only_name(struct ta_arena *arena, const struct named *named)
{
    size_t start;
    return named->first && !named->is_report && trim(named->first, named->n, &start)
               ? base_name(arena, named, named->n, 0)
               : "run";
}

bool name_runs(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    struct named *named = ta_arena_alloc(&r->arena, r->n_runs * sizeof *named);
    bool done = named != NULL;
    for (size_t i = 0; done && i < r->n_runs; i++)
        named[i] = (struct named){.start = TA_MISSING};
    if (done)
        take_files(d, named);
    const size_t shared = done && r->n_runs > 1 ? shared_folders(named, r->n_runs) : 0;
    const bool by_folder = done && r->n_runs > 1 && have_folders(named, r->n_runs, shared);
    for (size_t i = 0; done && i < r->n_runs; i++) {
        const size_t n = by_folder ? named[i].folder : named[i].n;
        const char *name = r->n_runs == 1 ? only_name(&r->arena, &named[i])
                                          : base_name(&r->arena, &named[i], n, shared);
        r->runs[i] = (struct ta_recorded_run){.name = name};
        done = name != NULL;
    }
    return done && tell_apart(r, named);
}
