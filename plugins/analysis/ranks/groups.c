/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Process groups: the ranks whose collectives name the same one. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *const groups_args[] = {"Process Group Name", "Process Group Description",
                                   "Process Group Ranks", NULL};

/* ---- reading ------------------------------------------------------------------------------- */

static struct ta_slice text_of(const struct ta_trace *trace, ta_str text)
{
    return text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, text);
}

void groups_map(const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_args names = ta_trace_args(trace, groups_args[0]);
    const struct ta_args descriptions = ta_trace_args(trace, groups_args[1]);
    const struct ta_args ranks = ta_trace_args(trace, groups_args[2]);
    for (size_t i = 0; i < names.n; i++) {
        char number[24];
        struct ta_slice name = {number, 0};
        if (names.is_text[i])
            name = ta_trace_text(trace, (ta_str)names.value[i]);
        else
            name.len = (size_t)snprintf(number, sizeof number, "%" PRId64, names.value[i]);
        int64_t *row =
            TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_text(name),
                           ta_key_text(text_of(trace, ta_args_text(&descriptions, names.row[i]))),
                           ta_key_text(text_of(trace, ta_args_text(&ranks, names.row[i]))));
        ta_sum(&row[GROUP_CALLS], 1);
    }
}

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

static size_t list_members(const struct ta_partial *groups, struct member *members)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_partial_rows(groups); i++) {
        const int64_t *row = ta_partial_at(groups, i);
        if (row[GROUP_RANK] != TA_MISSING)
            members[n++] =
                (struct member){ta_partial_text(groups, row, GROUP_DESCRIPTION),
                                ta_partial_text(groups, row, GROUP_NAME),
                                ta_partial_text(groups, row, GROUP_RANKS), row[GROUP_RANK]};
    }
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

static bool add_all(const struct ta_partial *groups, struct parts *parts)
{
    struct member *members = calloc(ta_partial_rows(groups) + 1, sizeof *members);
    const size_t n = members ? list_members(groups, members) : 0;
    bool done = members != NULL;
    for (size_t first = 0, end; done && first < n; first = end) {
        for (end = first + 1; end < n && is_same(&members[first], &members[end]);)
            end++;
        done = add_group(parts, members + first, end - first);
    }
    free(members);
    return done;
}

bool ranks_add_groups(const struct figures *figures, const struct ta_partial *groups,
                      struct ta_section_builder *out)
{
    struct parts parts = {.title = "Process groups", .compared = "Process groups compared"};
    const bool done = add_all(groups, &parts) && parts_report(figures, &parts, out);
    if (parts.n == 0)
        ta_add_missing(out, "No process groups: the collectives of these inputs do not name theirs "
                            "(--by group).");
    parts_free(&parts);
    return done;
}
