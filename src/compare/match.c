/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which name of one side is which of the other, from what is sure to what is likely:
 *
 *     exact        the same name
 *     normalized   the same without numbers, hashes, sizes of tiles and vendors of runtimes
 *     position     run by the same operator at the same place of the program (order.c)
 *     normalized   without arguments of templates and functions
 *     similar      most of the words in common, one to one, the most alike first
 *     position     as many at the same place, where no operator is known (order.c)
 *
 * Kernels that are known to do different work are no pair in any of these but the first.  What is
 * left is added or removed; what took the place of one another among it is a set
 * (replaced.c). */
#include "compare/compare.h"
#include "compare/order.h"
#include "model/kernel.h"

#include <math.h>
#include <stdlib.h>

/* Names of which this share of the words is the same are one. */
#define SIMILAR 0.6
/* They are never more sure than this to be. */
#define SIMILAR_SURE 0.9
/* Beyond, comparing each with each takes too long. */
enum { SIMILAR_MOST = 2000 };

int64_t diff_pair_change(const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    return (new ? new->total_ns : 0) - (base ? base->total_ns : 0);
}

/* ---- exact ---------------------------------------------------------------------------------- */

void diff_join(struct diff_item *base, struct diff_item *new, enum diff_method method,
               double confidence)
{
    base->mate = new;
    new->mate = base;
    base->method = new->method = method;
    base->confidence = new->confidence = confidence;
}

/* Both lists are in the order of their names. */
static void match_exact(struct diff_items items[TA_DIFF_SIDES])
{
    struct diff_items *base = &items[TA_DIFF_BASE], *new = &items[TA_DIFF_NEW];
    for (size_t i = 0, k = 0; i < base->n && k < new->n;) {
        const int order = ta_slice_compare(base->at[i].name, new->at[k].name);
        if (order == 0)
            diff_join(&base->at[i], &new->at[k], DIFF_EXACT, 1);
        i += order <= 0;
        k += order >= 0;
    }
}

/* ---- normalized ----------------------------------------------------------------------------- */

/* A name that has no mate yet. */
struct single {
    struct ta_slice key;
    struct diff_item *item;
    bool is_new;
};

struct singles {
    struct single *at;
    size_t n;
};

static bool list_singles(struct diff *diff, struct diff_items items[TA_DIFF_SIDES],
                         struct singles *singles)
{
    *singles = (struct singles){
        ta_arena_alloc(&diff->arena, (items[0].n + items[1].n + 1) * sizeof *singles->at), 0};
    for (int side = 0; singles->at && side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < items[side].n; i++) {
            struct diff_item *item = &items[side].at[i];
            if (item->mate)
                continue;
            if (!item->words.at)
                item->words = diff_words_of(&diff->arena, item->name);
            singles->at[singles->n++] =
                (struct single){.key = item->name, .item = item, .is_new = side == TA_DIFF_NEW};
        }
    return singles->at && !diff->arena.failed;
}

/* By key, then side, then as they stood: in the order of their names. */
static int by_key(const void *left, const void *right)
{
    const struct single *a = left, *b = right;
    const int order = ta_slice_compare(a->key, b->key);
    if (order)
        return order;
    if (a->is_new != b->is_new)
        return a->is_new - b->is_new;
    return (a->item > b->item) - (a->item < b->item);
}

/* One likely pair. */
struct candidate {
    struct diff_item *base, *new;
    double score;
};

static int by_score(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->score != b->score)
        return (a->score < b->score) - (a->score > b->score);
    if (a->base != b->base)
        return a->base > b->base ? 1 : -1;
    return (a->new > b->new) - (a->new < b->new);
}

/* Sets of too different size are not alike enough, whatever is in them. */
static bool may_reach(struct diff_words a, struct diff_words b, double least)
{
    const size_t fewer = a.n < b.n ? a.n : b.n, more = a.n < b.n ? b.n : a.n;
    return (double)fewer >= least * (double)more;
}

/* As many calls speak for two names; they break ties.  −1 when it is less than `least`. */
static double score_of(const struct diff_item *base, const struct diff_item *new, double least)
{
    if (diff_is_other_kind(base, new) || !may_reach(base->words, new->words, least))
        return -1;
    const double likeness = diff_likeness(base->words, new->words);
    return likeness < least ? -1 : likeness + (base->calls == new->calls ? 1e-3 : 0);
}

/* Joins singles of both sides one to one, the most alike first; false without memory. */
static bool join_best(const struct single *base, size_t n, const struct single *new, size_t m,
                      double least, enum diff_method method, double confidence)
{
    struct candidate *candidates = calloc(n * m + 1, sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; candidates && i < n; i++)
        for (size_t k = 0; k < m; k++) {
            const double score = score_of(base[i].item, new[k].item, least);
            if (score >= 0)
                candidates[count++] = (struct candidate){base[i].item, new[k].item, score};
        }
    if (!candidates)
        return false;
    qsort(candidates, count, sizeof *candidates, by_score);
    for (size_t i = 0; i < count; i++)
        if (!candidates[i].base->mate && !candidates[i].new->mate)
            diff_join(candidates[i].base, candidates[i].new, method,
                      confidence > 0 ? confidence : fmin(candidates[i].score, SIMILAR_SURE));
    free(candidates);
    return true;
}

