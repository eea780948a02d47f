/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events that were written without a time.
 *
 * A profiler that has no time for an event writes 0 for its start and its duration; with a base of
 * the clock that is subtracted, the same earliest stamp for all of them.  Such events say what ran,
 * but not when: they would stretch every window to the zero of the clock.  So they are dropped
 * before anything is linked, and counted.
 *
 * A trace may well begin at 0.  Its first spans are then no damage: something begins soon after
 * them, and few of them are empty. */
#include "normalize/normalize.h"

#include "model/column.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CROWD = 16 }; /* as many empty spans at one moment are none of a clock */

#define GAP_SHORT_NS INT64_C(1000000)
#define GAP_LONG_NS INT64_C(1000000000)
#define GAP_HOUR_NS (3600 * INT64_C(1000000000))

/* The stamp that would stand for "no time", and what surrounds it. */
struct stamp {
    int64_t ts;
    int64_t gap, extent;   /* to the nearest other start; of all other starts */
    uint64_t spans, empty; /* that start at it; without a duration */
    bool on_device;        /* one of the empty ones is an activity, which takes time */
};

/* What may go: all at the stamp, its empty spans, or nothing. */
enum untimed { UNTIMED_NONE, UNTIMED_EMPTY, UNTIMED_ALL };

static bool is_of_device(const struct ta_trace *trace, size_t row)
{
    return ta_class_is_device(trace->categories.at[trace->spans.cat[row]].class);
}

static struct stamp look_at(const struct ta_trace *trace, int64_t ts)
{
    const struct span_columns *c = &trace->spans;
    struct stamp stamp = {.ts = ts, .gap = INT64_MAX};
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t row = 0; row < c->n; row++) {
        if (c->ts[row] != ts) {
            first = ta_min_i64(first, c->ts[row]);
            last = ta_max_i64(last, c->ts[row]);
        } else if (c->dur[row] >= 0) {
            stamp.spans++;
            stamp.empty += c->dur[row] == 0;
            stamp.on_device |= c->dur[row] == 0 && is_of_device(trace, row);
        }
    }
    if (first > last) /* nothing else is there to tell */
        return (struct stamp){.ts = ts};
    stamp.extent = last - first;
    stamp.gap = ts < first ? first - ts : ts > last ? ts - last : 0;
    return stamp;
}

static enum untimed judge(const struct stamp *stamp)
{
    if (stamp->gap > GAP_HOUR_NS && (stamp->ts == 0 || stamp->empty > 1))
        return UNTIMED_ALL;
    if (stamp->ts != 0)
        return UNTIMED_NONE;
    const bool are_all_empty = stamp->spans == stamp->empty;
    if (are_all_empty && ((stamp->gap > GAP_SHORT_NS && (stamp->empty > 1 || stamp->on_device)) ||
                          (stamp->gap > GAP_LONG_NS && stamp->gap > stamp->extent)))
        return UNTIMED_ALL;
    return stamp->empty > CROWD ? UNTIMED_EMPTY : UNTIMED_NONE;
}

/* ---- dropping -------------------------------------------------------------------------------- */

/* Where on a track calls or activities without a time lie. */
struct place {
    int64_t last;     /* start of the last span that has a time */
    int64_t step_end; /* of the last step */
    int64_t from;     /* since when there are such spans */
    int64_t calls, activities;
};

static bool end_stretch(struct ta_damage *damage, struct place *place, int64_t to)
{
    const int64_t from = ta_min_i64(place->from, to), end = ta_max_i64(place->from, to);
    bool done = true;
    if (place->calls && from < end)
        done = ta_vec_push(&damage->begins, ((struct ta_untimed){from, place->calls})) &&
               ta_vec_push(&damage->ends, ((struct ta_untimed){end, place->calls}));
    if (place->activities)
        ta_damage_add_unknown(damage, from, end);
    place->calls = place->activities = 0;
    return done;
}

/* A span without a time.  Writers keep the order of a track, so that it lies between its neighbors
 * in the file, and after the step before when it marks one itself. */
static void extend_stretch(const struct ta_trace *trace, struct place *place, size_t row)
{
    const enum ta_event_class class = trace->categories.at[trace->spans.cat[row]].class;
    if (ta_host_is_step(ta_trace_text(trace, trace->spans.name[row])))
        place->last = ta_max_i64(place->last, place->step_end);
    if (place->calls + place->activities == 0)
        place->from = place->last;
    place->calls += class == TA_CLASS_RUNTIME;
    place->activities += ta_class_is_device(class);
}

