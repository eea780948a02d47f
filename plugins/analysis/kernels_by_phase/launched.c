/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which step and which range the kernels of a trace were launched. */
#include "kernels_by_phase.h"
#include "model/launched.h"

#include <traceanalyze/model.h>

#include <stdlib.h>

/* The names of an outermost range and of the next one in it; absent where there is none. */
struct phase {
    ta_str outer, inner;
};

/* Rows of the place met last, by class of kernel: most kernels come from where the one before came
 * from. */
struct recent {
    uint64_t place;
    int64_t *rows[TA_KERNEL_KIND_COUNT];
};

/* What spans of a category may be. */
enum sort { SORT_OTHER, SORT_HOST, SORT_CALL, SORT_RANGE };

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    const struct ta_launched *launched;
    struct ta_partial *const *out;
    bool *is_step;                  /* of each string */
    uint8_t *sorts;                 /* of each category */
    struct phase_ranges steps, all; /* markers; outermost annotated ranges of all threads */
    struct phase *phases;           /* by number; 0 is in no range */
    size_t n_phases, max_phases;
    struct ta_map numbers; /* of phases, by their names */
    uint32_t *phase_of;    /* of each call that launched something */
    struct ta_map step_rows, phase_rows;
    struct recent step, phase;
    bool failed;
};

/* Where the row of a class of kernel at this place is kept, NULL at first. */
static int64_t **recent_row(struct recent *recent, uint64_t place, int64_t kind)
{
    if (recent->place != place)
        *recent = (struct recent){.place = place};
    return &recent->rows[kind];
}

/* ---- ranges ---------------------------------------------------------------------------------- */

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

/* The outermost annotated range around a span, the next one in it, and their number. */
struct around {
    ta_row outer, inner; /* TA_NO_ROW: there is none */
    uint32_t phase;
};

/* Leaves the ranges that do not enclose a span with this parent: it comes before them, or there is
 * none, which the sum makes 0. */
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
        phase_range_add(&w->all, &w->spans, row);
        *around = (struct around){row, TA_NO_ROW, phase_number(w, names[row], TA_STR_ABSENT)};
    } else if (around->inner == TA_NO_ROW) {
        around->inner = row;
        around->phase = phase_number(w, names[around->outer], names[row]);
    }
}

/* Spans come before those within them, and all within a range stand together. */
static void find_ranges(struct work *w)
{
    struct around around = {TA_NO_ROW, TA_NO_ROW, 0};
    for (ta_row row = 0; row < w->spans.n; row++) {
        const enum sort sort = w->sorts[w->spans.cat[row]];
        if (sort == SORT_OTHER)
            continue;
        if (around.outer != TA_NO_ROW)
            leave_ranges(w, &around, w->spans.parent[row]);
        if (w->is_step[w->spans.name[row]])
            phase_range_add(&w->steps, &w->spans, row);
        else if (sort == SORT_RANGE)
            enter_range(w, &around, row);
        if (sort == SORT_CALL && around.phase && ta_launched_has(w->launched, row))
            w->phase_of[ta_launched_place(w->launched, row)] = around.phase;
    }
    phase_ranges_order(&w->steps);
    phase_ranges_order(&w->all);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The phase of a launch; where its own thread has none, that of another one. */
static uint32_t phase_of(struct work *w, ta_row launch)
{
    if (launch == TA_NO_ROW)
        return 0;
    const uint32_t own = w->phase_of[ta_launched_place(w->launched, launch)];
    const ta_row other = own ? TA_NO_ROW : phase_range_at(&w->all, w->spans.ts[launch]);
    return other == TA_NO_ROW ? own : phase_number(w, w->spans.name[other], TA_STR_ABSENT);
}

static void add_to_phase(struct work *w, ta_row launch, int64_t kind, ta_row span)
{
    const uint32_t number = phase_of(w, launch);
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
        const ta_row marker =
            a->launch == TA_NO_ROW ? TA_NO_ROW : phase_range_at(&w->steps, w->spans.ts[a->launch]);
        const ta_str name = marker == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[marker];
        int64_t **row = recent_row(&w->step, name, kind);
        if (!*row) {
            const int64_t number = name == TA_STR_ABSENT
                                       ? TA_MISSING
                                       : ta_host_step_number(ta_trace_text(w->trace, name));
            *row = ta_partial_cached(w->out[PARTIAL_STEPS], &w->step_rows,
                                     (uint64_t)name << 8 | (uint64_t)kind,
                                     (const struct ta_key[]){ta_key_int(number), ta_key_int(kind)});
        }
        ta_sum(&(*row)[STEP_CALLS], 1);
        ta_sum(&(*row)[STEP_TOTAL], dur);
        add_to_phase(w, a->launch, kind, a->span);
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

enum ta_status phase_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                         struct ta_partial *const *out)
{
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .launched = ta_trace_launched(trace),
                     .out = out};
    w.is_step = calloc(ta_trace_string_count(trace) + 1, sizeof *w.is_step);
    w.sorts = calloc(ta_trace_categories(trace).n + 1, sizeof *w.sorts);
    w.phase_of = calloc(w.launched ? w.launched->n + 1 : 1, sizeof *w.phase_of);
    bool done = w.launched && w.is_step && w.sorts && w.phase_of;
    if (done) {
        const struct ta_categories categories = ta_trace_categories(w.trace);
        for (size_t i = 0; i < categories.n; i++)
            w.sorts[i] = (uint8_t)sort_of(w.trace, &categories.at[i]);
        for (size_t id = 0; id < ta_trace_string_count(w.trace); id++)
            w.is_step[id] = ta_host_is_step(ta_trace_text(w.trace, (ta_str)id));
        add_phase(&w, (struct phase){TA_STR_ABSENT, TA_STR_ABSENT});
        find_ranges(&w);
        if (!w.failed)
            add_kernels(&w);
        done = !w.failed && !w.steps.failed && !w.all.failed && !w.numbers.failed &&
               !w.step_rows.failed && !w.phase_rows.failed;
    }
    free(w.is_step);
    free(w.sorts);
    free(w.phase_of);
    free(w.phases);
    free(w.steps.at);
    free(w.all.at);
    ta_map_free(&w.numbers);
    ta_map_free(&w.step_rows);
    ta_map_free(&w.phase_rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the ranges of a trace");
}
