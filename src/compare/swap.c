/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/swap.h"

#include "report/unit.h"

#include <math.h>

/* Less than this share of the time of a kind is of kernels that both sides have: the others took
 * the place of each other. */
#define STAYED_MOST 0.2

/* Times of one side by kind. */
struct kind {
    struct ta_slice name;
    double ns, stayed, alone; /* all, of names that both sides have, of names without a mate */
    int64_t calls;
    const struct diff_item *longest;
};

enum { KINDS_MOST = 32 };

struct kinds {
    struct kind at[KINDS_MOST];
    size_t n;
};

static struct kind *kind_at(struct kinds *kinds, struct ta_slice name)
{
    size_t i = 0;
    while (i < kinds->n && !ta_slice_equal(kinds->at[i].name, name))
        i++;
    if (i == KINDS_MOST)
        return NULL;
    if (i == kinds->n)
        kinds->at[kinds->n++] = (struct kind){.name = name};
    return &kinds->at[i];
}

static void add_up(const struct diff *diff, int side, struct kinds *kinds)
{
    for (size_t i = 0; i < diff->kernels.n; i++) {
        const struct diff_item *item = diff->kernels.at[i].item[side];
        struct kind *kind = item && item->kind.len ? kind_at(kinds, item->kind) : NULL;
        if (!kind)
            continue;
        const double ns = diff_per_unit(diff, side, item->total_ns);
        kind->ns += ns;
        kind->calls += item->calls;
        kind->stayed += item->mate && item->method == DIFF_EXACT ? ns : 0;
        kind->alone += item->mate ? 0 : ns;
        if (!kind->longest || item->total_ns > kind->longest->total_ns)
            kind->longest = item;
    }
}

/* Work that an exchange is of; others come and go with it. */
static bool is_main(struct ta_slice kind)
{
    return ta_slice_equal(kind, TA_LIT("attention")) || ta_slice_equal(kind, TA_LIT("gemm")) ||
           ta_slice_equal(kind, TA_LIT("conv"));
}

static bool is_exchanged(const struct kind *base, const struct kind *new)
{
    return base->ns > 0 && new->ns > 0 &&
           base->stayed <= STAYED_MOST * base->ns &&new->stayed <= STAYED_MOST *new->ns &&
           !ta_slice_equal(base->longest->name, new->longest->name);
}

/* What came or went without a counterpart, where that changed most. */
static void find_company(struct kinds kinds[TA_DIFF_SIDES], struct diff_swap *swap)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < kinds[side].n; i++) {
            const struct ta_slice name = kinds[side].at[i].name;
            const struct kind *base = kind_at(&kinds[TA_DIFF_BASE], name);
            const struct kind *new = kind_at(&kinds[TA_DIFF_NEW], name);
            const double change = base && new ? new->alone - base->alone : 0;
            if (!is_main(name) && fabs(change) > fabs(swap->company_ns)) {
                swap->company = name;
                swap->company_ns = change;
            }
        }
}

bool diff_find_swap(const struct diff *diff, struct diff_swap *swap)
{
    struct kinds kinds[TA_DIFF_SIDES] = {{.n = 0}, {.n = 0}};
    *swap = (struct diff_swap){0};
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        add_up(diff, side, &kinds[side]);
    for (size_t i = 0; i < kinds[TA_DIFF_BASE].n; i++) {
        const struct kind *base = &kinds[TA_DIFF_BASE].at[i];
        const struct kind *new = kind_at(&kinds[TA_DIFF_NEW], base->name);
        if (!new || !is_main(base->name) || !is_exchanged(base, new) ||
            base->ns + new->ns < swap->ns[TA_DIFF_BASE] + swap->ns[TA_DIFF_NEW])
            continue;
        *swap = (struct diff_swap){.kind = base->name,
                                   .name = {base->longest->name, new->longest->name},
                                   .ns = {base->ns, new->ns},
                                   .calls = {base->calls, new->calls}};
    }
    if (swap->kind.len)
        find_company(kinds, swap);
    return swap->kind.len > 0;
}

/* ---- as text -------------------------------------------------------------------------------- */

enum { NAME_MOST = 32 };

static const char *word_of(struct ta_slice kind)
{
    static const struct {
        const char *kind, *word;
    } words[] = {{"quant", "quantization kernels"},
                 {"copy", "copies and casts"},
                 {"elementwise", "element-wise kernels"},
                 {"reduce", "reductions"},
                 {"norm", "norms"},
                 {"index", "gathers"},
                 {"triton", "Triton kernels"}};
    for (size_t i = 0; i < TA_LENGTH(words); i++)
        if (ta_slice_equal(kind, ta_slice_of(words[i].kind)))
            return words[i].word;
    return "other kernels";
}

/* "5.00 µs more". */
static const char *more(struct diff *diff, double ns)
{
    char text[TA_UNIT_TEXT_MAX];
    return ta_arena_printf(&diff->arena, "%s %s", ta_unit_format(text, fabs(ns), TA_UNIT_NS),
                           ns > 0 ? "more" : "less");
}

const char *diff_swap_text(struct diff *diff, const struct diff_swap *swap)
{
    const struct ta_slice old = diff_brief(diff, swap->name[TA_DIFF_BASE], NAME_MOST);
    const struct ta_slice new = diff_brief(diff, swap->name[TA_DIFF_NEW], NAME_MOST);
    const double change = swap->ns[TA_DIFF_NEW] - swap->ns[TA_DIFF_BASE];
    const bool as_often = swap->calls[TA_DIFF_BASE] == swap->calls[TA_DIFF_NEW] &&
                          swap->calls[TA_DIFF_BASE] > 0 && !diff->unit;
    const char *of_kind =
        more(diff, as_often ? change / (double)swap->calls[TA_DIFF_BASE] : change);
    const char *of_company =
        fabs(swap->company_ns) > fabs(change) / 10
            ? ta_arena_printf(&diff->arena, ", and %s take %s", word_of(swap->company),
                              more(diff, swap->company_ns))
            : "";
    return ta_arena_printf(&diff->arena, "%.*s instead of %.*s: %s kernels take %s%s%s",
                           (int)new.len, new.ptr, (int)old.len, old.ptr,
                           ta_slice_equal(swap->kind, TA_LIT("attention")) ? "its" : "their",
                           of_kind, as_often ? " a call" : "", of_company ? of_company : "");
}
