/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_shape: operators by the shapes of their inputs: which sizes cost the time. */
#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { NAME, SHAPES, CALLS, TOTAL, SELF, KERNELS, DEVICE, FIELDS };

enum { MOST_ROWS = 500 };

static const struct ta_field fields[FIELDS] = {
    [NAME] = {"name", TA_FIELD_TEXT},       [SHAPES] = {"shapes", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},      [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [SELF] = {"self_ns", TA_FIELD_SUM},     [KERNELS] = {"kernels", TA_FIELD_SUM},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"shapes", fields, FIELDS}, {0}};

enum {
    BY_SHAPE_NAME,
    BY_SHAPE_SHAPES,
    BY_SHAPE_CALLS,
    BY_SHAPE_DEVICE_SELF,
    BY_SHAPE_KERNELS,
    BY_SHAPE_DEVICE_MEAN,
    BY_SHAPE_HOST_TOTAL,
    BY_SHAPE_HOST_SELF
};
static const struct ta_column by_shape_columns[] = {
    [BY_SHAPE_NAME] = {"name", "Operator", TA_TEXT, .read_as = TA_AS_SHAPED_OP,
                       .doc = "Name of the operator"},
    [BY_SHAPE_SHAPES] = {"shapes", "Input shapes", TA_TEXT, .read_as = TA_AS_SHAPES,
                         .doc =
                             "Sizes of the inputs as recorded; [] for inputs that are not tensors"},
    [BY_SHAPE_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of calls, all ranks"},
    [BY_SHAPE_DEVICE_SELF] = {"device_self_ns", "Device self", TA_NS, .better = TA_LOWER,
                              .read_as = TA_AS_SHAPES_TIME,
                              .doc = "Sum of the device activities that it launched itself"},
    [BY_SHAPE_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                          .doc = "Kernels among the activities that it launched itself"},
    [BY_SHAPE_DEVICE_MEAN] = {"device_mean_ns", "Device mean", TA_NS_MEAN, .better = TA_LOWER,
                              .doc = "Device self time per call"},
    [BY_SHAPE_HOST_TOTAL] = {"host_total_ns", "Host total", TA_NS, .better = TA_LOWER,
                             .doc = "Sum of durations on the host, including nested spans"},
    [BY_SHAPE_HOST_SELF] = {"host_self_ns", "Host self", TA_NS, .better = TA_LOWER,
                            .doc = "Host time in which it was the innermost span of its thread"},
};

static const struct ta_table_def by_shape = {
    "ops.by_shape", "Operators by input shape", TA_COLUMNS(by_shape_columns),
    .doc = "One row per operator and input shapes, if the profiler recorded them "
           "(`record_shapes`): the 500 rows with the most device time, then host time.",
    .tier = TA_TIER_DETAIL};

/* The row of the shapes that an operator had last. */
struct last {
    ta_str shapes;
    int64_t *row; /* NULL before the first */
};

struct work {
    const struct ta_trace *trace;
    struct ta_args dims;
    struct ta_partial *out;
    struct last *last;  /* by the name of the operator */
    struct ta_map rows; /* by the name and the text of the shapes */
};

static int64_t *find_row(struct work *w, ta_str name, ta_str shapes)
{
    const uint64_t id = (uint64_t)name << 32 | shapes;
    const uint64_t *known = ta_map_find(&w->rows, id);
    if (known)
        return (int64_t *)(uintptr_t)*known;
    const struct ta_slice text = ta_trace_text(w->trace, shapes);
    char *copy = reallocarray(NULL, text.len + 1, 2);
    w->rows.failed |= !copy;
    int64_t *row = ta_partial_cached(
        w->out, &w->rows, id,
        (const struct ta_key[]){ta_key_text(ta_trace_text(w->trace, name)),
                                ta_key_text(copy ? ta_list_tidy(text, copy) : text)});
    free(copy);
    return row;
}

static inline int64_t *row_of(struct work *w, ta_str name, ta_str shapes)
{
    struct last *last = &w->last[name];
    if (!last->row || last->shapes != shapes)
        *last = (struct last){shapes, find_row(w, name, shapes)};
    return last->row;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct work w = {.trace = trace, .dims = ta_trace_args(trace, "Input Dims"), .out = out[0]};
    if (w.dims.n == 0)
        return TA_OK;
    w.last = calloc(ta_trace_string_count(trace) + 1, sizeof *w.last);
    if (w.last) {
        const struct ta_spans s = ta_trace_spans(w.trace);
        const struct ta_categories categories = ta_trace_categories(w.trace);
        for (size_t i = 0; i < w.dims.n; i++) {
            const ta_row span = w.dims.row[i];
            if (!ta_args_is_text(&w.dims, i) || categories.at[s.cat[span]].class != TA_CLASS_OP)
                continue;
            int64_t *row = row_of(&w, s.name[span], (ta_str)ta_args_value(&w.dims, i));
            ta_sum(&row[CALLS], 1);
            ta_sum(&row[TOTAL], s.dur[span]);
            ta_sum(&row[SELF], s.self[span]);
        }
        const struct ta_activities activities = ta_trace_activities(w.trace);

        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            if (a->op == TA_NO_ROW || !ta_class_is_op(categories.at[s.cat[a->op]].class))
                continue;
            const ta_str shapes = ta_args_text(&w.dims, a->op);
            if (shapes == TA_STR_ABSENT)
                continue;
            int64_t *row = row_of(&w, s.name[a->op], shapes);
            ta_sum(&row[KERNELS], a->kernel != TA_NO_KERNEL);
            ta_sum(&row[DEVICE], s.dur[a->span]);
        }
    }
    const bool failed = !w.last || w.rows.failed;
    free(w.last);
    ta_map_free(&w.rows);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index shapes") : TA_OK;
}

