/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolutions: 2 FLOPs for each element of the output and of the part of the filter that makes it;
 * transposed ones for each element of the input.  The second size of a filter is
 * already the size of a group. */
#include "lib/work.h"

#include <inttypes.h>
#include <string.h>

struct conv {
    const struct operand *input, *weight;
    const struct type *type;
    size_t n; /* sizes in space */
    int64_t stride[SPACE_MAX], padding[SPACE_MAX], dilation[SPACE_MAX], output_padding[SPACE_MAX];
    int64_t groups;
    bool transposed;
    int64_t out_channels, out; /* elements of the output */
};

/* ---- arguments ----------------------------------------------------------------------------- */

static bool read_list(const struct call *call, int at, size_t n, int64_t *numbers, int64_t preset)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = preset;
    return at < 0 || value_list(call, at, n, numbers);
}

static enum lack read_conv(const struct conv_arguments *at, const struct call *call,
                           struct conv *conv)
{
    conv->input = &call->at[at->input];
    conv->weight = &call->at[at->weight];
    if (conv->input->kind != TENSOR || conv->weight->kind != TENSOR || conv->input->rank < 3 ||
        conv->input->rank > 2 + SPACE_MAX || conv->weight->rank != conv->input->rank)
        return LACK_SENSE;
    conv->n = conv->input->rank - 2;
    if (!call->has_values)
        return LACK_ARGUMENTS;
    conv->groups = at->kind == CONV_DEPTHWISE ? conv->input->dims[1] : 1;
    conv->transposed = at->transposed >= 0 ? value_truth(call, at->transposed, false)
                                           : at->kind == CONV_TRANSPOSED;
    const bool read = read_list(call, at->stride, conv->n, conv->stride, 1) &&
                      read_list(call, at->padding, conv->n, conv->padding, 0) &&
                      read_list(call, at->dilation, conv->n, conv->dilation, 1) &&
                      read_list(call, conv->transposed ? at->output_padding : -1, conv->n,
                                conv->output_padding, 0) &&
                      (at->groups < 0 || value_integer(call, at->groups, &conv->groups));
    return read ? LACK_NOTHING : LACK_ARGUMENTS;
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* Length of the output along one direction; TOO_MUCH for what makes no sense. */
static int64_t out_length(const struct conv *conv, size_t i)
{
    const int64_t in = conv->input->dims[2 + i], kernel = conv->weight->dims[2 + i];
    const int64_t stride = conv->stride[i], padding = conv->padding[i];
    if (stride < 1 || padding < 0 || conv->dilation[i] < 1 || kernel < 1 || in < 1)
        return TOO_MUCH;
    const int64_t reach = plus(times(conv->dilation[i], kernel - 1), 1), edges = times(2, padding);
    if (reach == TOO_MUCH || edges == TOO_MUCH)
        return TOO_MUCH;
    if (conv->transposed) {
        const int64_t whole = plus(plus(times(in - 1, stride), reach), conv->output_padding[i]);
        return whole == TOO_MUCH || whole <= edges ? TOO_MUCH : whole - edges;
    }
    const int64_t padded = plus(in, edges);
    return padded < reach ? TOO_MUCH : (padded - reach) / stride + 1;
}

static enum lack measure(struct conv *conv)
{
    const int64_t in_channels = conv->input->dims[1], *filter = conv->weight->dims;
    if (conv->groups < 1 || filter[0] % conv->groups != 0)
        return LACK_SENSE;
    conv->out_channels = conv->transposed ? times(filter[1], conv->groups) : filter[0];
    if (in_channels != (conv->transposed ? filter[0] : times(filter[1], conv->groups)))
        return LACK_SENSE;
    conv->out = times(conv->input->dims[0], conv->out_channels);
    for (size_t i = 0; i < conv->n; i++) {
        const int64_t length = out_length(conv, i);
        if (length == TOO_MUCH)
            return LACK_SENSE;
        conv->out = times(conv->out, length);
    }
    conv->type = type_result(conv->input->type, conv->weight->type);
    return LACK_NOTHING;
}

/* Of one product: the output and the gradients of input and weight take the same. */
static int64_t product_flop(const struct conv *conv)
{
    int64_t taps = 2;
    for (size_t i = 1; i < conv->weight->rank; i++)
        taps = times(taps, conv->weight->dims[i]);
    return times(taps, conv->transposed ? conv->input->elements : conv->out);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void add_list(struct work *work, const struct conv *conv, const char *name,
                     const int64_t *numbers, int64_t preset)
{
    bool differs = false, same = true;
    for (size_t i = 0; i < conv->n; i++) {
        differs |= numbers[i] != preset;
        same &= numbers[i] == numbers[0];
    }
    if (!differs)
        return;
    shape_add(work, " %s=%" PRId64, name, numbers[0]);
    for (size_t i = 1; i < conv->n && !same; i++)
        shape_add(work, "x%" PRId64, numbers[i]);
}

static void describe(struct work *work, const struct conv *conv)
{
    shape_dims(work, conv->input);
    shape_add(work, " * ");
    shape_dims(work, conv->weight);
    add_list(work, conv, "stride", conv->stride, 1);
    add_list(work, conv, "pad", conv->padding, 0);
    add_list(work, conv, "dilation", conv->dilation, 1);
    if (conv->groups != 1)
        shape_add(work, " groups=%" PRId64, conv->groups);
    if (conv->transposed)
        shape_add(work, " transposed");
}

/* ---- formulas ------------------------------------------------------------------------------ */

static enum lack count_forward(const struct formula *formula, const struct call *call,
                               struct work *work)
{
    const struct conv_arguments *at = &formula->conv;
    struct conv conv;
    enum lack lack = read_conv(at, call, &conv);
    if (lack == LACK_NOTHING)
        lack = measure(&conv);
    if (lack != LACK_NOTHING)
        return lack;
    const bool biased = has_tensor(call, at->bias);
    struct traffic traffic = {0};
    traffic_operand(&traffic, conv.input);
    traffic_operand(&traffic, conv.weight);
    traffic_add(&traffic, conv.out, conv.type);
    if (biased)
        traffic_operand(&traffic, &call->at[at->bias]);
    work->type = conv.type;
    describe(work, &conv);
    shape_add(work, biased ? " + bias" : "");
    return work_done(work, plus(product_flop(&conv), biased ? conv.out : 0), &traffic);
}

bool conv_shape_of(const struct formula *formula, const struct call *call, struct conv_shape *shape)
{
    struct conv conv;
    if (formula->count != count_forward)
        return false;
    const enum lack lack = read_conv(&formula->conv, call, &conv);
    const bool is_told = lack == LACK_NOTHING;
    if ((!is_told && lack != LACK_ARGUMENTS) || (is_told && measure(&conv) != LACK_NOTHING))
        return false;
    *shape = (struct conv_shape){.n = conv.n,
                                 .batch = conv.input->dims[0],
                                 .in_channels = conv.input->dims[1],
                                 .out_channels = is_told ? conv.out_channels : conv.weight->dims[0],
                                 .is_told = is_told};
    for (size_t i = 0; i < conv.n; i++) {
        shape->in[i] = conv.input->dims[2 + i];
        shape->out[i] = is_told ? out_length(&conv, i) : shape->in[i];
    }
    return true;
}

/* "[True, True, False]": which gradients are asked for, of input, weight and bias. */
static bool read_mask(const struct call *call, int at, bool mask[3])
{
    const struct ta_slice text = call->values[at];
    size_t n = 0;
    for (size_t i = 0; i < text.len && n < 3; i++)
        if (text.ptr[i] == 'T' || text.ptr[i] == 'F')
            mask[n++] = text.ptr[i] == 'T';
    return n == 3;
}

static enum lack count_backward(const struct formula *formula, const struct call *call,
                                struct work *work)
{
    const struct conv_arguments *at = &formula->conv;
    const struct operand *gradient = &call->at[at->gradient];
    struct conv conv;
    bool mask[3];
    enum lack lack = read_conv(at, call, &conv);
    if (lack == LACK_NOTHING)
        lack = measure(&conv);
    if (lack == LACK_NOTHING && !read_mask(call, at->mask, mask))
        lack = LACK_ARGUMENTS;
    if (lack == LACK_NOTHING && (gradient->kind != TENSOR || gradient->elements != conv.out))
        lack = LACK_SENSE;
    if (lack != LACK_NOTHING)
        return lack;
    struct traffic traffic = {0};
    traffic_operand(&traffic, gradient);
    for (int pass = 0; pass < 2; pass++) { /* read one and write the gradient of the other */
        if (mask[0])
            traffic_operand(&traffic, pass ? conv.input : conv.weight);
        if (mask[1])
            traffic_operand(&traffic, pass ? conv.weight : conv.input);
    }
    if (mask[2])
        traffic_add(&traffic, conv.out_channels, conv.type);
    work->type = conv.type;
    describe(work, &conv);
    shape_add(work, " d(%s%s%s)", mask[0] ? "input" : "",
              mask[1] ? mask[0] ? ", weight" : "weight" : "",
              mask[2] ? mask[0] || mask[1] ? ", bias" : "bias" : "");
    const int64_t products = times(product_flop(&conv), mask[0] + mask[1]);
    return work_done(work, plus(products, mask[2] ? conv.out : 0), &traffic);
}

/* Sizes of an output, an input and a weight that belong together. */
static bool belong(const struct operand *out, const struct operand *input,
                   const struct operand *weight)
{
    return out->kind == TENSOR && input->kind == TENSOR && weight->kind == TENSOR &&
           input->rank >= 3 && input->rank <= 2 + SPACE_MAX && out->rank == input->rank &&
           weight->rank == input->rank && out->dims[0] == input->dims[0] &&
           out->dims[1] == weight->dims[0] && weight->dims[1] > 0 &&
           input->dims[1] % weight->dims[1] == 0;
}

static void describe_sizes(struct work *work, const struct conv *conv, const struct operand *out)
{
    shape_dims(work, conv->input);
    shape_add(work, " * ");
    shape_dims(work, conv->weight);
    shape_add(work, " = ");
    shape_dims(work, out);
}

/* One of the gradients, whose sizes say all without the strides. */
static enum lack count_gradient(const struct formula *formula, const struct call *call,
                                struct work *work)
{
    const struct conv_arguments *at = &formula->conv;
    const struct operand *gradient = &call->at[at->gradient];
    const struct conv conv = {
        .input = &call->at[at->input], .weight = &call->at[at->weight], .out = gradient->elements};
    if (!belong(gradient, conv.input, conv.weight))
        return LACK_SENSE;
    struct traffic traffic = {0};
    traffic_operand(&traffic, gradient);
    traffic_operand(&traffic, conv.input);
    traffic_operand(&traffic, conv.weight);
    work->type = type_result(conv.input->type, conv.weight->type);
    describe_sizes(work, &conv, gradient);
    shape_add(work, at->kind == CONV_INPUT_GRADIENT ? " d(input)" : " d(weight)");
    return work_done(work, product_flop(&conv), &traffic);
}

static bool same_sizes(const struct operand *a, const struct operand *b)
{
    return a->kind == TENSOR && b->kind == TENSOR && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool conv_sizes_of(const struct formula *formula, const struct call *call, struct conv_sizes *sizes)
{
    if (formula->count != count_gradient)
        return false;
    *sizes = (struct conv_sizes){.input = call->at[formula->conv.input],
                                 .weight = call->at[formula->conv.weight],
                                 .out = call->at[formula->conv.gradient]};
    return belong(&sizes->out, &sizes->input, &sizes->weight);
}

bool conv_fits(const struct formula *formula, const struct call *call,
               const struct conv_sizes *sizes)
{
    return formula->count == count_forward && formula->conv.kind == CONV_ANY &&
           formula->conv.transposed < 0 &&
           same_sizes(&call->at[formula->conv.input], &sizes->input) &&
           same_sizes(&call->at[formula->conv.weight], &sizes->weight);
}

enum lack conv_count_as(const struct formula *formula, const struct call *call,
                        const struct operand *out, struct work *work)
{
    const struct conv_arguments *at = &formula->conv;
    const struct conv conv = {
        .input = &call->at[at->input], .weight = &call->at[at->weight], .out = out->elements};
    const bool biased = has_tensor(call, at->bias);
    struct traffic traffic = {0};
    *work = (struct work){.class = formula->class,
                          .type = type_result(conv.input->type, conv.weight->type)};
    traffic_operand(&traffic, conv.input);
    traffic_operand(&traffic, conv.weight);
    traffic_add(&traffic, conv.out, work->type);
    if (biased)
        traffic_operand(&traffic, &call->at[at->bias]);
    describe_sizes(work, &conv, out);
    shape_add(work, biased ? " + bias" : "");
    return work_done(work, plus(product_flop(&conv), biased ? conv.out : 0), &traffic);
}

/* A template of the compiler: the last tensor is what comes out, before it input and weight. */
static enum lack count_template(const struct formula *formula, const struct call *call,
                                struct work *work)
{
    const struct operand *found[3] = {NULL}; /* the first two, and the last */
    (void)formula;
    for (size_t i = 0; i < call->n; i++)
        if (call->at[i].kind == TENSOR && call->at[i].rank > 1)
            found[!found[0] ? 0 : !found[1] ? 1 : 2] = &call->at[i];
    if (!found[2] || !belong(found[2], found[0], found[1]))
        return LACK_SENSE;
    const struct conv conv = {.input = found[0], .weight = found[1], .out = found[2]->elements};
    struct traffic traffic = {0};
    for (size_t i = 0; i < call->n; i++)
        traffic_operand(&traffic, &call->at[i]);
    work->type = type_result(conv.input->type, conv.weight->type);
    describe_sizes(work, &conv, found[2]);
    return work_done(work, product_flop(&conv), &traffic);
}

const struct formula template_conv = {
    .name = "triton_tem_", .class = WORK_CONV, .count = count_template};

/* clang-format off: columns read better than lines filled up. */
#define GRADIENT(of, part, kind) /* of self, gradient, weight */                                   \
    {                                                                                              \
        of "_backward_" part, WORK_CONV, count_gradient,                                           \
            {.conv = {kind, 0, 2, -1, -1, -1, -1, -1, -1, -1, 1, -1}}, of "_backward"              \
    }
#define CONV(form, how, kind, ...)                                                                 \
    {                                                                                              \
        form, WORK_CONV, how,                                                                      \
        {                                                                                          \
            .conv = { kind, __VA_ARGS__ }                                                          \
        }                                                                                          \
    }

/* Arguments: input, weight, bias, stride, padding, dilation, transposed, output padding, groups;
 * gradient of the output and which ones are asked for. */
const struct formula conv_formulas[] = {
    CONV("aten::convolution", count_forward, CONV_ANY, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1),
    CONV("aten::_convolution", count_forward, CONV_ANY, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1),
    CONV("aten::convolution_overrideable", count_forward, CONV_ANY, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1,
         -1),
    CONV("aten::cudnn_convolution", count_forward, CONV_ANY, 0, 1, -1, 3, 2, 4, -1, -1, 5, -1, -1),
    CONV("aten::cudnn_convolution_relu", count_forward, CONV_ANY, 0, 1, 2, 3, 4, 5, -1, -1, 6, -1,
         -1),
    CONV("aten::cudnn_convolution_add_relu", count_forward, CONV_ANY, 0, 1, 4, 5, 6, 7, -1, -1, 8,
         -1, -1),
    CONV("aten::cudnn_convolution_transpose", count_forward, CONV_TRANSPOSED, 0, 1, -1, 4, 2, 5, -1,
         3, 6, -1, -1),
    CONV("aten::miopen_convolution", count_forward, CONV_ANY, 0, 1, 2, 4, 3, 5, -1, -1, 6, -1, -1),
    CONV("aten::miopen_depthwise_convolution", count_forward, CONV_ANY, 0, 1, 2, 4, 3, 5, -1, -1, 6,
         -1, -1),
    CONV("aten::miopen_convolution_transpose", count_forward, CONV_TRANSPOSED, 0, 1, 2, 5, 3, 6, -1,
         4, 7, -1, -1),
    CONV("aten::_slow_conv2d_forward", count_forward, CONV_ANY, 0, 1, 3, 4, 5, -1, -1, -1, -1, -1,
         -1),
    CONV("aten::slow_conv_dilated2d", count_forward, CONV_ANY, 0, 1, 3, 4, 5, 6, -1, -1, -1, -1,
         -1),
    CONV("aten::_conv_depthwise2d", count_forward, CONV_DEPTHWISE, 0, 1, 3, 4, 5, 6, -1, -1, -1, -1,
         -1),
    CONV("aten::conv_depthwise3d", count_forward, CONV_DEPTHWISE, 0, 1, 3, 4, 5, 6, -1, -1, -1, -1,
         -1),
    CONV("aten::convolution_backward", count_backward, CONV_ANY, 1, 2, -1, 4, 5, 6, 7, 8, 9, 0, 10),
    GRADIENT("aten::cudnn_convolution", "input", CONV_INPUT_GRADIENT),
    GRADIENT("aten::cudnn_convolution", "weight", CONV_WEIGHT_GRADIENT),
    GRADIENT("aten::miopen_convolution", "input", CONV_INPUT_GRADIENT),
    GRADIENT("aten::miopen_convolution", "weight", CONV_WEIGHT_GRADIENT),
    {0},
};
/* clang-format on */
