/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which slices the page holds.
 *
 * All of them where they fit.  Else those from a duration on, as short a one as half of the room
 * allows; what is shorter is summed up in bins per lane.  In the windows that findings cite every
 * slice is kept.  How large the slices become is known only when they are packed, so a guess is
 * packed and corrected by what came of it. */
#include "base/deflate.h"
#include "report/words.h"
#include "timeline.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of base64 that a slice takes, before any is packed; and where short ones are left out, for
 * the others are longer and farther apart. */
#define BYTES_PER_SLICE 6.0
#define BYTES_PER_LONG_SLICE 7.0
/* What windows and bins take stays, so a page shrinks less than the number of slices: about like
 * its root. */
#define SHRINKING 2.0
/* What is shorter than this part of the run cannot be seen on the whole. */
enum { VISIBLE_PARTS = 4096 };
/* From this part of the run on a window is long. */
enum { LONG_PARTS = 4 };
enum { TRIES = 8, WINDOWS_MOST = 256, BINS_LEAST = 128 };

/* ---- windows ------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct window *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Sorts windows and joins those that overlap; gives how many there are. */
static size_t unite(struct window *windows, size_t n)
{
    size_t kept = 0;
    qsort(windows, n, sizeof *windows, by_place);
    for (size_t i = 0; i < n; i++) {
        struct window *last = kept ? &windows[kept - 1] : NULL;
        if (last && last->rank == windows[i].rank && last->end_ns >= windows[i].start_ns)
            last->end_ns = ta_max_i64(last->end_ns, windows[i].end_ns);
        else
            windows[kept++] = windows[i];
    }
    return kept;
}

/* The windows of a run that lasts so long; what lasts a large part of it is seen without all
 * slices. */
static size_t list_windows(const struct page *page, int64_t span_ns,
                           struct window windows[WINDOWS_MOST])
{
    size_t n = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(page->report, TA_ITEM_FINDING, &walk)) != NULL)
        for (size_t i = 0; i < item->finding->n_evidence && n < WINDOWS_MOST; i++) {
            const struct ta_evidence *evidence = &item->finding->evidence[i];
            const struct ta_table *table = ta_report_table(page->report, evidence->table);
            const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
            if (row == SIZE_MAX)
                continue;
            const struct range_columns columns = timeline_range_columns(page, table);
            struct window *window = &windows[n];
            if (!timeline_range(&columns, table, row, window) ||
                window->end_ns - window->start_ns > span_ns / LONG_PARTS)
                continue;
            /* What surrounds it, too. */
            const int64_t margin_ns = (window->end_ns - window->start_ns) / 2 + 1;
            window->start_ns -= margin_ns;
            window->end_ns += margin_ns;
            n++;
        }
    return unite(windows, n);
}

/* ---- how short ----------------------------------------------------------------------------- */

struct census {
    uint64_t counts[TA_DURATION_CLASSES]; /* slices by duration */
    uint64_t n_slices;
    size_t n_lanes;
    int64_t span_ns;
};

static struct census take_census(const struct ta_timeline *timeline)
{
    struct census census = {.n_slices = 0};
    for (size_t i = 0; i < timeline->n_files; i++) {
        const struct ta_timeline_file *file = &timeline->files[i];
        census.span_ns = ta_max_i64(census.span_ns, file->end_ns);
        for (size_t class = 0; class < TA_DURATION_CLASSES; class ++) {
            census.counts[class] += file->by_duration[class];
            census.n_slices += file->by_duration[class];
        }
        for (size_t t = 0; t < file->n_tracks; t++)
            census.n_lanes += file->tracks[t].n_lanes;
    }
    return census;
}

/* The duration from which on there are at most `most` slices. */
static int64_t shortest_of(const struct census *census, double most)
{
    uint64_t n = 0;
    size_t class = TA_DURATION_CLASSES;
    while (class && (double)(n + census->counts[class - 1]) <= most)
        n += census->counts[--class];
    return ta_duration_class_start(class);
}

/* Bins that the lanes may have without taking more than an eighth of the room. */
static uint32_t bins_of(const struct census *census, uint64_t room)
{
    uint32_t bins = TA_TIMELINE_BINS;
    while (bins > BINS_LEAST && (double)census->n_lanes * bins > (double)room / 8)
        bins /= 4;
    return bins;
}

/* ---- packing ------------------------------------------------------------------------------- */

/* Whether the slices would not all fit, before any is packed. */
static bool is_too_much(const struct census *census, uint64_t room)
{
    return (double)census->n_slices * BYTES_PER_SLICE > (double)room;
}

/* What the slices should take, and what they may: packing them again takes longer than what is a
 * little too much is worth. */
struct room {
    uint64_t wanted, most;
};

