/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the states and histories of PyTorch's caching allocator tell: memory.timeline, memory.sites,
 * memory.size_classes, memory.site_phases, memory.fragmentation, memory.segments, memory.peaks,
 * memory.churn, memory.failures, memory.levels. */
#include "tables.h"

static const struct ta_field timeline_fields[TIMELINE_FIELDS] = {
    OWNER_FIELDS,
    [STRETCH] = {"stretch", TA_FIELD_INT},
    [ENTRY] = {"entry", TA_FIELD_MIN},
    [TIME] = {"time_ns", TA_FIELD_MIN},
    [REQUESTED_LEVEL] = {"allocated_bytes", TA_FIELD_MAX},
    [REQUESTED_ACTIVE] = {"active_bytes", TA_FIELD_MAX},
    [BLOCK_LEVEL] = {"block_bytes", TA_FIELD_MAX},
    [RESERVED] = {"reserved_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL] = {"before_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + 1] = {"site_1_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + 2] = {"site_2_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + 3] = {"site_3_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + 4] = {"site_4_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + 5] = {"site_5_bytes", TA_FIELD_MAX},
    [FIRST_LEVEL + LEVELS_REST] = {"other_bytes", TA_FIELD_MAX},
};

#define BLOCK_VALUES                                                                               \
    [PEAK_BLOCKS] = {"peak_blocks", TA_FIELD_SUM}, [PEAK_BYTES] = {"peak_bytes", TA_FIELD_SUM},    \
    [PEAK_SIZE] = {"peak_block_bytes", TA_FIELD_SUM},                                              \
    [HELD_BLOCKS] = {"held_blocks", TA_FIELD_SUM}, [HELD_BYTES] = {"held_bytes", TA_FIELD_SUM},    \
    [ALLOCATIONS] = {"allocations", TA_FIELD_SUM}, [TOTAL_BYTES] = {"total_bytes", TA_FIELD_SUM},  \
    [UNFREED_BLOCKS] = {"unfreed_blocks", TA_FIELD_SUM},                                           \
    [UNFREED_BYTES] = {"unfreed_bytes", TA_FIELD_SUM}

static const struct ta_field site_fields[BLOCK_FIELDS] = {
    OWNER_FIELDS, [WHAT] = {"site", TA_FIELD_TEXT}, BLOCK_VALUES};
static const struct ta_field phase_fields[BLOCK_FIELDS] = {
    OWNER_FIELDS, [WHAT] = {"phase", TA_FIELD_INT}, BLOCK_VALUES};
static const struct ta_field class_fields[BLOCK_FIELDS] = {
    OWNER_FIELDS, [WHAT] = {"class", TA_FIELD_INT}, BLOCK_VALUES};

static const struct ta_field state_fields[STATE_FIELDS] = {
    OWNER_FIELDS,
    [SEGMENTS] = {"segments", TA_FIELD_SUM},
    [BLOCKS] = {"blocks", TA_FIELD_SUM},
    [STATE_RESERVED] = {"reserved_bytes", TA_FIELD_SUM},
    [STATE_ALLOCATED] = {"allocated_bytes", TA_FIELD_SUM},
    [PENDING] = {"pending_bytes", TA_FIELD_SUM},
    [REQUESTED] = {"requested_bytes", TA_FIELD_SUM},
    [FREE] = {"free_bytes", TA_FIELD_SUM},
    [SPLIT] = {"split_free_bytes", TA_FIELD_SUM},
    [LARGEST_FREE] = {"largest_free_bytes", TA_FIELD_MAX},
};

