/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.backward and ops.backward_by_module: what the backward pass takes, by the operators and
 * modules of the forward pass that cause it.
 *
 * Every span belongs to the innermost operator around it at which one of torch's forward-
 * backward arrows begins or ends, so that each call and each device activity counts once, even
 * if a checkpoint recomputes a part of the forward pass within the backward pass. */
#include "lib/modules.h"
#include "lib/outward.h"
#include "model/backward.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { OPERATOR, NODE, CALLS, FORWARD_HOST, BACKWARD_HOST, FORWARD, BACKWARD, FIELDS };
enum { MODULE, MODULE_VALUES };
enum { BY_OPERATOR, BY_MODULE };
/* Offset between the sum columns of the two tables. */
enum { SHIFT = CALLS - MODULE_VALUES };

static const struct ta_field fields[FIELDS] = {
    [OPERATOR] = {"operator", TA_FIELD_TEXT},
    [NODE] = {"node", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [FORWARD_HOST] = {"forward_host_ns", TA_FIELD_SUM},
    [BACKWARD_HOST] = {"backward_host_ns", TA_FIELD_SUM},
    [FORWARD] = {"forward_device_ns", TA_FIELD_SUM},
    [BACKWARD] = {"backward_device_ns", TA_FIELD_SUM},
};

static const struct ta_field module_fields[FIELDS - SHIFT] = {
    [MODULE] = {"module", TA_FIELD_TEXT},
    [CALLS - SHIFT] = {"calls", TA_FIELD_SUM},
    [FORWARD_HOST - SHIFT] = {"forward_host_ns", TA_FIELD_SUM},
    [BACKWARD_HOST - SHIFT] = {"backward_host_ns", TA_FIELD_SUM},
    [FORWARD - SHIFT] = {"forward_device_ns", TA_FIELD_SUM},
    [BACKWARD - SHIFT] = {"backward_device_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    {"operators", fields, FIELDS}, {"modules", module_fields, FIELDS - SHIFT}, {0}};

/* Columns that both tables have, from enumerator `at` on. */
enum {
    SUM_CALLS,
    SUM_FORWARD,
    SUM_BACKWARD,
    SUM_BOTH,
    SUM_RATIO,
    SUM_FORWARD_HOST,
    SUM_BACKWARD_HOST
};

/* clang-format off */
#define SUM_COLUMNS(at) \
    [(at) + SUM_CALLS] = \
        {"calls", "Calls", TA_COUNT, \
         .doc = "Calls whose backward pass was recorded, all ranks; for a node without an " \
                "operator, the calls of the node"}, \
    [(at) + SUM_FORWARD] = \
        {"forward_device_ns", "Forward", TA_NS, .better = TA_LOWER, \
         .doc = "Sum of the device activities that these calls launched, except in inner " \
                "operators that have a backward pass of their own"}, \
    [(at) + SUM_BACKWARD] = \
        {"backward_device_ns", "Backward", TA_NS, .better = TA_LOWER, \
         .doc = "Sum of the device activities that the nodes of the backward pass launched, " \
                "without forward operators that are recomputed in them"}, \
    [(at) + SUM_BOTH] = {"device_ns", "Forward + backward", TA_NS, .better = TA_LOWER, \
                         .doc = "Device time of the forward and the backward pass together"}, \
    [(at) + SUM_RATIO] = \
        {"ratio", "Backward / forward", TA_NUMBER, \
         .doc = "Device time of the backward pass divided by the device time of the forward " \
                "pass; about 2 for GEMMs and convolutions. Without device activities, host time " \
                "is used"}, \
    [(at) + SUM_FORWARD_HOST] = {"forward_host_ns", "Forward host", TA_NS, .better = TA_LOWER, \
                                 .doc = "Host time of the calls in the forward pass"}, \
    [(at) + SUM_BACKWARD_HOST] = {"backward_host_ns", "Backward host", TA_NS, .better = TA_LOWER, \
                                  .doc = "Host time of the nodes in the backward pass"}

/* The cells of these columns in a TA_ROW(). */
#define SUM_CELLS(at, s) \
    [(at) + SUM_CALLS] = (s).calls, [(at) + SUM_FORWARD] = (s).forward, \
    [(at) + SUM_BACKWARD] = (s).backward, [(at) + SUM_BOTH] = (s).both, \
    [(at) + SUM_RATIO] = (s).ratio, [(at) + SUM_FORWARD_HOST] = (s).forward_host, \
    [(at) + SUM_BACKWARD_HOST] = (s).backward_host
/* clang-format on */

enum { OPERATOR_NAME, OPERATOR_NODE, OPERATOR_SUMS };
static const struct ta_column by_operator_columns[] = {
    [OPERATOR_NAME] = {"operator", "Operator", TA_TEXT,
                       .doc = "Operator of the forward pass; empty for nodes without one, such as "
                              "those that accumulate gradients"},
    [OPERATOR_NODE] = {"node", "Backward node", TA_TEXT,
                       .doc = "Autograd node that computes the gradient of the operator"},
    SUM_COLUMNS(OPERATOR_SUMS),
};

static const struct ta_table_def by_operator = {
    "ops.backward", "Forward and backward pass by operator", TA_COLUMNS(by_operator_columns),
    .doc = "One row per operator of the forward pass and node of the backward pass that torch "
           "connects by an arrow (flows named `fwdbwd`), all ranks. Each span and each device "
           "activity counts once, for the innermost of these around it, so the rows add up; what "
           "activation checkpointing recomputes within the backward pass counts as forward. Nodes "
           "without an arrow have a row without an operator: `AccumulateGrad` adds gradients up, "
           "and is where `DistributedDataParallel` waits for other ranks. Empty without arrows."};

enum { MODULE_NAME, MODULE_SUMS };
static const struct ta_column by_module_columns[] = {
    [MODULE_NAME] = {"module", "Module", TA_TEXT,
                     .doc = "Class of the innermost module around the operator of the forward "
                            "pass; empty outside all modules"},
    SUM_COLUMNS(MODULE_SUMS),
};

static const struct ta_table_def by_module = {
    "ops.backward_by_module", "Forward and backward pass by module", TA_COLUMNS(by_module_columns),
    .doc = "The same by the class of the innermost module around the operator of the forward pass, "
           "without nodes that have no operator. Empty if no modules were recorded."};

/* ---- which span belongs to which operator ---------------------------------------------------- */

#define NOBODY UINT32_MAX

/* One operator of the forward pass, or one node of the backward pass, and what sums it goes to. */
struct owner {
    int64_t *rows[2]; /* NULL: not in the table of modules */
    bool is_backward;
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *const *out;
    struct ta_map caches[2];
    struct ta_outward modules;
    struct owner *owners;
    uint32_t n_owners;
    uint32_t *owner; /* by span: place in the owners, or NOBODY */
};

static struct ta_slice name_of(const struct work *w, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[row]);
}

/* "ConvolutionBackward0", also of the function that evaluates it. */
static struct ta_slice node_name(struct ta_slice name)
{
    const size_t n = ta_is_backward_node(name) ? sizeof TA_NODE_START - 1 : 0;
    return ta_slice_from(name, n);
}

static bool is_module(void *user, ta_row row)
{
    return ta_is_module(name_of(user, row));
}

/* The rows that a pair is added to; a node without operator has no module. */
static struct owner make_owner(struct work *w, ta_row forward, ta_row backward)
{
    const uint64_t names = (uint64_t)(forward == TA_NO_ROW ? 0 : w->spans.name[forward] + 1) << 32 |
                           w->spans.name[backward];
    struct owner owner = {
        .rows[BY_OPERATOR] = ta_partial_cached(
            w->out[BY_OPERATOR], &w->caches[BY_OPERATOR], names,
            (const struct ta_key[]){ta_key_text(name_of(w, forward)),
                                    ta_key_text(node_name(name_of(w, backward)))})};
    if (forward != TA_NO_ROW) {
        const ta_row module = ta_outward_find(&w->modules, forward, is_module, w);
        const struct ta_slice name = name_of(w, module);
        owner.rows[BY_MODULE] = ta_partial_cached(
            w->out[BY_MODULE], &w->caches[BY_MODULE],
            module == TA_NO_ROW ? UINT64_MAX : w->spans.name[module],
            (const struct ta_key[]){ta_key_text(name.len ? ta_module_class(name) : name)});
    }
    return owner;
}

static void add(const struct owner *owner, size_t field, int64_t value)
{
    ta_sum(&owner->rows[BY_OPERATOR][field], value);
    if (owner->rows[BY_MODULE])
        ta_sum(&owner->rows[BY_MODULE][field - SHIFT], value);
}

/* The first to claim a span owns it. */
static void own(struct work *w, ta_row row, struct owner owner, bool is_backward)
{
    owner.is_backward = is_backward;
    if (w->owner[row] == NOBODY) {
        w->owners[w->n_owners] = owner;
        w->owner[row] = w->n_owners++;
    }
}

/* Claims what is left of the backward pass; everything else belongs to the owner around it. */
static void own_rest(struct work *w)
{
    const struct ta_category *categories = ta_trace_categories(w->trace).at;
    for (ta_row i = 0; i < w->spans.n; i++) {
        if (w->owner[i] != NOBODY || !ta_class_is_host(categories[w->spans.cat[i]].class))
            continue;
        if (categories[w->spans.cat[i]].class == TA_CLASS_OP &&
            ta_is_backward_node(name_of(w, i))) {
            const struct owner owner = make_owner(w, TA_NO_ROW, i);
            add(&owner, CALLS, 1);
            own(w, i, owner, true);
        } else if (w->spans.parent[i] != TA_NO_ROW) {
            w->owner[i] = w->owner[w->spans.parent[i]];
        }
    }
}

static size_t count_nodes(const struct work *w)
{
    size_t n = 0;
    for (ta_row i = 0; i < w->spans.n; i++)
        n += ta_is_backward_node(name_of(w, i));
    return n;
}

/* ---- map ------------------------------------------------------------------------------------- */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_backward_links *links = ta_trace_backward(trace);
    if (links && links->n == 0)
        return TA_OK;
    struct work w = {.trace = trace, .spans = ta_trace_spans(trace), .out = out};
    w.modules.parent = w.spans.parent;
    bool done = links != NULL;
    if (done) {
        w.owners = malloc((2 * links->n + count_nodes(&w) + 1) * sizeof *w.owners);
        w.owner = malloc((w.spans.n + 1) * sizeof *w.owner);
        done = w.owners && w.owner;
    }
    if (done) {
        memset(w.owner, 0xff, w.spans.n * sizeof *w.owner); /* NOBODY */
        for (size_t i = 0; i < links->n; i++) {
            const struct owner owner = make_owner(&w, links->at[i].forward, links->at[i].backward);
            add(&owner, CALLS, 1);
            own(&w, links->at[i].forward, owner, false);
            own(&w, links->at[i].node, owner, true);
        }
        own_rest(&w);
        const struct ta_activities activities = ta_trace_activities(w.trace);
        for (ta_row i = 0; i < w.spans.n; i++)
            if (w.owner[i] != NOBODY) {
                const struct owner *owner = &w.owners[w.owner[i]];
                add(owner, owner->is_backward ? BACKWARD_HOST : FORWARD_HOST, w.spans.self[i]);
            }
        for (size_t i = 0; i < activities.n; i++) {
            const ta_row launch = activities.at[i].launch;
            if (launch == TA_NO_ROW || w.owner[launch] == NOBODY)
                continue;
            const struct owner *owner = &w.owners[w.owner[launch]];
            add(owner, owner->is_backward ? BACKWARD : FORWARD, w.spans.dur[activities.at[i].span]);
        }
        done = !w.caches[BY_OPERATOR].failed && !w.caches[BY_MODULE].failed;
    }
    ta_map_free(&w.caches[BY_OPERATOR]);
    ta_map_free(&w.caches[BY_MODULE]);
    ta_outward_free(&w.modules);
    free(w.owners);
    free(w.owner);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index the backward pass");
}

/* ---- finish ---------------------------------------------------------------------------------- */

/* The cells that both tables have; device times are missing if no device was recorded. */
struct sums {
    struct ta_cell calls, forward, backward, both, ratio, forward_host, backward_host;
};

/* Reads the cells of a row from its calls on. */
static struct sums sum_up(const int64_t *cells, bool on_device)
{
    int64_t sums[FIELDS];
    for (int i = CALLS; i < FIELDS; i++)
        sums[i] = ta_max_i64(cells[i - CALLS], 0);
    const int64_t forward = sums[on_device ? FORWARD : FORWARD_HOST];
    const int64_t backward = sums[on_device ? BACKWARD : BACKWARD_HOST];
    return (struct sums){
        .calls = ta_int(sums[CALLS]),
        .forward = on_device ? ta_int(sums[FORWARD]) : ta_null(),
        .backward = on_device ? ta_int(sums[BACKWARD]) : ta_null(),
        .both = on_device ? ta_int(ta_add_sat(sums[FORWARD], sums[BACKWARD])) : ta_null(),
        .ratio = ta_share(backward, forward),
        .forward_host = ta_int(sums[FORWARD_HOST]),
        .backward_host = ta_int(sums[BACKWARD_HOST]),
    };
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *operators = merged[BY_OPERATOR], *modules = merged[BY_MODULE];
    if (ta_partial_rows(operators) == 0)
        return TA_OK;
    bool on_device = false;
    for (size_t i = 0; i < ta_partial_rows(operators); i++)
        on_device |= ta_partial_at(operators, i)[BACKWARD] > 0;
    const size_t most = on_device ? SUM_BOTH : SUM_BACKWARD_HOST;
    for (size_t i = 0; i < ta_partial_rows(operators); i++) {
        const int64_t *row = ta_partial_at(operators, i);
        const struct sums s = sum_up(row + CALLS, on_device);
        TA_ROW(out,
               by_operator, [OPERATOR_NAME] = ta_text(ta_partial_text(operators, row, OPERATOR)),
               [OPERATOR_NODE] = ta_text(ta_partial_text(operators, row, NODE)),
               SUM_CELLS(OPERATOR_SUMS, s));
    }
    ta_order_rows(out, &by_operator, &by_operator_columns[OPERATOR_SUMS + most], TA_DESCENDING);
    if (ta_partial_rows(modules) < 2) /* none were recorded */
        return TA_OK;
    for (size_t i = 0; i < ta_partial_rows(modules); i++) {
        const int64_t *row = ta_partial_at(modules, i);
        const struct sums s = sum_up(row + MODULE_VALUES, on_device);
        TA_ROW(out, by_module, [MODULE_NAME] = ta_text(ta_partial_text(modules, row, MODULE)),
               SUM_CELLS(MODULE_SUMS, s));
    }
    ta_order_rows(out, &by_module, &by_module_columns[MODULE_SUMS + most], TA_DESCENDING);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_operator, &by_module, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_BACKWARD,
                                           .section = "operators",
                                           .place = 4,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, backward, &ops, .title = "Backward pass",
          .summary = "Time of the backward pass by the operators and modules of the forward pass: "
                     "ops.backward, ops.backward_by_module",
          .version = "1");
