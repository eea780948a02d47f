/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of one side with their calls and times, from a table of its reports. */
#include "compare/compare.h"

#include <stdlib.h>

static int by_name(const void *left, const void *right)
{
    const struct diff_item *a = left, *b = right;
    const int order = ta_slice_compare(a->name, b->name);
    if (order)
        return order;
    if (a->total_ns != b->total_ns)
        return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
    return ta_slice_compare(a->group, b->group);
}

static bool is_wanted(const struct diff_source *source, struct ta_slice group)
{
    if (!source->groups)
        return true;
    for (const char *const *g = source->groups; *g; g++)
        if (ta_slice_equal(group, ta_slice_of(*g)))
            return true;
    return false;
}

/* Sorts, and adds up rows of one name: of several ranks, or of several groups. */
static void settle(struct diff_items *items)
{
    size_t n = 0;
    qsort(items->at, items->n, sizeof *items->at, by_name);
    for (size_t i = 0; i < items->n; i++) {
        if (n && ta_slice_equal(items->at[n - 1].name, items->at[i].name)) {
            items->at[n - 1].calls = ta_add_sat(items->at[n - 1].calls, items->at[i].calls);
            items->at[n - 1].total_ns =
                ta_add_sat(items->at[n - 1].total_ns, items->at[i].total_ns);
            items->at[n - 1].self_ns = ta_add_sat(items->at[n - 1].self_ns, items->at[i].self_ns);
        } else {
            items->at[n++] = items->at[i];
        }
    }
    items->n = n;
}

static void read_rows(const struct ta_refs *in, const struct diff_source *source,
                      struct diff_items *items)
{
    for (size_t i = 0; i < ta_ref_rows(in, source->name); i++) {
        const struct ta_slice group = ta_ref_text(in, source->group, i);
        if (is_wanted(source, group))
            items->at[items->n++] =
                (struct diff_item){.name = ta_ref_text(in, source->name, i),
                                   .group = group,
                                   .calls = diff_amount(in, source->calls, i),
                                   .total_ns = diff_amount(in, source->total, i),
                                   .self_ns = diff_amount(in, source->self, i)};
    }
}

static bool read_run(struct diff *diff, const struct ta_report *report,
                     const struct diff_list *list, struct diff_items *items)
{
    struct ta_refs in;
    ta_readings_open(&in, diff->registry, report);
    size_t rows = 0;
    for (size_t i = 0; i < list->n_sources; i++)
        rows += ta_ref_rows(&in, list->sources[i].name);
    *items = (struct diff_items){NULL, 0};
    if (rows == 0)
        return true;
    items->at = ta_arena_alloc(&diff->arena, rows * sizeof *items->at);
    if (!items->at)
        return false;
    for (size_t i = 0; i < list->n_sources; i++)
        read_rows(&in, &list->sources[i], items);
    settle(items);
    return true;
}

static int against_name(const void *name, const void *item)
{
    return ta_slice_compare(*(const struct ta_slice *)name, ((const struct diff_item *)item)->name);
}

/* The totals of one run, by the names of the shown one. */
static bool add_run(struct diff *diff, int side, size_t run, const struct diff_list *list,
                    struct diff_items *items)
{
    struct diff_items other;
    if (!read_run(diff, diff->sides[side].runs[run], list, &other))
        return false;
    for (size_t i = 0; i < items->n; i++) {
        const struct diff_item *found =
            other.n ? bsearch(&items->at[i].name, other.at, other.n, sizeof *other.at, against_name)
                    : NULL;
        items->at[i].run_ns[run] = found ? found->total_ns : TA_MISSING;
    }
    return true;
}

bool diff_items_read(struct diff *diff, int side, const struct diff_list *list,
                     struct diff_items *items)
{
    const size_t runs = diff->sides[side].n;
    if (!read_run(diff, diff->shown[side], list, items))
        return false;
    int64_t *cells = ta_arena_alloc(&diff->arena, items->n * runs * sizeof *cells);
    if (!cells)
        return false;
    for (size_t i = 0; i < items->n; i++)
        items->at[i].run_ns = cells + i * runs;
    bool done = true;
    for (size_t run = 0; done && run < runs; run++)
        done = add_run(diff, side, run, list, items);
    return done;
}
