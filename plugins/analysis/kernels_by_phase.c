/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_step and .by_phase: what kernels do, step by step and in the ranges that the program
 * annotates.
 *
 * A kernel belongs to where it was launched: to the step whose marker was open then, on whatever
 * thread, and to the outermost annotated range of its thread, or of another thread where its own
 * has none (autograd).  Where one range holds nearly everything the ranges in it are the phases. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/columns.h>
#include <traceanalyze/host.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP, STEP_CLASS, STEP_CALLS, STEP_TOTAL, STEP_FIELDS };
enum { OUTER, INNER, CLASS, CALLS, TOTAL, START, FIELDS };

static const struct ta_field step_fields[STEP_FIELDS] = {
    [STEP] = {"step", TA_FIELD_INT},
    [STEP_CLASS] = {"class", TA_FIELD_INT},
    [STEP_CALLS] = {"calls", TA_FIELD_SUM},
    [STEP_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field fields[FIELDS] = {
    [OUTER] = {"outer", TA_FIELD_TEXT},   [INNER] = {"inner", TA_FIELD_TEXT},
    [CLASS] = {"class", TA_FIELD_INT},    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM}, [START] = {"start_ns", TA_FIELD_MIN},
};

enum { PARTIAL_STEPS, PARTIAL_PHASES };
static const struct ta_partial_def partials[] = {
    [PARTIAL_STEPS] = {"steps", step_fields, STEP_FIELDS},
    [PARTIAL_PHASES] = {"phases", fields, FIELDS},
    {0},
};

#define CLASS_COLUMNS                                                                              \
    TA_TEXT_COLUMN("class", "Class", "As in Device time by class of kernel"),                      \
        TA_COUNT_COLUMN("calls", "Calls", TA_NEUTRAL, "Number of executions, all ranks"),          \
        TA_NS_COLUMN("total_ns", "Total", TA_LOWER, "Sum of durations: work, not wall time")

static const struct ta_column step_columns[] = {
    TA_TEXT_COLUMN("step", "Step", "Label of the step, of all ranks"),
    CLASS_COLUMNS,
    TA_RATIO_COLUMN("share", "Share", TA_NEUTRAL, "Total over that of all kernels of the step"),
};

static const struct ta_column phase_columns[] = {
    TA_TEXT_COLUMN("phase", "Phase", "Annotated range in which the kernels were launched"),
    CLASS_COLUMNS,
    TA_RATIO_COLUMN("share", "Share", TA_NEUTRAL, "Total over that of all kernels of the phase"),
};

static const struct ta_chart step_chart = {
    .id = "kernel-classes-by-step",
    .title = "Class of kernels by step",
    .caption = "Kernel durations summed over all ranks, by the step that launched them.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"step"},
    .y = {{"total_ns", "Total", TA_INK_SERIES_1}},
    .group = "class",
};

static const struct ta_chart phase_chart = {
    .id = "kernel-classes-by-phase",
    .title = "Class of kernels by phase",
    .caption = "Kernel durations summed over all ranks, by the annotated range that launched them, "
               "in the order of the run.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"phase"},
    .y = {{"total_ns", "Total", TA_INK_SERIES_1}},
    .group = "class",
};

/* ---- ranges of the host ------------------------------------------------------------------------
 */

/* Ranges by start, with the latest end of a range and all before it. */
struct ranges {
    struct range {
        int64_t start, end, latest;
        ta_row span;
    } * at;
    size_t n, max;
    bool failed;
};

static void add_range(struct ranges *ranges, const struct ta_spans *s, ta_row span)
{
    if (ranges->n == ranges->max) {
        const size_t more = ranges->max ? ranges->max * 2 : 64;
        struct range *grown = reallocarray(ranges->at, more, sizeof *grown);
        if (!grown) {
            ranges->failed = true;
            return;
        }
        ranges->at = grown;
        ranges->max = more;
    }
    ranges->at[ranges->n++] =
        (struct range){.start = s->ts[span], .end = s->ts[span] + s->dur[span], .span = span};
}

static int by_start(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

static void order(struct ranges *ranges)
{
    int64_t latest = INT64_MIN;
    if (ranges->n)
        qsort(ranges->at, ranges->n, sizeof *ranges->at, by_start);
    for (size_t i = 0; i < ranges->n; i++) {
        latest = ta_max_i64(latest, ranges->at[i].end);
        ranges->at[i].latest = latest;
    }
}

/* The range that was opened last of those open at `time`; TA_NO_ROW without one. */
static ta_row open_at(const struct ranges *ranges, int64_t time)
{
    size_t low = 0, high = ranges->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges->at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && ranges->at[low - 1].latest > time; low--)
        if (ranges->at[low - 1].end > time)
            return ranges->at[low - 1].span;
    return TA_NO_ROW;
}

/* ---- map ---------------------------------------------------------------------------------------
 */

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *const *out;
    uint8_t *marks;           /* of each string: MARK_STEP */
    bool *is_annotation;      /* of each category */
    struct ranges steps, all; /* markers; outermost annotated ranges of all threads */
    struct ta_map step_rows, phase_rows;
    struct ta_map phases; /* numbers of pairs of names */
};

