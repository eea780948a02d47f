/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.by_rank, by_name, by_rank_name, overlap and over_time: every instant of a device's
 * window counts as compute, exposed communication, exposed copies, exposed memory sets, or idle. */
#include "analyze/partial.h"
#include "lib/sharing.h"
#include "model/program/window.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

/* Classes of activities, in order of priority for an instant that several cover. */
enum activity_class { CLASS_COMPUTE, CLASS_COMM, CLASS_MEMCPY, CLASS_MEMSET, CLASSES };

/* The partials of the analysis, in order, and their fields. */
enum { PARTIAL_DEVICES, PARTIAL_OVERLAP, PARTIAL_BINS, PARTIAL_NAMES };
enum {
    RANK,
    DEVICE,
    WINDOW,
    BUSY,
    COMPUTE,
    COMM,
    COMM_EXPOSED,
    MEMCPY,
    MEMCPY_EXPOSED,
    MEMSET,
    MEMSET_EXPOSED,
    FIELDS
};
enum { OVERLAP_RANK, OVERLAP_DEVICE, OVERLAP_FIRST, OVERLAP_SECOND, OVERLAP_BOTH, OVERLAP_SHORTER };
enum {
    BIN_RANK,
    BIN_DEVICE,
    BIN_INDEX,
    BIN_START,
    BIN_LENGTH,
    BIN_BUSY,
    BIN_COMPUTE,
    BIN_COMM,
    BIN_COPY,
    BIN_FIELDS
};
enum { NAME_RANK, NAME_DEVICE, NAME_CLASS, NAME_NAME, NAME_CALLS, NAME_TOTAL, NAME_SHARED };

/* Number of equal intervals that the program's window is divided into. */
enum { BINS = 100 };

/* Approximate maximum of rows of gpu_time.over_time: with more devices the intervals are longer. */
enum { BIN_ROWS_MOST = 50000 };

/* ---- devices --------------------------------------------------------------------------------- */

/* The walk over the activities of each device. */

static const char *activity_class_name(enum activity_class class)
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

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
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

/* ---- names ----------------------------------------------------------------------------------- */

/* gpu_time.by_name and gpu_time.by_rank_name: each name's share of the busy time. */

/* Maximum of rows of gpu_time.by_rank_name, and rows per device that are kept in any case. */
enum { ROWS_MOST = 20000, ROWS_LEAST = 5 };

/* ---- over all devices ---------------------------------------------------------------------- */

enum { BY_NAME_CLASS, BY_NAME_NAME, BY_NAME_CALLS, BY_NAME_TOTAL, BY_NAME_EXPOSED, BY_NAME_SHARE };
static const struct ta_column gpu_time_by_name_columns[] = {
    [BY_NAME_CLASS] = {"class", "Class", TA_TEXT, .read_as = TA_AS_ACTIVITY_CLASS,
                       .doc = "compute, comm, memcpy or memset"},
    [BY_NAME_NAME] = {"name", "Name", TA_TEXT, .read_as = TA_AS_ACTIVITY,
                      .doc = "Name of the kernel, copy or memory set"},
    [BY_NAME_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_ACTIVITY_CALLS,
                       .doc = "Number of activities, all ranks"},
    [BY_NAME_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .read_as = TA_AS_ACTIVITY_TIME,
                       .doc = "Sum of the durations; activities at the same time add up"},
    [BY_NAME_EXPOSED] = {"exposed_ns", "Busy time", TA_NS, .better = TA_LOWER,
                         .read_as = TA_AS_ACTIVITY_EXPOSED,
                         .doc = "Share of the devices' busy time that belongs to this name: each "
                                "instant is divided evenly between the activities that run on the "
                                "device then, so all names add up to the busy time"},
    [BY_NAME_SHARE] = {"share", "Busy %", TA_RATIO,
                       .doc = "Busy time of this name divided by the busy time of all ranks"},
};

