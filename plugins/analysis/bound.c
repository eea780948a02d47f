/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.bound: what bounds the run.  The program's window of each device is split, without overlap
 * or rest, into computing, exposed communication and copies, idle time by its root cause, and
 * host work before the first activity and after the last; the largest part names the run. */
#include "lib/idle_parts.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/rule.h>

#include <math.h>
#include <stdlib.h>

/* If parts are equal, the first in this order names the run. */
enum part {
    COMPUTE,
    MEMORY,
    KERNEL_WAIT,
    COMM,
    IMBALANCE,
    BEFORE,
    COPIES,
    LAUNCH,
    SYNC,
    INPUT,
    COMPUTATION,
    ALLOCATION,
    SETUP,
    DEPENDENCY,
    HOST,
    PREPARATION,
    COMPLETION,
    IDLE,
    PARTS
};

static const struct {
    const char *name, *class, *what;
} parts[PARTS] = {
    [COMPUTE] = {"compute", "compute-bound", "a compute kernel runs"},
    [MEMORY] = {"memory", "memory-limited batch",
                "a compute kernel runs with too few blocks to fill the device while the device's "
                "memory is full: a larger batch would use the idle part but does not fit"},
    [KERNEL_WAIT] = {"kernel wait", "bound by kernels that wait",
                     "a kernel runs that only waits for another one"},
    [COMM] = {"communication", "communication-bound",
              "communication runs and no computation hides it"},
    [IMBALANCE] = {"imbalance", "imbalance-bound",
                   "exposed communication before the last rank has arrived: the share of waiting "
                   "in it, if the ranks have a common clock"},
    [BEFORE] =
        {"before the recording", "held up by what lies before the recording",
         "idle after work that was launched before the recording; exposed communication that was "
         "launched before the recording or waits for a rank whose recording began later"},
    [COPIES] = {"copy", "copy-bound", "copies and memory sets run and nothing else does"},
    [LAUNCH] = {"launch", "launch-bound",
                "idle while the host prepares and launches work: operators, Python, runtime calls, "
                "and the latency of a launch"},
    [SYNC] = {"sync", "sync-bound",
              "idle because the host waits for the device or for a blocking copy, until the host "
              "has caught up again"},
    [INPUT] = {"input", "input-bound", "idle while the host loads data or waits for other hosts"},
    [COMPUTATION] = {"host computation", "bound by computation on the CPU",
                     "idle while the host computes: CPU operators, arrays, images"},
    [ALLOCATION] = {"allocation", "allocation-bound",
                    "idle while the driver allocates or frees memory"},
    [SETUP] = {"setup", "setup-bound",
               "idle while code is compiled or loaded, or a first call initializes something"},
    [DEPENDENCY] = {"dependency", "dependency-bound",
                    "idle although work is queued: it depends on other work, or the device has not "
                    "started it yet"},
    [HOST] = {"host", "host-bound", "idle while the host does something that was not recorded"},
    [PREPARATION] = {"preparation", "bound by host work before the first kernel",
                     "no work has reached the device yet: the host prepares the input, computes, "
                     "or runs Python"},
    [COMPLETION] =
        {"completion", "bound by host work after the last kernel",
         "the device has finished and the host continues: it computes, writes, or runs Python"},
    [IDLE] = {"idle", "idle for reasons that were not recorded",
              "idle, and the trace does not show why: kernels or launches were not recorded, or "
              "the device's recording began late"},
};

/* From this share on, computing leaves little to any other part. */
#define SATURATED 0.8

