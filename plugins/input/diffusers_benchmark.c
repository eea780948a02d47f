/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the benchmarks of diffusers write as CSV: a row per configuration of a model, timed as it is
 * and compiled.  Rows are runs of their own, so their times are of loops and no stages of
 * one run; cells of what was not tried are empty.  Gigabytes are of 2^30 bytes. */
#include "parse/text/csv.h"

#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

#include <math.h>
#include <stdio.h>

enum {
    SCENARIO,
    TIME,
    CLASS,
    PARAMETERS,
    MEMORY,
    COMPILED_TIME,
    COMPILED_MEMORY,
    FLOPS,
    FULL_GRAPH,
    MODE,
    COLUMNS
};

static const ta_csv_name columns[COLUMNS] = {
    [SCENARIO] = "scenario",
    [TIME] = "time_plain_s",
    [CLASS] = "model_cls",
    [PARAMETERS] = "num_params_B",
    [MEMORY] = "mem_plain_GB",
    [COMPILED_TIME] = "time_compile_s",
    [COMPILED_MEMORY] = "mem_compile_GB",
    [FLOPS] = "flops_G",
    [FULL_GRAPH] = "fullgraph",
    [MODE] = "mode",
};

static const struct ta_csv_shape shape = {columns, COLUMNS, TIME + 1,
                                          "flops_G|fullgraph|mode|github_sha"};

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    if (head.len == 0 || !memmem(head.ptr, head.len, "time_plain_s", strlen("time_plain_s")))
        return 0;
    return ta_csv_recognize(head, &shape, 1) == SIZE_MAX ? 0 : 90;
}

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_csv *csv;
    enum ta_status status;
    ta_str model; /* of the row before */
    int64_t parameters;
    bool is_useful; /* the row has a figure */
};

enum { NAME_MOST = 200 };

/* "flux-bf16", or "flux-bf16, compiled". */
static ta_str name_of(struct reading *r, bool is_compiled)
{
    char name[NAME_MOST + 16];
    const struct ta_slice scenario = ta_csv_text(r->csv, SCENARIO);
    snprintf(name, sizeof name, "%.*s%s", (int)ta_min_i64((int64_t)scenario.len, NAME_MOST),
             scenario.ptr, is_compiled ? ", compiled" : "");
    return ta_builder_string(r->builder, ta_slice_of(name));
}

/* One call of the model, as the mean that the benchmark has. */
static void add_time(struct reading *r, size_t column, bool is_compiled)
{
    struct ta_iterations row = ta_unknown_iterations();
    row.count = 1;
    row.total_ns = ta_csv_decimal(r->csv, column, 9);
    row.name = name_of(r, is_compiled);
    if (r->status != TA_OK || row.total_ns < 0) /* TA_MISSING is negative */
        return;
    r->status = ta_builder_add_iterations(r->ctx, r->builder, &row);
    r->is_useful = true;
}

static void add_memory(struct reading *r, size_t column, bool is_compiled)
{
    const double gib = ta_csv_double(r->csv, column);
    struct ta_memory_mark mark = ta_unknown_memory_mark();
    if (r->status != TA_OK || !(gib >= 0 && gib < 0x1p30))
        return;
    mark.label = name_of(r, is_compiled);
    mark.max_allocated_bytes = ta_whole(round(gib * 0x1p30));
    r->status = ta_builder_add_memory_mark(r->ctx, r->builder, &mark);
    r->is_useful = true;
}

/* Floating-point operations of a call, and the settings of the compiled one. */
static void add_details(struct reading *r)
{
    const double flops = ta_csv_double(r->csv, FLOPS) * 1e9;
    const struct ta_figure figure = {.rank = TA_MISSING,
                                     .name = ta_builder_string(r->builder, TA_LIT("flops")),
                                     .group = name_of(r, false),
                                     .value = flops,
                                     .unit = TA_UNIT_FLOP};
    if (r->status == TA_OK && flops >= 0 && isfinite(flops))
        r->status = ta_builder_add_figure(r->ctx, r->builder, &figure);
    static const size_t settings[] = {FULL_GRAPH, MODE};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct ta_slice value = ta_csv_text(r->csv, settings[i]);
        const struct ta_slice scenario = ta_csv_text(r->csv, SCENARIO);
        char key[NAME_MOST + 16];
        snprintf(key, sizeof key, "%.*s, %s", (int)ta_min_i64((int64_t)scenario.len, NAME_MOST),
                 scenario.ptr, columns[settings[i]]);
        const struct ta_tag tag = {.rank = TA_MISSING,
                                   .key = ta_builder_string(r->builder, ta_slice_of(key)),
                                   .value = ta_builder_string(r->builder, value)};
        if (r->status == TA_OK && value.len)
            r->status = ta_builder_add_tag(r->ctx, r->builder, &tag);
    }
}

/* Rows of one model follow each other.  The models are of runs of their own, and what a rank
 * has is added up. */
static void add_model(struct reading *r)
{
    const struct ta_slice name = ta_csv_text(r->csv, CLASS);
    const int64_t parameters = ta_csv_decimal(r->csv, PARAMETERS, 9);
    if (r->status != TA_OK || name.len == 0)
        return;
    const struct ta_model_info row = {.rank = TA_NO_RANK,
                                      .name = ta_builder_string(r->builder, name),
                                      .parameters = parameters >= 0 ? parameters : TA_MISSING};
    if (row.name == r->model && row.parameters == r->parameters)
        return;
    r->model = row.name;
    r->parameters = row.parameters;
    r->status = ta_builder_add_model(r->ctx, r->builder, &row);
}

static void take_row(struct reading *r)
{
    r->is_useful = false;
    add_time(r, TIME, false);
    add_time(r, COMPILED_TIME, true);
    add_memory(r, MEMORY, false);
    add_memory(r, COMPILED_MEMORY, true);
    if (r->is_useful) {
        add_model(r);
        add_details(r);
    } else {
        ta_csv_drop(r->csv, "A row without a figure");
    }
}

static enum ta_status read_benchmark(struct ta_ctx *ctx, struct ta_reader *reader,
                                     struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder, .model = TA_STR_ABSENT};
    r.csv = ta_csv_new(ctx, reader, &shape, 1);
    if (!r.csv)
        return ta_ctx_status(ctx);
    while (r.status == TA_OK && ta_csv_next(r.csv))
        take_row(&r);
    return ta_csv_close(ctx, r.csv, builder, r.status);
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_benchmark};

TA_PLUGIN(input, diffusers_benchmark, &ops, .title = "diffusers benchmark",
          .summary =
              "Benchmarks of diffusers as CSV: time, memory and size of models, eager and compiled",
          .version = "1");
