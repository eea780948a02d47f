/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of a device while the program runs: the partials that collecting fills and the tables
 * read. */
#ifndef TA_MEMORY_PROGRAM_H
#define TA_MEMORY_PROGRAM_H

#include "model/program/generation.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>
#include <traceanalyze/table.h>

enum { POINTS, STEPS, PHASES, PARTIALS };

/* Every row belongs to a device. */
enum { RANK, DEVICE, OWN };
#define OWNER_FIELDS [RANK] = {"rank", TA_FIELD_RANK}, [DEVICE] = {"device", TA_FIELD_INT}

/* A stretch of the records, which lies in one phase. */
enum { STRETCH = OWN, TIME, PHASE, ALLOCATED, RESERVED, POINT_FIELDS };

/* What went on between two times: a step, or a phase. */
enum {
    PLACE = OWN, /* of a step in the trace; of a phase its number */
    LABEL,
    START,
    PEAK_ALLOCATED,
    PEAK_RESERVED,
    END_ALLOCATED,
    ALLOCATIONS,
    ALLOCATED_BYTES,
    FREES,
    FREED_BYTES,
    WORK_FIELDS_N
};

/* What a moment of the recording is in, where no phase is known; and how many phases there are. */
enum { NO_PHASE = -1, MEMORY_PHASES = TA_GENERATION_PHASES };

/* ---- phases.c ------------------------------------------------------------------------------- */

/* A stretch of time on the host. */
struct stretch {
    int64_t start, end;
    int64_t phase;
};

/* The phases of a program, by start. */
struct phases {
    struct stretch *at; /* free() it */
    size_t n;
};

/* None where the trace does not tell; false without memory. */
bool memory_find_phases(const struct ta_trace *trace, struct phases *phases);
/* The phase at a moment, of several the one that began last; NO_PHASE. */
int64_t memory_phase_at(const struct phases *phases, int64_t time);
const char *memory_phase_name(int64_t phase);

/* ---- collect.c ------------------------------------------------------------------------------ */

enum ta_status memory_program_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial *const *out) TA_MUST_CHECK;

/* ---- growth.c ------------------------------------------------------------------------------- */

extern const struct ta_table_def memory_growth;
/* False without memory. */
bool memory_add_growth(struct ta_section_builder *out, const struct ta_partial *steps,
                       const struct ta_refs *in);

/* What is read of other analyses. */
enum { BLOCK_RANK, BLOCK_BYTES, MEMORY_READS };

#endif
