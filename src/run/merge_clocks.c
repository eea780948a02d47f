/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the clocks of traces stand against each other.
 *
 * A clock counts from its date, where that is known; collectives show its offset.  The clock
 * of the run is the one that is least ahead, so that no time becomes negative. */
#include "run/merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/report.h"

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
        merge->traces[i].clock = (struct ta_merge_clock){.offset_ns = 0};
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

/* The row of collectives.clocks for a rank that rests on most collectives, SIZE_MAX without one
 * that was compared.  `axis` is that of the rows that count, TA_MISSING for any. */
static size_t find_clock(const struct ta_table *clocks, int64_t rank, int64_t *axis)
{
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t row = 0; row < clocks->n_rows; row++) {
        const double on = ta_row_number(clocks, row, "axis", -1);
        const double n = ta_row_number(clocks, row, "collectives", 0);
        if (ta_whole(ta_row_number(clocks, row, "rank", -1)) != rank || on < 0 ||
            ta_row_reads(clocks, row, "state", "refused") ||
            (*axis != TA_MISSING && ta_whole(on) != *axis) || n <= most)
            continue;
        best = row;
        most = n;
    }
    if (best != SIZE_MAX)
        *axis = ta_whole(ta_row_number(clocks, best, "axis", -1));
    return best;
}

/* The own time that an offset holds at. */
static int64_t origin_of(const struct ta_table *clocks, size_t row)
{
    char text[32] = "";
    const struct ta_slice origin = ta_row_text(clocks, row, "origin");
    memcpy(text, origin.ptr, origin.len < sizeof text ? origin.len : 0);
    return strtoll(text, NULL, 10);
}

static bool is_corrected(const struct ta_table *clocks, size_t row)
{
    const size_t column = ta_table_column(clocks, "corrected");
    return column != SIZE_MAX && ta_table_cell(clocks, row, column)->kind == TA_CELL_BOOL &&
           ta_table_cell(clocks, row, column)->b;
}

/* Sets a clock by its row: what it is ahead of the reference is taken away. */
static void set_clock(const struct ta_table *clocks, size_t row, const struct ta_surveyed *surveyed,
                      struct ta_merge_trace *trace)
{
    const int64_t zero = surveyed->base_ns == TA_MISSING ? 0 : surveyed->base_ns;
    const double uncertainty = ta_row_number(clocks, row, "uncertainty_ns", NAN);
    trace->uncertainty_ns = ta_whole(round(uncertainty)) /* NAN: TA_MISSING */;
    trace->clock = (struct ta_merge_clock){.offset_ns = zero};
    if (!is_corrected(clocks, row))
        return;
    trace->clock.offset_ns -= ta_whole(ta_row_number(clocks, row, "offset_ns", 0));
    trace->clock.drift_ppt = -ta_whole(round(ta_row_number(clocks, row, "drift", 0) * 1e12));
    if (trace->clock.drift_ppt)
        trace->clock.origin_ns = origin_of(clocks, row) - zero;
}

/* The first trace whose clock cannot be compared, or NULL when clocks were aligned. */
static const struct ta_surveyed *align_by_collectives(const struct ta_surveyed *surveyed,
                                                      const struct ta_report *report,
                                                      struct ta_merge *merge)
{
    const struct ta_table *clocks = ta_report_table(report, "collectives.clocks");
    int64_t axis = TA_MISSING;
    for (size_t i = 0; i < merge->n; i++) {
        const size_t row = clocks ? find_clock(clocks, surveyed[i].rank, &axis) : SIZE_MAX;
        if (row == SIZE_MAX)
            return &surveyed[i];
        set_clock(clocks, row, &surveyed[i], &merge->traces[i]);
    }
    count_from_least(surveyed, merge);
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

enum ta_status ta_merge_align(struct ta_run *run, const struct ta_surveyed *surveyed,
                              const struct ta_report *report, struct ta_merge *merge)
{
    static const char alone[] = "has no collectives with the other ranks that clocks can be "
                                "compared by",
                      undated[] = "counts from an unknown moment";
    const int how = run->set.align;
    const struct ta_surveyed *trace = NULL;
    align_not(surveyed, merge);
    if (how == TA_ALIGN_NONE || merge->n < 2)
        return TA_OK;
    if (how != TA_ALIGN_CLOCK) {
        trace = align_by_collectives(surveyed, report, merge);
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
