/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device activities that last longer than their stream allows.
 *
 * A stream runs one activity after the other.  One that is still running when a successor has come
 * and gone has a wrong end: it ends where the next one starts, at the latest.  What may overlap
 * stays: a kernel that is launched early and waits for the one before (programmatic dependent
 * launch) ends after it; branches of a replayed graph share their launch; several contexts number
 * their streams alike.
 *
 * An activity that starts after one that was launched later on its stream is out of order: of one
 * of the two the start is wrong.  Which one is not known, so it is only counted. */
#include "normalize/normalize.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    INSIDE_NS = 20000,    /* a successor that ends that much earlier has come and gone */
    OVERLAP_NS = 1000000, /* more than any early launch is ahead */
    CUTS_FEW = 8,
    OPEN_MAX = 8 /* activities of a stream that are looked at together */
};

/* An activity that may still run. */
struct open {
    size_t activity;
    int64_t end;
    int64_t next; /* start of the first that had to wait for it; INT64_MAX before */
    bool is_overlong;
};

struct lane {
    size_t n;
    struct open at[OPEN_MAX];
    ta_row launched; /* the latest launch so far */
    size_t n_activities, n_cuts;
};

struct cut {
    ta_row row;
    int64_t dur; /* that it may have */
};

struct clipping {
    struct ta_trace *trace;
    const struct arg_column *nodes; /* of graphs */
    struct lane *lanes;             /* by track */
    TA_VEC(struct cut) cuts;
    bool failed;
    ta_row longest; /* row of the largest cut */
    int64_t longest_cut, longest_raw;
};

static bool is_node(const struct clipping *c, ta_row row)
{
    if (!c->nodes || c->nodes->n == 0)
        return false;
    size_t low = 0, high = c->nodes->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->nodes->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->nodes->n && c->nodes->row[low] == row && arg_column_value(c->nodes, low) != 0;
}

static bool may_overlap(const struct clipping *c, const struct ta_activity *a,
                        const struct ta_activity *b)
{
    if (a->launch != TA_NO_ROW || b->launch != TA_NO_ROW)
        return a->launch == b->launch;
    return is_node(c, a->span) && is_node(c, b->span);
}

static void close_open(struct clipping *c, const struct open *open)
{
    const struct span_columns *spans = &c->trace->spans;
    const ta_row row = c->trace->activities.at[open->activity].span;
    if (!open->is_overlong || open->next <= spans->ts[row])
        return;
    c->lanes[spans->track[row]].n_cuts++;
    c->failed |= !ta_vec_push(&c->cuts, ((struct cut){row, open->next - spans->ts[row]}));
}

/* Damage is rare, or far beyond what any stream does.  Where many activities of a track run on over
 * others, the profiler put several streams under one number: then nothing is wrong. */
static bool is_damage(const struct lane *lane, int64_t too_long)
{
    return lane->n_cuts * 10 <= lane->n_activities ||
           (lane->n_cuts <= CUTS_FEW && too_long > OVERLAP_NS);
}

static void cut(struct clipping *c)
{
    struct span_columns *spans = &c->trace->spans;
    struct ta_damage *damage = &c->trace->damage;
    damage->kept_ns = damage->raw_ns;
    for (size_t i = 0; i < c->cuts.n; i++) {
        const struct cut *cut = &c->cuts.at[i];
        const int64_t raw = spans->dur[cut->row];
        if (!is_damage(&c->lanes[spans->track[cut->row]], raw - cut->dur))
            continue;
        if (raw - cut->dur > c->longest_cut) {
            c->longest = cut->row;
            c->longest_cut = raw - cut->dur;
            c->longest_raw = raw;
        }
        damage->kept_ns -= raw - cut->dur;
        spans->dur[cut->row] = cut->dur;
        damage->n_overlong++;
    }
}

