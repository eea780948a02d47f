/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.by_class, critical_path.by_name, critical_path.by_rank: what the length of the
 * run consists of. */
#include "model/launched.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

struct finder {
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_activities activities;
    int64_t start; /* of the first one */
    /* 1 + index of an activity, 0 for none: of_rows by row, for the tracks that have activities,
     * one track after the other from `offsets` on; of_calls, the first activity that a call
     * launched, by the number of that call. */
    uint32_t *of_rows, *of_calls;
    size_t *offsets, n_rows;
    const struct ta_launched *launched;
    uint32_t *by_end; /* NULL when activities are in the order of their ends */
    size_t n_ended;   /* number of these that may have ended by now; it only falls */
};

static inline int64_t finder_end_of(const struct finder *finder, size_t activity)
{
    const ta_row span = finder->activities.at[activity].span;
    return finder->spans.ts[span] + finder->spans.dur[span];
}

/* The activity of a span, on a track that has any; SIZE_MAX for none. */
static inline size_t finder_at(const struct finder *finder, ta_row row)
{
    const uint32_t track = finder->spans.track[row];
    const uint32_t *rows = finder->of_rows + finder->offsets[track];
    const uint32_t number = rows[row - finder->tracks.at[track].first];
    return number ? number - 1 : SIZE_MAX;
}

/* The first activity that a call launched; SIZE_MAX for none. */
static inline size_t finder_launched_by(const struct finder *finder, ta_row call)
{
    return ta_launched_has(finder->launched, call)
               ? finder->of_calls[ta_launched_place(finder->launched, call)] - 1
               : SIZE_MAX;
}

/* The activity that ended last, at `time` or earlier; SIZE_MAX for none.  `time` never exceeds
 * the one of the call before. */
static inline size_t finder_ended(struct finder *finder, int64_t time)
{
    for (; finder->n_ended; finder->n_ended--) {
        const size_t last = finder->n_ended - 1, i = finder->by_end ? finder->by_end[last] : last;
        if (finder_end_of(finder, i) <= time)
            return i;
    }
    return SIZE_MAX;
}

enum path_class {
    PATH_COMPUTE,
    PATH_COMM,
    PATH_COPY, /* copies and memory sets of the device */
    PATH_OPERATOR,
    PATH_PYTHON,
    PATH_CALL,
    PATH_WAIT, /* a wait of the host, from the end of the awaited work until the host continues */
    PATH_SETUP,
    PATH_INPUT,
    PATH_UNTRACED,
    PATH_LATENCY,
    PATH_FRONT_END,
    PATH_DEPENDENCY,
    PATH_UNKNOWN,
    PATH_CLASSES
};

/* Steps between segments of the path: proven by the trace, or only likely. */
struct path_edges {
    int64_t known, likely;
};

struct path {
    const struct ta_trace *trace;
    /* Takes each segment; `row` is its span, TA_NO_ROW if there is none. */
    void (*take)(void *user, enum path_class class, ta_row row, int64_t ns);
    void *user;
    struct path_edges edges;
};

/* ---- finder ---------------------------------------------------------------------------------- */

enum { NO_OFFSET = 0 }; /* of a track without activities: the first place is left out */

static int by_end(const void *left, const void *right, void *user)
{
    const struct finder *finder = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int64_t end = finder_end_of(finder, a), other = finder_end_of(finder, b);
    return end != other ? (end > other) - (end < other) : (a > b) - (a < b);
}

/* False without memory. */
static bool order_ends(struct finder *finder)
{
    const size_t n = finder->activities.n;
    finder->by_end = malloc(n * sizeof *finder->by_end);
    for (size_t i = 0; finder->by_end && i < n; i++)
        finder->by_end[i] = (uint32_t)i;
    if (finder->by_end)
        qsort_r(finder->by_end, n, sizeof *finder->by_end, by_end, finder);
    return finder->by_end != NULL;
}

static void place_call(struct finder *finder, uint32_t number, ta_row call)
{
    uint32_t *first = &finder->of_calls[ta_launched_place(finder->launched, call)];
    if (*first == 0)
        *first = number;
}

/* Indexes all activities, which are usually in the order of their ends.  False without memory. */
static bool place_all(struct finder *finder)
{
    const struct ta_spans *s = &finder->spans;
    bool ordered = true;
    int64_t before = INT64_MIN;
    for (size_t i = 0; i < finder->activities.n; i++) {
        const struct ta_activity *a = &finder->activities.at[i];
        const int64_t start = s->ts[a->span], end = start + s->dur[a->span];
        const uint32_t number = (uint32_t)i + 1;
        const uint32_t track = finder->spans.track[a->span];
        const struct ta_track *rows = &finder->tracks.at[track];
        size_t *offset = &finder->offsets[track];
        if (*offset == NO_OFFSET) {
            *offset = finder->n_rows;
            memset(finder->of_rows + *offset, 0, rows->n * sizeof *finder->of_rows);
            finder->n_rows += rows->n;
        }
        finder->of_rows[*offset + (a->span - rows->first)] = number;
        if (a->launch != TA_NO_ROW)
            place_call(finder, (uint32_t)i + 1, a->launch);
        finder->start = ta_min_i64(finder->start, start);
        ordered &= before <= end;
        before = end;
    }
    return ordered || order_ends(finder);
}

