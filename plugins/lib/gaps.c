/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps that stand out in the idle time of a device, so that one looks there first. */
#include "lib/gaps.h"

#include "recommend/rule.h"
#include "report/tables.h"

#include <math.h>

/* Least share of a gap in the window, and of all of them in the time that the finding is about. */
#define LEAST_OF_WINDOW 0.01
#define LEAST_OF_FINDING 0.1
enum { GAPS_MOST = 100 }; /* of such a share are in a window */

/* Rank or device of a row, by its column; TA_MISSING without. */
static int64_t owner_of(const struct ta_table *table, size_t row, size_t column)
{
    const struct ta_cell *cell = column == SIZE_MAX ? NULL : ta_table_cell(table, row, column);
    return cell && cell->kind == TA_CELL_INT ? cell->i : TA_MISSING;
}

static bool is_asked(const struct ta_refs *in, const struct ta_gaps_asked *asked,
                     const struct ta_place *gap)
{
    const struct ta_table *gaps = gap->table, *devices = asked->device.table;
    if (owner_of(gaps, gap->row, ta_table_rank(gaps)) !=
            owner_of(devices, asked->device.row, ta_table_rank(devices)) ||
        owner_of(gaps, gap->row, ta_table_device(gaps)) !=
            owner_of(devices, asked->device.row, ta_table_device(devices)))
        return false;
    for (size_t i = 0; i < asked->n_causes; i++)
        if (ta_ref_reads(in, asked->reads + GAPS_CAUSE, gap->row, asked->causes[i]))
            return true;
    return false;
}

/* The long ones that are asked for; returns how many. */
static size_t find_long(const struct ta_refs *in, const struct ta_gaps_asked *asked,
                        struct ta_place found[GAPS_MOST])
{
    const struct ta_look windows = {.cells = asked->reads + GAPS_WINDOW};
    const size_t durations = asked->reads + GAPS_DURATION;
    struct ta_place window;
    size_t n = 0;
    if (!ta_look_same(in, &windows, &asked->device, &window))
        return 0;
    for (size_t row = 0; row < ta_ref_rows(in, durations) && n < GAPS_MOST; row++) {
        const struct ta_place gap = ta_place_at(in, durations, row);
        if (gap.table && gap.value >= LEAST_OF_WINDOW * window.value && is_asked(in, asked, &gap))
            found[n++] = gap;
    }
    return n;
}

struct ta_gaps ta_gaps_find(const struct ta_refs *in, const struct ta_gaps_asked *asked)
{
    const size_t next = asked->reads + GAPS_NEXT;
    struct ta_place found[GAPS_MOST];
    const size_t n = find_long(in, asked, found);
    struct ta_gaps best = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        struct ta_gaps alike = {.shortest = INFINITY};
        for (size_t k = 0; k < n; k++) {
            if (!ta_slice_equal(ta_ref_text(in, next, found[k].row),
                                ta_ref_text(in, next, found[i].row)))
                continue;
            if (found[k].value > alike.longest.value)
                alike.longest = found[k];
            alike.shortest = fmin(alike.shortest, found[k].value);
            alike.total += found[k].value;
            alike.n++;
        }
        if (alike.total > best.total)
            best = alike;
    }
    /* What is long for other causes as well would exceed what the finding says. */
    const bool fits = best.total >= LEAST_OF_FINDING * asked->time && best.total <= asked->time;
    return fits ? best : (struct ta_gaps){.n = 0};
}

const char *ta_gaps_sentence(const struct ta_refs *in, struct ta_advice *advice,
                             const struct ta_gaps_asked *asked, const struct ta_gaps *gaps)
{
    if (gaps->n == 0)
        return "";
    const char *longest = ta_advice_number(advice, gaps->longest.value, TA_UNIT_NS);
    const char *next = ta_place_text(advice, in, &gaps->longest, asked->reads + GAPS_NEXT);
    if (gaps->n == 1)
        return ta_advice_printf(advice, "The longest gap is %s, before %s. ", longest, next);
    const char *shortest = ta_advice_number(advice, gaps->shortest, TA_UNIT_NS);
    const bool is_equal = strcmp(shortest, longest) == 0;
    const char *number = gaps->n == 2 ? "Two" : ta_advice_printf(advice, "%zu", gaps->n);
    return ta_advice_printf(advice, "%s gaps of %s%s%s before %s are the longest (%s together). ",
                            number, is_equal ? "" : shortest, is_equal ? "" : " to ", longest, next,
                            ta_advice_number(advice, gaps->total, TA_UNIT_NS));
}
