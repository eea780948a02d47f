/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffulex's CSV files: section metrics, stage timing, operator rows, merged operator rows. */
#include "diffulex.h"

#include <traceanalyze/base.h>

#include <math.h>
#include <stdlib.h>

/* ---- shapes --------------------------------------------------------------------------------- */

enum { SHAPE_SECTIONS, SHAPE_STAGES, SHAPE_OPERATORS, SHAPE_MERGED, SHAPES };

enum { DURATION, RATE, TOKENS, SECTION, SECTION_COLUMNS };

static const ta_csv_name section_columns[SECTION_COLUMNS] = {
    [DURATION] = "duration_sec",
    [RATE] = "throughput_tokens_per_sec",
    [TOKENS] = "total_tokens",
    [SECTION] = "name",
};

enum { SCOPE, STAGE, CPU_MS, RANK, STEP, CUDA_MS, EXCEPTION, STAGE_COLUMNS };

static const ta_csv_name stage_columns[STAGE_COLUMNS] = {
    [SCOPE] = "scope", [STAGE] = "stage",     [CPU_MS] = "cpu_ms",       [RANK] = "rank",
    [STEP] = "step",   [CUDA_MS] = "cuda_ms", [EXCEPTION] = "exception",
};

enum {
    OP_SELF_CPU,
    OP_NAME,
    OP_COUNT,
    OP_CPU,
    OP_SELF_DEVICE,
    OP_DEVICE,
    OP_SELF_CPU_BYTES,
    OP_SELF_DEVICE_BYTES,
    OP_SHAPES,
    OP_PROFILE = OP_SHAPES, /* of merged rows */
    OP_FILE,
    OP_COLUMNS
};

static const ta_csv_name operator_columns[OP_FILE] = {
    [OP_SELF_CPU] = "self_cpu_time_total_us",
    [OP_NAME] = "name",
    [OP_COUNT] = "count",
    [OP_CPU] = "cpu_time_total_us",
    [OP_SELF_DEVICE] = "self_cuda_time_total_us",
    [OP_DEVICE] = "cuda_time_total_us",
    [OP_SELF_CPU_BYTES] = "self_cpu_memory_usage",
    [OP_SELF_DEVICE_BYTES] = "self_cuda_memory_usage",
    [OP_SHAPES] = "input_shapes",
};

static const ta_csv_name merged_columns[OP_COLUMNS] = {
    [OP_SELF_CPU] = "self_cpu_time_ms",
    [OP_NAME] = "name",
    [OP_COUNT] = "count",
    [OP_CPU] = "cpu_time_ms",
    [OP_SELF_DEVICE] = "self_cuda_time_ms",
    [OP_DEVICE] = "cuda_time_ms",
    [OP_SELF_CPU_BYTES] = "self_cpu_memory_usage",
    [OP_SELF_DEVICE_BYTES] = "self_cuda_memory_usage",
    [OP_PROFILE] = "profile_name",
    [OP_FILE] = "profile_file",
};

/* The needed columns of a kind come first. */
static const struct ta_csv_shape shapes[SHAPES] = {
    [SHAPE_SECTIONS] = {section_columns, SECTION_COLUMNS, SECTION_COLUMNS, NULL},
    [SHAPE_STAGES] = {stage_columns, STAGE_COLUMNS, RANK, "pid|device"},
    [SHAPE_OPERATORS] = {operator_columns, OP_FILE, OP_CPU, ""},
    [SHAPE_MERGED] = {merged_columns, OP_COLUMNS, OP_CPU, ""},
};

