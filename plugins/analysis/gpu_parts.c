/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.parts: each device's window of the program in parts that add up to it.  Compute with
 * communication at the same time is separate from compute alone, and idle time is split by
 * whether the host or the device caused the wait. */
#include <traceanalyze/analysis.h>

enum {
    RANK,
    DEVICE,
    WINDOW,
    COMPUTE,
    COMM_HIDDEN,
    COMM_EXPOSED,
    MEMCPY_EXPOSED,
    HOST_WAIT,
    KERNEL_WAIT,
    AROUND,
    OTHER,
    BUSY_SHARE
};
static const struct ta_column parts_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN,
    [WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER,
                .doc = "Length of the program's window"},
    [COMPUTE] = {"compute_ns", "Compute alone", TA_NS,
                 .doc = "Time in which a compute kernel and no communication runs"},
    [COMM_HIDDEN] = {"comm_hidden_ns", "Comm hidden", TA_NS, .better = TA_HIGHER,
                     .zero_of = "comm_exposed_ns",
                     .doc =
                         "Time in which communication and a compute kernel run at the same time"},
    [COMM_EXPOSED] = {"comm_exposed_ns", "Comm exposed", TA_NS, .better = TA_LOWER,
                      .doc = "Time in which communication and no compute kernel runs"},
    [MEMCPY_EXPOSED] = {"memcpy_exposed_ns", "Copies exposed", TA_NS, .better = TA_LOWER,
                        .doc = "Time in which copies and no kernels run"},
    [HOST_WAIT] = {"host_wait_ns", "Host wait", TA_NS, .better = TA_LOWER,
                   .doc = "Idle time in which the host had not launched the next work, or the "
                          "launch was on its way to the device"},
    [KERNEL_WAIT] = {"kernel_wait_ns", "Kernel wait", TA_NS, .better = TA_LOWER,
                     .doc = "Idle time in which the next work was launched: it waits for other "
                            "work, or for the device to start it"},
    [AROUND] = {"around_ns", "Before and after", TA_NS, .better = TA_LOWER,
                .doc = "Host work before the first activity of the device and after its last"},
    [OTHER] = {"other_ns", "Other", TA_NS, .better = TA_LOWER,
               .doc =
                   "Memory sets that run alone, and idle time whose cause the trace does not show"},
    [BUSY_SHARE] = {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Time in which any activity runs, divided by the window"},
};

static const struct ta_chart_def chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time by rank",
    .caption = "The program window of each device. Each instant counts once, in this order: "
               "compute (alone or with communication), communication, copies, idle time by what "
               "delayed the next work, and the time before the first and after the last activity.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&parts_columns[RANK], &parts_columns[DEVICE]},
    .y = {{&parts_columns[COMPUTE], "Compute alone", TA_INK_COMPUTE},
          {&parts_columns[COMM_HIDDEN], "Compute and communication", TA_INK_COMM_HIDDEN},
          {&parts_columns[COMM_EXPOSED], "Exposed communication", TA_INK_COMM},
          {&parts_columns[MEMCPY_EXPOSED], "Exposed copies", TA_INK_MEMCPY},
          {&parts_columns[HOST_WAIT], "Idle, host wait", TA_INK_IDLE},
          {&parts_columns[KERNEL_WAIT], "Idle, kernel wait", TA_INK_IDLE_QUEUED},
          {&parts_columns[AROUND], "Idle before and after", TA_INK_IDLE_AROUND},
          {&parts_columns[OTHER], "Idle, unknown, or memory set", TA_INK_IDLE_UNKNOWN}},
};

