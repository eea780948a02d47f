/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that travel to the script (timeline_data.js reads them).
 *
 * All numbers are varints.  First the texts, labels, files, tracks and lanes; then columns, one
 * after the other, each with its length in front and each over all lanes: gaps, durations, labels,
 * launching tracks, launch delays, busy bins; times and values of counters.  Like stands beside
 * like, which is what deflate is good at. */
#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <traceanalyze/map.h>

struct bytes {
    unsigned char *at;
    size_t n, max;
    bool failed;
};

enum column { GAPS, DURATIONS, LABELS, LAUNCH_TRACKS, DELAYS, BUSY, TIMES, VALUES, COLUMNS };

struct packer {
    const struct ta_timeline *timeline;
    const struct pick *pick;
    struct packed *packed;
    struct bytes texts, labels, files, columns[COLUMNS];
    struct ta_map text_of; /* address of a text → its number */
    uint64_t n_texts, n_labels;
    uint32_t *label_of; /* label of the timeline → of the page, plus one; 0: not used yet */
    const struct ta_timeline_file *file;
    size_t window; /* the first that may matter to the lane at hand */
    double *busy;  /* ns of left-out slices by bin */
    bool failed;
};

/* ---- bytes --------------------------------------------------------------------------------- */

static bool reserve(struct bytes *bytes, size_t more)
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
    if (reserve(to, 10))
        to->n += ta_varint_write(to->at + to->n, value);
}

static void put_bytes(struct bytes *to, const void *bytes, size_t n)
{
    if (n && reserve(to, n)) {
        memcpy(to->at + to->n, bytes, n);
        to->n += n;
    }
}

static void put_signed(struct bytes *to, int64_t value)
{
    put_number(to, ta_zigzag(value));
}

/* ---- texts and labels: each once, in the order of use -------------------------------------- */

/* 0 stands for a text that was not recorded. */
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

static inline uint64_t use_label(struct packer *p, uint32_t number)
{
    if (!p->label_of[number]) {
        const struct ta_timeline_label *label = &p->timeline->labels[number];
        p->label_of[number] = (uint32_t)++p->n_labels;
        put_text(p, &p->labels, label->name);
        put_text(p, &p->labels, label->category);
        put_text(p, &p->labels, label->shapes);
        put_number(&p->labels, label->kind);
    }
    return p->label_of[number] - 1;
}

/* ---- lanes --------------------------------------------------------------------------------- */

/* Slices come by start, so windows that end before one are behind all that follow. */
static inline bool is_in_window(struct packer *p, size_t *at, const struct ta_timeline_slice *slice)
{
    const struct window *windows = p->pick->windows;
    const size_t n = p->pick->n_windows;
    while (*at < n && windows[*at].rank == p->file->rank && windows[*at].end_ns <= slice->start_ns)
        ++*at;
    return *at < n && windows[*at].rank == p->file->rank &&
           windows[*at].start_ns < slice->start_ns + ta_max_i64(slice->dur_ns, 1);
}

static int64_t bin_width(const struct packer *p)
{
    return (p->file->end_ns / TA_TIMELINE_BINS + 1) * (TA_TIMELINE_BINS / p->pick->bins);
}

static void sum_up(struct packer *p, const struct ta_timeline_slice *slice)
{
    const int64_t width = bin_width(p);
    int64_t start_ns = slice->start_ns, dur_ns = slice->dur_ns;
    do {
        const int64_t bin = ta_min_i64(start_ns / width, p->pick->bins - 1);
        const int64_t part = ta_min_i64(dur_ns, (bin + 1) * width - start_ns);
        p->busy[bin] += (double)ta_max_i64(part, 1);
        start_ns += part;
        dur_ns = part > 0 ? dur_ns - part : 0;
    } while (dur_ns > 0);
}

/* What was left out when the trace was read. */
static void sum_up_earlier(struct packer *p, const struct ta_timeline_lane *lane)
{
    const uint32_t narrow = TA_TIMELINE_BINS / p->pick->bins;
    const double width = (double)bin_width(p) / narrow;
    const unsigned char *at = lane->busy, *end = at + lane->busy_size;
    for (uint64_t bin = 0; at < end; bin++) {
        bin += ta_varint_read(&at, end);
        if (at < end && bin < TA_TIMELINE_BINS)
            p->busy[bin / narrow] += (double)*at++ / 255 * width;
    }
}

static void put_busy(struct packer *p)
{
    const double width = (double)bin_width(p);
    uint64_t skipped = 0;
    for (uint32_t bin = 0; bin < p->pick->bins; bin++) {
        if (p->busy[bin] <= 0) {
            skipped++;
            continue;
        }
        const unsigned char share = (unsigned char)ceil(fmin(1, p->busy[bin] / width) * 255);
        put_number(&p->columns[BUSY], skipped);
        put_bytes(&p->columns[BUSY], &share, 1);
        skipped = 0;
    }
}

