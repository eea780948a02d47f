/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over the activities of each device. */
#include "gpu_time.h"

#include <traceanalyze/sharing.h>

#include <stdlib.h>

const char *activity_class_name(enum activity_class class)
{
    static const char *const names[CLASSES] = {"compute", "comm", "memcpy", "memset"};
    return names[class];
}

/* The activities of one device. */
struct device {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    int64_t number, first, last;
    struct ta_intervals of[CLASSES];
    struct ta_intervals all;
    struct ta_map rows; /* of the partial of names */
};

static struct ta_key rank_key(const struct device *d)
{
    return ta_key_int(ta_trace_rank(d->trace));
}

/* ---- the split of the window --------------------------------------------------------------- */

/* `all` grows by priority, so each class is exposed where none before it is. */
static void split_window(struct device *d)
{
    static const struct {
        uint8_t total, exposed;
    } fields[CLASSES] = {[CLASS_COMPUTE] = {COMPUTE, 0},
                         [CLASS_COMM] = {COMM, COMM_EXPOSED},
                         [CLASS_MEMCPY] = {MEMCPY, MEMCPY_EXPOSED},
                         [CLASS_MEMSET] = {MEMSET, MEMSET_EXPOSED}};
    int64_t *row = TA_PARTIAL_ROW(d->out[PARTIAL_DEVICES], rank_key(d), ta_key_int(d->number));
    for (int c = 0; c < CLASSES; c++) {
        ta_intervals_unite(&d->of[c]);
        ta_sum(&row[fields[c].total], ta_intervals_length(&d->of[c]));
        if (fields[c].exposed)
            ta_sum(&row[fields[c].exposed], ta_intervals_outside(&d->of[c], &d->all));
        ta_intervals_join(&d->all, &d->of[c]);
    }
    ta_sum(&row[WINDOW], d->last - d->first);
    ta_sum(&row[BUSY], ta_intervals_length(&d->all));
}

/* ---- overlap ------------------------------------------------------------------------------- */

static void overlap_classes(const struct device *d)
{
    for (int a = 0; a < CLASSES; a++)
        for (int b = a + 1; b < CLASSES; b++) {
            const int64_t first = ta_intervals_length(&d->of[a]);
            const int64_t second = ta_intervals_length(&d->of[b]);
            if (first == 0 || second == 0)
                continue;
            int64_t *row = TA_PARTIAL_ROW(
                d->out[PARTIAL_OVERLAP], rank_key(d), ta_key_int(d->number),
                ta_key_text(ta_slice_of(activity_class_name((enum activity_class)a))),
                ta_key_text(ta_slice_of(activity_class_name((enum activity_class)b))));
            ta_sum(&row[OVERLAP_BOTH], first - ta_intervals_outside(&d->of[a], &d->of[b]));
            ta_sum(&row[OVERLAP_SHORTER], ta_min_i64(first, second));
        }
}

/* ---- from moment to moment ----------------------------------------------------------------- */

/* Where each part begins, and the last one ends. */
static void place_bins(const struct device *d, int64_t starts[BINS + 1])
{
    for (int b = 0; b <= BINS; b++)
        starts[b] = d->first + (int64_t)((__int128)(d->last - d->first) * b / BINS);
}

/* Adds the time that a united set covers to each bin. */
static void add_bins(const int64_t starts[BINS + 1], const struct ta_intervals *set, int64_t *bins)
{
    int bin = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct ta_interval at = set->at[i];
        while (bin < BINS - 1 && starts[bin + 1] <= at.start)
            bin++;
        for (int b = bin; b < BINS && starts[b] < at.end; b++)
            bins[b] += ta_min_i64(at.end, starts[b + 1]) - ta_max_i64(at.start, starts[b]);
    }
}

