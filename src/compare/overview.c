/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/overview.h"

#include "base/context.h"
#include "compare/figures.h"
#include "report/report.h"
#include "report/tables.h"
#include "traceanalyze/stat.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- what is said of each ------------------------------------------------------------------ */

enum {
    RUN,
    RECORDING,
    KIND,
    CHOSEN,
    FILES,
    RANKS,
    DEVICE,
    STARTED,
    START,
    WINDOW,
    STEP,
    RATE,
    RATE_OF,
    FINDING
};

static const struct ta_column overview_columns[] = {
    [RUN] = {"run", "Run", TA_TEXT, .role = TA_KEY, .doc = "Name of the run, as --run takes it"},
    [RECORDING] = {"recording", "Recording", TA_TEXT, .role = TA_KEY,
                   .doc = "Recording, if the run was recorded several times"},
    [KIND] = {"kind", "Kind", TA_WORD, .role = TA_NOTE,
              .doc = "run, iteration, cycle or warm_up, as in the list of files"},
    [CHOSEN] = {"chosen", "Reported", TA_FLAG, .role = TA_NOTE,
                .doc = "Whether the run's report uses this recording: the last complete one that "
                       "is not a warm-up"},
    [FILES] = {"files", "Files", TA_COUNT, .doc = "Files whose events are used"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks with a file"},
    [DEVICE] = {"device", "Device", TA_TEXT, .role = TA_NOTE,
                .doc = "Names of the devices, each once"},
    [STARTED] = {"started", "Started", TA_TEXT, .role = TA_NOTE,
                 .doc = "Date and time in UTC; empty without dates"},
    [START] = {"start_ns", "Start", TA_NS, .role = TA_NOTE, .detail = true,
               .doc = "Time since the first of them began; empty without dates"},
    [WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER,
                .doc = "Duration of the run: longest window of the program on host and devices; "
                       "without one, the time of a session, its stages or the host"},
    [STEP] = {"step_ns", "Step", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Median time of a step or denoising step"},
    [RATE] = {"rate", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
              .doc = "Frames, images or tokens per second"},
    [RATE_OF] = {"rate_of", "Rate basis", TA_TEXT, .role = TA_NOTE,
                 .doc = "What the rate counts and its basis, such as fps@blocks"},
    [FINDING] = {"finding", "First finding", TA_SENTENCE, .role = TA_NOTE,
                 .doc = "First finding of the run's report"},
};

static const struct ta_brief in_brief = {
    .place = 5,
    .rows = 12,
    .rows_are = "the first",
    .first = {&overview_columns[RUN], &overview_columns[RECORDING]},
    .never = {&overview_columns[KIND], &overview_columns[CHOSEN], &overview_columns[START]},
    .whole_names = true,
    .remark = &overview_columns[FINDING],
};

static const struct ta_table_def overview = {
    "runs.overview",
    "Runs",
    TA_COLUMNS(overview_columns),
    .doc = "Several runs in one input, each with a report of its own, or several recordings of one "
           "run, in time order; those without dates come last, by name. No figure combines two of "
           "them.",
    .joining = TA_JOIN_NOT,
    .not_of_ranks = true,
    .brief = &in_brief};

/* ---- their spread -------------------------------------------------------------------------- */

enum { SPREAD_RUN, FIGURE, N, LEAST, MEDIAN, MOST, SPREAD, SPREAD_UNIT };

static const struct ta_column spread_columns[] = {
    [SPREAD_RUN] = {"run", "Run", TA_TEXT, .role = TA_KEY,
                    .doc = "Name of the run, as --run takes it"},
    [FIGURE] = {"figure", "Metric", TA_WORD, .role = TA_KEY, .doc = "Figure that is compared"},
    [N] = {"recordings", "Recordings", TA_COUNT,
           .doc = "Recordings with this figure; warm-ups are left out"},
    [LEAST] = {"min", "Min", TA_NUMBER, .doc = "Smallest value over the recordings"},
    [MEDIAN] = {"median", "Median", TA_NUMBER, .doc = "Median value over the recordings"},
    [MOST] = {"max", "Max", TA_NUMBER, .doc = "Largest value over the recordings"},
    [SPREAD] = {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
                .doc = "Largest minus smallest value, divided by the median"},
    [SPREAD_UNIT] = {"unit", "Unit", TA_ID, .role = TA_UNIT_OF_ROW,
                     .doc = "Unit of min, median and max"},
};

static const struct ta_table_def spread = {"runs.spread",
                                           "Spread across recordings",
                                           TA_COLUMNS(spread_columns),
                                           .doc = "How much the recordings of one run differ.",
                                           .joining = TA_JOIN_NOT,
                                           .not_of_ranks = true,
                                           .brief =
                                               &(const struct ta_brief){.place = 6, .rows = 6}};

static const struct ta_table_def *const tables[] = {&overview, &spread, NULL};
static const struct ta_part made = {.name = "runs", .tables = tables};
const struct ta_part *const ta_overview_parts[] = {&made, NULL};

/* ---- figures of a report ------------------------------------------------------------------- */

struct figures {
    double window, step, rate; /* NaN when not recorded */
    const char *rate_of;       /* or NULL */
};

/* The window of the program where there are devices, else the time of the run; or TA_MISSING. */
static int64_t window_of(const struct ta_registry *registry, const struct ta_report *report)
{
    struct ta_refs in;
    ta_readings_open(&in, registry, report);
    const double window = ta_ref_scalar(&in, TA_AS_PROGRAM_WINDOW, (double)NAN);
    return ta_ref_rows(&in, TA_AS_DEVICE_WINDOW) > 0 && !isnan(window)
               ? ta_whole(window)
               : ta_run_time(registry, report);
}

static bool read_figures(struct ta_arena *arena, const struct ta_registry *registry,
                         const struct ta_report *report, struct figures *figures)
{
    struct ta_run_figures all;
    if (!ta_run_figures_read(arena, registry, report, &all))
        return false;
    *figures = (struct figures){.window = (double)NAN, .step = (double)NAN, .rate = (double)NAN};
    for (size_t i = all.n; i-- > 0;) { /* the first of each kind stays */
        const struct ta_run_figure *figure = &all.at[i];
        if (figure->series)
            figures->step = figure->value;
        if (figure->unit == TA_UNIT_PER_S && figure->is_key) {
            figures->rate = figure->value;
            figures->rate_of = figure->id;
        }
    }
    const int64_t window = window_of(registry, report);
    if (window != TA_MISSING)
        figures->window = (double)window;
    return true;
}

/* The headline of the worst finding; of a run without one what its report says first. */
static const char *first_finding(const struct ta_report *report)
{
    const struct ta_verdict *verdict = ta_report_verdict(report);
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while (verdict->bottleneck && (item = ta_report_next(report, TA_ITEM_FINDING, &walk)))
        if (strcmp(item->finding->id, verdict->bottleneck) == 0)
            return item->finding->title;
    return verdict->headline;
}

static int64_t first_start(const struct ta_overview_row *rows, size_t n)
{
    int64_t first = TA_MISSING;
    for (size_t i = 0; i < n; i++)
        if (rows[i].start_ns != TA_MISSING && (first == TA_MISSING || rows[i].start_ns < first))
            first = rows[i].start_ns;
    return first;
}

static void add_row(struct ta_section_builder *out, const struct ta_overview_row *row,
                    const struct figures *figures, int64_t first)
{
    const struct ta_run_info *info = ta_report_run(row->report);
    const time_t start = (time_t)(row->start_ns / INT64_C(1000000000));
    struct tm utc;
    char date[32];
    const char *started = row->start_ns != TA_MISSING && gmtime_r(&start, &utc) &&
                                  strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &utc)
                              ? date
                              : NULL;
    TA_ROW(out, overview, [RUN] = ta_string(row->run), [RECORDING] = ta_string(row->recording),
           [KIND] = ta_string(row->kind), [CHOSEN] = ta_bool(row->is_chosen),
           [FILES] = ta_count(row->n_files), [RANKS] = ta_count(info->n_ranks),
           [DEVICE] = ta_string(info->devices), [STARTED] = ta_string(started),
           [START] = ta_int(row->start_ns == TA_MISSING ? TA_MISSING : row->start_ns - first),
           [WINDOW] = ta_int(ta_whole(figures->window)), [STEP] = ta_num(figures->step),
           [RATE] = ta_num(figures->rate), [RATE_OF] = ta_string(figures->rate_of),
           [FINDING] = ta_string(first_finding(row->report)));
}

static void add_spread(struct ta_section_builder *out, const char *run, const char *figure,
                       enum ta_unit unit, double *values, size_t n)
{
    if (n < 2)
        return;
    ta_sort_numbers(values, n);
    const double median = ta_quantile(values, n, 0.5);
    TA_ROW(out, spread, [SPREAD_RUN] = ta_string(run), [FIGURE] = ta_string(figure),
           [N] = ta_count(n), [LEAST] = ta_num(values[0]), [MEDIAN] = ta_num(median),
           [MOST] = ta_num(values[n - 1]), [SPREAD] = ta_num((values[n - 1] - values[0]) / median),
           [SPREAD_UNIT] = ta_string(ta_unit_name(unit)));
}

/* Of recordings of one run; different runs have nothing to be spread around. */
static bool add_spreads(struct ta_section_builder *out, struct ta_arena *arena,
                        const struct ta_overview_row *rows, const struct figures *figures, size_t n)
{
    static const struct {
        const char *name;
        enum ta_unit unit;
        size_t offset;
    } which[] = {{"window_ns", TA_UNIT_NS, offsetof(struct figures, window)},
                 {"step_ns", TA_UNIT_NS, offsetof(struct figures, step)},
                 {"rate", TA_UNIT_PER_S, offsetof(struct figures, rate)}};
    double *values = ta_arena_alloc(arena, n * sizeof *values);
    for (size_t k = 0; values && k < TA_LENGTH(which); k++) {
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            const double value = *(const double *)((const char *)&figures[i] + which[k].offset);
            if (value > 0 && strcmp(rows[i].kind, "warm_up") != 0)
                values[used++] = value;
        }
        add_spread(out, rows[0].run, which[k].name, which[k].unit, values, used);
    }
    return values;
}

