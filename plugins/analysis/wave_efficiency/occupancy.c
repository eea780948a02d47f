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

enum {
    DEVICE_RANK,
    DEVICE_DEVICE,
    DEVICE_WINDOW,
    DEVICE_SM_EFFICIENCY,
    DEVICE_OCCUPANCY,
    DEVICE_KNOWN
};
static const struct ta_column wave_occupancy_columns[] = {
    [DEVICE_RANK] = TA_RANK_COLUMN,
    [DEVICE_DEVICE] = TA_DEVICE_COLUMN,
    [DEVICE_WINDOW] = {"window_ns", "Window", TA_NS,
                       .doc = "First start to last end of the device's activities"},
    [DEVICE_SM_EFFICIENCY] =
        {"sm_efficiency", "SM efficiency", TA_RATIO, .better = TA_HIGHER, .weight = 0.3,
         .doc = "Share of the multiprocessors that have a block, over the window, time in which "
                "nothing runs included: an estimate of the profiler's blocks per multiprocessor, "
                "of all kernels that run at a time 1 at most"},
    [DEVICE_OCCUPANCY] =
        {"occupancy", "Occupancy", TA_RATIO, .better = TA_HIGHER, .weight = 0.2,
         .doc = "Share of the warps that a multiprocessor holds, as the profiler estimates it of "
                "each kernel, weighted by duration; of kernels without it nothing counts"},
    [DEVICE_KNOWN] = {"known_ns", "Time known", TA_NS,
                      .doc = "Time of the kernels that say their blocks per multiprocessor"},
};

const struct ta_table_def wave_occupancy = {
    "kernels.occupancy",
    "Use of the devices",
    TA_COLUMNS(wave_occupancy_columns),
    .doc = "One row per rank and device whose kernels say how many blocks a multiprocessor "
           "gets, or their occupancy: the figures \"SM efficiency\" and \"achieved occupancy\" of "
           "the TensorBoard plug-in, over the window of the device.",
    .tier = TA_TIER_DETAIL,
    .rank_words = "Kernels"};

/* ---- map ----------------------------------------------------------------------------------- */

static void pass(struct occupancy_sweep *sweep, int64_t to)
{
    sweep->units += (__int128)(to - sweep->now) * ta_min_i64(sweep->share, UNITS_WHOLE);
    sweep->now = to;
}

static void go_on(struct occupancy_sweep *sweep, int64_t to)
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

static int64_t start_of(const struct occupancy *o, const struct ta_activity *a)
{
    return o->spans.ts[a->span];
}

/* Puts down what is known of the device at hand. */
void occupancy_end(struct occupancy *o)
{
    if (o->known == 0 && o->time == 0)
        return;
    go_on(&o->sweep, o->last);
    int64_t *row =
        TA_PARTIAL_ROW(o->out, ta_key_int(ta_trace_rank(o->trace)), ta_key_int(o->device));
    ta_sum(&row[OCCUPANCY_WINDOW], o->last - o->first);
    ta_sum(&row[OCCUPANCY_UNITS], (int64_t)(o->sweep.units / UNITS_WHOLE));
    ta_sum(&row[OCCUPANCY_KNOWN], o->known);
    ta_sum(&row[OCCUPANCY_WARPS], ta_whole(nearbyint(o->warps)));
    ta_sum(&row[OCCUPANCY_TIME], o->time);
}

static void begin_device(struct occupancy *o, const struct ta_activity *first)
{
    occupancy_end(o);
    const int64_t start = start_of(o, first);
    *o = (struct occupancy){.trace = o->trace,
                            .spans = o->spans,
                            .out = o->out,
                            .begun = true,
                            .device = first->device,
                            .first = start,
                            .last = start};
    o->sweep.now = start;
}

void occupancy_take(struct occupancy *o, const struct ta_activity *a, const struct filling *of)
{
    if (!o->begun || a->device != o->device)
        begin_device(o, a);
    const int64_t start = start_of(o, a), dur = o->spans.dur[a->span];
    o->last = ta_max_i64(o->last, start + dur);
    if (!of)
        return;
    if (of->units != TA_MISSING) {
        o->known = ta_add_sat(o->known, dur);
        const int64_t end = start + dur;
        go_on(&o->sweep, start);
        if (o->sweep.n != OCCUPANCY_RUNNING_MOST) {
            o->sweep.running[o->sweep.n].end = end;
            o->sweep.running[o->sweep.n++].share = of->units;
            o->sweep.share += of->units;
        }
    }
    if (of->has_warps) {
        o->time = ta_add_sat(o->time, dur);
        o->warps += of->warps * (double)dur;
    }
}

/* ---- table --------------------------------------------------------------------------------- */

void occupancy_add(const struct ta_partial *devices, struct ta_section_builder *out)
{
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        const bool has_units = row[OCCUPANCY_KNOWN] > 0, has_warps = row[OCCUPANCY_TIME] > 0;
        TA_ROW(out, wave_occupancy, [DEVICE_RANK] = ta_int(row[OCCUPANCY_RANK]),
               [DEVICE_DEVICE] = ta_int(row[OCCUPANCY_DEVICE]),
               [DEVICE_WINDOW] = ta_int(row[OCCUPANCY_WINDOW]),
               [DEVICE_SM_EFFICIENCY] =
                   has_units ? ta_share(row[OCCUPANCY_UNITS], row[OCCUPANCY_WINDOW]) : ta_null(),
               [DEVICE_OCCUPANCY] =
                   has_warps ? ta_share(row[OCCUPANCY_WARPS], row[OCCUPANCY_TIME]) : ta_null(),
               [DEVICE_KNOWN] = ta_int(row[OCCUPANCY_KNOWN]));
    }
}
