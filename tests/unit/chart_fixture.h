/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports with tables of the shapes that charts and the PDF draw, in any size. */
#ifndef TA_TEST_CHART_FIXTURE_H
#define TA_TEST_CHART_FIXTURE_H

#include "report/report.h"
#include "traceanalyze/chart.h"

#include <math.h>
#include <stdio.h>

#define FIXTURE_LONG_NAME                                                                          \
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "       \
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"

/* Which rows have no values, and what the others are multiplied with. */
struct fixture {
    size_t rows;
    double scale;
    size_t null_every; /* 0: none */
};

static inline struct ta_cell fixture_value(const struct fixture *f, size_t row, double value)
{
    if (f->null_every && row % f->null_every == 0)
        return ta_null();
    return ta_int(ta_whole(value * f->scale));
}

/* ---- stacked bars ---------------------------------------------------------------------- */

static const struct ta_column fixture_gpu_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank of the trace."},
    {"compute_ns", "Compute", TA_NS, .doc = "Union of kernels."},
    {"comm_ns", "Communication", TA_NS, .better = TA_LOWER, .doc = "Not hidden."},
    {"idle_ns", "Idle", TA_NS, .better = TA_LOWER, .doc = "The rest."},
};

static const struct ta_chart fixture_gpu_chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time",
    .caption = "By rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank"},
    .y = {{"compute_ns", "compute", TA_INK_COMPUTE},
          {"comm_ns", "communication", TA_INK_COMM},
          {"idle_ns", "idle", TA_INK_IDLE}},
};

static inline void fixture_add_gpu(struct ta_section_builder *section, struct fixture f)
{
    struct ta_table_builder *table =
        ta_add_table(section, "gpu", "GPU time by rank", fixture_gpu_columns, 4);
    for (size_t i = 0; i < f.rows; i++)
        TA_CELLS(table, ta_int((int64_t)i), fixture_value(&f, i, 600 + (double)(i % 7)),
                 fixture_value(&f, i, 200), fixture_value(&f, i, 190 - (double)(i % 7)));
    ta_add_chart(table, &fixture_gpu_chart);
}

/* ---- Pareto ---------------------------------------------------------------------------- */

static const struct ta_column fixture_kernel_columns[] = {
    {"name", "Kernel", TA_TEXT, .doc = "As written."},
    {"class", "Class", TA_TEXT, .doc = "Kind of work."},
    {"calls", "Calls", TA_COUNT, .doc = "Launches."},
    {"total_ns", "Total time", TA_NS, .better = TA_LOWER, .doc = "Sum of durations."},
};

static const struct ta_chart fixture_kernel_chart = {
    .id = "kernels-pareto",
    .title = "Kernels",
    .caption = "All ranks.",
    .kind = TA_CHART_PARETO,
    .label = {"name"},
    .group = "class",
    .y = {{"total_ns", "total", TA_INK_COMPUTE}},
    .top = 20,
};

static inline void fixture_add_kernels(struct ta_section_builder *section, struct fixture f)
{
    struct ta_table_builder *table =
        ta_add_table(section, "kernels", "Kernels by name", fixture_kernel_columns, 4);
    for (size_t i = 0; i < f.rows; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s #%zu \xe2\x80\xae\x01\xff",
                 i % 3 ? FIXTURE_LONG_NAME : "gemm", i);
        TA_CELLS(table, ta_text(ta_slice_of(name)),
                 ta_text(i % 4 ? TA_LIT("compute") : TA_LIT("comm")), ta_int(50),
                 fixture_value(&f, i, 2e6 / (double)(i + 1)));
    }
    ta_add_chart(table, &fixture_kernel_chart);
}

/* ---- grouped bars and dots --------------------------------------------------------------- */

static const struct ta_column fixture_step_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank of the trace."},
    {"step", "Step", TA_TEXT, .doc = "Label of the step."},
    {"dur_ns", "Step time", TA_NS, .better = TA_LOWER, .doc = "Host time."},
};

static const struct ta_chart fixture_step_chart = {
    .id = "step-time",
    .title = "Step time",
    .caption = "By rank.",
    .kind = TA_CHART_DOTS,
    .label = {"step"},
    .group = "rank",
    .y = {{"dur_ns", "step time", TA_INK_NONE}},
};

