/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace to lanes of slices.
 *
 * Spans come by track and start. A host span is in the lane of its depth, any other in the first
 * lane that is free; so no two slices of a lane overlap, and a lane can be written as one walk over
 * time. When a trace has more spans than may be kept, those below a duration are left out and
 * summed up in bins. */
#include "analyze/timeline/labels.h"
#include "analyze/timeline/program.h"
#include "analyze/timeline/samples.h"
#include "model/backward.h"
#include "model/waiting.h"

#include <stdlib.h>

/* Spans nested more deeply than this are left out. */
enum { LANES_MOST = 256 };
/* Bytes of one packed slice at most: gap, duration, label, launch, delay, correlation. */
enum { SLICE_ROOM = 60 };

/* Rows of one track that are drawn together, top down. */
enum group { RANGES, HOST, DEVICE, GROUPS };

struct lane {
    TA_VEC(unsigned char) bytes;
    TA_VEC(unsigned char) busy;
    size_t n;
    uint64_t n_left_out;
    int64_t end_ns;                 /* of the last slice, kept or not, since the origin */
    int64_t correlation;            /* of the last slice that has one */
    int64_t kept_ns;                /* of the last slice that was kept */
    int64_t bin, bin_ns, bins_done; /* the bin being summed up, and those written */
    int64_t bin_end_ns;             /* of that bin; 0 before the first */
};

struct packer {
    const struct ta_trace *trace, *samples;
    struct ta_timeline_part *part;
    struct ta_labels labels;
    struct ta_spans spans;
    struct arg_cursor shapes, correlations;
    /* Of the spans [first, first + n): the call or the operator of the forward pass, or TA_NO_ROW.
     * No others have any. */
    struct {
        ta_row *of;
        ta_row first, n;
    } launch;
    bool *has_launches, *only_waits;   /* by track */
    int64_t *devices;                  /* by track; TA_MISSING: a host thread */
    enum group groups[UINT16_MAX + 1]; /* by category */
    struct lane lanes[GROUPS][LANES_MOST];
    size_t n_lanes[GROUPS];
    uint32_t *by_duration; /* slices that are kept */
    int64_t shortest_ns;   /* that is kept */
    int64_t width_ns;      /* of a bin */
};

/* ---- what to keep -------------------------------------------------------------------------- */

/* Finds when the last span ends, and the duration from which on at most `most` spans remain. */
static void look_over(struct packer *p, int64_t most)
{
    const struct ta_spans *spans = &p->spans;
    const int64_t origin = ta_trace_origin(p->trace);
    int64_t counts[TA_DURATION_CLASSES] = {0}, left = 0, latest = origin;
    for (size_t i = 0; i < spans->n; i++)
        latest = ta_max_i64(latest, spans->ts[i] + spans->dur[i]);
    for (size_t i = 0; (int64_t)spans->n > most && i < spans->n; i++)
        counts[ta_duration_class(spans->dur[i])]++;
    size_t class = TA_DURATION_CLASSES;
    while (class && left + counts[class - 1] <= most)
        left += counts[--class];
    p->shortest_ns = ta_duration_class_start(class);
    p->part->file.end_ns = latest - origin;
}

/* ---- one lane ------------------------------------------------------------------------------ */

/* Bytes of a lane up to which the next track has its memory. */
enum { LANE_KEPT = 64 * 1024 };

static void lane_free(struct lane *lane)
{
    free(lane->bytes.at);
    free(lane->busy.at);
    *lane = (struct lane){.n = 0};
}

static inline bool reserve(struct lane *lane)
{
    if (lane->bytes.max - lane->bytes.n >= SLICE_ROOM)
        return true;
    const size_t more = lane->bytes.max * 2 + 1024;
    unsigned char *grown = realloc(lane->bytes.at, more);
    if (!grown)
        return false;
    lane->bytes.at = grown;
    lane->bytes.max = more;
    return true;
}

static bool end_bin(struct packer *p, struct lane *lane)
{
    if (!lane->bin_ns)
        return true;
    unsigned char skip[10];
    const size_t n = ta_varint_write(skip, (uint64_t)(lane->bin - lane->bins_done));
    const int64_t share = lane->bin_ns >= p->width_ns
                              ? 255
                              : 1 + ta_whole(254.0 * (double)lane->bin_ns / (double)p->width_ns);
    bool done = true;
    for (size_t i = 0; i < n; i++)
        done &= ta_vec_push(&lane->busy, skip[i]);
    lane->bins_done = lane->bin + 1;
    lane->bin_ns = 0;
    return ta_vec_push(&lane->busy, (unsigned char)share) && done;
}

