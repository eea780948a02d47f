/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guidance.by_rank: denoising steps that run the model twice, for classifier-free guidance.
 *
 * If calls of the denoiser are known, steps with several calls of one kind.  Otherwise, in
 * marked steps: a module or a range that each of them calls twice, one call after the other;
 * without either, kernels that come in two equal sequences.  Without marks: compiled code whose
 * calls come in pairs.  Blocks of a model repeat too, but their kernels come more often than
 * twice, or not all of them do.  A few steps are examined, and the others are assumed to be like
 * them. */
#include "model/program/generation.h"
#include "model/program/steps.h"
#include "lib/modules.h"
#include "base/vec.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, MODULE, SOURCE, STEPS, PASSES, SECOND, IDLE, KERNELS, FIELDS };
enum { BY_MODULE, BY_RANGE, BY_KERNELS, BY_FUNCTION, SOURCES };

static const char *const source_words[SOURCES] = {"module", "range", "kernels", "function"};

enum { LOOKED_AT = 3, STEPS_LEAST = 3 };

/* A kernel of a step, in the order of launches. */
struct launched {
    int64_t time;    /* of the launch */
    size_t activity; /* its number */
};

/* One examined step. */
struct step {
    int64_t start, end;
    ta_row mark;
    TA_VEC(struct launched) kernels;
    int64_t from, to; /* bounds of the launches of the second pass, [from, to) */
};

struct walk {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_activities activities;
    struct ta_kernels names;
    struct step at[LOOKED_AT];
    size_t n;
    bool failed;
};

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

