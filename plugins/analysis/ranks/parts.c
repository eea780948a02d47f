/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.parts and parts.metrics: nodes, or process groups, compared by the means of their ranks. */
#include "parts.h"

#include "base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- parts --------------------------------------------------------------------------------- */

bool parts_add(struct parts *parts, const char *kind, const char *label, const int64_t *ranks,
               size_t n)
{
    return ta_vec_push(parts, ((struct part){kind, label, ranks, n}));
}

void parts_free(struct parts *parts)
{
    free(parts->at);
    ta_arena_free(&parts->arena);
}

/* "0–7, 12" of ascending ranks; what is beyond the bound is "…". */
static const char *list_ranks(struct ta_arena *arena, const struct part *part)
{
    enum { LIST_MOST = 120 };
    const char *text = "";
    for (size_t i = 0, end; i < part->n && text; i = end) {
        for (end = i + 1; end < part->n && part->ranks[end] == part->ranks[end - 1] + 1;)
            end++;
        const char *comma = i ? ", " : "";
        if (strlen(text) > LIST_MOST)
            return ta_arena_printf(arena, "%s, …", text);
        text = end - i > 1 ? ta_arena_printf(arena, "%s%s%" PRId64 "–%" PRId64, text, comma,
                                             part->ranks[i], part->ranks[end - 1])
                           : ta_arena_printf(arena, "%s%s%" PRId64, text, comma, part->ranks[i]);
    }
    return text;
}

/* ---- means --------------------------------------------------------------------------------- */

/* Mean of a figure over the ranks of a part that have it; NaN of none. */
static double mean_of(const struct figure *figure, const struct part *part)
{
    double sum = 0;
    size_t n = 0;
    if (!figure)
        return NAN;
    size_t low = 0, high = figure->n;
    while (low < high && part->n) { /* the first value at or after the first rank */
        const size_t middle = low + (high - low) / 2;
        if (figure->ranks[middle] < part->ranks[0])
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < part->n && low < figure->n;) {
        if (figure->ranks[low] < part->ranks[i]) {
            low++;
        } else if (figure->ranks[low] > part->ranks[i]) {
            i++;
        } else {
            sum += figure->values[low++];
            n++;
        }
    }
    return sum / (double)n;
}

/* The figure of a column in rows that have no keys but the rank. */
static const struct figure *figure_of(const struct figures *figures, const struct ta_ref *column)
{
    const size_t table = strlen(column->table);
    for (size_t i = 0; i < figures->n; i++) {
        const char *name = figures->at[i].name;
        if (strncmp(name, column->table, table) == 0 && name[table] == '.' &&
            strcmp(name + table + 1, column->column) == 0)
            return &figures->at[i];
    }
    return NULL;
}

/* ---- a row per part ------------------------------------------------------------------------ */

enum {
    PARTS_PART,
    PARTS_KIND,
    PARTS_RANKS,
    PARTS_MEMBERS,
    PARTS_WINDOW,
    PARTS_COMPUTE,
    PARTS_COMM_HIDDEN,
    PARTS_COMM_EXPOSED,
    PARTS_MEMCPY_EXPOSED,
    PARTS_HOST_WAIT,
    PARTS_KERNEL_WAIT,
    PARTS_AROUND,
    PARTS_OTHER,
    PARTS_STEP,
    PARTS_LATENESS
};
static const struct ta_column ranks_parts_columns[] = {
    [PARTS_PART] = {"part", "Part", TA_TEXT, .doc = "Node or process group"},
    [PARTS_KIND] = {"kind", "Kind", TA_TEXT, .doc = "node, or the purpose of the process group"},
    [PARTS_RANKS] = {"ranks", "Ranks", TA_COUNT,
                     .doc = "Ranks of the node or group that were read"},
    [PARTS_MEMBERS] = {"members", "Members", TA_TEXT, .doc = "Which ranks these are"},
    [PARTS_WINDOW] = {"window_ns", "Window", TA_NS_MEAN,
                      .doc = "Window of the program, mean over the part's ranks"},
    [PARTS_COMPUTE] = {"compute_ns", "Compute", TA_NS_MEAN,
                       .doc =
                           "Compute not overlapped with communication, mean over the part's ranks"},
    [PARTS_COMM_HIDDEN] = {"comm_hidden_ns", "Comm hidden", TA_NS_MEAN,
                           .doc =
                               "Communication overlapped with compute, mean over the part's ranks"},
    [PARTS_COMM_EXPOSED] =
        {"comm_exposed_ns", "Comm exposed", TA_NS_MEAN,
         .doc = "Communication not overlapped with compute, mean over the part's ranks"},
    [PARTS_MEMCPY_EXPOSED] = {"memcpy_exposed_ns", "Copies exposed", TA_NS_MEAN,
                              .doc = "Copies not hidden by other work, mean over the part's ranks"},
    [PARTS_HOST_WAIT] = {"host_wait_ns", "Host wait", TA_NS_MEAN,
                         .doc =
                             "Idle time until the host launches work, mean over the part's ranks"},
    [PARTS_KERNEL_WAIT] = {"kernel_wait_ns", "Kernel wait", TA_NS_MEAN,
                           .doc = "Idle time although work is queued, mean over the part's ranks"},
    [PARTS_AROUND] = {"around_ns", "Before and after", TA_NS_MEAN,
                      .doc = "Time before the first device activity and after the last, mean over "
                             "the part's ranks"},
    [PARTS_OTHER] = {"other_ns", "Other", TA_NS_MEAN,
                     .doc = "Rest of the window, mean over the part's ranks"},
    [PARTS_STEP] = {"step_p50_ns", "Step p50", TA_NS_MEAN,
                    .doc = "Median step time of a rank, mean over the part's ranks"},
    [PARTS_LATENESS] = {"lateness_ns", "Lateness", TA_NS_MEAN,
                        .doc = "Mean lateness at collectives, mean over the part's ranks"},
};

