/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host thread did in a stretch of time: the innermost open span, moment by moment. */
#include "model/idle/host_time.h"

#include "model/extent.h"
#include "model/host.h"
#include "stat/interval.h"
#include "traceanalyze/table.h"

#include <stdlib.h>

/* ---- the work of each span ----------------------------------------------------------------- */

static enum ta_event_class class_of(const struct host_time *host, ta_row row)
{
    return host->categories.at[host->spans.cat[row]].class;
}

/* Hands the cause that is open from `row` on down to what is called in it; returns the first row
 * after. Parents come before their children, and the pieces of one span are adjacent except for
 * what crosses its end. */
static ta_row hand_down_from(struct host_time *host, ta_row row)
{
    const struct ta_spans *s = &host->spans;
    const struct ta_track *track = &host->tracks.at[s->track[row]];
    int64_t reach = s->ts[row] + s->dur[row];
    ta_row at = row + 1;
    for (; at < track->first + track->n && s->ts[at] < reach; at++) {
        const ta_row parent = s->parent[at];
        if (!ta_class_is_host(class_of(host, at)))
            continue;
        if (parent != TA_NO_ROW && !ta_host_is_cause((enum ta_host_work)host->work[at]) &&
            ta_host_is_cause((enum ta_host_work)host->work[parent]))
            host->work[at] = host->work[parent];
        if (ta_host_is_cause((enum ta_host_work)host->work[at]))
            reach = ta_max_i64(reach, s->ts[at] + s->dur[at]);
    }
    return at;
}

/* The first row from `row` on that does the work of a cause; of most spans eight are looked at as
 * one number, whose bytes reach 128 where they were a cause. */
static size_t next_cause(const struct host_time *host, size_t row)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    for (uint64_t works; row + sizeof works <= host->spans.n; row += sizeof works) {
        memcpy(&works, host->work + row, sizeof works);
        if ((works + ones * (128 - TA_HOST_SYNC)) & ones * 128)
            break;
    }
    while (row < host->spans.n && !ta_host_is_cause((enum ta_host_work)host->work[row]))
        row++;
    return row;
}

bool host_time_open(struct host_time *host, const struct ta_trace *trace,
                    struct idle_record *record)
{
    *host = (struct host_time){
        .trace = trace,
        .record = record,
        .spans = ta_trace_spans(trace),
        .tracks = ta_trace_tracks(trace),
        .categories = ta_trace_categories(trace),
    };
    host->work = malloc(host->spans.n + 1);
    if (!host->work)
        return false;
    if (host->spans.n) /* else there is none, of a dump */
        memcpy(host->work, host->spans.work, host->spans.n);
    for (size_t row = 0; (row = next_cause(host, row)) < host->spans.n;)
        row = hand_down_from(host, (ta_row)row);

    /* Overhead has a track of its own and holds up every thread. */
    for (size_t c = 0; c < host->categories.n; c++)
        if (ta_host_classify(host->categories.at[c].class,
                             ta_trace_text(host->trace, host->categories.at[c].name),
                             TA_LIT("")) == TA_HOST_PROFILER)
            for (ta_row row = 0;
                 (row = ta_category_next(&host->spans, row, (ta_cat)c)) < host->spans.n; row++) {
                const int64_t start = host->spans.ts[row];
                ta_intervals_add(host->work[row] == TA_HOST_COMPILE ? &host->loading
                                                                    : &host->profiler,
                                 start, start + host->spans.dur[row]);
            }
    ta_intervals_unite(&host->profiler);
    ta_intervals_join(&host->loading, &host->profiler);

    first_calls_open(&host->first_calls, trace);
    computing_open(&host->computing, trace);
    return !host->profiler.failed && !host->loading.failed;
}

bool host_time_close(struct host_time *host)
{
    free(host->work);
    free(host->preparing);
    ta_intervals_free(&host->profiler);
    ta_intervals_free(&host->loading);
    const bool computed = computing_close(&host->computing);
    return first_calls_close(&host->first_calls) && computed;
}

void host_time_loads(struct host_time *host, const struct ta_intervals *times)
{
    if (times->n)
        ta_intervals_join(&host->loading, times);
    host->clear = (struct ta_interval){0, 0};
}

/* ---- stretches of time --------------------------------------------------------------------- */