/* Sums a slice up in the bins that it touches; slices come by start. */
static bool leave_out(struct packer *p, struct lane *lane, int64_t start_ns, int64_t dur_ns)
{
    bool done = true;
    lane->n_left_out++;
    do {
        if (start_ns >= lane->bin_end_ns) {
            const int64_t bin = ta_min_i64(start_ns / p->width_ns, TA_TIMELINE_BINS - 1);
            done &= bin == lane->bin || end_bin(p, lane);
            lane->bin = bin;
            lane->bin_end_ns = bin == TA_TIMELINE_BINS - 1 ? INT64_MAX : (bin + 1) * p->width_ns;
        }
        const int64_t part = ta_min_i64(dur_ns, lane->bin_end_ns - start_ns);
        lane->bin_ns += ta_max_i64(part, 1);
        start_ns += part;
        dur_ns -= part;
    } while (dur_ns > 0);
    return done;
}

/* Numbers of a page are doubles: twice the difference of two ids has to be exact. */
#define CORRELATION_MOST (INT64_C(1) << 51)

/* 0 without a correlation id, else the change since the last one of the lane plus 1. */
static inline size_t write_correlation(struct packer *p, struct lane *lane, ta_row row,
                                       unsigned char *to)
{
    struct arg_cursor *cursor = &p->correlations;
    const int64_t id = arg_is_at(cursor, row) && !ta_args_is_text(&cursor->args, cursor->at)
                           ? ta_args_value(&cursor->args, cursor->at)
                           : 0;
    if (id <= 0 || id > CORRELATION_MOST)
        return ta_varint_write(to, 0);
    const int64_t change = id - lane->correlation;
    lane->correlation = id;
    return ta_varint_write(to, ta_zigzag(change) + 1);
}

static inline bool write_slice(struct packer *p, struct lane *lane, ta_row row, uint32_t label,
                               int64_t start_ns, bool has_launches)
{
    if (!reserve(lane))
        return false;
    const int64_t dur_ns = p->spans.dur[row];
    unsigned char *to = lane->bytes.at + lane->bytes.n;
    to += ta_varint_write(to, (uint64_t)(start_ns - lane->kept_ns));
    to += ta_varint_write(to, (uint64_t)dur_ns);
    to += ta_varint_write(to, label);
    if (has_launches) {
        const ta_row call =
            row - p->launch.first < p->launch.n ? p->launch.of[row - p->launch.first] : TA_NO_ROW;
        if (call == TA_NO_ROW) {
            *to++ = 0;
        } else {
            to += ta_varint_write(to, (uint64_t)p->spans.track[call] + 1);
            to += ta_varint_write(to, ta_zigzag(p->spans.ts[row] - p->spans.ts[call]));
            to += write_correlation(p, lane, row, to);
        }
    }
    lane->bytes.n = (size_t)(to - lane->bytes.at);
    lane->kept_ns = start_ns + dur_ns;
    lane->n++;
    p->by_duration[ta_duration_class(dur_ns)]++;
    return true;
}

/* ---- one track ----------------------------------------------------------------------------- */

/* The first lane from `hint` on that is free at a time; NULL when all are taken. */
static inline struct lane *free_lane(struct packer *p, enum group group, size_t hint,
                                     int64_t start_ns)
{
    size_t at = hint;
    while (at < p->n_lanes[group] && p->lanes[group][at].end_ns > start_ns)
        at++;
    if (at >= LANES_MOST)
        return NULL;
    for (; p->n_lanes[group] <= at; p->n_lanes[group]++) {
        struct lane *fresh = &p->lanes[group][p->n_lanes[group]];
        *fresh = (struct lane){.bytes = fresh->bytes, .busy = fresh->busy};
        fresh->bytes.n = fresh->busy.n = 0;
    }
    return &p->lanes[group][at];
}

static inline ta_str shapes_of(struct packer *p, ta_row row)
{
    struct arg_cursor *cursor = &p->shapes;
    return arg_is_at(cursor, row) && ta_args_is_text(&cursor->args, cursor->at)
               ? (ta_str)ta_args_value(&cursor->args, cursor->at)
               : TA_STR_ABSENT;
}

static bool add_span(struct packer *p, ta_row row, struct ta_timeline_track *track)
{
    const int64_t start_ns = p->spans.ts[row] - ta_trace_origin(p->trace);
    const int64_t dur_ns = p->spans.dur[row];
    const ta_cat cat = p->spans.cat[row];
    const enum group group = p->groups[cat];
    if (group == GROUPS) /* it only draws an arrow */
        return true;
    p->part->file.n_slices++;
    struct lane *lane = free_lane(p, group, group == HOST ? p->spans.depth[row] : 0, start_ns);
    if (!lane) {
        track->n_too_deep++;
        return true;
    }
    lane->end_ns = start_ns + dur_ns;
    if (dur_ns < p->shortest_ns)
        return leave_out(p, lane, start_ns, dur_ns);
    const uint32_t label = ta_labels_of(&p->labels, p->spans.name[row], cat, shapes_of(p, row),
                                        ta_labels_args(&p->labels, row));
    return write_slice(p, lane, row, label, start_ns, track->has_launches);
}

