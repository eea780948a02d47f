/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks of the ranks against each other (Becker, Rabenseifner & Wolf, EuroPVM/MPI 2008): a
 * synchronizing collective ends everywhere at nearly the same time, so the distance of its ends on
 * two ranks is the distance of their clocks.  From 20 collectives on a line through these distances
 * (Theil–Sen) gives offset and drift, below their median the offset.
 *
 * One member is the reference; members that share collectives with one that is aligned are aligned
 * to it, until none is left.  Members that no chain of collectives connects have axes of their
 * own. */
#include "ranks/stage.h"

#include "stat/series.h"

#include <math.h>

enum {
    DRIFT_LEAST = 20,  /* collectives that a drift takes */
    FIT_MOST = 256,    /* distances that a line is laid through; evenly chosen of more */
    COMMON_LEAST = 2,  /* collectives without which nothing is known */
    CORRECT_BEYOND = 3 /* uncertainties; smaller offsets are none */
};

/* Clocks of computers are not further apart; a line that says so is one through noise. */
static const double DRIFT_MOST = 500e-6;

/* Ends of a collective are not the same to the nanosecond, however equal their distances are. */
static const double UNCERTAINTY_LEAST = 1000;

/* Ends of a member and of one that is aligned, at their common collectives. */
struct pairs {
    double *x, *y; /* ns since `origin`; ns of distance, less `shift` */
    double *work;
    int64_t *distance;
    size_t n;
    int64_t origin, shift;
    double typical; /* median duration of the collectives */
};

struct aligning {
    struct ta_ranks *ranks;
    struct pairs pairs;
    uint32_t *queue; /* members that are aligned, and whose partners are to be */
    size_t n_queue;
    bool *seen; /* collectives whose members are all aligned or refused */
};

static bool synchronizes(const struct ta_ranks *ranks, uint32_t collective)
{
    return collective != TA_COLL_NONE && ranks->collectives[collective].n > 1 &&
           ta_coll_synchronizes(ranks->shapes[ranks->collectives[collective].shape].kind);
}

int64_t ta_rank_clock_time(const struct ta_rank_clock *clock, int64_t time)
{
    if (!clock->corrected)
        return time;
    return ta_add_sat(
        time,
        -ta_add_sat(clock->offset, ta_whole(round(clock->drift * (double)(time - clock->origin)))));
}

static int64_t aligned(const struct ta_rank_member *member, int64_t time)
{
    return ta_rank_clock_time(&member->clock, time);
}

/* ---- one clock ------------------------------------------------------------------------------ */

/* The record of a member in a collective, whose entries are by member; NULL for none. */
static const struct ta_coll_record *record_of(const struct ta_ranks *ranks, uint32_t collective,
                                              uint32_t member)
{
    const struct ta_collective *of = &ranks->collectives[collective];
    size_t low = 0, high = of->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ta_coll_record *record = &ranks->records[ranks->entries[of->first + middle]];
        if (record->member == member)
            return record;
        if (record->member < member)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void collect_pairs(struct aligning *a, uint32_t member, uint32_t with)
{
    const struct ta_ranks *ranks = a->ranks;
    const struct ta_rank_member *m = &ranks->members[member];
    struct pairs *p = &a->pairs;
    p->n = 0;
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const struct ta_coll_record *mine = &ranks->records[i];
        const struct ta_coll_record *its =
            synchronizes(ranks, mine->collective) ? record_of(ranks, mine->collective, with) : NULL;
        if (!its)
            continue;
        if (p->n == 0)
            p->origin = mine->end;
        p->x[p->n] = (double)(mine->end - p->origin);
        p->work[p->n] = (double)ta_min_i64(mine->end - mine->start, its->end - its->start);
        p->distance[p->n++] = mine->end - aligned(&ranks->members[with], its->end);
    }
    ta_sort_numbers(p->work, p->n);
    p->typical = ta_quantile(p->work, p->n, 0.5);
    p->shift = p->n ? p->distance[p->n / 2] : 0;
    for (size_t i = 0; i < p->n; i++)
        p->y[i] = (double)(p->distance[i] - p->shift);
}

static double median(struct pairs *p, const double *values)
{
    memcpy(p->work, values, p->n * sizeof *values);
    ta_sort_numbers(p->work, p->n);
    return ta_quantile(p->work, p->n, 0.5);
}

/* Lays a line through at most FIT_MOST of the pairs; 0 where they are too few for a drift. */
static bool fit_drift(struct pairs *p, double *drift)
{
    double x[FIT_MOST], y[FIT_MOST];
    struct ta_slope line;
    size_t n = 0;
    *drift = 0;
    if (p->n < DRIFT_LEAST)
        return true;
    const size_t points = p->n < FIT_MOST ? p->n : FIT_MOST;
    for (; n < points; n++) {
        x[n] = p->x[n * (p->n - 1) / (points - 1)];
        y[n] = p->y[n * (p->n - 1) / (points - 1)];
    }
    if (!ta_theil_sen(x, y, n, 0.95, &line))
        return false;
    if (fabs(line.slope.value) <= DRIFT_MOST)
        *drift = line.slope.value;
    return true;
}