static inline void put_slice(struct packer *p, const struct ta_timeline_slice *slice,
                             int64_t *end_ns, bool has_launches)
{
    put_number(&p->columns[GAPS], (uint64_t)(slice->start_ns - *end_ns));
    put_number(&p->columns[DURATIONS], (uint64_t)slice->dur_ns);
    put_number(&p->columns[LABELS], use_label(p, slice->label));
    if (has_launches) {
        const bool is_known = slice->launch_track != UINT32_MAX;
        put_number(&p->columns[LAUNCH_TRACKS], is_known ? slice->launch_track + 1 : 0);
        if (is_known)
            put_signed(&p->columns[DELAYS], slice->delay_ns);
    }
    *end_ns = slice->start_ns + slice->dur_ns;
}

static void put_lane(struct packer *p, const struct ta_timeline_track *track,
                     const struct ta_timeline_lane *lane)
{
    struct ta_timeline_cursor cursor = ta_timeline_open(p->file, track, lane);
    struct ta_timeline_slice slice;
    uint64_t kept = 0, left_out = lane->n_left_out;
    int64_t end_ns = 0;
    size_t window = p->window;
    if (p->pick->shortest_ns || left_out)
        memset(p->busy, 0, p->pick->bins * sizeof *p->busy);
    while (ta_timeline_next(&cursor, &slice)) {
        if (slice.dur_ns >= p->pick->shortest_ns || is_in_window(p, &window, &slice)) {
            put_slice(p, &slice, &end_ns, track->has_launches);
            kept++;
        } else {
            sum_up(p, &slice);
            left_out++;
        }
    }
    if (lane->n_left_out)
        sum_up_earlier(p, lane);
    const size_t busy_before = p->columns[BUSY].n;
    if (left_out)
        put_busy(p);
    put_number(&p->files, kept);
    put_number(&p->files, left_out);
    put_number(&p->files, p->columns[BUSY].n - busy_before);
    p->packed->n_kept += kept;
}

/* ---- tracks and counters ------------------------------------------------------------------- */

static void put_track(struct packer *p, const struct ta_timeline_track *track)
{
    put_text(p, &p->files, ta_slice_of(track->process));
    put_text(p, &p->files, ta_slice_of(track->thread));
    put_text(p, &p->files, ta_slice_of(track->pid));
    put_text(p, &p->files, ta_slice_of(track->tid));
    put_number(&p->files, track->device == TA_MISSING ? 0 : ta_zigzag(track->device) + 1);
    put_number(&p->files, track->has_launches);
    put_number(&p->files, track->n_lanes);
    for (size_t i = 0; i < track->n_lanes; i++)
        put_lane(p, track, &track->lanes[i]);
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
            put_signed(&p->columns[VALUES], (int64_t)counter->values[i] - before);
            before = (int64_t)counter->values[i];
        } else {
            put_bytes(&p->columns[VALUES], &counter->values[i], sizeof(double));
        }
    }
}

static void put_file(struct packer *p, const struct ta_timeline_file *file)
{
    p->file = file;
    while (p->window < p->pick->n_windows && p->pick->windows[p->window].rank < file->rank)
        p->window++;
    put_signed(&p->files, file->rank);
    put_text(p, &p->files, ta_slice_of(file->path));
    put_signed(&p->files, file->offset_ns);
    put_number(&p->files, (uint64_t)file->end_ns);
    put_number(&p->files, (uint64_t)bin_width(p));
    put_number(&p->files, file->n_tracks);
    for (size_t i = 0; i < file->n_tracks; i++)
        put_track(p, &file->tracks[i]);
    put_number(&p->files, file->n_counters);
    for (size_t i = 0; i < file->n_counters; i++)
        put_counter(p, &file->counters[i]);
    p->packed->n_slices += file->n_slices;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_all(struct packer *p, struct bytes *all)
{
    put_number(all, p->n_texts);
    put_bytes(all, p->texts.at, p->texts.n);
    put_number(all, p->n_labels);
    put_bytes(all, p->labels.at, p->labels.n);
    put_number(all, p->timeline->n_files);
    put_bytes(all, p->files.at, p->files.n);
    for (int i = 0; i < COLUMNS; i++) {
        put_number(all, p->columns[i].n);
        put_bytes(all, p->columns[i].at, p->columns[i].n);
    }
}

static bool has_failed(const struct packer *p)
{
    bool failed = p->texts.failed || p->labels.failed || p->files.failed || p->text_of.failed;
    for (int i = 0; i < COLUMNS; i++)
        failed |= p->columns[i].failed;
    return failed;
}

bool timeline_pack(const struct ta_timeline *timeline, const struct pick *pick,
                   struct packed *packed)
{
    struct bytes all = {0};
    struct packer p = {.timeline = timeline, .pick = pick, .packed = packed};
    *packed = (struct packed){0};
    p.label_of = calloc(timeline->n_labels + 1, sizeof *p.label_of);
    p.busy = calloc(pick->bins, sizeof *p.busy);
    bool done = p.label_of && p.busy;
    for (size_t i = 0; done && i < timeline->n_files; i++)
        put_file(&p, &timeline->files[i]);
    if (done)
        put_all(&p, &all);
    done = done && !has_failed(&p) && !all.failed;
    if (done) {
        packed->bytes = all.at;
        packed->size = all.n;
    } else {
        free(all.at);
    }
    free(p.label_of);
    free(p.busy);
    free(p.texts.at);
    free(p.labels.at);
    free(p.files.at);
    for (int i = 0; i < COLUMNS; i++)
        free(p.columns[i].at);
    ta_map_free(&p.text_of);
    return done;
}