int dx_sniff_tables(struct ta_slice head)
{
    if (head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[')
        return 0;
    return ta_csv_recognize(head, shapes, SHAPES) == SIZE_MAX ? 0 : 95;
}

/* ---- sections ------------------------------------------------------------------------------- */

/* Columns other than the four are custom metrics and metadata. */
static void take_others(struct sections *s, struct ta_csv *csv, struct ta_slice name)
{
    static const char metadata[] = "metadata_";
    const size_t prefix = sizeof metadata - 1;
    for (size_t i = 0; i < csv->n_cells; i++) {
        const struct ta_slice key = csv->headers[i], value = ta_text_trim(csv->cells[i]);
        bool known = value.len == 0;
        for (size_t wanted = 0; wanted < SECTION_COLUMNS; wanted++)
            known |= ta_csv_column(csv, wanted) == i;
        if (known)
            continue;
        if (key.len > prefix && ta_slice_starts(key, metadata))
            dx_sections_tag(s, name, ta_slice_from(key, prefix), value);
        else
            dx_sections_metric(s, name, key, value);
    }
}

static void take_sections(struct reading *r, struct ta_csv *csv)
{
    struct sections s;
    dx_sections_begin(&s, r);
    while (r->status == TA_OK && ta_csv_next(csv)) {
        const struct section section = {
            .name = ta_csv_text(csv, SECTION),
            .dur_ns = ta_csv_decimal(csv, DURATION, 9),
            .seconds = ta_csv_double(csv, DURATION),
            .tokens = ta_csv_integer(csv, TOKENS),
            .tokens_per_s = ta_csv_double(csv, RATE),
            .gpu_change = NAN,
            .memory_change = TA_MISSING,
        };
        if (section.name.len == 0 && section.dur_ns == TA_MISSING) {
            ta_csv_drop(csv, "A section without a name and a duration");
            continue;
        }
        dx_sections_add(&s, &section);
        take_others(&s, csv, section.name);
    }
    dx_sections_end(&s, TA_EXACT_TABLE);
}

/* ---- stage timing --------------------------------------------------------------------------- */

static void take_stage(struct reading *r, struct ta_csv *csv)
{
    const struct ta_slice exception = ta_csv_text(csv, EXCEPTION);
    const int64_t dur_ns = ta_csv_decimal(csv, CPU_MS, 6);
    if (dur_ns == TA_MISSING || ta_csv_text(csv, STAGE).len == 0) {
        ta_csv_drop(csv, "A stage without a name or a time");
        return;
    }
    struct ta_timed_stage stage =
        ta_single_call(dx_join(r, ta_csv_text(csv, SCOPE), ta_csv_text(csv, STAGE)), dur_ns);
    if (ta_csv_has(csv, RANK)) {
        /* An empty cell is the engine, which is of no rank; text that is no rank is not believed.
         */
        const int64_t rank = ta_csv_text(csv, RANK).len ? ta_csv_integer(csv, RANK) : TA_NO_RANK;
        stage.rank = rank < 0 ? TA_NO_RANK : rank; /* TA_MISSING too */
    }
    stage.device_ns = ta_csv_decimal(csv, CUDA_MS, 6);
    stage.step = ta_csv_integer(csv, STEP);
    if (exception.len)
        stage.exception = ta_builder_string(r->builder, exception);
    if (r->status == TA_OK)
        r->status = ta_builder_add_stage(r->ctx, r->builder, &stage);
}

/* ---- operators ------------------------------------------------------------------------------ */

/* `shift`: of the unit of times to ns. */
static void take_operator(struct operators *o, struct ta_csv *csv, int shift, bool merged)
{
    struct reading *r = o->r;
    const struct ta_slice name = ta_csv_text(csv, OP_NAME);
    const struct ta_slice last = ta_csv_text(csv, OP_SHAPES); /* or OP_PROFILE */
    const bool has_shapes = !merged && last.len && !ta_slice_equal(last, TA_LIT("[]"));
    struct operator_row row = {.profile = TA_STR_ABSENT,
                               .is_marker = ta_slice_starts(name, "diffulex.")};
    row.sum = (struct ta_operator_sum){
        .rank = merged ? dx_rank_of_profile(last) : TA_MISSING,
        .name = ta_builder_string(r->builder, name),
        .shapes = has_shapes ? ta_builder_string(r->builder, last) : TA_STR_ABSENT,
        .calls = ta_csv_integer(csv, OP_COUNT),
        .self_cpu_ns = ta_csv_decimal(csv, OP_SELF_CPU, shift),
        .cpu_ns = ta_csv_decimal(csv, OP_CPU, shift),
        .self_device_ns = ta_csv_decimal(csv, OP_SELF_DEVICE, shift),
        .device_ns = ta_csv_decimal(csv, OP_DEVICE, shift),
        .self_cpu_bytes = ta_csv_integer(csv, OP_SELF_CPU_BYTES),
        .self_device_bytes = ta_csv_integer(csv, OP_SELF_DEVICE_BYTES),
        .flops = TA_MISSING,
    };
    if (merged)
        row.profile = ta_builder_string(r->builder, last);
    if (name.len == 0 || (row.sum.calls == TA_MISSING && row.sum.cpu_ns == TA_MISSING))
        ta_csv_drop(csv, "An operator without a name or figures");
    else
        dx_operators_add(o, &row);
}

static void take_operators(struct reading *r, struct ta_csv *csv)
{
    struct operators o;
    dx_operators_begin(&o, r);
    while (r->status == TA_OK && ta_csv_next(csv))
        take_operator(&o, csv, 3, false);
    dx_operators_end(&o, TA_EXACT_TABLE);
}

/* Adds the rows of traces whose profile has no rows of a summary. */
static void add_traced(struct operators *o, const struct operators *traced)
{
    struct ta_map summed = {0};
    for (size_t i = 0; i < o->n; i++)
        ta_map_at(&summed, o->at[i].profile, 1);
    for (size_t i = 0; i < traced->n && o->r->status == TA_OK; i++)
        if (!ta_map_find(&summed, traced->at[i].profile))
            dx_operators_add(o, &traced->at[i]);
    if (summed.failed && o->r->status == TA_OK)
        o->r->status = ta_fail(o->r->ctx, TA_ERR_NOMEM, "Cannot hold the profiles of a table");
    ta_map_free(&summed);
}

/* Operators appear twice: from the summary of a profile, and from its trace, which knows no self
 * times. */
static void take_merged(struct reading *r, struct ta_csv *csv)
{
    struct operators o, traced;
    dx_operators_begin(&o, r);
    dx_operators_begin(&traced, r);
    while (r->status == TA_OK && ta_csv_next(csv)) {
        const struct ta_slice file = ta_csv_text(csv, OP_FILE);
        const bool is_trace =
            ta_slice_ends(file, ".trace.json") || ta_slice_ends(file, ".trace.json.gz");
        take_operator(is_trace ? &traced : &o, csv, 6, true);
    }
    add_traced(&o, &traced);
    free(traced.at);
    /* The table of markers is a part of the table of operators. */
    dx_operators_merged(&o, !o.all_markers);
}

/* ---- the file ------------------------------------------------------------------------------- */

enum ta_status dx_read_tables(struct reading *r)
{
    struct ta_csv *csv = ta_csv_new(r->ctx, r->reader, shapes, SHAPES);
    if (!csv)
        return ta_ctx_status(r->ctx);
    if (csv->shape == SHAPE_SECTIONS)
        take_sections(r, csv);
    else if (csv->shape == SHAPE_OPERATORS)
        take_operators(r, csv);
    else if (csv->shape == SHAPE_MERGED)
        take_merged(r, csv);
    else
        while (r->status == TA_OK && ta_csv_next(csv))
            take_stage(r, csv);
    return ta_csv_close(r->ctx, csv, r->builder, r->status);
}
