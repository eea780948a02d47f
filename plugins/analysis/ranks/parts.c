/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.parts and parts.metrics: nodes, or process groups, compared by the means of their ranks. */
#include "parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- parts --------------------------------------------------------------------------------- */

bool parts_add(struct parts *parts, const char *kind, const char *label, const int64_t *ranks,
               size_t n)
{
    if (parts->n == parts->max) {
        const size_t more = parts->max ? 2 * parts->max : 16;
        struct part *grown = reallocarray(parts->at, more, sizeof *grown);
        if (!grown)
            return false;
        parts->at = grown;
        parts->max = more;
    }
    parts->at[parts->n++] = (struct part){kind, label, ranks, n};
    return true;
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
    while (low < high && part->n) { /* the first value at or behind the first rank */
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

static const struct figure *figure_of(const struct figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->n; i++)
        if (strcmp(figures->at[i].name, name) == 0)
            return &figures->at[i];
    return NULL;
}

/* ---- a row per part ------------------------------------------------------------------------ */

/* Figures that parts are shown with, in the order of their columns. */
static const char *const shown[] = {
    "gpu_time.parts.window_ns",
    "gpu_time.parts.compute_ns",
    "gpu_time.parts.comm_hidden_ns",
    "gpu_time.parts.comm_exposed_ns",
    "gpu_time.parts.memcpy_exposed_ns",
    "gpu_time.parts.host_wait_ns",
    "gpu_time.parts.kernel_wait_ns",
    "gpu_time.parts.other_ns",
    "steps.by_rank.p50_ns",
    "stragglers.by_rank.mean_lateness_ns",
};

enum { SHOWN = sizeof shown / sizeof *shown, OTHER_COLUMNS = 4 };

#define MEAN_COLUMN(key, title, what)                                                              \
    {                                                                                              \
        key, title, TA_TYPE_NUMBER, TA_UNIT_NS, .doc = what                                        \
    }

static const struct ta_column part_columns[] = {
    {"part", "Part", TA_TEXT, .doc = "Node, or process group"},
    {"kind", "Kind", TA_TEXT, .doc = "node, or what the process group is for"},
    {"ranks", "Ranks", TA_COUNT, .doc = "Ranks of the part that were read"},
    {"members", "Members", TA_TEXT, .doc = "These ranks"},
    MEAN_COLUMN("window_ns", "Window", "First to last device activity, mean over its ranks"),
    MEAN_COLUMN("compute_ns", "Compute", "Compute without communication, mean over its ranks"),
    MEAN_COLUMN("comm_hidden_ns", "Comm hidden", "Compute beside communication, likewise"),
    MEAN_COLUMN("comm_exposed_ns", "Comm exposed", "Communication without compute, likewise"),
    MEAN_COLUMN("memcpy_exposed_ns", "Copies exposed", "Copies that nothing covers, likewise"),
    MEAN_COLUMN("host_wait_ns", "Host wait", "Idle until the host has work, likewise"),
    MEAN_COLUMN("kernel_wait_ns", "Kernel wait", "Idle though work is queued, likewise"),
    MEAN_COLUMN("other_ns", "Other", "The rest of the window, likewise"),
    MEAN_COLUMN("step_p50_ns", "Step p50", "Median step of a rank, mean over its ranks"),
    MEAN_COLUMN("lateness_ns", "Lateness", "Mean lateness at collectives, mean over its ranks"),
};

static const struct ta_chart part_chart = {
    .id = "parts-breakdown",
    .title = "GPU time by part",
    .caption = "Windows of devices, as means over the ranks of each part.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"part"},
    .y = {{"compute_ns", "Compute alone", TA_INK_COMPUTE},
          {"comm_hidden_ns", "Compute and communication", TA_INK_COMM_HIDDEN},
          {"comm_exposed_ns", "Exposed communication", TA_INK_COMM},
          {"memcpy_exposed_ns", "Exposed copies", TA_INK_MEMCPY},
          {"host_wait_ns", "Idle, host wait", TA_INK_IDLE},
          {"kernel_wait_ns", "Idle, kernel wait", TA_INK_WAIT},
          {"other_ns", "Other", TA_INK_OTHER}},
};

static bool add_parts(const struct figures *figures, struct parts *parts,
                      struct ta_section_builder *out)
{
    const struct figure *of[SHOWN];
    for (size_t i = 0; i < SHOWN; i++)
        of[i] = figure_of(figures, shown[i]);
    struct ta_table_builder *table = ta_add_table(out, "ranks.parts", parts->title, part_columns,
                                                  sizeof part_columns / sizeof *part_columns);
    for (size_t i = 0; i < parts->n; i++) {
        const struct part *part = &parts->at[i];
        const char *members = list_ranks(&parts->arena, part);
        if (!members)
            return false;
        struct ta_cell cells[OTHER_COLUMNS + SHOWN] = {
            ta_text(ta_slice_of(part->label)), ta_text(ta_slice_of(part->kind)),
            ta_int((int64_t)part->n), ta_text(ta_slice_of(members))};
        for (size_t c = 0; c < SHOWN; c++)
            cells[OTHER_COLUMNS + c] = ta_num(mean_of(of[c], part));
        ta_add_row(table, cells);
    }
    if (of[0])
        ta_add_chart(table, &part_chart);
    return true;
}

/* ---- a row per figure ---------------------------------------------------------------------- */

static const struct ta_column metric_columns[] = {
    {"kind", "Kind", TA_TEXT, .doc = "Which parts are compared"},
    {"metric", "Metric", TA_ID, .doc = "As in `ranks.metrics`"},
    {"label", "Figure", TA_TEXT,
     .doc = "What is compared: the mean of it over the ranks of each part"},
    {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
    {"parts", "Parts", TA_COUNT, .doc = "Parts that have a value"},
    {"min", "Min", TA_NUMBER, .doc = "Smallest mean of a part"},
    {"min_part", "Part of min", TA_TEXT, .doc = "Part with the smallest mean, the first of equals"},
    {"max", "Max", TA_NUMBER, .doc = "Largest mean of a part"},
    {"max_part", "Part of max", TA_TEXT, .doc = "Part with the largest mean, the first of equals"},
    {"mean", "Mean", TA_NUMBER, .doc = "Mean over the parts"},
    {"p50", "p50", TA_NUMBER, .doc = "Median over the parts"},
    {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
     .doc = "1 − smallest over largest; none where a value is negative"},
};

/* One figure over the parts [0, n) of one kind; `means` has room for n. */
static void add_metric(const struct figure *figure, const struct part *parts, size_t n,
                       double *means, struct ta_table_builder *table)
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
    TA_CELLS(table, ta_text(ta_slice_of(parts->kind)), ta_text(ta_slice_of(figure->name)),
             ta_text(ta_slice_of(figure->label)), ta_text(ta_slice_of(figure->unit)),
             ta_int((int64_t)found), ta_num(least), ta_text(ta_slice_of(low->label)), ta_num(most),
             ta_text(ta_slice_of(high->label)), ta_num(sum / (double)found),
             ta_num(ta_quantile(means, found, 0.5)),
             least >= 0 && most > 0 ? ta_num(1 - least / most) : ta_null());
}

static bool add_metrics(const struct figures *figures, const struct parts *parts,
                        struct ta_section_builder *out)
{
    double *means = calloc(parts->n + 1, sizeof *means);
    struct ta_table_builder *table =
        ta_add_table(out, "parts.metrics", parts->compared, metric_columns,
                     sizeof metric_columns / sizeof *metric_columns);
    for (size_t first = 0, end; means && first < parts->n; first = end) {
        for (end = first + 1;
             end < parts->n && strcmp(parts->at[end].kind, parts->at[first].kind) == 0;)
            end++;
        for (size_t i = 0; i < figures->n; i++)
            add_metric(&figures->at[i], parts->at + first, end - first, means, table);
    }
    free(means);
    return means != NULL;
}

bool parts_report(const struct figures *figures, struct parts *parts,
                  struct ta_section_builder *out)
{
    return add_parts(figures, parts, out) && add_metrics(figures, parts, out);
}
