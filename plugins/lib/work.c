/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formula of each operator, and what formulas share. */
#include "lib/work.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *work_class_name(enum work_class class)
{
    static const char *const names[WORK_CLASSES] = {
        [WORK_GEMM] = "gemm",     [WORK_CONV] = "conv",       [WORK_ATTENTION] = "attention",
        [WORK_NORM] = "norm",     [WORK_SOFTMAX] = "softmax", [WORK_ELEMENTWISE] = "elementwise",
        [WORK_REDUCE] = "reduce", [WORK_COPY] = "copy",       [WORK_TRITON] = "triton",
    };
    return names[class];
}

/* ---- formulas ------------------------------------------------------------------------------ */

static const struct formula *find_in(const struct formula *formulas, struct ta_slice name)
{
    for (; formulas->name; formulas++)
        if (ta_slice_equal(name, ta_slice_of(formulas->name)))
            return formulas;
    return NULL;
}

/* A generated kernel: the operands are what it reads and writes, what it computes is not known. */
static enum lack count_triton(const struct formula *formula, const struct call *call,
                              struct work *work)
{
    struct traffic traffic = {0};
    const struct operand *largest = NULL;
    (void)formula;
    for (size_t i = 0; i < call->n; i++) {
        traffic_operand(&traffic, &call->at[i]);
        if (call->at[i].kind == TENSOR && (!largest || call->at[i].elements > largest->elements))
            largest = &call->at[i];
    }
    if (!largest)
        return LACK_SENSE;
    work->type = largest->type;
    shape_dims(work, largest);
    return work_done(work, TA_MISSING, &traffic);
}

static const struct formula triton_formula = {
    .name = "triton_", .class = WORK_TRITON, .count = count_triton};

static bool has(struct ta_slice name, const char *part)
{
    return memmem(name.ptr, name.len, part, strlen(part)) != NULL;
}

/* Templates are products, named after the operators in them. */
static const struct formula *template_formula(struct ta_slice name)
{
    if (has(name, "convolution"))
        return &template_conv;
    const bool batched = has(name, "bmm") || has(name, "grouped") || has(name, "attention");
    return !batched && (has(name, "_mm") || has(name, "addmm")) ? &template_gemm : NULL;
}

const struct formula *formula_find(struct ta_slice name)
{
    static const struct formula *const tables[] = {gemm_formulas, conv_formulas, attention_formulas,
                                                   pass_formulas};
    if (ta_slice_starts(name, "triton_tem_"))
        return template_formula(name);
    if (ta_slice_starts(name, "triton_"))
        return &triton_formula;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct formula *found = find_in(tables[i], name);
        if (!found && name.len > 2 && name.ptr[name.len - 1] == '_' &&
            name.ptr[name.len - 2] != '_')
            found = find_in(tables[i], (struct ta_slice){name.ptr, name.len - 1});
        if (found)
            return found;
    }
    return NULL;
}

enum lack work_count(const struct formula *formula, const struct call *call, struct work *work)
{
    *work = (struct work){.class = formula->class};
    return formula->count(formula, call, work);
}

/* ---- what they share ----------------------------------------------------------------------- */

void traffic_add(struct traffic *traffic, int64_t elements, const struct type *type)
{
    if (!type && traffic->lack == LACK_NOTHING)
        traffic->lack = LACK_TYPES;
    traffic->bytes = plus(traffic->bytes, type ? times(elements, type->bytes) : 0);
}

void traffic_operand(struct traffic *traffic, const struct operand *operand)
{
    if (operand->kind == TENSOR)
        traffic_add(traffic, operand->elements, operand->type);
    else if (operand->kind != NO_TENSOR && traffic->lack == LACK_NOTHING)
        traffic->lack = operand->kind == TENSOR_LIST ? LACK_TYPES : LACK_SENSE;
}

enum lack work_done(struct work *work, int64_t flop, const struct traffic *traffic)
{
    if (traffic->lack != LACK_NOTHING)
        return traffic->lack;
    if (!work->type)
        return LACK_TYPES;
    if (flop == TOO_MUCH || traffic->bytes == TOO_MUCH)
        return LACK_SIZE;
    work->flop = flop;
    work->bytes = traffic->bytes;
    return LACK_NOTHING;
}

void shape_add(struct work *work, const char *format, ...)
{
    const size_t used = strlen(work->shape);
    va_list args;
    va_start(args, format);
    vsnprintf(work->shape + used, sizeof work->shape - used, format, args);
    va_end(args);
}

void shape_dims(struct work *work, const struct operand *operand)
{
    if (operand->rank == 0)
        shape_add(work, "1");
    for (size_t i = 0; i < operand->rank; i++)
        shape_add(work, "%s%" PRId64, i ? "x" : "", operand->dims[i]);
}