static bool fit_clock(struct aligning *a, uint32_t member, uint32_t with)
{
    struct pairs *p = &a->pairs;
    struct ta_rank_clock *clock = &a->ranks->members[member].clock;
    const struct ta_rank_clock *its = &a->ranks->members[with].clock;
    double drift;
    if (!fit_drift(p, &drift))
        return false;
    for (size_t i = 0; i < p->n; i++)
        p->y[i] -= drift * p->x[i];
    const double offset = median(p, p->y);
    for (size_t i = 0; i < p->n; i++)
        p->y[i] = fabs(p->y[i] - offset);
    const double around = fmax(TA_MAD_SIGMA * median(p, p->y), UNCERTAINTY_LEAST);
    *clock = (struct ta_rank_clock){
        .state = around > p->typical   ? TA_CLOCK_REFUSED
                 : p->n >= DRIFT_LEAST ? TA_CLOCK_DRIFT
                                       : TA_CLOCK_OFFSET,
        .axis = its->axis,
        .offset = p->shift + ta_whole(round(offset)),
        .drift = drift,
        .uncertainty = hypot(around, its->uncertainty),
        .origin = p->origin,
        .n = p->n,
    };
    const double at_end = (double)clock->offset + drift * p->x[p->n - 1];
    clock->corrected =
        clock->state != TA_CLOCK_REFUSED &&
        fmax(fabs((double)clock->offset), fabs(at_end)) > CORRECT_BEYOND * clock->uncertainty;
    return true;
}

/* ---- all clocks ----------------------------------------------------------------------------- */

/* Aligns a member to one that is, unless they have too little in common. */
static bool try_align(struct aligning *a, uint32_t member, uint32_t with)
{
    collect_pairs(a, member, with);
    if (a->pairs.n < COMMON_LEAST)
        return true;
    if (!fit_clock(a, member, with))
        return false;
    if (a->ranks->members[member].clock.state != TA_CLOCK_REFUSED)
        a->queue[a->n_queue++] = member;
    return true;
}

/* Aligns all that share a collective with a member. */
static bool align_partners(struct aligning *a, uint32_t with)
{
    struct ta_ranks *ranks = a->ranks;
    const struct ta_rank_member *m = &ranks->members[with];
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const uint32_t collective = ranks->records[i].collective;
        if (!synchronizes(ranks, collective) || a->seen[collective])
            continue;
        const struct ta_collective *of = &ranks->collectives[collective];
        bool all = true;
        for (size_t e = 0; e < of->n; e++) {
            const uint32_t member = ranks->records[ranks->entries[of->first + e]].member;
            if (ranks->members[member].clock.state == TA_CLOCK_NONE && member != with &&
                !try_align(a, member, with))
                return false;
            all &= ranks->members[member].clock.state != TA_CLOCK_NONE;
        }
        a->seen[collective] = all;
    }
    return true;
}

/* The member without a clock that takes part in most collectives of several; TA_COLL_NONE. */
static uint32_t next_reference(const struct ta_ranks *ranks)
{
    uint32_t best = TA_COLL_NONE;
    size_t most = COMMON_LEAST - 1;
    for (uint32_t i = 0; i < ranks->n_members; i++) {
        const struct ta_rank_member *m = &ranks->members[i];
        size_t n = 0;
        for (size_t r = m->first; r < m->first + m->n && m->clock.state == TA_CLOCK_NONE; r++)
            n += synchronizes(ranks, ranks->records[r].collective);
        if (n > most) {
            best = i;
            most = n;
        }
    }
    return best;
}

static bool align_axis(struct aligning *a, uint32_t reference)
{
    struct ta_ranks *ranks = a->ranks;
    ranks->members[reference].clock =
        (struct ta_rank_clock){.state = TA_CLOCK_REFERENCE, .axis = (uint32_t)ranks->n_axes++};
    a->n_queue = 0;
    a->queue[a->n_queue++] = reference;
    for (size_t i = 0; i < a->n_queue; i++)
        if (!align_partners(a, a->queue[i]))
            return false;
    return true;
}

static bool open(struct aligning *a)
{
    size_t most = 1;
    for (size_t i = 0; i < a->ranks->n_members; i++)
        most = a->ranks->members[i].n > most ? a->ranks->members[i].n : most;
    struct pairs *p = &a->pairs;
    p->x = calloc(most, sizeof *p->x);
    p->y = calloc(most, sizeof *p->y);
    p->work = calloc(most, sizeof *p->work);
    p->distance = calloc(most, sizeof *p->distance);
    a->queue = calloc(a->ranks->n_members + 1, sizeof *a->queue);
    a->seen = calloc(a->ranks->n_collectives + 1, sizeof *a->seen);
    return p->x && p->y && p->work && p->distance && a->queue && a->seen;
}

static void close(struct aligning *a)
{
    free(a->pairs.x);
    free(a->pairs.y);
    free(a->pairs.work);
    free(a->pairs.distance);
    free(a->queue);
    free(a->seen);
}

bool align_clocks(struct ta_ranks *ranks)
{
    struct aligning a = {.ranks = ranks};
    bool done = open(&a);
    for (uint32_t next; done && (next = next_reference(ranks)) != TA_COLL_NONE;)
        done = align_axis(&a, next);
    close(&a);
    for (size_t i = 0; done && i < ranks->n_members; i++)
        ranks->members[i].began = aligned(&ranks->members[i], ranks->members[i].began);
    for (size_t i = 0; done && i < ranks->n_records; i++) {
        struct ta_coll_record *record = &ranks->records[i];
        const int64_t dur = record->end - record->start;
        record->start = aligned(&ranks->members[record->member], record->start);
        record->end = record->start + dur;
    }
    return done;
}
