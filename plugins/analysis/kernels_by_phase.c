/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_step and .by_phase: what kernels do, by step and by annotated range of the program.
 * A kernel belongs to where it was launched: to the step that was open then, on any thread, and
 * to the outermost annotated range of its thread, or of another thread if its own has none
 * (autograd).  If one range contains nearly everything, the ranges in it are the phases. */
#include "model/launched.h"
#include "model/program/steps.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>
#include <traceanalyze/table.h>

#include <stdlib.h>

/* ---- partials ------------------------------------------------------------------------------ */

enum { STEP_NAME, STEP_REPEAT, STEP_CLASS, STEP_ORDER, STEP_CALLS, STEP_TOTAL, STEP_FIELDS };
enum { PHASE_OUTER, PHASE_INNER, PHASE_CLASS, PHASE_CALLS, PHASE_TOTAL, PHASE_START, PHASE_FIELDS };

enum { PARTIAL_STEPS, PARTIAL_PHASES };

/* STEP_REPEAT of kernels launched outside all steps. */
enum { OUTSIDE = -1 };

/* ---- ranges of the host -------------------------------------------------------------------- */

/* Ranges by start, each with the latest end of itself and all before it. */
struct phase_ranges {
    struct phase_range {
        int64_t start, end, latest;
        ta_row span; /* or the index of a step */
    } * at;
    size_t n, max;
    size_t recent; /* number that had started at the last requested time */
    bool failed;
};

/* ---- tables -------------------------------------------------------------------------------- */

/* clang-format off */
/* Three columns of both tables, from enumerator `class` on. */
#define PHASE_CLASS_COLUMNS(class) \
    [(class)] = {"class", "Class", TA_TEXT, .doc = "What the kernel does, by its name"}, \
    [(class) + 1] = {"calls", "Calls", TA_COUNT, .doc = "Number of kernel executions, all ranks"}, \
    [(class) + 2] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, \
                     .doc = "Sum of the kernel durations, all ranks; kernels at the same time " \
                            "add up"}
/* clang-format on */

static inline struct ta_cell phase_class_cell(int64_t kind)
{
    return ta_text(ta_slice_of(ta_kernel_kind_name((enum ta_kernel_kind)kind)));
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Adds a host range. */

static void phase_range_add(struct phase_ranges *ranges, int64_t start, int64_t end, ta_row span)
{
    if (ranges->n == ranges->max) {
        const size_t more = ranges->max ? ranges->max * 2 : 64;
        struct phase_range *grown = reallocarray(ranges->at, more, sizeof *grown);
        if (!grown) {
            ranges->failed = true;
            return;
        }
        ranges->at = grown;
        ranges->max = more;
    }
    ranges->at[ranges->n++] = (struct phase_range){.start = start, .end = end, .span = span};
}

static int by_start(const void *left, const void *right)
{
    const struct phase_range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

/* Sorts the ranges for phase_range_at(). */
static void phase_ranges_order(struct phase_ranges *ranges)
{
    int64_t latest = INT64_MIN;
    if (ranges->n)
        qsort(ranges->at, ranges->n, sizeof *ranges->at, by_start);
    for (size_t i = 0; i < ranges->n; i++) {
        latest = ta_max_i64(latest, ranges->at[i].end);
        ranges->at[i].latest = latest;
    }
}

/* The most recently opened range of those open at `time`; TA_NO_ROW if there is none. */
static ta_row phase_range_at(struct phase_ranges *ranges, int64_t time)
{
    const size_t n = ranges->recent;
    if (!((n == 0 || ranges->at[n - 1].start <= time) &&
          (n == ranges->n || ranges->at[n].start > time))) {
        /* Number of ranges that start at `time` or earlier. */
        size_t low = 0, high = ranges->n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (ranges->at[middle].start <= time)
                low = middle + 1;
            else
                high = middle;
        }
        ranges->recent = low;
    }
    for (size_t i = ranges->recent; i > 0 && ranges->at[i - 1].latest > time; i--)
        if (ranges->at[i - 1].end > time)
            return ranges->at[i - 1].span;
    return TA_NO_ROW;
}

/* ---- launched -------------------------------------------------------------------------------- */

/* In which step and which range the kernels of a trace were launched. */

/* The names of an outermost range and of the next one in it; absent if there is none. */
struct phase {
    ta_str outer, inner;
};

/* Rows of the most recent place, by class of kernel: most kernels come from the same place as
 * the one before. */
struct recent {
    uint64_t place;
    int64_t *rows[TA_KERNEL_KIND_COUNT];
};

/* What spans of a category may be. */
enum sort { SORT_OTHER, SORT_HOST, SORT_CALL, SORT_RANGE };

/* Whether such spans were open when a graph was captured. */
enum captured { NOT_CAPTURED, CAPTURED, CAPTURED_RANGE };

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    const struct ta_launched *launched;
    struct ta_partial *const *out;
    const struct ta_program_steps *found;
    bool *is_step;                /* by string: whether it names steps, which are not phases */
    uint8_t *sorts, *is_captured; /* of each category */
    bool any_captured;
    struct phase_ranges steps, all; /* outermost annotated ranges of all threads */
    struct phase *phases;           /* by number; 0 is in no range */
    size_t n_phases, max_phases;
    struct ta_map numbers; /* of phases, by their names */
    uint32_t *phase_of;    /* of each call that launched something */
    struct ta_map step_rows, phase_rows;
    struct recent step, phase;
    bool failed;
};