/* Spans without a duration are dropped when all are put in order. */
static bool drop_spans(struct ta_trace *trace, const struct stamp *stamp, enum untimed what,
                       uint64_t *dropped)
{
    struct span_columns *c = &trace->spans;
    struct place *places = calloc(trace->tracks.n + 1, sizeof *places);
    bool done = places != NULL;
    for (size_t t = 0; done && t < trace->tracks.n; t++)
        places[t].last = places[t].step_end = INT64_MIN;
    for (size_t row = 0; done && row < c->n; row++) {
        struct place *place = &places[c->track[row]];
        if (c->dur[row] < 0)
            continue;
        if (c->ts[row] == stamp->ts && (what == UNTIMED_ALL || c->dur[row] == 0)) {
            c->dur[row] = -1;
            (*dropped)++;
            extend_stretch(trace, place, row);
            continue;
        }
        done = end_stretch(&trace->damage, place, c->ts[row]);
        place->last = c->ts[row];
        if (ta_host_is_step(ta_trace_text(trace, c->name[row])))
            place->step_end = c->ts[row] + c->dur[row];
    }
    for (size_t t = 0; done && t < trace->tracks.n; t++)
        done = end_stretch(&trace->damage, &places[t], INT64_MAX);
    free(places);
    return done;
}

/* Instants, flows, samples and asynchronous spans at the stamp go with its spans. */
static void drop_others(struct ta_trace *trace, int64_t ts)
{
    struct instant_columns *i = &trace->instants;
    struct flow_columns *f = &trace->flows;
    struct counter_columns *c = &trace->counters;
    struct async_columns *a = &trace->asyncs;
    size_t n = 0;
    for (size_t row = 0; row < i->n; row++) {
        i->ts[n] = i->ts[row];
        i->name[n] = i->name[row];
        i->cat[n] = i->cat[row];
        i->track[n] = i->track[row];
        n += i->ts[row] != ts;
    }
    i->n = n;
    n = 0;
    for (size_t row = 0; row < f->n; row++) {
        f->ts[n] = f->ts[row];
        f->name[n] = f->name[row];
        f->id[n] = f->id[row];
        f->track[n] = f->track[row];
        f->phase[n] = f->phase[row];
        n += f->ts[row] != ts;
    }
    f->n = n;
    n = 0;
    for (size_t row = 0; row < c->n; row++) {
        c->ts[n] = c->ts[row];
        c->value[n] = c->value[row];
        c->place[n] = c->place[row];
        n += c->ts[row] != ts;
    }
    c->n = n;
    n = 0;
    for (size_t row = 0; row < a->n; row++) {
        a->ts[n] = a->ts[row];
        a->dur[n] = a->dur[row];
        a->name[n] = a->name[row];
        a->id[n] = a->id[row];
        a->cat[n] = a->cat[row];
        n += a->ts[row] != ts;
    }
    a->n = n;
}

/* The bounds of the file as they are without the stamp, or with it where it is a time. */
static void set_bounds(struct ta_builder *builder, int64_t ts, bool is_time)
{
    if (ts == 0) {
        if (is_time) {
            builder->first_ts =
                builder->first_ts == TA_MISSING ? 0 : ta_min_i64(builder->first_ts, 0);
            builder->last_ts = builder->last_ts == TA_MISSING ? 0 : ta_max_i64(builder->last_ts, 0);
        }
        return;
    }
    if (is_time)
        return;
    const struct span_columns *c = &builder->trace->spans;
    builder->first_ts = INT64_MAX;
    for (size_t row = 0; row < c->n; row++)
        if (c->ts[row] != ts)
            builder->first_ts = ta_min_i64(builder->first_ts, c->ts[row]);
}

bool ta_drop_untimed(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    const struct ta_zero_times *zero = &builder->zero;
    const bool is_stretched =
        builder->first_ts != TA_MISSING && builder->last_ts - builder->first_ts > GAP_HOUR_NS;
    if (zero->spans + zero->others == 0 && !is_stretched)
        return true; /* as nearly always */
    const struct stamp stamp =
        look_at(trace, zero->spans + zero->others || !is_stretched ? 0 : builder->first_ts);
    const enum untimed what = judge(&stamp);
    set_bounds(builder, stamp.ts, what != UNTIMED_ALL);
    if (what == UNTIMED_NONE)
        return true;
    uint64_t spans = 0;
    if (!drop_spans(trace, &stamp, what, &spans))
        return false;
    if (what == UNTIMED_ALL)
        drop_others(trace, stamp.ts);
    const uint64_t others = what == UNTIMED_ALL && stamp.ts == 0 ? zero->others : 0;
    const uint64_t dropped = spans + others < builder->kept ? spans + others : builder->kept;
    builder->kept -= dropped;
    builder->dropped += dropped;
    const bool has_place = stamp.ts == 0 && zero->spans;
    char place[96] = "";
    if (has_place)
        snprintf(place, sizeof place, ", from byte offset %" PRIu64 " to %" PRIu64, zero->first,
                 zero->last);
    char also[64] = "";
    if (others)
        snprintf(also, sizeof also, " and %" PRIu64 " other events", others);
    ta_quality_add_many(builder->quality, TA_Q_ZERO_TIME, spans + others,
                        has_place ? zero->first : TA_NO_OFFSET,
                        has_place ? zero->last : TA_NO_OFFSET,
                        "%" PRIu64 " of %" PRIu64
                        " spans%s were written without a time%s: nothing is computed from them",
                        spans, builder->timed, also, place);
    trace->damage.untimed = (int64_t)spans;
    return true;
}
