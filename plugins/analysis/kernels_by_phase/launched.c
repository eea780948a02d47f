/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which step and which range the kernels of a trace were launched. */
#include "kernels_by_phase.h"

#include <traceanalyze/host.h>

#include <stdlib.h>

/* Rows of the names met last, by class of kernel: most kernels come from where the one before came
 * from. */
struct recent {
    ta_str names[2];
    int64_t *rows[TA_KERNEL_KIND_COUNT];
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *const *out;
    uint8_t *marks;                 /* of each string: MARK_STEP */
    bool *is_annotation;            /* of each category */
    struct phase_ranges steps, all; /* markers; outermost annotated ranges of all threads */
    struct ta_map step_rows, phase_rows;
    struct ta_map phases; /* numbers of pairs of names */
    struct ta_map around; /* of some rows, see ranges_around() */
    struct station *stations;
    size_t n_stations, max_stations;
    struct recent step, phase;
};

/* Where the row of a class of kernel with these names is kept, NULL at first. */
static int64_t **recent_row(struct recent *recent, ta_str first, ta_str second, int64_t kind)
{
    if (recent->names[0] != first || recent->names[1] != second)
        *recent = (struct recent){.names = {first, second}};
    return &recent->rows[kind];
}

enum { MARK_STEP = 1 };

static bool is_step(const struct work *w, ta_row row)
{
    return w->marks[w->spans.name[row]] == MARK_STEP;
}

static bool is_range(const struct work *w, ta_row row)
{
    return w->is_annotation[w->spans.cat[row]] && !is_step(w, row);
}

/* The outermost annotated range around a span, and the next one in it. */
struct around {
    ta_row outer, inner; /* TA_NO_ROW: there is none */
};

static struct around join(struct around below, struct around above)
{
    if (above.inner != TA_NO_ROW || below.outer == TA_NO_ROW)
        return above;
    return above.outer == TA_NO_ROW ? below : (struct around){above.outer, below.outer};
}

/* What is around one of so many rows is remembered: stacks of Python are deep, and launches have
 * most of theirs in common. */
enum { REMEMBERED = 64 };

/* A row on the way up that will be remembered, and what was found below it since the one before. */
struct station {
    ta_row row;
    struct around below;
};

/* False without memory: then there is nothing to be remembered. */
static bool add_station(struct work *w, ta_row row, struct around below)
{
    if (w->n_stations == w->max_stations) {
        const size_t more = w->max_stations * 2 + 64;
        struct station *grown = reallocarray(w->stations, more, sizeof *grown);
        if (!grown)
            return false;
        w->stations = grown;
        w->max_stations = more;
    }
    w->stations[w->n_stations++] = (struct station){row, below};
    return true;
}

/* What is around the stations, the last one first; `found` is around that.  Returns what is around
 * the row from which the way began. */
static struct around pass_stations(struct work *w, struct around found)
{
    while (w->n_stations) {
        const struct station *station = &w->stations[--w->n_stations];
        ta_map_at(&w->around, station->row, (uint64_t)found.outer << 32 | found.inner);
        found = join(station->below, found);
    }
    return found;
}

/* The span itself may be one of the ranges. */
static struct around ranges_around(struct work *w, ta_row span)
{
    static const struct around nothing = {TA_NO_ROW, TA_NO_ROW};
    struct around found = nothing;
    for (ta_row row = span; row != TA_NO_ROW; row = w->spans.parent[row]) {
        if (row % REMEMBERED == 0) {
            const uint64_t *known = ta_map_find(&w->around, row);
            if (known) {
                found = join(found, (struct around){(ta_row)(*known >> 32), (ta_row)*known});
                break;
            }
            if (add_station(w, row, found))
                found = nothing;
        }
        if (is_range(w, row))
            found = (struct around){row, found.outer};
    }
    return pass_stations(w, found);
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
        if (is_step(w, (ta_row)i))
            phase_range_add(&w->steps, &w->spans, (ta_row)i);
        else if (ranges_around(w, (ta_row)i).outer == (ta_row)i)
            phase_range_add(&w->all, &w->spans, (ta_row)i);
    }
    phase_ranges_order(&w->steps);
    phase_ranges_order(&w->all);
}

static int64_t *step_row(struct work *w, ta_str name, int64_t kind)
{
    const int64_t number =
        name == TA_STR_ABSENT ? TA_MISSING : ta_host_step_number(ta_trace_text(w->trace, name));
    return ta_partial_cached(w->out[PARTIAL_STEPS], &w->step_rows,
                             (uint64_t)name << 8 | (uint64_t)kind,
                             (const struct ta_key[]){ta_key_int(number), ta_key_int(kind)});
}

static void add_to_step(struct work *w, ta_row marker, int64_t kind, int64_t dur)
{
    const ta_str name = marker == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[marker];
    int64_t **row = recent_row(&w->step, name, TA_STR_ABSENT, kind);
    if (!*row)
        *row = step_row(w, name, kind);
    ta_sum(&(*row)[STEP_CALLS], 1);
    ta_sum(&(*row)[STEP_TOTAL], dur);
}

static uint64_t phase_number(struct work *w, const ta_str names[2])
{
    const uint64_t *number =
        ta_map_at(&w->phases, (uint64_t)names[0] << 32 | names[1], w->phases.n + 1);
    return number ? *number : 0;
}

static int64_t *phase_row(struct work *w, const ta_str names[2], int64_t kind)
{
    return ta_partial_cached(
        w->out[PARTIAL_PHASES], &w->phase_rows, phase_number(w, names) << 8 | (uint64_t)kind,
        (const struct ta_key[]){ta_key_text(ta_trace_text(w->trace, names[0])),
                                ta_key_text(ta_trace_text(w->trace, names[1])), ta_key_int(kind)});
}

static ta_str name_of(const struct work *w, ta_row row)
{
    return row == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[row];
}

static void add_to_phase(struct work *w, ta_row launch, int64_t kind, ta_row span)
{
    struct around around = {TA_NO_ROW, TA_NO_ROW};
    if (launch != TA_NO_ROW) {
        around = ranges_around(w, launch);
        if (around.outer == TA_NO_ROW)
            around.outer = phase_range_at(&w->all, w->spans.ts[launch]);
    }
    const ta_str names[] = {name_of(w, around.outer), name_of(w, around.inner)};
    int64_t **row = recent_row(&w->phase, names[0], names[1], kind);
    if (!*row)
        *row = phase_row(w, names, kind);
    ta_sum(&(*row)[PHASE_CALLS], 1);
    ta_sum(&(*row)[PHASE_TOTAL], w->spans.dur[span]);
    ta_least(&(*row)[PHASE_START], w->spans.ts[span] - ta_trace_origin(w->trace));
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
            a->launch == TA_NO_ROW ? TA_NO_ROW : phase_range_at(&w->steps, w->spans.ts[a->launch]);
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

enum ta_status phase_map(struct ta_ctx *ctx, const struct ta_trace *trace,
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
    ta_map_free(&w.around);
    free(w.stations);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the ranges of a trace");
}