static bool is_range(const struct walk *w, ta_row row)
{
    const struct ta_category *category = &w->categories.at[w->spans.cat[row]];
    return category->class == TA_CLASS_HOST &&
           ta_slice_equal(ta_trace_text(w->trace, category->name), TA_LIT("user_annotation"));
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Calls of one name in a step, outside other calls of its kind. */
struct calls {
    ta_str name;
    size_t n;
    int64_t total;
    ta_row second;
};

enum { NAMES_MOST = 64 };

/* The name that a step calls exactly twice and that takes at least half of its time. */
static struct calls called_twice(const struct walk *w, const struct step *step, int source)
{
    struct calls names[NAMES_MOST];
    size_t n = 0;
    int64_t until = step->start;
    struct calls most = {.n = 0};
    for (size_t row = (size_t)step->mark + 1;
         row < w->spans.n && w->spans.track[row] == w->spans.track[step->mark] &&
         w->spans.ts[row] < step->end;
         row++) {
        if (w->spans.ts[row] < until ||
            !(source == BY_MODULE ? ta_is_module(name_of(w, (ta_row)row))
                                  : is_range(w, (ta_row)row)))
            continue;
        until = w->spans.ts[row] + w->spans.dur[row];
        size_t i = 0;
        while (i < n && names[i].name != w->spans.name[row])
            i++;
        if (i == NAMES_MOST)
            return most; /* not a range of passes, but of their parts */
        if (i == n)
            names[n++] = (struct calls){.name = w->spans.name[row]};
        names[i].n++;
        names[i].total += w->spans.dur[row];
        names[i].second = (ta_row)row;
    }
    for (size_t i = 0; i < n; i++)
        if (names[i].n == 2 && names[i].total > most.total)
            most = names[i];
    return 2 * most.total >= step->end - step->start ? most : (struct calls){.n = 0};
}

/* The name that all examined steps call twice; TA_STR_ABSENT if there is none. */
static ta_str find_called(struct walk *w, int source)
{
    ta_str name = TA_STR_ABSENT;
    for (size_t i = 0; i < w->n; i++) {
        const struct calls calls = called_twice(w, &w->at[i], source);
        if (calls.n == 0 || (i > 0 && calls.name != name))
            return TA_STR_ABSENT;
        name = calls.name;
        w->at[i].from = w->spans.ts[calls.second];
        w->at[i].to = w->at[i].from + w->spans.dur[calls.second];
    }
    return name;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct launched *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

static void take_kernels(struct walk *w)
{
    for (size_t i = 0; i < w->activities.n; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (a->kernel == TA_NO_KERNEL || a->launch == TA_NO_ROW)
            continue;
        const int64_t time = w->spans.ts[a->launch];
        for (size_t s = 0; s < w->n; s++)
            if (time >= w->at[s].start && time < w->at[s].end)
                w->failed |= !ta_vec_push(&w->at[s].kernels, ((struct launched){time, i}));
    }
    for (size_t s = 0; s < w->n; s++)
        if (w->at[s].kernels.n)
            qsort(w->at[s].kernels.at, w->at[s].kernels.n, sizeof *w->at[s].kernels.at, by_time);
}

/* Positions of the kernels of one name in a step. */
struct twice {
    size_t n, first, last;
};

static bool is_matrix(const struct walk *w, uint32_t kernel)
{
    const enum ta_kernel_kind kind = w->names.at[kernel].facts.kind;
    return kind == TA_KERNEL_GEMM || kind == TA_KERNEL_ATTENTION || kind == TA_KERNEL_CONV;
}

static uint32_t kernel_at(const struct walk *w, const struct step *step, size_t i)
{
    return w->activities.at[step->kernels.at[i].activity].kernel;
}

/* Whether a step has two equal sequences of kernels.  Names that come exactly twice, all at the
 * same distance, show how long a sequence is; GEMMs come an even number of times. */
static bool is_double(const struct walk *w, struct step *step, struct twice *names)
{
    const size_t n = step->kernels.n;
    enum { KERNELS_LEAST = 40, NAMES_LEAST = 3 };
    if (n < KERNELS_LEAST)
        return false;
    memset(names, 0, w->names.n * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        struct twice *name = &names[kernel_at(w, step, i)];
        name->first = name->n == 0 ? i : name->first;
        name->last = i;
        name->n++;
    }
    size_t far = 0, pairs = 0, same = 0, matrix = 0;
    for (size_t k = 0; k < w->names.n; k++) {
        if (names[k].n % 2 && is_matrix(w, (uint32_t)k))
            return false;
        matrix += names[k].n > 0 && is_matrix(w, (uint32_t)k);
        if (names[k].n == 2 && names[k].last - names[k].first > far)
            far = names[k].last - names[k].first;
    }
    if (matrix == 0 || 10 * far < 3 * n || 10 * far > 6 * n)
        return false;
    size_t begin = n;
    for (size_t k = 0; k < w->names.n; k++)
        if (names[k].n == 2) {
            const size_t apart = names[k].last - names[k].first;
            pairs++;
            same += apart == far;
            begin = apart == far && names[k].last < begin ? names[k].last : begin;
        }
    if (same < NAMES_LEAST || 2 * same < pairs)
        return false;
    size_t equal = 0, compared = 0;
    for (size_t i = 0; i + far < n && i < far; i++, compared++)
        equal += kernel_at(w, step, i) == kernel_at(w, step, i + far);
    if (20 * equal < 19 * compared || begin == n)
        return false;
    step->from = step->kernels.at[begin].time;
    step->to = step->end;
    return true;
}

static bool find_double(struct walk *w)
{
    struct twice *names = calloc(w->names.n + 1, sizeof *names);
    bool all = names && w->n > 0;
    w->failed |= !names;
    for (size_t i = 0; all && i < w->n; i++)
        all = is_double(w, &w->at[i], names);
    free(names);
    return all;
}

/* ---- without marks --------------------------------------------------------------------------- */

/* Calls of compiled code that come in pairs: between the two calls of a pair hardly anything is
 * launched; between pairs only the small kernels of guidance and scheduler, and no GEMM,
 * convolution or attention.  If blocks are compiled one by one, parts of the model lie between
 * them. */
#define COMPILED_REGION "Torch-Compiled Region"
enum { PAIRS_LEAST = 3, BETWEEN_LEAST = 3 };

/* The compiled code that takes most time and is called an even number of times. */
static ta_str longest_region(struct walk *w, size_t *n_calls)
{
    const size_t n_names = ta_trace_string_count(w->trace);
    struct {
        int64_t total;
        size_t n;
        bool is_region;
    } *names = calloc(n_names + 1, sizeof *names);
    ta_str longest = TA_STR_ABSENT;
    bool any = false;
    w->failed |= !names;
    for (size_t id = 0; names && id < n_names; id++)
        any |= names[id].is_region =
            ta_slice_starts(ta_trace_text(w->trace, (ta_str)id), COMPILED_REGION);
    for (size_t row = 0; any && row < w->spans.n; row++)
        if (names[w->spans.name[row]].is_region &&
            w->categories.at[w->spans.cat[row]].class == TA_CLASS_OP) {
            names[w->spans.name[row]].total += w->spans.dur[row];
            names[w->spans.name[row]].n++;
        }
    for (size_t id = 0; any && id < n_names; id++)
        if (names[id].n && (longest == TA_STR_ABSENT || names[id].total > names[longest].total))
            longest = (ta_str)id;
    *n_calls = longest == TA_STR_ABSENT ? 0 : names[longest].n;
    free(names);
    return longest;
}

/* Number of kernels launched in [from, to); a GEMM, convolution or attention counts as far too
 * many. */
static size_t launched_in(const struct walk *w, const struct launched *all, size_t n, int64_t from,
                          int64_t to)
{
    enum { TOO_MANY = 1 << 20 };
    size_t low = 0, high = n, found = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all[middle].time < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && all[low].time < to; low++)
        found += is_matrix(w, w->activities.at[all[low].activity].kernel) ? TOO_MANY : 1;
    return found < TOO_MANY ? found : TOO_MANY;
}

/* Whether calls come in pairs, by the kernels between them. */
static bool are_pairs(const struct walk *w, const ta_row *calls, size_t n,
                      const struct launched *all, size_t n_all)
{
    size_t within = 0, between = SIZE_MAX, most_between = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const int64_t end = w->spans.ts[calls[i]] + w->spans.dur[calls[i]];
        const size_t found = launched_in(w, all, n_all, end, w->spans.ts[calls[i + 1]]);
        if (i % 2 == 0) {
            within = found > within ? found : within;
        } else {
            between = found < between ? found : between;
            most_between = found > most_between ? found : most_between;
        }
    }
    return between >= within + BETWEEN_LEAST && most_between < 200;
}

