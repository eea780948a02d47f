/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.by_rank, by_name, by_rank_name, overlap and over_time: every instant of a device's
 * window counts as compute, exposed communication, exposed copies, exposed memory sets, or idle. */
#include "gpu_time.h"

#include "analyze/partial.h"

#include <traceanalyze/analysis.h>

/* Approximate maximum of rows of gpu_time.over_time: with more devices the intervals are longer. */
enum { BIN_ROWS_MOST = 50000 };

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE] = {"device", TA_FIELD_INT},
    [WINDOW] = {"window_ns", TA_FIELD_SUM},
    [BUSY] = {"busy_ns", TA_FIELD_SUM},
    [COMPUTE] = {"compute_ns", TA_FIELD_SUM},
    [COMM] = {"comm_ns", TA_FIELD_SUM},
    [COMM_EXPOSED] = {"comm_exposed_ns", TA_FIELD_SUM},
    [MEMCPY] = {"memcpy_ns", TA_FIELD_SUM},
    [MEMCPY_EXPOSED] = {"memcpy_exposed_ns", TA_FIELD_SUM},
    [MEMSET] = {"memset_ns", TA_FIELD_SUM},
    [MEMSET_EXPOSED] = {"memset_exposed_ns", TA_FIELD_SUM},
};

static const struct ta_field overlap_fields[] = {
    [OVERLAP_RANK] = {"rank", TA_FIELD_RANK},   [OVERLAP_DEVICE] = {"device", TA_FIELD_INT},
    [OVERLAP_FIRST] = {"first", TA_FIELD_TEXT}, [OVERLAP_SECOND] = {"second", TA_FIELD_TEXT},
    [OVERLAP_BOTH] = {"both_ns", TA_FIELD_SUM}, [OVERLAP_SHORTER] = {"shorter_ns", TA_FIELD_SUM},
};

static const struct ta_field bin_fields[BIN_FIELDS] = {
    [BIN_RANK] = {"rank", TA_FIELD_RANK},         [BIN_DEVICE] = {"device", TA_FIELD_INT},
    [BIN_INDEX] = {"bin", TA_FIELD_INT},          [BIN_START] = {"start_ns", TA_FIELD_MIN},
    [BIN_LENGTH] = {"length_ns", TA_FIELD_SUM},   [BIN_BUSY] = {"busy_ns", TA_FIELD_SUM},
    [BIN_COMPUTE] = {"compute_ns", TA_FIELD_SUM}, [BIN_COMM] = {"comm_ns", TA_FIELD_SUM},
    [BIN_COPY] = {"copy_ns", TA_FIELD_SUM},
};

