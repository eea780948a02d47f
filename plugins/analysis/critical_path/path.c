/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Following the critical path from its end to its start. */
#include "path.h"

#include "finder.h"

enum {
    UNTRACED_NS = 100000, /* below this the host is only between two spans */
    THREADS_MOST = 16     /* threads that are followed, the ones with most rows */
};

const char *path_class_name(enum path_class class)
{
    static const char *const names[PATH_CLASSES] = {
        [PATH_COMPUTE] = "compute",
        [PATH_COMM] = "communication",
        [PATH_COPY] = "copy",
        [PATH_OPERATOR] = "operator dispatch",
        [PATH_PYTHON] = "python",
        [PATH_CALL] = "runtime calls",
        [PATH_WAIT] = "return from wait",
        [PATH_SETUP] = "setup",
        [PATH_INPUT] = "input",
        [PATH_UNTRACED] = "host untraced",
        [PATH_LATENCY] = "launch latency",
        [PATH_FRONT_END] = "queued, same stream",
        [PATH_DEPENDENCY] = "queued, dependency",
        [PATH_UNKNOWN] = "unknown",
    };
    return names[class];
}

struct walk {
    struct path *path;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_categories categories;
    struct ta_activities activities;
    struct finder finder;
    uint32_t threads[THREADS_MOST];
    size_t n_threads;
    struct ta_kernels kernels;
    int64_t start, now; /* start of the window; the path has been followed back to now */
    size_t steps;       /* steps left: hostile times must not make an endless loop */
};

static enum ta_event_class class_of(const struct walk *w, ta_row row)
{
    return w->categories.at[w->spans.cat[row]].class;
}

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

/* Gives the time from `from` to now to a class, as far as it lies in the window. */
static void give(struct walk *w, int64_t from, enum path_class class, ta_row row)
{
    from = ta_max_i64(from, w->start);
    if (from >= w->now)
        return;
    w->path->take(w->path->user, class, row, w->now - from);
    w->now = from;
}

/* ---- the host ------------------------------------------------------------------------------ */

static enum ta_host_work work_of(const struct walk *w, ta_row row)
{
    return (enum ta_host_work)w->spans.work[row];
}

static enum path_class host_class(struct walk *w, ta_row row)
{
    static const uint8_t classes[TA_HOST_WORK_COUNT] = {
        [TA_HOST_UNTRACED] = PATH_UNTRACED, [TA_HOST_OPERATOR] = PATH_OPERATOR,
        [TA_HOST_PYTHON] = PATH_PYTHON,     [TA_HOST_LAUNCH] = PATH_CALL,
        [TA_HOST_GRAPH] = PATH_CALL,        [TA_HOST_CALL] = PATH_CALL,
        [TA_HOST_SYNC] = PATH_WAIT,         [TA_HOST_COPY] = PATH_WAIT,
        [TA_HOST_ALLOCATE] = PATH_SETUP,    [TA_HOST_COMPILE] = PATH_SETUP,
        [TA_HOST_DATA] = PATH_INPUT,        [TA_HOST_COLLECTIVE] = PATH_INPUT,
        [TA_HOST_PROFILER] = PATH_SETUP,
    };
    return row == TA_NO_ROW ? PATH_UNTRACED : (enum path_class)classes[work_of(w, row)];
}

/* The last host span of a track that begins before `time`, among the rows below `limit`.  It is
 * usually near the limit, so the search goes 1, 2, 4, … rows back and then bisects the last
 * step. */