static void fill_bins(const struct device *d)
{
    int64_t busy[BINS] = {0}, compute[BINS] = {0}, comm[BINS] = {0}, copy[BINS] = {0};
    int64_t starts[BINS + 1];
    if (d->last - d->first < BINS)
        return; /* bins of less than a nanosecond */
    place_bins(d, starts);
    add_bins(starts, &d->all, busy);
    add_bins(starts, &d->of[CLASS_COMPUTE], compute);
    add_bins(starts, &d->of[CLASS_COMM], comm);
    add_bins(starts, &d->of[CLASS_MEMCPY], copy);
    for (int b = 0; b < BINS; b++) {
        int64_t *row =
            TA_PARTIAL_ROW(d->out[PARTIAL_BINS], rank_key(d), ta_key_int(d->number), ta_key_int(b));
        ta_least(&row[BIN_START], starts[b] - ta_trace_origin(d->trace));
        ta_sum(&row[BIN_LENGTH], starts[b + 1] - starts[b]);
        ta_sum(&row[BIN_BUSY], busy[b]);
        ta_sum(&row[BIN_COMPUTE], compute[b]);
        ta_sum(&row[BIN_COMM], comm[b]);
        ta_sum(&row[BIN_COPY], copy[b]);
    }
}

/* ---- the walk ------------------------------------------------------------------------------ */

/* Works out what is known of a device and starts the next one. */
static bool flush(struct device *d)
{
    split_window(d);
    overlap_classes(d);
    fill_bins(d);
    const bool done = !d->all.failed && !d->rows.failed;
    ta_map_free(&d->rows);
    for (int c = 0; c < CLASSES; c++)
        ta_intervals_free(&d->of[c]);
    ta_intervals_free(&d->all);
    *d = (struct device){.trace = d->trace, .out = d->out, .first = INT64_MAX, .last = INT64_MIN};
    return done;
}

struct walk {
    struct device device;
    struct ta_sharing sharing;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_kernels kernels;
};

static enum activity_class class_of(const struct walk *w, const struct ta_activity *a)
{
    if (a->kernel != TA_NO_KERNEL)
        return w->kernels.at[a->kernel].facts.class == TA_KERNEL_COMM ? CLASS_COMM : CLASS_COMPUTE;
    const enum ta_event_class class = w->categories.at[w->spans.cat[a->span]].class;
    return class == TA_CLASS_MEMCPY ? CLASS_MEMCPY : CLASS_MEMSET;
}

static int64_t *name_row(struct walk *w, enum activity_class class, ta_row span)
{
    const ta_str name = w->spans.name[span];
    return ta_partial_cached(
        w->device.out[PARTIAL_NAMES], &w->device.rows, (uint64_t) class << 32 | name,
        (const struct ta_key[]){rank_key(&w->device), ta_key_int(w->device.number),
                                ta_key_text(ta_slice_of(activity_class_name(class))),
                                ta_key_text(ta_trace_text(w->device.trace, name))});
}

static void take(struct walk *w, const struct ta_activity *a)
{
    const int64_t start = w->spans.ts[a->span], end = start + w->spans.dur[a->span];
    const enum activity_class class = class_of(w, a);
    w->device.number = a->device;
    int64_t *row = name_row(w, class, a->span);
    ta_sum(&row[NAME_CALLS], 1);
    ta_sum(&row[NAME_TOTAL], end - start);
    ta_sum(&row[NAME_SHARED], 0);
    ta_sharing_begin(&w->sharing, start, end, &row[NAME_SHARED]);
    ta_intervals_add(&w->device.of[class], start, end);
    w->device.first = ta_min_i64(w->device.first, start);
    w->device.last = ta_max_i64(w->device.last, end);
}

enum ta_status gpu_time_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                            struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    struct walk *w = calloc(1, sizeof *w);
    bool done = w;
    if (w) {
        w->spans = ta_trace_spans(trace);
        w->categories = ta_trace_categories(trace);
        w->kernels = ta_trace_kernels(trace);
        w->device =
            (struct device){.trace = trace, .out = out, .first = INT64_MAX, .last = INT64_MIN};
    }
    for (size_t i = 0; done && i < activities.n; i++) {
        take(w, &activities.at[i]);
        if (i + 1 < activities.n && activities.at[i + 1].device == activities.at[i].device)
            continue;
        ta_sharing_end(&w->sharing);
        done = flush(&w->device);
    }
    free(w);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold device intervals");
}
