/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.over_time, memory.by_step, memory.by_phase and memory.growth: what torch's records of
 * memory in a trace (profile_memory=True) say of the steps and phases of the program. */
#include "memory_program.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- partials -------------------------------------------------------------------------------- */

static const struct ta_field point_fields[POINT_FIELDS] = {
    OWNER_FIELDS,
    [STRETCH] = {"stretch", TA_FIELD_INT},
    [TIME] = {"time_ns", TA_FIELD_MIN},
    [PHASE] = {"phase", TA_FIELD_MAX},
    [ALLOCATED] = {"allocated_bytes", TA_FIELD_MAX},
    [RESERVED] = {"reserved_bytes", TA_FIELD_MAX},
};

static const struct ta_field work_fields[WORK_FIELDS_N] = {
    OWNER_FIELDS,
    [PLACE] = {"place", TA_FIELD_INT},
    [LABEL] = {"label", TA_FIELD_TEXT},
    [START] = {"start_ns", TA_FIELD_MIN},
    [PEAK_ALLOCATED] = {"peak_allocated_bytes", TA_FIELD_MAX},
    [PEAK_RESERVED] = {"peak_reserved_bytes", TA_FIELD_MAX},
    [END_ALLOCATED] = {"end_allocated_bytes", TA_FIELD_MAX},
    [ALLOCATIONS] = {"allocations", TA_FIELD_SUM},
    [ALLOCATED_BYTES] = {"allocated_bytes", TA_FIELD_SUM},
    [FREES] = {"frees", TA_FIELD_SUM},
    [FREED_BYTES] = {"freed_bytes", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {[POINTS] = {"points", point_fields, POINT_FIELDS},
                                                 [STEPS] = {"steps", work_fields, WORK_FIELDS_N},
                                                 [PHASES] = {"phases", work_fields, WORK_FIELDS_N},
                                                 [PARTIALS] = {0}};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PHASES, PLACE, MEMORY_PHASES}, TA_BOUNDS_END};

static const struct ta_ref reads[MEMORY_READS] = {
    [BLOCK_RANK] = {"diffusion.blocks", "rank"},
    [BLOCK_BYTES] = {"diffusion.blocks", "memory_bytes"},
};

/* ---- over time ------------------------------------------------------------------------------- */

enum { OVER_RANK, OVER_DEVICE, OVER_SERIES, OVER_TIME, OVER_PHASE, OVER_ALLOCATED, OVER_RESERVED };
static const struct ta_column memory_over_time_columns[] = {
    [OVER_RANK] = TA_RANK_COLUMN,
    [OVER_DEVICE] = TA_DEVICE_COLUMN_OF("Device number"),
    [OVER_SERIES] = {"series", "Series", TA_ID,
                     .doc = "Rank and device in one text, which names the line in a chart"},
    [OVER_TIME] = {"time_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                   .doc =
                       "Time of the interval's first record, since the earliest span of the rank"},
    [OVER_PHASE] = {"phase", "Phase", TA_WORD,
                    .doc = "Phase of the program during the interval; empty if no phase is known"},
    [OVER_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                        .doc = "Most bytes in use by tensors in the interval"},
    [OVER_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                       .doc = "Most bytes that the allocator held in the interval"},
};

static const struct ta_table_def memory_over_time = {
    "memory.over_time", "Memory during the program", TA_COLUMNS(memory_over_time_columns),
    .tier = TA_TIER_POINTS,
    .doc =
        "One row per interval of torch's memory records (`profile_memory=True`): up to 240 per "
        "device with about the same number of records, and one more where a phase begins. Each has "
        "the highest levels in it. Chart `memory-over-time`, with the phases of the first device."};

static struct ta_cell phase_cell(int64_t phase)
{
    return phase < 0 ? ta_null() : ta_text(ta_slice_of(memory_phase_name(phase)));
}

static void add_points(struct ta_section_builder *out, const struct ta_partial *points)
{
    bool several = false, phases = false;
    for (size_t i = 0; i < ta_partial_rows(points); i++) {
        const int64_t *row = ta_partial_at(points, i), *first = ta_partial_at(points, 0);
        char series[64];
        snprintf(series, sizeof series, "rank %" PRId64 " device %" PRId64, row[RANK], row[DEVICE]);
        several |= row[RANK] != first[RANK] || row[DEVICE] != first[DEVICE];
        phases |= row[PHASE] >= 0;
        TA_ROW(out, memory_over_time, [OVER_RANK] = ta_int(row[RANK]),
               [OVER_DEVICE] = ta_int(row[DEVICE]), [OVER_SERIES] = ta_text(ta_slice_of(series)),
               [OVER_TIME] = ta_int(row[TIME]), [OVER_PHASE] = phase_cell(row[PHASE]),
               [OVER_ALLOCATED] = ta_int(row[ALLOCATED]), [OVER_RESERVED] = ta_int(row[RESERVED]));
    }
    if (ta_partial_rows(points) < 2)
        return;
    ta_draw(out, &memory_over_time,
            &(struct ta_chart_def){
                .id = "memory-over-time",
                .title = "Memory during the program",
                .caption = "Largest allocated and reserved memory in each interval of torch's "
                           "memory records; the difference is fragmentation and cache.",
                .kind = TA_CHART_LINES,
                .steps = true,
                .x = &memory_over_time_columns[OVER_TIME],
                .y = {{&memory_over_time_columns[OVER_RESERVED], "Reserved", TA_INK_SERIES_2},
                      {&memory_over_time_columns[OVER_ALLOCATED], "Allocated", TA_INK_SERIES_1}},
                .group = several ? &memory_over_time_columns[OVER_SERIES] : NULL,
                .band = phases ? &memory_over_time_columns[OVER_PHASE] : NULL,
            });
}

