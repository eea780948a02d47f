/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.sets, diff.op_sets: kernels and operators that took the place of one another, fused, split
 * or otherwise. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/short_name.h"
#include "traceanalyze/columns.h"

static const struct ta_column columns[] = {
    {"set", "Set", TA_INTEGER, .doc = "Number of the set, from 1"},
    {"kind", "What happened", TA_WORD,
     .doc = "fused: fewer do the work; split: more do; replaced: as many"},
    {"op", "Operator", TA_TEXT, .doc = "The lowest operator or range that all of them are in"},
    {"base_count", "Names before", TA_COUNT, .doc = "How many there were"},
    {"new_count", "Names after", TA_COUNT, .doc = "How many there are"},
    {"base_total_ns", "Before", TA_NS, .better = TA_LOWER, .doc = "Sum of their durations before"},
    {"new_total_ns", "After", TA_NS, .better = TA_LOWER, .doc = "Sum of their durations after"},
    DIFF_CHANGE_COLUMNS(TA_TYPE_INTEGER),
    {"base_names", "Were", TA_TEXT, .doc = "Short names of those before"},
    {"new_names", "Are now", TA_TEXT, .doc = "Short names of those after"},
};

/* "a + b + c" of one side; empty without memory. */
static const char *names_of(struct diff *diff, size_t set, int side)
{
    enum { SHORT = 60 };
    const char *names = "";
    const struct diff_pairs *pairs = diff->sets[set - 1].is_of_ops ? &diff->ops : &diff->kernels;
    for (size_t i = 0; names && i < pairs->n; i++) {
        const struct diff_item *item = pairs->at[i].item[side];
        if (!item || item->set != set)
            continue;
        const struct ta_slice name = ta_short_name(&diff->arena, item->name, SHORT);
        names = ta_arena_printf(&diff->arena, "%s%s%.*s", names, *names ? " + " : "", (int)name.len,
                                name.ptr);
    }
    return names;
}

static const char *kind_of(const struct diff_set *set)
{
    const size_t n = set->names[TA_DIFF_BASE], m = set->names[TA_DIFF_NEW];
    return n > m ? "fused" : n < m ? "split" : "replaced";
}

static void add_set(struct diff *diff, size_t number, struct ta_table_builder *table)
{
    const struct diff_set *set = &diff->sets[number - 1];
    const char *base = names_of(diff, number, TA_DIFF_BASE);
    const char *new = names_of(diff, number, TA_DIFF_NEW);
    const int64_t change = set->ns[TA_DIFF_NEW] - set->ns[TA_DIFF_BASE];
    TA_CELLS(table, ta_int((int64_t)number), ta_text(ta_slice_of(kind_of(set))),
             set->op.len ? ta_text(set->op) : ta_null(), ta_int((int64_t)set->names[TA_DIFF_BASE]),
             ta_int((int64_t)set->names[TA_DIFF_NEW]), ta_int(set->ns[TA_DIFF_BASE]),
             ta_int(set->ns[TA_DIFF_NEW]), ta_int(change), ta_share(change, set->ns[TA_DIFF_BASE]),
             ta_text(ta_slice_of(base)), ta_text(ta_slice_of(new)));
}

bool diff_add_sets(struct diff *diff)
{
    static const struct {
        const char *section, *section_title, *id, *title;
    } tables[] = {
        {"diff_kernels", "Kernels compared", "diff.sets", "Kernels that replaced one another"},
        {"diff_ops", "Operators compared", "diff.op_sets", "Operators that replaced one another"},
    };
    for (int of_ops = 0; of_ops < 2; of_ops++) {
        struct ta_table_builder *table = ta_add_table(
            ta_report_open_section(diff->out, tables[of_ops].section, tables[of_ops].section_title),
            tables[of_ops].id, tables[of_ops].title, columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; i < diff->n_sets; i++)
            if (diff->sets[i].is_of_ops == of_ops)
                add_set(diff, i + 1, table);
    }
    return !diff->arena.failed;
}