/* The compiled code that each step calls twice, with its last pairs as the examined steps;
 * TA_STR_ABSENT if there is none. */
static ta_str find_pairs(struct walk *w, size_t *n_pairs)
{
    size_t n;
    ta_str name = longest_region(w, &n);
    TA_VEC(struct launched) all = {0};
    ta_row *calls = n >= 2 * PAIRS_LEAST && n % 2 == 0 ? calloc(n, sizeof *calls) : NULL;
    if (!calls)
        return TA_STR_ABSENT;
    n = 0;
    for (size_t row = 0; row < w->spans.n; row++)
        if (w->spans.name[row] == name && w->categories.at[w->spans.cat[row]].class == TA_CLASS_OP)
            calls[n++] = (ta_row)row;
    for (size_t i = 0; i < w->activities.n; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (a->kernel != TA_NO_KERNEL && a->launch != TA_NO_ROW)
            w->failed |= !ta_vec_push(&all, ((struct launched){w->spans.ts[a->launch], i}));
    }
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_time);
    const bool one_track = w->spans.track[calls[0]] == w->spans.track[calls[n - 1]];
    if (!w->failed && one_track && are_pairs(w, calls, n, all.at, all.n)) {
        for (size_t i = n - 2 * LOOKED_AT; i < n; i += 2) {
            const int64_t second = w->spans.ts[calls[i + 1]];
            w->at[w->n++] = (struct step){.start = w->spans.ts[calls[i]],
                                          .end = second + w->spans.dur[calls[i + 1]],
                                          .from = second,
                                          .to = second + w->spans.dur[calls[i + 1]],
                                          .mark = calls[i]};
        }
        *n_pairs = n / 2;
    } else {
        name = TA_STR_ABSENT;
    }
    free(all.at);
    free(calls);
    return name;
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* Whether the trace is of training, where a module may run twice for other reasons. */
static bool is_training(const struct ta_trace *trace)
{
    static const char *const names[] = {"Optimizer.step#", "autograd::engine::evaluate_function",
                                        NULL};
    for (size_t id = 0; id < ta_trace_string_count(trace); id++)
        if (ta_slice_has_any(ta_trace_text(trace, (ta_str)id), names))
            return true;
    return false;
}

