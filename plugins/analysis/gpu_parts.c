/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.parts: the window of each device in parts that add up to it, computing beside
 * communication apart from computing alone, and idle time by whether the host or the device made it
 * wait. */
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
    OTHER,
    BUSY_SHARE
};
static const struct ta_column parts_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN,
    [WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER,
                .doc = "First start to last end of the device's activities"},
    [COMPUTE] = {"compute_ns", "Compute alone", TA_NS,
                 .doc = "A compute kernel runs and no communication"},
    [COMM_HIDDEN] = {"comm_hidden_ns", "Comm hidden", TA_NS, .better = TA_HIGHER,
                     .doc = "Communication runs beside a compute kernel"},
    [COMM_EXPOSED] = {"comm_exposed_ns", "Comm exposed", TA_NS, .better = TA_LOWER,
                      .doc = "Communication runs and no compute kernel"},
    [MEMCPY_EXPOSED] = {"memcpy_exposed_ns", "Copies exposed", TA_NS, .better = TA_LOWER,
                        .doc = "Copies run and no kernel"},
    [HOST_WAIT] =
        {"host_wait_ns", "Host wait", TA_NS, .better = TA_LOWER,
         .doc = "Idle, since the host had not launched the next work, and the way from there to "
                "the device"},
    [KERNEL_WAIT] =
        {"kernel_wait_ns", "Kernel wait", TA_NS, .better = TA_LOWER,
         .doc = "Idle, though the next work was launched: it waits for other work, or for the "
                "device to take it"},
    [OTHER] =
        {"other_ns", "Other", TA_NS, .better = TA_LOWER,
         .doc = "Memory sets that nothing else covers, and idle time of which the trace does not "
                "tell the cause"},
    [BUSY_SHARE] = {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Time in which any activity runs, over the window"},
};

static const struct ta_chart_def chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time by rank",
    .caption = "The window of each device, first start to last end of its activities. Each instant "
               "counts once: compute, alone or beside communication, then communication, copies, "
               "and idle time by what held up the next work.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&parts_columns[RANK], &parts_columns[DEVICE]},
    .y = {{&parts_columns[COMPUTE], "Compute alone", TA_INK_COMPUTE},
          {&parts_columns[COMM_HIDDEN], "Compute and communication", TA_INK_COMM_HIDDEN},
          {&parts_columns[COMM_EXPOSED], "Exposed communication", TA_INK_COMM},
          {&parts_columns[MEMCPY_EXPOSED], "Exposed copies", TA_INK_MEMCPY},
          {&parts_columns[HOST_WAIT], "Idle, host wait", TA_INK_IDLE},
          {&parts_columns[KERNEL_WAIT], "Idle, kernel wait", TA_INK_WAIT},
          {&parts_columns[OTHER], "Other", TA_INK_OTHER}},
};

static const struct ta_table_def parts = {"gpu_time.parts", "Parts of the GPU time",
                                          TA_COLUMNS(parts_columns), .chart = {&chart}};

static int64_t cell(const struct ta_table *table, size_t row, const char *key)
{
    const size_t column = row == SIZE_MAX ? SIZE_MAX : ta_table_column(table, key);
    return column == SIZE_MAX ? 0 : ta_table_cell(table, row, column)->i;
}

/* `same` is the row of `idle` that is of the same device, or SIZE_MAX. */
static void add_device(struct ta_section_builder *out, const struct ta_table *gpu, size_t row,
                       const struct ta_table *idle, size_t same)
{
    const int64_t hidden = cell(gpu, row, "comm_hidden_ns");
    const int64_t queued = cell(idle, same, "queued_ns"), unknown = cell(idle, same, "unknown_ns");
    TA_ROW(
        out, parts, [RANK] = *ta_table_cell(gpu, row, 0), [DEVICE] = *ta_table_cell(gpu, row, 1),
        [WINDOW] = ta_int(cell(gpu, row, "window_ns")),
        [COMPUTE] = ta_int(cell(gpu, row, "compute_ns") - hidden), [COMM_HIDDEN] = ta_int(hidden),
        [COMM_EXPOSED] = ta_int(cell(gpu, row, "comm_exposed_ns")),
        [MEMCPY_EXPOSED] = ta_int(cell(gpu, row, "memcpy_exposed_ns")),
        [HOST_WAIT] = ta_int(cell(gpu, row, "idle_ns") - queued - unknown),
        [KERNEL_WAIT] = ta_int(queued),
        [OTHER] = ta_int(cell(gpu, row, "memset_exposed_ns") + unknown),
        [BUSY_SHARE] = *ta_table_cell(gpu, row, ta_table_column(gpu, "busy_share")));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const struct ta_table *gpu = ta_report_table(in->report, "gpu_time.by_rank");
    const struct ta_table *idle = ta_report_table(in->report, "gpu_idle.by_rank");

    for (size_t i = 0, next = 0; gpu && i < gpu->n_rows; i++) {
        const size_t same =
            idle ? ta_table_row_of(idle, next, ta_table_cell(gpu, i, 0), ta_table_cell(gpu, i, 1))
                 : SIZE_MAX;
        add_device(out, gpu, i, idle, same);
        next = same == SIZE_MAX ? next : same + 1;
    }
    return TA_OK;
}

static const char *const after[] = {"gpu_time", "gpu_idle", NULL};

static const struct ta_table_def *const tables[] = {&parts, NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "gpu_time", .finish = finish, .tables = tables};

TA_PLUGIN(analysis, gpu_parts, &ops, .title = "Parts of the GPU time",
          .summary = "The window of each device in parts, with what overlaps and what waits: "
                     "gpu_time.parts",
          .version = "1");