static const unsigned char *keep(struct ta_arena *arena, const unsigned char *bytes, size_t n)
{
    const struct ta_slice slice = {(const char *)bytes, n};
    return (const unsigned char *)ta_arena_copy(arena, n ? slice : TA_LIT(""));
}

/* Moves the lanes of a track, the empty ones left out, to where they stay.  The memory of a long
 * lane goes, so that a trace is not there twice for its longest track. */
static bool keep_lanes(struct packer *p, struct ta_timeline_track *track)
{
    struct ta_arena *arena = &p->part->arena;
    const size_t n = p->n_lanes[RANGES] + p->n_lanes[HOST] + p->n_lanes[DEVICE];
    struct ta_timeline_lane *kept = ta_arena_alloc(arena, (n + 1) * sizeof *kept);
    track->lanes = kept;
    bool done = kept != NULL;
    for (int group = 0; done && group < GROUPS; group++)
        for (size_t i = 0; done && i < p->n_lanes[group]; i++) {
            struct lane *lane = &p->lanes[group][i];
            done = end_bin(p, lane);
            if (lane->n + lane->n_left_out == 0)
                continue;
            kept[track->n_lanes++] =
                (struct ta_timeline_lane){.n = lane->n,
                                          .bytes = keep(arena, lane->bytes.at, lane->bytes.n),
                                          .size = lane->bytes.n,
                                          .n_left_out = lane->n_left_out,
                                          .busy = keep(arena, lane->busy.at, lane->busy.n),
                                          .busy_size = lane->busy.n};
            if (lane->bytes.max > LANE_KEPT)
                lane_free(lane);
        }
    return done && !arena->failed;
}

static const char *copy_text(struct packer *p, ta_str id)
{
    return ta_arena_copy(&p->part->arena,
                         id == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(p->trace, id));
}

/* False without memory. */
static bool pack_track(struct packer *p, size_t number, struct ta_timeline_track *track)
{
    const struct ta_track *from = &ta_trace_tracks(p->trace).at[number];
    *track = (struct ta_timeline_track){.process = copy_text(p, from->process_name),
                                        .thread = copy_text(p, from->thread_name),
                                        .pid = copy_text(p, from->pid),
                                        .tid = copy_text(p, from->tid),
                                        .device = p->devices[number],
                                        .has_launches = p->has_launches[number],
                                        .only_waits = p->only_waits[number]};
    memset(p->n_lanes, 0, sizeof p->n_lanes);
    bool done = true;
    for (ta_row row = from->first; done && row < from->first + from->n; row++)
        done = add_span(p, row, track);
    return done && keep_lanes(p, track);
}

static bool pack_tracks(struct packer *p)
{
    struct ta_timeline_file *file = &p->part->file;
    const size_t n = ta_trace_tracks(p->trace).n;
    struct ta_timeline_track *tracks = ta_arena_alloc(&p->part->arena, (n + 1) * sizeof *tracks);
    file->tracks = tracks;
    for (; tracks && file->n_tracks < n; file->n_tracks++)
        if (!pack_track(p, file->n_tracks, &tracks[file->n_tracks]))
            return false;
    return tracks != NULL;
}

/* ---- one trace ----------------------------------------------------------------------------- */

/* Number of the device where the trace does not name it. */
enum { SOME_DEVICE = -1 };

static void read_activities(struct packer *p)
{
    const struct ta_activities activities = ta_trace_activities(p->trace);
    const size_t n_tracks = ta_trace_tracks(p->trace).n;
    for (size_t i = 0; i < n_tracks; i++)
        p->devices[i] = TA_MISSING;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *activity = &activities.at[i];
        int64_t *device = &p->devices[p->spans.track[activity->span]];
        p->launch.of[activity->span - p->launch.first] = activity->launch;
        p->has_launches[p->spans.track[activity->span]] = true;
        if (*device == TA_MISSING)
            *device = activity->device == TA_MISSING ? SOME_DEVICE : activity->device;
    }
}

/* What the backward pass does leads back to the operator of the forward pass that asked for it. */
static void read_backward(struct packer *p, const struct ta_backward_links *links)
{
    for (size_t i = 0; i < links->n; i++) {
        p->launch.of[links->at[i].backward - p->launch.first] = links->at[i].forward;
        p->launch.of[links->at[i].node - p->launch.first] = links->at[i].forward;
        p->has_launches[p->spans.track[links->at[i].backward]] = true;
    }
}

