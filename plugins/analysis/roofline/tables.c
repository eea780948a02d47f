/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the roofline, and the model FLOPs utilization (MFU). */
#include "hardware/hardware.h"
#include "roofline.h"

#include <traceanalyze/dump.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BY_OP_NAME,
    BY_OP_CLASS,
    BY_OP_SHAPE,
    BY_OP_TYPE,
    BY_OP_CALLS,
    BY_OP_BUSY,
    BY_OP_EFFICIENCY,
    BY_OP_BOUND,
    BY_OP_FLOP_RATE,
    BY_OP_BYTE_RATE,
    BY_OP_INTENSITY,
    BY_OP_ABOVE_ROOF,
    BY_OP_FLOP,
    BY_OP_BYTES,
    BY_OP_KERNELS,
    BY_OP_UNIT,
    BY_OP_PEAK_FLOP_RATE,
    BY_OP_PEAK_BYTE_RATE,
    BY_OP_ATTAINABLE_FLOP_RATE,
    BY_OP_MATRIX_FLOP_RATE,
    BY_OP_DEVICE
};
static const struct ta_column roofline_by_op_columns[] = {
    [BY_OP_NAME] = {"name", "Operator", TA_TEXT,
                    .doc = "Innermost operator around the launch that has a formula"},
    [BY_OP_CLASS] = {"class", "Class", TA_TEXT,
                     .doc = "Kind of operator: gemm, conv, attention, norm, softmax, elementwise, "
                            "reduce, copy, or triton (generated)"},
    [BY_OP_SHAPE] = {"shape", "Shape", TA_TEXT,
                     .doc = "Sizes that determine its work: for GEMMs M, N and K with the batch, "
                            "for other operators the sizes of the largest tensor"},
    [BY_OP_TYPE] = {"type", "Type", TA_TEXT, .doc = "Data type that is computed on"},
    [BY_OP_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Calls that launched a kernel, all ranks"},
    [BY_OP_BUSY] = {"busy_ns", "Time", TA_NS, .better = TA_LOWER,
                    .doc = "Time with at least one of its kernels running, summed over devices"},
    [BY_OP_EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                          .doc = "Shortest time that the device's peaks allow, divided by the "
                                 "measured time; above 1 if caches keep what is read"},
    [BY_OP_BOUND] =
        {"bound", "Bound", TA_TEXT,
         .doc = "Which peak is the limit: compute, or memory if bandwidth limits it first"},
    [BY_OP_FLOP_RATE] = {"flop_rate", "FLOP rate", TA_TYPE_NUMBER, TA_UNIT_FLOP_PER_S,
                         .better = TA_HIGHER, .doc = "FLOPs of all calls over their time"},
    [BY_OP_BYTE_RATE] = {"byte_rate", "Traffic rate", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                         .better = TA_HIGHER, .doc = "Traffic of all calls over their time"},
    [BY_OP_INTENSITY] = {"intensity", "FLOP per byte", TA_NUMBER, .doc = "FLOPs over traffic"},
    [BY_OP_ABOVE_ROOF] = {"above_roof_ns", "Above roof", TA_NS, .better = TA_LOWER,
                          .doc = "Measured time minus the shortest time that the peaks allow"},
    [BY_OP_FLOP] =
        {"flop", "FLOPs", TA_TYPE_INTEGER, TA_UNIT_FLOP, .detail = true,
         .doc = "FLOPs per call from its shapes; a multiplication and an addition count one each; "
                "0 if it computes nothing in floating point; empty if only the bytes are known"},
    [BY_OP_BYTES] = {"bytes", "Traffic", TA_BYTES, .detail = true,
                     .doc = "Bytes per call, with each tensor read or written once"},
    [BY_OP_KERNELS] = {"kernels", "Kernels", TA_COUNT, .detail = true,
                       .doc = "Kernels that these calls launched"},
    [BY_OP_UNIT] = {"unit", "Unit", TA_TEXT, .detail = true, .role = TA_UNIT_OF_ROW,
                    .doc = "Peak that limits it: the data type and, for fp32 and fp64, whether on "
                           "tensor cores, from the kernel names"},
    [BY_OP_PEAK_FLOP_RATE] = {"peak_flop_rate", "Peak FLOP rate", TA_TYPE_NUMBER,
                              TA_UNIT_FLOP_PER_S, .detail = true,
                              .doc = "Dense peak FLOP rate of that unit"},
    [BY_OP_PEAK_BYTE_RATE] = {"peak_byte_rate", "Peak bandwidth", TA_TYPE_NUMBER,
                              TA_UNIT_BYTES_PER_S, .detail = true,
                              .doc = "Peak bandwidth of the device memory"},
    [BY_OP_ATTAINABLE_FLOP_RATE] =
        {"attainable_flop_rate", "Attainable FLOP rate", TA_TYPE_NUMBER, TA_UNIT_FLOP_PER_S,
         .detail = true,
         .doc = "Peak FLOP rate, or FLOPs per byte times peak bandwidth if that is less"},
    [BY_OP_MATRIX_FLOP_RATE] = {"matrix_flop_rate", "Tensor-core peak", TA_TYPE_NUMBER,
                                TA_UNIT_FLOP_PER_S, .detail = true,
                                .doc = "For GEMMs that run without tensor cores: peak FLOP rate of "
                                       "the tensor cores, in fp32 or TF32, otherwise fp16"},
    [BY_OP_DEVICE] = {"device", "Device", TA_TEXT, .doc = "Device name in the trace"},
};

static const struct ta_chart_def chart = {
    .id = "roofline",
    .title = "Roofline",
    .caption = "Roofline of operators with known shapes, all ranks: FLOP rate by FLOPs per byte, "
               "below the limits of the device.",
    .kind = TA_CHART_SCATTER,
    .label = {&roofline_by_op_columns[BY_OP_NAME], &roofline_by_op_columns[BY_OP_SHAPE]},
    .x = &roofline_by_op_columns[BY_OP_INTENSITY],
    .y = {{&roofline_by_op_columns[BY_OP_FLOP_RATE], "FLOP rate", TA_INK_NONE}},
    .group = &roofline_by_op_columns[BY_OP_CLASS],
    .size = &roofline_by_op_columns[BY_OP_BUSY],
    .roof = {&roofline_by_op_columns[BY_OP_PEAK_FLOP_RATE],
             &roofline_by_op_columns[BY_OP_PEAK_BYTE_RATE], &roofline_by_op_columns[BY_OP_UNIT]},
    .top = 100,
};

const struct ta_table_def roofline_by_op = {
    "roofline.by_op",
    "Roofline by operator",
    TA_COLUMNS(roofline_by_op_columns),
    .doc = "One row per operator, shape and data type, on devices of one kind: its FLOPs and "
           "traffic compared with the device's peaks. Chart `roofline`: FLOP rate over FLOPs per "
           "byte, both logarithmic, below the lines given by peak and bandwidth.\n\nA kernel "
           "belongs to the innermost operator around its launch that has a formula; a call counts "
           "its work once, whatever the number of its kernels. Communication kernels and driver "
           "copies are left out. Bytes count each tensor read or written once, as with a perfect "
           "cache; a bias, mask or result counts in its own type. Shapes come from `Input Dims`, "
           "`Input type` and `Concrete Inputs`: record with `record_shapes=True`.\n\n| operators | "
           "FLOPs | |---|---| | mm, addmm, bmm, baddbmm, mv, matmul, linear, scaled and grouped "
           "matmuls | 2·B·M·N·K; B·M·N more for a bias, unless beta is 0 | | convolutions | 2 · "
           "output elements · filter elements per entry of its first dimension (channels of a "
           "group × kernel size); transposed: input elements instead. One per output element for a "
           "bias | | convolutions, backward | the same for each requested gradient of input and "
           "weight | | attention (SDPA and its backends, flash-attn) | 2·B·H·pairs·(d of queries + "
           "d of values), pairs of a query and a key that it may attend to: Nq·Nk; causal "
           "attention: half of a square, of a rectangle the part below the diagonal from its first "
           "corner (memory-efficient, cuDNN, math) or to its last (flash); a window: the pairs "
           "inside | | attention, backward | 2·B·H·pairs·(3 d of queries + 2 d of values): queries "
           "by keys once more, since no backend keeps them | | elementwise operators, softmax, "
           "norms, reductions | a few per element, rounded: 1 for a sum, 5 for softmax, 7 for a "
           "norm; 0 on integers | | copies, fills | 0 | | generated kernels (`triton_…`) | "
           "unknown; bytes of their operands | | compiler templates (`triton_tem_…`) | FLOPs "
           "and bytes of the GEMM or convolution, if only one fits the sizes of the buffers | | "
           "mixtures of "
           "experts (vLLM's `fused_experts`, aiter's `fused_moe_`) | 2 · rows · experts per row · "
           "weight elements per expert, if all experts are on the device and each gets at least "
           "eight rows |\n\nProfilers before `Concrete Inputs` record no strides: a convolution "
           "then gets the output size that the gradients of the same input and weight show.",
    .tier = TA_TIER_CHART,
    .chart = {&chart},
    .order = {&roofline_by_op_columns[BY_OP_BUSY], TA_DESCENDING}};

enum {
    BY_KERNEL_NAME,
    BY_KERNEL_CALLS,
    BY_KERNEL_TOTAL,
    BY_KERNEL_EFFICIENCY,
    BY_KERNEL_BOUND,
    BY_KERNEL_ABOVE_ROOF
};
static const struct ta_column roofline_by_kernel_columns[] = {
    [BY_KERNEL_NAME] = {"name", "Kernel", TA_TEXT, .doc = "Name of the kernel"},
    [BY_KERNEL_CALLS] = {"calls", "Calls", TA_COUNT,
                         .doc = "Executions that were all that a call with known work launched"},
    [BY_KERNEL_TOTAL] = {"total_ns", "Time", TA_NS, .better = TA_LOWER,
                         .doc = "Sum of their durations, all ranks"},
    [BY_KERNEL_EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                              .doc = "Shortest time that the peaks allow over the time; above 1 "
                                     "when caches keep what is read"},
    [BY_KERNEL_BOUND] = {"bound", "Bound", TA_TEXT,
                         .doc = "compute, or memory where bandwidth bounds it before the unit "
                                "does: what bounds most of the time"},
    [BY_KERNEL_ABOVE_ROOF] = {"above_roof_ns", "Above roof", TA_NS, .better = TA_LOWER,
                              .doc = "Time minus the shortest that the peaks allow"},
};

const struct ta_table_def roofline_by_kernel = {
    "roofline.by_kernel",
    "Roofline by kernel",
    TA_COLUMNS(roofline_by_kernel_columns),
    .doc = "One row per kernel name, all ranks: the calls of `roofline.by_op` that launched this "
           "kernel and nothing else, so that their work is its own. Calls that launch several "
           "kernels are left out.",
    .tier = TA_TIER_DETAIL,
    .order = {&roofline_by_kernel_columns[BY_KERNEL_TOTAL], TA_DESCENDING}};

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_MFU,
    BY_RANK_PEAK_SHARE,
    BY_RANK_WINDOW_MFU,
    BY_RANK_FLOP,
    BY_RANK_FLOP_SHARE,
    BY_RANK_KNOWN_SHARE,
    BY_RANK_KERNEL,
    BY_RANK_BUSY,
    BY_RANK_WINDOW,
    BY_RANK_PROGRAM_WINDOW,
    BY_RANK_UNIT,
    BY_RANK_PEAK_FLOP_RATE,
    BY_RANK_NAME,
    BY_RANK_HARDWARE,
    BY_RANK_SOURCE,
    BY_RANK_MATRIX_UNIT,
    BY_RANK_PRODUCT_SHARE,
    BY_RANK_CAPABILITY
};
static const struct ta_column roofline_by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN_OF("Device number"),
    [BY_RANK_MFU] = {"mfu", "MFU", TA_RATIO, .better = TA_HIGHER, .weight = 0.5,
                     .doc = "Model FLOPs utilization: FLOPs divided by (the program's window × "
                            "peak); a lower bound, since unknown FLOPs count as none"},
    [BY_RANK_PEAK_SHARE] = {"busy_peak_share", "Share of peak while busy", TA_RATIO,
                            .better = TA_HIGHER, .doc = "FLOPs divided by (busy time × peak)"},
    [BY_RANK_WINDOW_MFU] = {"window_mfu", "Device-window MFU", TA_RATIO, .better = TA_HIGHER,
                            .doc = "FLOPs divided by (the device's window × peak)"},
    [BY_RANK_FLOP] = {"flop", "FLOPs", TA_TYPE_NUMBER, TA_UNIT_FLOP, .weight = 0.3,
                      .read_as = TA_AS_FLOP, .doc = "Sum of the known FLOPs"},
    [BY_RANK_FLOP_SHARE] = {"flop_share", "FLOPs known", TA_RATIO, .better = TA_HIGHER,
                            .doc = "Share of the kernel time whose FLOPs are known"},
    [BY_RANK_KNOWN_SHARE] = {"known_share", "Bytes known", TA_RATIO, .better = TA_HIGHER,
                             .doc = "Share of the kernel time whose traffic is known"},
    [BY_RANK_KERNEL] = {"kernel_ns", "Kernel time", TA_NS, .better = TA_LOWER,
                        .doc = "Sum of kernel durations, without communication"},
    [BY_RANK_BUSY] = {"busy_ns", "Busy", TA_NS, .better = TA_LOWER,
                      .doc = "Time with at least one activity running"},
    [BY_RANK_WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER,
                        .doc = "From the start of the first activity to the end of the last"},
    [BY_RANK_PROGRAM_WINDOW] =
        {"program_window_ns", "Program's window", TA_NS, .better = TA_LOWER,
         .doc = "From the first to the last work of the program on host and devices"},
    [BY_RANK_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW,
                      .doc = "Data type, and unit, in which most of the FLOPs are computed"},
    [BY_RANK_PEAK_FLOP_RATE] = {"peak_flop_rate", "Peak", TA_TYPE_NUMBER, TA_UNIT_FLOP_PER_S,
                                .doc = "Dense peak FLOP rate of that unit"},
    [BY_RANK_NAME] = {"name", "Name", TA_ID, .role = TA_NOTE, .doc = "Device name in the trace"},
    [BY_RANK_HARDWARE] = {"hardware", "Hardware", TA_TEXT, .role = TA_NOTE,
                          .doc = "Entry of the device list, or from --hardware"},
    [BY_RANK_SOURCE] = {"source", "Source", TA_TEXT, .role = TA_NOTE,
                        .doc = "Where these peaks are published, or why none are known"},
    [BY_RANK_MATRIX_UNIT] =
        {"matrix_unit", "Tensor cores", TA_ID, .role = TA_NOTE,
         .doc = "Data type in which tensor cores take fp32 inputs: fp32_matrix, tf32, otherwise "
                "fp16; empty if they are not faster or no peaks are known"},
    [BY_RANK_PRODUCT_SHARE] =
        {"product_share", "GEMM time with known FLOPs", TA_RATIO, .better = TA_HIGHER,
         .detail = true,
         .doc = "Share of the time of GEMMs, convolutions and attention whose FLOPs are known"},
    [BY_RANK_CAPABILITY] =
        {"capability", "Architecture", TA_NUMBER, .role = TA_NOTE, .detail = true,
         .doc =
             "Architecture version from the trace or the device list: 8.0 for Ampere, 9.0 for "
             "Hopper and CDNA 2, 9.4 for CDNA 3; empty if the trace contradicts the device name"},
};