static bool match_normalized(struct diff *diff, struct diff_items items[TA_DIFF_SIDES],
                             enum diff_level level)
{
    /* Confidence that names with one key are the same, where they are the only ones of their side
     * and where they are not. */
    static const double sure[] = {[DIFF_NUMBERS] = 0.95, [DIFF_ARGUMENTS] = 0.85};
    static const double unsure[] = {[DIFF_NUMBERS] = 0.8, [DIFF_ARGUMENTS] = 0.65};
    struct singles singles;
    if (!list_singles(diff, items, &singles))
        return false;
    for (size_t i = 0; i < singles.n; i++)
        singles.at[i].key = diff_normalize(&diff->arena, singles.at[i].key, level);
    qsort(singles.at, singles.n, sizeof *singles.at, by_key);
    bool done = !diff->arena.failed;
    for (size_t i = 0, middle, end; done && i < singles.n; i = end) {
        for (end = i; end < singles.n && ta_slice_equal(singles.at[end].key, singles.at[i].key);)
            end++;
        for (middle = i; middle < end && !singles.at[middle].is_new;)
            middle++;
        const size_t n = middle - i, m = end - middle;
        if (n && m && n <= SIMILAR_MOST && m <= SIMILAR_MOST)
            done = join_best(&singles.at[i], n, &singles.at[middle], m, 0, DIFF_NORMALIZED,
                             n == 1 && m == 1 ? sure[level] : unsure[level]);
    }
    return done;
}

/* ---- similar -------------------------------------------------------------------------------- */

static bool match_similar(struct diff *diff, struct diff_items items[TA_DIFF_SIDES])
{
    struct singles singles;
    if (!list_singles(diff, items, &singles))
        return false;
    size_t n = 0;
    while (n < singles.n && !singles.at[n].is_new)
        n++;
    const size_t m = singles.n - n;
    if (n == 0 || m == 0 || n > SIMILAR_MOST || m > SIMILAR_MOST)
        return true;
    return join_best(singles.at, n, singles.at + n, m, SIMILAR, DIFF_SIMILAR, 0);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static int by_change(const void *left, const void *right)
{
    const struct diff_pair *a = left, *b = right;
    const int64_t x = llabs(diff_pair_change(a)), y = llabs(diff_pair_change(b));
    if (x != y)
        return (x < y) - (x > y);
    const struct diff_item *first = a->item[TA_DIFF_BASE], *second = b->item[TA_DIFF_BASE];
    first = first ? first : a->item[TA_DIFF_NEW];
    second = second ? second : b->item[TA_DIFF_NEW];
    return ta_slice_compare(first->name, second->name);
}

static void add_pair(struct diff_pairs *pairs, const struct diff_item *base,
                     const struct diff_item *new)
{
    pairs->at[pairs->n++] = (struct diff_pair){.item = {base, new},
                                               .method = base && new ? base->method : DIFF_ALONE,
                                               .confidence = base &&new ? base->confidence : 0,
                                               .set = base && base->set ? base->set
                                                      : new             ? new->set
                                                                        : 0,
                                               .evidence = diff_no_evidence};
}

static bool make_pairs(struct diff *diff, const struct diff_items items[TA_DIFF_SIDES],
                       struct diff_pairs *pairs)
{
    const struct diff_items *base = &items[TA_DIFF_BASE], *new = &items[TA_DIFF_NEW];
    *pairs = (struct diff_pairs){
        ta_arena_alloc(&diff->arena, (base->n + new->n + 1) * sizeof *pairs->at), 0};
    if (!pairs->at)
        return false;
    for (size_t i = 0; i < base->n; i++)
        add_pair(pairs, &base->at[i], base->at[i].mate);
    for (size_t k = 0; k < new->n; k++)
        if (!new->at[k].mate)
            add_pair(pairs, NULL, &new->at[k]);
    qsort(pairs->at, pairs->n, sizeof *pairs->at, by_change);
    return true;
}

static bool has_single(const struct diff_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        if (!items->at[i].mate)
            return true;
    return false;
}

/* Whether the order can help: programs that have the same names are not aligned. */
static bool are_singles_left(const struct diff_items items[TA_DIFF_SIDES])
{
    return has_single(&items[TA_DIFF_BASE]) && has_single(&items[TA_DIFF_NEW]);
}

/* What the names of kernels say of their work. */
static void find_kinds(struct diff_items items[TA_DIFF_SIDES])
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < items[side].n; i++) {
            struct diff_item *item = &items[side].at[i];
            const struct ta_kernel_facts facts = ta_kernel_describe(item->name);
            item->kind = facts.known ? ta_slice_of(ta_kernel_kind_name(facts.kind)) : TA_LIT("");
        }
}

bool diff_match(struct diff *diff, const struct diff_order *order,
                struct diff_items items[TA_DIFF_SIDES], struct diff_pairs *pairs)
{
    const bool tells_work = order && !order->is_of_stages;
    if (tells_work && !order->is_of_ops)
        find_kinds(items);
    match_exact(items);
    bool done = match_normalized(diff, items, DIFF_NUMBERS);
    /* Names without their arguments say little where the program says more. */
    if (done && tells_work && are_singles_left(items))
        done = diff_match_order(diff, order, items);
    done = done && match_normalized(diff, items, DIFF_ARGUMENTS);
    if (done && tells_work && are_singles_left(items))
        done = diff_match_order(diff, order, items);
    done = done && match_similar(diff, items);
    if (done && order && are_singles_left(items))
        done = diff_match_places(diff, order, items);
    /* One without a mate may go with the neighbor of a pair. */
    if (done && tells_work && (has_single(&items[TA_DIFF_BASE]) || has_single(&items[TA_DIFF_NEW])))
        done = diff_match_sets(diff, order, items);
    return done && make_pairs(diff, items, pairs);
}
