/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel degrees that make ranks communicate more than they need to. */
#include "lib/degrees.h"

#include <math.h>

enum { RANKS_MOST = 4096 };

/* How many GPUs a node has, where rank r has device r mod N; 0 where devices tell nothing, as when
 * each process sees its own alone. */
static int64_t node_of(const struct ta_refs *in, size_t first)
{
    const size_t rank = first + DEGREES_GPU_RANK, device = first + DEGREES_GPU_DEVICE;
    int64_t most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, rank); i++)
        most = ta_max_i64(most, ta_ref_integer(in, device, i));
    for (size_t i = 0; i < ta_ref_rows(in, rank); i++)
        if (ta_ref_integer(in, rank, i) < 0 ||
            ta_ref_integer(in, rank, i) % (most + 1) != ta_ref_integer(in, device, i))
            return 0;
    return most >= 1 ? most + 1 : 0;
}

/* How many nodes the ranks of "[0, 4, 8]" are on; 0 where the list is not whole. */
static int64_t nodes_of(struct ta_slice text, int64_t per_node)
{
    int64_t nodes = 0, last = -1, value = -1;
    for (size_t i = 0; i <= text.len; i++) {
        const char c = i < text.len ? *ta_slice_at(text, i) : ']';
        if (c == '.')
            return 0;
        if (c >= '0' && c <= '9' && value < RANKS_MOST) {
            value = 10 * (value < 0 ? 0 : value) + c - '0';
            continue;
        }
        nodes += value >= 0 && value / per_node != last;
        last = value >= 0 ? value / per_node : last;
        value = -1;
    }
    return nodes;
}

/* The kind of group with more than half of the communication; SIZE_MAX without. */
static size_t main_groups(const struct ta_refs *in, size_t first)
{
    const double all = ta_ref_sum(in, first + DEGREES_TOTAL);
    for (size_t i = 0; i < ta_ref_rows(in, first + DEGREES_TOTAL); i++)
        if (ta_ref_number(in, first + DEGREES_TOTAL, i, 0) > 0.5 * all)
            return i;
    return SIZE_MAX;
}

static bool is_any(const struct ta_refs *in, size_t first, size_t row, const char *const *words)
{
    for (; *words; words++)
        if (ta_ref_reads(in, first + DEGREES_DIMENSION, row, *words))
            return true;
    return false;
}

static struct ta_degrees across_nodes(const struct ta_refs *in, struct ta_advice *advice,
                                      size_t first, size_t row, int64_t size)
{
    static const char *const within[] = {"sequence", "tensor", NULL};
    const int64_t per_node = node_of(in, first);
    const int64_t nodes =
        per_node ? nodes_of(ta_ref_text(in, first + DEGREES_RANKS, row), per_node) : 0;
    if (nodes < 2 || !is_any(in, first, row, within))
        return (struct ta_degrees){.what = NULL};
    const bool is_tensor = ta_ref_reads(in, first + DEGREES_DIMENSION, row, "tensor");
    const char *kind = is_tensor ? "tensor" : "sequence";
    return (struct ta_degrees){
        .what = ta_advice_printf(advice, "Groups of %s parallelism span %lld nodes", kind,
                                 (long long)nodes),
        .advice =
            size <= per_node
                ? ta_advice_printf(advice,
                                   "Order the ranks so that the %lld of each group share a node, "
                                   "and let ring attention, guidance or requests span the nodes.",
                                   (long long)size)
                : ta_advice_printf(advice,
                                   "Keep its degree to the %lld GPUs of a node, and divide the "
                                   "rest by %s, which sends less between nodes.",
                                   (long long)per_node,
                                   is_tensor ? "pipeline or sequence parallelism"
                                             : "ring attention, guidance or requests"),
        .least = 0,
        .most = 1,
    };
}

/* Groups of n ranks run two passes; of n/2 ranks one pass each.  In a pass each
 * rank sends (n - 1) / n of an n-th of the data with sequence parallelism, and 2 (n - 1) / n of all
 * of it with tensor parallelism. */
static struct ta_degrees of_guidance(const struct ta_refs *in, struct ta_advice *advice,
                                     size_t first, size_t row, int64_t size)
{
    static const char *const divides[] = {"sequence", "tensor", NULL};
    const struct ta_run_info *run = ta_report_run(in->report);
    const int64_t world = ta_max_i64(run->world_size, (int64_t)run->n_ranks);
    for (size_t i = 0; i < ta_ref_rows(in, first + DEGREES_SIZE); i++)
        if (ta_ref_reads(in, first + DEGREES_DIMENSION, i, "guidance"))
            return (struct ta_degrees){.what = NULL};
    if (ta_ref_rows(in, first + DEGREES_PASS_RANK) == 0 || size < 2 || size % 2 || size != world ||
        !is_any(in, first, row, divides))
        return (struct ta_degrees){.what = NULL};
    const bool is_tensor = ta_ref_reads(in, first + DEGREES_DIMENSION, row, "tensor");
    const double n = (double)size;
    const double less = is_tensor ? n / (2 * (n - 1)) : 1 / (n - 1);
    return (struct ta_degrees){
        .what = ta_advice_printf(advice, "Both guidance passes of a step run on all %lld ranks",
                                 (long long)size),
        .advice = ta_advice_printf(
            advice, "Run each pass on half of the ranks (CFG parallel, degree 2): %s.",
            size == 2 ? "then only the results of a step are exchanged"
                      : ta_advice_printf(advice, "groups of %lld send %s less", (long long)size / 2,
                                         ta_advice_number(advice, less, TA_UNIT_RATIO))),
        .least = 0.6 * less,
        .most = less,
    };
}

struct ta_degrees ta_degrees_of(const struct ta_refs *in, struct ta_advice *advice, size_t first)
{
    const size_t row = main_groups(in, first);
    const int64_t size = row == SIZE_MAX ? 0 : ta_ref_integer(in, first + DEGREES_SIZE, row);
    if (size < 2)
        return (struct ta_degrees){.what = NULL};
    const struct ta_degrees degrees = across_nodes(in, advice, first, row, size);
    return degrees.what ? degrees : of_guidance(in, advice, first, row, size);
}
