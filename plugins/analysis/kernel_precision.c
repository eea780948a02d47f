/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.matrix_units and kernels.precision: do GEMMs use tensor cores, and in which type?  The
 * evidence is the name of the kernel; if it does not show the type, the inputs of the launching
 * operator do, if they were recorded. */
#include "model/kernel.h"

#include <traceanalyze/analysis.h>

enum { KIND, MATRIX, PRECISION, SOURCE, CALLS, TOTAL, VECTOR, THIN, FIELDS };
enum { BY_NAME, BY_OPERATOR, UNTOLD };

static const struct ta_field fields[FIELDS] = {
    [KIND] = {"class", TA_FIELD_INT},          [MATRIX] = {"matrix", TA_FIELD_INT},
    [PRECISION] = {"precision", TA_FIELD_INT}, [SOURCE] = {"source", TA_FIELD_INT},
    [CALLS] = {"calls", TA_FIELD_SUM},         [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [VECTOR] = {"vector_ns", TA_FIELD_SUM},    [THIN] = {"thin_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"products", fields, FIELDS}, {0}};

enum { UNITS_CLASS, UNITS_USE, UNITS_CALLS, UNITS_TOTAL, UNITS_SHARE };
static const struct ta_column matrix_units_columns[] = {
    [UNITS_CLASS] = {"class", "Class", TA_TEXT, .doc = "gemm, conv or attention"},
    [UNITS_USE] = {"matrix_unit", "Tensor cores", TA_TEXT,
                   .doc = "Whether the kernel uses tensor cores (matrix cores, MFMA, on AMD), by "
                          "its name: yes, no, or unknown if the name does not show it"},
    [UNITS_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of kernel executions"},
    [UNITS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                     .doc = "Sum of the kernel durations, all ranks"},
    [UNITS_SHARE] = {"share", "Share", TA_RATIO,
                     .doc = "Total as a share of the total of the class"},
};

static const struct ta_table_def matrix_units = {
    "kernels.matrix_units",
    "Tensor-core use (matrix cores on AMD)",
    TA_COLUMNS(matrix_units_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per class (GEMM, convolution, attention) and evidence in the names of its "
           "kernels. The scalar `matrix_unit_share` is the share of the time of `gemm` and `conv` "
           "that shows tensor cores.",
    .order = {&matrix_units_columns[UNITS_TOTAL], TA_DESCENDING}};

enum {
    PRECISION_CLASS,
    PRECISION_TYPE,
    PRECISION_SOURCE,
    PRECISION_CALLS,
    PRECISION_TOTAL,
    PRECISION_SHARE,
    PRECISION_VECTOR,
    PRECISION_THIN
};
static const struct ta_column precisions_columns[] = {
    [PRECISION_CLASS] = {"class", "Class", TA_TEXT, .doc = "gemm, conv or attention"},
    [PRECISION_TYPE] =
        {"precision", "Precision", TA_TEXT, .read_as = TA_AS_PRECISION,
         .doc = "Data type of the inputs: fp64, fp32, tf32 (fp32 rounded for tensor cores), fp16, "
                "bf16, fp8, int8, fp4, or unknown. Accumulation is often in a wider type"},
    [PRECISION_SOURCE] = {"source", "Type known from", TA_TEXT,
                          .doc = "How the type is known: name, of the kernel; operator, the first "
                                 "floating-point input of the operator that launched it"},
    [PRECISION_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of kernel executions"},
    [PRECISION_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                         .read_as = TA_AS_PRECISION_TIME,
                         .doc = "Sum of the kernel durations, all ranks"},
    [PRECISION_SHARE] = {"share", "Share", TA_RATIO,
                         .doc = "Total as a share of the total of the class"},
    [PRECISION_VECTOR] = {"vector_ns", "Without tensor cores", TA_NS, .better = TA_LOWER,
                          .doc = "Time of kernels whose names show that they do not use tensor "
                                 "cores; empty if there are none"},
    [PRECISION_THIN] = {"thin_ns", "Memory-bound part", TA_NS,
                        .doc = "Part of the time without tensor cores that is bound by memory "
                               "anyway: matrix-vector products and depthwise convolutions"},
};

static const struct ta_chart_def chart = {
    .id = "kernel-precision",
    .title = "Precision of GEMMs, convolutions and attention",
    .caption =
        "Device time by the type of the inputs, summed over all ranks. The type is known from "
        "the name of the kernel, or from the operator that launched it.",
    .kind = TA_CHART_BARS,
    .label = {&precisions_columns[PRECISION_TYPE], &precisions_columns[PRECISION_SOURCE]},
    .y = {{&precisions_columns[PRECISION_TOTAL], "Total", TA_INK_COMPUTE}},
    .group = &precisions_columns[PRECISION_CLASS],
};

static const struct ta_table_def precisions = {
    "kernels.precision",
    "GEMM precision",
    TA_COLUMNS(precisions_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per class (GEMM, convolution, attention), type of its inputs, and source of "
           "the type. Chart `kernel-precision`.",
    .chart = {&chart},
    .order = {&precisions_columns[PRECISION_TOTAL], TA_DESCENDING}};

/* ---- types of operators -------------------------------------------------------------------- */

/* The type that occurs first in the list of inputs, in the profiler's spelling. */
static enum ta_precision precision_of(struct ta_slice types)
{
    static const struct {
        const char *word;
        enum ta_precision precision;
    } words[] = {
        {"\"float\"", TA_PRECISION_FP32},       {"\"c10::BFloat16\"", TA_PRECISION_BF16},
        {"\"c10::Half\"", TA_PRECISION_FP16},   {"\"double\"", TA_PRECISION_FP64},
        {"\"c10::Float8_", TA_PRECISION_FP8},   {"\"c10::Float4_", TA_PRECISION_FP4},
        {"\"signed char\"", TA_PRECISION_INT8}, {"\"float16\"", TA_PRECISION_FP16},
        {"\"bfloat16\"", TA_PRECISION_BF16},
    };
    enum ta_precision first = TA_PRECISION_ANY;
    const char *end = ta_slice_end(types);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at =
            memmem(types.ptr, (size_t)(end - types.ptr), words[i].word, strlen(words[i].word));
        if (at) {
            first = words[i].precision;
            end = at; /* another type counts only if it comes earlier */
        }
    }
    return first;
}

struct types {
    const struct ta_trace *trace;
    struct ta_args args;
    struct ta_map known; /* by id of the text */
};

static enum ta_precision precision_of_op(struct types *types, ta_row op)
{
    const ta_str text = op == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(&types->args, op);
    if (text == TA_STR_ABSENT)
        return TA_PRECISION_ANY;
    uint64_t *known = ta_map_at(&types->known, text, UINT64_MAX);
    if (!known)
        return TA_PRECISION_ANY;
    if (*known == UINT64_MAX)
        *known = precision_of(ta_trace_text(types->trace, text));
    return (enum ta_precision) * known;
}

/* ---- map ----------------------------------------------------------------------------------- */

static bool is_product(enum ta_kernel_kind kind)
{
    return kind == TA_KERNEL_GEMM || kind == TA_KERNEL_CONV || kind == TA_KERNEL_ATTENTION;
}

/* Whether such kernels are bound by memory, whatever unit computes. */
static bool is_thin(const struct ta_kernel_facts *facts)
{
    static const char *const families[] = {"gemv", "dot", "depthwise", "causal"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(facts->family, families[i]) == 0)
            return true;
    return false;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    struct types types = {.trace = trace, .args = ta_trace_args(trace, "Input type")};
    struct ta_map rows = {0};
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL || !is_product(kernels.at[a->kernel].facts.kind))
            continue;
        const struct ta_kernel_facts *facts = &kernels.at[a->kernel].facts;
        enum ta_precision precision = facts->precision;
        int source = BY_NAME;
        if (precision == TA_PRECISION_ANY) {
            precision = precision_of_op(&types, a->op);
            source = precision == TA_PRECISION_ANY ? UNTOLD : BY_OPERATOR;
        }
        const uint64_t id = (uint64_t)facts->kind << 24 | (uint64_t)facts->matrix << 16 |
                            (uint64_t)precision << 8 | (uint64_t)source;
        int64_t *row = ta_partial_cached(
            out[0], &rows, id,
            (const struct ta_key[]){ta_key_int(facts->kind), ta_key_int(facts->matrix),
                                    ta_key_int(precision), ta_key_int(source)});
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[TOTAL], s.dur[a->span]);
        const int64_t vector_ns = facts->matrix == TA_MATRIX_NO ? s.dur[a->span] : 0;
        ta_sum(&row[VECTOR], vector_ns);
        ta_sum(&row[THIN], is_thin(facts) ? vector_ns : 0);
    }
    const bool failed = rows.failed || types.known.failed;
    ta_map_free(&rows);
    ta_map_free(&types.known);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index GEMMs") : TA_OK;
}

/* ---- tables -------------------------------------------------------------------------------- */

static struct ta_cell kind_cell(enum ta_kernel_kind kind)
{
    return ta_text(ta_slice_of(ta_kernel_kind_name(kind)));
}

enum {
    SUMS = 4
}; /* calls, their time, the part without tensor cores, the memory-bound part of it */

/* Sums of the rows of a class in which one field has a value; -1 means any value. */
static void add_up(const struct ta_partial *products, int64_t kind, int64_t matrix,
                   int64_t precision, int64_t source, int64_t sums[SUMS])
{
    memset(sums, 0, SUMS * sizeof *sums);
    for (size_t i = 0; i < ta_partial_rows(products); i++) {
        const int64_t *row = ta_partial_at(products, i);
        if ((kind >= 0 && row[KIND] != kind) || (matrix >= 0 && row[MATRIX] != matrix) ||
            (precision >= 0 && row[PRECISION] != precision) ||
            (source >= 0 && row[SOURCE] != source))
            continue;
        sums[0] += row[CALLS];
        sums[1] = ta_add_sat(sums[1], row[TOTAL]);
        sums[2] = ta_add_sat(sums[2], row[VECTOR]);
        sums[3] = ta_add_sat(sums[3], row[THIN]);
    }
}

static const enum ta_kernel_kind kinds[] = {TA_KERNEL_GEMM, TA_KERNEL_CONV, TA_KERNEL_ATTENTION};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A column of zeros alone is not shown. */
static struct ta_cell some(int64_t ns)
{
    return ns > 0 ? ta_int(ns) : ta_null();
}

static void add_precision(const struct ta_partial *products, struct ta_section_builder *out)
{
    static const char *const words[] = {"name", "operator", NULL};
    for (size_t k = 0; k < KINDS; k++)
        for (int precision = 0; precision < TA_PRECISION_COUNT; precision++)
            for (int source = BY_NAME; source <= UNTOLD; source++) {
                int64_t all[SUMS], part[SUMS];
                add_up(products, kinds[k], -1, -1, -1, all);
                add_up(products, kinds[k], -1, precision, source, part);
                const char *name = ta_precision_name((enum ta_precision)precision);
                if (part[0])
                    TA_ROW(out, precisions, [PRECISION_CLASS] = kind_cell(kinds[k]),
                           [PRECISION_TYPE] = ta_text(ta_slice_of(name)),
                           [PRECISION_SOURCE] =
                               words[source] ? ta_text(ta_slice_of(words[source])) : ta_null(),
                           [PRECISION_CALLS] = ta_int(part[0]), [PRECISION_TOTAL] = ta_int(part[1]),
                           [PRECISION_SHARE] = ta_share(part[1], all[1]),
                           [PRECISION_VECTOR] = some(part[2]), [PRECISION_THIN] = some(part[3]));
            }
}

static const struct ta_scalar_def scalar = {
    "matrix_unit_share", "Tensor-core use", TA_UNIT_RATIO, TA_HIGHER,
    .doc = "Share of the GEMM and convolution time in kernels whose names show tensor-core "
           "instructions (matrix cores on AMD)"};

/* Share for GEMMs and convolutions; attention is left out because other things bound it as well. */
static void add_share(const struct ta_partial *products, bool is_amd,
                      struct ta_section_builder *out)
{
    int64_t all = 0, yes = 0, no = 0;
    for (size_t k = 0; k < 2; k++) {
        int64_t sums[SUMS];
        add_up(products, kinds[k], -1, -1, -1, sums);
        all = ta_add_sat(all, sums[1]);
        add_up(products, kinds[k], TA_MATRIX_YES, -1, -1, sums);
        yes = ta_add_sat(yes, sums[1]);
        add_up(products, kinds[k], TA_MATRIX_NO, -1, -1, sums);
        no = ta_add_sat(no, sums[1]);
    }
    if (yes + no == 0) /* no name shows it, as on devices other than NVIDIA's and AMD's */
        return;
    ta_word_scalar(out, &scalar, ta_share(yes, all), is_amd ? "Matrix-core use" : NULL, NULL);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    /* AMD calls them matrix cores. */
    add_share(merged[0], ta_run_is_amd(ta_report_run(in->report)), out);
    static const char *const words[] = {
        [TA_MATRIX_ANY] = "unknown", [TA_MATRIX_YES] = "yes", [TA_MATRIX_NO] = "no"};
    for (size_t k = 0; k < KINDS; k++)
        for (int matrix = TA_MATRIX_ANY; matrix <= TA_MATRIX_NO; matrix++) {
            int64_t all[SUMS], part[SUMS];
            add_up(merged[0], kinds[k], -1, -1, -1, all);
            add_up(merged[0], kinds[k], matrix, -1, -1, part);
            if (part[0])
                TA_ROW(out, matrix_units, [UNITS_CLASS] = kind_cell(kinds[k]),
                       [UNITS_USE] = ta_text(ta_slice_of(words[matrix])),
                       [UNITS_CALLS] = ta_int(part[0]), [UNITS_TOTAL] = ta_int(part[1]),
                       [UNITS_SHARE] = ta_share(part[1], all[1]));
        }
    add_precision(merged[0], out);
    return TA_OK;
}

static const char *const needs_args[] = {"Input type", NULL};
static const struct ta_table_def *const tables[] = {&matrix_units, &precisions, NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 3,
                                           .scalars = &scalar,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, kernel_precision, &ops, .title = "Tensor cores and precision",
          .summary = "Whether GEMMs use tensor cores, and in which type: kernels.matrix_units, "
                     "kernels.precision",
          .version = "2");