/* ---- by step, by phase ----------------------------------------------------------------------- */

enum {
    WORK_RANK,
    WORK_DEVICE,
    WORK_NAME,
    WORK_START,
    WORK_PEAK,
    WORK_RESERVED,
    WORK_END,
    WORK_ALLOCATIONS,
    WORK_ALLOCATED,
    WORK_FREES,
    WORK_FREED
};

/* clang-format off */
#define WORK_COLUMNS(what) \
    [WORK_RANK] = TA_RANK_COLUMN, \
    [WORK_DEVICE] = TA_DEVICE_COLUMN_OF("Device number"), \
    [WORK_START] = {"start_ns", "Start", TA_NS, .role = TA_IN_SERIES, \
                    .doc = "Start of the " what " on the host, since the rank's earliest span"}, \
    [WORK_PEAK] = {"peak_allocated_bytes", "Peak allocated", TA_BYTES, .better = TA_LOWER, \
                   .doc = "Most bytes in use by tensors during the " what}, \
    [WORK_RESERVED] = {"peak_reserved_bytes", "Peak reserved", TA_BYTES, .better = TA_LOWER, \
                       .doc = "Most bytes that the allocator held during the " what}, \
    [WORK_END] = {"end_allocated_bytes", "At end", TA_BYTES, .better = TA_LOWER, \
                  .doc = "Bytes in use by tensors at the end of the " what}, \
    [WORK_ALLOCATIONS] = {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER, \
                          .doc = "Memory records in which bytes in use rose"}, \
    [WORK_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER, \
                        .doc = "Bytes by which use rose, summed over these records"}, \
    [WORK_FREES] = {"frees", "Frees", TA_COUNT, \
                    .doc = "Memory records in which bytes in use fell"}, \
    [WORK_FREED] = {"freed_bytes", "Freed", TA_BYTES, \
                    .doc = "Bytes by which use fell, summed over these records"}
/* clang-format on */

static const struct ta_column memory_by_step_columns[] = {
    WORK_COLUMNS("step"),
    [WORK_NAME] = {"step", "Step", TA_TEXT, .doc = "Label of the step, as in the table of steps"},
};

static const struct ta_table_def memory_by_step = {
    "memory.by_step", "Memory by step", TA_COLUMNS(memory_by_step_columns), .tier = TA_TIER_DETAIL,
    .doc = "One row per rank, device and step of a trace with torch's memory records "
           "(`profile_memory=True`)."};

static const struct ta_column memory_by_phase_columns[] = {
    WORK_COLUMNS("phase"),
    [WORK_NAME] = {"phase", "Phase", TA_WORD, .doc = "Phase of the program"},
};

static const struct ta_table_def memory_by_phase = {
    "memory.by_phase", "Memory by phase", TA_COLUMNS(memory_by_phase_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank, device and phase of a program that generates images or videos, if "
           "the trace has torch's memory records (`profile_memory=True`). If phases overlap, the "
           "one that began last counts. `end_allocated_bytes` is the largest end of the phase if "
           "it occurs several times."};

static void add_work(struct ta_section_builder *out, const struct ta_table_def *def,
                     const struct ta_partial *work, bool of_phases)
{
    struct ta_table_builder *table = ta_rows(out, def);
    for (size_t i = 0; i < ta_partial_rows(work); i++) {
        const int64_t *row = ta_partial_at(work, i);
        const struct ta_cell name =
            of_phases ? phase_cell(row[PLACE]) : ta_text(ta_partial_text(work, row, LABEL));
        ta_add_row(table, (const struct ta_cell[TA_LENGTH(memory_by_step_columns)]){
                              [WORK_RANK] = ta_int(row[RANK]),
                              [WORK_DEVICE] = ta_int(row[DEVICE]),
                              [WORK_NAME] = name,
                              [WORK_START] = ta_int(row[START]),
                              [WORK_PEAK] = ta_int(row[PEAK_ALLOCATED]),
                              [WORK_RESERVED] = ta_int(row[PEAK_RESERVED]),
                              [WORK_END] = ta_int(row[END_ALLOCATED]),
                              [WORK_ALLOCATIONS] = ta_int(row[ALLOCATIONS]),
                              [WORK_ALLOCATED] = ta_int(row[ALLOCATED_BYTES]),
                              [WORK_FREES] = ta_int(row[FREES]),
                              [WORK_FREED] = ta_int(row[FREED_BYTES])});
    }
}

/* ---- finish ---------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    add_points(out, merged[POINTS]);
    add_work(out, &memory_by_phase, merged[PHASES], true);
    add_work(out, &memory_by_step, merged[STEPS], false);
    return memory_add_growth(out, merged[STEPS], in)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the levels of memory by step");
}

static const struct ta_table_def *const tables[] = {&memory_over_time, &memory_by_phase,
                                                    &memory_by_step, &memory_growth, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_COUNTERS | TA_NEED_HOST_WORK,
                                           .bounds = bounds,
                                           .section = "memory",
                                           .place = 5,
                                           .partials = partials,
                                           .map = memory_program_map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, memory_program, &ops, .title = "Memory during the program",
          .summary = "Memory of a trace by step and phase, and whether it grows: memory.over_time, "
                     "memory.by_phase, memory.by_step, memory.growth",
          .version = "1");
