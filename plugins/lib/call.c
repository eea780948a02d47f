/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what is recorded of the arguments of an operator.  The texts come from the trace: they are
 * looked at byte by byte, and what makes no sense is said to make none. */
#include "lib/call.h"

#include <string.h>

const char *lack_name(enum lack lack)
{
    static const char *const names[LACK_COUNT] = {
        [LACK_NOTHING] = "known",          [LACK_OPERATOR] = "no_operator",
        [LACK_GRAPH] = "graph_launch",     [LACK_MODEL] = "no_formula",
        [LACK_SHAPES] = "no_shapes",       [LACK_TYPES] = "no_types",
        [LACK_ARGUMENTS] = "no_arguments", [LACK_LENGTHS] = "no_lengths",
        [LACK_SENSE] = "unusable_shapes",  [LACK_SIZE] = "too_large",
        [LACK_INSIDE] = "inner_operator",
    };
    return names[lack];
}

/* ---- types -------------------------------------------------------------------------------- */

/* Names of types that PyTorch's profiler has written since 2021, and Triton's.  They are in the
 * order of type promotion: integers, then floating-point types by width; bf16 and fp16 make fp32,
 * see below. */
static const struct type types[] = {
    {"bool", "bool", 1, 1, TA_PRECISION_ANY, 0},
    {"unsigned char", "uint8", 1, 1, TA_PRECISION_ANY, 1},
    {"signed char", "int8", 1, 1, TA_PRECISION_INT8, 2},
    {"short", "int16", 2, 1, TA_PRECISION_ANY, 3},
    {"short int", "int16", 2, 1, TA_PRECISION_ANY, 3},
    {"int", "int32", 4, 1, TA_PRECISION_ANY, 4},
    {"long", "int64", 8, 1, TA_PRECISION_ANY, 5},
    {"long int", "int64", 8, 1, TA_PRECISION_ANY, 5},
    {"c10::Float4_e2m1fn_x2", "fp4", 1, 2, TA_PRECISION_FP4, 6},
    {"c10::Float8_e4m3fn", "fp8", 1, 1, TA_PRECISION_FP8, 7},
    {"c10::Float8_e4m3fnuz", "fp8", 1, 1, TA_PRECISION_FP8, 7},
    {"c10::Float8_e5m2", "fp8", 1, 1, TA_PRECISION_FP8, 7},
    {"c10::Float8_e5m2fnuz", "fp8", 1, 1, TA_PRECISION_FP8, 7},
    {"c10::Float8_e8m0fnu", "fp8", 1, 1, TA_PRECISION_FP8, 7},
    {"c10::Half", "fp16", 2, 1, TA_PRECISION_FP16, 8},
    {"c10::BFloat16", "bf16", 2, 1, TA_PRECISION_BF16, 9},
    {"Half", "fp16", 2, 1, TA_PRECISION_FP16, 8},
    {"BFloat16", "bf16", 2, 1, TA_PRECISION_BF16, 9},
    {"float16", "fp16", 2, 1, TA_PRECISION_FP16, 8},
    {"bfloat16", "bf16", 2, 1, TA_PRECISION_BF16, 9},
    {"float", "fp32", 4, 1, TA_PRECISION_FP32, 10},
    {"Float", "fp32", 4, 1, TA_PRECISION_FP32, 10},
    {"float32", "fp32", 4, 1, TA_PRECISION_FP32, 10},
    {"double", "fp64", 8, 1, TA_PRECISION_FP64, 11},
    {"c10::complex<float>", "complex64", 8, 1, TA_PRECISION_ANY, 12},
    {"c10::complex<double>", "complex128", 16, 1, TA_PRECISION_ANY, 13},
};

enum { TYPES = sizeof types / sizeof *types };

/* NULL for what is no type of a tensor. */
static const struct type *type_find(struct ta_slice word)
{
    for (size_t i = 0; i < TYPES; i++)
        if (ta_slice_equal(word, ta_slice_of(types[i].word)))
            return &types[i];
    return NULL;
}

const struct type *type_named(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const struct type *type_numbered(int64_t number)
{
    static const char *const names[] = {"uint8", "int8", "int16", "int32",     "int64",      "fp16",
                                        "fp32",  "fp64", NULL,    "complex64", "complex128", "bool",
                                        NULL,    NULL,   NULL,    "bf16"};
    if (number < 0 || number >= (int64_t)(sizeof names / sizeof *names) || !names[number])
        return NULL;
    return type_named(names[number]);
}

const struct type *type_result(const struct type *a, const struct type *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->bytes == 2 && b->bytes == 2 && a->precision != b->precision &&
        a->precision != TA_PRECISION_ANY && b->precision != TA_PRECISION_ANY)
        return type_named("fp32");
    return b->order > a->order ? b : a;
}

/* ---- lists -------------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool take(struct cursor *c, char byte)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    return true;
}

/* A decimal number; one beyond 64 bits makes no sense as a size. */
static bool take_integer(struct cursor *c, int64_t *value)
{
    skip_blanks(c);
    const bool negative = c->at < c->end && *c->at == '-';
    const char *first = c->at += negative;
    *value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *c->at - '0', value))
            return false;
    *value = negative ? -*value : *value;
    return c->at > first;
}

