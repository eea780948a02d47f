/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_operator: what each operator takes on host and device, by itself and with all that it
 * calls.
 *
 * Work on the device belongs to the innermost operator that was open when it was launched, on the
 * thread that launched it; a graph launch outside of all operators, or any other call, is a row of
 * its own.  Where an operator calls itself, totals count the outermost call alone. */
#include "base/vec.h"
#include "lib/outward.h"
#include "lib/sharing.h"
#include "model/launched.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>
#include <traceanalyze/table.h>

#include <stdlib.h>

enum { KIND, NAME, CALLS, HOST, HOST_SELF, DEVICE, DEVICE_SELF, EXPOSED, KERNELS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [KIND] = {"kind", TA_FIELD_INT},
    [NAME] = {"name", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [HOST] = {"host_total_ns", TA_FIELD_SUM},
    [HOST_SELF] = {"host_self_ns", TA_FIELD_SUM},
    [DEVICE] = {"device_total_ns", TA_FIELD_SUM},
    [DEVICE_SELF] = {"device_self_ns", TA_FIELD_SUM},
    [EXPOSED] = {"device_exposed_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"operators", fields, FIELDS}, {0}};

enum kind { OPERATOR, CALL, UNLINKED, KINDS };
static const char *const kind_names[KINDS] = {"operator", "call", "unlinked"};

enum {
    OP_NAME,
    OP_KIND,
    OP_CALLS,
    OP_HOST,
    OP_HOST_SELF,
    OP_DEVICE,
    OP_DEVICE_SELF,
    OP_EXPOSED,
    OP_KERNELS,
    OP_BUSY,
    OP_ABOVE_ROOF,
    OP_SHAPES,
    OP_MAIN_SHAPES
};
static const struct ta_column by_operator_columns[] = {
    [OP_NAME] = {"name", "Name", TA_TEXT,
                 .doc = "Name of the operator, or of a call outside of all operators"},
    [OP_KIND] = {"kind", "Kind", TA_TEXT,
                 .doc = "Kind of row. operator; call: a runtime call outside all operators that "
                        "launched work; unlinked: device activities whose launch was not recorded"},
    [OP_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of calls, all ranks"},
    [OP_HOST] = {"host_total_ns", "Host total", TA_NS, .better = TA_LOWER,
                 .doc = "Host time of the calls, including all that they call; an operator that "
                        "calls itself counts once"},
    [OP_HOST_SELF] = {"host_self_ns", "Host self", TA_NS, .better = TA_LOWER,
                      .doc =
                          "Host time in which the operator was the innermost span of its thread"},
    [OP_DEVICE] = {"device_total_ns", "Device total", TA_NS, .better = TA_LOWER,
                   .doc = "Sum of the device activities launched by the calls and all that they "
                          "call; an operator that calls itself counts once"},
    [OP_DEVICE_SELF] = {"device_self_ns", "Device self", TA_NS, .better = TA_LOWER,
                        .doc = "Sum of the device activities that it launched itself, not through "
                               "an inner operator: work, not wall time"},
    [OP_EXPOSED] =
        {"device_exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
         .doc = "Part of the devices' busy time that its own activities take: each instant is "
                "split evenly between the activities that run. All rows add up to the busy time"},
    [OP_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                    .doc = "Kernels among the activities that it launched itself"},
    [OP_BUSY] =
        {"device_busy_ns", "Device busy", TA_NS, .better = TA_LOWER, .role = TA_NOTE,
         .detail = true, .from = {"ops.device_time", "device_busy_ns"},
         .doc = "Busy time of the device activities that it launched itself, per rank and device"},
    [OP_ABOVE_ROOF] = {"above_roof_ns", "Above roof", TA_NS, .better = TA_LOWER, .role = TA_NOTE,
                       .from = {"roofline.by_op", "above_roof_ns", TA_JOINT_SUM},
                       .doc = "For calls with known FLOPs and bytes: time minus the shortest "
                              "possible time by the peaks of the device"},
    [OP_SHAPES] = {"shapes", "Shapes", TA_COUNT, .role = TA_NOTE,
                   .from = {"ops.by_shape", .way = TA_JOINT_COUNT},
                   .doc = "Number of different input shapes, among those in the table of shapes"},
    [OP_MAIN_SHAPES] = {"main_shapes", "Input shapes that take most", TA_TEXT, .role = TA_NOTE,
                        .from = {"ops.by_shape", "shapes"},
                        .doc = "Input shapes with which it takes the most device time"},
};

static const struct ta_table_def by_operator = {
    "ops.by_operator", "Operators", TA_COLUMNS(by_operator_columns),
    .doc = "One row per operator, all ranks together. Device work belongs to the innermost "
           "operator that was open on the launching thread, as in `ops.device_time`: kernels of "
           "the backward pass to the operators of the autograd thread, kernels of a graph to the "
           "graph's launch. Runtime calls outside all operators that launched work are rows of "
           "kind `call`, activities without a known launch the row \"(no launch recorded)\". So Σ "
           "`device_self_ns` is the sum of all activities, and Σ `device_exposed_ns` is Σ "
           "`busy_ns` of `gpu_time.by_rank`. Totals count an operator within itself once; torch's "
           "`key_averages` counts it twice. Step markers are one row. Its columns repeat what "
           "`ops.device_time`, `ops.by_shape` and `roofline.by_op` say of the operator.",
    .joined_by = {&by_operator_columns[OP_NAME]}};

/* ---- map ------------------------------------------------------------------------------------- */

/* The last outermost call of a name. */
struct outermost {
    int64_t end;
    uint32_t track;
};

/* A call that encloses the one that the walk over spans is at. */
struct open_call {
    ta_row row;
    enum kind kind;
    int64_t *total; /* the cell that its device time belongs to; NULL when it counts further out */
    int64_t device_ns; /* of the calls within, so far */
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *out;
    const struct ta_launched *launched;
    int64_t *device_ns;          /* of each call that launched something; then with those within */
    int64_t **rows;              /* of operators and of calls, by the name */
    struct outermost *outermost; /* of operators, by the name */
    struct open_call *open;      /* the innermost last */
    size_t n_open, max_open;
    struct ta_outward outward; /* from launches of graphs to the operators around them */
};

static int64_t *row_of(struct work *w, enum kind kind, ta_str name)
{
    int64_t **row = &w->rows[(size_t)name * 2 + kind];
    if (!*row)
        *row = TA_PARTIAL_ROW(w->out, ta_key_int(kind),
                              ta_key_text(ta_host_place(ta_trace_text(w->trace, name))));
    return *row;
}

/* Adds an operator but for its device time; returns the cell for that, NULL when a call of the name
 * encloses it. */
static int64_t *add_operator(struct work *w, ta_row i)
{
    const struct ta_spans *s = &w->spans;
    int64_t *row = row_of(w, OPERATOR, s->name[i]);
    struct outermost *outer = &w->outermost[s->name[i]];
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[HOST_SELF], s->self[i]);
    if (outer->track == s->track[i] + 1 && s->ts[i] < outer->end)
        return NULL;
    *outer = (struct outermost){s->ts[i] + s->dur[i], s->track[i] + 1};
    ta_sum(&row[HOST], s->dur[i]);
    return &row[DEVICE];
}

/* False without memory. */
static bool open_call(struct work *w, struct open_call call)
{
    if (!ta_vec_grow((void **)&w->open, &w->max_open, w->n_open, sizeof *w->open))
        return false;
    w->open[w->n_open++] = call;
    return true;
}

/* Hands the device time of the innermost open call up. */
static void close_call(struct work *w)
{
    const struct open_call *call = &w->open[--w->n_open];
    if (call->kind == CALL)
        w->device_ns[ta_launched_place(w->launched, call->row)] = call->device_ns;
    else if (call->total)
        ta_sum(call->total, call->device_ns);
    if (w->n_open) {
        struct open_call *outer = &w->open[w->n_open - 1];
        outer->device_ns = ta_add_sat(outer->device_ns, call->device_ns);
    }
}

/* Callers come before what they call, so a call is over when a span comes whose caller is none of
 * those within: before the call, or no span at all, which the sum makes 0.  False without memory.
 */
static bool add_host(struct work *w)
{
    const struct ta_categories categories = ta_trace_categories(w->trace);
    bool done = true;
    for (ta_row i = 0; done && i < w->spans.n; i++) {
        const enum ta_event_class class = categories.at[w->spans.cat[i]].class;
        if (!ta_class_is_host(class))
            continue;
        while (w->n_open && w->spans.parent[i] + 1 <= w->open[w->n_open - 1].row)
            close_call(w);
        if (class == TA_CLASS_OP)
            done = open_call(w, (struct open_call){i, OPERATOR, add_operator(w, i), 0});
        else if (class == TA_CLASS_RUNTIME && ta_launched_has(w->launched, i))
            done =
                open_call(w, (struct open_call){i, CALL, NULL,
                                                w->device_ns[ta_launched_place(w->launched, i)]});
    }
    while (w->n_open)
        close_call(w);
    return done;
}

static bool is_operator(void *user, ta_row row)
{
    const struct work *w = user;
    return ta_trace_categories(w->trace).at[w->spans.cat[row]].class == TA_CLASS_OP;
}

static bool is_in_operator(struct work *w, ta_row row)
{
    return ta_outward_find(&w->outward, row, is_operator, w) != TA_NO_ROW;
}

/* Calls outside of operators that launched something, each once: activities of a call need not
 * stand together. */
static void add_launching_calls(struct work *w)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const struct ta_spans *s = &w->spans;
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row launch = activities.at[i].launch;
        if (launch == TA_NO_ROW)
            continue;
        int64_t *device_ns = &w->device_ns[ta_launched_place(w->launched, launch)];
        if (*device_ns < 0 || (activities.at[i].op != launch && is_in_operator(w, launch)))
            continue;
        int64_t *row = row_of(w, CALL, s->name[launch]);
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[HOST_SELF], s->self[launch]);
        ta_sum(&row[HOST], s->dur[launch]);
        ta_sum(&row[DEVICE], *device_ns);
        *device_ns = -1;
    }
}

