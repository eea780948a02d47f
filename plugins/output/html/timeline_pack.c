/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that travel to the script (timeline_data.js reads them).
 *
 * All numbers are varints. First the texts, labels, files, tracks and lanes; then columns, one
 * after the other, each with its length in front and each over all lanes: gaps, durations, labels,
 * launching tracks, launch delays, busy bins; times and values of counters. Similar values are
 * adjacent, which is what deflate compresses well.
 *
 * In the lanes are slices that the page holds as they are; the others are summed up in bins. Parts
 * of about the same size are packed at the same time. */
#include "timeline.h"

#include "base/share.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- growing bytes ------------------------------------------------------------------------- */

struct bytes {
    unsigned char *at;
    size_t n, max;
    bool failed;
};

static inline bool bytes_reserve(struct bytes *bytes, size_t more)
{
    if (bytes->max - bytes->n >= more)
        return true;
    const size_t wanted = bytes->max * 2 + more + 1024;
    unsigned char *grown = bytes->failed ? NULL : realloc(bytes->at, wanted);
    if (!grown) {
        bytes->failed = true;
        return false;
    }
    bytes->at = grown;
    bytes->max = wanted;
    return true;
}

static inline void put_number(struct bytes *to, uint64_t value)
{
    if (bytes_reserve(to, 10))
        to->n += ta_varint_write(to->at + to->n, value);
}

static inline void put_bytes(struct bytes *to, const void *bytes, size_t n)
{
    if (n && bytes_reserve(to, n)) {
        memcpy(to->at + to->n, bytes, n);
        to->n += n;
    }
}

static inline void put_signed(struct bytes *to, int64_t value)
{
    put_number(to, ta_zigzag(value));
}

/* timeline_data.js has these numbers. */
_Static_assert(TA_SLICE_GEMM == 0 && TA_SLICE_OP == 12 && TA_SLICE_RUNTIME == 13 &&
                   TA_SLICE_HOST == 14 && TA_SLICE_RANGE == 15 && TA_SLICE_PHASE == 17,
               "kinds of slices");
_Static_assert(TA_TIMELINE_ARGS == 7 && TA_ARG_BYTES == 3 && TA_ARG_GROUP == 6,
               "arguments of slices");

/* ---- lanes ----------------------------------------------------------------------------------- */

enum lane_column {
    GAPS,
    DURATIONS,
    LABELS,
    LAUNCH_TRACKS,
    DELAYS,
    CORRELATIONS,
    BUSY,
    LANE_COLUMNS
};

/* A lane, and what became of it. */
struct lane {
    const struct ta_timeline_file *file;
    const struct ta_timeline_track *track;
    const struct ta_timeline_lane *from;
    size_t window; /* the first that may matter to it */
    uint64_t kept, left_out, busy_size;
};

/* Lanes [first, end) of all, packed by one thread. */
struct lanes_part {
    size_t first, end;
    struct bytes columns[LANE_COLUMNS];
};

/* All lanes of a timeline, by file, track and place. */
struct lanes {
    const struct ta_timeline *timeline;
    const struct pick *pick;
    struct lane *at;
    struct lanes_part *parts; /* their columns are to be joined in this order */
    size_t n, n_parts;
    _Atomic unsigned char *is_used; /* by label of the timeline: whether a kept slice has it */
};

/* Bytes of the timeline in a part, but for its last lane. */
enum { PART_BYTES = 1 << 19 };

/* Slices come by start, so windows that end before one are over for all that follow. */
static inline bool is_in_window(const struct lanes *lanes, const struct lane *lane, size_t *at,
                                const struct ta_timeline_slice *slice)
{
    const struct window *windows = lanes->pick->windows;
    const size_t n = lanes->pick->n_windows;
    const int64_t rank = lane->file->rank;
    while (*at < n && windows[*at].rank == rank && windows[*at].end_ns <= slice->start_ns)
        ++*at;
    return *at < n && windows[*at].rank == rank &&
           windows[*at].start_ns < slice->start_ns + ta_max_i64(slice->dur_ns, 1);
}