static const struct ta_field name_fields[] = {
    [NAME_RANK] = {"rank", TA_FIELD_RANK},        [NAME_DEVICE] = {"device", TA_FIELD_INT},
    [NAME_CLASS] = {"class", TA_FIELD_TEXT},      [NAME_NAME] = {"name", TA_FIELD_TEXT},
    [NAME_CALLS] = {"calls", TA_FIELD_SUM},       [NAME_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [NAME_SHARED] = {"exposed_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_DEVICES] = {"devices", fields, FIELDS},
    [PARTIAL_OVERLAP] = {"overlap", overlap_fields, 6},
    [PARTIAL_BINS] = {"bins", bin_fields, BIN_FIELDS},
    [PARTIAL_NAMES] = {"names", name_fields, 7},
    {0},
};

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_WINDOW,
    BY_RANK_BUSY,
    BY_RANK_COMPUTE,
    BY_RANK_COMM,
    BY_RANK_COMM_EXPOSED,
    BY_RANK_COMM_HIDDEN,
    BY_RANK_MEMCPY,
    BY_RANK_MEMCPY_EXPOSED,
    BY_RANK_MEMSET,
    BY_RANK_MEMSET_EXPOSED,
    BY_RANK_IDLE,
    BY_RANK_BUSY_SHARE
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN,
    [BY_RANK_WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER, .weight = 1,
                        .read_as = TA_AS_DEVICE_WINDOW,
                        .doc =
                            "From the start of the device's first activity to the end of its last"},
    [BY_RANK_BUSY] = {"busy_ns", "Busy", TA_NS, .weight = 0.9,
                      .doc = "Time in which at least one activity runs"},
    [BY_RANK_COMPUTE] = {"compute_ns", "Compute", TA_NS, .weight = 0.8,
                         .read_as = TA_AS_DEVICE_COMPUTE,
                         .doc = "Time in which at least one compute kernel runs"},
    [BY_RANK_COMM] = {"comm_ns", "Communication", TA_NS, .better = TA_LOWER, .weight = 0.6,
                      .doc = "Time in which at least one communication kernel runs, including "
                             "waiting for other ranks"},
    [BY_RANK_COMM_EXPOSED] = {"comm_exposed_ns", "Comm exposed", TA_NS, .better = TA_LOWER,
                              .weight = 1, .zero_of = "comm_ns",
                              .doc = "Time in which communication and no compute kernel runs"},
    [BY_RANK_COMM_HIDDEN] =
        {"comm_hidden_ns", "Comm hidden", TA_NS, .better = TA_HIGHER, .zero_of = "comm_ns",
         .doc = "Time in which communication and a compute kernel run at the same time"},
    [BY_RANK_MEMCPY] = {"memcpy_ns", "Copies", TA_NS, .better = TA_LOWER, .weight = 0.6,
                        .doc = "Time in which at least one memory copy runs"},
    [BY_RANK_MEMCPY_EXPOSED] =
        {"memcpy_exposed_ns", "Copies exposed", TA_NS, .better = TA_LOWER, .zero_of = "memcpy_ns",
         .doc = "Time in which copies run and neither compute nor communication does"},
    [BY_RANK_MEMSET] = {"memset_ns", "Memset", TA_NS, .better = TA_LOWER,
                        .doc = "Time in which at least one memory set runs"},
    [BY_RANK_MEMSET_EXPOSED] = {"memset_exposed_ns", "Memset exposed", TA_NS, .better = TA_LOWER,
                                .zero_of = "memset_ns",
                                .doc = "Time in which memory sets run and nothing else does"},
    [BY_RANK_IDLE] = {"idle_ns", "Idle", TA_NS, .better = TA_LOWER, .weight = 1,
                      .zero_of = "idle_ns", .doc = "Window minus busy time"},
    [BY_RANK_BUSY_SHARE] = {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER, .weight = 0.7,
                            .doc = "Busy time divided by the window. It says how long the device "
                                   "is in use, not how well its units are used"},
};

static const struct ta_chart_def comm_chart = {
    .id = "overlap",
    .title = "Hidden and exposed communication",
    .caption = "Communication time of each device: hidden behind compute, or exposed.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_rank_columns[BY_RANK_RANK], &by_rank_columns[BY_RANK_DEVICE]},
    .y = {{&by_rank_columns[BY_RANK_COMM_HIDDEN], "Hidden by compute", TA_INK_COMM_HIDDEN},
          {&by_rank_columns[BY_RANK_COMM_EXPOSED], "Exposed", TA_INK_COMM}},
};

static const struct ta_table_def by_rank = {
    "gpu_time.by_rank",
    "GPU time by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank and device with device activities.\n\nEvery instant of the window "
           "counts once, by priority: compute, then communication, copies, memory sets, idle. "
           "Identity: `busy_ns` = `compute_ns` + `comm_exposed_ns` + `memcpy_exposed_ns` + "
           "`memset_exposed_ns`, and `idle_ns` = `window_ns` − `busy_ns`. Communication kernels "
           "wait inside themselves for late ranks, so `comm_ns` contains waiting and transfer. "
           "Chart `overlap`, if there is communication.",
    .rank_words = "GPU time",
    .brief = &(const struct ta_brief){.place = 180,
                                      .rows = 16,
                                      .largest = &by_rank_columns[BY_RANK_IDLE],
                                      .unless = "gpu_time.parts"}};

/* The first columns are the fields of the partial; one more follows. */
enum { OVERLAP_SHARE = OVERLAP_SHORTER + 1 };
static const struct ta_column overlap_columns[] = {
    [OVERLAP_RANK] = TA_RANK_COLUMN,
    [OVERLAP_DEVICE] = TA_DEVICE_COLUMN,
    [OVERLAP_FIRST] = {"first", "Class", TA_TEXT, .doc = "First class of activities"},
    [OVERLAP_SECOND] = {"second", "Other class", TA_TEXT, .doc = "Second class of activities"},
    [OVERLAP_BOTH] = {"both_ns", "Both", TA_NS, .better = TA_HIGHER,
                      .doc = "Time in which activities of both classes run"},
    [OVERLAP_SHORTER] = {"shorter_ns", "Shorter time", TA_NS,
                         .doc = "The smaller of the times of the two classes"},
    [OVERLAP_SHARE] = {"share", "Overlap", TA_RATIO, .better = TA_HIGHER,
                       .doc = "Time of both divided by the shorter time: 100 % if the shorter one "
                              "is hidden completely"},
};

static const struct ta_chart_def overlap_chart = {
    .id = "overlap-classes",
    .title = "Overlap",
    .caption =
        "For each pair of classes, the time in which both run as a share of the shorter one.",
    .kind = TA_CHART_BARS,
    .label = {&overlap_columns[OVERLAP_FIRST], &overlap_columns[OVERLAP_SECOND]},
    .y = {{&overlap_columns[OVERLAP_SHARE], "Overlap", TA_INK_SERIES_1}},
    .group = &overlap_columns[OVERLAP_RANK],
    .top = 48,
};

static const struct ta_table_def overlap = {
    "gpu_time.overlap", "Overlap", TA_COLUMNS(overlap_columns),
    .doc = "One row per rank, device and pair of classes that both occur. Chart `overlap-classes`.",
    .tier = TA_TIER_DETAIL};

enum {
    PART_RANK,
    PART_DEVICE,
    PART_NUMBER,
    PART_START,
    PART_BUSY,
    PART_COMPUTE,
    PART_COMM,
    PART_COPY
};
static const struct ta_column over_time_columns[] = {
    [PART_RANK] = TA_RANK_COLUMN,
    [PART_DEVICE] = TA_DEVICE_COLUMN,
    [PART_NUMBER] = {"bin", "Interval", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Number of the interval: the program's window is divided into 100 of "
                            "equal length (fewer if there are more than 500 devices)"},
    [PART_START] = {"start_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                    .doc =
                        "Start of the interval, counted from the earliest span in the rank's file"},
    [PART_BUSY] = {"busy_share", "Busy", TA_RATIO, .better = TA_HIGHER,
                   .doc = "Share of the interval in which any activity runs"},
    [PART_COMPUTE] = {"compute_share", "Compute", TA_RATIO, .better = TA_HIGHER,
                      .doc = "Share of the interval in which a compute kernel runs"},
    [PART_COMM] = {"comm_share", "Comm", TA_RATIO,
                   .doc = "Share of the interval in which a communication kernel runs"},
    [PART_COPY] = {"copy_share", "Copies", TA_RATIO,
                   .doc = "Share of the interval in which a copy runs"},
};

static const struct ta_chart_def bin_chart = {
    .id = "gpu-utilization",
    .title = "GPU busy over time",
    .caption =
        "Share of each interval (1 % of the program window or more) in which the device runs "
        "anything, and in which it computes.",
    .kind = TA_CHART_LINES,
    .steps = true, /* each value holds for its interval */
    .label = {&over_time_columns[PART_RANK]},
    .x = &over_time_columns[PART_START],
    .y = {{&over_time_columns[PART_BUSY], "Busy", TA_INK_SERIES_1},
          {&over_time_columns[PART_COMPUTE], "Compute", TA_INK_SERIES_2}},
    .group = &over_time_columns[PART_RANK],
};

static const struct ta_table_def over_time = {
    "gpu_time.over_time",
    "GPU time over time",
    TA_COLUMNS(over_time_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per rank, device and hundredth of the program's window; with more than 500 "
           "devices the intervals are longer, so that the table stays below about 50 000 rows. "
           "Chart `gpu-utilization`.",
    .chart = {&bin_chart}};

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_bins(const struct ta_partial *bins, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(bins), width = 1 + n / BIN_ROWS_MOST;
    for (size_t i = 0; i < n;) {
        int64_t row[BIN_FIELDS];
        i = ta_partial_fold(bins, i, (int64_t)width, row);
        const int64_t length = row[BIN_LENGTH];
        TA_ROW(
            out,
            over_time, [PART_RANK] = ta_int(row[BIN_RANK]), [PART_DEVICE] = ta_int(row[BIN_DEVICE]),
            [PART_NUMBER] = ta_int(row[BIN_INDEX]), [PART_START] = ta_int(row[BIN_START]),
            [PART_BUSY] = ta_num(ratio(row[BIN_BUSY], length)),
            [PART_COMPUTE] = ta_num(ratio(row[BIN_COMPUTE], length)),
            [PART_COMM] = ta_num(ratio(row[BIN_COMM], length)),
            [PART_COPY] = ta_num(ratio(row[BIN_COPY], length)));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *devices = merged[PARTIAL_DEVICES];
    bool hides = false; /* communication behind compute; else the exposed one is all there is */
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        hides |= row[COMM] > row[COMM_EXPOSED];
        TA_ROW(out,
               by_rank, [BY_RANK_RANK] = ta_int(row[RANK]), [BY_RANK_DEVICE] = ta_int(row[DEVICE]),
               [BY_RANK_WINDOW] = ta_int(row[WINDOW]), [BY_RANK_BUSY] = ta_int(row[BUSY]),
               [BY_RANK_COMPUTE] = ta_int(row[COMPUTE]), [BY_RANK_COMM] = ta_int(row[COMM]),
               [BY_RANK_COMM_EXPOSED] = ta_int(row[COMM_EXPOSED]),
               [BY_RANK_COMM_HIDDEN] = ta_int(row[COMM] - row[COMM_EXPOSED]),
               [BY_RANK_MEMCPY] = ta_int(row[MEMCPY]),
               [BY_RANK_MEMCPY_EXPOSED] = ta_int(row[MEMCPY_EXPOSED]),
               [BY_RANK_MEMSET] = ta_int(row[MEMSET]),
               [BY_RANK_MEMSET_EXPOSED] = ta_int(row[MEMSET_EXPOSED]),
               [BY_RANK_IDLE] = ta_int(row[WINDOW] - row[BUSY]),
               [BY_RANK_BUSY_SHARE] =
                   row[WINDOW] ? ta_num((double)row[BUSY] / (double)row[WINDOW]) : ta_null());
    }
    if (hides)
        ta_draw(out, &by_rank, &comm_chart);
    if (!gpu_time_add_names(merged[PARTIAL_NAMES], ta_partial_rows(devices), out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up busy time by name");
    const struct ta_partial *pairs = merged[PARTIAL_OVERLAP];
    bool any = false;
    for (size_t i = 0; i < ta_partial_rows(pairs); i++) {
        const int64_t *row = ta_partial_at(pairs, i);
        TA_ROW(out, overlap, [OVERLAP_RANK] = ta_int(row[OVERLAP_RANK]),
               [OVERLAP_DEVICE] = ta_int(row[OVERLAP_DEVICE]),
               [OVERLAP_FIRST] = ta_text(ta_partial_text(pairs, row, OVERLAP_FIRST)),
               [OVERLAP_SECOND] = ta_text(ta_partial_text(pairs, row, OVERLAP_SECOND)),
               [OVERLAP_BOTH] = ta_int(row[OVERLAP_BOTH]),
               [OVERLAP_SHORTER] = ta_int(row[OVERLAP_SHORTER]),
               [OVERLAP_SHARE] = ta_num(ratio(row[OVERLAP_BOTH], row[OVERLAP_SHORTER])));
        any |= row[OVERLAP_BOTH] > 0;
    }
    if (any)
        ta_draw(out, &overlap, &overlap_chart);
    add_bins(merged[PARTIAL_BINS], out);
    if (ta_partial_rows(devices) == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(
            out, "No event is a device activity by its category: all figures are about the host.");
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {
    &by_rank, &gpu_time_by_rank_name, &gpu_time_by_name, &overlap, &over_time, NULL};

static const struct ta_analysis_ops ops = {.section = "gpu_time",
                                           .partials = partials,
                                           .map = gpu_time_map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, gpu_time, &ops, .title = "GPU time",
          .summary = "Where each device's window goes, and what runs at the same time: "
                     "gpu_time.by_rank, gpu_time.by_name",
          .version = "1");
