/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_phase: which ranges are phases, and what their kernels do. */
#include "kernels_by_phase.h"

#include <stdlib.h>

enum { PHASE, CLASS, CALLS, TOTAL, SHARE };
static const struct ta_column kernels_by_phase_columns[] = {
    [PHASE] = {"phase", "Phase", TA_TEXT,
               .doc = "Annotated range in which the kernels were launched"},
    PHASE_CLASS_COLUMNS(CLASS),
    [SHARE] = {"share", "Share", TA_RATIO, .doc = "Total over that of all kernels of the phase"},
};

static const struct ta_chart_def phase_chart = {
    .id = "kernel-classes-by-phase",
    .title = "Class of kernels by phase",
    .caption = "Kernel durations summed over all ranks, by the annotated range that launched them, "
               "in the order of the run.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&kernels_by_phase_columns[PHASE]},
    .y = {{&kernels_by_phase_columns[TOTAL], "Total", TA_INK_SERIES_1}},
    .group = &kernels_by_phase_columns[CLASS],
};

const struct ta_table_def kernels_by_phase = {
    "kernels.by_phase",
    "Class of kernels by phase",
    TA_COLUMNS(kernels_by_phase_columns),
    .doc = "One row per phase and class, in the order of the run. A phase is the outermost "
           "range that the program annotates (`user_annotation`, step markers aside) around the "
           "launch of a kernel; where the thread that launched it has none, as that of "
           "autograd, the one of another thread that was opened last. Where one range holds at "
           "least 90 % of the annotated kernel time and half of that lies in ranges within it, "
           "those are the phases. \"(outside of ranges)\" has the rest; left out when there is "
           "only one phase. Chart `kernel-classes-by-phase`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&phase_chart}};

/* A phase in the making: sums of its classes. */
struct phase {
    struct ta_slice name;
    int64_t start_ns, total_ns;
    int64_t calls[TA_KERNEL_KIND_COUNT], times[TA_KERNEL_KIND_COUNT];
};

/* A row and the phase that it is of. */
struct entry {
    struct ta_slice phase;
    const int64_t *row;
};

/* A range that holds so much of all annotated kernel time is no phase, if it holds others. */
#define NEARLY_ALL 0.9

static int by_phase(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return ta_slice_compare(a->phase, b->phase);
}

/* Fills `phases`, which has room for one per row; returns how many there are. */
static size_t make_phases(const struct ta_partial *rows, struct entry *entries,
                          struct phase *phases)
{
    /* The range that holds nearly all, most of it in inner ranges. Rows come by the name of the
     * outer range. */
    struct ta_slice largest = TA_LIT("");
    double all = 0, most = 0, most_within = 0;
    for (size_t i = 0, end; i < ta_partial_rows(rows); i = end) {
        const struct ta_slice name = ta_partial_text(rows, ta_partial_at(rows, i), PHASE_OUTER);
        double held = 0, within = 0;
        for (end = i; end < ta_partial_rows(rows); end++) {
            const int64_t *row = ta_partial_at(rows, end);
            if (!ta_slice_equal(ta_partial_text(rows, row, PHASE_OUTER), name))
                break;
            held += (double)row[PHASE_TOTAL];
            within += ta_partial_text(rows, row, PHASE_INNER).len ? (double)row[PHASE_TOTAL] : 0;
        }
        if (name.len)
            all += held;
        if (name.len && held > most) {
            largest = name;
            most = held;
            most_within = within;
        }
    }
    const struct ta_slice frame =
        most >= NEARLY_ALL * all && most_within >= most / 2 ? largest : TA_LIT("");
    const size_t n_rows = ta_partial_rows(rows);
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t *row = ta_partial_at(rows, i);
        const struct ta_slice outer = ta_partial_text(rows, row, PHASE_OUTER);
        const struct ta_slice inner = ta_partial_text(rows, row, PHASE_INNER);
        const bool framed = frame.len && inner.len && ta_slice_equal(outer, frame);
        entries[i] = (struct entry){framed ? inner : outer, row};
    }
    if (n_rows)
        qsort(entries, n_rows, sizeof *entries, by_phase);
    for (size_t i = 0; i < n_rows; i++) {
        if (n == 0 || !ta_slice_equal(phases[n - 1].name, entries[i].phase))
            phases[n++] = (struct phase){.name = entries[i].phase, .start_ns = INT64_MAX};
        struct phase *phase = &phases[n - 1];
        const int64_t *row = entries[i].row;
        phase->start_ns = ta_min_i64(phase->start_ns, row[PHASE_START]);
        phase->total_ns = ta_add_sat(phase->total_ns, row[PHASE_TOTAL]);
        phase->calls[row[PHASE_CLASS]] =
            ta_add_sat(phase->calls[row[PHASE_CLASS]], row[PHASE_CALLS]);
        phase->times[row[PHASE_CLASS]] =
            ta_add_sat(phase->times[row[PHASE_CLASS]], row[PHASE_TOTAL]);
    }
    return n;
}

static int in_order_of_run(const void *left, const void *right)
{
    const struct phase *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return ta_slice_compare(a->name, b->name);
}

static void list_phase(const struct phase *phase, struct ta_section_builder *out)
{
    const struct ta_slice name = phase->name.len ? phase->name : TA_LIT("(outside of ranges)");
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
        if (phase->calls[kind])
            TA_ROW(out, kernels_by_phase, [PHASE] = ta_text(name), [CLASS] = phase_class_cell(kind),
                   [CALLS] = ta_int(phase->calls[kind]), [TOTAL] = ta_int(phase->times[kind]),
                   [SHARE] = ta_share(phase->times[kind], phase->total_ns));
}

bool phase_list(const struct ta_partial *rows, struct ta_section_builder *out)
{
    struct entry *entries = calloc(ta_partial_rows(rows) + 1, sizeof *entries);
    struct phase *phases = calloc(ta_partial_rows(rows) + 1, sizeof *phases);
    const bool done = entries && phases;
    const size_t n = done ? make_phases(rows, entries, phases) : 0;
    if (n > 1) { /* one phase is all kernels, and kernels.by_class has them */
        qsort(phases, n, sizeof *phases, in_order_of_run);
        for (size_t i = 0; i < n; i++)
            list_phase(&phases[i], out);
    }
    free(entries);
    free(phases);
    return done;
}