static int64_t or_zero(int64_t value)
{
    return value == TA_MISSING ? 0 : value;
}

struct place {
    const int64_t *row;
    size_t index; /* in the order of the keys */
};

/* More device time first, then more host time, then the order of the keys. */
static int compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int64_t device_a = or_zero(a->row[DEVICE]), device_b = or_zero(b->row[DEVICE]);
    if (device_a != device_b)
        return device_a < device_b ? 1 : -1;
    if (a->row[TOTAL] != b->row[TOTAL])
        return a->row[TOTAL] < b->row[TOTAL] ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const struct ta_partial *shapes = merged[0];
    const size_t n = ta_partial_rows(shapes);
    struct place *rows = reallocarray(NULL, n + 1, sizeof *rows);
    if (!rows)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order shapes");
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct place){ta_partial_at(shapes, i), i};
    qsort(rows, n, sizeof *rows, compare);

    for (size_t i = 0; i < n && i < MOST_ROWS; i++) {
        const int64_t *row = rows[i].row;
        const int64_t device = or_zero(row[DEVICE]);
        TA_ROW(
            out, by_shape, [BY_SHAPE_NAME] = ta_text(ta_partial_text(shapes, row, NAME)),
            [BY_SHAPE_SHAPES] = ta_text(ta_partial_text(shapes, row, SHAPES)),
            [BY_SHAPE_CALLS] = ta_int(row[CALLS]), [BY_SHAPE_DEVICE_SELF] = ta_int(device),
            [BY_SHAPE_KERNELS] = ta_int(or_zero(row[KERNELS])),
            [BY_SHAPE_DEVICE_MEAN] = ta_num((double)device / (double)row[CALLS]),
            [BY_SHAPE_HOST_TOTAL] = ta_int(row[TOTAL]), [BY_SHAPE_HOST_SELF] = ta_int(row[SELF]));
    }
    free(rows);
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", NULL};

static const struct ta_table_def *const tables[] = {&by_shape, NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .section = "operators",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, ops_by_shape, &ops, .title = "Operators by input shape",
          .summary = "Host and device time by operator and input shapes: ops.by_shape",
          .version = "1");
