/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.exposed_by_place: which collectives are exposed, in which module or range of the
 * program they are launched, and why nothing is computed meanwhile.  The next compute kernel
 * shows the reason: if it had been launched long before, it was queued and needed the result;
 * otherwise the host had not launched it yet. */
#include "model/cover.h"
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>
#include "lib/modules.h"

#include <stdlib.h>

enum { RANK, OP, PLACE, CAUSE, CALLS, TOTAL, EXPOSED, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},         [OP] = {"op", TA_FIELD_TEXT},
    [PLACE] = {"place", TA_FIELD_TEXT},       [CAUSE] = {"cause", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},        [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [EXPOSED] = {"exposed_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"places", fields, FIELDS}, {0}};

static const struct ta_column by_place_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [OP] = {"op", "Operation", TA_TEXT, .role = TA_KEY,
            .doc = "Operation as the trace names it, otherwise the name of the kernel"},
    [PLACE] = {"place", "Call site", TA_TEXT, .role = TA_KEY,
               .doc = "Innermost module (torch.nn.Module) around the launch, otherwise the "
                      "innermost annotated range of the program, otherwise the outermost operator; "
                      "empty if there is none"},
    [CAUSE] =
        {"cause", "Cause", TA_WORD, .role = TA_KEY,
         .doc = "Why the device computes nothing meanwhile: `dependency`: the next compute kernel "
                "was already queued; `host`: it had not been launched yet; `end`: nothing is "
                "computed afterwards; `hidden`: all of the communication overlaps compute"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of communication kernels"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the durations of these kernels"},
    [EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                 .doc = "Part of the total in which the device computes nothing"},
};

static const struct ta_table_def by_place = {
    "collectives.exposed_by_place", "Exposed communication by call site",
    TA_COLUMNS(by_place_columns),   .doc = "One row per rank, operation, call site and cause.",
    .tier = TA_TIER_DETAIL,         .order = {&by_place_columns[EXPOSED], TA_DESCENDING},
};

enum cause { DEPENDENCY, HOST, END, HIDDEN, CAUSES };

static const char *const cause_names[CAUSES] = {
    [DEPENDENCY] = "dependency", [HOST] = "host", [END] = "end", [HIDDEN] = "hidden"};

struct walk {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct ta_categories categories;
    struct ta_args ops;
    struct ta_cover compute;
    struct ta_map rows[CAUSES]; /* rows of the partial, by operation and call site */
    uint8_t *names;             /* by name: what it is, once known */
    size_t next;                /* the last compute activity that was looked at */
    struct ta_partial *out;
};

static bool computes(const void *user, const struct ta_activity *activity)
{
    const struct ta_kernels *kernels = user;
    return activity->kernel != TA_NO_KERNEL &&
           kernels->at[activity->kernel].facts.class != TA_KERNEL_COMM;
}

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

/* ---- where ---------------------------------------------------------------------------------- */

enum { ANCESTORS = 64 };

/* Operators and ranges that only pass a collective on. */
static bool hands_on(struct ta_slice name)
{
    static const char *const words[] = {
        "c10d::", "c10d_functional::", "nccl:", "rccl:", "record_param_comms", NULL};
    return ta_slice_has_any(name, words) || ta_host_is_step(name);
}

enum { NAME_UNKNOWN, NAME_OTHER, NAME_MODULE, NAME_HANDS_ON };

static uint8_t kind_of(const struct walk *w, ta_row row)
{
    uint8_t *known = &w->names[w->spans.name[row]];
    const struct ta_slice name = *known ? TA_LIT("") : name_of(w, row);
    if (*known == NAME_UNKNOWN)
        *known = ta_is_module(name) ? NAME_MODULE : hands_on(name) ? NAME_HANDS_ON : NAME_OTHER;
    return *known;
}

/* The name of the call site, TA_STR_ABSENT if there is none. */
static ta_str place_of(const struct walk *w, const struct ta_activity *a)
{
    ta_str range = TA_STR_ABSENT, op = TA_STR_ABSENT;
    ta_row row = a->op == TA_NO_ROW ? a->launch : a->op;
    for (int i = 0; i < ANCESTORS && row != TA_NO_ROW; i++, row = w->spans.parent[row]) {
        const struct ta_category *category = &w->categories.at[w->spans.cat[row]];
        const uint8_t kind = kind_of(w, row);
        if (kind == NAME_MODULE || category->class == TA_CLASS_CAPTURED_MODULE)
            return w->spans.name[row];
        if (kind == NAME_HANDS_ON)
            continue;
        if (ta_class_is_op(category->class))
            op = w->spans.name[row];
        else if (range == TA_STR_ABSENT && category->class == TA_CLASS_HOST &&
                 ta_slice_equal(ta_trace_text(w->trace, category->name), TA_LIT("user_annotation")))
            range = w->spans.name[row];
    }
    return range == TA_STR_ABSENT ? op : range;
}

/* The name of the operation: from the record of the call, otherwise from the kernel. */
static struct ta_slice op_of(const struct walk *w, const struct ta_activity *a, ta_str *id)
{
    ta_row row = a->launch;
    *id = ta_args_text(&w->ops, a->span);
    for (int i = 0; i < ANCESTORS && *id == TA_STR_ABSENT && row != TA_NO_ROW; i++) {
        *id = ta_args_text(&w->ops, row);
        row = w->spans.parent[row];
    }
    if (*id != TA_STR_ABSENT)
        return ta_trace_text(w->trace, *id);
    *id = w->spans.name[a->span];
    return ta_slice_of(ta_coll_kind_name(ta_coll_kind_of(name_of(w, a->span))));
}

/* ---- why ------------------------------------------------------------------------------------ */

/* The cause for activity `i` of [.., end), whose exposed time is not 0. */
static enum cause cause_of(struct walk *w, size_t i, size_t end)
{
    const int64_t start = w->spans.ts[w->activities.at[i].span];
    if (w->next < i)
        w->next = i;
    while (w->next < end && (!computes(&w->kernels, &w->activities.at[w->next]) ||
                             w->spans.ts[w->activities.at[w->next].span] <= start))
        w->next++;
    if (w->next == end)
        return END;
    const struct ta_activity *then = &w->activities.at[w->next];
    if (then->launch == TA_NO_ROW)
        return DEPENDENCY;
    const int64_t launched = w->spans.ts[then->launch] + w->spans.dur[then->launch];
    return w->spans.ts[then->span] - launched > TA_FRONT_END_NS ? DEPENDENCY : HOST;
}

static bool add(struct walk *w, size_t i, size_t end)
{
    const struct ta_activity *a = &w->activities.at[i];
    const int64_t dur = w->spans.dur[a->span];
    const int64_t exposed = dur - ta_min_i64(ta_cover_of(&w->compute, i), dur);
    const enum cause cause = exposed > 0 ? cause_of(w, i, end) : HIDDEN;
    const ta_str place = place_of(w, a);
    ta_str op;
    const struct ta_slice name = op_of(w, a, &op);
    int64_t *row = ta_partial_cached(
        w->out, &w->rows[cause], (uint64_t)op << 32 | place,
        (const struct ta_key[]){
            ta_key_int(ta_trace_rank(w->trace)), ta_key_text(name),
            ta_key_text(place == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(w->trace, place)),
            ta_key_text(ta_slice_of(cause_names[cause]))});
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[TOTAL], dur);
    ta_sum(&row[EXPOSED], exposed);
    return !w->rows[cause].failed;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .activities = ta_trace_activities(trace),
                     .kernels = ta_trace_kernels(trace),
                     .categories = ta_trace_categories(trace),
                     .ops = ta_trace_args(trace, "Collective name"),
                     .out = out[0]};
    bool communicates = false;
    for (size_t i = 0; i < w.kernels.n; i++)
        communicates |= w.kernels.at[i].facts.class == TA_KERNEL_COMM;
    if (!communicates)
        return TA_OK;
    w.names = calloc(ta_trace_string_count(trace) + 1, sizeof *w.names);
    bool done = w.names != NULL;
    w.compute = (struct ta_cover){
        .activities = w.activities, .spans = w.spans, .counts = computes, .user = &w.kernels};
    for (size_t from = 0, to; done && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        for (size_t i = from; done && i < to; i++) {
            const uint32_t kernel = w.activities.at[i].kernel;
            if (kernel != TA_NO_KERNEL && w.kernels.at[kernel].facts.class == TA_KERNEL_COMM)
                done = add(&w, i, to);
        }
    }
    free(w.names);
    for (size_t i = 0; i < CAUSES; i++)
        ta_map_free(&w.rows[i]);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the places of collectives");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(
            out, by_place, [RANK] = ta_int(row[RANK]),
            [OP] = ta_text(ta_partial_text(merged[0], row, OP)),
            [PLACE] = ta_text(ta_partial_text(merged[0], row, PLACE)),
            [CAUSE] = ta_text(ta_partial_text(merged[0], row, CAUSE)), [CALLS] = ta_int(row[CALLS]),
            [TOTAL] = ta_int(row[TOTAL]), [EXPOSED] = ta_int(row[EXPOSED]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_place, NULL};

static const char *const args[] = {"Collective name", NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 9,
    .needs_args = args,
    .partials = partials,
    .map = map,
    .finish = finish,
    .tables = tables,
};

TA_PLUGIN(analysis, exposed_by_place, &ops, .title = "Exposed communication by call site",
          .summary = "Which collectives are exposed, where they are launched, and why nothing is "
                     "computed meanwhile: collectives.exposed_by_place",
          .version = "1");