static int64_t bin_width(const struct lanes *lanes, const struct ta_timeline_file *file)
{
    return (file->end_ns / TA_TIMELINE_BINS + 1) * (TA_TIMELINE_BINS / lanes->pick->bins);
}

/* What is left out of a lane, by bin. */
struct bins {
    double *busy;
    uint32_t n;
    int64_t width;
    int64_t at, end_ns; /* the bin in which the last slice began; slices come by start */
};

static inline void sum_up(struct bins *bins, const struct ta_timeline_slice *slice)
{
    int64_t start_ns = slice->start_ns, dur_ns = slice->dur_ns;
    if (start_ns >= bins->end_ns) {
        bins->at = ta_min_i64(start_ns / bins->width, bins->n - 1);
        bins->end_ns = (bins->at + 1) * bins->width;
    }
    int64_t bin = bins->at, end_ns = bins->end_ns;
    while (bin + 1 < bins->n && start_ns + dur_ns > end_ns) {
        bins->busy[bin++] += (double)(end_ns - start_ns);
        dur_ns -= end_ns - start_ns;
        start_ns = end_ns;
        end_ns += bins->width;
    }
    bins->busy[bin] += (double)ta_max_i64(ta_min_i64(dur_ns, end_ns - start_ns), 1);
}

/* What was left out when the trace was read. */
static void sum_up_earlier(struct bins *bins, const struct ta_timeline_lane *lane)
{
    const uint32_t narrow = TA_TIMELINE_BINS / bins->n;
    const double each = (double)bins->width / narrow;
    const unsigned char *at = lane->busy, *end = at + lane->busy_size;
    for (uint64_t bin = 0; at < end; bin++) {
        bin += ta_varint_read(&at, end);
        if (at < end && bin < TA_TIMELINE_BINS)
            bins->busy[bin / narrow] += (double)*at++ / 255 * each;
    }
}

/* What the numbers of a slice are written relative to. */
struct slice_before {
    int64_t end_ns, correlation;
};

static inline void put_launch(struct lanes_part *part, const struct ta_timeline_slice *slice,
                              struct slice_before *before)
{
    if (slice->launch_track == UINT32_MAX) {
        put_number(&part->columns[LAUNCH_TRACKS], 0);
        return;
    }
    put_number(&part->columns[LAUNCH_TRACKS], slice->launch_track + 1);
    put_signed(&part->columns[DELAYS], slice->delay_ns);
    if (slice->correlation == TA_MISSING) {
        put_number(&part->columns[CORRELATIONS], 0);
        return;
    }
    put_number(&part->columns[CORRELATIONS],
               ta_zigzag(slice->correlation - before->correlation) + 1);
    before->correlation = slice->correlation;
}

static inline void put_slice(const struct lanes *lanes, struct lanes_part *part,
                             const struct ta_timeline_slice *slice, struct slice_before *before,
                             bool has_launches)
{
    /* Threads only ever set it, so the order does not matter. */
    if (!atomic_load_explicit(&lanes->is_used[slice->label], memory_order_relaxed))
        atomic_store_explicit(&lanes->is_used[slice->label], 1, memory_order_relaxed);
    put_number(&part->columns[GAPS], (uint64_t)(slice->start_ns - before->end_ns));
    put_number(&part->columns[DURATIONS], (uint64_t)slice->dur_ns);
    put_number(&part->columns[LABELS], slice->label);
    if (has_launches)
        put_launch(part, slice, before);
    before->end_ns = slice->start_ns + slice->dur_ns;
}