static enum ta_idle_cause cause_of(struct host_time *host, ta_row row, int64_t time)
{
    static const uint8_t causes[TA_HOST_WORK_COUNT] = {
        [TA_HOST_UNTRACED] = TA_IDLE_UNTRACED,  [TA_HOST_OPERATOR] = TA_IDLE_OPERATOR,
        [TA_HOST_PYTHON] = TA_IDLE_PYTHON,      [TA_HOST_LAUNCH] = TA_IDLE_LAUNCH_CALLS,
        [TA_HOST_GRAPH] = TA_IDLE_LAUNCH_CALLS, [TA_HOST_CALL] = TA_IDLE_CALLS,
        [TA_HOST_SYNC] = TA_IDLE_SYNC,          [TA_HOST_COPY] = TA_IDLE_COPY,
        [TA_HOST_ALLOCATE] = TA_IDLE_ALLOCATE,  [TA_HOST_COMPILE] = TA_IDLE_COMPILE,
        [TA_HOST_DATA] = TA_IDLE_DATA,          [TA_HOST_COLLECTIVE] = TA_IDLE_COLLECTIVE,
        [TA_HOST_PROFILER] = TA_IDLE_PROFILER,
    };
    const enum ta_host_work work =
        row == TA_NO_ROW ? TA_HOST_UNTRACED : (enum ta_host_work)host->work[row];
    const bool may_compute =
        work == TA_HOST_OPERATOR || work == TA_HOST_PYTHON || work == TA_HOST_UNTRACED;
    if (may_compute && computing_at(&host->computing, host->track, time))
        return TA_IDLE_COMPUTE;
    return !ta_host_is_cause(work) && first_calls_has(&host->first_calls, row, work)
               ? TA_IDLE_FIRST_CALL
               : (enum ta_idle_cause)causes[work];
}

/* Built-in functions have no place in a file; who calls them has. */
static bool is_place(const struct host_time *host, ta_row row)
{
    const struct ta_slice name = ta_trace_text(host->trace, host->spans.name[row]);
    return class_of(host, row) != TA_CLASS_RUNTIME && !ta_host_is_builtin(name);
}

/* A function that prepares data, not one of a loader, nor one in which it waits for its workers:
 * "scipy/ndimage/_interpolation.py(739): zoom". */
static bool name_prepares(struct ta_slice name)
{
    static const char *const loaders[] = {"torch/",        "multiprocessing/", "threading.py(",
                                          "queue.py(",     "selectors.py(",    "socket.py(",
                                          "contextlib.py", "dataloader"};
    if (ta_host_is_builtin(name) || !memmem(name.ptr, name.len, ".py(", 4))
        return false;
    for (size_t i = 0; i < TA_LENGTH(loaders); i++)
        if (memmem(name.ptr, name.len, loaders[i], strlen(loaders[i])))
            return false;
    return true;
}

static bool prepares_data(struct host_time *host, ta_row row)
{
    enum { UNKNOWN, DOES, DOES_NOT };
    if (!host->preparing)
        host->preparing = calloc(ta_trace_string_count(host->trace) + 1, sizeof *host->preparing);
    const ta_str id = host->spans.name[row];
    uint8_t unknown = UNKNOWN, *known = host->preparing ? &host->preparing[id] : &unknown;
    if (*known == UNKNOWN)
        *known = name_prepares(ta_trace_text(host->trace, id)) ? DOES : DOES_NOT;
    return *known == DOES;
}

/* The nearest function around that prepares data, up to the loader `outermost`; else that. */
static ta_row preparing(struct host_time *host, ta_row row, ta_row outermost)
{
    const struct ta_slice loader = ta_trace_text(host->trace, host->spans.name[outermost]);
    if (!memmem(loader.ptr, loader.len, "torch/utils/data/", strlen("torch/utils/data/")) &&
        !memmem(loader.ptr, loader.len, "DataLoader", strlen("DataLoader")))
        return outermost;
    for (; row != outermost; row = host->spans.parent[row])
        if (prepares_data(host, row))
            return row;
    return outermost;
}

/* Where a piece of time is to be shown: the outermost span of the same cause, and from there the
 * nearest around it that has a place in the program, an operator, a function, a range; within a
 * data loader what prepares the data.  Rows that are not of the host stay as they are. */
