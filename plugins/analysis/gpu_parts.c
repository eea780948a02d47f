/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.parts: the window of each device in parts that add up to it, computing beside
 * communication apart from computing alone, and idle time by whether the host or the device made it
 * wait. */
#include <traceanalyze/analysis.h>

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    TA_NS_COLUMN("window_ns", "Window", TA_LOWER,
                 "First start to last end of the device's activities"),
    TA_NS_COLUMN("compute_ns", "Compute alone", TA_NEUTRAL,
                 "A compute kernel runs and no communication"),
    TA_NS_COLUMN("comm_hidden_ns", "Comm hidden", TA_HIGHER,
                 "Communication runs beside a compute kernel"),
    TA_NS_COLUMN("comm_exposed_ns", "Comm exposed", TA_LOWER,
                 "Communication runs and no compute kernel"),
    TA_NS_COLUMN("memcpy_exposed_ns", "Copies exposed", TA_LOWER, "Copies run and no kernel"),
    TA_NS_COLUMN("host_wait_ns", "Host wait", TA_LOWER,
                 "Idle, since the host had not launched the next work, and the way from there to "
                 "the device"),
    TA_NS_COLUMN("kernel_wait_ns", "Kernel wait", TA_LOWER,
                 "Idle, though the next work was launched: it waits for other work, or for the "
                 "device to take it"),
    TA_NS_COLUMN("other_ns", "Other", TA_LOWER,
                 "Memory sets that nothing else covers, and idle time of which the trace does not "
                 "tell the cause"),
    TA_RATIO_COLUMN("busy_share", "Busy %", TA_HIGHER,
                    "Time in which any activity runs, over the window"),
};

static const struct ta_chart chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time by rank",
    .caption = "The window of each device, first start to last end of its activities. Each instant "
               "counts once: compute, alone or beside communication, then communication, copies, "
               "and idle time by what held up the next work.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank", "device"},
    .y = {{"compute_ns", "Compute alone", TA_INK_COMPUTE},
          {"comm_hidden_ns", "Compute and communication", TA_INK_COMM_HIDDEN},
          {"comm_exposed_ns", "Exposed communication", TA_INK_COMM},
          {"memcpy_exposed_ns", "Exposed copies", TA_INK_MEMCPY},
          {"host_wait_ns", "Idle, host wait", TA_INK_IDLE},
          {"kernel_wait_ns", "Idle, kernel wait", TA_INK_WAIT},
          {"other_ns", "Other", TA_INK_OTHER}},
};

static int64_t cell(const struct ta_table *table, size_t row, const char *key)
{
    const size_t column = row == SIZE_MAX ? SIZE_MAX : ta_table_column(table, key);
    return column == SIZE_MAX ? 0 : ta_table_cell(table, row, column)->i;
}

/* `same` is the row of `idle` that is of the same device, or SIZE_MAX. */
static void add_device(struct ta_table_builder *table, const struct ta_table *gpu, size_t row,
                       const struct ta_table *idle, size_t same)
{
    const int64_t hidden = cell(gpu, row, "comm_hidden_ns");
    const int64_t queued = cell(idle, same, "queued_ns"), unknown = cell(idle, same, "unknown_ns");
    TA_ROW(table, *ta_table_cell(gpu, row, 0), *ta_table_cell(gpu, row, 1),
           ta_int(cell(gpu, row, "window_ns")), ta_int(cell(gpu, row, "compute_ns") - hidden),
           ta_int(hidden), ta_int(cell(gpu, row, "comm_exposed_ns")),
           ta_int(cell(gpu, row, "memcpy_exposed_ns")),
           ta_int(cell(gpu, row, "idle_ns") - queued - unknown), ta_int(queued),
           ta_int(cell(gpu, row, "memset_exposed_ns") + unknown),
           *ta_table_cell(gpu, row, ta_table_column(gpu, "busy_share")));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const struct ta_table *gpu = ta_report_table(prior, "gpu_time.by_rank");
    const struct ta_table *idle = ta_report_table(prior, "gpu_idle.by_rank");
    struct ta_table_builder *table = ta_add_table(out, "gpu_time.parts", "Parts of the GPU time",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0, next = 0; gpu && i < gpu->n_rows; i++) {
        const size_t same =
            idle ? ta_table_row_of(idle, next, ta_table_cell(gpu, i, 0), ta_table_cell(gpu, i, 1))
                 : SIZE_MAX;
        add_device(table, gpu, i, idle, same);
        next = same == SIZE_MAX ? next : same + 1;
    }
    ta_add_chart(table, &chart);
    return TA_OK;
}

static const char *const after[] = {"gpu_time", "gpu_idle", NULL};

static const struct ta_analysis_ops ops = {.after = after, .section = "gpu_time", .finish = finish};

TA_PLUGIN(analysis, gpu_parts, &ops, .title = "Parts of the GPU time",
          .summary = "The window of each device in parts, with what overlaps and what waits: "
                     "gpu_time.parts",
          .version = "1");
