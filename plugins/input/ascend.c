/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files next to the Chrome trace in an Ascend profiler folder: kernels, times per step, sums per
 * operator, and the note about the session, which knows the rank. */
#include "base/convert.h"
#include "lib/rows.h"
#include "parse/text/csv.h"

#include <traceanalyze/partial.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>

/* ---- tables --------------------------------------------------------------------------------- */

enum { SHAPE_STEPS, SHAPE_SUMS, SHAPE_KERNELS, SHAPES };

enum {
    COMPUTING,
    FREE,
    NOT_OVERLAPPED,
    STEP,
    STAGE,
    COMMUNICATION,
    OVERLAPPED,
    BUBBLE,
    PREPARING,
    STEP_COLUMNS
};

static const ta_csv_name step_columns[STEP_COLUMNS] = {
    [COMPUTING] = "Computing",
    [FREE] = "Free",
    [NOT_OVERLAPPED] = "Communication(Not Overlapped)",
    [STEP] = "Step",
    [STAGE] = "Stage",
    [COMMUNICATION] = "Communication",
    [OVERLAPPED] = "Overlapped",
    [BUBBLE] = "Bubble",
    [PREPARING] = "Preparing",
};

enum { OP_TYPE, OP_COUNT, OP_TOTAL, SUM_COLUMNS };

static const ta_csv_name sum_columns[SUM_COLUMNS] = {
    [OP_TYPE] = "OP Type",
    [OP_COUNT] = "Count",
    [OP_TOTAL] = "Total Time(us)",
};

enum { START, DURATION, CORE, NAME, DEVICE, KERNEL_COLUMNS };

static const ta_csv_name kernel_columns[KERNEL_COLUMNS] = {
    [START] = "Start Time(us)",       [DURATION] = "Duration(us)",
    [CORE] = "Accelerator Core",      [NAME] = "Name",
    [DEVICE] = "Device_id|Device ID",
};

static const struct ta_csv_shape shapes[SHAPES] = {
    [SHAPE_STEPS] = {step_columns, STEP_COLUMNS, STEP + 1,
                     "Device_id|Communication(Not Overlapped and Exclude Receive)"},
    [SHAPE_SUMS] = {sum_columns, SUM_COLUMNS, SUM_COLUMNS,
                    "Device_id|Core Type|Min Time(us)|Avg Time(us)|Max Time(us)|Ratio(%)"},
    [SHAPE_KERNELS] = {kernel_columns, KERNEL_COLUMNS, NAME + 1,
                       "Step Id|Model ID|Task ID|Stream ID|Type|OP State|Wait Time(us)|Block Dim|"
                       "Mix Block Dim|HF32 Eligible|Input Shapes|Input Data Types|Input Formats|"
                       "Output Shapes|Output Data Types|Output Formats|Context ID"},
};

/* Times that overlap the parts of a step are no parts of it. */
static const struct {
    size_t column;
    const char *name;
} overlapping[] = {{COMMUNICATION, "communication_ns"},
                   {OVERLAPPED, "communication_overlapped_ns"},
                   {BUBBLE, "bubble_ns"},
                   {PREPARING, "preparing_ns"}};

enum { OVERLAPPING = sizeof overlapping / sizeof *overlapping };

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_csv *csv;
    ta_str kernel; /* the category */
    int64_t sums[OVERLAPPING];
    enum ta_status status;
};

/* ---- times per step ------------------------------------------------------------------------- */

/* Computing, communication that nothing hides, and idle time add up to the stage. */
static void add_part(struct reading *r, size_t column, const char *name, int64_t step)
{
    const int64_t dur_ns = ta_csv_decimal(r->csv, column, 3);
    if (r->status != TA_OK || dur_ns == TA_MISSING || dur_ns < 0)
        return;
    struct ta_timed_stage stage =
        ta_single_call(ta_builder_string(r->builder, ta_slice_of(name)), dur_ns);
    stage.device_ns = dur_ns;
    stage.step = step;
    r->status = ta_builder_add_stage(r->ctx, r->builder, &stage);
}

static void take_step(struct reading *r)
{
    const int64_t step = ta_csv_integer(r->csv, STEP);
    if (ta_csv_decimal(r->csv, COMPUTING, 3) == TA_MISSING &&
        ta_csv_decimal(r->csv, FREE, 3) == TA_MISSING) {
        ta_csv_drop(r->csv, "A step without times");
        return;
    }
    add_part(r, COMPUTING, "device/computing", step);
    add_part(r, NOT_OVERLAPPED, "device/communication_not_overlapped", step);
    add_part(r, FREE, "device/free", step);
    add_part(r, STAGE, "device/total", step);
    for (size_t i = 0; i < OVERLAPPING; i++)
        ta_sum(&r->sums[i], ta_csv_decimal(r->csv, overlapping[i].column, 3));
}

/* ---- sums and kernels ----------------------------------------------------------------------- */