/* Figures that parts are shown with: of each a column, from the window on. */
enum { FIRST_MEAN = PARTS_WINDOW, MEANS = TA_LENGTH(ranks_parts_columns) - FIRST_MEAN };

static const struct ta_chart_def part_chart = {
    .id = "parts-breakdown",
    .title = "GPU time by part",
    .caption = "Program window by part, mean over the ranks of each node or process group.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&ranks_parts_columns[PARTS_PART]},
    .y = {{&ranks_parts_columns[PARTS_COMPUTE], "Compute alone", TA_INK_COMPUTE},
          {&ranks_parts_columns[PARTS_COMM_HIDDEN], "Compute and communication",
           TA_INK_COMM_HIDDEN},
          {&ranks_parts_columns[PARTS_COMM_EXPOSED], "Exposed communication", TA_INK_COMM},
          {&ranks_parts_columns[PARTS_MEMCPY_EXPOSED], "Exposed copies", TA_INK_MEMCPY},
          {&ranks_parts_columns[PARTS_HOST_WAIT], "Idle, host wait", TA_INK_IDLE},
          {&ranks_parts_columns[PARTS_KERNEL_WAIT], "Idle, kernel wait", TA_INK_IDLE_QUEUED},
          {&ranks_parts_columns[PARTS_AROUND], "Idle before and after", TA_INK_IDLE_AROUND},
          {&ranks_parts_columns[PARTS_OTHER], "Idle, unknown, or memory set", TA_INK_IDLE_UNKNOWN}},
};

const struct ta_table_def ranks_parts = {
    "ranks.parts", "Nodes or process groups", TA_COLUMNS(ranks_parts_columns),
    .doc = "With `--by node` or `--by group`: one row per node, or per process group that "
           "collectives name. The size of a node is `--ranks-per-node` (`ranks.per_node`); "
           "otherwise it is N if rank r uses device r mod N, otherwise 8. A rank is in every group "
           "that its collectives name. Chart `parts-breakdown`.",
    .joining = TA_JOIN_NOT};

static bool add_parts(const struct figures *figures, const struct ta_refs *in, struct parts *parts,
                      struct ta_section_builder *out)
{
    const struct figure *of[MEANS];
    for (size_t i = 0; i < MEANS; i++)
        of[i] = figure_of(figures, &in->list[FIRST_SHOWN + i]);
    for (size_t i = 0; i < parts->n; i++) {
        const struct part *part = &parts->at[i];
        const char *members = list_ranks(&parts->arena, part);
        if (!members)
            return false;
        struct ta_cell cells[TA_LENGTH(ranks_parts_columns)] = {
            [PARTS_PART] = ta_text(ta_slice_of(part->label)),
            [PARTS_KIND] = ta_text(ta_slice_of(part->kind)),
            [PARTS_RANKS] = ta_int((int64_t)part->n),
            [PARTS_MEMBERS] = ta_text(ta_slice_of(members))};
        for (size_t c = 0; c < MEANS; c++)
            cells[FIRST_MEAN + c] = ta_num(mean_of(of[c], part));
        ta_add_row(ta_rows(out, &ranks_parts), cells);
    }
    if (of[0])
        ta_draw(out, &ranks_parts, &part_chart);
    return true;
}

/* ---- a row per figure ---------------------------------------------------------------------- */

