/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_operator: what each operator takes on host and device, by itself and with all that it
 * calls.
 *
 * Work on the device belongs to the innermost operator that was open when it was launched, on the
 * thread that launched it; a graph launch outside of all operators, or any other call, is a row of
 * its own.  Where an operator calls itself, totals count the outermost call alone. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/columns.h>
#include <traceanalyze/host.h>
#include <traceanalyze/sharing.h>

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

static const struct ta_column columns[] = {
    TA_TEXT_COLUMN("name", "Name", "Name of the operator, or of a call outside of all operators"),
    TA_TEXT_COLUMN("kind", "Kind",
                   "operator; call: of the runtime, outside of all operators, that launched "
                   "something; unlinked: activities of which no launch was recorded"),
    TA_COUNT_COLUMN("calls", "Calls", TA_NEUTRAL, "Number of calls, all ranks"),
    TA_NS_COLUMN("host_total_ns", "Host total", TA_LOWER,
                 "Time of the calls with all that they call; an operator that calls itself counts "
                 "once"),
    TA_NS_COLUMN("host_self_ns", "Host self", TA_LOWER,
                 "Part of it in which the operator was the innermost span of its thread"),
    TA_NS_COLUMN("device_total_ns", "Device total", TA_LOWER,
                 "Sum of the device activities launched by the calls and all that they call; an "
                 "operator that calls itself counts once"),
    TA_NS_COLUMN("device_self_ns", "Device self", TA_LOWER,
                 "Sum of those that no inner operator launched: work, not wall time"),
    TA_NS_COLUMN("device_exposed_ns", "Exposed", TA_LOWER,
                 "Part of the busy time of the devices that these take: each instant is divided "
                 "evenly between the activities that run. The parts add up to the busy time"),
    TA_COUNT_COLUMN("kernels", "Kernels", TA_NEUTRAL, "Kernels among them"),
};

/* ---- map ------------------------------------------------------------------------------------- */

/* The last outermost call of a name. */
struct outermost {
    int64_t end;
    uint32_t track;
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *out;
    int64_t **rows;              /* of operators and of calls, by the name */
    struct outermost *outermost; /* of operators, by the name */
    int64_t *device_ns;          /* of each span, with what lies below it */
};

static int64_t *row_of(struct work *w, enum kind kind, ta_str name)
{
    int64_t **row = &w->rows[(size_t)name * 2 + kind];
    if (!*row)
        *row = TA_PARTIAL_ROW(w->out, ta_key_int(kind),
                              ta_key_text(ta_host_place(ta_trace_text(w->trace, name))));
    return *row;
}

/* Host time of a call, and device time with all below, unless a call of the name encloses it. */
static void add_call(struct work *w, enum kind kind, ta_row i)
{
    const struct ta_spans *s = &w->spans;
    int64_t *row = row_of(w, kind, s->name[i]);
    struct outermost *outer = &w->outermost[s->name[i]];
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[HOST_SELF], s->self[i]);
    if (kind == OPERATOR && outer->track == s->track[i] + 1 && s->ts[i] < outer->end)
        return;
    if (kind == OPERATOR)
        *outer = (struct outermost){s->ts[i] + s->dur[i], s->track[i] + 1};
    ta_sum(&row[HOST], s->dur[i]);
    ta_sum(&row[DEVICE], w->device_ns[i]);
}

