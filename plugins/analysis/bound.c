/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.bound: what bounds the run.  The windows of all devices are split without overlap or rest
 * into computing, what is exposed of communication and copies, and idle time by what held up the
 * next activity; the largest part names the run. */
#include <traceanalyze/analysis.h>

#include <stdlib.h>

/* Parts in the order in which equal ones are named. */
enum { COMPUTE, COMM, COPIES, LAUNCH, SYNC, INPUT, SETUP, DEPENDENCY, IDLE, PARTS };

static const struct {
    const char *name, *what;
} parts[PARTS] = {
    [COMPUTE] = {"compute", "a compute kernel runs"},
    [COMM] = {"communication", "communication that no computation covers"},
    [COPIES] = {"copy", "copies and memory sets that nothing else covers"},
    [LAUNCH] = {"launch", "idle while the host hands out work: operators, Python, calls, and the "
                          "way of a launch to the device"},
    [SYNC] = {"sync", "idle because the host waits for the device, or copies and waits"},
    [INPUT] = {"input", "idle while data is loaded, or other hosts are waited for"},
    [SETUP] = {"setup", "idle while memory is allocated, or code compiled or loaded"},
    [DEPENDENCY] = {"dependency", "idle though work is queued: it waits for other work, or for the "
                                  "device to take it"},
    [IDLE] = {"idle", "idle for reasons that the trace does not hold"},
};

static const struct ta_column columns[] = {
    {"bound", "Bound by", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Part of the windows; the first one names the run"},
    {"total_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Of the windows of all devices of all ranks; the parts add up to them"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL, "Of the sum of the windows"},
    {"what", "What", TA_TYPE_SENTENCE, TA_UNIT_NONE, TA_NEUTRAL,
     "What the devices do in this time"},
};

static double sum(const struct ta_table *table, const char *key)
{
    const size_t column = table ? ta_table_column(table, key) : SIZE_MAX;
    double total = 0;
    for (size_t i = 0; column != SIZE_MAX && i < table->n_rows; i++)
        total += ta_cell_number(ta_table_cell(table, i, column), 0);
    return total;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const struct ta_table *gpu = ta_report_table(prior, "gpu_time.by_rank");
    const struct ta_table *idle = ta_report_table(prior, "gpu_idle.by_rank");
    const double window = sum(gpu, "window_ns");
    if (window <= 0)
        return TA_OK;
    const double time[PARTS] = {
        [COMPUTE] = sum(gpu, "compute_ns"),
        [COMM] = sum(gpu, "comm_exposed_ns"),
        [COPIES] = sum(gpu, "memcpy_exposed_ns") + sum(gpu, "memset_exposed_ns"),
        [LAUNCH] = sum(idle, "dispatch_ns") + sum(idle, "latency_ns"),
        [SYNC] = sum(idle, "sync_ns"),
        [INPUT] = sum(idle, "input_ns"),
        [SETUP] = sum(idle, "setup_ns"),
        [DEPENDENCY] = sum(idle, "queued_ns"),
        [IDLE] = sum(idle, "host_ns") + sum(idle, "unknown_ns"),
    };
    struct ta_table_builder *table =
        ta_add_table(out, "run.bound", "What bounds the run", columns, 4);
    for (int i = 0; i < PARTS; i++)
        if (time[i] > 0)
            TA_ROW(table, ta_text(ta_slice_of(parts[i].name)), ta_int((int64_t)time[i]),
                   ta_num(time[i] / window), ta_text(ta_slice_of(parts[i].what)));
    ta_sort_rows(table, "total_ns", true);
    return TA_OK;
}

static const char *const after[] = {"gpu_time", "gpu_idle", NULL};

static const struct ta_analysis_ops ops = {.after = after, .section = "overview", .finish = finish};

TA_PLUGIN(analysis, bound, &ops, .title = "What bounds the run",
          .summary = "The windows of the devices by what they are spent on: run.bound",
          .version = "1");
