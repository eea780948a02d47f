/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.by_name and gpu_time.by_rank_name: each name's share of the busy time. */
#include "gpu_time.h"

#include <stdlib.h>

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

const struct ta_table_def gpu_time_by_name = {
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

const struct ta_table_def gpu_time_by_rank_name = {
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
            calls = ta_add_sat(calls, rows->at[end][NAME_CALLS]);
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
                calls = ta_add_sat(calls, device->at[i][NAME_CALLS]);
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

bool gpu_time_add_names(const struct ta_partial *names, size_t n_devices,
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
