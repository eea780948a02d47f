/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that go over their tensors once: elementwise ones, norms, softmax, reductions, copies.
 * Memory bounds them all, so their FLOPs are rounded: one per element and elementary function. */
#include "lib/work.h"

#include <inttypes.h>

#define ARG(n) (1U << (n))

static bool is_real(const struct type *type)
{
    return type && type->precision != TA_PRECISION_ANY && type->precision != TA_PRECISION_INT8;
}

/* The type of an elementwise result: of tensors with sizes, if there are any. */
static const struct type *common_type(const struct call *call, unsigned positions)
{
    const struct type *sized = NULL, *unsized = NULL;
    for (int i = 0; i < OPERANDS_MAX; i++) {
        const struct operand *operand = &call->at[i];
        if (!(positions & ARG(i)) || operand->kind != TENSOR)
            continue;
        if (operand->rank)
            sized = type_result(sized, operand->type);
        else
            unsized = type_result(unsized, operand->type);
    }
    return sized ? sized : unsized;
}

/* Size of all operands, `back` from the last one, broadcast against each other; TOO_MUCH when they
 * do not fit. */
static int64_t common_size(const struct call *call, unsigned positions, size_t back)
{
    int64_t size = 1;
    for (int i = 0; i < OPERANDS_MAX; i++) {
        const struct operand *operand = &call->at[i];
        if (!(positions & ARG(i)) || operand->kind != TENSOR || operand->rank < back)
            continue;
        const int64_t other = operand->dims[operand->rank - back];
        if (size != 1 && other != 1 && other != size)
            return TOO_MUCH;
        size = size == 1 ? other : size;
    }
    return size;
}

/* What comes out of elementwise work on several tensors; false when they do not fit. */
static bool broadcast(const struct call *call, unsigned positions, struct operand *result)
{
    *result = (struct operand){.kind = TENSOR, .elements = 1};
    for (int i = 0; i < OPERANDS_MAX; i++)
        if ((positions & ARG(i)) && call->at[i].kind == TENSOR && call->at[i].rank > result->rank)
            result->rank = call->at[i].rank;
    for (size_t back = 1; back <= result->rank; back++) {
        const int64_t size = common_size(call, positions, back);
        if (size == TOO_MUCH)
            return false;
        result->dims[result->rank - back] = size;
        result->elements = times(result->elements, size);
    }
    return true;
}

/* Elements that are left of a tensor when the dimensions of an argument go; all go without one.
 * TOO_MUCH when the argument names others. */
static int64_t reduced_elements(const struct operand *operand, const struct call *call, int at)
{
    int64_t numbers[DIMS_MAX], left = 1;
    size_t n = 0;
    const struct ta_slice text = at >= 0 ? call->values[at] : (struct ta_slice){.len = 0};
    const bool is_all = text.len == 0 || ta_slice_equal(text, TA_LIT("[]"));
    while (!is_all && n < operand->rank && !value_list(call, at, n + 1, numbers))
        n++;
    n = is_all ? 0 : n + 1;
    if (n > operand->rank)
        return TOO_MUCH;
    for (size_t i = 0; i < operand->rank; i++) {
        bool goes = is_all;
        for (size_t k = 0; k < n; k++)
            goes |= numbers[k] == (int64_t)i || numbers[k] == (int64_t)i - (int64_t)operand->rank;
        left = times(left, goes ? 1 : operand->dims[i]);
    }
    return left;
}

static const struct type *result_type(const struct pass_arguments *at, const struct type *type)
{
    if (at->result_type == TYPE_BOOL)
        return type_named("bool");
    return at->result_type == TYPE_FLOAT && type && !is_real(type) ? type_named("fp32") : type;
}

