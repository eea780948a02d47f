/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products: 2·M·N·K FLOPs for each of the batch, M·N more for a bias that is added. */
#include "work.h"

#include <inttypes.h>

struct product {
    int64_t batch, m, n, k;
};

/* Product of the sizes before the last two. */
static int64_t outer(const struct operand *operand)
{
    int64_t all = 1;
    for (size_t i = 0; i + 2 < operand->rank; i++)
        all = times(all, operand->dims[i]);
    return all;
}

/* Sizes before the last two, as they are broadcast against each other; false when they differ. */
static bool broadcast_outer(const struct operand *a, const struct operand *b, int64_t *batch)
{
    *batch = 1;
    for (size_t i = 3; i <= a->rank || i <= b->rank; i++) {
        const int64_t left = i <= a->rank ? a->dims[a->rank - i] : 1;
        const int64_t right = i <= b->rank ? b->dims[b->rank - i] : 1;
        if (left != right && left != 1 && right != 1)
            return false;
        *batch = times(*batch, left == 1 ? right : left);
    }
    return true;
}

/* Rows of an input against weights of N by K; what comes before the last size are rows. */
static bool linear(const struct operand *a, const struct operand *b, struct product *p)
{
    if (a->rank == 0 || b->rank == 0 || b->rank > 2)
        return false;
    p->batch = 1;
    p->k = a->dims[a->rank - 1];
    p->m = a->rank > 1 ? times(outer(a), a->dims[a->rank - 2]) : 1;
    p->n = b->rank == 2 ? b->dims[0] : 1;
    return b->dims[b->rank - 1] == p->k;
}

/* Rows of a shared out between the matrices of b, or both in batches; else as one product. */
static bool grouped(const struct operand *a, const struct operand *b, struct product *p)
{
    if (a->rank < 2 || b->rank < 2 || a->rank > 3 || b->rank > 3)
        return false;
    *p = (struct product){.batch = a->rank == 3 && b->rank == 3 ? a->dims[0] : 1,
                          .m = a->dims[a->rank - 2],
                          .n = b->dims[b->rank - 1],
                          .k = a->dims[a->rank - 1]};
    return b->dims[b->rank - 2] == p->k && (a->rank < 3 || b->rank < 3 || a->dims[0] == b->dims[0]);
}

/* As torch.matmul() takes them: vectors, matrices, batches of matrices. */
static bool plain(const struct operand *a, const struct operand *b, struct product *p)
{
    if (a->rank == 0 || b->rank == 0)
        return false;
    p->k = a->dims[a->rank - 1];
    p->m = a->rank > 1 ? a->dims[a->rank - 2] : 1;
    p->n = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    return b->dims[b->rank > 1 ? b->rank - 2 : 0] == p->k && broadcast_outer(a, b, &p->batch);
}

static const struct type *result_type(const struct gemm_arguments *at, const struct call *call)
{
    int64_t number;
    if (at->out >= 0 && call->at[at->out].kind == TENSOR)
        return call->at[at->out].type;
    if (at->out_type >= 0 && value_integer(call, at->out_type, &number) && type_numbered(number))
        return type_numbered(number);
    const struct type *type = type_result(call->at[at->a].type, call->at[at->b].type);
    if (type && (type->precision == TA_PRECISION_FP8 || type->precision == TA_PRECISION_FP4))
        return type_named("bf16"); /* no product gives so narrow a type by itself */
    return type && type->precision == TA_PRECISION_INT8 ? type_named("int32") : type;
}

/* beta · bias: with a beta of 0 it is not read. */
static bool adds_bias(const struct gemm_arguments *at, const struct call *call)
{
    int64_t beta;
    if (!has_tensor(call, at->bias))
        return false;
    return at->beta < 0 || !value_integer(call, at->beta, &beta) || beta != 0;
}

static enum lack count_gemm(const struct formula *formula, const struct call *call,
                            struct work *work)
{
    const struct gemm_arguments *at = &formula->gemm;
    const struct operand *a = &call->at[at->a], *b = &call->at[at->b];
    struct product p;
    if (a->kind != TENSOR || b->kind != TENSOR)
        return LACK_SENSE;
    if (!(at->b_is_transposed ? linear(a, b, &p)
          : at->is_grouped    ? grouped(a, b, &p)
                              : plain(a, b, &p)))
        return LACK_SENSE;
    const bool biased = adds_bias(at, call);
    const int64_t out = times(p.batch, times(p.m, p.n));
    struct traffic traffic = {0};
    traffic_operand(&traffic, a);
    traffic_operand(&traffic, b);
    traffic_add(&traffic, out, result_type(at, call));
    if (biased)
        traffic_operand(&traffic, &call->at[at->bias]);
    work->type = type_result(a->type, b->type);
    const int64_t k = times(p.k, a->type ? a->type->packed : 1);
    if (p.batch != 1)
        shape_add(work, "B=%" PRId64 " ", p.batch);
    shape_add(work, "M=%" PRId64 " N=%" PRId64 " K=%" PRId64 "%s", p.m, p.n, k,
              biased ? " + bias" : "");
    return work_done(work, plus(times(2, times(out, k)), biased ? out : 0), &traffic);
}

/* Arguments: a, b, bias, beta, type of the result, result. */
#define GEMM(form, ...)                                                                            \
    {                                                                                              \
        form, WORK_GEMM, count_gemm,                                                               \
        {                                                                                          \
            .gemm = { __VA_ARGS__ }                                                                \
        }                                                                                          \
    }

/* clang-format off: columns read better than lines filled up. */
const struct formula gemm_formulas[] = {
    /*                                       a  b  bias beta type result  transposed grouped */
    GEMM("aten::mm", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::addmm", 1, 2, 0, 3, -1, -1, false, false),
    GEMM("aten::_addmm_activation", 1, 2, 0, 3, -1, -1, false, false),
    GEMM("aten::bmm", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::baddbmm", 1, 2, 0, 3, -1, -1, false, false),
    GEMM("aten::mv", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::addmv", 1, 2, 0, 3, -1, -1, false, false),
    GEMM("aten::dot", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::vdot", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::matmul", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::linear", 0, 1, 2, -1, -1, -1, true, false),
    GEMM("aten::_int_mm", 0, 1, -1, -1, -1, -1, false, false),
    GEMM("aten::_scaled_mm", 0, 1, 4, -1, 6, -1, false, false),
    GEMM("aten::_grouped_mm", 0, 1, 3, -1, 4, -1, false, true),
    GEMM("aten::_scaled_grouped_mm", 0, 1, 5, -1, 7, -1, false, true),
    GEMM("vllm::rocm_unquantized_gemm", 0, 1, 2, -1, -1, -1, true, false),
    GEMM("_C::cutlass_scaled_mm", 1, 2, 5, -1, -1, 0, false, false),
    {0},
};
/* clang-format on */
