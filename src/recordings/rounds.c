/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces of a run are of one recording: what all its processes recorded over one stretch of
 * time.
 *
 * Traces of one process that follow each other are different recordings, numbered by what their
 * names count or, without that, by time.  Traces of one process that overlap count together, as of
 * a process that recorded its devices apart. */
#include "recordings/traces.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- one process --------------------------------------------------------------------------- */

/* Whether two traces are of one process, as far as anything says. */
static bool are_one_process(const struct trace *a, const struct trace *b)
{
    if (a->rank != TA_MISSING || b->rank != TA_MISSING)
        return a->rank == b->rank;
    if (a->owner != SIZE_MAX && a->owner == b->owner)
        return true;
    if (a->family != b->family || a->name.worker != b->name.worker ||
        a->name.tensor != b->name.tensor || a->name.pipeline != b->name.pipeline)
        return false;
    const int64_t x = a->facts->traits.process, y = b->facts->traits.process;
    return x == TA_MISSING || y == TA_MISSING || x == y;
}

/* Whether they are different recordings of it. */
static bool are_rounds(const struct trace *a, const struct trace *b)
{
    const struct ta_file_name *x = &a->name, *y = &b->name;
    if (are_inseparable(a, b))
        return false;
    if (x->is_warm_up != y->is_warm_up)
        return true;
    if (x->counts != TA_ORDINAL_NONE && x->counts == y->counts && x->ordinal != y->ordinal)
        return a->start == TA_MISSING || b->start == TA_MISSING || are_apart(a, b);
    return are_apart(a, b);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* In the order of time; where nothing says it warm-ups come first, then what names count. */
static int by_time(const void *left, const void *right)
{
    const struct trace *a = *(struct trace *const *)left, *b = *(struct trace *const *)right;
    if (a->start != b->start) /* TA_MISSING is the least */
        return a->start < b->start ? -1 : 1;
    if (a->name.is_warm_up != b->name.is_warm_up)
        return a->name.is_warm_up ? -1 : 1;
    if (a->name.ordinal != b->name.ordinal)
        return a->name.ordinal < b->name.ordinal ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* What all traces of a process have in common, and few others. */
static uint64_t hash_process(const struct trace *trace)
{
    return trace->rank != TA_MISSING ? ta_hash_mix((uint64_t)trace->rank)
                                     : ~ta_hash_mix(trace->family);
}

/* Numbers the traces of a run, which are in the order of time: each is of the recording after the
 * last one of its process that it follows. */
static bool number(const struct deciding *d, struct trace **traces, size_t n)
{
    struct ta_map last = {0}; /* by process: its trace before, counted from 1 */
    size_t *before = calloc(n + 1, sizeof *before); /* by trace, likewise */
    bool done = before != NULL;
    for (size_t i = 0; done && i < n; i++) {
        uint64_t *same = ta_map_at(&last, hash_process(traces[i]), 0);
        done = same != NULL;
        if (!done)
            break;
        before[i] = *same;
        *same = i + 1;
        traces[i]->number = 0;
        for (size_t k = before[i]; k > 0; k = before[k - 1]) {
            const struct trace *other = traces[k - 1];
            if (!are_one_process(traces[i], other) ||
                (d->is_given && traces[i]->family != other->family))
                continue;
            const size_t least = other->number + are_rounds(traces[i], other);
            if (least > traces[i]->number)
                traces[i]->number = least;
        }
    }
    ta_map_free(&last);
    free(before);
    return done;
}

/* ---- recordings ---------------------------------------------------------------------------- */

static enum ta_recording_kind kind_of(const struct trace *trace, size_t n)
{
    if (is_capture(trace))
        return TA_RECORDING_CAPTURE;
    if (trace->name.is_warm_up)
        return TA_RECORDING_WARM_UP;
    if (trace->name.counts == TA_ORDINAL_ITERATION) /* alone as well */
        return TA_RECORDING_ITERATION;
    return n == 1 ? TA_RECORDING_RUN : TA_RECORDING_CYCLE;
}

/* Where all of several recordings say that they are warm-ups, as in a folder of that name, none is.
 */
static void check_warm_ups(struct trace **traces, size_t n)
{
    size_t n_warm = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        n_warm += traces[i]->name.is_warm_up;
        last = traces[i]->number > last ? traces[i]->number : last;
    }
    for (size_t i = 0; last > 0 && n_warm == n && i < n; i++)
        traces[i]->name.is_warm_up = false;
}

static const char *name_recording(struct ta_arena *arena, const struct ta_recording *recording,
                                  const char *run, size_t n)
{
    switch (recording->kind) {
    case TA_RECORDING_ITERATION:
        return ta_arena_printf(arena, "iteration_%" PRId64, recording->number);
    case TA_RECORDING_CYCLE:
        return ta_arena_printf(arena, "cycle_%" PRId64, recording->number);
    case TA_RECORDING_WARM_UP:
        return recording->number > 0 ? ta_arena_printf(arena, "warmup_%" PRId64, recording->number)
                                     : "warmup";
    case TA_RECORDING_CAPTURE:
        return n == 1 ? run : ta_arena_printf(arena, "capture_%" PRId64, recording->number);
    default:
        return run;
    }
}

/* The number that a program gives to it; torch's are times, which count nothing. */
static int64_t number_of(const struct trace *trace)
{
    const int64_t ordinal = trace->name.ordinal;
    return ordinal != TA_MISSING && ordinal < TA_COUNTED_MOST ? ordinal : (int64_t)trace->number;
}

static void take_trace(struct ta_recording *recording, const struct trace *trace)
{
    if (trace->start != TA_MISSING &&
        (recording->start_ns == TA_MISSING || trace->start < recording->start_ns))
        recording->start_ns = trace->start;
    if (trace->end != TA_MISSING &&
        (recording->end_ns == TA_MISSING || trace->end > recording->end_ns))
        recording->end_ns = trace->end;
    recording->n_files++;
}

static const char *reason(struct deciding *d, const struct ta_recording *recording, size_t n)
{
    struct ta_arena *arena = &d->recordings->arena;
    switch (recording->kind) {
    case TA_RECORDING_ITERATION:
        if (n == 1)
            return ta_arena_printf(arena, "Its name counts it: number %" PRId64 " of one program",
                                   recording->number);
        return ta_arena_printf(arena,
                               "Its name counts it, as number %" PRId64 "; %zu recordings of one "
                               "program",
                               recording->number, n);
    case TA_RECORDING_CYCLE:
        return ta_arena_printf(arena, "Its process was recorded %zu times, one after the other", n);
    case TA_RECORDING_WARM_UP:
        return "Its name says that it is a warm-up";
    case TA_RECORDING_CAPTURE:
        return "It captures a graph and replays none, and no other file replays it";
    default:
        return "";
    }
}

/* The recordings of one run, from its traces in the order of time. */
static bool list_recordings(struct deciding *d, size_t run, struct trace **traces, size_t n)
{
    struct ta_recordings *r = d->recordings;
    struct ta_recorded_run *of = &r->runs[run];
    size_t n_rounds = n == 0; /* of dumps alone */
    bool done = true;
    for (size_t i = 0; i < n; i++)
        n_rounds = traces[i]->number >= n_rounds ? traces[i]->number + 1 : n_rounds;
    of->first = r->n;
    of->n = n_rounds;
    for (size_t k = 0; k < n_rounds; k++)
        r->at[r->n++] = (struct ta_recording){
            .run = run, .start_ns = TA_MISSING, .end_ns = TA_MISSING, .number = TA_MISSING};
    for (size_t i = 0; i < n; i++) {
        struct ta_recording *recording = &r->at[of->first + traces[i]->number];
        if (recording->n_files == 0) {
            recording->kind = kind_of(traces[i], n_rounds);
            recording->number = number_of(traces[i]);
        }
        take_trace(recording, traces[i]);
    }
    for (size_t k = 0; done && k < n_rounds; k++) {
        struct ta_recording *recording = &r->at[of->first + k];
        recording->name = name_recording(&r->arena, recording, of->name, n_rounds);
        done = recording->name != NULL;
    }
    for (size_t i = 0; done && i < n; i++) {
        const size_t at = of->first + traces[i]->number;
        r->files[traces[i]->file] =
            (struct ta_recorded_file){.kind = r->at[at].kind,
                                      .recording = at,
                                      .counts = true,
                                      .start_ns = traces[i]->start,
                                      .map_of = SIZE_MAX,
                                      .why = reason(d, &r->at[at], n_rounds)};
        done = r->files[traces[i]->file].why != NULL;
    }
    return done;
}

/* The last one that all processes have, whole, and that is no warm-up; else the last. */
static void choose(struct deciding *d, struct ta_recorded_run *run)
{
    const struct ta_recordings *r = d->recordings;
    size_t most = 0;
    for (size_t k = 0; k < run->n; k++) {
        const struct ta_recording *recording = &r->at[run->first + k];
        if (recording->kind != TA_RECORDING_WARM_UP && recording->n_files > most)
            most = recording->n_files;
    }
    run->chosen = run->first + run->n - 1;
    for (size_t k = run->n; k-- > 0;) {
        const struct ta_recording *recording = &r->at[run->first + k];
        bool whole = recording->n_files == most && recording->kind != TA_RECORDING_WARM_UP;
        for (size_t i = 0; whole && i < r->n_files; i++)
            whole = !(r->files[i].counts && r->files[i].recording == run->first + k &&
                      d->ingestion->files[i].truncated);
        if (whole) {
            run->chosen = run->first + k;
            break;
        }
    }
    r->at[run->chosen].is_chosen = true;
}

/* What is set aside is listed with the recording of its partner. */
static void place_aside(struct deciding *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct trace *trace = &d->traces[i];
        if (trace->aside)
            d->recordings->files[trace->file].recording = d->recordings->runs[trace->run].chosen;
    }
}

bool find_recordings(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    struct trace **list = calloc(d->n + 1, sizeof *list);
    r->at = ta_arena_alloc(&r->arena, (d->n + r->n_runs) * sizeof *r->at);
    bool done = list && r->at;
    for (size_t run = 0; done && run < r->n_runs; run++) {
        size_t n = 0;
        for (size_t i = 0; i < d->n; i++)
            if (!d->traces[i].aside && d->traces[i].run == run)
                list[n++] = &d->traces[i];
        if (!d->ingestion->is_one) {
            qsort(list, n, sizeof *list, by_time);
            done = number(d, list, n);
        }
        check_warm_ups(list, n);
        done = done && list_recordings(d, run, list, n);
        if (done)
            choose(d, &r->runs[run]);
    }
    if (done)
        place_aside(d);
    free(list);
    return done;
}