/* Pointer to the row of a class of kernel at this place, NULL at first. */
static int64_t **recent_row(struct recent *recent, uint64_t place, int64_t kind)
{
    if (recent->place != place)
        *recent = (struct recent){.place = place};
    return &recent->rows[kind];
}

/* ---- what encloses a launch ------------------------------------------------------------------ */

static void add_phase(struct work *w, struct phase phase)
{
    if (w->n_phases == w->max_phases) {
        const size_t more = w->max_phases * 2 + 64;
        struct phase *grown = reallocarray(w->phases, more, sizeof *grown);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->phases = grown;
        w->max_phases = more;
    }
    w->phases[w->n_phases++] = phase;
}

static uint32_t phase_number(struct work *w, ta_str outer, ta_str inner)
{
    const uint64_t *number = ta_map_at(&w->numbers, (uint64_t)outer << 32 | inner, w->n_phases);
    if (!number)
        return 0;
    const uint64_t found = *number;
    if (found == w->n_phases)
        add_phase(w, (struct phase){outer, inner});
    return w->failed ? 0 : (uint32_t)found;
}

/* The outermost annotated range around a span, the next one in it, and the number of ranges. */
struct around {
    ta_row outer, inner; /* TA_NO_ROW: there is none */
    uint32_t phase;
};

/* Leaves the ranges that do not enclose a span with this parent.  TA_NO_ROW + 1 is 0, so a span
 * without a parent leaves all. */
static void leave_ranges(struct work *w, struct around *around, ta_row parent)
{
    if (around->outer != TA_NO_ROW && parent + 1 <= around->outer) {
        *around = (struct around){TA_NO_ROW, TA_NO_ROW, 0};
    } else if (around->inner != TA_NO_ROW && parent + 1 <= around->inner) {
        around->inner = TA_NO_ROW;
        around->phase = phase_number(w, w->spans.name[around->outer], TA_STR_ABSENT);
    }
}

static void enter_range(struct work *w, struct around *around, ta_row row)
{
    const ta_str *names = w->spans.name;
    if (around->outer == TA_NO_ROW) {
        phase_range_add(&w->all, w->spans.ts[row], w->spans.ts[row] + w->spans.dur[row], row);
        *around = (struct around){row, TA_NO_ROW, phase_number(w, names[row], TA_STR_ABSENT)};
    } else if (around->inner == TA_NO_ROW) {
        around->inner = row;
        around->phase = phase_number(w, names[around->outer], names[row]);
    }
}