/* Adds the time from the first kernel of the second pass to the end of its last, and the part of
 * it in which none of its kernels runs. */
static void add_second(const struct walk *w, const struct step *step, int64_t *ns, int64_t *idle,
                       int64_t *kernels)
{
    struct ta_intervals busy = {0};
    for (size_t i = 0; i < step->kernels.n; i++) {
        if (step->kernels.at[i].time < step->from || step->kernels.at[i].time >= step->to)
            continue;
        const ta_row span = w->activities.at[step->kernels.at[i].activity].span;
        ta_intervals_add(&busy, w->spans.ts[span], w->spans.ts[span] + w->spans.dur[span]);
        ++*kernels;
    }
    ta_intervals_unite(&busy);
    if (busy.n) {
        const int64_t all = busy.at[busy.n - 1].end - busy.at[0].start;
        *ns += all;
        *idle += all - ta_intervals_length(&busy);
    } else {
        *ns += step->to - step->from; /* on the host */
    }
    ta_intervals_free(&busy);
}

static void add_row(struct walk *w, size_t n_steps, int source, ta_str name, struct ta_partial *out)
{
    if (is_training(w->trace))
        return;
    int64_t ns = 0, idle = 0, kernels = 0;
    for (size_t i = 0; i < w->n; i++)
        add_second(w, &w->at[i], &ns, &idle, &kernels);
    const struct ta_slice text = source == BY_KERNELS ? TA_LIT("")
                                 : source == BY_MODULE
                                     ? ta_module_class(ta_trace_text(w->trace, name))
                                     : ta_trace_text(w->trace, name);
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_text(text),
                                  ta_key_int(source));
    const double scale = (double)n_steps / (double)w->n;
    ta_sum(&row[STEPS], (int64_t)n_steps);
    ta_most(&row[PASSES], 2);
    ta_sum(&row[SECOND], ta_whole(scale * (double)ns));
    ta_sum(&row[IDLE], ta_whole(scale * (double)idle));
    ta_sum(&row[KERNELS], ta_whole(scale * (double)kernels));
}

static void judge(struct walk *w, size_t n_steps, struct ta_partial *out)
{
    int source = BY_MODULE;
    ta_str name = find_called(w, BY_MODULE);
    if (name == TA_STR_ABSENT) {
        source = BY_RANGE;
        name = find_called(w, BY_RANGE);
    }
    /* Kernels decide only if the steps contain no calls that show it. */
    take_kernels(w);
    if (name == TA_STR_ABSENT) {
        source = BY_KERNELS;
        if (!find_double(w))
            return;
    }
    add_row(w, n_steps, source, name, out);
}

/* ---- known calls of the denoiser ------------------------------------------------------------- */

/* Marks the kinds of the first calls of steps; NULL without memory.  There are no more kinds
 * than calls. */
static bool *first_kinds(const struct ta_generation *found)
{
    bool *kinds = calloc(found->n_calls + 1, sizeof *kinds);
    for (size_t i = 0; kinds && i < found->n_steps; i++)
        kinds[found->calls[found->steps[i].first_call].kind] = true;
    return kinds;
}

/* Whether the later calls of a step repeat kinds of first calls.  A step of two models has calls
 * of two kinds, any of which a step cache may answer. */
static bool is_repeated(const struct ta_generation *found, const bool *first,
                        const struct ta_generation_step *step)
{
    for (size_t i = 1; i < step->n_calls; i++)
        if (!first[found->calls[step->first_call + i].kind])
            return false;
    return step->n_calls > 1;
}

