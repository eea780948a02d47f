/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of spans: by track, start, longer first, place in the file. */
#include "base/merge_sort.h"
#include "base/share.h"
#include "normalize/gather.h"
#include "normalize/normalize.h"

TA_SORT_INLINE int by_start(const void *left, const void *right, const void *user)
{
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    const struct span_columns *c = user;
    if (c->ts[a] != c->ts[b])
        return c->ts[a] < c->ts[b] ? -1 : 1;
    if (c->dur[a] != c->dur[b])
        return c->dur[a] > c->dur[b] ? -1 : 1;
    return a < b ? -1 : 1;
}

/* End of the finished rows from `row` on that are of one track: writers put out many in a row. */
static size_t stretch_end(const struct span_columns *c, size_t row)
{
    const uint32_t track = c->track[row];
    while (row < c->n && c->track[row] == track && c->dur[row] >= 0)
        row++;
    return row;
}

/* Groups finished rows by track, keeping file order, and fills the row ranges of the tracks. */
static size_t group_by_track(struct ta_trace *trace, ta_row *rows)
{
    const struct span_columns *c = &trace->spans;
    struct ta_track *tracks = trace->tracks.at;
    for (size_t row = 0, end; row < c->n; row = end + (end == row)) {
        end = stretch_end(c, row);
        tracks[c->track[row]].n += (ta_row)(end - row);
    }
    ta_row first = 0;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        tracks[t].first = first;
        first += tracks[t].n;
        tracks[t].n = 0;
    }
    for (size_t row = 0, end; row < c->n; row = end + (end == row)) {
        struct ta_track *track = &tracks[c->track[row]];
        ta_row *to = rows + track->first + track->n;
        end = stretch_end(c, row);
        for (size_t i = row; i < end; i++)
            *to++ = (ta_row)i;
        track->n += (ta_row)(end - row);
    }
    return first;
}

/* What the threads that sort tracks share. */
struct sorting {
    struct ta_trace *trace;
    ta_row *rows;
};

static enum ta_status sort_track(struct ta_ctx *ctx, size_t t, void *user)
{
    const struct sorting *sorting = user;
    struct ta_trace *trace = sorting->trace;
    const struct ta_track *track = &trace->tracks.at[t];
    if (ta_merge_sort_in(&trace->store, sorting->rows + track->first, track->n,
                         sizeof *sorting->rows, by_start, &trace->spans))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot sort the spans of a track");
}

bool ta_sort_spans(struct ta_ctx *ctx, struct ta_trace *trace)
{
    ta_row *rows = ta_store_resize(&trace->store, NULL, trace->spans.n + 1, sizeof *rows);
    if (!rows)
        return false;
    const size_t n = group_by_track(trace, rows);
    struct sorting sorting = {trace, rows};
    const bool done =
        ta_share_out(ctx, TA_STAGE_NORMALIZE, trace->tracks.n, sort_track, &sorting) == TA_OK &&
        ta_move_spans(ctx, trace, rows, n);
    ta_store_free(&trace->store, rows);
    return done;
}
