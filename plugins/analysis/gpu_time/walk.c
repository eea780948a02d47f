/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over the activities of each device: which classes run, from moment to moment. */
#include "analyze/partial.h"
#include "gpu_time.h"
#include "lib/sharing.h"
#include "model/program/window.h"

#include <stdlib.h>

/* Number of equal intervals that the program's window is divided into. */
enum { BINS = 100 };

const char *activity_class_name(enum activity_class class)
{
    static const char *const names[CLASSES] = {"compute", "comm", "memcpy", "memset"};
    return names[class];
}

/* A set of classes is a mask with bit `class` for each. */
enum { SETS = 1 << CLASSES };

/* The activities of one device. */
struct device {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    int64_t number, first, last;
    /* Every instant before `now` is counted in `time`, by its bin and by the classes that run in
     * it. */
    int64_t now, until[CLASSES]; /* end of the activities of a class so far */
    int64_t starts[BINS + 1];    /* where each bin begins, and the last one ends */
    int n_bins, bin;             /* the bin of `now` */
    int bin_width;               /* number of bins that make one row */
    int64_t time[BINS][SETS];
    struct ta_map rows;    /* of the partial of names */
    int64_t **kernel_rows; /* the same by kernel; NULL for kernels that the device does not run */
};

static struct ta_key rank_key(const struct device *d)
{
    return ta_key_int(ta_trace_rank(d->trace));
}

/* ---- which classes run, from moment to moment ---------------------------------------------- */

/* Advances to `to`; no other activity begins before it than those already known. */
static void go_on(struct device *d, int64_t to)
{
    while (d->now < to) {
        unsigned set = 0;
        int64_t next = to; /* up to where the running classes change, or to `to` */
        for (unsigned c = 0; c < CLASSES; c++)
            if (d->until[c] > d->now) {
                set |= 1u << c;
                next = ta_min_i64(next, d->until[c]);
            }
        while (d->starts[d->bin + 1] < next) {
            d->time[d->bin][set] += d->starts[d->bin + 1] - d->now;
            d->now = d->starts[++d->bin];
        }
        d->time[d->bin][set] += next - d->now;
        d->now = next;
    }
}

/* Time in a bin in which a class of `any` runs and none of `none`. */
static int64_t time_in_bin(const struct device *d, int bin, unsigned any, unsigned none)
{
    int64_t time = 0;
    for (unsigned set = 0; set < SETS; set++)
        if ((set & any) && !(set & none))
            time += d->time[bin][set];
    return time;
}

static int64_t time_of(const struct device *d, unsigned any, unsigned none)
{
    int64_t time = 0;
    for (int b = 0; b < d->n_bins; b++)
        time += time_in_bin(d, b, any, none);
    return time;
}

/* ---- the figures --------------------------------------------------------------------------- */

static void overlap_classes(const struct device *d)
{
    for (unsigned a = 0; a < CLASSES; a++)
        for (unsigned b = a + 1; b < CLASSES; b++) {
            const int64_t first = time_of(d, 1u << a, 0), second = time_of(d, 1u << b, 0);
            if (first == 0 || second == 0)
                continue;
            int64_t *row = TA_PARTIAL_ROW(
                d->out[PARTIAL_OVERLAP], rank_key(d), ta_key_int(d->number),
                ta_key_text(ta_slice_of(activity_class_name((enum activity_class)a))),
                ta_key_text(ta_slice_of(activity_class_name((enum activity_class)b))));
            ta_sum(&row[OVERLAP_BOTH], first - time_of(d, 1u << a, 1u << b));
            ta_sum(&row[OVERLAP_SHORTER], ta_min_i64(first, second));
        }
}

static void fill_bins(const struct device *d)
{
    for (int b = 0; d->n_bins == BINS && b < BINS; b++) {
        int64_t *row = TA_PARTIAL_ROW(d->out[PARTIAL_BINS], rank_key(d), ta_key_int(d->number),
                                      ta_key_int(b / d->bin_width));
        ta_least(&row[BIN_START], d->starts[b] - ta_trace_origin(d->trace));
        ta_sum(&row[BIN_LENGTH], d->starts[b + 1] - d->starts[b]);
        ta_sum(&row[BIN_BUSY], time_in_bin(d, b, SETS - 1, 0));
        ta_sum(&row[BIN_COMPUTE], time_in_bin(d, b, 1u << CLASS_COMPUTE, 0));
        ta_sum(&row[BIN_COMM], time_in_bin(d, b, 1u << CLASS_COMM, 0));
        ta_sum(&row[BIN_COPY], time_in_bin(d, b, 1u << CLASS_MEMCPY, 0));
    }
}

/* ---- the walk ------------------------------------------------------------------------------ */