static int by_start(const void *left, const void *right)
{
    const struct ta_overview_row *a = left, *b = right;
    const bool a_dated = a->start_ns != TA_MISSING, b_dated = b->start_ns != TA_MISSING;
    if (a_dated != b_dated)
        return a_dated ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return strcmp(a->run, b->run);
}

void ta_overview_order(struct ta_overview_row *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, by_start);
}

static bool are_of_one_run(const struct ta_overview_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows[i].run, rows[0].run) != 0)
            return false;
    return true;
}

enum ta_status ta_overview_add(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_overview_row *rows, size_t n,
                               struct ta_report *report)
{
    struct ta_arena arena = {0};
    struct figures *figures = ta_arena_alloc(&arena, n * sizeof *figures);
    bool done = figures != NULL;
    for (size_t i = 0; done && i < n; i++)
        done = read_figures(&arena, registry, rows[i].report, &figures[i]);
    struct ta_section_builder *out = ta_report_open_section(report, "overview", "Overview");
    ta_declare_tables(out, tables);
    for (size_t i = 0; done && i < n; i++)
        add_row(out, &rows[i], &figures[i], first_start(rows, n));
    if (done && are_of_one_run(rows, n))
        done = add_spreads(out, &arena, rows, figures, n);
    ta_close_tables(out);
    ta_arena_free(&arena);
    if (done && ta_report_freeze(report) == TA_OK)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the overview of the runs: n=%zu", n);
}