enum {
    METRICS_KIND,
    METRICS_METRIC,
    METRICS_LABEL,
    METRICS_UNIT,
    METRICS_PARTS,
    METRICS_MIN,
    METRICS_MIN_PART,
    METRICS_MAX,
    METRICS_MAX_PART,
    METRICS_MEAN,
    METRICS_P50,
    METRICS_SPREAD
};
static const struct ta_column parts_metrics_columns[] = {
    [METRICS_KIND] = {"kind", "Kind", TA_TEXT,
                      .doc = "What is compared: nodes, or process groups of one purpose"},
    [METRICS_METRIC] = {"metric", "Metric", TA_ID, .doc = "Metric, named as in `ranks.metrics`"},
    [METRICS_LABEL] = {"label", "Name", TA_TEXT,
                       .doc =
                           "Name of what is compared; a part's value is the mean over its ranks"},
    [METRICS_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
    [METRICS_PARTS] = {"parts", "Parts", TA_COUNT, .doc = "Nodes or groups with a value"},
    [METRICS_MIN] = {"min", "Min", TA_NUMBER, .doc = "Smallest mean of a node or group"},
    [METRICS_MIN_PART] =
        {"min_part", "Part of min", TA_TEXT,
         .doc = "Node or group with the smallest mean; the first if several are equal"},
    [METRICS_MAX] = {"max", "Max", TA_NUMBER, .doc = "Largest mean of a node or group"},
    [METRICS_MAX_PART] =
        {"max_part", "Part of max", TA_TEXT,
         .doc = "Node or group with the largest mean; the first if several are equal"},
    [METRICS_MEAN] = {"mean", "Mean", TA_NUMBER, .doc = "Mean over the nodes or groups"},
    [METRICS_P50] = {"p50", "p50", TA_NUMBER, .doc = "Median over the nodes or groups"},
    [METRICS_SPREAD] = {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
                        .doc = "1 − smallest / largest; empty if a value is negative"},
};

const struct ta_table_def parts_metrics = {
    "parts.metrics", "Metrics across nodes or process groups", TA_COLUMNS(parts_metrics_columns),
    .doc = "The figures of `ranks.metrics`, compared over nodes or over the process groups of each "
           "kind: the value of a node or group is the mean of its ranks.",
    .joining = TA_JOIN_NOT};

/* One figure over the parts [0, n) of one kind; `means` has room for n. */
static void add_metric(const struct figure *figure, const struct part *parts, size_t n,
                       double *means, struct ta_section_builder *out)
{
    const struct part *low = NULL, *high = NULL;
    double least = INFINITY, most = -INFINITY, sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const double mean = mean_of(figure, &parts[i]);
        if (isnan(mean))
            continue;
        low = mean < least ? &parts[i] : low;
        high = mean > most ? &parts[i] : high;
        least = fmin(least, mean);
        most = fmax(most, mean);
        means[found++] = mean;
    }
    if (found < 2)
        return; /* nothing to compare */
    ta_sort_numbers(means, found);
    for (size_t i = 0; i < found; i++)
        sum += means[i];
    TA_ROW(out, parts_metrics, [METRICS_KIND] = ta_text(ta_slice_of(parts->kind)),
           [METRICS_METRIC] = ta_text(ta_slice_of(figure->name)),
           [METRICS_LABEL] = ta_text(ta_slice_of(figure->label)),
           [METRICS_UNIT] = ta_text(ta_slice_of(figure->unit)),
           [METRICS_PARTS] = ta_int((int64_t)found), [METRICS_MIN] = ta_num(least),
           [METRICS_MIN_PART] = ta_text(ta_slice_of(low->label)), [METRICS_MAX] = ta_num(most),
           [METRICS_MAX_PART] = ta_text(ta_slice_of(high->label)),
           [METRICS_MEAN] = ta_num(sum / (double)found),
           [METRICS_P50] = ta_num(ta_quantile(means, found, 0.5)),
           [METRICS_SPREAD] = least >= 0 && most > 0 ? ta_num(1 - least / most) : ta_null());
}

static bool add_metrics(const struct figures *figures, const struct parts *parts,
                        struct ta_section_builder *out)
{
    double *means = calloc(parts->n + 1, sizeof *means);
    for (size_t first = 0, end; means && first < parts->n; first = end) {
        for (end = first + 1;
             end < parts->n && strcmp(parts->at[end].kind, parts->at[first].kind) == 0;)
            end++;
        for (size_t i = 0; i < figures->n; i++)
            add_metric(&figures->at[i], parts->at + first, end - first, means, out);
    }
    free(means);
    return means != NULL;
}

bool parts_report(const struct figures *figures, const struct ta_refs *in, struct parts *parts,
                  struct ta_section_builder *out)
{
    return add_parts(figures, in, parts, out) && add_metrics(figures, parts, out);
}
