/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments at which memory was recorded, as the parts of this analysis hand them on. */
#ifndef TA_MEMORY_H
#define TA_MEMORY_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>

/* Snapshots in the order of files and rows; an allocator has one row per device. */
enum {
    RANK,
    FILE_KEY,
    ORDER,
    DEVICE,
    LABEL,
    TIME,
    ALLOCATED,
    RESERVED,
    MAX_ALLOCATED,
    MAX_RESERVED,
    CAPACITY,
    OOMS,
    RETRIES,
    STATE,          /* STATE_… */
    PEAK_ALLOCATED, /* by its history */
    PEAK_RESERVED,
    ALLOCATED_AT_PEAK, /* most in use while most was reserved */
    FIELDS
};

/* What a row is, TA_MISSING for a snapshot. */
enum {
    STATE_COPY, /* of another row, and left out */
    STATE_ALLOCATOR,
    STATE_TRACE /* peaks of the allocator in a trace; no snapshot */
};

/* The snapshots by rank, file and order, copies left out. */
struct snapshots {
    int64_t (*rows)[FIELDS];
    size_t n;
    size_t n_peaks;                   /* behind them, of traces */
    const struct ta_partial *partial; /* for the labels */
};

/* Takes the snapshots from the partial; false without memory.  The caller frees the rows. */
bool gather_snapshots(const struct ta_partial *partial, struct snapshots *all);
/* memory.snapshots */
extern const struct ta_table_def memory_snapshots;
void add_snapshots(struct ta_section_builder *out, const struct snapshots *all);
/* Which of both tables the terminal shows: labels say more of one rank, unless most of them are
 * states of allocators. */
enum { BRIEF_SNAPSHOTS, BRIEF_FRAGMENTATION, BRIEF_RANKS, BRIEF_SITES, BRIEF_READS };
extern const struct ta_ref memory_brief_reads[BRIEF_READS];
bool are_labels_of_one_rank(const struct ta_refs *in);

/* memory.by_rank; false without memory. */
extern const struct ta_table_def memory_by_rank;
bool add_ranks(struct ta_section_builder *out, const struct snapshots *all);

static inline struct ta_cell not_negative(int64_t value)
{
    return value < 0 ? ta_null() : ta_int(value);
}

/* The share of what is reserved that is not in use; NAN where it is not known. */
static inline double gap_of(int64_t allocated, int64_t reserved)
{
    const bool known = allocated >= 0 && reserved > 0 && allocated <= reserved;
    return known ? 1 - (double)allocated / (double)reserved : NAN;
}

#endif