/* Sizes that the work depends on: of the result, or of the largest tensor. */
static enum lack measure(const struct pass_arguments *at, const struct call *call,
                         struct operand *extent)
{
    /* The operand with the most elements among some positions. */
    const unsigned positions = at->reads | at->writes;
    const struct operand *largest = NULL;
    for (int i = 0; i < OPERANDS_MAX; i++)
        if ((positions & ARG(i)) && call->at[i].kind == TENSOR &&
            (!largest || call->at[i].elements > largest->elements))
            largest = &call->at[i];
    if (!largest)
        return LACK_SENSE;
    *extent = *largest;
    return at->result != RESULT_BROADCAST || broadcast(call, at->reads, extent) ? LACK_NOTHING
                                                                                : LACK_SENSE;
}

/* Elements of what is made; 0 when everything is written in place. */
static enum lack result_elements(const struct pass_arguments *at, const struct call *call,
                                 const struct operand *extent, int64_t *elements)
{
    *elements = at->result == RESULT_NONE ? 0 : extent->elements;
    if (at->result != RESULT_REDUCED)
        return LACK_NOTHING;
    if (call->at[1].kind == TENSOR) /* the form of max() and min() with two tensors */
        return LACK_SENSE;
    if (!call->has_values)
        return LACK_ARGUMENTS;
    *elements = reduced_elements(extent, call, at->dims);
    return *elements == TOO_MUCH && extent->elements != TOO_MUCH ? LACK_SENSE : LACK_NOTHING;
}

static enum lack count_pass(const struct formula *formula, const struct call *call,
                            struct work *work)
{
    const struct pass_arguments *at = &formula->pass;
    struct operand extent;
    struct traffic traffic = {0};
    int64_t made = 0;
    enum lack lack = measure(at, call, &extent);
    if (lack == LACK_NOTHING)
        lack = result_elements(at, call, &extent, &made);
    if (lack != LACK_NOTHING)
        return lack;
    /* Statistics of an input may be of a wider type: the input's type counts. */
    work->type = at->result == RESULT_BROADCAST ? common_type(call, at->reads) : extent.type;
    for (int i = 0; i < OPERANDS_MAX; i++) {
        if (at->reads & ARG(i))
            traffic_operand(&traffic, &call->at[i]);
        if (at->writes & ARG(i))
            traffic_operand(&traffic, &call->at[i]);
    }
    if (at->result != RESULT_NONE)
        traffic_add(&traffic, made, result_type(at, work->type));
    shape_dims(work, &extent);
    return work_done(work, is_real(work->type) ? times(extent.elements, at->flop) : 0, &traffic);
}

/* ---- operators ----------------------------------------------------------------------------- */

/* clang-format off: columns read better than lines filled up. */
#define PASS(form, kind, reads, writes, result, type, dims, flop)                                  \
    {                                                                                              \
        form, kind, count_pass,                                                                    \
        {                                                                                          \
            .pass = { reads, writes, result, type, dims, flop }                                    \
        }                                                                                          \
    }
#define UNARY(name, flop)                                                                          \
    PASS(name, WORK_ELEMENTWISE, ARG(0), 0, RESULT_BROADCAST, TYPE_SAME, -1, flop)
#define FUNCTION(name) /* of integers it is a real number */                                       \
    PASS(name, WORK_ELEMENTWISE, ARG(0), 0, RESULT_BROADCAST, TYPE_FLOAT, -1, 1)
#define BINARY(name, flop)                                                                         \
    PASS(name, WORK_ELEMENTWISE, ARG(0) | ARG(1), 0, RESULT_BROADCAST, TYPE_SAME, -1, flop)
#define COMPARE(name)                                                                              \
    PASS(name, WORK_ELEMENTWISE, ARG(0) | ARG(1), 0, RESULT_BROADCAST, TYPE_BOOL, -1, 1)
#define TERNARY(name, flop)                                                                        \
    PASS(name, WORK_ELEMENTWISE, ARG(0) | ARG(1) | ARG(2), 0, RESULT_BROADCAST, TYPE_SAME, -1, flop)
