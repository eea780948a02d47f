/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.by_rank: the peaks of every rank and device, by all snapshots of it. */
#include "memory.h"

#include <stdlib.h>

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_SNAPSHOTS,
    BY_RANK_PEAK_ALLOCATED,
    BY_RANK_PEAK_SOURCE,
    BY_RANK_PEAK_RESERVED,
    BY_RANK_RESERVED_SOURCE,
    BY_RANK_UNUSED,
    BY_RANK_TOTAL,
    BY_RANK_GAP_SHARE,
    BY_RANK_OOMS,
    BY_RANK_RETRIES
};
static const struct ta_column memory_by_rank_columns[] = {
    [BY_RANK_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN_OF("Device, none when the dump does not name it"),
    [BY_RANK_SNAPSHOTS] = {"snapshots", "Snapshots", TA_COUNT, .doc = "Number of snapshots"},
    [BY_RANK_PEAK_ALLOCATED] =
        {"peak_allocated_bytes", "Peak allocated", TA_BYTES, .better = TA_LOWER, .weight = 0.9,
         .doc = "Largest of what was in use at a snapshot, of the peaks recorded with them, and of "
                "the history of an allocator, in bytes of blocks"},
    [BY_RANK_PEAK_SOURCE] =
        {"peak_source", "Peak from", TA_TEXT, .role = TA_NOTE,
         .doc = "Where that peak is from: snapshot, profiler (its own peak) or history"},
    [BY_RANK_PEAK_RESERVED] =
        {"peak_reserved_bytes", "Peak reserved", TA_BYTES, .better = TA_LOWER, .weight = 0.7,
         .doc = "Largest number of bytes that the allocator held, as far as it was recorded"},
    [BY_RANK_RESERVED_SOURCE] = {"reserved_source", "Reserved from", TA_TEXT, .role = TA_NOTE,
                                 .doc = "Where that is from; of snapshots it may be less than the "
                                        "peak in use, which was between two of them"},
    [BY_RANK_UNUSED] = {"unused_bytes", "Unused at most", TA_BYTES, .better = TA_LOWER,
                        .doc = "Peak reserved minus peak allocated: at the peak the allocator held "
                               "at most so much that was not in use"},
    [BY_RANK_TOTAL] = {"total_bytes", "Capacity", TA_BYTES,
                       .doc = "Memory of the device, where the dump tells"},
    [BY_RANK_GAP_SHARE] = {"gap_share", "Gap when most is held", TA_RATIO, .better = TA_LOWER,
                           .weight = 0.2,
                           .doc =
                               "1 − allocated over reserved, at the snapshot or the moment of the "
                               "history that reserves most; more may be in use at another moment"},
    [BY_RANK_OOMS] = {"ooms", "Failed", TA_COUNT, .better = TA_LOWER,
                      .doc = "Allocations that failed for lack of memory"},
    [BY_RANK_RETRIES] =
        {"retries", "Retried", TA_COUNT, .better = TA_LOWER,
         .doc = "Allocations that were tried again after all cached memory was given back"},
};

/* Call sites say more of a single device. */
static bool say_most(const struct ta_refs *in)
{
    return !are_labels_of_one_rank(in) &&
           (ta_ref_rows(in, BRIEF_RANKS) > 1 || !ta_ref_exists(in, BRIEF_SITES));
}

const struct ta_table_def memory_by_rank = {
    "memory.by_rank",
    "Memory by rank",
    TA_COLUMNS(memory_by_rank_columns),
    .doc = "One row per rank and device: of dumps, and of traces with `profile_memory=True`, "
           "whose records of memory are a history.\n\n"
           "Bytes in use count blocks, as `torch.cuda.memory_allocated()` does, not the bytes "
           "asked for: requests are rounded up to 512 bytes (or as `roundup_power2_divisions` "
           "says), and a block keeps the rest of a larger free one that is too small to be "
           "split off. Only then can they be compared with what is reserved. Of the history of "
           "an allocator see `memory.peaks`.\n\n"
           "`unused_bytes` is none where what is held is known at snapshots only and more was "
           "in use between two of them.",
    .rank_words = "Memory",
    .brief = &(const struct ta_brief){.place = 360,
                                      .rows = 8,
                                      .largest = &memory_by_rank_columns[BY_RANK_PEAK_ALLOCATED],
                                      .applies = say_most,
                                      TA_READS(memory_brief_reads)}};

struct device {
    int64_t rank, device, snapshots, allocated, reserved, capacity, ooms, retries;
    const char *source;          /* of the peak of what was in use */
    const char *reserved_source; /* of the peak of what was held */
    double gap;     /* where most is reserved, of the moments that say what is in use */
    int64_t widest; /* reserved then */
};

static int by_device(const void *left, const void *right)
{
    const int64_t *const *a = left, *const *b = right;
    for (int i = 0; i < 2; i++) {
        const int64_t x = (*a)[i ? DEVICE : RANK], y = (*b)[i ? DEVICE : RANK];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void take_peak(struct device *device, int64_t allocated, const char *source)
{
    if (allocated > device->allocated)
        device->source = source;
    ta_most(&device->allocated, allocated);
}

static void take_reserved(struct device *device, int64_t reserved, const char *source)
{
    if (reserved > device->reserved)
        device->reserved_source = source;
    ta_most(&device->reserved, reserved);
}

/* What was held and in use at one moment.  The first of equals says the gap. */
static void take_moment(struct device *device, int64_t reserved, int64_t allocated,
                        const char *source)
{
    if (reserved > device->widest)
        device->gap = gap_of(allocated, reserved);
    ta_most(&device->widest, reserved);
    take_reserved(device, reserved, source);
}

static struct ta_cell name_of(const char *source, int64_t bytes)
{
    return source && bytes >= 0 ? ta_text(ta_slice_of(source)) : ta_null();
}

static void add_device(struct ta_section_builder *out, const struct device *d)
{
    const bool known = d->allocated >= 0 && d->reserved >= d->allocated;
    TA_ROW(out, memory_by_rank, [BY_RANK_RANK] = ta_int(d->rank),
           [BY_RANK_DEVICE] = ta_int(d->device), [BY_RANK_SNAPSHOTS] = ta_int(d->snapshots),
           [BY_RANK_PEAK_ALLOCATED] = not_negative(d->allocated),
           [BY_RANK_PEAK_SOURCE] = name_of(d->source, d->allocated),
           [BY_RANK_PEAK_RESERVED] = not_negative(d->reserved),
           [BY_RANK_RESERVED_SOURCE] = name_of(d->reserved_source, d->reserved),
           [BY_RANK_UNUSED] = known ? ta_int(d->reserved - d->allocated) : ta_null(),
           [BY_RANK_TOTAL] = not_negative(d->capacity), [BY_RANK_GAP_SHARE] = ta_num(d->gap),
           [BY_RANK_OOMS] = not_negative(d->ooms), [BY_RANK_RETRIES] = not_negative(d->retries));
}

bool add_ranks(struct ta_section_builder *out, const struct snapshots *all)
{
    const size_t n = all->n + all->n_peaks;
    const int64_t **rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++)
        rows[i] = all->rows[i];
    qsort(rows, n, sizeof *rows, by_device);
    for (size_t first = 0, end; first < n; first = end) {
        struct device device = {.rank = rows[first][RANK],
                                .device = rows[first][DEVICE],
                                .allocated = TA_MISSING,
                                .reserved = TA_MISSING,
                                .capacity = TA_MISSING,
                                .ooms = TA_MISSING,
                                .retries = TA_MISSING,
                                .gap = NAN,
                                .widest = TA_MISSING};
        for (end = first; end < n && by_device(&rows[first], &rows[end]) == 0; end++) {
            const int64_t *row = rows[end];
            device.snapshots += row[STATE] != STATE_TRACE;
            take_peak(&device, row[ALLOCATED], "snapshot");
            take_peak(&device, row[MAX_ALLOCATED], "profiler");
            take_peak(&device, row[PEAK_ALLOCATED], "history");
            take_moment(&device, row[PEAK_RESERVED], row[ALLOCATED_AT_PEAK], "history");
            take_moment(&device, row[RESERVED], row[ALLOCATED], "snapshot");
            take_reserved(&device, row[MAX_RESERVED], "profiler");
            ta_most(&device.capacity, row[CAPACITY]);
            ta_most(&device.ooms, row[OOMS]);
            ta_most(&device.retries, row[RETRIES]);
        }
        add_device(out, &device);
    }
    free(rows);
    return true;
}