/* Another activity of a stream on which others still run. */
static void take_overlapping(struct clipping *c, struct lane *lane, size_t i)
{
    const struct ta_activity *all = c->trace->activities.at;
    const struct span_columns *spans = &c->trace->spans;
    const int64_t start = spans->ts[all[i].span], end = start + spans->dur[all[i].span];
    size_t kept = 0;
    for (size_t k = 0; k < lane->n; k++) {
        struct open open = lane->at[k];
        if (open.end <= start) {
            close_open(c, &open);
            continue;
        }
        if (!may_overlap(c, &all[open.activity], &all[i])) {
            const int64_t dur = open.end - spans->ts[all[open.activity].span];
            const int64_t overlap = open.end - start;
            open.next = ta_min_i64(open.next, start);
            open.is_overlong |=
                open.end - end > INSIDE_NS || (overlap > OVERLAP_NS && overlap > dur / 2);
        }
        lane->at[kept++] = open;
    }
    lane->n = kept;
    if (lane->n < OPEN_MAX)
        lane->at[lane->n++] = (struct open){i, end, INT64_MAX, false};
}

/* Graphs have streams of their own, whatever number is written. */
static bool is_graph(const struct clipping *c, ta_row launch)
{
    const struct ta_slice name = ta_trace_text(c->trace, c->trace->spans.name[launch]);
    return memmem(name.ptr, name.len, "Graph", 5) != NULL;
}

static void take(struct clipping *c, size_t i, bool is_shared)
{
    const struct ta_activity *a = &c->trace->activities.at[i];
    const struct span_columns *spans = &c->trace->spans;
    const int64_t start = spans->ts[a->span];
    struct lane *lane = &c->lanes[spans->track[a->span]];
    c->trace->damage.raw_ns += spans->dur[a->span];
    lane->n_activities++;
    if (is_shared)
        return;
    if (a->launch != TA_NO_ROW && a->launch != lane->launched) {
        const ta_row before = lane->launched;
        const bool is_later = before == TA_NO_ROW || spans->ts[a->launch] >= spans->ts[before];
        if (is_later)
            lane->launched = a->launch;
        else if (spans->ts[a->launch] + spans->dur[a->launch] < spans->ts[before] &&
                 !is_graph(c, a->launch) && !is_graph(c, before)) {
            ta_damage_add_disordered(&c->trace->damage, spans->ts[a->launch], start);
        }
    }
    if (lane->n == 1 && lane->at[0].end <= start) { /* as nearly always */
        close_open(c, &lane->at[0]);
        lane->at[0] = (struct open){i, start + spans->dur[a->span], INT64_MAX, false};
        return;
    }
    take_overlapping(c, lane, i);
}

bool ta_clip_overlong(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    struct ta_damage *damage = &trace->damage;
    struct clipping c = {.trace = trace,
                         .nodes = ta_trace_arg_column(trace, "graph node id"),
                         .lanes = calloc(trace->tracks.n + 1, sizeof *c.lanes)};
    if (!c.lanes)
        return false;
    for (size_t t = 0; t < trace->tracks.n; t++)
        c.lanes[t].launched = TA_NO_ROW;
    for (size_t i = 0; i < trace->activities.n; i++)
        take(&c, i, builder->shares_stream[trace->spans.track[trace->activities.at[i].span]]);
    for (size_t t = 0; t < trace->tracks.n; t++)
        for (size_t k = 0; k < c.lanes[t].n; k++)
            close_open(&c, &c.lanes[t].at[k]);
    cut(&c);
    free(c.lanes);
    free(c.cuts.at);
    if (damage->n_overlong) {
        const struct ta_slice name = ta_trace_text(trace, trace->spans.name[c.longest]);
        ta_quality_add_many(
            builder->quality, TA_Q_OVERLONG, (uint64_t)damage->n_overlong, TA_NO_OFFSET,
            TA_NO_OFFSET,
            "%" PRId64
            " of %zu device activities last past later ones of their stream, which cannot "
            "be: they end where the next one starts; the largest, %.*s, lasts %.3f ms too long, "
            "of %.3f ms",
            damage->n_overlong, trace->activities.n, (int)(name.len < 80 ? name.len : 80), name.ptr,
            (double)c.longest_cut / 1e6, (double)c.longest_raw / 1e6);
    }
    return !c.failed && ta_damage_settle(damage);
}