static const struct ta_field churn_fields[CHURN_FIELDS] = {
    OWNER_FIELDS,
    [ENTRIES] = {"entries", TA_FIELD_SUM},
    [ALLOCS] = {"allocations", TA_FIELD_SUM},
    [ALLOC_BYTES] = {"allocated_bytes", TA_FIELD_SUM},
    [FREES] = {"frees", TA_FIELD_SUM},
    [FREED_BYTES] = {"freed_bytes", TA_FIELD_SUM},
    [SMALL_ALLOCS] = {"small", TA_FIELD_SUM},
    [SEGMENT_ALLOCS] = {"segment_allocations", TA_FIELD_SUM},
    [SEGMENT_FREES] = {"segment_frees", TA_FIELD_SUM},
    [SEGMENT_BYTES] = {"segment_bytes", TA_FIELD_SUM},
    [RETRIES] = {"retries", TA_FIELD_SUM},
    [OOMS] = {"ooms", TA_FIELD_SUM},
    [UNFREED] = {"unfreed_blocks", TA_FIELD_SUM},
    [UNFREED_SIZE] = {"unfreed_bytes", TA_FIELD_SUM},
    [DURATION] = {"dur_ns", TA_FIELD_MAX},
    [START_REQUESTED] = {"start_allocated_bytes", TA_FIELD_MAX},
    [START_ALLOCATED] = {"start_block_bytes", TA_FIELD_MAX},
    [PEAK_REQUESTED] = {"peak_allocated_bytes", TA_FIELD_MAX},
    [PEAK_REQUESTED_ACTIVE] = {"peak_active_bytes", TA_FIELD_MAX},
    [PEAK_ALLOCATED] = {"peak_block_bytes", TA_FIELD_MAX},
    [PEAK_RESERVED] = {"peak_reserved_bytes", TA_FIELD_MAX},
    [ALLOCATED_AT_RESERVED] = {"allocated_at_reserved_peak", TA_FIELD_MAX},
};

static const struct ta_field failure_fields[FAIL_FIELDS] = {
    OWNER_FIELDS,
    [FAILURE] = {"failure", TA_FIELD_INT},
    [FAIL_SITE] = {"site", TA_FIELD_TEXT},
    [FAIL_TIME] = {"time_ns", TA_FIELD_MIN},
    [WANTED] = {"wanted_bytes", TA_FIELD_MAX},
    [DEVICE_FREE] = {"device_free_bytes", TA_FIELD_MAX},
    [DEVICE_TOTAL] = {"device_bytes", TA_FIELD_MAX},
    [OTHERS] = {"others_bytes", TA_FIELD_MAX},
    [FAIL_ALLOCATED] = {"allocated_bytes", TA_FIELD_MAX},
    [FAIL_RESERVED] = {"reserved_bytes", TA_FIELD_MAX},
};

static const struct ta_field level_fields[LEVEL_FIELDS] = {
    OWNER_FIELDS,
    [LEVEL_INDEX] = {"level", TA_FIELD_INT},
    [LEVEL_SITE] = {"site", TA_FIELD_TEXT},
    [LEVEL_NAMED] = {"named", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    [TIMELINE] = {"timeline", timeline_fields, TIMELINE_FIELDS},
    [SITES] = {"sites", site_fields, BLOCK_FIELDS},
    [CLASSES] = {"classes", class_fields, BLOCK_FIELDS},
    [PHASES] = {"phases", phase_fields, BLOCK_FIELDS},
    [STATES] = {"states", state_fields, STATE_FIELDS},
    [CHURN] = {"churn", churn_fields, CHURN_FIELDS},
    [FAILURES] = {"failures", failure_fields, FAIL_FIELDS},
    [LEVEL_SITES] = {"level_sites", level_fields, LEVEL_FIELDS},
    [PARTIALS] = {0},
};

static const struct ta_table_def *const tables[] = {&memory_levels,
                                                    &memory_timeline,
                                                    &memory_sites,
                                                    &memory_by_size,
                                                    &memory_site_phases,
                                                    &memory_fragmentation,
                                                    &memory_segments,
                                                    &memory_peaks,
                                                    &memory_churn,
                                                    &memory_failures,
                                                    NULL};

static const struct ta_ref reads[] = {[SNAPSHOTS_TABLE] = {"memory.snapshots", NULL}};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{CLASSES, WHAT, SIZE_CLASSES},
                                         {PHASES, WHAT, BLOCK_PHASES},
                                         {LEVEL_SITES, LEVEL_INDEX, LEVELS},
                                         TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "memory",
                                           .partials = partials,
                                           .map = memory_collect,
                                           .finish = memory_finish,
                                           .tables = tables,
                                           TA_SCALARS(memory_scalars),
                                           TA_READS(reads)};

TA_PLUGIN(analysis, memory_allocator, &ops, .title = "Allocator",
          .summary = "States and histories of PyTorch's allocator: memory.timeline, memory.sites, "
                     "memory.size_classes, memory.site_phases, memory.fragmentation, "
                     "memory.segments, memory.peaks, "
                     "memory.churn, memory.failures, memory.levels",
          .version = "1");