static void widen(struct packer *p, ta_row row)
{
    const ta_row end = p->launch.n ? p->launch.first + p->launch.n : row;
    p->launch.first = p->launch.n && p->launch.first < row ? p->launch.first : row;
    p->launch.n = (end > row + 1 ? end : row + 1) - p->launch.first;
}

/* Spans of devices have tracks side by side, mostly.  False without memory. */
static bool make_launches(struct packer *p, const struct ta_backward_links *links)
{
    const struct ta_activities activities = ta_trace_activities(p->trace);
    for (size_t i = 0; i < activities.n; i++)
        widen(p, activities.at[i].span);
    for (size_t i = 0; i < links->n; i++) {
        widen(p, links->at[i].backward);
        widen(p, links->at[i].node);
    }
    p->launch.of = malloc((p->launch.n + 1) * sizeof *p->launch.of);
    if (p->launch.of)
        memset(p->launch.of, 0xff, p->launch.n * sizeof *p->launch.of); /* TA_NO_ROW */
    return p->launch.of != NULL;
}

/* False without memory. */
static bool read_launches(struct packer *p)
{
    const struct ta_backward_links *links = ta_trace_backward(p->trace);
    const size_t n_tracks = ta_trace_tracks(p->trace).n;
    p->devices = malloc((n_tracks + 1) * sizeof *p->devices);
    p->has_launches = calloc(n_tracks + 1, sizeof *p->has_launches);
    p->only_waits = ta_trace_waiting_threads(p->trace);
    if (!links || !p->devices || !p->has_launches || !p->only_waits || !make_launches(p, links))
        return false;
    read_activities(p);
    read_backward(p, links);
    return true;
}

static void read_categories(struct packer *p)
{
    const struct ta_categories categories = ta_trace_categories(p->trace);
    for (size_t i = 0; i < categories.n; i++) {
        const enum ta_event_class class = categories.at[i].class;
        p->groups[i] = ta_class_is_host(class)                                 ? HOST
                       : ta_class_is_device(class)                             ? DEVICE
                       : class == TA_CLASS_FLOW || ta_class_is_captured(class) ? GROUPS
                                                                               : RANGES;
    }
}

static bool pack(struct packer *p, struct ta_timeline_pool *pool, int64_t most)
{
    struct ta_timeline_part *part = p->part;
    struct ta_timeline_file *file = &part->file;
    const int64_t origin = ta_trace_origin(p->trace), base = ta_trace_base_ns(p->trace);
    p->spans = ta_trace_spans(p->trace);
    p->shapes.args = ta_trace_args(p->trace, "Input Dims");
    p->correlations.args = ta_trace_args(p->trace, "correlation");
    look_over(p, most);
    file->shortest_ns = p->shortest_ns;
    p->width_ns = file->end_ns / TA_TIMELINE_BINS + 1;
    file->clock_ns = ta_add_sat(base == TA_MISSING ? 0 : base, origin);
    part->origin_ns = base == TA_MISSING ? TA_MISSING : base + origin;
    file->by_duration = p->by_duration =
        ta_arena_alloc(&part->arena, TA_DURATION_CLASSES * sizeof *p->by_duration);
    read_categories(p);
    return p->by_duration && read_launches(p) && ta_labels_init(&p->labels, p->trace) &&
           pack_tracks(p) && ta_timeline_pack_samples(part, p->samples) &&
           ta_labels_settle(&p->labels, pool, part) &&
           ta_timeline_pack_program(part, pool, p->trace);
}

static void packer_free(struct packer *p)
{
    for (int group = 0; group < GROUPS; group++)
        for (size_t i = 0; i < LANES_MOST; i++)
            lane_free(&p->lanes[group][i]);
    ta_labels_free(&p->labels);
    free(p->devices);
    free(p->has_launches);
    free(p->only_waits);
    free(p->launch.of);
    free(p);
}

struct ta_timeline_part *ta_timeline_pack(struct ta_ctx *ctx, struct ta_timeline_pool *pool,
                                          const struct ta_trace *trace,
                                          const struct ta_trace *samples, int64_t most)
{
    struct packer *p = calloc(1, sizeof *p);
    struct ta_timeline_part *part = calloc(1, sizeof *part);
    bool done = p && part;
    if (done) {
        p->trace = trace;
        p->samples = samples;
        p->part = part;
        done = pack(p, pool, most);
    }
    if (p)
        packer_free(p);
    if (done)
        return part;
    ta_timeline_part_free(part);
    ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the timeline of a trace");
    return NULL;
}

void ta_timeline_part_free(struct ta_timeline_part *part)
{
    if (!part)
        return;
    ta_arena_free(&part->arena);
    free(part->labels);
    free(part);
}

int64_t ta_timeline_share(size_t files)
{
    return ta_max_i64(TA_TIMELINE_SLICES / (files ? (int64_t)files : 1), TA_TIMELINE_SLICES_LEAST);
}