/* `busy` has room for the ns of left-out slices by bin. */
static void put_lane(const struct lanes *lanes, struct lanes_part *part, struct lane *lane,
                     double *busy)
{
    struct ta_timeline_cursor cursor = ta_timeline_open(lane->file, lane->track, lane->from);
    struct ta_timeline_slice slice;
    struct bins bins = {
        .busy = busy, .n = lanes->pick->bins, .width = bin_width(lanes, lane->file)};
    const int64_t shortest_ns = lanes->pick->shortest_ns;
    const bool is_program = lane->track == &lane->file->program; /* few, and others lead there */
    struct slice_before before = {0};
    size_t window = lane->window;
    uint64_t kept = 0, left_out = lane->from->n_left_out;
    if (shortest_ns || left_out)
        memset(busy, 0, bins.n * sizeof *busy);
    while (ta_timeline_next(&cursor, &slice)) {
        if (slice.dur_ns >= shortest_ns || is_program ||
            is_in_window(lanes, lane, &window, &slice)) {
            put_slice(lanes, part, &slice, &before, lane->track->has_launches);
            kept++;
        } else {
            sum_up(&bins, &slice);
            left_out++;
        }
    }
    if (lane->from->n_left_out)
        sum_up_earlier(&bins, lane->from);
    const size_t busy_before = part->columns[BUSY].n;
    if (left_out) {
        uint64_t skipped = 0;
        for (uint32_t bin = 0; bin < bins.n; bin++) {
            if (bins.busy[bin] <= 0) {
                skipped++;
                continue;
            }
            const double share = fmin(1, bins.busy[bin] / (double)bins.width);
            const unsigned char byte = (unsigned char)ta_whole_int(ceil(share * 255));
            put_number(&part->columns[BUSY], skipped);
            put_bytes(&part->columns[BUSY], &byte, 1);
            skipped = 0;
        }
    }
    lane->kept = kept;
    lane->left_out = left_out;
    lane->busy_size = part->columns[BUSY].n - busy_before;
}

static enum ta_status pack_part(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct lanes *lanes = user;
    /* On its own stack: other threads write to the neighboring parts, in the same cache lines. */
    struct lanes_part part = lanes->parts[i];
    double *busy = calloc(lanes->pick->bins, sizeof *busy);
    bool done = busy != NULL;
    for (size_t lane = part.first; done && lane < part.end; lane++)
        put_lane(lanes, &part, &lanes->at[lane], busy);
    free(busy);
    for (int c = 0; c < LANE_COLUMNS; c++)
        done &= !part.columns[c].failed;
    lanes->parts[i] = part;
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot pack the timeline");
}

/* Lists the lanes of a track; the part at hand has `bytes` so far. */
static void list_lanes(struct lanes *lanes, const struct ta_timeline_file *file,
                       const struct ta_timeline_track *track, size_t window, size_t *bytes)
{
    for (size_t l = 0; l < track->n_lanes; l++) {
        if (*bytes >= PART_BYTES) {
            lanes->parts[lanes->n_parts++].first = lanes->n;
            *bytes = 0;
        }
        lanes->at[lanes->n++] =
            (struct lane){.file = file, .track = track, .from = &track->lanes[l], .window = window};
        lanes->parts[lanes->n_parts - 1].end = lanes->n;
        *bytes += track->lanes[l].size;
    }
}

/* Lists the lanes and cuts the list into parts. */
static bool part_lanes(struct lanes *lanes)
{
    const struct ta_timeline *timeline = lanes->timeline;
    size_t n = 0;
    for (size_t i = 0; i < timeline->n_files; i++) {
        n += timeline->files[i].program.n_lanes;
        for (size_t t = 0; t < timeline->files[i].n_tracks; t++)
            n += timeline->files[i].tracks[t].n_lanes;
    }
    lanes->at = calloc(n + 1, sizeof *lanes->at);
    lanes->parts = calloc(n + 1, sizeof *lanes->parts);
    if (!lanes->at || !lanes->parts)
        return false;
    size_t window = 0, bytes = PART_BYTES;
    for (size_t i = 0; i < timeline->n_files; i++) {
        const struct ta_timeline_file *file = &timeline->files[i];
        while (window < lanes->pick->n_windows && lanes->pick->windows[window].rank < file->rank)
            window++;
        list_lanes(lanes, file, &file->program, window, &bytes);
        for (size_t t = 0; t < file->n_tracks; t++)
            list_lanes(lanes, file, &file->tracks[t], window, &bytes);
    }
    return true;
}

/* The columns after the columns of the lanes. */
enum { TIMES, VALUES, COUNTER_COLUMNS };

