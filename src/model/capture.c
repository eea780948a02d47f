/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/capture.h"

#include "model/host.h"
#include "model/trace.h"
#include "model/traits.h"

#include <stdlib.h>

static bool holds(struct ta_slice name, const char *text)
{
    return name.len && memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

bool ta_capture_begins(struct ta_slice name)
{
    enum { LONGEST = 64 }; /* most texts of a trace are kernels, and longer */
    return name.len < LONGEST && (ta_slice_starts(name, "cu") || ta_slice_starts(name, "hip")) &&
           holds(name, "BeginCapture");
}

/* ---- what calls are ---------------------------------------------------------------------------
 */

/* By name. */
enum call { CALL_UNKNOWN, CALL_OTHER, CALL_BEGIN, CALL_END, CALL_KERNEL, CALL_COPY, CALL_SET };

/* A capture in progress: a stretch of a thread, and what others launched meanwhile. */
struct stretch {
    int64_t start, end;
    uint32_t track;
    ta_row begin; /* the call */
};

/* A launch that became a node. */
struct launch {
    ta_row row;
    size_t stretch;
    enum capture_work work;
};

struct taking {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_tracks tracks;
    struct ta_captures *out;
    const char *file;
    uint8_t *calls;           /* enum call by name */
    struct ta_slice *copies;  /* of texts in the captures, by id */
    struct ta_row_word *runs; /* calls that have an activity */
    struct ta_args kernel;    /* names that calls give */
    ta_cat annotation, python;
    size_t *keys; /* of each argument of the trace, its place among all keys */
    TA_VEC(struct stretch) stretches;
    TA_VEC(struct launch) launches;
    TA_VEC(ta_row) around; /* spans around a launch, the innermost first */
    struct ta_map row_of;  /* row of the graph plus one, by row of the trace */
    bool failed;
};

static enum ta_event_class class_of(const struct taking *t, ta_row row)
{
    return t->categories.at[t->spans.cat[row]].class;
}

static struct ta_slice name_of(const struct taking *t, ta_row row)
{
    return ta_trace_text(t->trace, t->spans.name[row]);
}

static enum call call_of(struct taking *t, ta_row row)
{
    uint8_t *call = &t->calls[t->spans.name[row]];
    if (*call != CALL_UNKNOWN)
        return (enum call) * call;
    const struct ta_slice name = name_of(t, row);
    const enum ta_host_work work = ta_host_classify(TA_CLASS_RUNTIME, TA_LIT(""), name);
    *call = ta_capture_begins(name)     ? CALL_BEGIN
            : holds(name, "EndCapture") ? CALL_END
            : work != TA_HOST_LAUNCH    ? CALL_OTHER
            : holds(name, "emcpy")      ? CALL_COPY
            : holds(name, "emset")      ? CALL_SET
            : holds(name, "Host") /* a function of the host, which is no activity of a device */
                ? CALL_OTHER
                : CALL_KERNEL;
    return (enum call) * call;
}

/* ---- which launches are nodes of which graph
 * ----------------------------------------------------- */

/* Captures beyond these are left out. */
enum { GRAPHS_MOST = 4096 };

static bool find_stretches(struct taking *t)
{
    for (uint32_t track = 0; track < t->tracks.n; track++) {
        const struct ta_track *rows = &t->tracks.at[track];
        struct stretch open = {.begin = TA_NO_ROW};
        for (ta_row row = rows->first; row < rows->first + rows->n && t->stretches.n < GRAPHS_MOST;
             row++) {
            if (class_of(t, row) != TA_CLASS_RUNTIME)
                continue;
            const enum call call = call_of(t, row);
            if (call == CALL_BEGIN)
                open = (struct stretch){.start = t->spans.ts[row], .track = track, .begin = row};
            if (call != CALL_END || open.begin == TA_NO_ROW)
                continue;
            open.end = t->spans.ts[row];
            if (!ta_vec_push(&t->stretches, open))
                return false;
            open.begin = TA_NO_ROW;
        }
    }
    return true;
}

/* The capture in progress on the thread of a launch, or SIZE_MAX.  Captures are ordered by thread
 * and time. */
static size_t own_stretch(const struct taking *t, ta_row row)
{
    const uint32_t track = t->spans.track[row];
    const int64_t at = t->spans.ts[row];
    size_t low = 0, high = t->stretches.n;
    while (low < high) { /* the first that begins later */
        const size_t middle = low + (high - low) / 2;
        const struct stretch *stretch = &t->stretches.at[middle];
        if (stretch->track < track || (stretch->track == track && stretch->start <= at))
            low = middle + 1;
        else
            high = middle;
    }
    const struct stretch *found = low ? &t->stretches.at[low - 1] : NULL;
    return found && found->track == track && at < found->end ? low - 1 : SIZE_MAX;
}

/* Launches of a thread that captures belong to its capture; launches of other threads, such as
 * autograd's, to the only one there is then. */
static size_t stretch_of(const struct taking *t, ta_row row)
{
    enum { LOOKED_AT_MOST = 256 };
    const int64_t at = t->spans.ts[row];
    const size_t own = own_stretch(t, row);
    size_t found = SIZE_MAX, n = 0;
    if (own != SIZE_MAX || t->stretches.n > LOOKED_AT_MOST)
        return own;
    for (size_t i = 0; i < t->stretches.n; i++) {
        const struct stretch *stretch = &t->stretches.at[i];
        if (at < stretch->start || at >= stretch->end)
            continue;
        found = i;
        n++;
    }
    return n == 1 ? found : SIZE_MAX;
}

/* A launch of the driver within one of the runtime is the same launch. */
static bool is_inner(struct taking *t, ta_row row)
{
    const ta_row around = t->spans.parent[row];
    return around != TA_NO_ROW && class_of(t, around) == TA_CLASS_RUNTIME &&
           call_of(t, around) >= CALL_KERNEL;
}

static bool find_launches(struct taking *t)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < t->stretches.n; i++) {
        start = ta_min_i64(start, t->stretches.at[i].start);
        end = ta_max_i64(end, t->stretches.at[i].end);
    }
    for (ta_row row = 0; row < t->spans.n; row++) {
        if (t->spans.ts[row] < start || t->spans.ts[row] >= end ||
            class_of(t, row) != TA_CLASS_RUNTIME)
            continue;
        const enum call call = call_of(t, row);
        if (call < CALL_KERNEL || ta_row_set_has(t->runs, row) || is_inner(t, row))
            continue;
        const size_t stretch = stretch_of(t, row);
        const struct launch launch = {row, stretch,
                                      call == CALL_KERNEL ? CAPTURE_KERNEL
                                      : call == CALL_COPY ? CAPTURE_COPY
                                                          : CAPTURE_SET};
        if (stretch != SIZE_MAX && !ta_vec_push(&t->launches, launch))
            return false;
    }
    return true;
}

