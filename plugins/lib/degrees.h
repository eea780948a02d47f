/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel degrees that make ranks communicate more than they need to, for rules: groups of tensor
 * or sequence parallelism that span nodes, and both passes of guidance on all ranks. */
#ifndef TA_LIB_DEGREES_H
#define TA_LIB_DEGREES_H

#include <traceanalyze/rule.h>

/* What is read for it, from an enumerator of the rule on, as DEGREES_READS(DEGREES). */
enum {
    DEGREES_DIMENSION,
    DEGREES_SIZE,
    DEGREES_RANKS,
    DEGREES_TOTAL,
    DEGREES_GPU_RANK,
    DEGREES_GPU_DEVICE,
    DEGREES_PASS_RANK,
    DEGREES_READ
};

#define DEGREES_READS(first)                                                                       \
    [(first) + DEGREES_DIMENSION] = {"collectives.layout", "dimension"},                           \
               [(first) + DEGREES_SIZE] = {"collectives.layout", "size"},                          \
               [(first) + DEGREES_RANKS] = {"collectives.layout", "ranks"},                        \
               [(first) + DEGREES_TOTAL] = {"collectives.layout", "total_ns"},                     \
               [(first) + DEGREES_GPU_RANK] = {"gpu_time.by_rank", "rank"},                        \
               [(first) + DEGREES_GPU_DEVICE] = {"gpu_time.by_rank", "device"},                    \
               [(first) + DEGREES_PASS_RANK] = {"guidance.by_rank", "rank"}

struct ta_degrees {
    const char *what;   /* "Both guidance passes of a step run on all 4 ranks"; NULL where nothing
                           of the recording says that the degrees are wrong */
    const char *advice; /* a sentence */
    double least, most; /* of the communication, what other degrees save */
};

/* Of the groups that have most of the communication. */
struct ta_degrees ta_degrees_of(const struct ta_refs *in, struct ta_advice *advice, size_t first);

#endif