static void add_calls(const struct ta_generation *found, const struct ta_generation_step *step,
                      int64_t *row)
{
    ta_sum(&row[STEPS], 1);
    ta_most(&row[PASSES], (int64_t)step->n_calls);
    for (size_t i = 1; i < step->n_calls; i++) {
        const struct ta_generation_time *time = &found->calls[step->first_call + i].time;
        const bool has_gpu = time->gpu_start != TA_MISSING;
        const int64_t all =
            has_gpu ? time->gpu_end - time->gpu_start : time->host_end - time->host_start;
        ta_sum(&row[SECOND], all);
        ta_sum(&row[IDLE], has_gpu ? all - time->gpu_busy : 0);
        ta_sum(&row[KERNELS], time->kernels);
    }
}

/* The row of a rank whose denoiser is known. */
static int64_t *row_of(const struct walk *w, const struct ta_generation *found,
                       struct ta_partial *out)
{
    static const int sources[] = {[TA_GENERATION_BY_RANGE] = BY_RANGE,
                                  [TA_GENERATION_BY_MODULE] = BY_MODULE,
                                  [TA_GENERATION_BY_FUNCTION] = BY_FUNCTION,
                                  [TA_GENERATION_BY_KERNELS] = BY_KERNELS};
    struct ta_slice name = found->denoiser == TA_STR_ABSENT || found->by == TA_GENERATION_BY_KERNELS
                               ? TA_LIT("")
                               : ta_trace_text(w->trace, found->denoiser);
    name = ta_is_module(name) ? ta_module_class(name) : name;
    return TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_text(name),
                          ta_key_int(sources[found->by]));
}

/* A solver of second order, such as Heun's, calls the model twice in each step but the last of an
 * image.  The second call needs what the first one gives: it is no guidance. */
static bool is_second_order(const struct ta_generation *found)
{
    const struct ta_generation_step *steps = found->steps;
    size_t doubled = 0, single = 0;
    for (size_t i = 0; i < found->n_steps; i++) {
        const bool is_last = i + 1 == found->n_steps || steps[i + 1].image != steps[i].image ||
                             steps[i + 1].block != steps[i].block;
        if (steps[i].n_calls != (is_last ? 1 : 2))
            return false;
        doubled += !is_last;
        single += is_last;
    }
    return doubled >= 2 * single;
}

/* Adds the steps that have several calls of one kind; returns whether calls say how often steps run
 * the model. */
static bool add_known(struct walk *w, const struct ta_generation *found, struct ta_partial *out)
{
    if (found->n_steps && is_second_order(found))
        return true;
    bool *first = found->n_steps ? first_kinds(found) : NULL;
    size_t repeated = 0;
    w->failed |= found->n_steps && !first;
    for (size_t i = 0; first && i < found->n_steps; i++)
        repeated += is_repeated(found, first, &found->steps[i]);
    const bool is_twice = repeated >= 2 && 2 * repeated >= found->n_steps;
    int64_t *row = is_twice ? row_of(w, found, out) : NULL;
    for (size_t i = 0; row && i < found->n_steps; i++)
        if (is_repeated(found, first, &found->steps[i]))
            add_calls(found, &found->steps[i], row);
    free(first);
    return row;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_program_steps *steps = ta_program_steps(trace);
    struct walk w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .activities = ta_trace_activities(trace),
                     .names = ta_trace_kernels(trace)};
    const struct ta_generation *found = ta_program_generation(trace);
    if (!steps || !found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of a trace");
    /* One call of the module is one pass, but a range or function may contain both. */
    if (add_known(&w, found, out[0]) || found->by == TA_GENERATION_BY_MODULE || w.failed)
        return w.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the kinds of calls") : TA_OK;
    if (steps->by == TA_STEPS_BY_LOOP)
        return TA_OK;
    /* Examines the last steps: the first may be warm-up. */
    for (size_t s = steps->n < STEPS_LEAST ? steps->n : steps->n - LOOKED_AT; s < steps->n; s++) {
        const struct ta_program_step *step = &steps->at[s];
        if (w.spans.ts[step->mark] == step->start && step->end > step->start)
            w.at[w.n++] = (struct step){.start = step->start, .end = step->end, .mark = step->mark};
    }
    if (w.n == LOOKED_AT) {
        judge(&w, steps->n, out[0]);
    } else {
        size_t n_pairs = 0;
        w.n = 0;
        const ta_str name = find_pairs(&w, &n_pairs);
        if (name != TA_STR_ABSENT) {
            take_kernels(&w);
            add_row(&w, n_pairs, BY_RANGE, name, out[0]);
        }
    }
    for (size_t i = 0; i < w.n; i++)
        free(w.at[i].kernels.at);
    return w.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the kernels of steps") : TA_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [MODULE] = {"module", TA_FIELD_TEXT},
    [SOURCE] = {"source", TA_FIELD_INT},       [STEPS] = {"steps", TA_FIELD_SUM},
    [PASSES] = {"passes", TA_FIELD_MAX},       [SECOND] = {"second_ns", TA_FIELD_SUM},
    [IDLE] = {"second_idle_ns", TA_FIELD_SUM}, [KERNELS] = {"second_kernels", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"ranks", fields, FIELDS}, {0}};