/* The device time of operators that were open when a graph was captured.  An
 * operator that calls itself counts once. */
static void add_captured(struct work *w, ta_row op, int64_t ns)
{
    enum { DEEPEST = 64 };
    const struct ta_categories categories = ta_trace_categories(w->trace);
    ta_str names[DEEPEST];
    size_t n = 0;
    for (ta_row row = op; row != TA_NO_ROW; row = w->spans.parent[row]) {
        const enum ta_event_class class = categories.at[w->spans.cat[row]].class;
        if (!ta_class_is_captured(class))
            break;
        if (class == TA_CLASS_CAPTURED_MODULE)
            continue;
        bool known = n == DEEPEST;
        for (size_t i = 0; i < n && !known; i++)
            known = names[i] == w->spans.name[row];
        if (known)
            continue;
        names[n++] = w->spans.name[row];
        const enum kind kind = class == TA_CLASS_CAPTURED_OP ? OPERATOR : CALL;
        ta_sum(&row_of(w, kind, w->spans.name[row])[DEVICE], ns);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const size_t names = ta_trace_string_count(trace) + 1;
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .out = out[0],
                     .launched = ta_trace_launched(trace)};
    w.outward.parent = w.spans.parent;
    w.device_ns = calloc(w.launched ? w.launched->n + 1 : 1, sizeof *w.device_ns);
    w.rows = calloc(names * 2, sizeof *w.rows);
    w.outermost = calloc(names, sizeof *w.outermost);
    bool done = w.launched && w.device_ns && w.rows && w.outermost;
    if (done) {
        /* Each activity to what launched it; and to the call, from where it is handed up. */
        const struct ta_activities activities = ta_trace_activities(w.trace);
        const struct ta_categories categories = ta_trace_categories(w.trace);
        const struct ta_spans *s = &w.spans;
        struct ta_sharing sharing = {.n = 0};
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            if (i > 0 && a->device != activities.at[i - 1].device)
                ta_sharing_end(&sharing);
            const bool linked = a->op != TA_NO_ROW;
            const enum ta_event_class class =
                linked ? categories.at[s->cat[a->op]].class : TA_CLASS_HOST;
            const bool by_call = a->op == a->launch || class == TA_CLASS_CAPTURED_CALL;
            int64_t *row =
                linked ? row_of(&w, by_call ? CALL : OPERATOR, s->name[a->op])
                       : TA_PARTIAL_ROW(w.out, ta_key_int(UNLINKED), ta_key_text(TA_LIT("")));
            const int64_t start = s->ts[a->span], ns = s->dur[a->span];
            ta_sum(&row[DEVICE_SELF], ns);
            ta_sum(&row[KERNELS], categories.at[s->cat[a->span]].class == TA_CLASS_KERNEL);
            ta_sharing_begin(&sharing, start, start + ns, &row[EXPOSED]);
            if (linked) {
                int64_t *device_ns = &w.device_ns[ta_launched_place(w.launched, a->launch)];
                *device_ns = ta_add_sat(*device_ns, ns);
                if (ta_class_is_captured(class))
                    add_captured(&w, a->op, ns);
            } else {
                ta_sum(&row[DEVICE], ns);
            }
        }
        ta_sharing_end(&sharing);
        done = add_host(&w);
        add_launching_calls(&w);
    }
    free(w.device_ns);
    free(w.rows);
    free(w.outermost);
    free(w.open);
    ta_outward_free(&w.outward);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index operators");
}

