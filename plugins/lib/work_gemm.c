/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products: 2·M·N·K FLOPs for each of the batch, M·N more for a bias that is added. */
#include "lib/work.h"

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

/* ---- templates of the compiler -------------------------------------------------------------- */

static int64_t last_size(const struct operand *operand)
{
    return operand->rank ? operand->dims[operand->rank - 1] : 1;
}

/* The K with which a and b make `out`; 0: they do not.  Buffers are recorded as they were made:
 * rows in several sizes, weights in either order. */
static int64_t common_size(const struct operand *a, const struct operand *b,
                           const struct operand *out)
{
    const int64_t n = last_size(out);
    if (a->rank < 2 || b->rank != 2 || n <= 0 || (b->dims[0] != n && b->dims[1] != n))
        return 0;
    const int64_t k = b->dims[b->dims[1] == n ? 0 : 1], m = out->elements / n;
    const bool has_k = last_size(a) == k || (a->rank == 2 && a->dims[0] == k);
    return has_k && a->elements == times(m, k) ? k : 0;
}

/* The last tensor is what comes out; what else is read is added to it or scales it. Only when all
 * pairs that could make it agree on K the work is known. */
static enum lack count_template(const struct formula *formula, const struct call *call,
                                struct work *work)
{
    const struct operand *out = NULL;
    struct traffic traffic = {0};
    int64_t k = 0;
    (void)formula;
    for (size_t i = 0; i < call->n; i++) {
        traffic_operand(&traffic, &call->at[i]);
        out = call->at[i].kind == TENSOR ? &call->at[i] : out;
    }
    for (size_t i = 0; out && out->rank >= 2 && i < call->n; i++)
        for (size_t j = 0; j < call->n; j++) {
            const struct operand *a = &call->at[i], *b = &call->at[j];
            if (i == j || a == out || b == out || a->kind != TENSOR || b->kind != TENSOR)
                continue;
            const int64_t found = common_size(a, b, out);
            if (found > 0 && k > 0 && found != k)
                return LACK_SENSE;
            if (found > 0 && k == 0)
                work->type = type_result(a->type, b->type);
            k = found > 0 ? found : k;
        }
    if (k == 0)
        return LACK_SENSE;
    const int64_t n = last_size(out);
    shape_add(work, "M=%" PRId64 " N=%" PRId64 " K=%" PRId64, out->elements / n, n, k);
    return work_done(work, times(2, times(out->elements, k)), &traffic);
}

const struct formula template_gemm = {
    .name = "triton_tem_", .class = WORK_GEMM, .count = count_template};

/* ---- mixtures of experts ----------------------------------------------------------------------
 */

/* Whether which experts or rows count is said by a tensor, whose values are not recorded. */
static bool is_selective(const struct call *call, size_t from)
{
    for (size_t i = from; i < call->n; i++)
        if (call->at[i].kind == TENSOR && call->at[i].rank == 1 && call->at[i].type &&
            call->at[i].type->precision == TA_PRECISION_ANY)
            return true;
    return false;
}

/* Each row goes through both products of each expert that is chosen for it. */
static enum lack count_experts(const struct formula *formula, const struct call *call,
                               struct work *work)
{
    const struct experts_arguments *at = &formula->experts;
    const struct operand *rows = &call->at[at->rows], *choices = &call->at[at->choices];
    const struct operand *first = &call->at[at->first], *second = &call->at[at->second];
    if (rows->kind != TENSOR || rows->rank != 2 || choices->kind != TENSOR || choices->rank != 2 ||
        first->kind != TENSOR || first->rank != 3 || second->kind != TENSOR || second->rank != 3)
        return LACK_SENSE;
    const int64_t depth = rows->dims[1], experts = first->dims[0], inner = second->dims[2];
    const int64_t wide = first->dims[1], pairs = times(rows->dims[0], choices->dims[1]);
    if (choices->dims[0] != rows->dims[0] || second->dims[0] != experts ||
        first->dims[2] != depth || second->dims[1] != depth ||
        (wide != inner && wide != times(2, inner)))
        return LACK_SENSE;
    if (is_selective(call, (size_t)at->choices + 1))
        return LACK_LENGTHS;
    /* With few rows not all weights are read; of other types it is not known what computes. */
    if (pairs < times(8, experts))
        return LACK_LENGTHS;
    if (rows->type != first->type || first->type != second->type)
        return LACK_TYPES;
    struct traffic traffic = {0};
    traffic_operand(&traffic, rows);
    traffic_operand(&traffic, first);
    traffic_operand(&traffic, second);
    traffic_add(&traffic, rows->elements, rows->type);
    work->type = rows->type;
    shape_add(work, "E=%" PRId64 " top %" PRId64 " M=%" PRId64 " N=%" PRId64 " K=%" PRId64, experts,
              choices->dims[1], rows->dims[0], inner, depth);
    return work_done(work, times(2, times(times(pairs, depth), plus(wide, inner))), &traffic);
}

#define EXPERTS(form)                                                                              \
    {                                                                                              \
        form, WORK_GEMM, count_experts,                                                            \
        {                                                                                          \
            .experts = { 0, 1, 2, 4 }                                                              \
        }                                                                                          \
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
    EXPERTS("vllm::inplace_fused_experts"),
    EXPERTS("vllm::outplace_fused_experts"),
    EXPERTS("aiter::fused_moe_"),
    {0},
};
/* clang-format on */
