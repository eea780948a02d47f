/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention: the products of queries and keys and of their weights and the values, 2 FLOPs for
 * each pair of a query and a key that it may attend to, and each of their elements. The softmax is
 * not counted.
 *
 * Causal attention has half the pairs of a square; of a rectangle the part below the diagonal that
 * starts in its first or ends in its last corner, which differs between libraries. Backward makes
 * four products and, since no library keeps the weights, the product of queries and keys once more.
 */
#include "lib/work.h"

#include <inttypes.h>

struct attention {
    int64_t batch, heads, key_heads, queries, keys, depth, value_depth;
    int64_t left, right; /* keys before and after the own place; -1: all */
    bool causal;
};

/* ---- pairs --------------------------------------------------------------------------------- */

/* Twice the area below the diagonal of a rectangle of `rows` queries by `columns` keys. */
static int64_t twice_triangle(int64_t rows, int64_t columns, enum causal_corner corner)
{
    const int64_t all = times(2, times(rows, columns));
    if (all == TOO_MUCH)
        return TOO_MUCH;
    if (corner == CORNER_TOP_LEFT)
        return rows <= columns ? times(rows, rows) : all - columns * columns;
    return rows <= columns ? all - rows * rows : times(columns, columns);
}

/* Keys at or before row + offset, added over all rows; none is below 0 or beyond `columns`. */
static int64_t keys_up_to(int64_t rows, int64_t columns, int64_t offset)
{
    const int64_t first = offset < 0 ? -offset : 0; /* row with the first key */
    if (first >= rows)
        return 0;
    const int64_t least = plus(offset < 0 ? 0 : offset, 1);
    if (least > columns)
        return times(columns, rows - first);
    /* Rises by one per row up to `columns`, then stays. */
    const int64_t rising = columns - least + 1 < rows - first ? columns - least + 1 : rows - first;
    const int64_t triangle =
        rising % 2 ? times(rising, (rising - 1) / 2) : times(rising / 2, rising - 1);
    return plus(plus(times(rising, least), triangle), times(columns, rows - first - rising));
}

/* Pairs within a window around the own place, counted one by one. */
static int64_t windowed_pairs(const struct attention *a, enum causal_corner corner)
{
    const int64_t shift = corner == CORNER_BOTTOM_RIGHT ? a->keys - a->queries : 0;
    const int64_t right = a->causal ? 0 : a->right;
    const int64_t all = times(a->queries, a->keys);
    if (all == TOO_MUCH)
        return TOO_MUCH;
    const int64_t up_to = right < 0 || right > a->keys + a->queries
                              ? all
                              : keys_up_to(a->queries, a->keys, shift + right);
    const int64_t before = a->left < 0 || a->left > a->keys + a->queries
                               ? 0
                               : keys_up_to(a->queries, a->keys, shift - a->left - 1);
    return up_to == TOO_MUCH || before == TOO_MUCH ? TOO_MUCH : up_to - before;
}

/* Twice the number of pairs: half of a square may be odd. */
static int64_t twice_pairs(const struct attention *a, enum causal_corner corner)
{
    if (a->left >= 0 || (a->right >= 0 && !a->causal))
        return times(2, windowed_pairs(a, corner));
    return a->causal ? twice_triangle(a->queries, a->keys, corner)
                     : times(2, times(a->queries, a->keys));
}

/* ---- arguments ----------------------------------------------------------------------------- */

struct tensors {
    const struct operand *q, *k, *v;
};

/* Some wrappers hand the two sizes over in the other order. No model has so many heads, of so few
 * tokens. */
static bool is_swapped(const struct attention_arguments *at, const struct operand *q)
{
    enum { HEADS_MOST = 256 };
    const size_t heads = at->heads_first ? 1 : 2, length = at->heads_first ? 2 : 1;
    return q->dims[heads] > HEADS_MOST && q->dims[length] <= HEADS_MOST;
}

/* Batch, heads, length, depth in either order; a tensor of three sizes has no batch. */
static bool read_sizes(const struct attention_arguments *at, const struct tensors *t,
                       struct attention *a)
{
    if (t->q->rank != 4 || t->k->rank != 4 || t->v->rank != 4)
        return false;
    const bool heads_first = at->heads_first != is_swapped(at, t->q);
    const size_t heads = heads_first ? 1 : 2, length = heads_first ? 2 : 1;
    *a = (struct attention){.batch = t->q->dims[0],
                            .heads = t->q->dims[heads],
                            .key_heads = t->k->dims[heads],
                            .queries = t->q->dims[length],
                            .keys = t->k->dims[length],
                            .depth = t->q->dims[3],
                            .value_depth = t->v->dims[3],
                            .left = -1,
                            .right = -1};
    return t->k->dims[0] == a->batch && t->v->dims[0] == a->batch && t->k->dims[3] == a->depth &&
           t->v->dims[length] == a->keys && t->v->dims[heads] > 0 && a->key_heads > 0 &&
           a->heads % a->key_heads == 0 && a->heads % t->v->dims[heads] == 0;
}

