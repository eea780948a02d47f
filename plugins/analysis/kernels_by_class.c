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

static const struct ta_column columns[] = {
    {"class", "Class", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "What the kernel does, by its name: gemm, attention, conv, norm, softmax, elementwise, copy "
     "(with casts and changes of layout), reduce, index, random, quant, triton (compiled by "
     "Inductor), comm, other"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of executions"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Sum of durations over all ranks: work, not wall time"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL,
     "Total over the total of all kernels"},
};

static const struct ta_column family_columns[] = {
    {"class", "Class", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "As in Device time by class of kernel"},
    {"family", "Library or algorithm", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Where the name comes from; empty when the class says it all, unknown when no row of the "
     "table of names matches"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of executions"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Sum of durations, all ranks"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL,
     "Total over the total of all kernels"},
};

static const struct ta_column unknown_columns[] = {
    {"name", "Kernel", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "A name that no row matches"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of executions"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Sum of durations, all ranks"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Total over the total of all kernels"},
};

static const struct ta_chart chart = {
    .id = "kernel-classes",
    .title = "Device time by class of kernel",
    .caption = "Kernel durations summed over all ranks, by what the names of the kernels tell; the "
               "percentage is cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {"class"},
    .y = {{"total_ns", "Total", TA_INK_COMPUTE}},
};

/* Calls and time of each kernel of a trace; one row of a partial per kernel, not per call. */
struct sums {
    int64_t *calls, *total_ns;
};

static void add_kernels(const struct ta_trace *trace, const struct sums *sums,
                        struct ta_partial *const *out)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    for (size_t k = 0; k < kernels.n; k++) {
        const struct ta_kernel_facts *facts = &kernels.at[k].facts;
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_key_int(facts->kind), ta_key_text(ta_slice_of(facts->family)),
                           ta_key_int(facts->known));
        ta_sum(&row[CALLS], sums->calls[k]);
        ta_sum(&row[TOTAL], sums->total_ns[k]);
        if (facts->known)
            continue;
        row = TA_PARTIAL_ROW(out[1], ta_key_text(ta_trace_text(trace, kernels.at[k].name)));
        ta_sum(&row[NAME_CALLS], sums->calls[k]);
        ta_sum(&row[NAME_TOTAL], sums->total_ns[k]);
    }
}

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
    if (done)
        add_kernels(trace, &sums, out);
    free(sums.calls);
    free(sums.total_ns);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up kernels: names=%zu", n);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void add_classes(const struct ta_partial *classes, int64_t all,
                        struct ta_section_builder *out)
{
    int64_t calls[TA_KERNEL_KIND_COUNT] = {0}, total_ns[TA_KERNEL_KIND_COUNT] = {0};
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        calls[row[KIND]] += row[CALLS];
        total_ns[row[KIND]] = ta_add_sat(total_ns[row[KIND]], row[TOTAL]);
    }
    struct ta_table_builder *table =
        ta_add_table(out, "kernels.by_class", "Device time by class of kernel", columns, 4);
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
        if (calls[kind])
            TA_ROW(table, ta_text(ta_slice_of(ta_kernel_kind_name((enum ta_kernel_kind)kind))),
                   ta_int(calls[kind]), ta_int(total_ns[kind]), ta_share(total_ns[kind], all));
    ta_sort_rows(table, "total_ns", true);
    ta_add_chart(table, &chart);
}

static void add_families(const struct ta_partial *classes, int64_t all,
                         struct ta_section_builder *out)
{
    struct ta_table_builder *table = ta_add_table(
        out, "kernels.by_family", "Device time by library or algorithm", family_columns, 5);
    bool unknown = false;
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        unknown |= !row[KNOWN];
        const char *class = ta_kernel_kind_name((enum ta_kernel_kind)row[KIND]);
        TA_ROW(table, ta_text(ta_slice_of(class)),
               ta_text(row[KNOWN] ? ta_partial_text(classes, row, FAMILY) : TA_LIT("unknown")),
               ta_int(row[CALLS]), ta_int(row[TOTAL]), ta_share(row[TOTAL], all));
    }
    if (!unknown) /* said in any case */
        TA_ROW(table, ta_text(TA_LIT("other")), ta_text(TA_LIT("unknown")), ta_int(0), ta_int(0),
               ta_share(0, all));
    ta_sort_rows(table, "total_ns", true);
}

static void add_unknown(const struct ta_partial *names, int64_t all, struct ta_section_builder *out)
{
    int64_t unknown_ns = 0;
    struct ta_table_builder *table =
        ta_add_table(out, "kernels.unknown", "Kernels of unknown class", unknown_columns, 4);
    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        unknown_ns = ta_add_sat(unknown_ns, row[NAME_TOTAL]);
        TA_ROW(table, ta_text(ta_partial_text(names, row, NAME)), ta_int(row[NAME_CALLS]),
               ta_int(row[NAME_TOTAL]), ta_share(row[NAME_TOTAL], all));
    }
    ta_sort_rows(table, "total_ns", true);
    if (unknown_ns == 0)
        return;
    ta_add_scalar(out, &(struct ta_scalar){
                           .id = "kernels_unknown_share",
                           .title = "Kernels of unknown class",
                           .value = ta_share(unknown_ns, all),
                           .unit = TA_UNIT_RATIO,
                           .polarity = TA_LOWER,
                           .note = "Kernel time whose names match no row of the table of names; "
                                   "the names are listed below"});
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    int64_t all = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[0], i)[TOTAL]);
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    add_classes(merged[0], all, out);
    add_families(merged[0], all, out);
    add_unknown(merged[1], all, out);
    return TA_OK;
}

static const char *const behind[] = {"kernels_by_name", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, KIND, TA_KERNEL_KIND_COUNT}, TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .behind = behind,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, kernels_by_class, &ops, .title = "Kernel classes",
          .summary = "Device time by what kernels do: kernels.by_class, kernels.by_family, "
                     "kernels.unknown",
          .version = "1");
