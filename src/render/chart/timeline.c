/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as a still picture: rows of streams and threads, kinds of slices stacked by the
 * share of time that they fill. */
#include "render/chart/layout.h"
#include "traceanalyze/timeline.h"

#include <inttypes.h>
#include <math.h>

/* Points: the labels, a row and its distance to the next, a bin of time. */
enum { LABELS = 190, ROW = 20, STEP = 26, BIN = 3, BINS_MOST = 400, GAP = 8 };
/* Rows of all files, and threads of one. */
enum { ROWS_MOST = 32, THREADS_MOST = 3 };

struct row {
    const struct ta_timeline_file *file;
    const struct ta_timeline_track *track;
};

struct picture {
    struct ta_layout *layout;
    const struct ta_timeline *timeline;
    struct row rows[ROWS_MOST];
    size_t n_rows, n_tracks; /* drawn, and all there are */
    int bins;
    double start_ns, end_ns;
    double busy[TA_SLICE_KIND_COUNT][BINS_MOST]; /* of the row at hand: share of the bin */
    bool has_kind[TA_SLICE_KIND_COUNT];          /* in any row */
};

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t slices_of(const struct ta_timeline_track *track)
{
    uint64_t n = 0;
    for (size_t i = 0; i < track->n_lanes; i++)
        n += track->lanes[i].n + track->lanes[i].n_left_out;
    return n;
}

/* The thread with the most slices of those after `before`; threads with as many keep their
 * order. */
static const struct ta_timeline_track *next_thread(const struct ta_timeline_file *file,
                                                   const struct ta_timeline_track *before)
{
    const uint64_t limit = before ? slices_of(before) : UINT64_MAX;
    const struct ta_timeline_track *best = NULL;
    for (size_t i = 0; i < file->n_tracks; i++) {
        const struct ta_timeline_track *track = &file->tracks[i];
        const uint64_t n = slices_of(track);
        const bool is_behind = n < limit || (n == limit && before && track > before);
        if (track->device == TA_MISSING && n && is_behind && (!best || n > slices_of(best)))
            best = track;
    }
    return best;
}

/* Streams of devices, then the busiest threads, at most `most` in all. */
static void add_rows(struct picture *p, const struct ta_timeline_file *file, size_t most)
{
    const size_t end = p->n_rows + most < ROWS_MOST ? p->n_rows + most : ROWS_MOST;
    for (size_t i = 0; i < file->n_tracks; i++) {
        const struct ta_timeline_track *track = &file->tracks[i];
        p->n_tracks += slices_of(track) > 0;
        if (track->device != TA_MISSING && slices_of(track) && p->n_rows < end)
            p->rows[p->n_rows++] = (struct row){file, track};
    }
    const struct ta_timeline_track *thread = next_thread(file, NULL);
    for (int i = 0; thread && i < THREADS_MOST && p->n_rows < end; i++) {
        p->rows[p->n_rows++] = (struct row){file, thread};
        thread = next_thread(file, thread);
    }
}

static void choose_rows(struct picture *p)
{
    const size_t n = p->timeline->n_files, share = n ? ROWS_MOST / n : 0;
    for (size_t i = 0; i < n; i++) {
        const struct ta_timeline_file *file = &p->timeline->files[i];
        add_rows(p, file, share ? share : 1);
        p->start_ns = fmin(p->start_ns, (double)file->offset_ns);
        p->end_ns = fmax(p->end_ns, (double)(file->offset_ns + file->end_ns));
    }
}

/* ---- how busy ------------------------------------------------------------------------------ */

static void add_time(struct picture *p, enum ta_slice_kind kind, double start, double end)
{
    const double width = (p->end_ns - p->start_ns) / p->bins;
    start = (start - p->start_ns) / width;
    end = (end - p->start_ns) / width;
    p->has_kind[kind] = true;
    for (int bin = ta_whole_int(fmax(0, start)); bin < p->bins && bin < end; bin++)
        p->busy[kind][bin] += fmax(0, fmin(end, bin + 1) - fmax(start, bin));
}

/* What was left out of a lane when the trace was read; its kinds are not known any more. */
static void add_left_out(struct picture *p, const struct row *row,
                         const struct ta_timeline_lane *lane)
{
    const bool is_device = row->track->device != TA_MISSING;
    const enum ta_slice_kind kind = is_device ? TA_SLICE_KERNEL : TA_SLICE_HOST;
    const double width = (double)(row->file->end_ns / TA_TIMELINE_BINS + 1);
    const unsigned char *at = lane->busy, *end = at + lane->busy_size;
    for (uint64_t bin = 0; at < end; bin++) {
        bin += ta_varint_read(&at, end);
        const double start = (double)bin * width + (double)row->file->offset_ns;
        if (at < end)
            add_time(p, kind, start, start + width * *at++ / 255);
    }
}

/* Streams count by their activities; threads by their outermost slices, which hold all others. */
static void sum_up(struct picture *p, const struct row *row)
{
    const bool is_device = row->track->device != TA_MISSING;
    const size_t n = is_device || row->track->n_lanes == 0 ? row->track->n_lanes : 1;
    memset(p->busy, 0, sizeof p->busy);
    for (size_t i = 0; i < n; i++) {
        const struct ta_timeline_lane *lane = &row->track->lanes[i];
        struct ta_timeline_cursor cursor = ta_timeline_open(row->file, row->track, lane);
        struct ta_timeline_slice slice;
        while (ta_timeline_next(&cursor, &slice)) {
            const enum ta_slice_kind kind = p->timeline->labels[slice.label].kind;
            const double start = (double)(slice.start_ns + row->file->offset_ns);
            if (!is_device || kind <= TA_SLICE_MEMSET)
                add_time(p, kind, start, start + (double)slice.dur_ns);
        }
        add_left_out(p, row, lane);
    }
}