static int by_time(const void *left, const void *right, void *user)
{
    const struct launch *a = left, *b = right;
    const struct taking *t = user;
    if (a->stretch != b->stretch)
        return a->stretch < b->stretch ? -1 : 1;
    if (t->spans.ts[a->row] != t->spans.ts[b->row])
        return t->spans.ts[a->row] < t->spans.ts[b->row] ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* ---- copies
 * --------------------------------------------------------------------------------------- */

static struct ta_slice copy_text(struct taking *t, ta_str id)
{
    struct ta_slice *copy = &t->copies[id];
    if (!copy->ptr) {
        const struct ta_slice text = ta_trace_text(t->trace, id);
        const char *made = ta_arena_copy(&t->out->arena, text);
        t->failed |= !made;
        *copy = (struct ta_slice){made ? made : "", made ? text.len : 0};
    }
    return *copy;
}

/* The place of a key among the keys of all captures. */
static size_t key_place(struct ta_captures *out, struct ta_slice key, bool *failed)
{
    size_t i = 0;
    while (i < out->keys.n && !ta_slice_equal(out->keys.at[i], key))
        i++;
    if (i == out->keys.n) {
        const char *copy = ta_arena_copy(&out->arena, key);
        *failed |=
            !copy || !ta_vec_push(&out->keys, ((struct ta_slice){copy ? copy : "", key.len}));
    }
    return i;
}

static void copy_args(struct taking *t, ta_row row, struct capture_row *to)
{
    to->first_arg = t->out->args.n;
    for (size_t i = 0; i < t->trace->n_args; i++) {
        const struct ta_args args = arg_column_view(&t->trace->args[i]);
        const size_t place = ta_args_place(&args, row);
        if (place >= args.n)
            continue;
        struct capture_arg arg = {.key = t->keys[i], .value = ta_args_value(&args, place)};
        if (ta_args_is_text(&args, place))
            arg.text = copy_text(t, (ta_str)arg.value);
        t->failed |= !ta_vec_push(&t->out->args, arg);
    }
    to->n_args = t->out->args.n - to->first_arg;
}

/* What a span is in a graph; TA_CLASS_FLOW when it is nothing.  A range that was begun before the
 * capture is one of the capture, not of what the graph does. */
static enum ta_event_class captured_class(const struct taking *t, ta_row row, int64_t begun)
{
    const enum ta_event_class class = class_of(t, row);
    const ta_cat cat = t->spans.cat[row];
    if (class == TA_CLASS_OP)
        return ta_host_is_step(name_of(t, row)) ? TA_CLASS_FLOW : TA_CLASS_CAPTURED_OP;
    if (cat == t->python && ta_slice_starts(name_of(t, row), "nn.Module: "))
        return TA_CLASS_CAPTURED_MODULE;
    if (cat == t->annotation && t->spans.ts[row] >= begun && !ta_host_is_step(name_of(t, row)))
        return TA_CLASS_CAPTURED_MODULE;
    return TA_CLASS_FLOW;
}

static uint32_t add_row(struct taking *t, struct capture *graph, ta_row row, uint32_t parent,
                        enum ta_event_class class)
{
    struct capture_row made = {.name = copy_text(t, t->spans.name[row]),
                               .category = copy_text(t, t->categories.at[t->spans.cat[row]].name),
                               .class = class,
                               .parent = parent};
    copy_args(t, row, &made);
    graph->modules |= class == TA_CLASS_CAPTURED_MODULE && t->spans.cat[row] == t->python;
    graph->ranges |= class == TA_CLASS_CAPTURED_MODULE && t->spans.cat[row] == t->annotation;
    t->failed |= !ta_vec_push(&graph->rows, made);
    return t->failed ? CAPTURE_OUTSIDE : (uint32_t)graph->rows.n - 1;
}

static int depth_of(const struct capture *graph, uint32_t row)
{
    int depth = 0;
    for (; row != CAPTURE_OUTSIDE; row = graph->rows.at[row].parent)
        depth++;
    return depth;
}

/* The rows of the graph for what is around a launch; gives the innermost one.  Each span around is
 * passed once, however many launches there are below it. */
static uint32_t add_around(struct taking *t, struct capture *graph, ta_row launch, int64_t begun)
{
    enum { DEEPEST = 256 }; /* rows of a graph within each other */
    uint32_t inner = CAPTURE_OUTSIDE;
    t->around.n = 0;
    for (ta_row row = t->spans.parent[launch]; row != TA_NO_ROW; row = t->spans.parent[row]) {
        const uint64_t *known = ta_map_find(&t->row_of, row);
        if (known) {
            inner = (uint32_t)(*known - 1);
            break;
        }
        t->failed |= !ta_vec_push(&t->around, row);
    }
    int depth = depth_of(graph, inner);
    while (t->around.n > 0 && !t->failed) {
        const ta_row row = t->around.at[--t->around.n];
        const enum ta_event_class class = captured_class(t, row, begun);
        if (class != TA_CLASS_FLOW && depth++ < DEEPEST)
            inner = add_row(t, graph, row, inner, class);
        t->failed |= !ta_map_at(&t->row_of, row, (uint64_t)inner + 1);
    }
    return inner;
}

/* The operator from a row of the graph outwards, or CAPTURE_OUTSIDE. */
static uint32_t operator_from(const struct capture *graph, uint32_t row)
{
    while (row != CAPTURE_OUTSIDE && graph->rows.at[row].class != TA_CLASS_CAPTURED_OP)
        row = graph->rows.at[row].parent;
    return row;
}

static struct ta_slice name_of_capture(struct taking *t, ta_row begin)
{
    for (ta_row row = t->spans.parent[begin]; row != TA_NO_ROW; row = t->spans.parent[row])
        if (t->spans.cat[row] == t->annotation && !ta_host_is_step(name_of(t, row)))
            return copy_text(t, t->spans.name[row]);
    return TA_LIT("");
}

static void copy_graph(struct taking *t, const struct launch *launches, size_t n)
{
    const struct stretch *stretch = &t->stretches.at[launches->stretch];
    struct capture graph = {
        .of = t->out, .name = name_of_capture(t, stretch->begin), .file = t->file};
    for (size_t i = 0; i < n && !t->failed; i++) {
        const ta_row call = launches[i].row;
        const uint32_t inner = add_around(t, &graph, call, stretch->start);
        const uint32_t op = operator_from(&graph, inner);
        const ta_str kernel = ta_args_text(&t->kernel, call);
        const struct capture_node node = {
            .row = op != CAPTURE_OUTSIDE ? op
                                         : add_row(t, &graph, call, inner, TA_CLASS_CAPTURED_CALL),
            .work = launches[i].work,
            .kernel = kernel == TA_STR_ABSENT ? TA_LIT("") : copy_text(t, kernel)};
        t->failed |= !ta_vec_push(&graph.nodes, node);
    }
    ta_map_free(&t->row_of);
    t->row_of = (struct ta_map){0};
    if (!ta_vec_push(&t->out->graphs, graph)) {
        free(graph.rows.at);
        free(graph.nodes.at);
        t->failed = true;
    }
}

/* ---- all of it
 * ------------------------------------------------------------------------------------ */

static ta_cat category_named(const struct taking *t, const char *name)
{
    for (size_t i = 0; i < t->categories.n; i++)
        if (t->categories.at[i].name != TA_STR_ABSENT &&
            ta_slice_equal(ta_trace_text(t->trace, t->categories.at[i].name), ta_slice_of(name)))
            return (ta_cat)i;
    return UINT16_MAX;
}

static bool prepare(struct taking *t)
{
    const struct ta_activities activities = ta_trace_activities(t->trace);
    const size_t n_texts = ta_trace_string_count(t->trace), words = ta_row_set_words(t->spans.n);
    t->calls = calloc(n_texts, sizeof *t->calls);
    t->copies = calloc(n_texts, sizeof *t->copies);
    t->runs = calloc(words, sizeof *t->runs);
    t->keys = calloc(t->trace->n_args + 1, sizeof *t->keys);
    if (!t->calls || !t->copies || !t->runs || !t->keys)
        return false;
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].launch != TA_NO_ROW)
            ta_row_set_add(t->runs, activities.at[i].launch);
    for (size_t i = 0; i < t->trace->n_args; i++)
        t->keys[i] = key_place(t->out, t->trace->args[i].key, &t->failed);
    return true;
}