static const struct ta_column table_columns[FIELDS] = {
    [RANK] = TA_RANK_COLUMN,
    [MODULE] = {"module", "Repeated model", TA_TEXT,
                .doc = "Module, range or function that each step calls several times; empty if "
                       "only kernels show it"},
    [SOURCE] =
        {"source", "Known from", TA_WORD,
         .doc =
             "How it was recognized: module, range, function, or kernels in two equal sequences"},
    [STEPS] = {"steps", "Steps", TA_COUNT,
               .doc = "Number of steps that call the model several times"},
    [PASSES] = {"passes", "Passes", TA_COUNT, .doc = "Calls of the model in each of these steps"},
    [SECOND] = {"second_ns", "Second pass time", TA_NS, .better = TA_LOWER,
                .doc = "Time of the second and later passes: from the first kernel of a pass to "
                       "the end of its last, summed over the steps. If marked steps showed it, the "
                       "mean of the last three steps is used for all steps"},
    [IDLE] = {"second_idle_ns", "Second pass idle", TA_NS, .better = TA_LOWER,
              .doc = "Part of the second pass time in which none of its kernels runs"},
    [KERNELS] = {"second_kernels", "Second pass kernels", TA_COUNT,
                 .doc = "Kernels of the second passes in all steps"},
};

static const struct ta_table_def table = {
    "guidance.by_rank", "Guidance by two model calls", TA_COLUMNS(table_columns),
    .doc = "One row per rank whose denoising steps run the model twice, as for classifier-free "
           "guidance. If calls of the denoiser are known, most steps have several that launch the "
           "same kernels. Otherwise, in marked steps, a module or else a range that each of the "
           "last three steps calls twice for at least half of its time, or else kernels in two "
           "equal sequences; without marked steps, compiled code whose calls come in pairs with no "
           "GEMM, convolution or attention between them. Left out for training, and for solvers of "
           "second order such as Heun's, which call the model twice in each step but the last.",
    .tier = TA_TIER_DETAIL};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, table, [RANK] = ta_int(row[RANK]),
               [MODULE] = ta_text_or_null(ta_partial_text(merged[0], row, MODULE)),
               [SOURCE] = ta_string(source_words[row[SOURCE]]), [STEPS] = ta_int(row[STEPS]),
               [PASSES] = ta_int(row[PASSES]), [SECOND] = ta_int(row[SECOND]),
               [IDLE] = ta_int(row[IDLE]), [KERNELS] = ta_int(row[KERNELS]));
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, SOURCE, SOURCES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&table, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "steps",
                                           .place = 5,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, guidance, &ops, .title = "Guidance by two model calls",
          .summary = "Denoising steps that run the model twice: guidance.by_rank", .version = "2");