enum { MARK_STEP = 1 };

static bool is_step(const struct work *w, ta_row row)
{
    return w->marks[w->spans.name[row]] == MARK_STEP;
}

static bool is_range(const struct work *w, ta_row row)
{
    return w->is_annotation[w->spans.cat[row]] && !is_step(w, row);
}

/* The outermost annotated range around a span and the next one in it; the span itself may be one.
 */
static void ranges_around(const struct work *w, ta_row row, ta_row *outer, ta_row *inner)
{
    *outer = *inner = TA_NO_ROW;
    for (; row != TA_NO_ROW; row = w->spans.parent[row])
        if (is_range(w, row)) {
            *inner = *outer;
            *outer = row;
        }
}

static void find_ranges(struct work *w)
{
    const struct ta_categories categories = ta_trace_categories(w->trace);
    for (size_t i = 0; i < w->spans.n; i++) {
        const bool annotation = w->is_annotation[w->spans.cat[i]];
        if (!annotation && w->marks[w->spans.name[i]] != MARK_STEP)
            continue;
        if (!ta_class_is_host(categories.at[w->spans.cat[i]].class))
            continue;
        ta_row outer, inner;
        ranges_around(w, (ta_row)i, &outer, &inner);
        if (is_step(w, (ta_row)i))
            add_range(&w->steps, &w->spans, (ta_row)i);
        else if (outer == (ta_row)i)
            add_range(&w->all, &w->spans, (ta_row)i);
    }
    order(&w->steps);
    order(&w->all);
}

/* The digits behind "ProfilerStep#"; TA_MISSING when they are no number. */
static int64_t number_of(struct ta_slice name)
{
    const size_t start = ta_host_place(name).len + 1;
    int64_t number = 0;
    for (size_t i = start; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9' || i - start > 15)
            return TA_MISSING;
        number = number * 10 + (name.ptr[i] - '0');
    }
    return name.len > start ? number : TA_MISSING;
}

static void add_to_step(struct work *w, ta_row marker, int64_t kind, int64_t dur)
{
    const ta_str name = marker == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[marker];
    const int64_t number =
        marker == TA_NO_ROW ? TA_MISSING : number_of(ta_trace_text(w->trace, name));
    int64_t *row = ta_partial_cached(w->out[PARTIAL_STEPS], &w->step_rows,
                                     (uint64_t)name << 8 | (uint64_t)kind,
                                     (const struct ta_key[]){ta_key_int(number), ta_key_int(kind)});
    ta_sum(&row[STEP_CALLS], 1);
    ta_sum(&row[STEP_TOTAL], dur);
}

static uint64_t phase_number(struct work *w, const ta_str names[2])
{
    const uint64_t *number =
        ta_map_at(&w->phases, (uint64_t)names[0] << 32 | names[1], w->phases.n + 1);
    return number ? *number : 0;
}

