/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The partials of this analysis, which collecting fills and the tables read. */
#ifndef TA_MEMORY_ALLOCATOR_TABLES_H
#define TA_MEMORY_ALLOCATOR_TABLES_H

#include "levels.h"
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

/* Every row belongs to a device of a snapshot: the first keys of all partials. */
enum { RANK, FILE_KEY, DEVICE, LABEL, OWN };

#define OWNER_FIELDS                                                                               \
    [RANK] = {"rank", TA_FIELD_RANK}, [FILE_KEY] = {"file", TA_FIELD_FILE},                        \
    [DEVICE] = {"device", TA_FIELD_INT}, [LABEL] = {"label", TA_FIELD_TEXT}

enum partial { TIMELINE, SITES, CLASSES, PHASES, STATES, CHURN, FAILURES, LEVEL_SITES, PARTIALS };

/* A stretch of the history. */
enum {
    STRETCH = OWN,
    ENTRY,
    TIME,
    REQUESTED_LEVEL,
    REQUESTED_ACTIVE,
    BLOCK_LEVEL,
    RESERVED,
    FIRST_LEVEL, /* what each site holds when most is allocated, see levels.h */
    TIMELINE_FIELDS = FIRST_LEVEL + LEVELS
};

/* The sites of these levels. */
enum { LEVEL_INDEX = OWN, LEVEL_SITE, LEVEL_NAMED, LEVEL_FIELDS };

/* Blocks by site, by class of size, or by phase of the program. */
enum {
    WHAT = OWN,
    PEAK_BLOCKS,
    PEAK_BYTES, /* as asked for */
    PEAK_SIZE,  /* of the blocks */
    HELD_BLOCKS,
    HELD_BYTES,
    ALLOCATIONS,
    TOTAL_BYTES,
    UNFREED_BLOCKS,
    UNFREED_BYTES,
    BLOCK_FIELDS
};

/* The state at the end. */
enum {
    SEGMENTS = OWN,
    BLOCKS,
    STATE_RESERVED,
    STATE_ALLOCATED,
    PENDING,
    REQUESTED, /* of what is allocated or pending */
    FREE,
    SPLIT,
    LARGEST_FREE,
    STATE_FIELDS
};

/* What the history did. */
enum {
    ENTRIES = OWN,
    ALLOCS,
    ALLOC_BYTES,
    FREES,
    FREED_BYTES,
    SMALL_ALLOCS,
    SEGMENT_ALLOCS,
    SEGMENT_FREES,
    SEGMENT_BYTES,
    RETRIES,
    OOMS,
    UNFREED,
    UNFREED_SIZE,
    DURATION,
    START_REQUESTED,
    START_ALLOCATED,
    PEAK_REQUESTED,
    PEAK_REQUESTED_ACTIVE,
    PEAK_ALLOCATED,
    PEAK_RESERVED,
    ALLOCATED_AT_RESERVED,
    CHURN_FIELDS
};

/* Allocations that failed. */
enum {
    FAILURE = OWN,
    FAIL_SITE,
    FAIL_TIME,
    WANTED,
    DEVICE_FREE,
    DEVICE_TOTAL,
    OTHERS,
    FAIL_ALLOCATED,
    FAIL_RESERVED,
    FAIL_FIELDS
};

/* Classes of sizes by their largest member; the last one has none. */
enum { SIZE_CLASSES = 7 };

/* What a block was allocated in: a phase (model/program/generation.h), or none that is known. */
enum { PHASE_UNKNOWN = TA_GENERATION_PHASES, BLOCK_PHASES };

extern const struct size_class {
    uint64_t most;
    const char *name;
} memory_size_classes[SIZE_CLASSES];

/* Stretches of a history that are drawn, and failures that are listed, at most. */
enum { STRETCHES = 240, FAILURES_MAX = 1000 };

/* Whose row it is: the first columns of all tables. */
enum { OF_RANK, OF_LABEL, OF_DEVICE, OF_OWNER };
#define OWNER_COLUMNS OWNER_COLUMNS_AS(TA_AS_NOTHING)
#define OWNER_COLUMNS_AS(label)                                                                    \
    [OF_RANK] = TA_RANK_COLUMN_OF("Rank of the snapshot"),                                         \
    [OF_LABEL] = {"label", "Snapshot", TA_TEXT, .read_as = (label),                                \
                  .doc = "Name of the snapshot file, without its suffix"},                         \
    [OF_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty if the file does not name it")
#define OWNER_CELLS(partial, row)                                                                  \
    [OF_RANK] = ta_int((row)[RANK]),                                                               \
    [OF_LABEL] = ta_text(ta_partial_text((partial), (row), LABEL)),                                \
    [OF_DEVICE] = ta_int((row)[DEVICE])

static inline bool same_owner(const int64_t *a, const int64_t *b)
{
    return a[RANK] == b[RANK] && a[FILE_KEY] == b[FILE_KEY] && a[DEVICE] == b[DEVICE];
}

enum ta_status memory_collect(struct ta_ctx *ctx, const struct ta_trace *trace,
                              struct ta_partial *const *out) TA_MUST_CHECK;
enum ta_status memory_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out);

/* What is read of other analyses: whether labelled snapshots are drawn. */
enum { SNAPSHOTS_TABLE };

extern const struct ta_table_def memory_timeline, memory_sites, memory_by_size, memory_site_phases,
    memory_fragmentation, memory_segments, memory_peaks, memory_churn, memory_failures,
    memory_levels;
enum { MEMORY_SCALARS = 1 };
extern const struct ta_scalar_def memory_scalars[MEMORY_SCALARS];

/* timeline.c; false without memory. */
bool memory_add_timeline(struct ta_section_builder *out, const struct ta_partial *histories,
                         const struct ta_refs *in);

/* by_site.c: the levels of the device that had most allocated. */
void memory_add_levels(struct ta_section_builder *out, const struct ta_partial *histories,
                       const struct ta_partial *sites, const struct ta_partial *churn);

#endif
