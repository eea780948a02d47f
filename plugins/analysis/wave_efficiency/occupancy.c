/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.occupancy: which share of its multiprocessors a device has in use, and which share of the
 * warps that they hold.
 *
 * A kernel of b blocks per multiprocessor has min(b, 1) of them in use, as far as its blocks go
 * around; what runs at the same time adds up to at most all.  Time in which nothing runs counts, so
 * the busy share of the device is the most that can be. */
#include "wave_efficiency.h"

#include <math.h>

const struct ta_field occupancy_fields[OCCUPANCY_FIELDS] = {
    [OCCUPANCY_RANK] = {"rank", TA_FIELD_RANK},
    [OCCUPANCY_DEVICE] = {"device", TA_FIELD_INT},
    [OCCUPANCY_WINDOW] = {"window_ns", TA_FIELD_SUM},
    [OCCUPANCY_UNITS] = {"units_ns", TA_FIELD_SUM},
    [OCCUPANCY_KNOWN] = {"known_ns", TA_FIELD_SUM},
    [OCCUPANCY_WARPS] = {"warps_ns", TA_FIELD_SUM},
    [OCCUPANCY_TIME] = {"occupancy_ns", TA_FIELD_SUM},
};

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    TA_NS_COLUMN("window_ns", "Window", TA_NEUTRAL,
                 "First start to last end of the device's activities"),
    TA_RATIO_COLUMN("sm_efficiency", "SM efficiency", TA_HIGHER,
                    "Share of the multiprocessors that have a block, over the window, time in "
                    "which nothing runs included: an estimate of the profiler's blocks per "
                    "multiprocessor, of all kernels that run at a time 1 at most"),
    TA_RATIO_COLUMN("occupancy", "Occupancy", TA_HIGHER,
                    "Share of the warps that a multiprocessor holds, as the profiler estimates it "
                    "of each kernel, weighted by duration; of kernels without it nothing counts"),
    TA_NS_COLUMN("known_ns", "Time known", TA_NEUTRAL,
                 "Time of the kernels that say their blocks per multiprocessor"),
};

/* ---- map ----------------------------------------------------------------------------------- */

/* Shares are millionths, so that sums are exact and kernels may end in any order. */
enum { WHOLE = 1000000, RUNNING_MOST = 256 };

/* The kernels of a device that run at a moment. */
struct sweep {
    struct {
        int64_t end, share;
    } running[RUNNING_MOST];
    size_t n;
    int64_t now, share;
    __int128 units; /* millionths of ns */
};

static void pass(struct sweep *sweep, int64_t to)
{
    sweep->units += (__int128)(to - sweep->now) * ta_min_i64(sweep->share, WHOLE);
    sweep->now = to;
}

static void go_on(struct sweep *sweep, int64_t to)
{
    for (;;) {
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < sweep->n; i++)
            if (sweep->running[i].end <= to &&
                (first == SIZE_MAX || sweep->running[i].end < sweep->running[first].end))
                first = i;
        if (first == SIZE_MAX)
            break;
        pass(sweep, sweep->running[first].end);
        sweep->share -= sweep->running[first].share;
        sweep->running[first] = sweep->running[--sweep->n];
    }
    pass(sweep, to);
}

static void begin(struct sweep *sweep, int64_t start, int64_t end, double blocks)
{
    go_on(sweep, start);
    if (sweep->n == RUNNING_MOST)
        return;
    const int64_t share = (int64_t)nearbyint(fmin(blocks, 1) * WHOLE);
    sweep->running[sweep->n].end = end;
    sweep->running[sweep->n++].share = share;
    sweep->share += share;
}

/* The activities [from, to) are those of one device. */
static void map_device(const struct ta_trace *trace, size_t from, size_t to,
                       struct numbers *numbers, struct ta_partial *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const int64_t first = s.ts[activities.at[from].span];
    struct sweep sweep = {.now = first};
    int64_t last = first, known = 0, time = 0;
    double warps = 0;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &activities.at[i];
        const int64_t start = s.ts[a->span], dur = s.dur[a->span];
        last = ta_max_i64(last, start + dur);
        if (a->kernel == TA_NO_KERNEL)
            continue;
        const struct kernel_numbers of = numbers_of(numbers, a->span);
        if (of.at[PER_UNIT] > 0) {
            known = ta_add_sat(known, dur);
            begin(&sweep, start, start + dur, of.at[PER_UNIT]);
        }
        if (of.has[OCCUPANCY]) {
            time = ta_add_sat(time, dur);
            warps += of.at[OCCUPANCY] / 100 * (double)dur;
        }
    }
    if (known == 0 && time == 0)
        return;
    go_on(&sweep, last);
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)),
                                  ta_key_int(activities.at[from].device));
    ta_sum(&row[OCCUPANCY_WINDOW], last - first);
    ta_sum(&row[OCCUPANCY_UNITS], (int64_t)(sweep.units / WHOLE));
    ta_sum(&row[OCCUPANCY_KNOWN], known);
    ta_sum(&row[OCCUPANCY_WARPS], (int64_t)nearbyint(warps));
    ta_sum(&row[OCCUPANCY_TIME], time);
}

void occupancy_map(const struct ta_trace *trace, struct numbers *numbers, struct ta_partial *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    for (size_t from = 0, to; from < activities.n; from = to) {
        for (to = from + 1;
             to < activities.n && activities.at[to].device == activities.at[from].device;)
            to++;
        map_device(trace, from, to, numbers, out);
    }
}

/* ---- table --------------------------------------------------------------------------------- */

void occupancy_add(const struct ta_partial *devices, struct ta_section_builder *out)
{
    struct ta_table_builder *table = ta_add_table(out, "kernels.occupancy", "Use of the devices",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        const bool has_units = row[OCCUPANCY_KNOWN] > 0, has_warps = row[OCCUPANCY_TIME] > 0;
        TA_ROW(table, ta_int(row[OCCUPANCY_RANK]), ta_int(row[OCCUPANCY_DEVICE]),
               ta_int(row[OCCUPANCY_WINDOW]),
               has_units ? ta_share(row[OCCUPANCY_UNITS], row[OCCUPANCY_WINDOW]) : ta_null(),
               has_warps ? ta_share(row[OCCUPANCY_WARPS], row[OCCUPANCY_TIME]) : ta_null(),
               ta_int(row[OCCUPANCY_KNOWN]));
    }
}
