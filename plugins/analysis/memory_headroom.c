/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.headroom: how much of a device's memory was never in use, and how long that lasts where
 * memory grows.
 *
 * What the driver sampled counts all processes and what no tensor is: contexts, libraries, and what
 * other programs hold.  Without it there is what the allocator held at most. */
#include <traceanalyze/analysis.h>

#include <math.h>

enum { TOTAL, RESERVED, SIGNAL, SIGNAL_MAX, GROWS, SLOPE, MEMORY_REFS };

static const struct ta_ref reads[MEMORY_REFS] = {
    [TOTAL] = {"memory.by_rank", "total_bytes"},
    [RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SIGNAL_MAX] = {"telemetry.by_rank", "max"},
    [GROWS] = {"memory.growth", "grows"},
    [SLOPE] = {"memory.growth", "slope_bytes"},
};

enum {
    ROOM_RANK,
    ROOM_DEVICE,
    ROOM_SOURCE,
    ROOM_TOTAL,
    ROOM_USED,
    ROOM_BYTES,
    ROOM_SHARE,
    ROOM_STEPS
};
static const struct ta_column headroom_columns[] = {
    [ROOM_RANK] = TA_RANK_COLUMN,
    [ROOM_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty if the dump does not name it"),
    [ROOM_SOURCE] = {"source", "Source", TA_WORD, .role = TA_NOTE,
                     .doc = "driver: memory of all processes, as sampled; allocator: the most "
                            "PyTorch held, without CUDA contexts and other processes"},
    [ROOM_TOTAL] = {"total_bytes", "Capacity", TA_BYTES, .doc = "Total memory of the device"},
    [ROOM_USED] = {"used_bytes", "In use at most", TA_BYTES, .better = TA_LOWER,
                   .doc = "Most bytes in use at one time, according to the source"},
    [ROOM_BYTES] = {"headroom_bytes", "Headroom", TA_BYTES, .better = TA_HIGHER,
                    .doc = "Capacity minus the most bytes in use"},
    [ROOM_SHARE] = {"headroom_share", "Headroom share", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Headroom divided by capacity"},
    [ROOM_STEPS] = {"steps_left", "Steps left", TA_NUMBER, .better = TA_HIGHER,
                    .doc = "Steps until memory runs out: headroom over the growth per step; empty "
                           "if the device's memory does not grow"},
};

static const struct ta_table_def headroom = {
    "memory.headroom", "Memory headroom", TA_COLUMNS(headroom_columns), .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device whose capacity is known: from the driver's telemetry, "
           "otherwise from the allocator."};

/* The growth per step of a device; NAN where memory does not grow. */
static double growth_of(const struct ta_refs *in, int64_t rank, int64_t device)
{
    for (size_t row = 0; row < ta_ref_rows(in, GROWS); row++)
        if (ta_ref_rank(in, GROWS, row) == rank && ta_ref_device(in, GROWS, row) == device &&
            ta_ref_cell(in, GROWS, row)->kind == TA_CELL_BOOL && ta_ref_cell(in, GROWS, row)->b)
            return ta_ref_number(in, SLOPE, row, NAN);
    return NAN;
}

static void add_row(struct ta_section_builder *out, const struct ta_refs *in, int64_t rank,
                    int64_t device, const char *source, double total, double used)
{
    const double room = fmax(0, total - used);
    TA_ROW(out, headroom, [ROOM_RANK] = ta_int(rank), [ROOM_DEVICE] = ta_int(device),
           [ROOM_SOURCE] = ta_text(ta_slice_of(source)), [ROOM_TOTAL] = ta_int(ta_whole(total)),
           [ROOM_USED] = ta_int(ta_whole(used)), [ROOM_BYTES] = ta_int(ta_whole(room)),
           [ROOM_SHARE] = ta_num(room / total),
           [ROOM_STEPS] =
               device == TA_MISSING ? ta_null() : ta_num(room / growth_of(in, rank, device)));
}

/* The largest sample of a signal of a device; NAN without. */
static double most_of(const struct ta_refs *in, const char *signal, int64_t rank, int64_t device)
{
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++)
        if (ta_ref_reads(in, SIGNAL, row, signal) && ta_ref_rank(in, SIGNAL, row) == rank &&
            ta_ref_device(in, SIGNAL, row) == device)
            return ta_ref_number(in, SIGNAL_MAX, row, NAN);
    return NAN;
}

/* By the driver; the capacity is sampled, or known from a dump. */
static void add_sampled(struct ta_section_builder *out, const struct ta_refs *in, size_t row)
{
    const int64_t rank = ta_ref_rank(in, SIGNAL, row), device = ta_ref_device(in, SIGNAL, row);
    const double used = ta_ref_number(in, SIGNAL_MAX, row, NAN);
    const double total = most_of(in, "gpu_memory_total", rank, device);
    if (total > 0 && used >= 0)
        add_row(out, in, rank, device, "driver", total, used);
}

static bool is_sampled(const struct ta_refs *in, int64_t rank, int64_t device)
{
    return most_of(in, "gpu_memory_total", rank, device) > 0 &&
           most_of(in, "gpu_memory_used", rank, device) >= 0;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++)
        if (ta_ref_reads(in, SIGNAL, row, "gpu_memory_used"))
            add_sampled(out, in, row);
    for (size_t row = 0; row < ta_ref_rows(in, TOTAL); row++) {
        const int64_t rank = ta_ref_rank(in, TOTAL, row), device = ta_ref_device(in, TOTAL, row);
        const double total = ta_ref_number(in, TOTAL, row, NAN);
        const double held = ta_ref_number(in, RESERVED, row, NAN);
        if (total > 0 && held >= 0 && !is_sampled(in, rank, device))
            add_row(out, in, rank, device, "allocator", total, held);
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&headroom, NULL};

static const struct ta_analysis_ops ops = {.section = "memory",
                                           .place = 6,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, memory_headroom, &ops, .title = "Memory headroom",
          .summary = "Memory of devices that was never in use: memory.headroom", .version = "1");