static ta_row place_of(struct host_time *host, ta_row row)
{
    if (row == TA_NO_ROW || !ta_class_is_host(class_of(host, row)))
        return row;
    const ta_row *const parent = host->spans.parent;
    const ta_row innermost = row;
    if (ta_host_is_cause((enum ta_host_work)host->work[row]))
        while (parent[row] != TA_NO_ROW && host->work[parent[row]] == host->work[row])
            row = parent[row];
    if (host->work[row] == TA_HOST_DATA)
        row = preparing(host, innermost, row);
    while (!is_place(host, row) && parent[row] != TA_NO_ROW)
        row = parent[row];
    return row;
}

void host_time_piece(struct host_time *host, enum ta_idle_cause cause, int64_t ns, ta_row row)
{
    idle_record_piece(host->record,
                      &(struct ta_idle_piece){cause, ns, place_of(host, row), TA_NO_ROW});
}

/* Python between operators is not recorded without stacks.  Longer stretches are something else. */
enum { GLUE_NS = 10000000 };

/* Whether the thread is still late for a wait before when it spends such time: it goes on as it
 * does anyway.  When it does something else for long, the queue is empty for that. */
static bool is_catching_up(enum ta_idle_cause cause)
{
    return ta_idle_causes[cause].group == TA_IDLE_GROUP_DISPATCH || cause == TA_IDLE_LATENCY ||
           cause == TA_IDLE_UNTRACED;
}

static bool empties_queue(enum ta_idle_cause cause, int64_t ns)
{
    if (cause == TA_IDLE_UNTRACED)
        return ns >= GLUE_NS;
    return !is_catching_up(cause) && cause != TA_IDLE_PROFILER && ns >= TA_IDLE_COMPUTE_NS;
}

void host_time_late(struct host_time *host, enum ta_idle_cause cause, int64_t from, int64_t ns,
                    ta_row row)
{
    struct ta_idle_piece piece = {cause, ns, place_of(host, row), TA_NO_ROW};
    const bool waits = ta_idle_causes[cause].group == TA_IDLE_GROUP_SYNC;
    if (!host->waits) {
        idle_record_piece(host->record, &piece);
        return;
    }
    const ta_row open = idle_waits_at(host->waits, host->track, from);
    if (waits || (open != TA_NO_ROW && is_catching_up(cause) && cause != TA_IDLE_LATENCY)) {
        piece.wait = open == TA_NO_ROW ? row : open;
        if (open != TA_NO_ROW)
            idle_waits_use(host->waits, host->track, ns);
        idle_record_piece(host->record, &piece);
        return;
    }
    if (cause == TA_IDLE_COMPUTE || empties_queue(cause, ns))
        idle_waits_owe(host->waits, host->track, cause == TA_IDLE_COMPUTE ? row : TA_NO_ROW, ns);
    for (int64_t left = ns; left > 0; left -= piece.ns) {
        piece.wait = TA_NO_ROW;
        piece.ns = is_catching_up(cause)
                       ? idle_waits_take(host->waits, host->track, from, left, &piece.wait)
                       : 0;
        if (piece.ns == 0)
            piece.ns = left;
        idle_record_piece(host->record, &piece);
    }
}

/* Whether the host waits in the idle time [from, to) for work that left no activity: nothing was
 * launched yet in the recording. */
static bool waits_for_before(const struct host_time *host, ta_row row, int64_t from, int64_t to)
{
    return row != TA_NO_ROW && host->work[row] == TA_HOST_SYNC &&
           host->spans.ts[row] < host->first_launch && to - from > TA_IDLE_LATENCY_NS &&
           (!host->busy || ta_intervals_within(host->busy, from, to) == 0);
}

/* Start of the interval where a search ended. */
static int64_t starts_at(const struct ta_intervals *set, size_t near)
{
    return near < set->n ? set->at[near].start : INT64_MAX;
}

/* Blames what the profiler and loading have of [from, to); returns the rest. */
static int64_t blame_process(struct host_time *host, ta_row row, int64_t from, int64_t to)
{
    const int64_t profiler =
        ta_intervals_within_near(&host->profiler, from, to, &host->near_profiler);
    const int64_t loading =
        ta_intervals_within_near(&host->loading, from, to, &host->near_loading) - profiler;
    if (profiler)
        host_time_piece(host, TA_IDLE_PROFILER, profiler, TA_NO_ROW);
    if (loading)
        host_time_piece(host, TA_IDLE_COMPILE, loading, row);
    if (!profiler && !loading)
        host->clear =
            (struct ta_interval){from, ta_min_i64(starts_at(&host->profiler, host->near_profiler),
                                                  starts_at(&host->loading, host->near_loading))};
    return to - from - profiler - loading;
}

