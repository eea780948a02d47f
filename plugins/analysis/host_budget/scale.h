/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the time that the device needs for a step changes with the resolution. */
#ifndef TA_HOST_BUDGET_SCALE_H
#define TA_HOST_BUDGET_SCALE_H

#include <traceanalyze/analysis.h>

enum {
    SCALE_RANK,
    SCALE_WIDTH,
    SCALE_HEIGHT,
    SCALE_FRAMES,
    SCALE_BATCH,
    SCALE_TOKENS,
    SCALE_IMAGE_TOKENS,
    SCALE_ATTENTION,
    SCALE_READS
};
extern const struct ta_ref scale_reads[SCALE_READS];

/* What is generated, by diffusion.tokens; width TA_MISSING where it is not known, or differs. */
struct sizes_now {
    int64_t width, height, frames, batch, tokens, image_tokens;
    double attention; /* of the time of kernels */
};

struct sizes_now sizes_of_rank(const struct ta_refs *in, int64_t rank);

/* Where the host needs as long as the device; TA_MISSING what is not known, or far away. */
struct turn {
    int64_t width, height, batch;
};

struct turn turn_of(const struct sizes_now *now, double device_ns, double host_ns);

extern const struct ta_table_def resolutions;

/* The rows of a rank; `least_ns` and `most_ns`: what the host needs. */
void add_resolutions(int64_t rank, const struct sizes_now *now, double device_ns, double least_ns,
                     double most_ns, struct ta_section_builder *out);

#endif
