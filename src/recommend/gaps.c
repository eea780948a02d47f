/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps that stand out in the idle time of a device, so that one looks there first. */
#include "traceanalyze/rule.h"

#include <math.h>

/* Least share of a gap in the window, and of all of them in the time that the finding is about. */
#define LEAST_OF_WINDOW 0.01
#define LEAST_OF_FINDING 0.1
enum { GAPS_MOST = 100 }; /* of such a share are in a window */

static bool is_asked(const struct ta_gaps_asked *asked, const struct ta_place *gap)
{
    static const char *const owner[] = {"rank", "device"};
    for (size_t i = 0; i < 2; i++)
        if (ta_old_beside(gap, owner[i]).value != ta_old_beside(&asked->device, owner[i]).value)
            return false;
    for (size_t i = 0; i < asked->n_causes; i++)
        if (ta_row_reads(gap->table, gap->row, "cause", asked->causes[i]))
            return true;
    return false;
}

/* The long ones that are asked for; returns how many. */
static size_t find_gaps(const struct ta_report *report, const struct ta_gaps_asked *asked,
                        struct ta_place found[GAPS_MOST])
{
    static const struct ta_old_look window_look = {.table = "gpu_time.by_rank",
                                                   .column = "window_ns"};
    const struct ta_table *table = ta_report_table(report, "gpu_idle.longest");
    struct ta_place window;
    size_t n = 0;
    if (!ta_old_look_same(report, &window_look, &asked->device, &window))
        return 0;
    for (size_t i = 0; table && i < table->n_rows && n < GAPS_MOST; i++) {
        const struct ta_place row = {.table = table, .row = i};
        const struct ta_place gap = ta_old_beside(&row, "dur_ns");
        if (gap.table && gap.value >= LEAST_OF_WINDOW * window.value && is_asked(asked, &gap))
            found[n++] = gap;
    }
    return n;
}

static void add_gap(struct ta_gaps *gaps, const struct ta_place *gap)
{
    if (gap->value > gaps->longest.value)
        gaps->longest = *gap;
    gaps->shortest = gaps->n ? fmin(gaps->shortest, gap->value) : gap->value;
    gaps->total += gap->value;
    gaps->n++;
}

static struct ta_slice next_of(const struct ta_place *gap)
{
    return ta_row_text(gap->table, gap->row, "next");
}

struct ta_gaps ta_gaps_standing_out(const struct ta_report *report,
                                    const struct ta_gaps_asked *asked)
{
    struct ta_place found[GAPS_MOST];
    const size_t n = find_gaps(report, asked, found);
    struct ta_gaps best = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        struct ta_gaps alike = {.n = 0};
        for (size_t k = 0; k < n; k++)
            if (ta_slice_equal(next_of(&found[k]), next_of(&found[i])))
                add_gap(&alike, &found[k]);
        if (alike.total > best.total)
            best = alike;
    }
    return best.total >= LEAST_OF_FINDING * asked->time ? best : (struct ta_gaps){.n = 0};
}

const char *ta_gaps_sentence(struct ta_advice *advice, const struct ta_gaps *gaps)
{
    if (gaps->n == 0)
        return "";
    const char *longest = ta_advice_number(advice, gaps->longest.value, TA_UNIT_NS);
    const char *next = ta_old_place_text(advice, &gaps->longest, "next");
    if (gaps->n == 1)
        return ta_advice_printf(advice, "One gap of %s before %s stands out. ", longest, next);
    return ta_advice_printf(advice, "%zu gaps of %s to %s before %s stand out (%s). ", gaps->n,
                            ta_advice_number(advice, gaps->shortest, TA_UNIT_NS), longest, next,
                            ta_advice_number(advice, gaps->total, TA_UNIT_NS));
}