struct packer {
    struct lanes lanes;
    struct packed *packed;
    struct bytes texts, labels, files, columns[COUNTER_COLUMNS];
    struct ta_map text_of; /* address of a text → its number */
    uint64_t n_texts;
};

/* ---- texts and labels: each once ------------------------------------------------------------ */

/* 0 means a text that was not recorded. */
static void put_text(struct packer *p, struct bytes *to, struct ta_slice text)
{
    if (!text.ptr) {
        put_number(to, 0);
        return;
    }
    const uint64_t *at = ta_map_at(&p->text_of, (uintptr_t)text.ptr, p->n_texts + 1);
    if (at && *at == p->n_texts + 1) {
        p->n_texts++;
        put_number(&p->texts, text.len);
        put_bytes(&p->texts, text.ptr, text.len);
    }
    put_number(to, at ? *at : 0);
}

/* All labels keep their numbers; those that no slice of the page has stay without texts. */
static void put_labels(struct packer *p)
{
    static const struct ta_timeline_label unused = {.kind = 0};
    for (size_t i = 0; i < p->lanes.timeline->n_labels; i++) {
        const struct ta_timeline_label *label =
            p->lanes.is_used[i] ? &p->lanes.timeline->labels[i] : &unused;
        put_text(p, &p->labels, label->name);
        put_text(p, &p->labels, label->brief);
        put_text(p, &p->labels, label->category);
        put_text(p, &p->labels, label->shapes);
        for (int arg = 0; arg < TA_TIMELINE_ARGS; arg++)
            put_text(p, &p->labels, label->args[arg]);
        put_number(&p->labels, label->kind);
    }
}

/* ---- tracks and counters ------------------------------------------------------------------- */

/* The lanes of the track are those from *lane on. */
static void put_track(struct packer *p, const struct ta_timeline_track *track,
                      const struct lane **lane, bool is_program)
{
    put_text(p, &p->files, ta_slice_of(track->process));
    put_text(p, &p->files, ta_slice_of(track->thread));
    put_text(p, &p->files, ta_slice_of(track->pid));
    put_text(p, &p->files, ta_slice_of(track->tid));
    put_number(&p->files, track->device == TA_MISSING ? 0 : ta_zigzag(track->device) + 1);
    put_number(&p->files, track->has_launches | (uint64_t)track->only_waits << 1);
    put_number(&p->files, track->n_lanes);
    for (size_t i = 0; i < track->n_lanes; i++, ++*lane) {
        put_number(&p->files, (*lane)->kept);
        put_number(&p->files, (*lane)->left_out);
        put_number(&p->files, (*lane)->busy_size);
        p->packed->n_kept += is_program ? 0 : (*lane)->kept; /* they are none of the trace */
    }
    p->packed->n_too_deep += track->n_too_deep;
}

/* Whether all values are integers that differ by what a varint is good at. */
static bool is_integral(const struct ta_timeline_counter *counter)
{
    for (size_t i = 0; i < counter->n; i++)
        if (!(fabs(counter->values[i]) < 1e15) || trunc(counter->values[i]) != counter->values[i])
            return false;
    return true;
}

static void put_counter(struct packer *p, const struct ta_timeline_counter *counter)
{
    const bool integral = is_integral(counter);
    put_text(p, &p->files, ta_slice_of(counter->process));
    put_text(p, &p->files, ta_slice_of(counter->name));
    put_text(p, &p->files, ta_slice_of(counter->series));
    put_text(p, &p->files,
             counter->unit == TA_UNIT_HERTZ ? TA_LIT("hertz")
                                            : ta_slice_of(ta_unit_name(counter->unit)));
    put_number(&p->files, counter->n);
    put_number(&p->files, counter->n_recorded);
    put_number(&p->files, integral);
    int64_t before_ns = 0, before = 0;
    for (size_t i = 0; i < counter->n; i++) {
        put_signed(&p->columns[TIMES], counter->ts_ns[i] - before_ns);
        before_ns = counter->ts_ns[i];
        if (integral) {
            put_signed(&p->columns[VALUES], ta_whole(counter->values[i]) - before);
            before = ta_whole(counter->values[i]);
        } else {
            put_bytes(&p->columns[VALUES], &counter->values[i], sizeof(double));
        }
    }
}