static bool captures_any(const struct ta_trace *trace)
{
    const size_t n = ta_trace_string_count(trace);
    for (size_t id = 1; id < n; id++)
        if (ta_capture_begins(ta_trace_text(trace, (ta_str)id)))
            return true;
    return false;
}

bool ta_captures_take(struct ta_captures *captures, const struct ta_trace *trace, const char *file)
{
    captures->process = ta_trace_process(trace);
    if (!captures_any(trace))
        return true;
    struct taking t = {.trace = trace,
                       .spans = ta_trace_spans(trace),
                       .categories = ta_trace_categories(trace),
                       .tracks = ta_trace_tracks(trace),
                       .kernel = ta_trace_args(trace, "kernel"),
                       .out = captures,
                       .file = file ? ta_arena_copy(&captures->arena, ta_slice_of(file)) : NULL};
    t.annotation = category_named(&t, "user_annotation");
    t.python = category_named(&t, "python_function");
    bool done = prepare(&t) && find_stretches(&t) && find_launches(&t);
    if (done && t.launches.n)
        qsort_r(t.launches.at, t.launches.n, sizeof *t.launches.at, by_time, &t);
    for (size_t i = 0, end; done && i < t.launches.n; i = end) {
        for (end = i; end < t.launches.n && t.launches.at[end].stretch == t.launches.at[i].stretch;)
            end++;
        copy_graph(&t, t.launches.at + i, end - i);
        done = !t.failed;
    }
    ta_map_free(&t.row_of);
    free(t.calls);
    free(t.copies);
    free(t.runs);
    free(t.keys);
    free(t.stretches.at);
    free(t.launches.at);
    free(t.around.at);
    return done && !t.failed;
}

void ta_captures_free(struct ta_captures *captures)
{
    for (size_t i = 0; i < captures->graphs.n; i++) {
        free(captures->graphs.at[i].rows.at);
        free(captures->graphs.at[i].nodes.at);
    }
    free(captures->graphs.at);
    free(captures->args.at);
    free(captures->keys.at);
    ta_arena_free(&captures->arena);
}
