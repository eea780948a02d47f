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

/* What two threads do: neither changes what the other reads. */
struct sorting {
    struct ta_builder *builder;
    ta_row *rows; /* in their order */
    size_t n;
};

/* What was kept for linking launches need not be ordered, nor take memory. */
static bool link_launches(struct sorting *sorting)
{
    struct ta_builder *builder = sorting->builder;
    struct ta_trace *trace = builder->trace;
    const bool done = ta_link_launches(builder);
    for (size_t i = 0; i < builder->n_passing; i++)
        arg_column_clear(&trace->store, &trace->args[i]);
    return done;
}

static bool sort_rows(struct sorting *sorting)
{
    struct ta_trace *trace = sorting->builder->trace;
    bool done = true;
    sorting->n = group_by_track(trace, sorting->rows);
    for (size_t t = 0; done && t < trace->tracks.n; t++) {
        const struct ta_track *track = &trace->tracks.at[t];
        done = ta_merge_sort_in(&trace->store, sorting->rows + track->first, track->n,
                                sizeof *sorting->rows, by_start, &trace->spans);
    }
    return done;
}

static enum ta_status do_task(struct ta_ctx *ctx, size_t i, void *user)
{
    return (i ? sort_rows(user) : link_launches(user))
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot link and sort the spans of a trace");
}

bool ta_link_and_sort(struct ta_ctx *ctx, struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    struct sorting sorting = {
        .builder = builder,
        .rows = ta_store_resize(&trace->store, NULL, trace->spans.n + 1, sizeof *sorting.rows)};
    if (!sorting.rows)
        return false;
    const bool done = ta_share_out(ctx, TA_STAGE_NORMALIZE, 2, do_task, &sorting) == TA_OK &&
                      ta_move_spans(ctx, trace, sorting.rows, sorting.n);
    ta_store_free(&trace->store, sorting.rows);
    return done;
}