static const struct ta_timeline_track no_program = {
    .process = "", .thread = "", .pid = "", .tid = "", .device = TA_MISSING};

static void put_file(struct packer *p, const struct ta_timeline_file *file,
                     const struct lane **lane)
{
    put_signed(&p->files, file->rank);
    put_text(p, &p->files, ta_slice_of(file->path));
    put_signed(&p->files, file->offset_ns);
    put_number(&p->files, (uint64_t)file->end_ns);
    put_number(&p->files, (uint64_t)bin_width(&p->lanes, file));
    put_track(p, file->program.n_lanes ? &file->program : &no_program, lane, true);
    put_number(&p->files, file->n_tracks);
    for (size_t i = 0; i < file->n_tracks; i++)
        put_track(p, &file->tracks[i], lane, false);
    put_number(&p->files, file->n_counters);
    for (size_t i = 0; i < file->n_counters; i++)
        put_counter(p, &file->counters[i]);
    p->packed->n_slices += file->n_slices;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_column(struct packer *p, struct bytes *all, int column)
{
    size_t n = 0;
    for (size_t i = 0; i < p->lanes.n_parts; i++)
        n += p->lanes.parts[i].columns[column].n;
    put_number(all, n);
    for (size_t i = 0; i < p->lanes.n_parts; i++)
        put_bytes(all, p->lanes.parts[i].columns[column].at, p->lanes.parts[i].columns[column].n);
}

static bool put_timeline(struct packer *p, struct bytes *all)
{
    const struct ta_timeline *timeline = p->lanes.timeline;
    const struct lane *lane = p->lanes.at;
    for (size_t i = 0; i < timeline->n_files; i++)
        put_file(p, &timeline->files[i], &lane);
    put_labels(p);
    put_number(all, p->n_texts);
    put_bytes(all, p->texts.at, p->texts.n);
    put_number(all, timeline->n_labels);
    put_bytes(all, p->labels.at, p->labels.n);
    put_number(all, timeline->n_files);
    put_bytes(all, p->files.at, p->files.n);
    for (int i = 0; i < LANE_COLUMNS; i++)
        put_column(p, all, i);
    bool failed = p->texts.failed || p->labels.failed || p->files.failed || p->text_of.failed;
    for (int i = 0; i < COUNTER_COLUMNS; i++) {
        put_number(all, p->columns[i].n);
        put_bytes(all, p->columns[i].at, p->columns[i].n);
        failed |= p->columns[i].failed;
    }
    return !failed && !all->failed;
}

static void packer_free(struct packer *p)
{
    for (size_t i = 0; i < p->lanes.n_parts; i++)
        for (int c = 0; c < LANE_COLUMNS; c++)
            free(p->lanes.parts[i].columns[c].at);
    free(p->lanes.parts);
    free(p->lanes.at);
    free(p->lanes.is_used);
    for (int i = 0; i < COUNTER_COLUMNS; i++)
        free(p->columns[i].at);
    free(p->texts.at);
    free(p->labels.at);
    free(p->files.at);
    ta_map_free(&p->text_of);
}

bool timeline_pack(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct pick *pick,
                   struct packed *packed)
{
    struct bytes all = {0};
    struct packer p = {.lanes = {.timeline = timeline, .pick = pick}, .packed = packed};
    struct lanes *const lanes = &p.lanes;
    *packed = (struct packed){0};
    lanes->is_used = calloc(timeline->n_labels + 1, sizeof *lanes->is_used);
    const bool done = lanes->is_used && part_lanes(lanes) &&
                      ta_share_tasks(ctx, lanes->n_parts, pack_part, lanes) == TA_OK &&
                      put_timeline(&p, &all);
    if (done) {
        packed->bytes = all.at;
        packed->size = all.n;
    } else {
        free(all.at);
    }
    packer_free(&p);
    return done;
}
