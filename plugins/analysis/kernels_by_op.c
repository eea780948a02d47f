/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_op: which kernels each operator launches, in the order in which they first ran.  Two
 * runs of a program can be laid side by side by it, whatever the kernels are called. */
#include <traceanalyze/analysis.h>

enum { OP, NAME, WITHIN, FIRST, CALLS, TOTAL, FIELDS };

/* Runs differ in what encloses the first call: the earliest counts, so it is a key. */
static const struct ta_field fields[FIELDS] = {
    [OP] = {"op", TA_FIELD_TEXT},         [NAME] = {"name", TA_FIELD_TEXT},
    [WITHIN] = {"within", TA_FIELD_TEXT}, [FIRST] = {"first_start_ns", TA_FIELD_MIN},
    [CALLS] = {"calls", TA_FIELD_SUM},    [TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"pairs", fields, FIELDS}, {0}};

static const struct ta_column columns[] = {
    {"op", "Operator", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Innermost operator around the launch; none without one, or where no launch is known"},
    {"name", "Kernel", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the kernel"},
    {"within", "Within", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Operators and ranges around the operator the first time, the outermost first, with ; between "
     "them; steps are left out"},
    {"first_start_ns", "First start", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "When the operator first ran the kernel, since the earliest span of the rank"},
    TA_COUNT_COLUMN("calls", "Calls", TA_NEUTRAL, "Executions, all ranks"),
    TA_NS_COLUMN("total_ns", "Total", TA_LOWER, "Sum of durations over all ranks"),
};

/* ---- what encloses a launch ------------------------------------------------------------------ */

enum { WITHIN_MOST = 1024, DEPTH_MOST = 12 };

struct trace {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
};

/* Functions of Python have lines and addresses that no two versions share; steps have numbers. */
static bool is_told(const struct trace *t, ta_row row)
{
    const struct ta_category *category = &t->categories.at[t->spans.cat[row]];
    const struct ta_slice name = ta_trace_text(t->trace, t->spans.name[row]);
    const bool is_range =
        ta_slice_equal(ta_trace_text(t->trace, category->name), TA_LIT("user_annotation"));
    return (category->class == TA_CLASS_OP || is_range) &&
           !(name.len > 13 && memcmp(name.ptr, "ProfilerStep#", 13) == 0);
}

static struct ta_slice within(const struct trace *t, ta_row op, char text[WITHIN_MOST])
{
    ta_row around[DEPTH_MOST];
    size_t n = 0, length = 0;
    ta_row row = op == TA_NO_ROW ? TA_NO_ROW : t->spans.parent[op];
    for (; row != TA_NO_ROW && n < DEPTH_MOST; row = t->spans.parent[row])
        if (is_told(t, row))
            around[n++] = row;
    while (n-- > 0) {
        const struct ta_slice name = ta_trace_text(t->trace, t->spans.name[around[n]]);
        if (length + name.len + 1 >= WITHIN_MOST)
            break;
        if (length)
            text[length++] = ';';
        memcpy(text + length, name.ptr, name.len);
        length += name.len;
    }
    return (struct ta_slice){text, length};
}

/* ---- map --------------------------------------------------------------------------------------
 */

/* The row of an operator and a kernel; what is around them is looked at the first time only. */
static int64_t *row_of(const struct trace *t, const struct ta_activity *a, struct ta_map *rows,
                       struct ta_partial *out)
{
    const ta_str name = t->spans.name[a->span];
    const bool has_op = a->op != TA_NO_ROW && a->op != a->launch;
    const ta_str op = has_op ? t->spans.name[a->op] : TA_STR_ABSENT;
    const uint64_t key = (uint64_t)op << 32 | name;
    const uint64_t *known = ta_map_find(rows, key);
    if (known)
        return (int64_t *)(uintptr_t)*known;
    char text[WITHIN_MOST];
    const struct ta_slice op_name = op ? ta_trace_text(t->trace, op) : TA_LIT("");
    return ta_partial_cached(out, rows, key,
                             (const struct ta_key[]){ta_key_text(op_name),
                                                     ta_key_text(ta_trace_text(t->trace, name)),
                                                     ta_key_text(within(t, a->op, text))});
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct trace t = {trace, ta_trace_spans(trace), ta_trace_categories(trace)};
    struct ta_map rows = {0};
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        int64_t *row = row_of(&t, a, &rows, out[0]);
        ta_least(&row[FIRST], t.spans.ts[a->span] - ta_trace_origin(trace));
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[TOTAL], t.spans.dur[a->span]);
    }
    const bool failed = rows.failed;
    ta_map_free(&rows);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index kernels by operator") : TA_OK;
}

/* ---- finish -----------------------------------------------------------------------------------
 */

static bool is_same(const struct ta_partial *pairs, const int64_t *a, const int64_t *b)
{
    return ta_slice_equal(ta_partial_text(pairs, a, OP), ta_partial_text(pairs, b, OP)) &&
           ta_slice_equal(ta_partial_text(pairs, a, NAME), ta_partial_text(pairs, b, NAME));
}

static struct ta_cell text_or_null(struct ta_slice text)
{
    return text.len ? ta_text(text) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *pairs = merged[0];
    struct ta_table_builder *table = ta_add_table(out, "kernels.by_op", "Kernels by operator",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0, end; i < ta_partial_rows(pairs); i = end) {
        const int64_t *first = ta_partial_at(pairs, i);
        int64_t calls = 0, total = 0;
        for (end = i; end < ta_partial_rows(pairs); end++) {
            const int64_t *row = ta_partial_at(pairs, end);
            if (!is_same(pairs, first, row))
                break;
            calls = ta_add_sat(calls, row[CALLS]);
            total = ta_add_sat(total, row[TOTAL]);
            if (row[FIRST] < first[FIRST])
                first = row;
        }
        TA_ROW(table, text_or_null(ta_partial_text(pairs, first, OP)),
               ta_text(ta_partial_text(pairs, first, NAME)),
               text_or_null(ta_partial_text(pairs, first, WITHIN)), ta_int(first[FIRST]),
               ta_int(calls), ta_int(total));
    }
    ta_sort_rows(table, "first_start_ns", false);
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "kernels", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, kernels_by_op, &ops, .title = "Kernels by operator",
          .summary = "Which kernels each operator launches, in the order of their first run: "
                     "kernels.by_op",
          .version = "1");
