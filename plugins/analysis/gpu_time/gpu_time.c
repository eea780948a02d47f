/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.by_rank and its company: every instant of a device's window goes to compute, exposed
 * communication, exposed copies, exposed memory sets, or idle. */
#include "gpu_time.h"

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

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    {"window_ns", "Window", TA_NS, .better = TA_LOWER,
     .doc = "First start to last end of the device's activities"},
    {"busy_ns", "Busy", TA_NS, .doc = "Union of all activities"},
    {"compute_ns", "Compute", TA_NS, .doc = "Union of compute kernels"},
    {"comm_ns", "Comm", TA_NS, .better = TA_LOWER,
     .doc = "Union of communication kernels, waiting for other ranks included"},
    {"comm_exposed_ns", "Comm exposed", TA_NS, .better = TA_LOWER,
     .doc = "Part of communication not covered by compute"},
    {"comm_hidden_ns", "Comm hidden", TA_NS, .better = TA_HIGHER,
     .doc = "The other part: compute runs meanwhile"},
    {"memcpy_ns", "Copies", TA_NS, .better = TA_LOWER, .doc = "Union of memory copies"},
    {"memcpy_exposed_ns", "Copies exposed", TA_NS, .better = TA_LOWER,
     .doc = "Part of copies covered by neither compute nor communication"},
    {"memset_ns", "Memset", TA_NS, .better = TA_LOWER, .doc = "Union of memory sets"},
    {"memset_exposed_ns", "Memset exposed", TA_NS, .better = TA_LOWER,
     .doc = "Part of memory sets covered by nothing else"},
    {"idle_ns", "Idle", TA_NS, .better = TA_LOWER, .doc = "Window minus busy"},
    {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER,
     .doc = "Busy time over the window: time in use, not use of its units"},
};

static const struct ta_chart comm_chart = {
    .id = "overlap",
    .title = "Communication and compute",
    .caption = "Time in which communication kernels run, by whether compute runs meanwhile.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank", "device"},
    .y = {{"comm_hidden_ns", "Hidden by compute", TA_INK_COMM_HIDDEN},
          {"comm_exposed_ns", "Exposed", TA_INK_COMM}},
};

static const struct ta_column overlap_columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    {"first", "Class", TA_TEXT, .doc = "Class of activities"},
    {"second", "And", TA_TEXT, .doc = "Another class"},
    {"both_ns", "Both", TA_NS, .better = TA_HIGHER,
     .doc = "Time in which activities of both classes run"},
    {"shorter_ns", "Shorter", TA_NS, .doc = "The smaller of the times of the two classes"},
    {"share", "Overlap", TA_RATIO, .better = TA_HIGHER,
     .doc = "Time of both over that of the shorter one: 1 when it is hidden altogether"},
};

static const struct ta_chart overlap_chart = {
    .id = "overlap-classes",
    .title = "What runs at the same time",
    .caption = "For each two classes of activities the time in which both run, over the time of "
               "the one that runs less.",
    .kind = TA_CHART_BARS,
    .label = {"first", "second"},
    .y = {{"share", "Overlap", TA_INK_SERIES_1}},
    .group = "rank",
    .top = 48,
};

static const struct ta_column bin_columns[] = {
    TA_RANK_COLUMN,
    TA_DEVICE_COLUMN,
    {"bin", "Part", TA_INTEGER,
     .doc = "Number of the part: the window in 100 of equal length, in fewer of more than 500 "
            "devices"},
    {"start_ns", "Start", TA_NS, .doc = "Since the earliest span of the rank's file"},
    {"busy_share", "Busy", TA_RATIO, .better = TA_HIGHER,
     .doc = "Share of the part in which an activity runs"},
    {"compute_share", "Compute", TA_RATIO, .better = TA_HIGHER,
     .doc = "Share in which a compute kernel runs"},
    {"comm_share", "Comm", TA_RATIO, .doc = "Share in which a communication kernel runs"},
    {"copy_share", "Copies", TA_RATIO, .doc = "Share in which a copy runs"},
};