/* Where they do not all fit anyway, the longest of them in half of the room show as much of the
 * whole, and the page is written and opened in half the time. */
static struct room room_for(enum ta_timeline_mode mode, const struct census *census, uint64_t room)
{
    if (mode == TA_TIMELINE_FULL)
        return (struct room){UINT64_MAX, UINT64_MAX};
    if (is_too_much(census, room))
        return (struct room){room / 2, room / 8 * 5};
    return (struct room){room, room};
}

static uint64_t base64_size(uint64_t n)
{
    return (n + 2) / 3 * 4;
}

/* What is packed would take about so many bytes when deflated, by pieces of it; 0 without memory.
 */
static uint64_t estimate_size(struct ta_ctx *ctx, const struct packed *packed)
{
    enum { PIECES = 16, PIECE = 16384 };
    if (packed->size <= (size_t)2 * PIECES * PIECE)
        return 1; /* too little to be worth an estimate: it may fit */
    double all = 0;
    for (size_t i = 0; i < PIECES; i++) {
        const char *const piece = (const char *)packed->bytes + packed->size / PIECES * i;
        unsigned char *deflated;
        size_t size;
        if (!ta_deflate(ctx, (struct ta_slice){piece, PIECE}, &deflated, &size))
            return 0;
        free(deflated);
        all += (double)size;
    }
    return (uint64_t)ta_whole(all / ((double)PIECES * PIECE) * (double)packed->size) + 1;
}

static bool deflate_all(struct ta_ctx *ctx, struct packed *packed)
{
    unsigned char *deflated;
    size_t size;
    const bool done = ta_deflate(ctx, (struct ta_slice){(const char *)packed->bytes, packed->size},
                                 &deflated, &size);
    free(packed->bytes);
    packed->bytes = done ? deflated : NULL;
    packed->size = done ? size : 0;
    return done;
}

/* Packs, and deflates when that is likely to fit into the room; gives the bytes of base64 that it
 * takes, or would.  False without memory. */
static bool try_pick(struct ta_ctx *ctx, const struct ta_timeline *timeline,
                     const struct pick *pick, uint64_t room, struct packed *packed, uint64_t *size)
{
    if (!timeline_pack(ctx, timeline, pick, packed))
        return false;
    const uint64_t estimate = base64_size(estimate_size(ctx, packed));
    if (estimate > 0 && estimate <= room) {
        const bool done = deflate_all(ctx, packed);
        *size = base64_size(packed->size);
        return done;
    }
    *size = estimate;
    free(packed->bytes);
    *packed = (struct packed){0};
    return estimate > 0;
}

/* Packs fewer and fewer slices until they fit; false without memory. */
static bool fit(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct census *census,
                struct room room, struct pick *pick, struct timeline_choice *choice)
{
    const bool is_cut = is_too_much(census, room.wanted);
    double each = is_cut ? BYTES_PER_LONG_SLICE : BYTES_PER_SLICE;
    for (int i = 0; i < TRIES && room.wanted > 0; i++) {
        if (i > 0 || is_cut)
            pick->shortest_ns =
                ta_max_i64(pick->shortest_ns, shortest_of(census, (double)room.wanted / each));
        uint64_t size;
        if (!try_pick(ctx, timeline, pick, room.most, &choice->packed, &size))
            return false;
        choice->fits = size <= room.most;
        choice->shortest_ns = pick->shortest_ns;
        choice->n_windows = pick->n_windows;
        if (choice->fits)
            return true;
        free(choice->packed.bytes);
        choice->packed.bytes = NULL;
        const double worse = (double)size / (double)room.wanted;
        each = fmax(each, BYTES_PER_LONG_SLICE) * fmax(pow(worse, SHRINKING), 1.05) * 1.03;
        if (i >= TRIES / 2) { /* the windows or the bins alone are too much */
            pick->n_windows = 0;
            pick->bins = BINS_LEAST;
        }
    }
    return true;
}

enum ta_status timeline_choose(const struct page *page, uint64_t left,
                               struct timeline_choice *choice)
{
    struct window windows[WINDOWS_MOST];
    const struct ta_timeline *timeline = page->timeline;
    const struct census census = take_census(timeline);
    const struct room room = room_for(page->options->timeline, &census, left);
    struct pick pick = {.windows = windows,
                        .n_windows = list_windows(page, census.span_ns, windows),
                        .bins = bins_of(&census, room.wanted)};
    *choice = (struct timeline_choice){.fits = false};
    if (page->options->timeline == TA_TIMELINE_LOD)
        pick.shortest_ns = census.span_ns / VISIBLE_PARTS;
    if (fit(page->ctx, timeline, &census, room, &pick, choice))
        return TA_OK;
    return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot pack the timeline: slices=%zu",
                   (size_t)census.n_slices);
}