static void add_to_phase(struct work *w, ta_row launch, int64_t kind, ta_row span)
{
    ta_row outer = TA_NO_ROW, inner = TA_NO_ROW;
    if (launch != TA_NO_ROW) {
        ranges_around(w, launch, &outer, &inner);
        if (outer == TA_NO_ROW)
            outer = open_at(&w->all, w->spans.ts[launch]);
    }
    const ta_str names[] = {outer == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[outer],
                            inner == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[inner]};
    const uint64_t id = phase_number(w, names) << 4 | (uint64_t)kind;
    int64_t *row = ta_partial_cached(
        w->out[PARTIAL_PHASES], &w->phase_rows, id,
        (const struct ta_key[]){ta_key_text(ta_trace_text(w->trace, names[0])),
                                ta_key_text(ta_trace_text(w->trace, names[1])), ta_key_int(kind)});
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[TOTAL], w->spans.dur[span]);
    ta_least(&row[START], w->spans.ts[span] - ta_trace_origin(w->trace));
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
        const ta_row marker =
            a->launch == TA_NO_ROW ? TA_NO_ROW : open_at(&w->steps, w->spans.ts[a->launch]);
        add_to_step(w, marker, kind, w->spans.dur[a->span]);
        add_to_phase(w, a->launch, kind, a->span);
    }
}