struct walk {
    const struct ta_program_window *program;
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

static int64_t *add_name(struct walk *w, enum activity_class class, ta_row span)
{
    const ta_str name = w->spans.name[span];
    int64_t *row = ta_partial_cached(
        w->device.out[PARTIAL_NAMES], &w->device.rows, (uint64_t) class << 32 | name,
        (const struct ta_key[]){rank_key(&w->device), ta_key_int(w->device.number),
                                ta_key_text(ta_slice_of(activity_class_name(class))),
                                ta_key_text(ta_trace_text(w->device.trace, name))});
    ta_sum(&row[NAME_SHARED], 0);
    return row;
}

/* The row of an activity's name, kept with its kernel. */
static int64_t *name_row(struct walk *w, enum activity_class class, const struct ta_activity *a)
{
    if (a->kernel == TA_NO_KERNEL)
        return add_name(w, class, a->span);
    int64_t **row = &w->device.kernel_rows[a->kernel];
    if (!*row)
        *row = add_name(w, class, a->span);
    return *row;
}

static void take(struct walk *w, const struct ta_activity *a)
{
    const int64_t start = w->spans.ts[a->span], end = start + w->spans.dur[a->span];
    const enum activity_class class = class_of(w, a);
    int64_t *row = name_row(w, class, a);
    ta_sum(&row[NAME_CALLS], 1);
    ta_sum(&row[NAME_TOTAL], end - start);
    ta_sharing_begin(&w->sharing, start, end, &row[NAME_SHARED]);
    go_on(&w->device, start);
    w->device.until[class] = ta_max_i64(w->device.until[class], end);
}

/* Walks the `n` activities of one device, in the order of their starts. */
static bool walk_device(struct walk *w, const struct ta_activity *at, size_t n)
{
    struct device *d = &w->device;
    *d = (struct device){.trace = d->trace,
                         .out = d->out,
                         .number = at->device,
                         .first = w->spans.ts[at->span],
                         .last = INT64_MIN,
                         .bin_width = d->bin_width,
                         .kernel_rows = d->kernel_rows};
    for (size_t i = 0; i < n; i++)
        d->last = ta_max_i64(d->last, w->spans.ts[at[i].span] + w->spans.dur[at[i].span]);
    const int64_t from = w->program->start, length = w->program->end - from;
    d->n_bins = length < BINS ? 1 : BINS; /* no bin is shorter than a nanosecond */
    for (int b = 0; b <= d->n_bins; b++)
        d->starts[b] = from + (int64_t)((__int128)length * b / d->n_bins);
    d->now = from;
    for (int c = 0; c < CLASSES; c++)
        d->until[c] = from;
    for (size_t i = 0; i < n; i++)
        take(w, &at[i]);
    ta_sharing_end(&w->sharing);
    go_on(d, w->program->end);
    /* In order of priority: each class is exposed where none before it runs. */
    static const struct {
        uint8_t total, exposed;
    } fields[CLASSES] = {[CLASS_COMPUTE] = {COMPUTE, 0},
                         [CLASS_COMM] = {COMM, COMM_EXPOSED},
                         [CLASS_MEMCPY] = {MEMCPY, MEMCPY_EXPOSED},
                         [CLASS_MEMSET] = {MEMSET, MEMSET_EXPOSED}};
    int64_t *row = TA_PARTIAL_ROW(d->out[PARTIAL_DEVICES], rank_key(d), ta_key_int(d->number));
    for (unsigned c = 0; c < CLASSES; c++) {
        const unsigned class = 1u << c;
        ta_sum(&row[fields[c].total], time_of(d, class, 0));
        if (fields[c].exposed)
            ta_sum(&row[fields[c].exposed], time_of(d, class, class - 1));
    }
    ta_sum(&row[WINDOW], d->last - d->first);
    ta_sum(&row[BUSY], time_of(d, SETS - 1, 0));
    overlap_classes(d);
    fill_bins(d);
    const bool done = !d->rows.failed;
    for (size_t i = 0; i < n; i++)
        if (at[i].kernel != TA_NO_KERNEL)
            d->kernel_rows[at[i].kernel] = NULL;
    ta_map_free(&d->rows);
    return done;
}

enum ta_status gpu_time_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                            struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    struct walk *w = calloc(1, sizeof *w);
    const struct ta_program_window *program = ta_program_window(trace);
    bool done = w && program;
    if (done) {
        w->program = program;
        w->spans = ta_trace_spans(trace);
        w->categories = ta_trace_categories(trace);
        w->kernels = ta_trace_kernels(trace);
        w->device =
            (struct device){.trace = trace,
                            .out = out,
                            .bin_width = ta_parts_as_one(&activities),
                            .kernel_rows = calloc(w->kernels.n + 1, sizeof *w->device.kernel_rows)};
        done = w->device.kernel_rows;
    }
    for (size_t from = 0, to; done && from < activities.n; from = to) {
        to = ta_device_end(&activities, from);
        done = walk_device(w, &activities.at[from], to - from);
    }
    if (w)
        free(w->device.kernel_rows);
    free(w);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up device time");
}
