/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.sets, diff.op_sets: kernels and operators that took the place of one another, fused, split
 * or otherwise. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/short_name.h"
#include "traceanalyze/table.h"

enum {
    SET,
    KIND,
    OP,
    BASE_COUNT,
    NEW_COUNT,
    BASE_TOTAL,
    NEW_TOTAL,
    DELTA,
    CHANGE,
    BASE_NAMES,
    NEW_NAMES
};

static const struct ta_column set_columns[] = {
    [SET] = {"set", "Set", TA_INTEGER, .doc = "Number of the set, starting at 1"},
    [KIND] =
        {"kind", "What happened", TA_WORD,
         .doc = "fused: fewer names do the same work; split: more names; replaced: as many names"},
    [OP] = {"op", "Operator", TA_TEXT,
            .doc = "Innermost operator or range that contains all of them"},
    [BASE_COUNT] = {"base_count", "Names before", TA_COUNT,
                    .doc = "Number of names in the baseline"},
    [NEW_COUNT] = {"new_count", "Names after", TA_COUNT, .doc = "Number of names in the other run"},
    [BASE_TOTAL] = {"base_total_ns", "Before", TA_NS, .better = TA_LOWER,
                    .doc = "Sum of their durations in the baseline"},
    [NEW_TOTAL] = {"new_total_ns", "After", TA_NS, .better = TA_LOWER,
                   .doc = "Sum of their durations in the other run"},
    DIFF_CHANGE_COLUMNS(DELTA, TA_TYPE_INTEGER),
    [BASE_NAMES] = {"base_names", "Replaced names", TA_TEXT, .doc = "Short names in the baseline"},
    [NEW_NAMES] = {"new_names", "New names", TA_TEXT, .doc = "Short names in the other run"},
};

static const struct ta_table_def kernel_sets = {
    "diff.sets",
    "Replaced kernels",
    TA_COLUMNS(set_columns),
    .tier = TA_TIER_DETAIL,
};
static const struct ta_table_def op_sets = {"diff.op_sets", "Replaced operators",
                                            TA_COLUMNS(set_columns)};

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

static void add_set(struct diff *diff, size_t number, struct ta_table_builder *rows)
{
    const struct diff_set *set = &diff->sets[number - 1];
    const char *base = names_of(diff, number, TA_DIFF_BASE);
    const char *new = names_of(diff, number, TA_DIFF_NEW);
    const int64_t change = set->ns[TA_DIFF_NEW] - set->ns[TA_DIFF_BASE];
    ta_add_row(rows, (const struct ta_cell[TA_LENGTH(set_columns)]){
                         [SET] = ta_int((int64_t)number),
                         [KIND] = ta_text(ta_slice_of(kind_of(set))),
                         [OP] = set->op.len ? ta_text(set->op) : ta_null(),
                         [BASE_COUNT] = ta_int((int64_t)set->names[TA_DIFF_BASE]),
                         [NEW_COUNT] = ta_int((int64_t)set->names[TA_DIFF_NEW]),
                         [BASE_TOTAL] = ta_int(set->ns[TA_DIFF_BASE]),
                         [NEW_TOTAL] = ta_int(set->ns[TA_DIFF_NEW]),
                         [DELTA] = ta_int(change),
                         [CHANGE] = ta_share(change, set->ns[TA_DIFF_BASE]),
                         [BASE_NAMES] = ta_text(ta_slice_of(base)),
                         [NEW_NAMES] = ta_text(ta_slice_of(new))});
}

static bool add_sets(struct diff *diff, struct ta_table_builder *rows, bool of_ops)
{
    for (size_t i = 0; i < diff->n_sets; i++)
        if (diff->sets[i].is_of_ops == of_ops)
            add_set(diff, i + 1, rows);
    return !diff->arena.failed;
}

static bool add_kernel_sets(struct diff *diff, struct ta_section_builder *out)
{
    return add_sets(diff, ta_rows(out, &kernel_sets), false);
}

static bool add_op_sets(struct diff *diff, struct ta_section_builder *out)
{
    return add_sets(diff, ta_rows(out, &op_sets), true);
}

static const struct ta_table_def *const tables_of_kernels[] = {&kernel_sets, NULL};
static const struct ta_table_def *const tables_of_ops[] = {&op_sets, NULL};

const struct diff_part diff_of_kernel_sets = {
    .declares = {.name = "diff.sets", .tables = tables_of_kernels},
    .section = "diff_kernels",
    .add = add_kernel_sets};
const struct diff_part diff_of_op_sets = {
    .declares = {.name = "diff.op_sets", .tables = tables_of_ops},
    .section = "diff_ops",
    .add = add_op_sets};