static const struct ta_table_def gpu_time_by_name = {
    "gpu_time.by_name",
    "GPU busy time by name",
    TA_COLUMNS(gpu_time_by_name_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per class and name, all ranks: which activities the busy time consists of. Σ "
           "`exposed_ns` is Σ `busy_ns` of `gpu_time.by_rank`. If more than 256 activities run on "
           "a device at once, those beyond get no share.",
    .order = {&gpu_time_by_name_columns[BY_NAME_EXPOSED], TA_DESCENDING}};

enum { NAMED_RANK, NAMED_DEVICE, NAMED_CLASS, NAMED_NAME, NAMED_CALLS, NAMED_EXPOSED };
static const struct ta_column gpu_time_by_rank_name_columns[] = {
    [NAMED_RANK] = TA_RANK_COLUMN,
    [NAMED_DEVICE] = TA_DEVICE_COLUMN,
    [NAMED_CLASS] = {"class", "Class", TA_TEXT, .read_as = TA_AS_DEVICE_ACTIVITY_CLASS,
                     .doc = "compute, comm, memcpy or memset"},
    [NAMED_NAME] = {"name", "Name", TA_TEXT, .read_as = TA_AS_DEVICE_ACTIVITY,
                    .doc = "Name of the kernel, copy or memory set; empty for the sum of those "
                           "that are not listed"},
    [NAMED_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_DEVICE_ACTIVITY_CALLS,
                     .doc = "Number of activities"},
    [NAMED_EXPOSED] = {"exposed_ns", "Busy time", TA_NS, .better = TA_LOWER,
                       .read_as = TA_AS_DEVICE_ACTIVITY_EXPOSED,
                       .doc = "Share of the device's busy time that belongs to this name: each "
                              "instant is divided evenly between the activities that run then, so "
                              "all rows of a device add up to its busy time"},
};

static const struct ta_table_def gpu_time_by_rank_name = {
    "gpu_time.by_rank_name",
    "GPU busy time by rank and name",
    TA_COLUMNS(gpu_time_by_rank_name_columns),
    .doc = "One row per rank, device, class and name, if there is more than one device. Σ "
           "`exposed_ns` of a device is its `busy_ns`. The names that take longest are listed, 20 "
           "000 rows in all or 5 per device; the others are one row without a name per class.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

/* Rows of the partial. */
struct rows {
    const struct ta_partial *names;
    const int64_t **at;
    size_t n;
};

static int by_name(const void *left, const void *right, void *user)
{
    const struct ta_partial *names = user;
    const int64_t *a = *(const int64_t *const *)left, *b = *(const int64_t *const *)right;
    const int order = ta_slice_compare(ta_partial_text(names, a, NAME_CLASS),
                                       ta_partial_text(names, b, NAME_CLASS));
    return order ? order
                 : ta_slice_compare(ta_partial_text(names, a, NAME_NAME),
                                    ta_partial_text(names, b, NAME_NAME));
}

static void add_by_name(const struct rows *rows, struct ta_section_builder *out)
{
    const struct ta_partial *names = rows->names;
    int64_t busy = 0;
    for (size_t i = 0; i < rows->n; i++)
        busy = ta_add_sat(busy, rows->at[i][NAME_SHARED]);
    for (size_t i = 0, end; i < rows->n; i = end) {
        int64_t calls = 0, total = 0, shared = 0;
        for (end = i;
             end < rows->n && by_name(&rows->at[i], &rows->at[end], (void *)(uintptr_t)names) == 0;
             end++) {
            calls += rows->at[end][NAME_CALLS];
            total = ta_add_sat(total, rows->at[end][NAME_TOTAL]);
            shared = ta_add_sat(shared, rows->at[end][NAME_SHARED]);
        }
        TA_ROW(out, gpu_time_by_name,
               [BY_NAME_CLASS] = ta_text(ta_partial_text(names, rows->at[i], NAME_CLASS)),
               [BY_NAME_NAME] = ta_text(ta_partial_text(names, rows->at[i], NAME_NAME)),
               [BY_NAME_CALLS] = ta_int(calls), [BY_NAME_TOTAL] = ta_int(total),
               [BY_NAME_EXPOSED] = ta_int(shared), [BY_NAME_SHARE] = ta_share(shared, busy));
    }
}

/* ---- of each device ------------------------------------------------------------------------ */

static int by_time(const void *left, const void *right, void *user)
{
    const int64_t *a = *(const int64_t *const *)left, *b = *(const int64_t *const *)right;
    if (a[NAME_SHARED] != b[NAME_SHARED])
        return (a[NAME_SHARED] < b[NAME_SHARED]) - (a[NAME_SHARED] > b[NAME_SHARED]);
    return by_name(left, right, user);
}

/* Adds the names that are not listed as one row per class. */
static void add_rest(struct ta_section_builder *out, const struct rows *device, size_t most)
{
    for (int c = 0; c < CLASSES; c++) {
        const struct ta_slice class = ta_slice_of(activity_class_name((enum activity_class)c));
        int64_t calls = 0, shared = 0;
        for (size_t i = most; i < device->n; i++)
            if (ta_slice_equal(ta_partial_text(device->names, device->at[i], NAME_CLASS), class)) {
                calls += device->at[i][NAME_CALLS];
                shared = ta_add_sat(shared, device->at[i][NAME_SHARED]);
            }
        if (calls)
            TA_ROW(out, gpu_time_by_rank_name, [NAMED_RANK] = ta_int(device->at[0][NAME_RANK]),
                   [NAMED_DEVICE] = ta_int(device->at[0][NAME_DEVICE]),
                   [NAMED_CLASS] = ta_text(class), [NAMED_NAME] = ta_null(),
                   [NAMED_CALLS] = ta_int(calls), [NAMED_EXPOSED] = ta_int(shared));
    }
}

/* The names of a device that take longest, and the others as one row per class. */
static void add_device(const struct rows *device, size_t most, struct ta_section_builder *out)
{
    qsort_r(device->at, device->n, sizeof *device->at, by_time, (void *)(uintptr_t)device->names);
    for (size_t i = 0; i < device->n && i < most; i++) {
        const int64_t *row = device->at[i];
        TA_ROW(out, gpu_time_by_rank_name, [NAMED_RANK] = ta_int(row[NAME_RANK]),
               [NAMED_DEVICE] = ta_int(row[NAME_DEVICE]),
               [NAMED_CLASS] = ta_text(ta_partial_text(device->names, row, NAME_CLASS)),
               [NAMED_NAME] = ta_text(ta_partial_text(device->names, row, NAME_NAME)),
               [NAMED_CALLS] = ta_int(row[NAME_CALLS]), [NAMED_EXPOSED] = ta_int(row[NAME_SHARED]));
    }
    add_rest(out, device, most);
}

/* Adds each name's share of the busy time, over all devices and per device; false without
 * memory. */
static bool gpu_time_add_names(const struct ta_partial *names, size_t n_devices,
                               struct ta_section_builder *out)
{
    struct rows rows = {names, NULL, ta_partial_rows(names)};
    rows.at = calloc(rows.n + 1, sizeof *rows.at);
    if (!rows.at)
        return false;
    for (size_t i = 0; i < rows.n; i++)
        rows.at[i] = ta_partial_at(names, i);
    /* With one device gpu_time.by_name says the same. */
    const size_t share = ROWS_MOST / (n_devices ? n_devices : 1);
    for (size_t i = 0, end; n_devices > 1 && i < rows.n; i = end) {
        end = ta_partial_group_end(names, i, NAME_DEVICE);
        add_device(&(struct rows){names, rows.at + i, end - i},
                   share > ROWS_LEAST ? share : ROWS_LEAST, out);
    }
    qsort_r(rows.at, rows.n, sizeof *rows.at, by_name, (void *)(uintptr_t)names);
    add_by_name(&rows, out);
    free(rows.at);
    return true;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE] = {"device", TA_FIELD_INT},
    [WINDOW] = {"window_ns", TA_FIELD_SUM},
    [BUSY] = {"busy_ns", TA_FIELD_SUM},
    [COMPUTE] = {"compute_ns", TA_FIELD_SUM},
    [COMM] = {"comm_ns", TA_FIELD_SUM},
    [COMM_EXPOSED] = {"comm_exposed_ns", TA_FIELD_SUM},
    [MEMCPY] = {"memcpy_ns", TA_FIELD_SUM},
    [MEMCPY_EXPOSED] = {"memcpy_exposed_ns", TA_FIELD_SUM},
    [MEMSET] = {"memset_ns", TA_FIELD_SUM},
    [MEMSET_EXPOSED] = {"memset_exposed_ns", TA_FIELD_SUM},
};

static const struct ta_field overlap_fields[] = {
    [OVERLAP_RANK] = {"rank", TA_FIELD_RANK},   [OVERLAP_DEVICE] = {"device", TA_FIELD_INT},
    [OVERLAP_FIRST] = {"first", TA_FIELD_TEXT}, [OVERLAP_SECOND] = {"second", TA_FIELD_TEXT},
    [OVERLAP_BOTH] = {"both_ns", TA_FIELD_SUM}, [OVERLAP_SHORTER] = {"shorter_ns", TA_FIELD_SUM},
};

static const struct ta_field bin_fields[BIN_FIELDS] = {
    [BIN_RANK] = {"rank", TA_FIELD_RANK},         [BIN_DEVICE] = {"device", TA_FIELD_INT},
    [BIN_INDEX] = {"bin", TA_FIELD_INT},          [BIN_START] = {"start_ns", TA_FIELD_MIN},
    [BIN_LENGTH] = {"length_ns", TA_FIELD_SUM},   [BIN_BUSY] = {"busy_ns", TA_FIELD_SUM},
    [BIN_COMPUTE] = {"compute_ns", TA_FIELD_SUM}, [BIN_COMM] = {"comm_ns", TA_FIELD_SUM},
    [BIN_COPY] = {"copy_ns", TA_FIELD_SUM},
};

static const struct ta_field name_fields[] = {
    [NAME_RANK] = {"rank", TA_FIELD_RANK},        [NAME_DEVICE] = {"device", TA_FIELD_INT},
    [NAME_CLASS] = {"class", TA_FIELD_TEXT},      [NAME_NAME] = {"name", TA_FIELD_TEXT},
    [NAME_CALLS] = {"calls", TA_FIELD_SUM},       [NAME_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [NAME_SHARED] = {"exposed_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_DEVICES] = {"devices", fields, FIELDS},
    [PARTIAL_OVERLAP] = {"overlap", overlap_fields, 6},
    [PARTIAL_BINS] = {"bins", bin_fields, BIN_FIELDS},
    [PARTIAL_NAMES] = {"names", name_fields, 7},
    {0},
};

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_WINDOW,
    BY_RANK_BUSY,
    BY_RANK_COMPUTE,
    BY_RANK_COMM,
    BY_RANK_COMM_EXPOSED,
    BY_RANK_COMM_HIDDEN,
    BY_RANK_MEMCPY,
    BY_RANK_MEMCPY_EXPOSED,
    BY_RANK_MEMSET,
    BY_RANK_MEMSET_EXPOSED,
    BY_RANK_IDLE,
    BY_RANK_BUSY_SHARE
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN,
    [BY_RANK_WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER, .weight = 1,
                        .read_as = TA_AS_DEVICE_WINDOW,
                        .doc =
                            "From the start of the device's first activity to the end of its last"},
    [BY_RANK_BUSY] = {"busy_ns", "Busy", TA_NS, .weight = 0.9,
                      .doc = "Time in which at least one activity runs"},
    [BY_RANK_COMPUTE] = {"compute_ns", "Compute", TA_NS, .weight = 0.8,
                         .read_as = TA_AS_DEVICE_COMPUTE,
                         .doc = "Time in which at least one compute kernel runs"},
    [BY_RANK_COMM] = {"comm_ns", "Communication", TA_NS, .better = TA_LOWER, .weight = 0.6,
                      .doc = "Time in which at least one communication kernel runs, including "
                             "waiting for other ranks"},
    [BY_RANK_COMM_EXPOSED] = {"comm_exposed_ns", "Comm exposed", TA_NS, .better = TA_LOWER,
                              .weight = 1, .zero_of = "comm_ns",
                              .doc = "Time in which communication and no compute kernel runs"},
    [BY_RANK_COMM_HIDDEN] =
        {"comm_hidden_ns", "Comm hidden", TA_NS, .better = TA_HIGHER, .zero_of = "comm_ns",
         .doc = "Time in which communication and a compute kernel run at the same time"},
    [BY_RANK_MEMCPY] = {"memcpy_ns", "Copies", TA_NS, .better = TA_LOWER, .weight = 0.6,
                        .doc = "Time in which at least one memory copy runs"},
    [BY_RANK_MEMCPY_EXPOSED] =
        {"memcpy_exposed_ns", "Copies exposed", TA_NS, .better = TA_LOWER, .zero_of = "memcpy_ns",
         .doc = "Time in which copies run and neither compute nor communication does"},
    [BY_RANK_MEMSET] = {"memset_ns", "Memset", TA_NS, .better = TA_LOWER,
                        .doc = "Time in which at least one memory set runs"},
    [BY_RANK_MEMSET_EXPOSED] = {"memset_exposed_ns", "Memset exposed", TA_NS, .better = TA_LOWER,
                                .zero_of = "memset_ns",
                                .doc = "Time in which memory sets run and nothing else does"},
    [BY_RANK_IDLE] = {"idle_ns", "Idle", TA_NS, .better = TA_LOWER, .weight = 1,
                      .zero_of = "idle_ns", .doc = "Window minus busy time"},
    [BY_RANK_BUSY_SHARE] = {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER, .weight = 0.7,
                            .doc = "Busy time divided by the window. It says how long the device "
                                   "is in use, not how well its units are used"},
};

static const struct ta_chart_def comm_chart = {
    .id = "overlap",
    .title = "Hidden and exposed communication",
    .caption = "Communication time of each device: hidden behind compute, or exposed.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_rank_columns[BY_RANK_RANK], &by_rank_columns[BY_RANK_DEVICE]},
    .y = {{&by_rank_columns[BY_RANK_COMM_HIDDEN], "Hidden by compute", TA_INK_COMM_HIDDEN},
          {&by_rank_columns[BY_RANK_COMM_EXPOSED], "Exposed", TA_INK_COMM}},
};

static const struct ta_table_def by_rank = {
    "gpu_time.by_rank",
    "GPU time by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank and device with device activities.\n\nEvery instant of the window "
           "counts once, by priority: compute, then communication, copies, memory sets, idle. "
           "Identity: `busy_ns` = `compute_ns` + `comm_exposed_ns` + `memcpy_exposed_ns` + "
           "`memset_exposed_ns`, and `idle_ns` = `window_ns` − `busy_ns`. Communication kernels "
           "wait inside themselves for late ranks, so `comm_ns` contains waiting and transfer. "
           "Chart `overlap`, if there is communication.",
    .rank_words = "GPU time",
    .brief = &(const struct ta_brief){.place = 180,
                                      .rows = 16,
                                      .largest = &by_rank_columns[BY_RANK_IDLE],
                                      .unless = "gpu_time.parts"}};

/* The first columns are the fields of the partial; one more follows. */
enum { OVERLAP_SHARE = OVERLAP_SHORTER + 1 };
static const struct ta_column overlap_columns[] = {
    [OVERLAP_RANK] = TA_RANK_COLUMN,
    [OVERLAP_DEVICE] = TA_DEVICE_COLUMN,
    [OVERLAP_FIRST] = {"first", "Class", TA_TEXT, .doc = "First class of activities"},
    [OVERLAP_SECOND] = {"second", "Other class", TA_TEXT, .doc = "Second class of activities"},
    [OVERLAP_BOTH] = {"both_ns", "Both", TA_NS, .better = TA_HIGHER,
                      .doc = "Time in which activities of both classes run"},
    [OVERLAP_SHORTER] = {"shorter_ns", "Shorter time", TA_NS,
                         .doc = "The smaller of the times of the two classes"},
    [OVERLAP_SHARE] = {"share", "Overlap", TA_RATIO, .better = TA_HIGHER,
                       .doc = "Time of both divided by the shorter time: 100 % if the shorter one "
                              "is hidden completely"},
};

static const struct ta_chart_def overlap_chart = {
    .id = "overlap-classes",
    .title = "Overlap",
    .caption =
        "For each pair of classes, the time in which both run as a share of the shorter one.",
    .kind = TA_CHART_BARS,
    .label = {&overlap_columns[OVERLAP_FIRST], &overlap_columns[OVERLAP_SECOND]},
    .y = {{&overlap_columns[OVERLAP_SHARE], "Overlap", TA_INK_SERIES_1}},
    .group = &overlap_columns[OVERLAP_RANK],
    .top = 48,
};

static const struct ta_table_def overlap = {
    "gpu_time.overlap", "Overlap", TA_COLUMNS(overlap_columns),
    .doc = "One row per rank, device and pair of classes that both occur. Chart `overlap-classes`.",
    .tier = TA_TIER_DETAIL};

enum {
    PART_RANK,
    PART_DEVICE,
    PART_NUMBER,
    PART_START,
    PART_BUSY,
    PART_COMPUTE,
    PART_COMM,
    PART_COPY
};
static const struct ta_column over_time_columns[] = {
    [PART_RANK] = TA_RANK_COLUMN,
    [PART_DEVICE] = TA_DEVICE_COLUMN,
    [PART_NUMBER] = {"bin", "Interval", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Number of the interval: the program's window is divided into 100 of "
                            "equal length (fewer if there are more than 500 devices)"},
    [PART_START] = {"start_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                    .doc =
                        "Start of the interval, counted from the earliest span in the rank's file"},
    [PART_BUSY] = {"busy_share", "Busy", TA_RATIO, .better = TA_HIGHER,
                   .doc = "Share of the interval in which any activity runs"},
    [PART_COMPUTE] = {"compute_share", "Compute", TA_RATIO, .better = TA_HIGHER,
                      .doc = "Share of the interval in which a compute kernel runs"},
    [PART_COMM] = {"comm_share", "Comm", TA_RATIO,
                   .doc = "Share of the interval in which a communication kernel runs"},
    [PART_COPY] = {"copy_share", "Copies", TA_RATIO,
                   .doc = "Share of the interval in which a copy runs"},
};

static const struct ta_chart_def bin_chart = {
    .id = "gpu-utilization",
    .title = "GPU busy over time",
    .caption =
        "Share of each interval (1 % of the program window or more) in which the device runs "
        "anything, and in which it computes.",
    .kind = TA_CHART_LINES,
    .steps = true, /* each value holds for its interval */
    .label = {&over_time_columns[PART_RANK]},
    .x = &over_time_columns[PART_START],
    .y = {{&over_time_columns[PART_BUSY], "Busy", TA_INK_SERIES_1},
          {&over_time_columns[PART_COMPUTE], "Compute", TA_INK_SERIES_2}},
    .group = &over_time_columns[PART_RANK],
};

static const struct ta_table_def over_time = {
    "gpu_time.over_time",
    "GPU time over time",
    TA_COLUMNS(over_time_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per rank, device and hundredth of the program's window; with more than 500 "
           "devices the intervals are longer, so that the table stays below about 50 000 rows. "
           "Chart `gpu-utilization`.",
    .chart = {&bin_chart}};

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_bins(const struct ta_partial *bins, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(bins), width = 1 + n / BIN_ROWS_MOST;
    for (size_t i = 0; i < n;) {
        int64_t row[BIN_FIELDS];
        i = ta_partial_fold(bins, i, (int64_t)width, row);
        const int64_t length = row[BIN_LENGTH];
        TA_ROW(
            out,
            over_time, [PART_RANK] = ta_int(row[BIN_RANK]), [PART_DEVICE] = ta_int(row[BIN_DEVICE]),
            [PART_NUMBER] = ta_int(row[BIN_INDEX]), [PART_START] = ta_int(row[BIN_START]),
            [PART_BUSY] = ta_num(ratio(row[BIN_BUSY], length)),
            [PART_COMPUTE] = ta_num(ratio(row[BIN_COMPUTE], length)),
            [PART_COMM] = ta_num(ratio(row[BIN_COMM], length)),
            [PART_COPY] = ta_num(ratio(row[BIN_COPY], length)));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *devices = merged[PARTIAL_DEVICES];
    bool hides = false; /* communication behind compute; else the exposed one is all there is */
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        hides |= row[COMM] > row[COMM_EXPOSED];
        TA_ROW(out,
               by_rank, [BY_RANK_RANK] = ta_int(row[RANK]), [BY_RANK_DEVICE] = ta_int(row[DEVICE]),
               [BY_RANK_WINDOW] = ta_int(row[WINDOW]), [BY_RANK_BUSY] = ta_int(row[BUSY]),
               [BY_RANK_COMPUTE] = ta_int(row[COMPUTE]), [BY_RANK_COMM] = ta_int(row[COMM]),
               [BY_RANK_COMM_EXPOSED] = ta_int(row[COMM_EXPOSED]),
               [BY_RANK_COMM_HIDDEN] = ta_int(row[COMM] - row[COMM_EXPOSED]),
               [BY_RANK_MEMCPY] = ta_int(row[MEMCPY]),
               [BY_RANK_MEMCPY_EXPOSED] = ta_int(row[MEMCPY_EXPOSED]),
               [BY_RANK_MEMSET] = ta_int(row[MEMSET]),
               [BY_RANK_MEMSET_EXPOSED] = ta_int(row[MEMSET_EXPOSED]),
               [BY_RANK_IDLE] = ta_int(row[WINDOW] - row[BUSY]),
               [BY_RANK_BUSY_SHARE] =
                   row[WINDOW] ? ta_num((double)row[BUSY] / (double)row[WINDOW]) : ta_null());
    }
    if (hides)
        ta_draw(out, &by_rank, &comm_chart);
    if (!gpu_time_add_names(merged[PARTIAL_NAMES], ta_partial_rows(devices), out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up busy time by name");
    const struct ta_partial *pairs = merged[PARTIAL_OVERLAP];
    bool any = false;
    for (size_t i = 0; i < ta_partial_rows(pairs); i++) {
        const int64_t *row = ta_partial_at(pairs, i);
        TA_ROW(out, overlap, [OVERLAP_RANK] = ta_int(row[OVERLAP_RANK]),
               [OVERLAP_DEVICE] = ta_int(row[OVERLAP_DEVICE]),
               [OVERLAP_FIRST] = ta_text(ta_partial_text(pairs, row, OVERLAP_FIRST)),
               [OVERLAP_SECOND] = ta_text(ta_partial_text(pairs, row, OVERLAP_SECOND)),
               [OVERLAP_BOTH] = ta_int(row[OVERLAP_BOTH]),
               [OVERLAP_SHORTER] = ta_int(row[OVERLAP_SHORTER]),
               [OVERLAP_SHARE] = ta_num(ratio(row[OVERLAP_BOTH], row[OVERLAP_SHORTER])));
        any |= row[OVERLAP_BOTH] > 0;
    }
    if (any)
        ta_draw(out, &overlap, &overlap_chart);
    add_bins(merged[PARTIAL_BINS], out);
    if (ta_partial_rows(devices) == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(
            out, "No event is a device activity by its category: all figures are about the host.");
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {
    &by_rank, &gpu_time_by_rank_name, &gpu_time_by_name, &overlap, &over_time, NULL};

static const struct ta_analysis_ops ops = {
    .section = "gpu_time", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, gpu_time, &ops, .title = "GPU time",
          .summary = "Where each device's window goes, and what runs at the same time: "
                     "gpu_time.by_rank, gpu_time.by_name",
          .version = "1");
