/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of an Ascend profiler folder beside its Chrome trace: kernels, times per step, sums per
 * operator, and the note about the session, which knows the rank. */
#include "parse/text/csv.h"

#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>
#include <traceanalyze/report.h>

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
    [SHAPE_STEPS] = {step_columns, STEP_COLUMNS, STEP + 1},
    [SHAPE_SUMS] = {sum_columns, SUM_COLUMNS, SUM_COLUMNS},
    [SHAPE_KERNELS] = {kernel_columns, KERNEL_COLUMNS, NAME + 1},
};

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_csv *csv;
    ta_str kernel; /* the category */
    int64_t sums[STEP_COLUMNS];
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
    static const size_t beside[] = {COMMUNICATION, OVERLAPPED, BUBBLE, PREPARING};
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
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const int64_t dur_ns = ta_csv_decimal(r->csv, beside[i], 3);
        int64_t *sum = &r->sums[beside[i]];
        if (dur_ns != TA_MISSING)
            *sum = *sum == TA_MISSING ? dur_ns : ta_add_sat(*sum, dur_ns);
    }
}

/* Times that overlap the parts of a step are no parts of it. */
static void add_sums(struct reading *r)
{
    static const struct {
        size_t column;
        const char *name;
    } figures[] = {{COMMUNICATION, "communication_ns"},
                   {OVERLAPPED, "communication_overlapped_ns"},
                   {BUBBLE, "bubble_ns"},
                   {PREPARING, "preparing_ns"}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures && r->status == TA_OK; i++) {
        if (r->sums[figures[i].column] == TA_MISSING)
            continue;
        const struct ta_figure figure = {
            .rank = TA_MISSING,
            .name = ta_builder_string(r->builder, ta_slice_of(figures[i].name)),
            .group = ta_builder_string(r->builder, TA_LIT("device steps")),
            .value = (double)r->sums[figures[i].column],
            .unit = TA_UNIT_NS,
        };
        r->status = ta_builder_add_figure(r->ctx, r->builder, &figure);
    }
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

/* As of events of a trace: the difference of any two times fits. */
static bool in_range(int64_t ts_ns)
{
    static const int64_t largest = (INT64_C(1) << 62) - (INT64_C(1) << 56);
    return ts_ns > -largest && ts_ns < largest;
}

static void take_kernel(struct reading *r)
{
    const struct ta_slice name = ta_csv_text(r->csv, NAME);
    const struct ta_slice device = ta_csv_text(r->csv, DEVICE);
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
    if (name.len == 0 || event.dur_ns == TA_MISSING || !in_range(event.ts_ns))
        ta_csv_drop(r->csv, "A kernel without a name or a time");
    else
        r->status = ta_builder_add(r->ctx, r->builder, &event);
}

static enum ta_status read_table(struct ta_ctx *ctx, struct ta_reader *reader,
                                 struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder};
    for (size_t i = 0; i < STEP_COLUMNS; i++)
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
    if (r.csv->shape == SHAPE_STEPS)
        add_sums(&r);
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
    const struct ta_tag tag = {
        .rank = TA_MISSING,
        .key = ta_builder_string(builder, ta_slice_of(key)),
        .value = ta_builder_string(builder, text),
    };
    return ta_builder_add_tag(ctx, builder, &tag);
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
        ta_builder_set_rank(builder, rank);
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
