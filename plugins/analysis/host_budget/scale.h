/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the device time of a step changes with the resolution. */
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

/* What is generated, from diffusion.tokens; width TA_MISSING if it is unknown or differs. */
struct sizes_now {
    int64_t width, height, frames, batch, tokens, image_tokens;
    double attention; /* share of the kernel time */
};

struct sizes_now sizes_of_rank(const struct ta_refs *in, int64_t rank);

/* Where the host needs as long as the device; TA_MISSING for what is unknown or far away. */
struct turn {
    int64_t width, height, batch;
};

struct turn turn_of(const struct sizes_now *now, double device_ns, double host_ns);

extern const struct ta_table_def resolutions;

/* Adds the rows of a rank; `least_ns` and `most_ns`: bounds of the host time. */
void add_resolutions(int64_t rank, const struct sizes_now *now, double device_ns, double least_ns,
                     double most_ns, struct ta_section_builder *out);

#endif
