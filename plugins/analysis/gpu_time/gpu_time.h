/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partials of the time of devices, and who fills and reads them. */
#ifndef TA_GPU_TIME_GPU_TIME_H
#define TA_GPU_TIME_GPU_TIME_H

#include <traceanalyze/analysis.h>

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

/* walk.c: "compute". */
const char *activity_class_name(enum activity_class class);

/* walk.c: fills all partials for a trace. */
enum ta_status gpu_time_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                            struct ta_partial *const *out) TA_MUST_CHECK;

/* names.c: gpu_time.by_name, and with several devices gpu_time.by_rank_name.  False without
 * memory. */
extern const struct ta_table_def gpu_time_by_name, gpu_time_by_rank_name;
TA_MUST_CHECK bool gpu_time_add_names(const struct ta_partial *names, size_t n_devices,
                                      struct ta_section_builder *out);

#endif
