/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of dumps of which nothing is known yet: of the rank of the file, all else missing.  A reader
 * begins with one and sets what its file says. */
#ifndef TRACEANALYZE_UNKNOWN_H
#define TRACEANALYZE_UNKNOWN_H

#include "dump.h"

#include <math.h>

TA_BEGIN_DECLS

static inline struct ta_timed_stage ta_unknown_stage(void)
{
    const struct ta_timed_stage row = {.rank = TA_MISSING,
                                       .calls = TA_MISSING,
                                       .total_ns = TA_MISSING,
                                       .min_ns = TA_MISSING,
                                       .max_ns = TA_MISSING,
                                       .last_ns = TA_MISSING,
                                       .median_ns = TA_MISSING,
                                       .device_ns = TA_MISSING,
                                       .step = TA_MISSING};
    return row;
}

/* One call of a stage; one without a time is no sample of it. */
static inline struct ta_timed_stage ta_single_call(ta_str name, int64_t dur_ns)
{
    struct ta_timed_stage row = ta_unknown_stage();
    row.name = name;
    row.calls = 1;
    row.total_ns = row.min_ns = row.max_ns = dur_ns;
    row.is_call = dur_ns != TA_MISSING;
    return row;
}

static inline struct ta_iterations ta_unknown_iterations(void)
{
    const struct ta_iterations row = {.rank = TA_MISSING,
                                      .count = TA_MISSING,
                                      .total_ns = TA_MISSING,
                                      .min_ns = TA_MISSING,
                                      .max_ns = TA_MISSING,
                                      .median_ns = TA_MISSING};
    return row;
}

static inline struct ta_diffusion_block ta_unknown_diffusion_block(void)
{
    const struct ta_diffusion_block row = {.rank = TA_MISSING,
                                           .block = TA_MISSING,
                                           .frames = TA_MISSING,
                                           .dur_ns = TA_MISSING,
                                           .memory_bytes = TA_MISSING,
                                           .end_ns = TA_MISSING};
    return row;
}

static inline struct ta_layer ta_unknown_layer(void)
{
    const struct ta_layer row = {.rank = TA_MISSING,
                                 .calls = TA_MISSING,
                                 .total_ns = TA_MISSING,
                                 .min_ns = TA_MISSING,
                                 .max_ns = TA_MISSING,
                                 .parameters = TA_MISSING};
    return row;
}

static inline struct ta_memory_mark ta_unknown_memory_mark(void)
{
    const struct ta_memory_mark row = {.rank = TA_MISSING,
                                       .device = TA_MISSING,
                                       .time_ns = TA_MISSING,
                                       .allocated_bytes = TA_MISSING,
                                       .reserved_bytes = TA_MISSING,
                                       .max_allocated_bytes = TA_MISSING,
                                       .max_reserved_bytes = TA_MISSING,
                                       .total_bytes = TA_MISSING,
                                       .ooms = TA_MISSING,
                                       .retries = TA_MISSING};
    return row;
}

static inline struct ta_operator_sum ta_unknown_operator_sum(void)
{
    const struct ta_operator_sum row = {.rank = TA_MISSING,
                                        .calls = TA_MISSING,
                                        .self_cpu_ns = TA_MISSING,
                                        .cpu_ns = TA_MISSING,
                                        .self_device_ns = TA_MISSING,
                                        .device_ns = TA_MISSING,
                                        .self_cpu_bytes = TA_MISSING,
                                        .self_device_bytes = TA_MISSING,
                                        .flops = TA_MISSING};
    return row;
}

static inline struct ta_session ta_unknown_session(void)
{
    const struct ta_session row = {
        .rank = TA_MISSING, .start_ns = TA_MISSING, .end_ns = TA_MISSING, .dur_ns = TA_MISSING};
    return row;
}

TA_END_DECLS

#endif