/* Sequences of several lengths after one another: tokens, heads, depth. Their lengths are in a
 * tensor, whose values are not recorded; only if all are as long as the longest they are known. */
static enum lack read_packed(const struct attention_arguments *at, const struct call *call,
                             const struct tensors *t, struct attention *a)
{
    if (at->queries < 0 || t->q->rank != 3 || t->k->rank != 3 || t->v->rank != 3)
        return LACK_SENSE;
    const struct operand *starts = &call->at[at->queries - 2];
    int64_t longest[2];
    if (starts->kind != TENSOR || starts->rank != 1 || starts->dims[0] < 2 ||
        !value_integer(call, at->queries, &longest[0]) ||
        !value_integer(call, at->keys, &longest[1]))
        return LACK_LENGTHS;
    *a = (struct attention){.batch = starts->dims[0] - 1,
                            .heads = t->q->dims[1],
                            .key_heads = t->k->dims[1],
                            .queries = longest[0],
                            .keys = longest[1],
                            .depth = t->q->dims[2],
                            .value_depth = t->v->dims[2],
                            .left = -1,
                            .right = -1};
    if (times(a->batch, longest[0]) != t->q->dims[0] ||
        times(a->batch, longest[1]) != t->k->dims[0])
        return LACK_LENGTHS;
    return a->key_heads > 0 && a->heads % a->key_heads == 0 ? LACK_NOTHING : LACK_SENSE;
}

/* Whether attention is causal, and its window. */
static enum lack read_mask(const struct attention_arguments *at, const struct call *call,
                           struct attention *a)
{
    int64_t number;
    if (!call->has_values)
        return LACK_ARGUMENTS;
    if (at->causal >= 0)
        a->causal = value_truth(call, at->causal, false);
    if (at->mask_type >= 0 && value_integer(call, at->mask_type, &number))
        a->causal = number != 0;
    if (at->window >= 0 && value_integer(call, at->window, &number))
        a->left = number;
    if (at->window >= 0 && value_integer(call, at->window + 1, &number))
        a->right = number;
    return LACK_NOTHING;
}

static enum causal_corner corner_of(const struct attention_arguments *at, const struct call *call)
{
    int64_t type;
    if (at->mask_type >= 0 && value_integer(call, at->mask_type, &type))
        return type == 2 ? CORNER_BOTTOM_RIGHT : CORNER_TOP_LEFT;
    return at->corner;
}

/* ---- formula ------------------------------------------------------------------------------- */

static enum lack count_attention(const struct formula *formula, const struct call *call,
                                 struct work *work)
{
    const struct attention_arguments *at = &formula->attention;
    const struct tensors t = {&call->at[at->q], &call->at[at->q + 1], &call->at[at->q + 2]};
    struct attention a;
    if (t.q->kind != TENSOR || t.k->kind != TENSOR || t.v->kind != TENSOR)
        return LACK_SENSE;
    enum lack lack = read_sizes(at, &t, &a) ? LACK_NOTHING : read_packed(at, call, &t, &a);
    if (lack == LACK_NOTHING)
        lack = read_mask(at, call, &a);
    if (lack != LACK_NOTHING)
        return lack;
    const int64_t pairs = twice_pairs(&a, corner_of(at, call));
    const int64_t out = times(times(a.batch, a.queries), times(a.heads, a.value_depth));
    struct traffic traffic = {0};
    for (int pass = 0; pass <= at->is_backward; pass++) { /* read, and write their gradients */
        traffic_operand(&traffic, t.q);
        traffic_operand(&traffic, t.k);
        traffic_operand(&traffic, t.v);
        traffic_add(&traffic, out, t.q->type); /* written; backward: read with its gradient */
    }
    if (at->bias >= 0)
        traffic_operand(&traffic, &call->at[at->bias]);
    work->type = t.q->type;
    shape_add(work, "B=%" PRId64 " H=%" PRId64, a.batch, a.heads);
    if (a.key_heads != a.heads)
        shape_add(work, "/%" PRId64, a.key_heads);
    shape_add(work, " Nq=%" PRId64 " Nk=%" PRId64 " d=%" PRId64, a.queries, a.keys, a.depth);
    if (a.value_depth != a.depth)
        shape_add(work, "/%" PRId64, a.value_depth);
    if (a.causal)
        shape_add(work, " causal");
    if (a.left >= 0 || (a.right >= 0 && !a.causal))
        shape_add(work, " window=%" PRId64 "/%" PRId64, a.left, a.causal ? 0 : a.right);
    const int64_t depths = at->is_backward ? plus(times(3, a.depth), times(2, a.value_depth))
                                           : plus(a.depth, a.value_depth);
    return work_done(work, times(times(times(a.batch, a.heads), depths), pairs), &traffic);
}