static const struct ta_chart bin_chart = {
    .id = "gpu-utilization",
    .title = "GPU busy over time",
    .caption =
        "Share of each part of the window, a hundredth of it or more, in which the device is "
        "busy, and in which it computes.",
    .kind = TA_CHART_LINES,
    .label = {"rank"},
    .x = "start_ns",
    .y = {{"busy_share", "Busy", TA_INK_SERIES_1}, {"compute_share", "Compute", TA_INK_SERIES_2}},
    .group = "rank",
};

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_overlap(const struct ta_partial *overlap, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "gpu_time.overlap", "Overlap of classes", overlap_columns, 7);
    bool any = false;
    for (size_t i = 0; i < ta_partial_rows(overlap); i++) {
        const int64_t *row = ta_partial_at(overlap, i);
        TA_CELLS(table, ta_int(row[OVERLAP_RANK]), ta_int(row[OVERLAP_DEVICE]),
                 ta_text(ta_partial_text(overlap, row, OVERLAP_FIRST)),
                 ta_text(ta_partial_text(overlap, row, OVERLAP_SECOND)), ta_int(row[OVERLAP_BOTH]),
                 ta_int(row[OVERLAP_SHORTER]),
                 ta_num(ratio(row[OVERLAP_BOTH], row[OVERLAP_SHORTER])));
        any |= row[OVERLAP_BOTH] > 0;
    }
    if (any)
        ta_add_chart(table, &overlap_chart);
}

static void add_bins(const struct ta_partial *bins, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "gpu_time.over_time", "GPU time over time", bin_columns, 8);
    const size_t n = ta_partial_rows(bins), width = 1 + n / BIN_ROWS_MOST;
    for (size_t i = 0; i < n;) {
        int64_t row[BIN_FIELDS];
        i = ta_partial_fold(bins, i, (int64_t)width, row);
        const int64_t length = row[BIN_LENGTH];
        TA_CELLS(table, ta_int(row[BIN_RANK]), ta_int(row[BIN_DEVICE]), ta_int(row[BIN_INDEX]),
                 ta_int(row[BIN_START]), ta_num(ratio(row[BIN_BUSY], length)),
                 ta_num(ratio(row[BIN_COMPUTE], length)), ta_num(ratio(row[BIN_COMM], length)),
                 ta_num(ratio(row[BIN_COPY], length)));
    }
    ta_add_chart(table, &bin_chart);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *devices = merged[PARTIAL_DEVICES];
    struct ta_table_builder *table =
        ta_add_table(out, "gpu_time.by_rank", "GPU time by rank", columns, 14);
    bool communicates = false;
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        communicates |= row[COMM] > 0;
        TA_CELLS(table, ta_int(row[RANK]), ta_int(row[DEVICE]), ta_int(row[WINDOW]),
                 ta_int(row[BUSY]), ta_int(row[COMPUTE]), ta_int(row[COMM]),
                 ta_int(row[COMM_EXPOSED]), ta_int(row[COMM] - row[COMM_EXPOSED]),
                 ta_int(row[MEMCPY]), ta_int(row[MEMCPY_EXPOSED]), ta_int(row[MEMSET]),
                 ta_int(row[MEMSET_EXPOSED]), ta_int(row[WINDOW] - row[BUSY]),
                 row[WINDOW] ? ta_num((double)row[BUSY] / (double)row[WINDOW]) : ta_null());
    }
    if (communicates)
        ta_add_chart(table, &comm_chart);
    if (!gpu_time_add_names(merged[PARTIAL_NAMES], ta_partial_rows(devices), out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up busy time by name");
    add_overlap(merged[PARTIAL_OVERLAP], out);
    add_bins(merged[PARTIAL_BINS], out);
    if (ta_partial_rows(devices) == 0 && ta_report_is_of_traces(in->report))
        ta_add_missing(
            out,
            "No event is a device activity by its category: the figures are of the host only.");
    return TA_OK;
}

static const char *const after[] = {"files", NULL};

static const struct ta_analysis_ops ops = {.after = after,
                                           .section = "gpu_time",
                                           .partials = partials,
                                           .map = gpu_time_map,
                                           .finish = finish};

TA_PLUGIN(analysis, gpu_time, &ops, .title = "GPU time",
          .summary = "Exclusive split of each device's window, and what runs at the same time: "
                     "gpu_time.by_rank, gpu_time.by_name",
          .version = "1");
