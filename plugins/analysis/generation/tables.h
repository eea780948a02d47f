/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of this folder, one per file. */
#ifndef TA_GENERATION_TABLES_H
#define TA_GENERATION_TABLES_H

#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

extern const struct ta_table_def diffusion_loops, phases_by_rank, phases_stages, diffusion_calls;

/* What loops.c reads: the sizes of what is generated. */
enum {
    SIZES_RANK,
    SIZES_WIDTH,
    SIZES_HEIGHT,
    SIZES_FRAMES,
    SIZES_BATCH,
    SIZES_GUIDANCE,
    SIZES_READS
};
extern const struct ta_ref generation_reads[SIZES_READS];

/* False where no rank denoises. */
bool generation_add_loops(const struct ta_partial *runs, const struct ta_refs *in,
                          struct ta_section_builder *out);

/* `stages` of the partials are by rank, then in the order of time, as `calls` are. */
void generation_add_phases(const struct ta_partial *stages, const struct ta_partial *runs,
                           struct ta_section_builder *out);
void generation_draw_phases(const struct ta_partial *stages, struct ta_section_builder *out);
void generation_add_stages(const struct ta_partial *stages, struct ta_section_builder *out);
void generation_add_calls(const struct ta_partial *calls, struct ta_section_builder *out);

#define HOST_START_DOC                                                                             \
    "Start on the host, counted from the rank's earliest span; empty if only kernels show it"
#define GPU_START_DOC "Start of the first activity launched here"
#define GPU_DUR_DOC "From the start of the first activity launched here to the end of the last"
#define GPU_BUSY_DOC "Time in which any activity launched here runs, all devices together"

/* A count that is null where there is none. */
static inline struct ta_cell some(int64_t n)
{
    return n > 0 ? ta_int(n) : ta_null();
}

static inline struct ta_cell phase_cell(int64_t of)
{
    return ta_string(ta_generation_phase_names[of]);
}

#endif