bool attention_sizes_of(const struct formula *formula, const struct call *call,
                        struct attention_sizes *sizes)
{
    if (formula->count != count_attention || formula->attention.is_backward)
        return false;
    const struct attention_arguments *at = &formula->attention;
    const struct tensors t = {&call->at[at->q], &call->at[at->q + 1], &call->at[at->q + 2]};
    struct attention a;
    if (t.q->kind != TENSOR || t.k->kind != TENSOR || t.v->kind != TENSOR ||
        (!read_sizes(at, &t, &a) && read_packed(at, call, &t, &a) != LACK_NOTHING))
        return false;
    *sizes = (struct attention_sizes){a.batch, a.heads, a.queries, a.keys, a.depth};
    return true;
}

/* No model has more heads than tokens. */
bool attention_sizes_guess(const struct call *call, struct attention_sizes *sizes)
{
    const struct operand *q = &call->at[0], *k = &call->at[1];
    const bool heads_first = q->rank == 4 && q->dims[1] < q->dims[2];
    const struct attention_arguments at = {.heads_first = heads_first};
    const struct tensors t = {q, k, &call->at[2]};
    struct attention a;
    if (q->kind != TENSOR || k->kind != TENSOR || t.v->kind != TENSOR || !read_sizes(&at, &t, &a))
        return false;
    *sizes = (struct attention_sizes){a.batch, a.heads, a.queries, a.keys, a.depth};
    return true;
}

/* clang-format off: columns read better than lines filled up. */
#define SDPA(form, q, causal, mask, bias, window, n_q, n_k, heads_first, corner, backward)         \
    {                                                                                              \
        form, WORK_ATTENTION, count_attention,                                                     \
        {                                                                                          \
            .attention = {                                                                         \
                q,                                                                                 \
                causal,                                                                            \
                mask,                                                                              \
                bias,                                                                              \
                window,                                                                            \
                n_q,                                                                               \
                n_k,                                                                               \
                heads_first,                                                                       \
                corner,                                                                            \
                backward                                                                           \
            }                                                                                      \
        }                                                                                          \
    }
#define FIRST CORNER_TOP_LEFT
#define LAST CORNER_BOTTOM_RIGHT

const struct formula attention_formulas[] = {
    /* Arguments: q, causal, type of mask, bias, window, longest query and key (the tensors of
     * starts stand two before each).  Then: heads before lengths, corner, backward. */
    SDPA("aten::scaled_dot_product_attention", 0, 5, -1, 3, -1, -1, -1, true, FIRST, 0),
    SDPA("aten::_scaled_dot_product_attention_math", 0, 5, -1, 3, -1, -1, -1, true, FIRST, 0),
    SDPA("aten::_scaled_dot_product_flash_attention", 0, 4, -1, -1, -1, -1, -1, true, LAST, 0),
    SDPA("aten::_scaled_dot_product_efficient_attention", 0, 6, -1, 3, -1, -1, -1, true, FIRST, 0),
    SDPA("aten::_scaled_dot_product_cudnn_attention", 0, 6, -1, 3, -1, -1, -1, true, FIRST, 0),
    SDPA("aten::_scaled_dot_product_fused_attention_overrideable", 0, 5, -1, 3, -1, -1, -1, true,
         FIRST, 0),
    SDPA("aten::_flash_attention_forward", 0, 8, -1, -1, 11, 5, 6, false, LAST, 0),
    SDPA("aten::_efficient_attention_forward", 0, -1, 9, 3, -1, 6, 7, false, FIRST, 0),
    SDPA("aten::_cudnn_attention_forward", 0, 10, -1, 3, -1, 6, 7, true, FIRST, 0),
    SDPA("flash_attn::_flash_attn_forward", 0, 5, -1, -1, 6, -1, -1, false, LAST, 0),
    SDPA("aiter::_flash_attn_forward", 0, 5, -1, -1, 6, -1, -1, false, LAST, 0),
    SDPA("aiter::mha_fwd", 0, 5, -1, -1, 6, -1, -1, false, LAST, 0),
    SDPA("aiter::fmha_v3_fwd", 0, 5, -1, -1, 6, -1, -1, false, LAST, 0),
    SDPA("flash_attn::_flash_attn_varlen_forward", 0, 9, -1, -1, 10, 5, 6, false, LAST, 0),
    SDPA("aten::_scaled_dot_product_flash_attention_backward", 1, 11, -1, -1, -1, -1, -1, true,
         LAST, 1),
    SDPA("aten::_scaled_dot_product_efficient_attention_backward", 1, 11, -1, 4, -1, -1, -1, true,
         FIRST, 1),
    SDPA("aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, -1, 8, -1, -1, -1, true,
         FIRST, 1),
    SDPA("aten::_flash_attention_backward", 1, 11, -1, -1, 15, 8, 9, false, LAST, 1),
    SDPA("aten::_efficient_attention_backward", 1, -1, 14, 4, -1, 8, 9, false, FIRST, 1),
    SDPA("flash_attn::_flash_attn_backward", 1, 11, -1, -1, 12, -1, -1, false, LAST, 1),
    {0},
};
/* clang-format on */