static void take_sum(struct reading *r)
{
    const struct ta_slice name = ta_csv_text(r->csv, OP_TYPE);
    const int64_t total = ta_csv_decimal(r->csv, OP_TOTAL, 3);
    struct ta_operator_sum row = ta_unknown_operator_sum();
    row.name = ta_builder_string(r->builder, name);
    row.calls = ta_csv_integer(r->csv, OP_COUNT);
    row.self_device_ns = row.device_ns = total;
    if (name.len == 0 || total == TA_MISSING)
        ta_csv_drop(r->csv, "An operator without a name or a time");
    else
        r->status = ta_builder_add_operator_sum(r->ctx, r->builder, &row);
}

static void take_kernel(struct reading *r)
{
    const struct ta_slice name = ta_csv_text(r->csv, NAME);
    const struct ta_slice device = ta_csv_text(r->csv, DEVICE);
    /* As of events of a trace: the difference of any two times fits. */
    static const int64_t largest = (INT64_C(1) << 62) - (INT64_C(1) << 56);
    const struct ta_event event = {
        .phase = 'X',
        .has_ts = true,
        .has_dur = true,
        .ts_ns = ta_csv_decimal(r->csv, START, 3),
        .dur_ns = ta_csv_decimal(r->csv, DURATION, 3),
        .name = ta_builder_string(r->builder, name),
        .category = r->kernel,
        .pid = ta_builder_string(r->builder, device.len ? device : TA_LIT("0")),
        .tid = ta_builder_string(r->builder, ta_csv_text(r->csv, CORE)),
        .offset = r->csv->offset,
    };
    if (name.len == 0 || event.dur_ns == TA_MISSING || event.ts_ns <= -largest ||
        event.ts_ns >= largest)
        ta_csv_drop(r->csv, "A kernel without a name or a time");
    else
        r->status = ta_builder_add(r->ctx, r->builder, &event);
}

static enum ta_status read_table(struct ta_ctx *ctx, struct ta_reader *reader,
                                 struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder};
    for (size_t i = 0; i < OVERLAPPING; i++)
        r.sums[i] = TA_MISSING;
    r.kernel = ta_builder_string(builder, TA_LIT("kernel"));
    r.csv = ta_csv_new(ctx, reader, shapes, SHAPES);
    if (!r.csv)
        return ta_ctx_status(ctx);
    while (r.status == TA_OK && ta_csv_next(r.csv)) {
        if (r.csv->shape == SHAPE_STEPS)
            take_step(&r);
        else if (r.csv->shape == SHAPE_SUMS)
            take_sum(&r);
        else
            take_kernel(&r);
    }
    for (size_t i = 0; i < OVERLAPPING && r.status == TA_OK; i++) {
        const ta_str name = ta_builder_string(builder, ta_slice_of(overlapping[i].name));
        if (r.sums[i] != TA_MISSING)
            r.status = ta_rows_figure(ctx, builder, TA_MISSING, name, "device steps",
                                      (double)r.sums[i], TA_UNIT_NS);
    }
    /* Kernels are events, but not another trace of their rank. */
    ta_builder_set_copy(builder, TA_LIT("ascend"), TA_EXACT_FULL);
    return ta_csv_close(ctx, r.csv, builder, r.status);
}

/* ---- the note about the session -------------------------------------------------------------- */

static enum ta_status add_tag(struct ta_ctx *ctx, struct ta_builder *builder, const char *key,
                              const json_t *value)
{
    char buffer[256];
    const struct ta_slice text = ta_document_show(value, buffer, sizeof buffer);
    if (!value || json_is_null(value) || text.len == 0)
        return TA_OK;
    return ta_rows_tag(ctx, builder, ta_builder_string(builder, ta_slice_of(key)), text);
}

static enum ta_status read_note(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    json_t *root = ta_document_read(ctx, reader, builder);
    if (!root)
        return ta_ctx_status(ctx);
    const json_t *config = json_object_get(root, "config");
    const json_t *common = json_object_get(config, "common_config");
    const json_t *experimental = json_object_get(config, "experimental_config");
    const int64_t rank = ta_document_integer(json_object_get(root, "rank_id"));
    if (rank >= 0)
        ta_builder_set(builder, TA_SAYS_RANK, rank);
    enum ta_status status =
        add_tag(ctx, builder, "activities", json_object_get(common, "activities"));
    if (status == TA_OK)
        status = add_tag(ctx, builder, "profiler_level",
                         json_object_get(experimental, "_profiler_level"));
    json_decref(root);
    ta_builder_count(builder, 1, 0, 0);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool holds(struct ta_slice text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

static bool is_note(struct ta_slice head)
{
    return head.len && head.ptr[0] == '{' && holds(head, "\"rank_id\"") &&
           (holds(head, "\"start_info\"") || holds(head, "\"common_config\"")) &&
           !holds(head, "\"traceEvents\"");
}

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    if (is_note(head))
        return 91;
    if (head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[')
        return 0;
    return ta_csv_recognize(head, shapes, SHAPES) == SIZE_MAX ? 0 : 94;
}

static enum ta_status read_file(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    const struct ta_probe probe = ta_reader_probe(reader);
    return is_note(ta_text_trim(probe.head)) ? read_note(ctx, reader, builder)
                                             : read_table(ctx, reader, builder);
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_file};

TA_PLUGIN(input, ascend, &ops, .title = "Ascend profile",
          .summary = "Tables of an Ascend profiler folder: kernel_details, step_trace_time, "
                     "op_statistic, and profiler_info",
          .version = "1");