static ta_row last_before(const struct walk *w, ta_row first, ta_row limit, int64_t time)
{
    const int64_t *const ts = w->spans.ts;
    ta_row low = limit, high = limit, step = 1;
    while (low > first && ts[low - 1] >= time) {
        high = low - 1;
        low = high - first > step ? high - step : first;
        step *= 2;
    }
    while (low < high) {
        const ta_row middle = low + (high - low) / 2;
        if (ts[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > first && !ta_class_is_host(class_of(w, low - 1)))
        low--;
    return low > first ? low - 1 : TA_NO_ROW;
}

/* The activity that the wait `row` waited for: the one that ended during it.  SIZE_MAX if the
 * device had finished before. */
static size_t waited_for(struct walk *w, ta_row row)
{
    const enum ta_host_work work = work_of(w, row);
    if (class_of(w, row) != TA_CLASS_RUNTIME || (work != TA_HOST_SYNC && work != TA_HOST_COPY))
        return SIZE_MAX;
    const size_t activity = finder_ended(&w->finder, w->now);
    if (activity == SIZE_MAX)
        return SIZE_MAX;
    const ta_row span = w->activities.at[activity].span;
    return end_of(w, span) > w->spans.ts[row] && w->spans.ts[span] < w->now ? activity : SIZE_MAX;
}

/* A position on a host thread: the last span of the track that began before now. */
struct place {
    ta_row first, row;
};

/* When the thread was last in a span; now if one is open. */
static int64_t last_active(const struct walk *w, struct place place)
{
    int64_t end = INT64_MIN;
    for (ta_row row = place.row; row != TA_NO_ROW; row = w->spans.parent[row])
        end = ta_max_i64(end, ta_min_i64(end_of(w, row), w->now));
    return end;
}

/* Changes to the thread that was active last before now, if that is later than `since`. */
static bool change_thread(struct walk *w, struct place *place, int64_t since)
{
    bool found = false;
    for (size_t i = 0; i < w->n_threads; i++) {
        const struct ta_track *t = &w->tracks.at[w->threads[i]];
        const struct place other =
            (struct place){t->first, last_before(w, t->first, t->first + t->n, w->now)};
        const int64_t active = other.row == TA_NO_ROW ? INT64_MIN : last_active(w, other);
        if (active <= since || other.first == place->first)
            continue;
        since = active;
        *place = other;
        found = true;
    }
    w->path->edges.likely += found;
    return found;
}

/* At the end of a launch: the activity that ran at that time, if the launched work had to queue. */
static size_t host_was_ahead(struct walk *w, ta_row call)
{
    if (call == TA_NO_ROW || end_of(w, call) != w->now)
        return SIZE_MAX;
    const size_t launched = finder_launched_by(&w->finder, call);
    if (launched == SIZE_MAX ||
        w->spans.ts[w->activities.at[launched].span] - w->now <= TA_FRONT_END_NS)
        return SIZE_MAX;
    /* What ran at that time on the device of the launched activity. */
    size_t i = launched;
    while (i > 0 && w->activities.at[i - 1].device == w->activities.at[launched].device) {
        const ta_row span = w->activities.at[--i].span;
        if (w->spans.ts[span] < w->now)
            return end_of(w, span) >= w->now ? i : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* If nothing was recorded of the host from `from` to now: the activity that ended last in
 * between. */
static size_t device_meanwhile(struct walk *w, ta_row open, int64_t from)
{
    if (w->now - from < UNTRACED_NS || host_class(w, open) != PATH_UNTRACED)
        return SIZE_MAX;
    const size_t activity = finder_ended(&w->finder, w->now);
    if (activity == SIZE_MAX || finder_end_of(&w->finder, activity) <= from ||
        w->spans.ts[w->activities.at[activity].span] >= w->now)
        return SIZE_MAX;
    return activity;
}

/* Leaves the host for an activity that ended, or was running, at or before now. */
static size_t leave(struct walk *w, size_t activity, bool is_known, enum path_class class,
                    ta_row row)
{
    w->path->edges.known += is_known;
    w->path->edges.likely += !is_known;
    give(w, finder_end_of(&w->finder, activity), class, row);
    return activity;
}

/* Follows host threads back from now.  Returns the activity at which the path leaves the host;
 * SIZE_MAX at its start. */
static size_t follow_host(struct walk *w, struct place place)
{
    while (w->now > w->start && w->steps-- > 0) {
        int64_t ended = INT64_MIN; /* the span with the latest end before now, which is not always
                                      the last one if spans cross */
        ta_row open = place.row;
        for (; open != TA_NO_ROW && end_of(w, open) < w->now; open = w->spans.parent[open])
            ended = ta_max_i64(ended, end_of(w, open));
        if (open == TA_NO_ROW && change_thread(w, &place, ended))
            continue;
        size_t activity = open == TA_NO_ROW ? SIZE_MAX : waited_for(w, open);
        if (activity != SIZE_MAX)
            return leave(w, activity, true, PATH_WAIT, open);
        if ((activity = host_was_ahead(w, open)) != SIZE_MAX)
            return leave(w, activity, false, PATH_CALL, open);
        const int64_t from = ended != INT64_MIN  ? ended
                             : open != TA_NO_ROW ? w->spans.ts[open]
                                                 : w->start;
        if ((activity = device_meanwhile(w, open, from)) != SIZE_MAX)
            return leave(w, activity, false, PATH_UNTRACED, open);
        give(w, from, host_class(w, open), open);
        if (place.row == TA_NO_ROW)
            break;
        place.row = last_before(w, place.first, place.row + 1, w->now);
    }
    return SIZE_MAX;
}

/* ---- the device ---------------------------------------------------------------------------- */

static enum path_class device_class(const struct walk *w, const struct ta_activity *a)
{
    if (a->kernel == TA_NO_KERNEL)
        return PATH_COPY;
    return w->kernels.at[a->kernel].facts.class == TA_KERNEL_COMM ? PATH_COMM : PATH_COMPUTE;
}

/* The activity before this one on its stream; SIZE_MAX for none.  Event waits of the stream may
 * lie between them. */
static size_t before_on_stream(const struct walk *w, ta_row row, bool *waits)
{
    const ta_row first = w->tracks.at[w->spans.track[row]].first;
    *waits = false;
    while (row > first) {
        row--;
        if (finder_at(&w->finder, row) != SIZE_MAX)
            return finder_at(&w->finder, row);
        *waits |= class_of(w, row) == TA_CLASS_SYNC;
    }
    return SIZE_MAX;
}

/* What had to end before an activity could begin. */
struct cause {
    int64_t ready; /* its end; INT64_MIN if there is none */
    size_t activity;
    ta_row call;         /* call at which the path goes on if not at an activity */
    enum path_class gap; /* class of the time from then on */
    bool known;
};

/* From the end of an activity goes back to what had to end before it, and so on. */
static void follow(struct walk *w, size_t activity)
{
    while (activity != SIZE_MAX && w->now > w->start && w->steps-- > 0) {
        const struct ta_activity *a = &w->activities.at[activity];
        give(w, w->spans.ts[a->span], device_class(w, a), a->span);
        const int64_t start = w->spans.ts[a->span];
        bool waits;
        const size_t before = before_on_stream(w, a->span, &waits);
        struct cause cause = {INT64_MIN, SIZE_MAX, TA_NO_ROW, PATH_UNKNOWN, false};
        if (before != SIZE_MAX) {
            cause.ready = ta_min_i64(finder_end_of(&w->finder, before), start);
            cause.activity = before;
            cause.gap = start - cause.ready <= TA_FRONT_END_NS ? PATH_FRONT_END : PATH_DEPENDENCY;
            cause.known = true;
        }
        if (a->launch != TA_NO_ROW) {
            const int64_t launched = ta_min_i64(end_of(w, a->launch), start);
            if (launched > cause.ready)
                cause = (struct cause){launched, SIZE_MAX, a->launch, PATH_LATENCY, true};
        }
        /* Work of another stream that ended later than all known causes: the activity waited for
         * it if its stream waits for an event, or if it began late for no other reason. */
        const size_t other = finder_ended(&w->finder, start);
        if (other != SIZE_MAX && other != cause.activity &&
            w->activities.at[other].span != a->span) {
            const ta_row span = w->activities.at[other].span;
            const bool late = cause.ready == INT64_MIN || start - cause.ready > TA_FRONT_END_NS;
            if (end_of(w, span) > cause.ready && w->spans.ts[span] < start && (waits || late))
                cause = (struct cause){end_of(w, span), other, TA_NO_ROW, PATH_DEPENDENCY, waits};
        }
        if (cause.ready == INT64_MIN)
            return;
        w->path->edges.known += cause.known;
        w->path->edges.likely += !cause.known;
        give(w, cause.ready, cause.gap, a->span);
        activity = cause.activity;
        if (cause.call != TA_NO_ROW) {
            const ta_row first = w->tracks.at[w->spans.track[cause.call]].first;
            activity = follow_host(w, (struct place){first, cause.call});
        }
    }
}

/* ---- the whole path ------------------------------------------------------------------------ */

/* Lists the threads of the host, the ones with most rows first. */
static void list_threads(struct walk *w)
{
    for (uint32_t t = 0; t < w->tracks.n; t++) {
        const struct ta_track *track = &w->tracks.at[t];
        if (track->n == 0 || !ta_class_is_host(class_of(w, track->first)))
            continue;
        size_t at = w->n_threads < THREADS_MOST ? w->n_threads++ : THREADS_MOST;
        for (; at > 0 && w->tracks.at[w->threads[at - 1]].n < track->n; at--)
            if (at < THREADS_MOST)
                w->threads[at] = w->threads[at - 1];
        if (at < THREADS_MOST)
            w->threads[at] = t;
    }
}

bool path_follow(struct path *path)
{
    struct walk w = {
        .path = path,
        .spans = ta_trace_spans(path->trace),
        .tracks = ta_trace_tracks(path->trace),
        .categories = ta_trace_categories(path->trace),
        .activities = ta_trace_activities(path->trace),
        .kernels = ta_trace_kernels(path->trace),
    };
    if (w.activities.n == 0)
        return true;
    w.steps = 2 * (w.spans.n + w.activities.n) + 16;
    const bool done = finder_open(&w.finder, path->trace);
    if (done) {
        const size_t last = finder_ended(&w.finder, INT64_MAX);
        list_threads(&w);
        w.start = w.finder.start;
        w.now = finder_end_of(&w.finder, last);
        follow(&w, last);
        give(&w, w.start, PATH_UNKNOWN, TA_NO_ROW);
    }
    finder_free(&w.finder);
    return done;
}