enum ta_status ta_overview_conclude(struct ta_ctx *ctx, const struct ta_registry *registry,
                                    const struct ta_overview_row *rows, size_t n,
                                    struct ta_report *report)
{
    enum { NAMED_MOST = 6 };
    struct ta_arena arena = {0};
    const char *line = ta_arena_printf(&arena, "%zu runs, each with a report of its own:", n);
    for (size_t i = 0; line && i < n && i < NAMED_MOST; i++) {
        const size_t n_ranks = ta_report_run(rows[i].report)->n_ranks;
        const int64_t time = window_of(registry, rows[i].report);
        char text[TA_UNIT_TEXT_MAX], ranks[32] = "";
        if (n_ranks > 1)
            snprintf(ranks, sizeof ranks, "%zu ranks, ", n_ranks);
        line = time == TA_MISSING
                   ? ta_arena_printf(&arena, "%s%s %s", line, i ? "," : "", rows[i].run)
                   : ta_arena_printf(&arena, "%s%s %s (%s%s)", line, i ? "," : "", rows[i].run,
                                     ranks, ta_unit_format(text, (double)time, TA_UNIT_NS));
    }
    if (line && n > NAMED_MOST)
        line = ta_arena_printf(&arena, "%s and %zu more", line, n - NAMED_MOST);
    if (line)
        line = ta_arena_printf(&arena, "%s.", line);
    if (line)
        ta_report_set_verdict(report, line, NULL);
    ta_arena_free(&arena);
    return line ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the overview of the runs");
}