/* ---- finish ---------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *rows = merged[0];
    bool on_device = false;
    for (size_t i = 0; i < ta_partial_rows(rows); i++)
        on_device |= ta_partial_at(rows, i)[DEVICE_SELF] > 0;
    for (size_t i = 0; i < ta_partial_rows(rows); i++) {
        const int64_t *row = ta_partial_at(rows, i);
        const struct ta_slice name = ta_partial_text(rows, row, NAME);
        const int64_t none = on_device ? 0 : TA_MISSING;
        TA_ROW(out, by_operator,
               [OP_NAME] = ta_text(row[KIND] == UNLINKED ? TA_LIT("(no launch recorded)") : name),
               [OP_KIND] = ta_text(ta_slice_of(kind_names[row[KIND]])),
               [OP_CALLS] = ta_int(row[CALLS]), [OP_HOST] = ta_int(row[HOST]),
               [OP_HOST_SELF] = ta_int(row[HOST_SELF]),
               [OP_DEVICE] = ta_int(on_device ? row[DEVICE] : none),
               [OP_DEVICE_SELF] = ta_int(ta_max_i64(row[DEVICE_SELF], none)),
               [OP_EXPOSED] = ta_int(ta_max_i64(row[EXPOSED], none)),
               [OP_KERNELS] = ta_int(ta_max_i64(row[KERNELS], none)));
    }
    ta_order_rows(out, &by_operator,
                  &by_operator_columns[on_device ? OP_DEVICE_SELF : OP_HOST_SELF], TA_DESCENDING);
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, KIND, KINDS}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_operator, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "operators",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, operators, &ops, .title = "Operators",
    .summary =
        "Host and device time of operators, alone and including what they call: ops.by_operator",
    .version = "1");