const struct ta_table_def roofline_by_rank = {
    "roofline.by_rank",
    "FLOPs utilization by rank",
    TA_COLUMNS(roofline_by_rank_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device with kernels. Peaks come from the [device "
           "list](../src/hardware/devices.yaml), which has dense rates and a source for each "
           "entry, by the name, multiprocessor count and memory in the trace; `--hardware NAME` "
           "takes another entry, `--hardware FILE` reads more. For a device that is not in the "
           "list, or of which the trace shows only a part, shares of peak are empty. Scalars `mfu` "
           "and `busy_peak_share` sum up the ranks.",
    .rank_words = "Roofline"};

enum { UNKNOWN_NAME, UNKNOWN_REASON, UNKNOWN_CALLS, UNKNOWN_KERNELS, UNKNOWN_TOTAL, UNKNOWN_SHARE };
static const struct ta_column roofline_unknown_columns[] = {
    [UNKNOWN_NAME] =
        {"name", "Operator", TA_TEXT,
         .doc =
             "Operator around the launch, or the launching call; empty if the launch is unknown"},
    [UNKNOWN_REASON] =
        {"reason", "Reason", TA_WORD,
         .doc = "Why the FLOPs are unknown: no_operator, graph_launch, no_formula, no_shapes, "
                "no_types (of a list of tensors, for instance), no_arguments (strides and the "
                "like), no_lengths (of sequences that differ), unusable_shapes, too_large, or "
                "inner_operator (an operator inside it has the work)"},
    [UNKNOWN_CALLS] = {"calls", "Calls", TA_COUNT,
                       .doc = "Calls that launched a kernel, all ranks"},
    [UNKNOWN_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                         .doc = "Kernels that these calls launched"},
    [UNKNOWN_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .doc = "Sum of the durations of these kernels"},
    [UNKNOWN_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                       .doc =
                           "Their time divided by the time of all kernels without communication"},
};

const struct ta_table_def roofline_unknown = {
    "roofline.unknown",
    "Kernels without known FLOPs",
    TA_COLUMNS(roofline_unknown_columns),
    .doc = "One row per operator and reason: the kernels whose FLOPs are unknown, so that the "
           "shares of this table and `roofline.by_op` add up to all kernel time.",
    .tier = TA_TIER_DETAIL,
    .order = {&roofline_unknown_columns[UNKNOWN_TOTAL], TA_DESCENDING}};

/* ---- peaks ---------------------------------------------------------------------------------- */

/* fp32 and fp64 run on matrix units where the kernels say so, and where they do not say but the
 * device has them for this type itself; TF32, which rounds the inputs, must be said. */
static enum ta_peak peak_of_product(const struct ta_hardware *hardware, enum ta_precision precision,
                                    enum evidence evidence)
{
    static const enum ta_peak matrix[] = {
        [TA_PRECISION_FP16] = TA_PEAK_FP16, [TA_PRECISION_BF16] = TA_PEAK_BF16,
        [TA_PRECISION_FP8] = TA_PEAK_FP8,   [TA_PRECISION_INT8] = TA_PEAK_INT8,
        [TA_PRECISION_FP4] = TA_PEAK_FP4,
    };
    const bool vector = evidence == EVIDENCE_VECTOR;
    if (precision == TA_PRECISION_FP64)
        return !vector && hardware->flop_per_s[TA_PEAK_FP64_MATRIX] > 0 ? TA_PEAK_FP64_MATRIX
                                                                        : TA_PEAK_FP64;
    if (precision != TA_PRECISION_FP32)
        return matrix[precision];
    if (evidence == EVIDENCE_TF32)
        return TA_PEAK_TF32;
    if (!vector && hardware->flop_per_s[TA_PEAK_FP32_MATRIX] > 0)
        return TA_PEAK_FP32_MATRIX;
    return evidence == EVIDENCE_MATRIX ? TA_PEAK_TF32 : TA_PEAK_FP32;
}

/* Which peak bounds work of a class and type; false when the device has none for it. */
static bool bounding_peak(const struct ta_hardware *hardware, enum work_class class,
                          const struct type *type, enum evidence evidence, enum ta_peak *peak)
{
    if (!type || type->precision == TA_PRECISION_ANY)
        return false;
    if (work_is_product(class))
        *peak = peak_of_product(hardware, type->precision, evidence);
    else if (type->precision == TA_PRECISION_INT8)
        return false;
    else /* narrow types are computed on as fp32 */
        *peak = type->precision == TA_PRECISION_FP64 ? TA_PEAK_FP64 : TA_PEAK_FP32;
    return hardware->flop_per_s[*peak] > 0;
}

static const struct type *type_of(const struct ta_partial *partial, const int64_t *row,
                                  size_t field)
{
    const struct ta_slice name = ta_partial_text(partial, row, field);
    return name.len ? type_named(name.ptr) : NULL;
}

static const struct ta_hardware *hardware_of(struct ta_ctx *ctx, const struct ta_partial *partial,
                                             const int64_t *row, size_t name, const char **why)
{
    const struct ta_device device = {.id = TA_MISSING,
                                     .name = ta_partial_text(partial, row, name),
                                     .multiprocessors = row[name + 1],
                                     .memory_bytes = row[name + 2]};
    return ta_ctx_hardware(ctx, &device, why);
}

/* ---- operators ------------------------------------------------------------------------------ */

static enum evidence main_evidence(const int64_t *row)
{
    int most = 0;
    for (int e = 1; e < EVIDENCES; e++)
        most = row[OP_EVIDENCE + e] > row[OP_EVIDENCE + most] ? e : most;
    return (enum evidence)most;
}

/* Of fp32 inputs that are rounded to what tensor cores take; that of vector units without faster
 * ones. */
static enum ta_peak matrix_peak(const struct ta_hardware *hardware)
{
    static const enum ta_peak peaks[] = {TA_PEAK_FP32_MATRIX, TA_PEAK_TF32, TA_PEAK_FP16};
    for (size_t i = 0; i < TA_LENGTH(peaks); i++)
        if (hardware->flop_per_s[peaks[i]] > hardware->flop_per_s[TA_PEAK_FP32])
            return peaks[i];
    return TA_PEAK_FP32;
}

static const char *matrix_unit(const struct ta_hardware *hardware)
{
    const enum ta_peak peak = hardware ? matrix_peak(hardware) : TA_PEAK_FP32;
    return peak == TA_PEAK_FP32 ? NULL : ta_peak_name(peak);
}

/* What a device allows for the calls of a row; NAN where it is not known. */
struct bounds {
    const char *unit;
    double flop_rate, byte_rate; /* peaks */
    double matrix_flop_rate;     /* what a product on vector units leaves unused */
    double shortest_ns;          /* for all calls */
    const char *bound;
};

static struct bounds bounds_of(struct ta_ctx *ctx, const struct ta_partial *ops, const int64_t *row)
{
    struct bounds b = {
        .flop_rate = NAN, .byte_rate = NAN, .matrix_flop_rate = NAN, .shortest_ns = NAN};
    const char *why;
    enum ta_peak peak;
    const struct ta_hardware *hardware = hardware_of(ctx, ops, row, OP_DEVICE, &why);
    const double calls = (double)row[OP_CALLS], bytes = (double)row[OP_BYTES] * calls;
    if (!hardware)
        return b;
    if (hardware->bytes_per_s > 0)
        b.byte_rate = hardware->bytes_per_s;
    const bool computes = row[OP_FLOP] != TA_MISSING && row[OP_FLOP] > 0;
    if (computes && bounding_peak(hardware, (enum work_class)row[OP_CLASS],
                                  type_of(ops, row, OP_TYPE), main_evidence(row), &peak)) {
        b.flop_rate = hardware->flop_per_s[peak];
        b.unit = ta_peak_name(peak);
        if (work_is_product((enum work_class)row[OP_CLASS]) && peak == TA_PEAK_FP32 &&
            main_evidence(row) == EVIDENCE_VECTOR)
            b.matrix_flop_rate =
                matrix_unit(hardware) ? hardware->flop_per_s[matrix_peak(hardware)] : (double)NAN;
    }
    const double memory_ns = bytes / b.byte_rate * 1e9;
    if (!computes) { /* what a generated kernel computes is not known; it hardly bounds it */
        b.shortest_ns = memory_ns;
    } else {
        const double compute_ns = (double)row[OP_FLOP] * calls / b.flop_rate * 1e9;
        if (!isnan(compute_ns) && !isnan(memory_ns)) {
            b.shortest_ns = fmax(compute_ns, memory_ns);
            b.bound = compute_ns > memory_ns ? "compute" : "memory";
        }
    }
    if (!computes && !isnan(memory_ns))
        b.bound = "memory";
    return b;
}

static struct ta_cell text_or_null(const char *text)
{
    return text ? ta_text(ta_slice_of(text)) : ta_null();
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Rows of one kernel follow each other: partials are in the order of their keys. */
static bool is_same_kernel(const struct ta_partial *kernels, size_t a, size_t b)
{
    return ta_slice_equal(ta_partial_text(kernels, ta_partial_at(kernels, a), OP_NAME),
                          ta_partial_text(kernels, ta_partial_at(kernels, b), OP_NAME));
}

/* A kernel with a bound in none of its calls is left out. */
static void add_kernels(struct ta_ctx *ctx, const struct ta_partial *kernels,
                        struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(kernels);
    for (size_t first = 0, end; first < n; first = end) {
        double shortest_ns = 0, above_ns = 0;
        int64_t calls = 0, total_ns = 0, memory_ns = 0;
        for (end = first; end < n && is_same_kernel(kernels, first, end); end++) {
            const int64_t *row = ta_partial_at(kernels, end);
            const struct bounds b = bounds_of(ctx, kernels, row);
            if (isnan(b.shortest_ns))
                continue;
            calls = ta_add_sat(calls, row[OP_CALLS]);
            total_ns = ta_add_sat(total_ns, row[OP_BUSY]);
            memory_ns = ta_add_sat(memory_ns, strcmp(b.bound, "memory") == 0 ? row[OP_BUSY] : 0);
            shortest_ns += b.shortest_ns;
            above_ns += fmax(0, (double)row[OP_BUSY] - b.shortest_ns);
        }
        if (total_ns <= 0)
            continue;
        TA_ROW(out, roofline_by_kernel,
               [BY_KERNEL_NAME] =
                   ta_text(ta_partial_text(kernels, ta_partial_at(kernels, first), OP_NAME)),
               [BY_KERNEL_CALLS] = ta_int(calls), [BY_KERNEL_TOTAL] = ta_int(total_ns),
               [BY_KERNEL_EFFICIENCY] = ta_num(shortest_ns / (double)total_ns),
               [BY_KERNEL_BOUND] =
                   text_or_null(memory_ns > total_ns - memory_ns ? "memory" : "compute"),
               [BY_KERNEL_ABOVE_ROOF] = ta_int(ta_whole(above_ns)));
    }
}

/* ---- devices -------------------------------------------------------------------------------- */

/* FLOPs of a device, and the FLOPs of the unit that has most of them. */
struct flops {
    double all, most;
    const char *unit;
    double peak; /* NAN: not known */
};

static double flops_in(const int64_t *row)
{
    return ldexp((double)row[FLOPS_HIGH], FLOPS_SHIFT) + (double)row[FLOPS_LOW];
}

static struct flops flops_of(const struct ta_partial *partial, const int64_t *device,
                             const struct ta_hardware *hardware)
{
    double by_peak[TA_PEAK_COUNT] = {0};
    struct flops flops = {.peak = NAN};
    for (size_t i = 0; i < ta_partial_rows(partial); i++) {
        const int64_t *row = ta_partial_at(partial, i);
        enum ta_peak peak;
        if (row[FLOPS_RANK] != device[DEV_RANK] || row[FLOPS_DEVICE] != device[DEV_DEVICE])
            continue;
        flops.all += flops_in(row);
        if (hardware && bounding_peak(hardware, (enum work_class)row[FLOPS_CLASS],
                                      type_of(partial, row, FLOPS_TYPE),
                                      (enum evidence)row[FLOPS_EVIDENCE], &peak))
            by_peak[peak] += flops_in(row);
    }
    for (int peak = 0; peak < TA_PEAK_COUNT; peak++)
        if (by_peak[peak] > flops.most) {
            flops.most = by_peak[peak];
            flops.unit = ta_peak_name((enum ta_peak)peak);
            flops.peak = hardware->flop_per_s[peak];
        }
    return flops;
}

/* Sums over devices, for the one figure of the run. */
struct total {
    double flop, possible, possible_busy; /* FLOPs done; window, busy time times peak */
    int64_t kernel_ns, product_ns, product_flop_ns;
    const char *unit, *name, *why;
    double peak;
    bool is_one; /* all devices have the same peak */
};

/* The window of the program around a device, or of the device alone where nothing else is known. */
static int64_t program_window(const struct ta_refs *in, const int64_t *device)
{
    for (size_t i = 0; i < ta_ref_rows(in, ROOFLINE_WINDOW); i++)
        if (ta_ref_integer(in, ROOFLINE_RANK, i) == device[DEV_RANK] &&
            ta_ref_integer(in, ROOFLINE_DEVICE, i) == device[DEV_DEVICE])
            return ta_ref_integer(in, ROOFLINE_WINDOW, i);
    return device[DEV_END] - device[DEV_START];
}

/* As the trace says, else as the list does; none where the name says another one. */
static int64_t capability_of(struct ta_ctx *ctx, const struct ta_partial *devices,
                             const int64_t *row, const struct ta_hardware *hardware)
{
    const struct ta_device named = {.id = TA_MISSING,
                                    .name = ta_partial_text(devices, row, DEV_NAME),
                                    .memory_bytes = row[DEV_BYTES]};
    const int64_t said = row[DEV_CAPABILITY];
    const char *why;
    if (said <= 0)
        return hardware ? hardware->capability : 0;
    const struct ta_hardware *of_name =
        hardware || !named.name.len ? NULL : ta_ctx_hardware(ctx, &named, &why);
    return of_name && of_name->capability > 0 && of_name->capability != said ? 0 : said;
}

static void add_ranks(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                      const struct ta_refs *in, struct ta_section_builder *out, struct total *total)
{
    const struct ta_partial *devices = merged[PART_DEVICES];
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        const char *why = NULL;
        const struct ta_hardware *hardware = hardware_of(ctx, devices, row, DEV_NAME, &why);
        if (row[DEV_KERNEL_NS] == TA_MISSING)
            continue;
        const struct flops flops = flops_of(merged[PART_FLOPS], row, hardware);
        const int64_t window = row[DEV_END] - row[DEV_START], whole = program_window(in, row);
        const double busy_flop = (double)row[DEV_BUSY_NS] / 1e9 * flops.peak;
        const double whole_flop = (double)whole / 1e9 * flops.peak;
        const int64_t product_ns = ta_max_i64(row[DEV_PRODUCT_NS], 0);
        const int64_t product_flop_ns = ta_max_i64(row[DEV_PRODUCT_FLOP_NS], 0);
        const int64_t capability = capability_of(ctx, devices, row, hardware);
        total->kernel_ns = ta_add_sat(total->kernel_ns, row[DEV_KERNEL_NS]);
        total->product_ns = ta_add_sat(total->product_ns, product_ns);
        total->product_flop_ns = ta_add_sat(total->product_flop_ns, product_flop_ns);
        total->flop += flops.all;
        total->possible += whole_flop;
        total->possible_busy += busy_flop;
        total->is_one = !total->unit || (flops.unit && total->peak == flops.peak && total->is_one);
        total->unit = flops.unit ? flops.unit : total->unit;
        total->peak = flops.peak;
        total->name = hardware ? hardware->name : total->name;
        total->why = why ? why : total->why;
        TA_ROW(out, roofline_by_rank, [BY_RANK_RANK] = ta_int(row[DEV_RANK]),
               [BY_RANK_DEVICE] = ta_int(row[DEV_DEVICE]),
               [BY_RANK_MFU] = ta_num(flops.all / whole_flop),
               [BY_RANK_PEAK_SHARE] = ta_num(flops.all / busy_flop),
               [BY_RANK_WINDOW_MFU] = ta_num(flops.all / ((double)window / 1e9 * flops.peak)),
               [BY_RANK_FLOP] = ta_num(flops.all),
               [BY_RANK_FLOP_SHARE] = ta_share(ta_max_i64(row[DEV_FLOP_NS], 0), row[DEV_KERNEL_NS]),
               [BY_RANK_KNOWN_SHARE] =
                   ta_share(ta_max_i64(row[DEV_COVERED_NS], 0), row[DEV_KERNEL_NS]),
               [BY_RANK_KERNEL] = ta_int(row[DEV_KERNEL_NS]),
               [BY_RANK_BUSY] = ta_int(row[DEV_BUSY_NS]), [BY_RANK_WINDOW] = ta_int(window),
               [BY_RANK_PROGRAM_WINDOW] = ta_int(whole), [BY_RANK_UNIT] = text_or_null(flops.unit),
               [BY_RANK_PEAK_FLOP_RATE] = ta_num(flops.peak),
               [BY_RANK_NAME] = ta_text_or_null(ta_partial_text(devices, row, DEV_NAME)),
               [BY_RANK_HARDWARE] = text_or_null(hardware ? hardware->name : NULL),
               [BY_RANK_SOURCE] = text_or_null(hardware ? hardware->source : why),
               [BY_RANK_MATRIX_UNIT] = text_or_null(matrix_unit(hardware)),
               [BY_RANK_PRODUCT_SHARE] = ta_share(product_flop_ns, product_ns),
               [BY_RANK_CAPABILITY] = capability ? ta_num((double)capability / 10) : ta_null());
    }
}

const struct ta_scalar_def roofline_scalars[ROOFLINE_SCALARS] = {
    [ROOFLINE_MFU] =
        {"mfu", "Model FLOPs utilization", TA_UNIT_RATIO, TA_HIGHER,
         .doc = "FLOPs of the model divided by (the program's window × peak); shown only if the "
                "FLOPs of 90 % of the time of GEMMs, convolutions and attention are known"},
    [ROOFLINE_PEAK_SHARE] =
        {"busy_peak_share", "Share of peak FLOP/s while busy", TA_UNIT_RATIO, TA_HIGHER,
         .doc = "FLOPs of the model divided by (GPU busy time × peak); shown together with `mfu`"},
    [ROOFLINE_KNOWN] = {"flops_known_share", "FLOPs known", TA_UNIT_RATIO, TA_NEUTRAL,
                        .doc = "Share of the time of GEMMs, convolutions and attention whose FLOPs "
                               "are known; shown instead of `mfu` if below 90 %",
                        .not_compared = true},
};

/* With less the rest could hold most of the work. */
#define LEAST_KNOWN 0.9

static void add_mfu(const struct total *total, struct ta_section_builder *out)
{
    char peak[TA_UNIT_TEXT_MAX], note[512], busy_note[512];
    const double known = (double)total->product_flop_ns / (double)total->product_ns;
    ta_unit_format(peak, total->peak, TA_UNIT_FLOP_PER_S);
    if (total->product_flop_ns <= 0 || total->flop <= 0)
        return;
    if (known < LEAST_KNOWN) {
        snprintf(note, sizeof note,
                 "Of the time of GEMMs, convolutions and attention; model FLOPs utilization needs "
                 "%.0f %%",
                 100 * LEAST_KNOWN);
        ta_word_scalar(out, &roofline_scalars[ROOFLINE_KNOWN], ta_num(known), NULL, note);
        return;
    }
    snprintf(busy_note, sizeof busy_note, "FLOPs of the model over busy time times peak");
    if (isnan(total->possible))
        snprintf(note, sizeof note, "The peak of a device is not known: %s; --hardware gives it",
                 total->why ? total->why : "it has no unit for the type of the products");
    else
        snprintf(note, sizeof note,
                 "FLOPs of the model over the program's window times peak (%s, %s: %s)",
                 total->is_one ? total->name : "the last device", total->unit, peak);
    if (total->flop > total->possible_busy)
        snprintf(busy_note, sizeof busy_note,
                 "More than 100 %% of the peak cannot be: either the device is no %s with a peak "
                 "of %s (--hardware "
                 "names another one), or times or shapes in the trace are wrong",
                 total->is_one ? total->name : "device", peak);
    ta_word_scalar(out, &roofline_scalars[ROOFLINE_MFU], ta_num(total->flop / total->possible),
                   NULL, total->flop > total->possible_busy ? busy_note : note);
    ta_word_scalar(out, &roofline_scalars[ROOFLINE_PEAK_SHARE],
                   ta_num(total->flop / total->possible_busy), NULL,
                   isnan(total->possible) ? note : busy_note);
}

/* ---- what is not known ---------------------------------------------------------------------- */

enum ta_status roofline_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                               const struct ta_refs *in, struct ta_section_builder *out)
{
    struct total total = {.peak = NAN};
    const struct ta_partial *ops = merged[PART_OPS];
    for (size_t i = 0; i < ta_partial_rows(ops); i++) {
        const int64_t *row = ta_partial_at(ops, i);
        const struct bounds b = bounds_of(ctx, ops, row);
        const bool computes = row[OP_FLOP] != TA_MISSING;
        const double seconds = (double)row[OP_BUSY] / 1e9, calls = (double)row[OP_CALLS];
        const double flop = computes ? (double)row[OP_FLOP] : NAN, bytes = (double)row[OP_BYTES];
        const double intensity = bytes > 0 ? flop / bytes : NAN;
        const double above = fmax(0, (double)row[OP_BUSY] - b.shortest_ns);
        const double attainable = isnan(b.flop_rate) || isnan(b.byte_rate)
                                      ? NAN
                                      : fmin(b.flop_rate, intensity * b.byte_rate);
        TA_ROW(out, roofline_by_op, [BY_OP_NAME] = ta_text(ta_partial_text(ops, row, OP_NAME)),
               [BY_OP_CLASS] = text_or_null(work_class_name((enum work_class)row[OP_CLASS])),
               [BY_OP_SHAPE] = ta_text(ta_partial_text(ops, row, OP_SHAPE)),
               [BY_OP_TYPE] = ta_text(ta_partial_text(ops, row, OP_TYPE)),
               [BY_OP_CALLS] = ta_int(row[OP_CALLS]), [BY_OP_BUSY] = ta_int(row[OP_BUSY]),
               [BY_OP_EFFICIENCY] = ta_num(b.shortest_ns / (double)row[OP_BUSY]),
               [BY_OP_BOUND] = text_or_null(b.bound),
               [BY_OP_FLOP_RATE] = ta_num(flop * calls / seconds),
               [BY_OP_BYTE_RATE] = ta_num(bytes * calls / seconds),
               [BY_OP_INTENSITY] = ta_num(intensity),
               [BY_OP_ABOVE_ROOF] = isnan(b.shortest_ns) ? ta_null() : ta_int(ta_whole(above)),
               [BY_OP_FLOP] = ta_int(row[OP_FLOP]), [BY_OP_BYTES] = ta_int(row[OP_BYTES]),
               [BY_OP_KERNELS] = ta_int(row[OP_KERNELS]), [BY_OP_UNIT] = text_or_null(b.unit),
               [BY_OP_PEAK_FLOP_RATE] = ta_num(b.flop_rate),
               [BY_OP_PEAK_BYTE_RATE] = ta_num(b.byte_rate),
               [BY_OP_ATTAINABLE_FLOP_RATE] = ta_num(attainable),
               [BY_OP_MATRIX_FLOP_RATE] = ta_num(b.matrix_flop_rate),
               [BY_OP_DEVICE] = ta_text_or_null(ta_partial_text(ops, row, OP_DEVICE)));
    }
    add_kernels(ctx, merged[PART_KERNELS], out);
    add_ranks(ctx, merged, in, out, &total);
    add_mfu(&total, out);
    const struct ta_partial *lacks = merged[PART_LACKS];
    for (size_t i = 0; i < ta_partial_rows(lacks); i++) {
        const int64_t *row = ta_partial_at(lacks, i);
        TA_ROW(out, roofline_unknown,
               [UNKNOWN_NAME] = ta_text_or_null(ta_partial_text(lacks, row, LACK_NAME)),
               [UNKNOWN_REASON] = text_or_null(lack_name((enum lack)row[LACK_WHY])),
               [UNKNOWN_CALLS] = ta_int(row[LACK_CALLS]),
               [UNKNOWN_KERNELS] = ta_int(row[LACK_KERNELS]),
               [UNKNOWN_TOTAL] = ta_int(row[LACK_TOTAL]),
               [UNKNOWN_SHARE] = ta_share(row[LACK_TOTAL], total.kernel_ns));
    }
    return TA_OK;
}