static const struct ta_chart fixture_bars_chart = {
    .id = "bars",
    .title = "Bars",
    .caption = "By rank.",
    .kind = TA_CHART_BARS,
    .label = {"rank", "step"},
    .group = "rank",
    .y = {{"dur_ns", "step time", TA_INK_NONE}},
};

static inline void fixture_add_steps(struct ta_section_builder *section, struct fixture f,
                                     size_t ranks, const struct ta_chart *chart)
{
    struct ta_table_builder *table =
        ta_add_table(section, chart->id, "Steps", fixture_step_columns, 3);
    for (size_t i = 0; i < f.rows; i++) {
        size_t per_rank = (f.rows + ranks - 1) / ranks;
        char step[64];
        snprintf(step, sizeof step, "ProfilerStep#%zu", i % per_rank + 3);
        TA_CELLS(table, ta_int((int64_t)(i / per_rank)), ta_text(ta_slice_of(step)),
                 fixture_value(&f, i, 412e3 + 1e3 * sin((double)i)));
    }
    ta_add_chart(table, chart);
}

/* ---- distributions ------------------------------------------------------------------------ */

static const struct ta_column fixture_ecdf_columns[] = {
    {"class", "Class", TA_TEXT, .doc = "Kind of work."},
    {"dur_ns", "Duration", TA_NS, .doc = "Of a kernel."},
    {"share", "Share of kernels", TA_RATIO, .doc = "That take at most it."},
};

static const struct ta_chart fixture_ecdf_chart = {
    .id = "kernel-ecdf",
    .title = "Kernel durations",
    .caption = "By class.",
    .kind = TA_CHART_ECDF,
    .label = {"class"},
    .x = "dur_ns",
    .group = "class",
    .log_x = true,
    .y = {{"share", "share", TA_INK_NONE}},
};

static inline void fixture_add_ecdf(struct ta_section_builder *section, struct fixture f,
                                    size_t groups)
{
    static const char *const names[] = {"compute", "comm", "a", "b", "c", "d", "e", "f", "g", "h"};
    struct ta_table_builder *table =
        ta_add_table(section, "ecdf", "Durations", fixture_ecdf_columns, 3);
    for (size_t g = 0; g < groups; g++)
        for (size_t i = 0; i < f.rows; i++)
            TA_CELLS(
                table, ta_text(ta_slice_of(names[g % 10])),
                fixture_value(&f, i, pow(10, 6 * (double)(i + 1) / (double)f.rows) + (double)g),
                ta_num((double)(i + 1) / (double)f.rows));
    ta_add_chart(table, &fixture_ecdf_chart);
}

/* ---- lines -------------------------------------------------------------------------------- */

static const struct ta_column fixture_line_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank of the dump."},
    {"time_ns", "Time", TA_NS, .doc = "Since the first sample."},
    {"used_bytes", "Used", TA_BYTES, .better = TA_LOWER, .doc = "In use."},
    {"held_bytes", "Held", TA_BYTES, .better = TA_LOWER, .doc = "Held."},
    {"power", "Power", TA_TYPE_NUMBER, TA_UNIT_WATT, .better = TA_LOWER, .doc = "Drawn."},
};

/* One unit: without groups a single plot. */
static const struct ta_chart fixture_memory_chart = {
    .id = "memory",
    .title = "Memory",
    .caption = "Over time.",
    .kind = TA_CHART_LINES,
    .x = "time_ns",
    .group = "rank",
    .y = {{"used_bytes", "used", TA_INK_SERIES_1}, {"held_bytes", "held", TA_INK_SERIES_2}},
};

static const struct ta_chart fixture_power_chart = {
    .id = "power",
    .title = "Memory and power",
    .caption = "Over time.",
    .kind = TA_CHART_LINES,
    .x = "time_ns",
    .group = "rank",
    .y = {{"used_bytes", "used", TA_INK_SERIES_1}, {"power", "power", TA_INK_SERIES_2}},
};

static inline void fixture_add_lines(struct ta_section_builder *section, struct fixture f,
                                     size_t ranks, const struct ta_chart *chart)
{
    struct ta_table_builder *table =
        ta_add_table(section, "lines", "Samples", fixture_line_columns, 5);
    const size_t per_rank = (f.rows + ranks - 1) / ranks;
    for (size_t i = 0; i < f.rows; i++)
        TA_CELLS(table, ta_int((int64_t)(i / per_rank)), ta_int((int64_t)(i % per_rank) * 1000000),
                 fixture_value(&f, i, 100 + 10 * sin((double)i)), fixture_value(&f, i, 150),
                 ta_num(400 + 50 * cos((double)i)));
    ta_add_chart(table, chart);
}