/* ---- path ------------------------------------------------------------------------------------ */

/* Following the critical path from its end to its start. */

enum {
    UNTRACED_NS = 100000, /* below this the host is only between two spans */
    THREADS_MOST = 16     /* threads that are followed, the ones with most rows */
};

static const char *path_class_name(enum path_class class)
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

/* Follows the path through the window of all devices; false without memory.  A trace without
 * device activities has no path. */
static bool path_follow(struct path *path)
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
    struct finder *finder = &w.finder;
    const struct ta_trace *trace = path->trace;
    *finder = (struct finder){
        .spans = ta_trace_spans(trace),
        .tracks = ta_trace_tracks(trace),
        .activities = ta_trace_activities(trace),
        .start = INT64_MAX,
        .n_rows = NO_OFFSET + 1,
        .launched = ta_trace_launched(trace),
    };
    finder->n_ended = finder->activities.n;
    finder->offsets = calloc(finder->tracks.n + 1, sizeof *finder->offsets);
    /* Untouched pages take no memory. */
    finder->of_rows = malloc((finder->spans.n + 1) * sizeof *finder->of_rows);
    finder->of_calls =
        finder->launched ? calloc(finder->launched->n + 1, sizeof *finder->of_calls) : NULL;
    const bool done = finder->offsets && finder->of_rows && finder->of_calls && place_all(finder);
    if (done) {
        const size_t last = finder_ended(&w.finder, INT64_MAX);
        list_threads(&w);
        w.start = w.finder.start;
        w.now = finder_end_of(&w.finder, last);
        follow(&w, last);
        give(&w, w.start, PATH_UNKNOWN, TA_NO_ROW);
    }
    free(w.finder.offsets);
    free(w.finder.of_rows);
    free(w.finder.of_calls);
    free(w.finder.by_end);
    return done;
}

/* ---- table ----------------------------------------------------------------------------------- */

enum { PARTIAL_CLASSES, PARTIAL_NAMES, PARTIAL_EDGES };
enum { CLASS_RANK, CLASS_CLASS, CLASS_PIECES, CLASS_TOTAL };
enum { NAME_CLASS, NAME_NAME, NAME_PIECES, NAME_TOTAL };
enum { EDGE_RANK, EDGE_KNOWN, EDGE_LIKELY, EDGE_WINDOW };