/* Each activity to what launched it; and to the call, from where it is handed up. */
static void add_activities(struct work *w)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const struct ta_categories categories = ta_trace_categories(w->trace);
    const struct ta_spans *s = &w->spans;
    struct ta_sharing sharing = {.n = 0};
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (i > 0 && a->device != activities.at[i - 1].device)
            ta_sharing_end(&sharing);
        const bool linked = a->op != TA_NO_ROW;
        const bool by_call = a->op == a->launch;
        int64_t *row = linked
                           ? row_of(w, by_call ? CALL : OPERATOR, s->name[a->op])
                           : TA_PARTIAL_ROW(w->out, ta_key_int(UNLINKED), ta_key_text(TA_LIT("")));
        ta_sum(&row[DEVICE_SELF], s->dur[a->span]);
        ta_sum(&row[KERNELS], categories.at[s->cat[a->span]].class == TA_CLASS_KERNEL);
        ta_sharing_begin(&sharing, s->ts[a->span], s->ts[a->span] + s->dur[a->span], &row[EXPOSED]);
        if (linked)
            w->device_ns[a->launch] = ta_add_sat(w->device_ns[a->launch], s->dur[a->span]);
        else
            ta_sum(&row[DEVICE], s->dur[a->span]);
    }
    ta_sharing_end(&sharing);
}

static void add_up(struct work *w)
{
    for (size_t i = w->spans.n; i-- > 0;) {
        const ta_row parent = w->spans.parent[i];
        if (w->device_ns[i] && parent != TA_NO_ROW)
            w->device_ns[parent] = ta_add_sat(w->device_ns[parent], w->device_ns[i]);
    }
}

/* Calls outside of operators that launched something, each once: activities of a call need not
 * stand together. */
static void add_launching_calls(struct work *w)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row launch = activities.at[i].launch;
        if (launch == TA_NO_ROW || activities.at[i].op != launch || w->device_ns[launch] < 0)
            continue;
        add_call(w, CALL, launch);
        w->device_ns[launch] = -1;
    }
}

static void add_operators(struct work *w)
{
    const struct ta_categories categories = ta_trace_categories(w->trace);
    for (size_t i = 0; i < w->spans.n; i++)
        if (categories.at[w->spans.cat[i]].class == TA_CLASS_OP)
            add_call(w, OPERATOR, (ta_row)i);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const size_t names = ta_trace_string_count(trace) + 1;
    struct work w = {.trace = trace, .spans = ta_trace_spans(trace), .out = out[0]};
    w.rows = calloc(names * 2, sizeof *w.rows);
    w.outermost = calloc(names, sizeof *w.outermost);
    w.device_ns = calloc(w.spans.n + 1, sizeof *w.device_ns);
    const bool done = w.rows && w.outermost && w.device_ns;
    if (done) {
        add_activities(&w);
        add_up(&w);
        add_operators(&w);
        add_launching_calls(&w);
    }
    free(w.rows);
    free(w.outermost);
    free(w.device_ns);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index operators");
}

/* ---- finish ---------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *rows = merged[0];
    struct ta_table_builder *table = ta_add_table(out, "ops.by_operator", "Operators", columns, 9);
    bool on_device = false;
    for (size_t i = 0; i < ta_partial_rows(rows); i++)
        on_device |= ta_partial_at(rows, i)[DEVICE_SELF] > 0;
    for (size_t i = 0; i < ta_partial_rows(rows); i++) {
        const int64_t *row = ta_partial_at(rows, i);
        const struct ta_slice name = ta_partial_text(rows, row, NAME);
        const int64_t none = on_device ? 0 : TA_MISSING;
        TA_ROW(table, ta_text(row[KIND] == UNLINKED ? TA_LIT("(no launch recorded)") : name),
               ta_text(ta_slice_of(kind_names[row[KIND]])), ta_int(row[CALLS]), ta_int(row[HOST]),
               ta_int(row[HOST_SELF]), ta_int(on_device ? row[DEVICE] : none),
               ta_int(ta_max_i64(row[DEVICE_SELF], none)), ta_int(ta_max_i64(row[EXPOSED], none)),
               ta_int(ta_max_i64(row[KERNELS], none)));
    }
    ta_sort_rows(table, on_device ? "device_self_ns" : "host_self_ns", true);
    return TA_OK;
}

static const char *const behind[] = {"ops_device_time", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, KIND, KINDS}, TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .behind = behind,
                                           .section = "operators",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, operators, &ops, .title = "Operators",
          .summary = "Host and device time of operators, by themselves and with what they call: "
                     "ops.by_operator",
          .version = "1");