static void mark(struct work *w)
{
    const struct ta_categories categories = ta_trace_categories(w->trace);
    for (size_t i = 0; i < categories.n; i++)
        w->is_annotation[i] = ta_slice_equal(ta_trace_text(w->trace, categories.at[i].name),
                                             TA_LIT("user_annotation"));
    for (size_t id = 0; id < ta_trace_string_count(w->trace); id++) {
        const struct ta_slice name = ta_trace_text(w->trace, (ta_str)id);
        w->marks[id] = ta_host_place(name).len != name.len ? MARK_STEP : 0;
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    struct work w = {.trace = trace, .spans = ta_trace_spans(trace), .out = out};
    w.marks = calloc(ta_trace_string_count(trace) + 1, sizeof *w.marks);
    w.is_annotation = calloc(ta_trace_categories(trace).n + 1, sizeof *w.is_annotation);
    bool done = w.marks && w.is_annotation;
    if (done) {
        mark(&w);
        find_ranges(&w);
        add_kernels(&w);
        done = !w.steps.failed && !w.all.failed && !w.step_rows.failed && !w.phase_rows.failed &&
               !w.phases.failed;
    }
    free(w.marks);
    free(w.is_annotation);
    free(w.steps.at);
    free(w.all.at);
    ta_map_free(&w.step_rows);
    ta_map_free(&w.phase_rows);
    ta_map_free(&w.phases);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the ranges of a trace");
}

/* ---- finish ------------------------------------------------------------------------------------
 */

static struct ta_cell class_cell(int64_t kind)
{
    return ta_text(ta_slice_of(ta_kernel_kind_name((enum ta_kernel_kind)kind)));
}

/* Lists the classes of the step of row `i`; returns the row behind them. */
static size_t list_step(const struct ta_partial *steps, size_t i, struct ta_table_builder *table)
{
    const int64_t step = ta_partial_at(steps, i)[STEP];
    char label[40];
    size_t end = i;
    int64_t all = 0;
    for (; end < ta_partial_rows(steps) && ta_partial_at(steps, end)[STEP] == step; end++)
        all = ta_add_sat(all, ta_partial_at(steps, end)[STEP_TOTAL]);
    snprintf(label, sizeof label, "ProfilerStep#%" PRId64, step);
    for (; i < end; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        TA_ROW(table,
               ta_text(step == TA_MISSING ? TA_LIT("(outside of steps)") : ta_slice_of(label)),
               class_cell(row[STEP_CLASS]), ta_int(row[STEP_CALLS]), ta_int(row[STEP_TOTAL]),
               ta_share(row[STEP_TOTAL], all));
    }
    return end;
}

/* Rows come by the number of the step, those without one first; they are listed last. */
static void add_steps(const struct ta_partial *steps, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(steps);
    size_t first = 0;
    while (first < n && ta_partial_at(steps, first)[STEP] == TA_MISSING)
        first++;
    if (first == n)
        return;
    struct ta_table_builder *table =
        ta_add_table(out, "kernels.by_step", "Class of kernels by step", step_columns, 5);
    for (size_t i = first; i < n;)
        i = list_step(steps, i, table);
    if (first > 0)
        list_step(steps, 0, table);
    ta_add_chart(table, &step_chart);
}

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

/* The range that holds nearly all, most of it in inner ranges; empty without one.  Rows come by the
 * name of the outer range. */
static struct ta_slice find_frame(const struct ta_partial *rows)
{
    struct ta_slice largest = TA_LIT("");
    double all = 0, most = 0, most_within = 0;
    for (size_t i = 0, end; i < ta_partial_rows(rows); i = end) {
        const struct ta_slice name = ta_partial_text(rows, ta_partial_at(rows, i), OUTER);
        double held = 0, within = 0;
        for (end = i; end < ta_partial_rows(rows); end++) {
            const int64_t *row = ta_partial_at(rows, end);
            if (!ta_slice_equal(ta_partial_text(rows, row, OUTER), name))
                break;
            held += (double)row[TOTAL];
            within += ta_partial_text(rows, row, INNER).len ? (double)row[TOTAL] : 0;
        }
        if (name.len)
            all += held;
        if (name.len && held > most) {
            largest = name;
            most = held;
            most_within = within;
        }
    }
    return most >= NEARLY_ALL * all && most_within >= most / 2 ? largest : TA_LIT("");
}

static int by_phase(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return ta_slice_compare(a->phase, b->phase);
}

static void add_entry(struct phase *phase, const int64_t *row)
{
    phase->start_ns = ta_min_i64(phase->start_ns, row[START]);
    phase->total_ns = ta_add_sat(phase->total_ns, row[TOTAL]);
    phase->calls[row[CLASS]] = ta_add_sat(phase->calls[row[CLASS]], row[CALLS]);
    phase->times[row[CLASS]] = ta_add_sat(phase->times[row[CLASS]], row[TOTAL]);
}

/* Fills `phases`, which has room for one per row; returns how many there are. */
static size_t make_phases(const struct ta_partial *rows, struct entry *entries,
                          struct phase *phases)
{
    const struct ta_slice frame = find_frame(rows);
    const size_t n_rows = ta_partial_rows(rows);
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t *row = ta_partial_at(rows, i);
        const struct ta_slice outer = ta_partial_text(rows, row, OUTER);
        const struct ta_slice inner = ta_partial_text(rows, row, INNER);
        const bool framed = frame.len && inner.len && ta_slice_equal(outer, frame);
        entries[i] = (struct entry){framed ? inner : outer, row};
    }
    if (n_rows)
        qsort(entries, n_rows, sizeof *entries, by_phase);
    for (size_t i = 0; i < n_rows; i++) {
        if (n == 0 || !ta_slice_equal(phases[n - 1].name, entries[i].phase))
            phases[n++] = (struct phase){.name = entries[i].phase, .start_ns = INT64_MAX};
        add_entry(&phases[n - 1], entries[i].row);
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

static void list_phase(const struct phase *phase, struct ta_table_builder *table)
{
    const struct ta_slice name = phase->name.len ? phase->name : TA_LIT("(outside of ranges)");
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
        if (phase->calls[kind])
            TA_ROW(table, ta_text(name), class_cell(kind), ta_int(phase->calls[kind]),
                   ta_int(phase->times[kind]), ta_share(phase->times[kind], phase->total_ns));
}

static bool add_phases(const struct ta_partial *rows, struct ta_section_builder *out)
{
    struct entry *entries = calloc(ta_partial_rows(rows) + 1, sizeof *entries);
    struct phase *phases = calloc(ta_partial_rows(rows) + 1, sizeof *phases);
    const bool done = entries && phases;
    const size_t n = done ? make_phases(rows, entries, phases) : 0;
    if (n > 1) { /* one phase is all kernels, and kernels.by_class has them */
        struct ta_table_builder *table =
            ta_add_table(out, "kernels.by_phase", "Class of kernels by phase", phase_columns, 5);
        qsort(phases, n, sizeof *phases, in_order_of_run);
        for (size_t i = 0; i < n; i++)
            list_phase(&phases[i], table);
        ta_add_chart(table, &phase_chart);
    }
    free(entries);
    free(phases);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)prior;
    add_steps(merged[PARTIAL_STEPS], out);
    return add_phases(merged[PARTIAL_PHASES], out)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the phases");
}

static const char *const after[] = {"kernels_by_class", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PARTIAL_STEPS, STEP_CLASS, TA_KERNEL_KIND_COUNT},
                                         {PARTIAL_PHASES, CLASS, TA_KERNEL_KIND_COUNT},
                                         TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .after = after,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, kernels_by_phase, &ops, .title = "Kernel classes by step and phase",
          .summary = "What kernels do, by step and by annotated range: kernels.by_step, "
                     "kernels.by_phase",
          .version = "1");