static const struct ta_field class_fields[] = {
    [CLASS_RANK] = {"rank", TA_FIELD_RANK},
    [CLASS_CLASS] = {"class", TA_FIELD_TEXT},
    [CLASS_PIECES] = {"pieces", TA_FIELD_SUM},
    [CLASS_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field name_fields[] = {
    [NAME_CLASS] = {"class", TA_FIELD_TEXT},
    [NAME_NAME] = {"name", TA_FIELD_TEXT},
    [NAME_PIECES] = {"pieces", TA_FIELD_SUM},
    [NAME_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field edge_fields[] = {
    [EDGE_RANK] = {"rank", TA_FIELD_RANK},
    [EDGE_KNOWN] = {"known", TA_FIELD_SUM},
    [EDGE_LIKELY] = {"likely", TA_FIELD_SUM},
    [EDGE_WINDOW] = {"window_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_CLASSES] = {"classes", class_fields, 4},
    [PARTIAL_NAMES] = {"names", name_fields, 4},
    [PARTIAL_EDGES] = {"edges", edge_fields, 4},
    {0},
};

/* The first columns are the fields of the partials; one more follows. */
enum { CLASS_SHARE = CLASS_TOTAL + 1, NAME_SHARE = NAME_TOTAL + 1 };

static const struct ta_column by_class_columns[] = {
    [CLASS_RANK] = TA_RANK_COLUMN,
    [CLASS_CLASS] = {"class", "Class", TA_TEXT, .read_as = TA_AS_PATH_CLASS,
                     .doc = "What the path goes through: work of the device, work of the host, or "
                            "the delay between them"},
    [CLASS_PIECES] = {"pieces", "Segments", TA_COUNT,
                      .doc = "Number of segments of the path in this class"},
    [CLASS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_PATH_TIME,
                     .doc = "Time on the path; the classes of a rank add up to its window"},
    [CLASS_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the rank's window"},
};

static const struct ta_table_def by_class = {
    "critical_path.by_class",
    "Critical path by class",
    TA_COLUMNS(by_class_columns),
    .doc =
        "The chain of work and waits that ends with the last activity of a rank's devices and "
        "covers their whole window. It is followed backwards: from an activity to what ended last "
        "before it, which is the activity before it on its stream, the call that launched it, or "
        "work of another stream that it waited for; along host threads span by span, and if a "
        "thread did nothing, to the thread that was active last; from a wait of the host to the "
        "activity that it waited for. If the host was ahead, that is, at a launch whose activity "
        "had to queue for more than 20 µs, or if nothing was recorded of the host for 100 µs while "
        "the device worked, the path follows the device. Speeding up what is not on the path saves "
        "nothing; speeding up what is on it saves at most the distance to the next best "
        "path.\n\nOne row per rank and class: `compute`, `communication`, `copy` on the device; "
        "`operator dispatch`, `python`, `runtime calls`, `setup` (allocation, compiling), `input` "
        "(data loading, collectives on the host), `return from wait`, `host untraced` on the host; "
        "between them `launch latency`, `queued, same stream`, `queued, dependency`, `unknown`.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_class_columns[CLASS_TOTAL], TA_DESCENDING}};

static const struct ta_column by_name_columns[] = {
    [NAME_CLASS] = {"class", "Class", TA_TEXT,
                    .doc = "What the path goes through: work of the device, work of the host, or "
                           "the delay between them"},
    [NAME_NAME] =
        {"name", "Name", TA_TEXT,
         .doc = "Kernel, operator, function or call; for time in a queue, the activity that waits"},
    [NAME_PIECES] = {"pieces", "Segments", TA_COUNT,
                     .doc = "Number of segments of the path with this class and name"},
    [NAME_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Time on the path, all ranks"},
    [NAME_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the paths of all ranks"},
};

static const struct ta_table_def by_name = {
    "critical_path.by_name",
    "Critical path by name",
    TA_COLUMNS(by_name_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per class and name on the path, all ranks.",
    .order = {&by_name_columns[NAME_TOTAL], TA_DESCENDING}};

enum { BY_RANK_RANK, BY_RANK_WINDOW, BY_RANK_KNOWN, BY_RANK_LIKELY, BY_RANK_COVERAGE };
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_WINDOW] =
        {"window_ns", "Length", TA_NS, .better = TA_LOWER,
         .doc =
             "Length of the path: from the first to the last activity of all devices of the rank"},
    [BY_RANK_KNOWN] =
        {"known", "Known steps", TA_COUNT, .better = TA_HIGHER,
         .doc = "Steps along the path that the trace proves: launches, order on a stream, waits"},
    [BY_RANK_LIKELY] = {"likely", "Likely steps", TA_COUNT, .better = TA_LOWER,
                        .doc = "Steps to the activity that happened to end last, without a record "
                               "that it was waited for"},
    [BY_RANK_COVERAGE] = {"coverage", "Known %", TA_RATIO, .better = TA_HIGHER,
                          .doc = "Known steps divided by all steps"},
};

static const struct ta_table_def by_rank = {
    "critical_path.by_rank", "Critical path by rank", TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank with device activities: the length of the path, and how much of it is "
           "known.",
    .tier = TA_TIER_DETAIL};

/* ---- map ----------------------------------------------------------------------------------- */

struct sum {
    int64_t pieces, ns;
};

/* Rows of a name: the path meets an activity as work and, before that, as work that waits for one
 * reason or another.  A kernel has two or three of these rows. */
enum { AS_WORK, AS_LATENCY, AS_FRONT_END, AS_DEPENDENCY, WAYS };

struct name_rows {
    enum path_class work; /* the class of the first row */
    int64_t *rows[WAYS];  /* NULL before the first piece */
};

struct collector {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *const *out;
    struct ta_map names;      /* rows of the partial by class and name */
    struct name_rows *places; /* by name, the most recent ones */
    struct sum classes[PATH_CLASSES];
};

static int way_of(enum path_class class)
{
    return class == PATH_LATENCY      ? AS_LATENCY
           : class == PATH_FRONT_END  ? AS_FRONT_END
           : class == PATH_DEPENDENCY ? AS_DEPENDENCY
                                      : AS_WORK;
}

/* The row of a class and a name. */
static int64_t *row_of(struct collector *c, enum path_class class, ta_str name)
{
    struct name_rows *place = &c->places[name];
    int64_t **row = &place->rows[way_of(class)];
    if (row == &place->rows[AS_WORK] && place->work != class) {
        place->work = class;
        *row = NULL;
    }
    if (*row)
        return *row;
    const struct ta_key keys[] = {ta_key_text(ta_slice_of(path_class_name(class))),
                                  ta_key_text(ta_host_place(ta_trace_text(c->trace, name)))};
    *row = ta_partial_cached(c->out[PARTIAL_NAMES], &c->names, (uint64_t) class << 32 | name, keys);
    return *row;
}

static void take_piece(void *user, enum path_class class, ta_row row, int64_t ns)
{
    struct collector *c = user;
    const ta_str name = row == TA_NO_ROW ? TA_STR_ABSENT : c->spans.name[row];
    int64_t *cells = row_of(c, class, name);
    ta_sum(&cells[NAME_PIECES], 1);
    ta_sum(&cells[NAME_TOTAL], ns);
    c->classes[class].pieces++;
    c->classes[class].ns = ta_add_sat(c->classes[class].ns, ns);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct collector c = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .out = out,
        .places = calloc(ta_trace_string_count(trace) + 1, sizeof *c.places),
    };
    struct path path = {.trace = trace, .take = take_piece, .user = &c};
    const bool done = c.places && path_follow(&path) && !c.names.failed;
    ta_map_free(&c.names);
    free(c.places);
    if (!done)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow the critical path of a trace");
    int64_t total = 0;
    for (int class = 0; class < PATH_CLASSES; class ++) {
        const struct sum *sum = &c.classes[class];
        if (sum->pieces == 0)
            continue;
        int64_t *cells =
            TA_PARTIAL_ROW(c.out[PARTIAL_CLASSES], ta_key_int(ta_trace_rank(c.trace)),
                           ta_key_text(ta_slice_of(path_class_name((enum path_class) class))));
        ta_sum(&cells[CLASS_PIECES], sum->pieces);
        ta_sum(&cells[CLASS_TOTAL], sum->ns);
        total = ta_add_sat(total, sum->ns);
    }
    if (total > 0) {
        int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_EDGES], ta_key_int(ta_trace_rank(trace)));
        ta_sum(&row[EDGE_KNOWN], path.edges.known);
        ta_sum(&row[EDGE_LIKELY], path.edges.likely);
        ta_sum(&row[EDGE_WINDOW], total);
    }
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

/* The window of a rank, which is the length of its path. */
static int64_t window_of(const struct ta_partial *edges, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(edges); i++)
        if (ta_partial_at(edges, i)[EDGE_RANK] == rank)
            return ta_partial_at(edges, i)[EDGE_WINDOW];
    return 0;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *classes = merged[PARTIAL_CLASSES];
    int64_t rank = TA_MISSING, window = 0;
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        if (i == 0 || row[CLASS_RANK] != rank) {
            rank = row[CLASS_RANK];
            window = window_of(merged[PARTIAL_EDGES], rank);
        }
        TA_ROW(out, by_class, [CLASS_RANK] = ta_int(row[CLASS_RANK]),
               [CLASS_CLASS] = ta_text(ta_partial_text(classes, row, CLASS_CLASS)),
               [CLASS_PIECES] = ta_int(row[CLASS_PIECES]), [CLASS_TOTAL] = ta_int(row[CLASS_TOTAL]),
               [CLASS_SHARE] =
                   window > 0 ? ta_num((double)row[CLASS_TOTAL] / (double)window) : ta_null());
    }
    const struct ta_partial *names = merged[PARTIAL_NAMES];
    double total = 0;
    for (size_t i = 0; i < ta_partial_rows(names); i++)
        total += (double)ta_partial_at(names, i)[NAME_TOTAL];
    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        const struct ta_slice name = ta_partial_text(names, row, NAME_NAME);
        TA_ROW(out, by_name, [NAME_CLASS] = ta_text(ta_partial_text(names, row, NAME_CLASS)),
               [NAME_NAME] = name.len ? ta_text(name) : ta_null(),
               [NAME_PIECES] = ta_int(row[NAME_PIECES]), [NAME_TOTAL] = ta_int(row[NAME_TOTAL]),
               [NAME_SHARE] = ta_num((double)row[NAME_TOTAL] / total));
    }
    for (size_t i = 0; i < ta_partial_rows(merged[PARTIAL_EDGES]); i++) {
        const int64_t *row = ta_partial_at(merged[PARTIAL_EDGES], i);
        const double steps = (double)row[EDGE_KNOWN] + (double)row[EDGE_LIKELY];
        TA_ROW(
            out, by_rank, [BY_RANK_RANK] = ta_int(row[EDGE_RANK]),
            [BY_RANK_WINDOW] = ta_int(row[EDGE_WINDOW]), [BY_RANK_KNOWN] = ta_int(row[EDGE_KNOWN]),
            [BY_RANK_LIKELY] = ta_int(row[EDGE_LIKELY]),
            [BY_RANK_COVERAGE] = steps > 0 ? ta_num((double)row[EDGE_KNOWN] / steps) : ta_null());
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_class, &by_name, &by_rank, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "critical_path",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, critical_path, &ops, .title = "Critical path",
          .summary = "What the length of the run consists of: critical_path.by_class",
          .version = "1");
