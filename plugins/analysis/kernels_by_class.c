/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_class, .by_family and .unknown: what kernels do, by their names.  What no row of the
 * table of names matches is always shown. */
#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { KIND, FAMILY, KNOWN, CALLS, TOTAL, FIELDS };
enum { NAME, NAME_CALLS, NAME_TOTAL, NAME_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [KIND] = {"class", TA_FIELD_INT},     [FAMILY] = {"family", TA_FIELD_TEXT},
    [KNOWN] = {"known", TA_FIELD_INT},    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field name_fields[NAME_FIELDS] = {
    [NAME] = {"name", TA_FIELD_TEXT},
    [NAME_CALLS] = {"calls", TA_FIELD_SUM},
    [NAME_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    {"classes", fields, FIELDS}, {"unknown", name_fields, NAME_FIELDS}, {0}};

enum { BY_CLASS_CLASS, BY_CLASS_CALLS, BY_CLASS_TOTAL, BY_CLASS_SHARE };
static const struct ta_column by_class_columns[] = {
    [BY_CLASS_CLASS] =
        {"class", "Class", TA_TEXT, .read_as = TA_AS_KERNEL_KIND,
         .doc = "What the kernel does, by its name: gemm, attention, conv, norm, softmax, "
                "elementwise, copy (with casts and changes of layout), reduce, index, random, "
                "quant, triton (compiled by Inductor), comm, other"},
    [BY_CLASS_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_KERNEL_KIND_CALLS,
                        .over_ranks = TA_OVER_CALLS, .doc = "Number of executions"},
    [BY_CLASS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                        .read_as = TA_AS_KERNEL_KIND_TIME, .over_ranks = TA_OVER_TIME,
                        .doc = "Sum of durations over all ranks: work, not wall time"},
    [BY_CLASS_SHARE] = {"share", "Share", TA_RATIO, .over_ranks = TA_OVER_SHARE,
                        .doc = "Total over the total of all kernels"},
};

static const struct ta_chart_def chart = {
    .id = "kernel-classes",
    .title = "Device time by kernel class",
    .caption = "Device time by kernel class, summed over all ranks; percentages are cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&by_class_columns[BY_CLASS_CLASS]},
    .y = {{&by_class_columns[BY_CLASS_TOTAL], "Total", TA_INK_COMPUTE}},
};

static const struct ta_table_def by_class = {
    "kernels.by_class",
    "Device time by kernel class",
    TA_COLUMNS(by_class_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per class of kernel, all ranks together, as the names of kernels tell; the "
           "table of names is `src/model/kernel_names.def`. `comm` holds all that "
           "`kernels.by_name` calls so, and collectives fused with other work, which count as "
           "compute there. `triton` are kernels made by Inductor, whose names list what was "
           "fused. Chart `kernel-classes`.",
    .chart = {&chart},
    .order = {&by_class_columns[BY_CLASS_TOTAL], TA_DESCENDING},
    .joining = TA_JOIN_SUMS};

enum { FAMILY_CLASS, FAMILY_FAMILY, FAMILY_CALLS, FAMILY_TOTAL, FAMILY_SHARE };
static const struct ta_column by_family_columns[] = {
    [FAMILY_CLASS] = {"class", "Class", TA_TEXT, .doc = "As in Device time by kernel class"},
    [FAMILY_FAMILY] = {"family", "Library or algorithm", TA_TEXT,
                       .doc = "Where the name comes from; empty when the class says it all, "
                              "unknown when no row of the table of names matches"},
    [FAMILY_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions"},
    [FAMILY_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                      .doc = "Sum of durations, all ranks"},
    [FAMILY_SHARE] = {"share", "Share", TA_RATIO, .doc = "Total over the total of all kernels"},
};

static const struct ta_table_def by_family = {
    "kernels.by_family",
    "Device time by kernel family",
    TA_COLUMNS(by_family_columns),
    .doc = "One row per class and library or algorithm. The row `unknown` of class `other` is "
           "always there.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_family_columns[FAMILY_TOTAL], TA_DESCENDING}};

enum { UNKNOWN_NAME, UNKNOWN_CALLS, UNKNOWN_TOTAL, UNKNOWN_SHARE };
static const struct ta_column unknown_kernels_columns[] = {
    [UNKNOWN_NAME] = {"name", "Kernel", TA_TEXT, .doc = "A name that no row matches"},
    [UNKNOWN_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions"},
    [UNKNOWN_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .doc = "Sum of durations, all ranks"},
    [UNKNOWN_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                       .doc = "Total over the total of all kernels"},
};

static const struct ta_table_def unknown_kernels = {
    "kernels.unknown",
    "Kernels of unknown class",
    TA_COLUMNS(unknown_kernels_columns),
    .doc = "One row per kernel whose name no row of the table of names matches; the scalar "
           "`kernels_unknown_share` is their share of the kernel time.",
    .tier = TA_TIER_DETAIL,
    .order = {&unknown_kernels_columns[UNKNOWN_TOTAL], TA_DESCENDING}};

/* Calls and time of each kernel of a trace; one row of a partial per kernel, not per call. */
struct sums {
    int64_t *calls, *total_ns;
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const size_t n = ta_trace_kernels(trace).n;
    struct sums sums = {calloc(n + 1, sizeof *sums.calls), calloc(n + 1, sizeof *sums.total_ns)};
    const bool done = sums.calls && sums.total_ns;
    for (size_t i = 0; done && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        sums.calls[a->kernel]++;
        sums.total_ns[a->kernel] = ta_add_sat(sums.total_ns[a->kernel], s.dur[a->span]);
    }
    if (done) {
        const struct ta_kernels kernels = ta_trace_kernels(trace);
        for (size_t k = 0; k < kernels.n; k++) {
            const struct ta_kernel_facts *facts = &kernels.at[k].facts;
            int64_t *row =
                TA_PARTIAL_ROW(out[0], ta_key_int(facts->kind),
                               ta_key_text(ta_slice_of(facts->family)), ta_key_int(facts->known));
            ta_sum(&row[CALLS], sums.calls[k]);
            ta_sum(&row[TOTAL], sums.total_ns[k]);
            if (facts->known)
                continue;
            row = TA_PARTIAL_ROW(out[1], ta_key_text(ta_trace_text(trace, kernels.at[k].name)));
            ta_sum(&row[NAME_CALLS], sums.calls[k]);
            ta_sum(&row[NAME_TOTAL], sums.total_ns[k]);
        }
    }
    free(sums.calls);
    free(sums.total_ns);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up kernels: names=%zu", n);
}

/* ---- tables -------------------------------------------------------------------------------- */

static const struct ta_scalar_def scalar = {
    "kernels_unknown_share", "Kernels of unknown class", TA_UNIT_RATIO, TA_LOWER,
    .doc = "Kernel time whose names match no row of the table of names; "
           "the names are listed below"};

static void add_unknown(const struct ta_partial *names, int64_t all, struct ta_section_builder *out)
{
    int64_t unknown_ns = 0;

    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        unknown_ns = ta_add_sat(unknown_ns, row[NAME_TOTAL]);
        TA_ROW(out, unknown_kernels, [UNKNOWN_NAME] = ta_text(ta_partial_text(names, row, NAME)),
               [UNKNOWN_CALLS] = ta_int(row[NAME_CALLS]), [UNKNOWN_TOTAL] = ta_int(row[NAME_TOTAL]),
               [UNKNOWN_SHARE] = ta_share(row[NAME_TOTAL], all));
    }
    if (unknown_ns == 0)
        return;
    ta_set_scalar(out, &scalar, ta_share(unknown_ns, all));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[0], i)[TOTAL]);
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    int64_t calls[TA_KERNEL_KIND_COUNT] = {0}, total_ns[TA_KERNEL_KIND_COUNT] = {0};
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        calls[row[KIND]] += row[CALLS];
        total_ns[row[KIND]] = ta_add_sat(total_ns[row[KIND]], row[TOTAL]);
    }

    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
        if (calls[kind])
            TA_ROW(
                out, by_class,
                [BY_CLASS_CLASS] =
                    ta_text(ta_slice_of(ta_kernel_kind_name((enum ta_kernel_kind)kind))),
                [BY_CLASS_CALLS] = ta_int(calls[kind]), [BY_CLASS_TOTAL] = ta_int(total_ns[kind]),
                [BY_CLASS_SHARE] = ta_share(total_ns[kind], all));
    const struct ta_partial *classes = merged[0];
    bool unknown = false;
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        unknown |= !row[KNOWN];
        const char *class = ta_kernel_kind_name((enum ta_kernel_kind)row[KIND]);
        TA_ROW(out, by_family, [FAMILY_CLASS] = ta_text(ta_slice_of(class)),
               [FAMILY_FAMILY] =
                   ta_text(row[KNOWN] ? ta_partial_text(classes, row, FAMILY) : TA_LIT("unknown")),
               [FAMILY_CALLS] = ta_int(row[CALLS]), [FAMILY_TOTAL] = ta_int(row[TOTAL]),
               [FAMILY_SHARE] = ta_share(row[TOTAL], all));
    }
    if (!unknown) /* said in any case */
        TA_ROW(out, by_family, [FAMILY_CLASS] = ta_text(TA_LIT("other")),
               [FAMILY_FAMILY] = ta_text(TA_LIT("unknown")), [FAMILY_CALLS] = ta_int(0),
               [FAMILY_TOTAL] = ta_int(0), [FAMILY_SHARE] = ta_share(0, all));
    add_unknown(merged[1], all, out);
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, KIND, TA_KERNEL_KIND_COUNT}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_class, &by_family, &unknown_kernels, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "kernels",
                                           .place = 1,
                                           .scalars = &scalar,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, kernels_by_class, &ops, .title = "Kernel classes",
          .summary = "Device time by what kernels do: kernels.by_class, kernels.by_family, "
                     "kernels.unknown",
          .version = "1");