#define REDUCE(name, dims, type) PASS(name, WORK_REDUCE, ARG(0), 0, RESULT_REDUCED, type, dims, 1)
#define SCAN(name) PASS(name, WORK_REDUCE, ARG(0), 0, RESULT_FIRST, TYPE_SAME, -1, 1)
#define NORM(name, inputs, flop)                                                                   \
    PASS(name, WORK_NORM, (1U << (inputs)) - 1, 0, RESULT_FIRST, TYPE_SAME, -1, flop)

const struct formula pass_formulas[] = {
    UNARY("aten::neg", 1),
    UNARY("aten::abs", 1),
    UNARY("aten::relu", 1),
    UNARY("aten::pow", 1),
    UNARY("aten::clamp", 2),
    UNARY("aten::clamp_min", 1),
    UNARY("aten::clamp_max", 1),
    UNARY("aten::threshold", 1),
    UNARY("aten::leaky_relu", 2),
    UNARY("aten::hardtanh", 2),
    UNARY("aten::silu", 4),
    UNARY("aten::gelu", 8),
    UNARY("aten::elu", 3),
    UNARY("aten::sign", 1),
    UNARY("aten::hardswish", 4),
    UNARY("aten::mish", 6),
    UNARY("aten::nan_to_num", 3),
    UNARY("aten::floor", 1),
    UNARY("aten::ceil", 1),
    UNARY("aten::round", 1),
    UNARY("aten::bitwise_not", 1),
    UNARY("aten::logical_not", 1),
    FUNCTION("aten::exp"),
    FUNCTION("aten::log"),
    FUNCTION("aten::sqrt"),
    FUNCTION("aten::rsqrt"),
    FUNCTION("aten::sin"),
    FUNCTION("aten::cos"),
    FUNCTION("aten::tanh"),
    FUNCTION("aten::erf"),
    FUNCTION("aten::sigmoid"),
    FUNCTION("aten::reciprocal"),
    FUNCTION("aten::softplus"),
    FUNCTION("aten::expm1"),
    FUNCTION("aten::log1p"),
    FUNCTION("aten::logit"),

    BINARY("aten::add", 1),
    BINARY("aten::sub", 1),
    BINARY("aten::rsub", 1),
    BINARY("aten::mul", 1),
    BINARY("aten::maximum", 1),
    BINARY("aten::minimum", 1),
    BINARY("aten::remainder", 2),
    BINARY("aten::bitwise_and", 1),
    BINARY("aten::bitwise_or", 1),
    BINARY("aten::masked_fill", 1),
    BINARY("aten::atan2", 1),
    BINARY("aten::floor_divide", 2),
    PASS("aten::div", WORK_ELEMENTWISE, ARG(0) | ARG(1), 0, RESULT_BROADCAST, TYPE_FLOAT, -1, 1),
    COMPARE("aten::eq"),
    COMPARE("aten::ne"),
    COMPARE("aten::lt"),
    COMPARE("aten::le"),
    COMPARE("aten::gt"),
    COMPARE("aten::ge"),
    COMPARE("aten::logical_and"),
    COMPARE("aten::logical_or"),
    COMPARE("aten::logical_xor"),
    BINARY("aten::threshold_backward", 1),
    BINARY("aten::sigmoid_backward", 3),
    BINARY("aten::tanh_backward", 3),
    BINARY("aten::silu_backward", 8),
    BINARY("aten::gelu_backward", 16),
    BINARY("aten::leaky_relu_backward", 2),
    TERNARY("aten::addcmul", 3),
    TERNARY("aten::addcdiv", 3),
    TERNARY("aten::lerp", 3),
    PASS("aten::where", WORK_ELEMENTWISE, ARG(0) | ARG(1) | ARG(2), 0, RESULT_BROADCAST, TYPE_SAME,
         -1, 0),
    PASS("_C::silu_and_mul", WORK_ELEMENTWISE, ARG(1), ARG(0), RESULT_NONE, TYPE_SAME, -1, 3),
    PASS("_C::gelu_and_mul", WORK_ELEMENTWISE, ARG(1), ARG(0), RESULT_NONE, TYPE_SAME, -1, 5),

    PASS("aten::copy_", WORK_COPY, ARG(1), ARG(0), RESULT_NONE, TYPE_SAME, -1, 0),
    PASS("aten::clone", WORK_COPY, ARG(0), 0, RESULT_FIRST, TYPE_SAME, -1, 0),
    PASS("aten::contiguous", WORK_COPY, ARG(0), 0, RESULT_FIRST, TYPE_SAME, -1, 0),
    PASS("aten::fill_", WORK_COPY, 0, ARG(0), RESULT_NONE, TYPE_SAME, -1, 0),
    PASS("aten::zero_", WORK_COPY, 0, ARG(0), RESULT_NONE, TYPE_SAME, -1, 0),

    /* The dimensions of min() and max() are one number, of the others a list. */
    REDUCE("aten::sum", 1, TYPE_SAME),
    REDUCE("aten::mean", 1, TYPE_FLOAT),
    REDUCE("aten::amax", 1, TYPE_SAME),
    REDUCE("aten::amin", 1, TYPE_SAME),
    REDUCE("aten::max", 1, TYPE_SAME),
    REDUCE("aten::min", 1, TYPE_SAME),
    REDUCE("aten::logsumexp", 1, TYPE_FLOAT),
    REDUCE("aten::any", 1, TYPE_BOOL),
    REDUCE("aten::all", 1, TYPE_BOOL),
    REDUCE("aten::linalg_vector_norm", 2, TYPE_FLOAT),
    SCAN("aten::cumsum"),
    SCAN("aten::cumprod"),

    /* Input, weight, bias and what else is read; statistics take 3, applying them 4 per element. */
    NORM("aten::native_layer_norm", 4, 7),
    NORM("aten::native_group_norm", 3, 7),
    NORM("aten::native_batch_norm", 5, 7),
    NORM("aten::cudnn_batch_norm", 5, 7),
    NORM("aten::miopen_batch_norm", 5, 7),
    NORM("aten::_fused_rms_norm", 3, 4),
    NORM("aiter::_groupnorm_run", 4, 7),
    /* Gradient, input, weight and statistics; two sums and the gradients of input and weights. */
    NORM("aten::native_layer_norm_backward", 6, 12),
    NORM("aten::native_group_norm_backward", 5, 12),
    NORM("aten::native_batch_norm_backward", 7, 12),
    NORM("aten::cudnn_batch_norm_backward", 7, 12),
    NORM("aten::miopen_batch_norm_backward", 7, 12),
    NORM("aten::_fused_rms_norm_backward", 5, 9),
    PASS("_C::rms_norm", WORK_NORM, ARG(1) | ARG(2), ARG(0), RESULT_NONE, TYPE_SAME, -1, 4),
    PASS("_C::fused_add_rms_norm", WORK_NORM, ARG(0) | ARG(1) | ARG(2), ARG(0) | ARG(1),
         RESULT_NONE, TYPE_SAME, -1, 5),

    /* Largest, difference, exponential, sum, quotient. */
    PASS("aten::_softmax", WORK_SOFTMAX, ARG(0), 0, RESULT_FIRST, TYPE_SAME, -1, 5),
    PASS("aten::_log_softmax", WORK_SOFTMAX, ARG(0), 0, RESULT_FIRST, TYPE_SAME, -1, 5),
    PASS("aten::_softmax_backward_data", WORK_SOFTMAX, ARG(0) | ARG(1), 0, RESULT_FIRST, TYPE_SAME,
         -1, 4),
    PASS("aten::_log_softmax_backward_data", WORK_SOFTMAX, ARG(0) | ARG(1), 0, RESULT_FIRST,
         TYPE_SAME, -1, 4),
    {0},
};
/* clang-format on */