enum { BOUND, CLASS, TOTAL, SHARE, WHAT };
static const struct ta_column bound_columns[] = {
    [BOUND] = {"bound", "Bound by", TA_TEXT,
               .doc = "What the time is spent on; the first row names the run"},
    [CLASS] = {"class", "Class", TA_TEXT,
               .doc = "What a run is called if this is the largest part; compute-saturated if "
                      "computing takes 80 % or more"},
    [TOTAL] = {"total_ns", "Time", TA_NS,
               .doc = "Time within the program's window, summed over all devices of all ranks; the "
                      "rows add up to the windows"},
    [SHARE] = {"share", "Share", TA_RATIO,
               .doc = "Share of the program's window, summed over all devices"},
    [WHAT] = {"what", "Meaning", TA_SENTENCE,
              .doc = "What the devices do, or wait for, in this time"},
};

static const struct ta_table_def bound = {
    "run.bound",
    "What bounds the run",
    TA_COLUMNS(bound_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "What the program's window (`run.window`) is spent on, per device, in parts that add up "
           "to it: `compute`, `communication`, `imbalance`, `before the recording` and `copy` "
           "(exposed), and idle time by its cause: `launch`, `sync`, `input`, `host computation`, "
           "`allocation`, `setup`, `dependency`, `host` (untraced), `idle` (the trace does not "
           "show why). They come from `gpu_time.by_rank` and `gpu_idle.by_owner`. Before the first "
           "activity of the device and after its last (`gpu_idle.edges`), waits, data loading, "
           "computation, allocation and setup count in the same parts, while operators and Python "
           "of the host are `preparation` and `completion`; of time before the first activity "
           "that is mostly computation they are part of it. `imbalance` is the part of exposed "
           "communication that waits for the last rank, as in `collectives.exposed`. If the "
           "allocator holds 90 % or more of a device's memory, `memory` is the part of computing "
           "that kernels lose because they have too few blocks (`kernels.waves`): a larger batch "
           "would use it but does not fit. `kernel wait` is the time of kernels that only wait for "
           "others (family `wait`). The class of the largest part names the run in the verdict; if "
           "two parts are within 5 percentage points of each other, both do.",
    .order = {&bound_columns[TOTAL], TA_DESCENDING},
    .joining = TA_JOIN_NOT};

enum {
    GPU_WINDOW,
    GPU_COMPUTE,
    GPU_COMM,
    GPU_MEMCPY,
    GPU_MEMSET,
    IDLE_CAUSE,
    IDLE_TOTAL,
    EDGE_EDGE,
    EDGE_CAUSE,
    EDGE_TOTAL,
    RANKS_WAIT,
    RANKS_BEFORE,
    MEMORY_TOTAL,
    MEMORY_PEAK,
    WAVES_LOST,
    KERNEL,
    FAMILY,
    BUSY_KERNEL,
    EXPOSED
};

static const struct ta_ref reads[] = {
    [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [GPU_COMM] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [GPU_MEMCPY] = {"gpu_time.by_rank", "memcpy_exposed_ns"},
    [GPU_MEMSET] = {"gpu_time.by_rank", "memset_exposed_ns"},
    [IDLE_CAUSE] = {"gpu_idle.by_owner", "owner"},
    [IDLE_TOTAL] = {"gpu_idle.by_owner", "total_ns"},
    [EDGE_EDGE] = {"gpu_idle.edges", "edge"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_TOTAL] = {"gpu_idle.edges", "total_ns"},
    [RANKS_WAIT] = {"collectives.exposed", "wait_ns"},
    [RANKS_BEFORE] = {"collectives.exposed", "before_ns"},
    [MEMORY_TOTAL] = {"memory.by_rank", "total_bytes"},
    [MEMORY_PEAK] = {"memory.by_rank", "peak_reserved_bytes"},
    [WAVES_LOST] = {"kernels.waves", "lost_ns"},
    [KERNEL] = {"kernels.by_name", "name"},
    [FAMILY] = {"kernels.by_name", "family"},
    [BUSY_KERNEL] = {"gpu_time.by_name", "name"},
    [EXPOSED] = {"gpu_time.by_name", "exposed_ns"},
};

/* Above this share of the device's memory there is no room for a larger batch. */
#define FULL 0.9

static bool is_full(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, MEMORY_TOTAL); i++) {
        const double total = ta_ref_number(in, MEMORY_TOTAL, i, 0);
        if (total > 0 && ta_ref_number(in, MEMORY_PEAK, i, 0) >= FULL * total)
            return true;
    }
    return false;
}

