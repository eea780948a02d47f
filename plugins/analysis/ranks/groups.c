/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Process groups: the ranks that name the same one in groups.by_rank. */
#include "parts.h"

#include <stdlib.h>

/* ---- groups -------------------------------------------------------------------------------- */

/* A rank that says to be in a group. */
struct member {
    struct ta_slice description, name, ranks;
    int64_t rank;
};

static int by_group(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = ta_slice_compare(a->description, b->description);
    if (order == 0)
        order = ta_slice_compare(a->name, b->name);
    if (order == 0)
        order = ta_slice_compare(a->ranks, b->ranks);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_same(const struct member *a, const struct member *b)
{
    return ta_slice_equal(a->description, b->description) && ta_slice_equal(a->name, b->name) &&
           ta_slice_equal(a->ranks, b->ranks);
}

static size_t list_members(const struct ta_refs *in, struct member *members)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, GROUPS_RANK); i++)
        if (ta_ref_integer(in, GROUPS_RANK, i) != TA_MISSING)
            members[n++] = (struct member){
                ta_ref_text(in, GROUPS_DESCRIPTION, i), ta_ref_text(in, GROUPS_NAME, i),
                ta_ref_text(in, GROUPS_RANKS, i), ta_ref_integer(in, GROUPS_RANK, i)};
    if (n)
        qsort(members, n, sizeof *members, by_group);
    return n;
}

/* "sequence_parallel 3" with the number or name that torch gave the group. */
static bool add_group(struct parts *parts, const struct member *members, size_t n)
{
    enum { TEXT = 200 };
    const struct ta_slice name = members->name, what = members->description;
    const int name_length = (int)(name.len < TEXT ? name.len : TEXT);
    const int length = (int)(what.len < TEXT ? what.len : TEXT);
    int64_t *ranks = ta_arena_alloc(&parts->arena, n * sizeof *ranks);
    const char *kind =
        what.len ? ta_arena_printf(&parts->arena, "%.*s", length, what.ptr) : "group";
    if (!ranks || !kind)
        return false;
    const char *label = ta_arena_printf(&parts->arena, "%s %.*s", kind, name_length, name.ptr);
    for (size_t i = 0; i < n; i++)
        ranks[i] = members[i].rank;
    return label && parts_add(parts, kind, label, ranks, n);
}

static bool add_all(const struct ta_refs *in, struct parts *parts)
{
    struct member *members = calloc(ta_ref_rows(in, GROUPS_RANK) + 1, sizeof *members);
    const size_t n = members ? list_members(in, members) : 0;
    bool done = members != NULL;
    for (size_t first = 0, end; done && first < n; first = end) {
        for (end = first + 1; end < n && is_same(&members[first], &members[end]);)
            end++;
        done = add_group(parts, members + first, end - first);
    }
    free(members);
    return done;
}

bool ranks_add_groups(const struct figures *figures, const struct ta_refs *in,
                      struct ta_section_builder *out)
{
    struct parts parts = {0};
    const bool done = !ta_ref_table(in, GROUPS_RANK) ||
                      (add_all(in, &parts) && parts_report(figures, in, &parts, out));
    if (parts.n == 0)
        ta_add_missing(out, "No process groups: the collectives of these inputs do not name theirs "
                            "(--by group).");
    parts_free(&parts);
    return done;
}
