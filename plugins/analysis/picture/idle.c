/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time of each stretch by its cause, in the groups of run.bound. */
#include "model/idle/idle.h"
#include "base/vec.h"
#include "picture.h"

#include <stdlib.h>

struct piece {
    enum picture_class class;
    int64_t ns;
};

struct causes {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    const struct picture_stretches *stretches;
    struct ta_partial *out;
    TA_VEC(struct piece) pieces; /* of the gap at hand */
    size_t stretch;              /* of the gap before */
    bool failed;
};

/* A wait for the device or for a copy; else the host has computed. */
static bool is_wait(const struct causes *c, ta_row row)
{
    const struct ta_categories categories = ta_trace_categories(c->trace);
    return (c->spans.work &&
            (c->spans.work[row] == TA_HOST_SYNC || c->spans.work[row] == TA_HOST_COPY)) ||
           categories.at[c->spans.cat[row]].class == TA_CLASS_RUNTIME;
}

static enum picture_class class_of(const struct causes *c, const struct ta_idle_piece *piece)
{
    if (piece->wait != TA_NO_ROW)
        return is_wait(c, piece->wait) ? PICTURE_SYNC : PICTURE_COMPUTATION;
    if (ta_idle_is_launching(piece))
        return PICTURE_LAUNCH;
    return picture_class_of_part(ta_slice_of(ta_idle_causes[piece->cause].part));
}

static void take_piece(void *user, const struct ta_idle_piece *piece)
{
    struct causes *c = user;
    const struct piece taken = {class_of(c, piece), piece->ns};
    c->failed |= !ta_vec_push(&c->pieces, taken);
}

/* Gives [from, to) to a class, stretch by stretch. */
static void give(struct causes *c, int64_t device, int64_t from, int64_t to,
                 enum picture_class class)
{
    for (size_t s = c->stretch; s < c->stretches->n && c->stretches->at[s].start < to; s++) {
        const struct picture_stretch *stretch = &c->stretches->at[s];
        const int64_t ns = ta_min_i64(to, stretch->end) - ta_max_i64(from, stretch->start);
        if (ns <= 0)
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(c->out, ta_key_int(ta_trace_rank(c->trace)), ta_key_int(device),
                           ta_key_int((int64_t)s), ta_key_int(class));
        ta_sum(&row[TIME_NS], ns);
    }
}

/* Pieces of a gap are in the order of time, and add up to it. */
static void take_gap(void *user, const struct ta_idle_gap *gap)
{
    struct causes *c = user;
    int64_t at = gap->start;
    while (c->stretch < c->stretches->n && c->stretches->at[c->stretch].end <= gap->start)
        c->stretch++;
    for (size_t i = 0; i < c->pieces.n; i++) {
        const struct piece *piece = &c->pieces.at[i];
        give(c, c->activities.at[gap->next].device, at, at + piece->ns, piece->class);
        at += piece->ns;
    }
    c->pieces.n = 0;
}

static void end_device(void *user, int64_t device)
{
    struct causes *c = user;
    (void)device;
    c->stretch = 0;
    c->pieces.n = 0;
}

bool picture_causes(const struct ta_trace *trace, const struct picture_stretches *stretches,
                    struct ta_partial *times)
{
    struct causes c = {.trace = trace,
                       .activities = ta_trace_activities(trace),
                       .spans = ta_trace_spans(trace),
                       .stretches = stretches,
                       .out = times};
    const struct ta_idle_watcher watcher = {
        .user = &c, .piece = take_piece, .gap = take_gap, .device = end_device};
    const bool done = ta_idle_walk(trace, &watcher);
    free(c.pieces.at);
    return done && !c.failed;
}