void host_time_within(struct host_time *host, ta_row row, int64_t from, int64_t to)
{
    if (from >= to)
        return;
    const bool is_clear = from >= host->clear.start && to <= host->clear.end;
    const int64_t rest = is_clear ? to - from : blame_process(host, row, from, to);
    if (rest <= 0)
        return;
    if (waits_for_before(host, row, from, to))
        host_time_piece(host, TA_IDLE_BEFORE, rest, row);
    else
        host_time_late(host, cause_of(host, row, from), from, rest, row);
}

static int64_t end_of(const struct host_time *host, ta_row row)
{
    return host->spans.ts[row] + host->spans.dur[row];
}

/* The span, or the nearest one around it, that is still open at `time`. */
static ta_row open_at(const struct host_time *host, ta_row row, int64_t time)
{
    while (row != TA_NO_ROW && end_of(host, row) <= time)
        row = host->spans.parent[row];
    return row;
}

/* The last host span of the track before `row` that begins at `time` or earlier; TA_NO_ROW. */
static ta_row last_before(const struct host_time *host, ta_row first, ta_row row, int64_t time,
                          ta_row *next)
{
    *next = row;
    while (row > first) {
        row--;
        if (!ta_class_is_host(class_of(host, row)))
            continue;
        if (host->spans.ts[row] <= time)
            return row;
        *next = row;
    }
    return TA_NO_ROW;
}

/* Whether a thread does nothing in it that was recorded, and may wait for another one: for the
 * thread of autograd while that runs the backward pass. */
static bool may_wait_for_thread(const struct host_time *host, ta_row row)
{
    if (row == TA_NO_ROW || host->work[row] == TA_HOST_UNTRACED)
        return true;
    const struct ta_slice name = ta_trace_text(host->trace, host->spans.name[row]);
    return host->work[row] == TA_HOST_PYTHON &&
           memmem(name.ptr, name.len, "run_backward", strlen("run_backward"));
}

/* Where one is in the spans of a thread. */
struct open_span {
    ta_row row, next; /* the innermost that is open, and the next to begin */
};

static struct open_span open_from(const struct host_time *host, uint32_t track, ta_row last,
                                  int64_t from)
{
    struct open_span open;
    open.row = open_at(
        host, last_before(host, host->tracks.at[track].first, last, from, &open.next), from);
    return open;
}

/* Goes on to where something begins or ends, at most to `to`. */
static int64_t go_on(const struct host_time *host, struct open_span *open, ta_row last, int64_t to)
{
    const int64_t end = open->row == TA_NO_ROW ? to : ta_min_i64(end_of(host, open->row), to);
    const int64_t start = open->next < last ? ta_min_i64(host->spans.ts[open->next], to) : to;
    const int64_t stop = ta_min_i64(end, start);
    if (start <= stop && open->next < last) {
        if (ta_class_is_host(class_of(host, open->next)))
            open->row = open->next;
        open->next++;
    }
    open->row = open_at(host, open->row, stop);
    return stop;
}

/* The thread has the span `row` open in [from, to), and may wait in it for the other thread. */
static void look_at_other(struct host_time *host, ta_row row, int64_t from, int64_t to)
{
    const struct ta_track *other = &host->tracks.at[host->other];
    const uint32_t track = host->track;
    struct open_span open = open_from(host, host->other, other->first + other->n, from);
    for (int64_t now = from; now < to;) {
        const ta_row its = open.row;
        const int64_t stop = go_on(host, &open, other->first + other->n, to);
        const bool works = its != TA_NO_ROW && host->work[its] != TA_HOST_UNTRACED;
        host->track = works ? host->other : track;
        host_time_within(host, works ? its : row, now, stop);
        now = stop;
    }
    host->track = track;
}

void host_time_of(struct host_time *host, uint32_t track, ta_row last, int64_t from, int64_t to)
{
    host->track = track;
    const bool has_other = host->other != UINT32_MAX && host->other != track;
    struct open_span open = open_from(host, track, last, from);
    for (int64_t now = from; now < to;) {
        const ta_row row = open.row;
        const int64_t stop = go_on(host, &open, last, to);
        if (stop > now && has_other && may_wait_for_thread(host, row))
            look_at_other(host, row, now, stop);
        else
            host_time_within(host, row, now, stop);
        now = stop;
    }
}