/* To the end of the value that starts here: a text in quotes, a list, or what has neither. */
static void skip_value(struct cursor *c)
{
    size_t depth = 0;
    bool quoted = false;
    for (; c->at < c->end; c->at++) {
        if (quoted && *c->at == '\\' && c->at + 1 < c->end)
            c->at++;
        else if (*c->at == '"')
            quoted = !quoted;
        else if (!quoted && *c->at == '[')
            depth++;
        else if (!quoted && depth == 0 && (*c->at == ',' || *c->at == ']'))
            return;
        else if (!quoted && *c->at == ']')
            depth--;
    }
}

/* Sizes of a tensor after the bracket that opens them. */
static bool take_dims(struct cursor *c, struct operand *operand)
{
    operand->elements = 1;
    if (take(c, ']'))
        return true;
    do {
        int64_t size;
        if (operand->rank == DIMS_MAX || !take_integer(c, &size) || size < 0)
            return false;
        operand->dims[operand->rank++] = size;
        operand->elements = times(operand->elements, size);
    } while (take(c, ','));
    return take(c, ']');
}

/* One entry of "Input Dims": the sizes of a tensor, or a list of the sizes of several tensors. */
static void take_operand(struct cursor *c, struct operand *operand)
{
    skip_blanks(c);
    struct cursor inner = *c;
    operand->kind = NO_SENSE;
    if (take(&inner, '[')) {
        skip_blanks(&inner);
        if (inner.at < inner.end && *inner.at == '[')
            operand->kind = TENSOR_LIST;
        else if (take_dims(&inner, operand))
            operand->kind = TENSOR;
    }
    skip_value(c);
}

static bool read_dims(struct ta_slice text, struct call *call)
{
    struct cursor c = {text.ptr, ta_slice_end(text)};
    if (!take(&c, '['))
        return false;
    if (take(&c, ']'))
        return true;
    do {
        if (call->n == OPERANDS_MAX)
            return true; /* no formula looks further */
        take_operand(&c, &call->at[call->n++]);
    } while (take(&c, ','));
    return take(&c, ']');
}

/* The texts of a list, without their quotes; other values as they are. */
static size_t read_texts(struct ta_slice text, struct ta_slice *texts)
{
    struct cursor c = {text.ptr, ta_slice_end(text)};
    size_t n = 0;
    if (!take(&c, '[') || take(&c, ']'))
        return 0;
    do {
        skip_blanks(&c);
        const char *first = c.at;
        skip_value(&c);
        const char *end = c.at;
        while (end > first && (end[-1] == ' ' || end[-1] == '\n'))
            end--;
        if (end - first >= 2 && *first == '"' && end[-1] == '"') {
            first++;
            end--;
        }
        texts[n++] = (struct ta_slice){first, (size_t)(end - first)};
    } while (n < OPERANDS_MAX && take(&c, ','));
    return n;
}

/* A tensor without dimensions has the same sizes as what is no tensor: the type decides. */
static void add_types(struct ta_slice text, struct call *call)
{
    struct ta_slice words[OPERANDS_MAX];
    const size_t n = read_texts(text, words);
    for (size_t i = 0; i < call->n; i++) {
        struct operand *operand = &call->at[i];
        operand->type = i < n ? type_find(words[i]) : NULL;
        if (operand->kind == TENSOR && operand->rank == 0 && !operand->type)
            operand->kind = NO_TENSOR;
    }
}

enum lack call_read(struct ta_slice dims, struct ta_slice words, struct ta_slice values,
                    struct call *call)
{
    *call = (struct call){.has_values = values.len > 0};
    if (dims.len == 0)
        return LACK_SHAPES;
    if (!read_dims(dims, call))
        return LACK_SENSE;
    if (words.len == 0)
        return LACK_TYPES;
    add_types(words, call);
    read_texts(values, call->values);
    return LACK_NOTHING;
}

/* ---- values ------------------------------------------------------------------------------- */

bool value_integer(const struct call *call, int at, int64_t *value)
{
    const struct ta_slice text = call->values[at];
    struct cursor c = {text.ptr, ta_slice_end(text)};
    return text.len > 0 && take_integer(&c, value) && c.at == c.end;
}

bool value_truth(const struct call *call, int at, bool otherwise)
{
    if (ta_slice_equal(call->values[at], TA_LIT("True")))
        return true;
    return ta_slice_equal(call->values[at], TA_LIT("False")) ? false : otherwise;
}

bool value_list(const struct call *call, int at, size_t n, int64_t *numbers)
{
    const struct ta_slice text = call->values[at];
    struct cursor c = {text.ptr, ta_slice_end(text)};
    const bool is_tuple = take(&c, '('), is_list = is_tuple || take(&c, '[');
    size_t found = 0;
    do {
        if (found == n || !take_integer(&c, &numbers[found]))
            return false;
        found++;
    } while (is_list && take(&c, ','));
    for (size_t i = found; found == 1 && i < n; i++)
        numbers[i] = numbers[0];
    return (found == 1 || found == n) && (!is_list || take(&c, is_tuple ? ')' : ']')) &&
           c.at == c.end;
}
