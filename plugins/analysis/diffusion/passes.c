/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps and passes from the numbers that steps have.
 *
 * A pass runs through its schedule once, for one block or one generation.  Steps count up in it, or
 * down where the number is a timestep; a new pass begins where the number goes the other
 * way.  With guidance some programs write two records per step, the conditional and the
 * unconditional model call:
 *
 *   * Records that follow each other with the same number are one step.  At the first step of a
 *     pass the same number may also begin the next pass, of schedules with a single step; it
 *     is one step where later steps of the rank have several records too.
 *   * Where all records have one number, the blocks tell how many records each has.
 *   * Numbers may count the calls: records are one step then when, all over, the same number of
 *     them has one timestep. */
#include "passes.h"

#include <math.h>

/* Whether more numbers fall than rise. */
static bool counts_down(const struct step_record *records, size_t n)
{
    size_t up = 0, down = 0, before = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (records[i].number == TA_MISSING)
            continue;
        up += before != SIZE_MAX && records[i].number > records[before].number;
        down += before != SIZE_MAX && records[i].number < records[before].number;
        before = i;
    }
    return down > up;
}

/* Marks passes and repeated records; `repeats`: the same number at the first step of a pass is the
 * same step.  Returns whether later steps have several records. */
static bool divide(struct step_record *records, size_t n, bool down, bool repeats)
{
    bool found = false;
    size_t steps = 0; /* of the pass */
    int64_t pass = -1, before = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        struct step_record *record = &records[i];
        const bool same =
            i > 0 && records[i].number != TA_MISSING && records[i].number == records[i - 1].number;
        const bool known = before != TA_MISSING && record->number != TA_MISSING;
        const bool back = known && (down ? record->number > before : record->number < before);
        record->continues = same && (steps > 1 || repeats);
        found |= same && steps > 1;
        if (i == 0 || back || (same && !record->continues)) {
            pass++;
            steps = 0;
        }
        steps += !record->continues;
        record->pass = pass;
        before = record->number == TA_MISSING ? before : record->number;
    }
    return found;
}

static bool have_one_number(const struct step_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (records[i].number == TA_MISSING || records[i].number != records[0].number)
            return false;
    return n > 0;
}

static bool is_same_timestep(const struct step_record *records, size_t i)
{
    return i > 0 && records[i].pass == records[i - 1].pass && !isnan(records[i].timestep) &&
           !(records[i].timestep < records[i - 1].timestep) &&
           !(records[i].timestep > records[i - 1].timestep);
}

/* How many records each timestep has when all have the same number of them, and every pass has
 * several; else 1. */
static size_t records_per_timestep(const struct step_record *records, size_t n)
{
    size_t each = 0, steps = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_same_timestep(records, end);)
            end++;
        if (each > 0 && end - first != each)
            return 1;
        each = end - first;
        steps = first > 0 && records[first].pass == records[first - 1].pass ? steps + 1 : 1;
        if (steps < 2 && (end == n || records[end].pass != records[first].pass))
            return 1;
    }
    return each > 0 ? each : 1;
}

void find_passes(struct step_record *records, size_t n, size_t blocks)
{
    if (have_one_number(records, n)) {
        /* Schedules with a single step: a pass per block where that fits, else per record. */
        const size_t each = blocks && n % blocks == 0 ? n / blocks : 1;
        for (size_t i = 0; i < n; i++) {
            records[i].pass = (int64_t)(i / each);
            records[i].continues = i % each != 0;
        }
        return;
    }
    const bool down = counts_down(records, n);
    if (divide(records, n, down, false)) {
        divide(records, n, down, true);
        return;
    }
    const size_t each = records_per_timestep(records, n);
    for (size_t i = 0; i < n && each > 1; i++)
        records[i].continues = is_same_timestep(records, i);
}