/* ---- drawing ------------------------------------------------------------------------------- */

static double level(double y, double share)
{
    return round((y + ROW * (1 - share)) * 10) / 10;
}

/* Leaves out points between two others on one level. */
static size_t keep_corners(struct ta_point *points, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 1 && points[kept - 1].y == points[i].y && points[kept - 2].y == points[i].y)
            kept--;
        points[kept++] = points[i];
    }
    return kept;
}

/* The outline of one kind in a row, from the top of what lies below it to its own. */
static void draw_area(struct picture *p, enum ta_slice_kind kind, double y, double *base)
{
    struct ta_point *points =
        ta_arena_alloc(p->layout->arena, 4 * (size_t)p->bins * sizeof *points);
    double top[BINS_MOST];
    size_t n = 0;
    if (!points)
        return;
    for (int bin = 0; bin < p->bins; bin++) {
        top[bin] = fmin(1, base[bin] + p->busy[kind][bin]);
        points[n++] = (struct ta_point){LABELS + bin * BIN, level(y, top[bin])};
        points[n++] = (struct ta_point){LABELS + (bin + 1) * BIN, level(y, top[bin])};
    }
    for (int bin = p->bins - 1; bin >= 0; bin--) {
        points[n++] = (struct ta_point){LABELS + (bin + 1) * BIN, level(y, base[bin])};
        points[n++] = (struct ta_point){LABELS + bin * BIN, level(y, base[bin])};
        base[bin] = top[bin];
    }
    ta_pen_area(p->layout, ta_slice_look(kind)->ink, points, keep_corners(points, n), NULL);
}

static bool has_any(const struct picture *p, enum ta_slice_kind kind)
{
    for (int bin = 0; bin < p->bins; bin++)
        if (p->busy[kind][bin] > 0)
            return true;
    return false;
}

/* "rank 3 · GPU 0 · stream 7" */
static const char *label_of(struct picture *p, const struct row *row)
{
    const struct ta_timeline_track *track = row->track;
    const bool is_device = track->device != TA_MISSING,
               is_numbered = is_device && track->device >= 0;
    const char *device =
        is_numbered ? ta_pen_printf(p->layout, "GPU %" PRId64 " · ", track->device) : "";
    const char *kind = track->thread[0] ? "" : is_device ? "stream " : "thread ";
    const char *text = ta_pen_printf(p->layout, "rank %" PRId64 " · %s%s%s", row->file->rank,
                                     device, kind, track->thread[0] ? track->thread : track->tid);
    return ta_pen_fit(p->layout, TA_FACE_SMALL, text, LABELS - GAP);
}

/* Above the rows, where the kinds that they have are known only once all are drawn. */
static double draw_legend(struct picture *p)
{
    struct ta_legend_entry entries[TA_SLICE_KIND_COUNT];
    size_t n = 0;
    for (int kind = 0; kind < TA_SLICE_KIND_COUNT; kind++) {
        const struct ta_slice_look *look = ta_slice_look((enum ta_slice_kind)kind);
        if (p->has_kind[kind])
            entries[n++] = (struct ta_legend_entry){look->ink, TA_MARK_RECT, look->title};
    }
    return ta_guide_legend(p->layout, entries, n, p->layout->height + GAP);
}

void ta_lay_timeline(struct ta_layout *layout, const struct ta_timeline *timeline)
{
    struct picture *p = ta_arena_alloc(layout->arena, sizeof *p);
    if (!p)
        return;
    p->layout = layout;
    p->timeline = timeline;
    choose_rows(p);
    if (!p->n_rows || p->end_ns <= p->start_ns) {
        ta_guide_empty(layout);
        return;
    }
    p->bins = ta_whole_int(fmin(BINS_MOST, fmax(40, (layout->width - LABELS - 2 * GAP) / BIN)));
    const struct ta_plot plot = {LABELS, 0, p->bins * BIN, (double)p->n_rows * STEP - STEP + ROW};
    const struct ta_axis axis = ta_guide_fit(layout, p->start_ns, p->end_ns, TA_UNIT_NS, plot.w);
    const char *title = ta_guide_title(layout, "Time", &axis);
    for (size_t i = 0; i < p->n_rows; i++)
        ta_pen_rect(layout, TA_INK_BAND, plot.x, (double)i * STEP, plot.w, ROW, NULL);
    ta_guide_x_axis(layout, &axis, &plot, title);
    for (size_t i = 0; i < p->n_rows; i++) {
        const double y = (double)i * STEP;
        double base[BINS_MOST] = {0};
        sum_up(p, &p->rows[i]);
        ta_pen_text(p->layout, TA_INK_TEXT, TA_FACE_SMALL, TA_ANCHOR_END, LABELS - GAP,
                    y + ROW * 0.68, label_of(p, &p->rows[i]), NULL);
        for (int kind = 0; kind < TA_SLICE_KIND_COUNT; kind++)
            if (has_any(p, (enum ta_slice_kind)kind))
                draw_area(p, (enum ta_slice_kind)kind, y, base);
    }
    layout->height = plot.h + ta_guide_x_height(title);
    layout->height += draw_legend(p) + GAP;
    p->layout->summary =
        ta_pen_printf(p->layout, "How busy %zu of %zu streams and threads were over %s.", p->n_rows,
                      p->n_tracks, ta_pen_value(p->layout, p->end_ns - p->start_ns, TA_UNIT_NS));
    p->layout->note = ta_pen_printf(
        p->layout,
        "%zu of %zu streams and threads. The height is the share of time: of streams of their "
        "activities, of threads of their outermost slices.",
        p->n_rows, p->n_tracks);
}
