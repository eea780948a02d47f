/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes of a timeline become columns of varints: slices that the page holds as they are, the others
 * summed up in bins.  Parts of about the same size are packed at the same time. */
#include "timeline_lanes.h"

#include "base/share.h"

#include <math.h>

/* Bytes of the timeline in a part, but for its last lane. */
enum { PART_BYTES = 1 << 19 };

/* Slices come by start, so windows that end before one are behind all that follow. */
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

int64_t lanes_bin_width(const struct lanes *lanes, const struct ta_timeline_file *file)
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

static void put_busy(struct bytes *to, const struct bins *bins)
{
    uint64_t skipped = 0;
    for (uint32_t bin = 0; bin < bins->n; bin++) {
        if (bins->busy[bin] <= 0) {
            skipped++;
            continue;
        }
        const double share = fmin(1, bins->busy[bin] / (double)bins->width);
        const unsigned char byte = (unsigned char)ta_whole_int(ceil(share * 255));
        put_number(to, skipped);
        put_bytes(to, &byte, 1);
        skipped = 0;
    }
}

/* Threads only ever set it, so the order does not matter. */
static inline void use_label(const struct lanes *lanes, uint32_t label)
{
    if (!atomic_load_explicit(&lanes->is_used[label], memory_order_relaxed))
        atomic_store_explicit(&lanes->is_used[label], 1, memory_order_relaxed);
}

static inline void put_slice(const struct lanes *lanes, struct lanes_part *part,
                             const struct ta_timeline_slice *slice, int64_t *end_ns,
                             bool has_launches)
{
    use_label(lanes, slice->label);
    put_number(&part->columns[GAPS], (uint64_t)(slice->start_ns - *end_ns));
    put_number(&part->columns[DURATIONS], (uint64_t)slice->dur_ns);
    put_number(&part->columns[LABELS], slice->label);
    if (has_launches) {
        const bool is_known = slice->launch_track != UINT32_MAX;
        put_number(&part->columns[LAUNCH_TRACKS], is_known ? slice->launch_track + 1 : 0);
        if (is_known)
            put_signed(&part->columns[DELAYS], slice->delay_ns);
    }
    *end_ns = slice->start_ns + slice->dur_ns;
}

/* `busy` has room for the ns of left-out slices by bin. */
static void put_lane(const struct lanes *lanes, struct lanes_part *part, struct lane *lane,
                     double *busy)
{
    struct ta_timeline_cursor cursor = ta_timeline_open(lane->file, lane->track, lane->from);
    struct ta_timeline_slice slice;
    struct bins bins = {
        .busy = busy, .n = lanes->pick->bins, .width = lanes_bin_width(lanes, lane->file)};
    const int64_t shortest_ns = lanes->pick->shortest_ns;
    int64_t end_ns = 0;
    size_t window = lane->window;
    uint64_t kept = 0, left_out = lane->from->n_left_out;
    if (shortest_ns || left_out)
        memset(busy, 0, bins.n * sizeof *busy);
    while (ta_timeline_next(&cursor, &slice)) {
        if (slice.dur_ns >= shortest_ns || is_in_window(lanes, lane, &window, &slice)) {
            put_slice(lanes, part, &slice, &end_ns, lane->track->has_launches);
            kept++;
        } else {
            sum_up(&bins, &slice);
            left_out++;
        }
    }
    if (lane->from->n_left_out)
        sum_up_earlier(&bins, lane->from);
    const size_t busy_before = part->columns[BUSY].n;
    if (left_out)
        put_busy(&part->columns[BUSY], &bins);
    lane->kept = kept;
    lane->left_out = left_out;
    lane->busy_size = part->columns[BUSY].n - busy_before;
}

static enum ta_status pack_part(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct lanes *lanes = user;
    /* On its own stack: other threads write to the parts beside it, in the same lines of cache. */
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

/* Lists the lanes and cuts the list into parts. */
static bool part_lanes(struct lanes *lanes)
{
    const struct ta_timeline *timeline = lanes->timeline;
    size_t n = 0;
    for (size_t i = 0; i < timeline->n_files; i++)
        for (size_t t = 0; t < timeline->files[i].n_tracks; t++)
            n += timeline->files[i].tracks[t].n_lanes;
    lanes->at = calloc(n + 1, sizeof *lanes->at);
    lanes->parts = calloc(n + 1, sizeof *lanes->parts);
    if (!lanes->at || !lanes->parts)
        return false;
    size_t window = 0, bytes = PART_BYTES;
    for (size_t i = 0; i < timeline->n_files; i++) {
        const struct ta_timeline_file *file = &timeline->files[i];
        while (window < lanes->pick->n_windows && lanes->pick->windows[window].rank < file->rank)
            window++;
        for (size_t t = 0; t < file->n_tracks; t++)
            for (size_t l = 0; l < file->tracks[t].n_lanes; l++) {
                const struct ta_timeline_lane *lane = &file->tracks[t].lanes[l];
                if (bytes >= PART_BYTES) {
                    lanes->parts[lanes->n_parts++].first = lanes->n;
                    bytes = 0;
                }
                lanes->at[lanes->n++] = (struct lane){
                    .file = file, .track = &file->tracks[t], .from = lane, .window = window};
                lanes->parts[lanes->n_parts - 1].end = lanes->n;
                bytes += lane->size;
            }
    }
    return true;
}

bool lanes_pack(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct pick *pick,
                struct lanes *lanes)
{
    *lanes = (struct lanes){.timeline = timeline, .pick = pick};
    lanes->is_used = calloc(timeline->n_labels + 1, sizeof *lanes->is_used);
    return lanes->is_used && part_lanes(lanes) &&
           ta_share_tasks(ctx, lanes->n_parts, pack_part, lanes) == TA_OK;
}

void lanes_free(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->n_parts; i++)
        for (int c = 0; c < LANE_COLUMNS; c++)
            free(lanes->parts[i].columns[c].at);
    free(lanes->parts);
    free(lanes->at);
    free(lanes->is_used);
}
