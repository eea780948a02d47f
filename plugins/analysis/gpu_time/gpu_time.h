/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device does all the time, from the activities of one trace: its window split by class,
 * which classes overlap, how busy it is from moment to moment, and each name's part of the busy
 * time. */
#ifndef GPU_TIME_GPU_TIME_H
#define GPU_TIME_GPU_TIME_H

#include <traceanalyze/analysis.h>

/* Classes of activities, in the order in which an instant that several cover is given out. */
enum activity_class { CLASS_COMPUTE, CLASS_COMM, CLASS_MEMCPY, CLASS_MEMSET, CLASSES };

const char *activity_class_name(enum activity_class class);

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

/* Stretches of equal length that a window is looked at in. */
enum { BINS = 100 };

/* Rows of gpu_time.over_time, about: of more devices the stretches are longer. */
enum { BIN_ROWS_MOST = 50000 };

extern const struct ta_table_def gpu_time_by_name, gpu_time_by_rank_name;

/* What each name takes of the busy time, over all devices and of each (names.c); false without
 * memory. */
bool gpu_time_add_names(const struct ta_partial *names, size_t n_devices,
                        struct ta_section_builder *out);

/* Walks over the devices of a trace and fills the partials. */
enum ta_status gpu_time_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                            struct ta_partial *const *out);

#endif