/* Spans come before the spans in them, and all spans in a range are consecutive. */
static void find_ranges(struct work *w)
{
    struct around around = {TA_NO_ROW, TA_NO_ROW, 0};
    for (ta_row row = 0; row < w->spans.n; row++) {
        const enum sort sort = w->sorts[w->spans.cat[row]];
        if (sort == SORT_OTHER)
            continue;
        if (around.outer != TA_NO_ROW)
            leave_ranges(w, &around, w->spans.parent[row]);
        if (sort == SORT_RANGE && !w->is_step[w->spans.name[row]])
            enter_range(w, &around, row);
        if (sort == SORT_CALL && around.phase && ta_launched_has(w->launched, row))
            w->phase_of[ta_launched_place(w->launched, row)] = around.phase;
    }
    phase_ranges_order(&w->all);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The phase of a launch; if its own thread has none, the phase of another thread. */
static uint32_t phase_of(struct work *w, ta_row launch)
{
    if (launch == TA_NO_ROW)
        return 0;
    const uint32_t own = w->phase_of[ta_launched_place(w->launched, launch)];
    const ta_row other = own ? TA_NO_ROW : phase_range_at(&w->all, w->spans.ts[launch]);
    return other == TA_NO_ROW ? own : phase_number(w, w->spans.name[other], TA_STR_ABSENT);
}

/* The phase of a kernel.  If its graph was launched in no inner range, the outermost range that
 * was open when the graph was captured is the inner one, or the outer one if there is none. */
static uint32_t phase_of_kernel(struct work *w, const struct ta_activity *a)
{
    const uint32_t number = phase_of(w, a->launch);
    if (!w->any_captured || a->op == TA_NO_ROW || w->phases[number].inner != TA_STR_ABSENT)
        return number;
    const ta_str outer = w->phases[number].outer;
    ta_row range = TA_NO_ROW;
    for (ta_row row = a->op; row != TA_NO_ROW && w->is_captured[w->spans.cat[row]];
         row = w->spans.parent[row])
        if (w->is_captured[w->spans.cat[row]] == CAPTURED_RANGE)
            range = row;
    if (range == TA_NO_ROW)
        return number;
    const ta_str name = w->spans.name[range];
    return outer == TA_STR_ABSENT ? phase_number(w, name, TA_STR_ABSENT)
                                  : phase_number(w, outer, name);
}

static void add_to_phase(struct work *w, const struct ta_activity *a, int64_t kind)
{
    const ta_row span = a->span;
    const uint32_t number = phase_of_kernel(w, a);
    int64_t **row = recent_row(&w->phase, number, kind);
    if (!*row) {
        const struct phase phase = w->phases[number];
        *row = ta_partial_cached(
            w->out[PARTIAL_PHASES], &w->phase_rows, (uint64_t)number << 8 | (uint64_t)kind,
            (const struct ta_key[]){ta_key_text(ta_trace_text(w->trace, phase.outer)),
                                    ta_key_text(ta_trace_text(w->trace, phase.inner)),
                                    ta_key_int(kind)});
    }
    ta_sum(&(*row)[PHASE_CALLS], 1);
    ta_sum(&(*row)[PHASE_TOTAL], w->spans.dur[span]);
    ta_least(&(*row)[PHASE_START], w->spans.ts[span] - ta_trace_origin(w->trace));
}

static int64_t **step_row(struct work *w, ta_row step, int64_t kind)
{
    const uint64_t place = step == TA_NO_ROW ? 0 : (uint64_t)step + 1;
    int64_t **row = recent_row(&w->step, place, kind);
    if (*row)
        return row;
    const struct ta_program_step *of = place ? &w->found->at[step] : NULL;
    char text[TA_STEP_NAME_ROOM];
    const struct ta_slice name =
        of ? ta_program_step_name(w->trace, w->found, step, text) : TA_LIT("");
    *row = ta_partial_cached(w->out[PARTIAL_STEPS], &w->step_rows, place << 8 | (uint64_t)kind,
                             (const struct ta_key[]){ta_key_text(name),
                                                     ta_key_int(of ? (int64_t)of->repeat : OUTSIDE),
                                                     ta_key_int(kind)});
    ta_least(&(*row)[STEP_ORDER], of ? of->number : INT64_MAX);
    return row;
}

static void add_kernels(struct work *w)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const struct ta_kernels kernels = ta_trace_kernels(w->trace);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        const int64_t kind = kernels.at[a->kernel].facts.kind;
        const int64_t dur = w->spans.dur[a->span];
        const ta_row step =
            a->launch == TA_NO_ROW ? TA_NO_ROW : phase_range_at(&w->steps, w->spans.ts[a->launch]);
        int64_t **row = step_row(w, step, kind);
        ta_sum(&(*row)[STEP_CALLS], 1);
        ta_sum(&(*row)[STEP_TOTAL], dur);
        add_to_phase(w, a, kind);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static enum sort sort_of(const struct ta_trace *trace, const struct ta_category *category)
{
    if (!ta_class_is_host(category->class))
        return SORT_OTHER;
    if (ta_slice_equal(ta_trace_text(trace, category->name), TA_LIT("user_annotation")))
        return SORT_RANGE;
    return category->class == TA_CLASS_RUNTIME ? SORT_CALL : SORT_HOST;
}

static enum captured captured_of(const struct ta_trace *trace, const struct ta_category *category)
{
    if (!ta_class_is_captured(category->class))
        return NOT_CAPTURED;
    return ta_slice_equal(ta_trace_text(trace, category->name), TA_LIT("user_annotation"))
               ? CAPTURED_RANGE
               : CAPTURED;
}

static void add_steps(struct work *w)
{
    for (size_t i = 0; i < w->found->n; i++) {
        const struct ta_program_step *step = &w->found->at[i];
        phase_range_add(&w->steps, step->start, step->end, (ta_row)i);
        if (w->found->by == TA_STEPS_BY_USER)
            w->is_step[w->spans.name[step->mark]] = true;
    }
    phase_ranges_order(&w->steps);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .launched = ta_trace_launched(trace),
                     .found = ta_program_steps(trace),
                     .out = out};
    w.is_step = calloc(ta_trace_string_count(trace) + 1, sizeof *w.is_step);
    w.sorts = calloc(ta_trace_categories(trace).n + 1, sizeof *w.sorts);
    w.phase_of = calloc(w.launched ? w.launched->n + 1 : 1, sizeof *w.phase_of);
    w.is_captured = calloc(ta_trace_categories(trace).n + 1, sizeof *w.is_captured);
    bool done = w.launched && w.found && w.is_step && w.sorts && w.phase_of && w.is_captured;
    if (done) {
        const struct ta_categories categories = ta_trace_categories(w.trace);
        for (size_t i = 0; i < categories.n; i++)
            w.sorts[i] = (uint8_t)sort_of(w.trace, &categories.at[i]);
        for (size_t i = 0; i < categories.n; i++) {
            w.is_captured[i] = (uint8_t)captured_of(w.trace, &categories.at[i]);
            w.any_captured |= w.is_captured[i];
        }
        for (size_t id = 0; id < ta_trace_string_count(w.trace); id++)
            w.is_step[id] = ta_is_step_mark(ta_trace_text(w.trace, (ta_str)id));
        add_steps(&w);
        add_phase(&w, (struct phase){TA_STR_ABSENT, TA_STR_ABSENT});
        find_ranges(&w);
        if (!w.failed)
            add_kernels(&w);
        done = !w.failed && !w.steps.failed && !w.all.failed && !w.numbers.failed &&
               !w.step_rows.failed && !w.phase_rows.failed;
    }
    free(w.is_step);
    free(w.sorts);
    free(w.is_captured);
    free(w.phase_of);
    free(w.phases);
    free(w.steps.at);
    free(w.all.at);
    ta_map_free(&w.numbers);
    ta_map_free(&w.step_rows);
    ta_map_free(&w.phase_rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the ranges of a trace");
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* kernels.by_phase: which ranges are phases, and what their kernels do. */

enum { PHASE, CLASS, CALLS, TOTAL, SHARE };
static const struct ta_column kernels_by_phase_columns[] = {
    [PHASE] = {"phase", "Phase", TA_TEXT,
               .doc = "Annotated range in which the kernels were launched"},
    PHASE_CLASS_COLUMNS(CLASS),
    [SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the time of all kernels of the phase"},
};

static const struct ta_chart_def phase_chart = {
    .id = "kernel-classes-by-phase",
    .title = "Kernel classes by phase",
    .caption = "Device time by kernel class and the annotated range that launched the kernels, "
               "summed over all ranks, in run order.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&kernels_by_phase_columns[PHASE]},
    .y = {{&kernels_by_phase_columns[TOTAL], "Total", TA_INK_SERIES_1}},
    .group = &kernels_by_phase_columns[CLASS],
};

/* kernels.by_phase, filled from PARTIAL_PHASES; false without memory. */
static const struct ta_table_def kernels_by_phase = {
    "kernels.by_phase",
    "Kernel classes by phase",
    TA_COLUMNS(kernels_by_phase_columns),
    .doc = "One row per phase and class, in the order of the run. A phase is the outermost range "
           "that the program annotates (`user_annotation`, except step markers) around the launch "
           "of a kernel; if the thread that launched it has none, like the autograd thread, the "
           "range of another thread that was opened last. If one range contains at least 90 % of "
           "the annotated kernel time and half of it lies in inner ranges, the inner ranges are "
           "the phases. \"(outside of ranges)\" has the rest; left out if there is only one phase. "
           "Chart `kernel-classes-by-phase`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&phase_chart}};

/* A phase being built: sums by class. */
struct summed {
    struct ta_slice name;
    int64_t start_ns, total_ns;
    int64_t calls[TA_KERNEL_KIND_COUNT], times[TA_KERNEL_KIND_COUNT];
};

/* A row and the phase that it belongs to. */
struct entry {
    struct ta_slice phase;
    const int64_t *row;
};

/* A range with more than this share of the annotated kernel time is not a phase if it contains
 * others. */
#define NEARLY_ALL 0.9

static int by_phase(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return ta_slice_compare(a->phase, b->phase);
}

/* Fills `phases`, which has room for one per row; returns how many there are. */
static size_t make_phases(const struct ta_partial *rows, struct entry *entries,
                          struct summed *phases)
{
    /* Finds the range with nearly all the time, most of it in inner ranges.  Rows are sorted by
     * the name of the outer range. */
    struct ta_slice largest = TA_LIT("");
    double all = 0, most = 0, most_within = 0;
    for (size_t i = 0, end; i < ta_partial_rows(rows); i = end) {
        const struct ta_slice name = ta_partial_text(rows, ta_partial_at(rows, i), PHASE_OUTER);
        double held = 0, within = 0;
        end = ta_partial_group_end(rows, i, PHASE_OUTER);
        for (size_t k = i; k < end; k++) {
            const int64_t *row = ta_partial_at(rows, k);
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
            phases[n++] = (struct summed){.name = entries[i].phase, .start_ns = INT64_MAX};
        struct summed *phase = &phases[n - 1];
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
    const struct summed *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return ta_slice_compare(a->name, b->name);
}

static void list_phase(const struct summed *phase, struct ta_section_builder *out)
{
    const struct ta_slice name = phase->name.len ? phase->name : TA_LIT("(outside of ranges)");
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
        if (phase->calls[kind])
            TA_ROW(out, kernels_by_phase, [PHASE] = ta_text(name), [CLASS] = phase_class_cell(kind),
                   [CALLS] = ta_int(phase->calls[kind]), [TOTAL] = ta_int(phase->times[kind]),
                   [SHARE] = ta_share(phase->times[kind], phase->total_ns));
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field step_fields[STEP_FIELDS] = {
    [STEP_NAME] = {"step", TA_FIELD_TEXT},  [STEP_REPEAT] = {"repeat", TA_FIELD_INT},
    [STEP_CLASS] = {"class", TA_FIELD_INT}, [STEP_ORDER] = {"order", TA_FIELD_MIN},
    [STEP_CALLS] = {"calls", TA_FIELD_SUM}, [STEP_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field fields[PHASE_FIELDS] = {
    [PHASE_OUTER] = {"outer", TA_FIELD_TEXT},   [PHASE_INNER] = {"inner", TA_FIELD_TEXT},
    [PHASE_CLASS] = {"class", TA_FIELD_INT},    [PHASE_CALLS] = {"calls", TA_FIELD_SUM},
    [PHASE_TOTAL] = {"total_ns", TA_FIELD_SUM}, [PHASE_START] = {"start_ns", TA_FIELD_MIN},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_STEPS] = {"steps", step_fields, STEP_FIELDS},
    [PARTIAL_PHASES] = {"phases", fields, PHASE_FIELDS},
    {0},
};

enum { IN_STEP, IN_CLASS, IN_CALLS, IN_TOTAL, IN_SHARE };
static const struct ta_column by_step_columns[] = {
    [IN_STEP] = {"step", "Step", TA_TEXT, .doc = "Label of the step"},
    PHASE_CLASS_COLUMNS(IN_CLASS),
    [IN_SHARE] = {"share", "Share", TA_RATIO,
                  .doc = "Share of the time of all kernels of the step"},
};

static const struct ta_chart_def step_chart = {
    .id = "kernel-classes-by-step",
    .title = "Kernel classes by step",
    .caption = "Device time by kernel class and the step that launched the kernels, summed over "
               "all ranks.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_step_columns[IN_STEP]},
    .y = {{&by_step_columns[IN_TOTAL], "Total", TA_INK_SERIES_1}},
    .group = &by_step_columns[IN_CLASS],
};

static const struct ta_table_def by_step = {
    "kernels.by_step",
    "Kernel classes by step",
    TA_COLUMNS(by_step_columns),
    .doc = "One row per step of `steps.by_step`, all ranks together, and class. A kernel belongs "
           "to the step that was open, on any thread, when it was launched; of several, to the one "
           "that began last. \"(outside of steps)\" has the others. Left out without steps. Chart "
           "`kernel-classes-by-step`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&step_chart}};

/* ---- finish ---------------------------------------------------------------------------------- */

/* Rows [first, end) of one step; its name and repeat number are in the first. */
struct step_rows {
    size_t first, end;
    int64_t order;
};

static int by_order(const void *left, const void *right)
{
    const struct step_rows *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static void list_step(const struct ta_partial *steps, const struct step_rows *step,
                      struct ta_section_builder *out)
{
    const int64_t *of = ta_partial_at(steps, step->first);
    char text[TA_STEP_LABEL_ROOM];
    const struct ta_slice label =
        of[STEP_REPEAT] == OUTSIDE
            ? TA_LIT("(outside of steps)")
            : ta_step_label(ta_partial_text(steps, of, STEP_NAME), (uint64_t)of[STEP_REPEAT], text);
    int64_t all = 0;
    for (size_t i = step->first; i < step->end; i++)
        all = ta_add_sat(all, ta_partial_at(steps, i)[STEP_TOTAL]);
    for (size_t i = step->first; i < step->end; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        TA_ROW(out, by_step, [IN_STEP] = ta_text(label),
               [IN_CLASS] = phase_class_cell(row[STEP_CLASS]), [IN_CALLS] = ta_int(row[STEP_CALLS]),
               [IN_TOTAL] = ta_int(row[STEP_TOTAL]), [IN_SHARE] = ta_share(row[STEP_TOTAL], all));
    }
}

/* Rows are sorted by name; steps are listed in run order, and what is outside of them last. */
static bool list_steps(const struct ta_partial *steps, struct ta_section_builder *out)
{
    const size_t n_rows = ta_partial_rows(steps);
    struct step_rows *at = calloc(n_rows + 1, sizeof *at);
    size_t n = 0;
    bool any = false;
    for (size_t first = 0, end; at && first < n_rows; first = end) {
        end = ta_partial_group_end(steps, first, STEP_REPEAT);
        at[n] = (struct step_rows){first, end, INT64_MAX};
        for (size_t i = first; i < end; i++)
            at[n].order = ta_min_i64(at[n].order, ta_partial_at(steps, i)[STEP_ORDER]);
        any |= ta_partial_at(steps, first)[STEP_REPEAT] != OUTSIDE;
        n++;
    }
    if (n)
        qsort(at, n, sizeof *at, by_order);
    for (size_t i = 0; any && i < n; i++)
        list_step(steps, &at[i], out);
    const bool done = at != NULL;
    free(at);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const struct ta_partial *rows = merged[PARTIAL_PHASES];
    struct entry *entries = calloc(ta_partial_rows(rows) + 1, sizeof *entries);
    struct summed *phases = calloc(ta_partial_rows(rows) + 1, sizeof *phases);
    const bool done = entries && phases && list_steps(merged[PARTIAL_STEPS], out);
    const size_t count = done ? make_phases(rows, entries, phases) : 0;
    if (count > 1) { /* a single phase has all kernels, as kernels.by_class does */
        qsort(phases, count, sizeof *phases, in_order_of_run);
        for (size_t i = 0; i < count; i++)
            list_phase(&phases[i], out);
    }
    free(entries);
    free(phases);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the steps and phases");
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PARTIAL_STEPS, STEP_CLASS, TA_KERNEL_KIND_COUNT},
                                         {PARTIAL_PHASES, PHASE_CLASS, TA_KERNEL_KIND_COUNT},
                                         TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_step, &kernels_by_phase, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "kernels",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, kernels_by_phase, &ops, .title = "Kernel classes by step and phase",
    .summary = "What kernels do, by step and by annotated range: kernels.by_step, kernels.by_phase",
    .version = "1");