static const struct ta_table_def parts = {
    "gpu_time.parts",
    "GPU time breakdown",
    TA_COLUMNS(parts_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device: the program's window in parts that add up to it. Chart "
           "`gpu-time-breakdown`.",
    .chart = {&chart},
    .brief =
        &(const struct ta_brief){.place = 170, .rows = 16, .largest = &parts_columns[HOST_WAIT]}};

enum {
    GPU_RANK,
    GPU_DEVICE,
    PROGRAM_WINDOW,
    PROGRAM_BEFORE,
    PROGRAM_AFTER,
    PROGRAM_SHARE,
    GPU_COMPUTE,
    GPU_COMM_HIDDEN,
    GPU_COMM_EXPOSED,
    GPU_MEMCPY_EXPOSED,
    GPU_MEMSET_EXPOSED,
    GPU_IDLE,
    IDLE_QUEUED,
    IDLE_UNKNOWN
};

static const struct ta_ref reads[] = {
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [PROGRAM_WINDOW] = {"gpu_time.program", "window_ns"},
    [PROGRAM_BEFORE] = {"gpu_time.program", "before_ns"},
    [PROGRAM_AFTER] = {"gpu_time.program", "after_ns"},
    [PROGRAM_SHARE] = {"gpu_time.program", "busy_share"},
    [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [GPU_COMM_HIDDEN] = {"gpu_time.by_rank", "comm_hidden_ns"},
    [GPU_COMM_EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [GPU_MEMCPY_EXPOSED] = {"gpu_time.by_rank", "memcpy_exposed_ns"},
    [GPU_MEMSET_EXPOSED] = {"gpu_time.by_rank", "memset_exposed_ns"},
    [GPU_IDLE] = {"gpu_time.by_rank", "idle_ns"},
    [IDLE_QUEUED] = {"gpu_idle.by_rank", "queued_ns"},
    [IDLE_UNKNOWN] = {"gpu_idle.by_rank", "unknown_ns"},
};

/* 0 if there is no row. */
static int64_t time_of(const struct ta_refs *in, size_t ref, size_t row)
{
    return row == SIZE_MAX ? 0 : ta_max_i64(ta_ref_integer(in, ref, row), 0);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const struct ta_table *idle = ta_ref_table(in, IDLE_QUEUED);
    /* gpu_time.program has the rows of gpu_time.by_rank. */
    for (size_t i = 0, next = 0; i < ta_ref_rows(in, GPU_IDLE); i++) {
        const size_t same = idle ? ta_table_row_of(idle, next, ta_ref_cell(in, GPU_RANK, i),
                                                   ta_ref_cell(in, GPU_DEVICE, i))
                                 : SIZE_MAX;
        const int64_t hidden = time_of(in, GPU_COMM_HIDDEN, i);
        const int64_t queued = time_of(in, IDLE_QUEUED, same),
                      unknown = time_of(in, IDLE_UNKNOWN, same);
        TA_ROW(out, parts, [RANK] = *ta_ref_cell(in, GPU_RANK, i),
               [DEVICE] = *ta_ref_cell(in, GPU_DEVICE, i),
               [WINDOW] = ta_int(time_of(in, PROGRAM_WINDOW, i)),
               [COMPUTE] = ta_int(time_of(in, GPU_COMPUTE, i) - hidden),
               [COMM_HIDDEN] = ta_int(hidden),
               [COMM_EXPOSED] = ta_int(time_of(in, GPU_COMM_EXPOSED, i)),
               [MEMCPY_EXPOSED] = ta_int(time_of(in, GPU_MEMCPY_EXPOSED, i)),
               [HOST_WAIT] = ta_int(time_of(in, GPU_IDLE, i) - queued - unknown),
               [KERNEL_WAIT] = ta_int(queued),
               [AROUND] = ta_int(time_of(in, PROGRAM_BEFORE, i) + time_of(in, PROGRAM_AFTER, i)),
               [OTHER] = ta_int(time_of(in, GPU_MEMSET_EXPOSED, i) + unknown),
               [BUSY_SHARE] = *ta_ref_cell(in, PROGRAM_SHARE, i));
        next = same == SIZE_MAX ? next : same + 1;
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&parts, NULL};

static const struct ta_analysis_ops ops = {
    .section = "gpu_time", .finish = finish, .tables = tables, TA_READS(reads)};

TA_PLUGIN(analysis, gpu_parts, &ops, .title = "GPU time breakdown",
          .summary = "The window of each device in parts, with overlap and waiting: gpu_time.parts",
          .version = "1");
