/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dumps that belong together: copies of one set of records share their rank, and a dump that names
 * traces as its own gives them its rank. */
#include "discover/rank_sets.h"

#include <stdlib.h>

struct ta_slice ta_copy_folder(const char *shown)
{
    const char *end = strrchr(shown, '/');
    struct ta_slice folder = {shown, end ? (size_t)(end - shown) : 0};
    size_t start = folder.len;
    while (start > 0 && shown[start - 1] != '/')
        start--;
    const char *name = shown + start;
    size_t digits = folder.len;
    while (digits > start && shown[digits - 1] >= '0' && shown[digits - 1] <= '9')
        digits--;
    const size_t word = digits - start - (digits > start && strchr("_-", shown[digits - 1]));
    if (digits < folder.len && word == 4 && memcmp(name, "rank", 4) == 0)
        folder.len = start ? start - 1 : 0;
    return folder;
}

bool ta_folder_is_below(struct ta_slice folder, struct ta_slice above)
{
    return above.len == 0 ||
           (folder.len >= above.len && memcmp(folder.ptr, above.ptr, above.len) == 0 &&
            (folder.len == above.len || folder.ptr[above.len] == '/'));
}

static int by_set(const void *left, const void *right)
{
    const struct ta_rank_claim *a = *(const struct ta_rank_claim *const *)left;
    const struct ta_rank_claim *b = *(const struct ta_rank_claim *const *)right;
    int order = ta_slice_compare(ta_copy_folder(a->shown), ta_copy_folder(b->shown));
    if (!order)
        order = strcmp(a->set, b->set);
    return order ? order : (a > b) - (a < b);
}

/* The one rank of files that know theirs, or TA_MISSING; `rank` is the rank of the files before. */
static bool join(const struct ta_rank_claim *claim, int64_t *rank)
{
    if (claim->source == TA_RANK_DEFAULT || claim->rank == TA_MISSING)
        return true;
    if (*rank != TA_MISSING && *rank != claim->rank)
        return false;
    *rank = claim->rank;
    return true;
}

static void adopt(struct ta_rank_claim *claim, int64_t rank)
{
    if (claim->source != TA_RANK_DEFAULT || rank == TA_MISSING)
        return;
    claim->rank = rank;
    claim->source = TA_RANK_CONTENT;
}

/* Files of one set and folder that say no rank have the rank of the others. */
static void share_in_sets(struct ta_rank_claim **list, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        int64_t rank = TA_MISSING;
        bool one = true;
        for (end = first; end < n; end++) {
            if (ta_slice_compare(ta_copy_folder(list[first]->shown),
                                 ta_copy_folder(list[end]->shown)) != 0 ||
                strcmp(list[first]->set, list[end]->set) != 0)
                break;
            one = one && join(list[end], &rank);
        }
        for (size_t i = first; one && i < end; i++)
            adopt(list[i], rank);
    }
}

/* A console copy that says no rank has the one of the dumps in and below its folder. */
static void share_with_console(struct ta_rank_claim *console, const struct ta_rank_claim *claims,
                               size_t n)
{
    const struct ta_slice above = ta_copy_folder(console->shown);
    int64_t rank = TA_MISSING;
    for (size_t i = 0; i < n; i++)
        if (claims[i].is_dump && ta_folder_is_below(ta_copy_folder(claims[i].shown), above) &&
            !join(&claims[i], &rank))
            return;
    adopt(console, rank);
}

void ta_ranks_share(struct ta_rank_claim *claims, size_t n, struct ta_rank_claim **list)
{
    size_t n_list = 0;
    for (size_t i = 0; i < n; i++)
        if (claims[i].is_dump && claims[i].set && *claims[i].set && !claims[i].is_console)
            list[n_list++] = &claims[i];
    if (n_list)
        qsort(list, n_list, sizeof *list, by_set);
    share_in_sets(list, n_list);
    for (size_t i = 0; i < n; i++)
        if (claims[i].is_console && claims[i].source == TA_RANK_DEFAULT)
            share_with_console(&claims[i], claims, n);
}

bool ta_is_product(const char *dump, const char *const *products, const char *shown)
{
    const char *name = strrchr(shown, '/');
    name = name ? name + 1 : shown;
    for (; products && *products; products++)
        if (strcmp(*products, name) == 0)
            return ta_slice_compare(ta_copy_folder(dump), ta_copy_folder(shown)) == 0;
    return false;
}

int64_t ta_rank_of_owner(const struct ta_rank_claim *trace, const struct ta_rank_claim *claims,
                         size_t n)
{
    int64_t rank = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        if (!claims[i].is_dump || claims[i].rank == TA_MISSING ||
            !ta_is_product(claims[i].shown, claims[i].products, trace->shown))
            continue;
        if (rank != TA_MISSING && rank != claims[i].rank)
            return TA_MISSING;
        rank = claims[i].rank;
    }
    return rank;
}