/* ---- scatter ------------------------------------------------------------------------------ */

static const struct ta_column fixture_scatter_columns[] = {
    {"name", "Name", TA_TEXT, .doc = "Of the operator."},
    {"class", "Class", TA_TEXT, .doc = "Kind of work."},
    {"intensity", "FLOP per byte", TA_NUMBER, .doc = "Work by traffic."},
    {"rate", "Rate", TA_TYPE_NUMBER, TA_UNIT_FLOP_PER_S, .better = TA_HIGHER,
     .doc = "Work by time."},
    {"total_ns", "Time", TA_NS, .better = TA_LOWER, .doc = "Of the kernels."},
    {"roof", "Roof", TA_TEXT, .doc = "Which peak."},
    {"peak", "Peak", TA_TYPE_NUMBER, TA_UNIT_FLOP_PER_S, .doc = "Of the device."},
    {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .doc = "Of its memory."},
};

static const struct ta_chart fixture_roof_chart = {
    .id = "roofline",
    .title = "Roofline",
    .caption = "By operator.",
    .kind = TA_CHART_SCATTER,
    .label = {"name"},
    .x = "intensity",
    .y = {{"rate", "rate", TA_INK_NONE}},
    .group = "class",
    .size = "total_ns",
    .roof = {"peak", "bandwidth", "roof"},
};

/* Neither groups nor sizes, and a limit of one kind. */
static const struct ta_chart fixture_plain_chart = {
    .id = "plain",
    .title = "Rates",
    .caption = "By size.",
    .kind = TA_CHART_SCATTER,
    .label = {"name"},
    .x = "total_ns",
    .y = {{"rate", "rate", TA_INK_NONE}},
    .roof = {.level = "peak"},
};

/* The values of each group lie around a center of their own, `scale` tells how large they are. */
static inline void fixture_add_scatter(struct ta_section_builder *section, struct fixture f,
                                       size_t groups, const struct ta_chart *chart)
{
    static const char *const names[] = {"gemm", "norm", "a", "b", "c", "d", "e", "f", "g", "h"};
    struct ta_table_builder *table =
        ta_add_table(section, "scatter", "Operators", fixture_scatter_columns, 8);
    for (size_t i = 0; i < f.rows; i++) {
        const size_t g = i % groups;
        const double intensity = pow(10, (double)g / 2 - 1) * (1 + 0.3 * sin((double)i));
        const double peak = g % 3 ? 989e12 : 67e12, bandwidth = 4.8e12;
        const double rate = fmin(peak, intensity * bandwidth) * (0.2 + 0.6 * fabs(cos((double)i)));
        TA_CELLS(table, ta_text(ta_slice_of(i % 5 ? names[g % 10] : FIXTURE_LONG_NAME)),
                 ta_text(ta_slice_of(names[g % 10])), ta_num(intensity * f.scale),
                 f.null_every && i % f.null_every == 0 ? ta_null() : ta_num(rate),
                 fixture_value(&f, i, 1e3 * (double)(1 + i * i % 91)),
                 ta_text(ta_slice_of(g % 3 ? "bf16" : "fp32")), ta_num(peak), ta_num(bandwidth));
    }
    ta_add_chart(table, chart);
}

/* ---- changes -------------------------------------------------------------------------------- */

static const struct ta_column fixture_change_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank of the change."},
    {"term", "Term", TA_TEXT, .doc = "What changed."},
    {"base_ns", "Before", TA_NS, .better = TA_LOWER, .doc = "Before."},
    {"new_ns", "After", TA_NS, .better = TA_LOWER, .doc = "After."},
    {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "After minus before."},
    {"ratio", "Ratio", TA_RATIO, .better = TA_LOWER, .doc = "After over before."},
    {"ci_low", "Low", TA_RATIO, .better = TA_LOWER, .doc = "Of its interval."},
    {"ci_high", "High", TA_RATIO, .better = TA_LOWER, .doc = "Of its interval."},
};

