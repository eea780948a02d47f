/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is counted in each trace, to say how far it can be trusted. */
#include "health.h"
#include "model/extent.h"
#include "model/lost.h"

#include <math.h>
#include <stdlib.h>

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_intervals overhead;
    int64_t *row;
};

static enum ta_event_class class_of(const struct search *s, ta_row row)
{
    return s->categories.at[s->spans.cat[row]].class;
}

static bool count_lost(struct search *s)
{
    const struct ta_lost *lost = ta_trace_lost(s->trace);
    if (!lost)
        return false;
    ta_sum(&s->row[HEALTH_CALLS], lost->calls);
    ta_sum(&s->row[HEALTH_LOST], (int64_t)lost->n - lost->head);
    ta_sum(&s->row[HEALTH_HEAD], lost->head);
    return true;
}

/* Each thread numbers its operators as they begin, together with the ranges around them, so from
 * one to the next the number grows by one or little more.  Of a trace that was thinned out it
 * jumps; a sample tells, as whatever thins a trace out does so throughout. */
static void count_successions(struct search *s)
{
    enum { LEAP = 3 };
    const struct ta_args ids = ta_trace_args(s->trace, "External id");
    int64_t pairs = 0, leaps = 0, before = 0;
    uint32_t track = UINT32_MAX;
    for (size_t i = 0; i < ids.n; i++) {
        const ta_row row = ids.row[i];
        if (ta_args_is_text(&ids, i) || class_of(s, row) != TA_CLASS_OP)
            continue;
        const int64_t id = ta_args_value(&ids, i);
        if (s->spans.track[row] == track) {
            pairs++;
            leaps += id <= before || id - before > LEAP;
        }
        track = s->spans.track[row];
        before = id;
    }
    if (pairs < HEALTH_FEW)
        return;
    ta_sum(&s->row[HEALTH_PAIRS], pairs);
    ta_sum(&s->row[HEALTH_LEAPS], leaps);
}

/* Times to look at for the resolution: enough, and cheap. */
enum { GRAIN_SAMPLES = 65536 };

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether spans of a category are what the profiler says it took itself. */
static bool is_overhead(const struct search *s, size_t category)
{
    return ta_slice_equal(ta_trace_text(s->trace, s->categories.at[category].name),
                          TA_LIT("overhead"));
}

/* The extent of the host's spans, and what of it was overhead.  False without memory. */
static bool measure_host(struct search *s)
{
    const struct ta_extent *extents = ta_trace_extents(s->trace);
    struct ta_extent host = TA_EXTENT_EMPTY;
    for (size_t c = 0; extents && c < s->categories.n; c++) {
        if (!ta_class_is_host(s->categories.at[c].class))
            continue;
        host = ta_extent_join(host, extents[c]);
        if (is_overhead(s, c)) {
            const ta_cat category = (ta_cat)c;
            for (ta_row row = 0; (row = ta_category_next(&s->spans, row, category)) < s->spans.n;
                 row++)
                ta_intervals_add(&s->overhead, s->spans.ts[row],
                                 s->spans.ts[row] + s->spans.dur[row]);
        }
    }
    ta_intervals_unite(&s->overhead);
    ta_sum(&s->row[HEALTH_OPENED], (int64_t)host.n);
    if (host.n) {
        ta_sum(&s->row[HEALTH_SPAN], host.end - host.start);
        ta_sum(&s->row[HEALTH_OVERHEAD], ta_intervals_length(&s->overhead));
    }
    return extents && !s->overhead.failed;
}

/* A clock that was set, or a time that is none, moves spans far away from all others. */
static bool look_for_strays(struct search *s)
{
    enum { FAR_NS_IN_S = 3600 };
    const int64_t far = INT64_C(1000000000) * FAR_NS_IN_S;
    const struct ta_tracks tracks = ta_trace_tracks(s->trace);
    int64_t first = INT64_MAX, last = INT64_MIN, strays = 0;
    for (size_t t = 0; t < tracks.n; t++) /* those of a track are in the order of their starts */
        if (tracks.at[t].n) {
            first = ta_min_i64(first, s->spans.ts[tracks.at[t].first]);
            last = ta_max_i64(last, s->spans.ts[tracks.at[t].first + tracks.at[t].n - 1]);
        }
    ta_sum(&s->row[HEALTH_FAR], 0);
    if (last - first <= far)
        return true; /* as nearly always */
    int64_t *starts = malloc(s->spans.n * sizeof *starts);
    if (!starts)
        return false;
    memcpy(starts, s->spans.ts, s->spans.n * sizeof *starts);
    ta_sort_times(starts, s->spans.n);
    const int64_t median = starts[s->spans.n / 2];
    for (ta_row row = 0; row < s->spans.n; row++)
        strays += llabs(s->spans.ts[row] - median) > far;
    free(starts);
    ta_sum(&s->row[HEALTH_FAR], strays);
    return true;
}

/* "/device:GPU:0" of JAX and TensorFlow, "GPU0" of rocprof, "Ascend Hardware".  Kineto names the
 * process of the host for both. */
static bool names_device(struct ta_slice name)
{
    static const char *const starts[] = {"/device:", "GPU", "TPU", "NPU", "XPU", "Ascend Hardware"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const size_t n = strlen(starts[i]);
        if (name.len >= n && memcmp(name.ptr, starts[i], n) == 0)
            return !memmem(name.ptr, name.len, "CPU", 3);
    }
    return false;
}

/* Device work in a form that nobody told us of looks like work of the host. */
static void look_for_devices(struct search *s)
{
    const struct ta_tracks tracks = ta_trace_tracks(s->trace);
    int64_t spans = 0;
    for (size_t t = 0; t < tracks.n; t++) {
        const struct ta_track *track = &tracks.at[t];
        if (track->process_name == TA_STR_ABSENT ||
            !names_device(ta_trace_text(s->trace, track->process_name)))
            continue;
        for (ta_row row = track->first; row < track->first + track->n; row++)
            spans += ta_class_is_host(class_of(s, row));
    }
    ta_sum(&s->row[HEALTH_DEVICE], spans);
}

enum ta_status health_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct search s = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
    };
    if (s.spans.n == 0)
        return TA_OK;
    s.row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    const struct ta_activities activities = ta_trace_activities(s.trace);
    int64_t linked = 0, early = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch == TA_NO_ROW)
            continue;
        linked++;
        const int64_t shift = s.spans.ts[a->launch] - s.spans.ts[a->span];
        if (shift > 0) {
            early++;
            ta_most(&s.row[HEALTH_SHIFT], shift);
        }
    }
    ta_sum(&s.row[HEALTH_ACTIVITIES], (int64_t)activities.n);
    ta_sum(&s.row[HEALTH_LINKED], linked);
    ta_sum(&s.row[HEALTH_EARLY], early);
    count_successions(&s);
    /* The largest number that divides all times. */
    int64_t first = INT64_MAX, grain = 0;
    for (ta_row row = 0; row < s.spans.n && row < GRAIN_SAMPLES && grain != 1; row++) {
        if (!ta_class_is_host(class_of(&s, row)))
            continue;
        first = ta_min_i64(first, s.spans.ts[row]);
        grain = divisor(divisor(llabs(s.spans.ts[row] - first), s.spans.dur[row]), grain);
    }
    if (grain)
        ta_least(&s.row[HEALTH_GRAIN], grain);
    look_for_devices(&s);
    const bool done = count_lost(&s) && measure_host(&s) && look_for_strays(&s) &&
                      health_count_names(trace, out[1]);
    ta_intervals_free(&s.overhead);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the checks of a trace");
}
