/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the clocks of traces stand against each other.
 *
 * A clock counts from its date, where that is known; collectives show its offset.  The clock
 * of the run is the one that is least ahead, so that no time becomes negative. */
#include "run/merge.h"

#include <math.h>
#include <stdlib.h>

/* What the times of a trace are added to for the date, TA_MISSING without one. */
static int64_t date_of(const struct ta_surveyed *trace)
{
    if (trace->base_ns != TA_MISSING)
        return trace->base_ns;
    return trace->first_ns != TA_MISSING && trace->first_ns >= TA_DATED_FROM_NS ? 0 : TA_MISSING;
}

/* As they are recorded. */
static void align_not(const struct ta_surveyed *surveyed, struct ta_merge *merge)
{
    merge->base_ns = surveyed[0].base_ns;
    for (size_t i = 0; i < merge->n; i++) {
        merge->traces[i].clock = (struct ta_clock_shift){.offset_ns = 0};
        merge->traces[i].uncertainty_ns = TA_MISSING;
        if (surveyed[i].base_ns != merge->base_ns)
            merge->base_ns = TA_MISSING;
    }
    merge->alignment = "none";
}

/* Makes the least of the offsets 0; with dates they count from 1970. */
static void count_from_least(const struct ta_surveyed *surveyed, struct ta_merge *merge)
{
    int64_t least = INT64_MAX;
    bool dated = true;
    for (size_t i = 0; i < merge->n; i++) {
        least = ta_min_i64(least, merge->traces[i].clock.offset_ns);
        dated &= surveyed[i].base_ns != TA_MISSING;
    }
    for (size_t i = 0; i < merge->n; i++)
        merge->traces[i].clock.offset_ns -= least;
    merge->base_ns = dated ? least : TA_MISSING;
}

/* ---- dates --------------------------------------------------------------------------------- */

/* The first trace without a date, or NULL when clocks were aligned. */
static const struct ta_surveyed *align_by_dates(const struct ta_surveyed *surveyed,
                                                struct ta_merge *merge)
{
    for (size_t i = 0; i < merge->n; i++)
        if (date_of(&surveyed[i]) == TA_MISSING)
            return &surveyed[i];
    for (size_t i = 0; i < merge->n; i++)
        merge->traces[i].clock.offset_ns = date_of(&surveyed[i]);
    count_from_least(surveyed, merge);
    merge->alignment = "clock";
    return NULL;
}

/* ---- collectives --------------------------------------------------------------------------- */

/* Sets a clock: what it is ahead of the reference is taken away. */
static void set_clock(const struct ta_rank_clock *clock, const struct ta_surveyed *surveyed,
                      struct ta_merge_trace *trace)
{
    const int64_t zero = surveyed->base_ns == TA_MISSING ? 0 : surveyed->base_ns;
    trace->uncertainty_ns = clock->n ? ta_whole(round(clock->uncertainty)) : TA_MISSING;
    trace->clock = (struct ta_clock_shift){.offset_ns = zero};
    if (!clock->corrected)
        return;
    trace->clock.offset_ns -= clock->offset;
    trace->clock.drift_ppt = -ta_whole(round(clock->drift * 1e12));
    if (trace->clock.drift_ppt)
        trace->clock.origin_ns = clock->origin - zero;
}

/* The first trace whose clock cannot be compared, or NULL when clocks were aligned. */
static const struct ta_surveyed *align_by_collectives(const struct ta_survey *survey,
                                                      struct ta_merge *merge)
{
    int64_t axis = TA_MISSING;
    for (size_t i = 0; i < merge->n; i++) {
        const struct ta_surveyed *trace = &survey->at[i];
        const struct ta_rank_member *member =
            ta_ranks_clock(survey->members, survey->n_members, trace->rank, &axis);
        if (!member)
            return trace;
        set_clock(&member->clock, trace, &merge->traces[i]);
    }
    count_from_least(survey->at, merge);
    merge->alignment = "collectives";
    return NULL;
}

/* ---- the best of them ---------------------------------------------------------------------- */

static enum ta_status refuse(struct ta_run *run, const char *why, const struct ta_surveyed *trace,
                             const char *other)
{
    return ta_fail(&run->ctx, TA_ERR_INPUT, "Clocks cannot be aligned: \"%s\" %s, try --align=%s",
                   trace->shown, why, other);
}

enum ta_status ta_merge_align(struct ta_run *run, const struct ta_survey *survey,
                              struct ta_merge *merge)
{
    const struct ta_surveyed *surveyed = survey->at;
    static const char alone[] = "has no collectives with the other ranks that clocks can be "
                                "compared by",
                      undated[] = "counts from an unknown moment";
    const int how = run->set.align;
    const struct ta_surveyed *trace = NULL;
    align_not(surveyed, merge);
    if (how == TA_ALIGN_NONE || merge->n < 2)
        return TA_OK;
    if (how != TA_ALIGN_CLOCK) {
        trace = align_by_collectives(survey, merge);
        if (!trace)
            return TA_OK;
        align_not(surveyed, merge);
    }
    if (how == TA_ALIGN_COLLECTIVES)
        return refuse(run, alone, trace, "clock");
    if (trace)
        ta_log(&run->ctx, TA_LOG_INFO, "Clocks are not aligned by collectives: \"%s\" %s",
               trace->shown, alone);
    trace = align_by_dates(surveyed, merge);
    if (trace && how == TA_ALIGN_CLOCK)
        return refuse(run, undated, trace, "none");
    if (trace)
        ta_log(&run->ctx, TA_LOG_WARNING,
               "Times are as recorded, and those of different ranks may not be on one axis: the "
               "clock of \"%s\" %s",
               trace->shown, undated);
    return TA_OK;
}