/* Busy time of kernels that only wait. */
static double waiting(const struct ta_refs *in)
{
    double time = 0;
    for (size_t i = 0; i < ta_ref_rows(in, FAMILY); i++)
        for (size_t row = 0; ta_ref_reads(in, FAMILY, i, "wait") && row < ta_ref_rows(in, EXPOSED);
             row++)
            if (ta_slice_equal(ta_ref_text(in, BUSY_KERNEL, row), ta_ref_text(in, KERNEL, i)))
                time += ta_ref_number(in, EXPOSED, row, 0);
    return time;
}

static enum part part_called(const char *name)
{
    for (int i = 0; i < PARTS; i++)
        if (strcmp(name, parts[i].name) == 0)
            return (enum part)i;
    return IDLE;
}

static void add_idle_time(const struct ta_refs *in, double time[PARTS])
{
    static const struct ta_idle_edges edges = {EDGE_EDGE, EDGE_CAUSE, EDGE_TOTAL};
    const bool is_phase = ta_idle_is_phase(in, &edges, TA_MISSING, TA_MISSING);
    for (size_t i = 0; i < ta_ref_rows(in, IDLE_TOTAL); i++)
        time[part_called(ta_idle_part(ta_ref_text(in, IDLE_CAUSE, i)))] +=
            ta_ref_number(in, IDLE_TOTAL, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, EDGE_TOTAL); i++)
        time[part_called(ta_idle_edge_part(ta_ref_text(in, EDGE_CAUSE, i),
                                           ta_ref_reads(in, EDGE_EDGE, i, "before"), is_phase))] +=
            ta_ref_number(in, EDGE_TOTAL, i, 0);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const double window = ta_ref_sum(in, GPU_WINDOW) + ta_ref_sum(in, EDGE_TOTAL);
    if (window <= 0)
        return TA_OK;
    double time[PARTS] = {
        [COMPUTE] = ta_ref_sum(in, GPU_COMPUTE),
        [COMM] = ta_ref_sum(in, GPU_COMM),
        [COPIES] = ta_ref_sum(in, GPU_MEMCPY) + ta_ref_sum(in, GPU_MEMSET),
        [IMBALANCE] = ta_ref_sum(in, RANKS_WAIT),
        [BEFORE] = ta_ref_sum(in, RANKS_BEFORE),
    };
    time[COMM] -= time[IMBALANCE] + time[BEFORE]; /* before idle time is added */
    if (is_full(in))
        time[MEMORY] = fmin(time[COMPUTE], ta_ref_sum(in, WAVES_LOST));
    time[KERNEL_WAIT] = fmin(time[COMPUTE] - time[MEMORY], waiting(in));
    time[COMPUTE] -= time[MEMORY] + time[KERNEL_WAIT];
    add_idle_time(in, time);
    for (int i = 0; i < PARTS; i++)
        if (time[i] > 0) {
            const enum part part = (enum part)i;
            const double share = time[i] / window;
            TA_ROW(out, bound, [BOUND] = ta_text(ta_slice_of(parts[i].name)),
                   [CLASS] = ta_text(ta_slice_of(part == COMPUTE && share >= SATURATED
                                                     ? "compute-saturated"
                                                     : parts[part].class)),
                   [TOTAL] = ta_int(ta_whole(time[i])), [SHARE] = ta_num(time[i] / window),
                   [WHAT] = ta_text(ta_slice_of(parts[i].what)));
        }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&bound, NULL};

static const struct ta_analysis_ops ops = {.section = "overview",
                                           .place = 2,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, bound, &ops, .title = "What bounds the run",
          .summary = "What the program's window is spent on: run.bound", .version = "2");