static const struct ta_chart fixture_waterfall_chart = {
    .id = "waterfall",
    .title = "Changes",
    .caption = "Term by term.",
    .kind = TA_CHART_WATERFALL,
    .label = {"term"},
    .y = {{"base_ns", "before", TA_INK_IDLE},
          {"new_ns", "after", TA_INK_IDLE},
          {"delta_ns", "change", TA_INK_WORSE}},
};

static const struct ta_chart fixture_forest_chart = {
    .id = "forest",
    .title = "Changes",
    .caption = "With their intervals.",
    .kind = TA_CHART_FOREST,
    .label = {"term"},
    .y = {{"ratio", "change", TA_INK_WORSE},
          {"ci_low", "low", TA_INK_WORSE},
          {"ci_high", "high", TA_INK_WORSE}},
};

static const struct ta_chart fixture_heatmap_chart = {
    .id = "heatmap",
    .title = "Changes",
    .caption = "By rank.",
    .kind = TA_CHART_HEATMAP,
    .label = {"term"},
    .x = "rank",
    .y = {{"delta_ns", "change", TA_INK_WORSE}},
};

/* Changes for better and worse, some none, on four ranks. */
static inline void fixture_add_changes(struct ta_section_builder *section, struct fixture f,
                                       const struct ta_chart *chart)
{
    struct ta_table_builder *table =
        ta_add_table(section, "changes", "Changes", fixture_change_columns, 8);
    for (size_t i = 0; i < f.rows; i++) {
        char name[300];
        const double base = 100 + (double)(i % 9), new = base *(0.8 + 0.05 * (double)(i % 10));
        const double ratio = f.scale > 0 ? new / base : (double)NAN;
        const struct ta_cell before = fixture_value(&f, i, base), after = fixture_value(&f, i, new);
        const bool known = before.kind == TA_CELL_INT && after.kind == TA_CELL_INT;
        snprintf(name, sizeof name, "%s%zu", i % 4 ? "term " : FIXTURE_LONG_NAME, i / 4);
        TA_CELLS(table, ta_int((int64_t)(i % 4)), ta_text(ta_slice_of(name)), before, after,
                 known ? ta_int(after.i - before.i) : ta_null(), ta_num(ratio),
                 ta_num(ratio * 0.93), ta_num(ratio * (i % 7 ? 1.08 : 9)));
    }
    ta_add_chart(table, chart);
}

/* ---- trees --------------------------------------------------------------------------------- */

static const struct ta_column fixture_tree_columns[] = {
    {"depth", "Depth", TA_COUNT, .doc = "Number of callers."},
    {"name", "Name", TA_TEXT, .doc = "Name of a call."},
    {"kind", "Kind", TA_TEXT, .doc = "Kind of a call."},
    {"total_ns", "Total", TA_NS, .better = TA_LOWER, .doc = "With all it calls."},
};

static const struct ta_kind fixture_kinds[] = {
    {"module", "Module", TA_INK_SERIES_3}, {"operator", "Operator", TA_INK_SERIES_4}, {0}};

static const struct ta_chart fixture_tree_chart = {
    .id = "tree",
    .title = "Call tree",
    .caption = "By caller.",
    .kind = TA_CHART_TREE,
    .label = {"name"},
    .x = "depth",
    .group = "kind",
    .y = {{"total_ns", "Total", TA_INK_SERIES_1}},
    .kinds = fixture_kinds,
};

/* Each row calls the next one and hands on three quarters, up to a depth; then a new root. */
static inline void fixture_add_tree(struct ta_section_builder *section, struct fixture f,
                                    size_t deepest)
{
    static const char *const kinds[] = {"python", "module", "operator"};
    struct ta_table_builder *table =
        ta_add_table(section, "tree", "Call tree", fixture_tree_columns, 4);
    for (size_t i = 0; i < f.rows; i++) {
        const size_t depth = i % (deepest + 1);
        TA_CELLS(table, ta_int((int64_t)depth),
                 ta_text(i % 5 ? TA_LIT("a/folder/of/long/names/model.py(1): forward")
                               : ta_slice_of(FIXTURE_LONG_NAME)),
                 ta_text(ta_slice_of(kinds[i % 3])),
                 fixture_value(&f, i, 1e6 * f.scale * pow(0.75, (double)depth)));
    }
    ta_add_chart(table, &fixture_tree_chart);
}

#endif
