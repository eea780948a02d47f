/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.call_tree, ops.module_tree and ops.by_module: time by call path, over all ranks.
 *
 * The trees of the ranks merge node by node.  A node is identified by its kind, its name and a
 * hash of its callers; the depth is the first key, so that callers are read before what they
 * call. */
#include "tree.h"

#include <traceanalyze/table.h>

#include <stdlib.h>

enum { DEPTH, CALLERS, KIND, NAME, CALLS, HOST, DEVICE, FOLDED, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [DEPTH] = {"depth", TA_FIELD_INT},
    [CALLERS] = {"callers", TA_FIELD_INT},
    [KIND] = {"kind", TA_FIELD_INT},
    [NAME] = {"name", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [HOST] = {"host_self_ns", TA_FIELD_SUM},
    [DEVICE] = {"device_self_ns", TA_FIELD_SUM},
    [FOLDED] = {"folded", TA_FIELD_MAX},
};

static const struct ta_field module_fields[MODULE_FIELDS] = {
    [MODULE_CLASS] = {"module", TA_FIELD_TEXT},
    [MODULE_INSTANCES] = {"instances", TA_FIELD_MAX},
    [MODULE_CALLS] = {"calls", TA_FIELD_SUM},
    [MODULE_HOST] = {"host_total_ns", TA_FIELD_SUM},
    [MODULE_HOST_SELF] = {"host_self_ns", TA_FIELD_SUM},
    [MODULE_DEVICE] = {"device_total_ns", TA_FIELD_SUM},
    [MODULE_DEVICE_SELF] = {"device_self_ns", TA_FIELD_SUM},
};

enum { PARTIAL_CALLS, PARTIAL_MODULES, PARTIAL_CLASSES };

static const struct ta_partial_def partials[] = {
    [PARTIAL_CALLS] = {"calls", fields, FIELDS},
    [PARTIAL_MODULES] = {"modules", fields, FIELDS},
    [PARTIAL_CLASSES] = {"classes", module_fields, MODULE_FIELDS},
    {0}};

enum { NODES };
static const struct ta_option options[] = {
    [NODES] = {"nodes", TA_OPTION_INTEGER, 500, 10, 1e5, TA_OPTION_PLAIN,
               "Nodes of a tree that are kept; the smallest subtrees become \"(other)\""},
    TA_OPTIONS_END,
};

/* Each rank keeps more nodes than are shown, so that little is folded differently between ranks. */
enum { KEPT_PER_SHOWN = 2 };

enum {
    TREE_NODE,
    TREE_PARENT,
    TREE_DEPTH,
    TREE_NAME,
    TREE_KIND,
    TREE_CALLS,
    TREE_HOST,
    TREE_HOST_SELF,
    TREE_DEVICE,
    TREE_DEVICE_SELF,
    TREE_FOLDED
};
/* Columns of both trees. */
static const struct ta_column tree_columns[] = {
    [TREE_NODE] = {"node", "Node", TA_INTEGER,
                   .doc = "Number of the node; callers have lower numbers than what they call"},
    [TREE_PARENT] = {"parent", "Caller", TA_INTEGER,
                     .doc = "Node number of the caller; empty for a thread"},
    [TREE_DEPTH] = {"depth", "Depth", TA_COUNT, .doc = "Number of callers above the node"},
    [TREE_NAME] = {"name", "Name", TA_TEXT,
                   .doc = "Name of the span or activity; steps without their number, objects "
                          "without their address"},
    [TREE_KIND] = {"kind", "Kind", TA_TEXT,
                   .doc = "thread, python (a function), module, range (an annotation of the "
                          "program), operator, call (of the runtime or driver), host (any other "
                          "span), kernel, copy or memset; unlinked: activities without a known "
                          "launch; other: the smallest subtrees of the caller, together"},
    [TREE_CALLS] = {"calls", "Calls", TA_COUNT,
                    .doc = "Number of spans or activities, all ranks; for a thread, number of "
                           "threads of this name"},
    [TREE_HOST] = {"host_total_ns", "Host total", TA_NS, .better = TA_LOWER,
                   .doc = "Time on the host thread, including everything called from here"},
    [TREE_HOST_SELF] =
        {"host_self_ns", "Host self", TA_NS, .better = TA_LOWER,
         .doc = "Time on the host thread in this span alone, not in anything it called"},
    [TREE_DEVICE] = {"device_total_ns", "Device total", TA_NS, .better = TA_LOWER,
                     .doc = "Sum of the durations of device activities launched here or in "
                            "anything called from here; overlapping activities add up"},
    [TREE_DEVICE_SELF] = {"device_self_ns", "Device self", TA_NS, .better = TA_LOWER,
                          .doc = "Sum of the durations of this activity"},
    [TREE_FOLDED] = {"folded", "Folded", TA_COUNT,
                     .doc = "Number of nodes that an \"(other)\" row contains; if the ranks "
                            "differ, the largest number of one rank"},
};

/* Kinds of nodes with a color of their own.  The first kind in this order that occurs in a chain
 * of calls names it. */
static const struct ta_kind kinds[] = {
    {"module", "Module", TA_INK_SERIES_3},     {"range", "Annotated range", TA_INK_SERIES_2},
    {"kernel", "Kernel", TA_INK_SERIES_1},     {"copy", "Copy", TA_INK_SERIES_7},
    {"operator", "Operator", TA_INK_SERIES_4}, {"call", "Runtime call", TA_INK_SERIES_5},
    {"python", "Python", TA_INK_SERIES_6},     {0}};

#define TREE_CHART(chart_id, chart_title, column, what, text)                                      \
    {                                                                                              \
        .id = chart_id, .title = chart_title, .caption = text, .kind = TA_CHART_TREE,              \
        .label = {&tree_columns[TREE_NAME]}, .x = &tree_columns[TREE_DEPTH],                       \
        .y = {{&tree_columns[column], what, TA_INK_SERIES_1}}, .group = &tree_columns[TREE_KIND],  \
        .kinds = kinds                                                                             \
    }

static const struct ta_chart_def host_chart = TREE_CHART(
    "call-tree", "Host time by call tree", TREE_HOST, "Host total",
    "Time of all threads of all ranks that do more than wait, by call path, callers above. The "
    "uncovered part of a box is "
    "its own time. A chain of calls that pass on " TA_TREE_PASSES_ON_TEXT " is drawn as one box.");
static const struct ta_chart_def device_chart =
    TREE_CHART("call-tree-device", "Device time by call tree", TREE_DEVICE, "Device total",
               "Device activities of all ranks below the calls that launched them, callers above. "
               "A chain of calls that pass on " TA_TREE_PASSES_ON_TEXT " is drawn as one box.");
static const struct ta_chart_def module_host_chart =
    TREE_CHART("module-tree", "Host time by module", TREE_HOST, "Host total",
               "Time of all threads of all ranks that do more than wait, by module. The uncovered "
               "part of a module is its own time.");
static const struct ta_chart_def module_device_chart =
    TREE_CHART("module-tree-device", "Device time by module", TREE_DEVICE, "Device total",
               "Device activities of all ranks by the module that launched them. The uncovered "
               "part of a module is its own.");

static const struct ta_table_def call_tree = {
    "ops.call_tree", "Call tree", TA_COLUMNS(tree_columns),
    .doc =
        "One row per node: all calls with the same callers and the same name are one node, over "
        "all threads of the same name and all ranks. Callers come before what they call, the "
        "heaviest first. Threads contain the host spans of the trace, and runtime calls the device "
        "activities that they launched; threads that only wait are there without time; a graph "
        "launch contains all of its kernels. Activities "
        "without a known launch are in \"(no launch recorded)\".\n\nIdentities: the total of a "
        "node is its own time plus the totals of the nodes it calls; Σ `host_self_ns` is Σ "
        "`working_ns` of `ops.by_name`, Σ `device_self_ns` the sum of all device activities. So "
        "nothing counts twice, even if a function calls itself.\n\n`call_tree.nodes` nodes are "
        "kept: those with the largest parts of host or device time; the other nodes of each caller "
        "are one row \"(other)\". Each rank contributes twice as many nodes, so if ranks differ, a "
        "node may lack what some ranks had already put into \"(other)\". Charts `call-tree` and "
        "`call-tree-device`; `--format folded` writes the tree for flame graph programs."};
static const struct ta_table_def module_tree = {
    "ops.module_tree", "Modules", TA_COLUMNS(tree_columns), .tier = TA_TIER_DETAIL,
    .doc = "The call tree reduced to modules (spans `nn.Module: …`), with the same columns: what "
           "happens in a module but in no inner module is its own time. \"(outside of modules)\", "
           "kind `outside`, has the rest. Charts `module-tree` and `module-tree-device`."};

/* The first columns are the fields of the partial; one more follows. */
enum { MODULE_DEVICE_SHARE = MODULE_FIELDS };
static const struct ta_column by_module_columns[] = {
    [MODULE_CLASS] = {"module", "Module", TA_TEXT, .doc = "Class of the modules"},
    [MODULE_INSTANCES] =
        {"instances", "Instances", TA_COUNT,
         .doc = "Modules of the class that were called, on the rank that called the most"},
    [MODULE_CALLS] = {"calls", "Calls", TA_COUNT,
                      .doc = "Number of calls of these modules, all ranks"},
    [MODULE_HOST] =
        {"host_total_ns", "Host total", TA_NS, .better = TA_LOWER,
         .doc = "Host time in modules of the class; nested modules of the same class count once"},
    [MODULE_HOST_SELF] = {"host_self_ns", "Host self", TA_NS, .better = TA_LOWER,
                          .doc = "Host time in modules of the class, outside their inner modules"},
    [MODULE_DEVICE] = {"device_total_ns", "Device total", TA_NS, .better = TA_LOWER,
                       .doc = "Sum of the durations of device activities launched in modules of "
                              "the class; nested modules of the same class count once"},
    [MODULE_DEVICE_SELF] = {"device_self_ns", "Device self", TA_NS, .better = TA_LOWER,
                            .doc = "Sum of the durations of device activities launched in modules "
                                   "of the class, outside their inner modules"},
    [MODULE_DEVICE_SHARE] = {"device_share", "Device %", TA_RATIO,
                             .doc = "Device total as a share of the time of all device activities"},
};

static const struct ta_table_def by_module = {
    "ops.by_module", "Time by module class", TA_COLUMNS(by_module_columns), .tier = TA_TIER_DETAIL,
    .doc = "One row per class of modules, such as `Linear` for `nn.Module: Linear_12`, all ranks "
           "together."};

/* ---- map ------------------------------------------------------------------------------------- */

/* FNV-1a: the hash identifies the callers when ranks merge, so every machine must compute the
 * same. */
static uint64_t hash_more(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t path_of(uint64_t callers, int64_t kind, struct ta_slice name)
{
    const uint64_t ids[] = {callers, (uint64_t)kind};
    return hash_more(hash_more(UINT64_C(0xcbf29ce484222325), ids, sizeof ids), name.ptr, name.len);
}

static bool put_tree(const struct tree *tree, const struct ta_trace *trace, struct ta_partial *out)
{
    uint64_t *paths = calloc(tree->n + 1, sizeof *paths);
    for (size_t i = 1; paths && i < tree->n; i++) {
        const struct node *node = &tree->at[i];
        const struct ta_slice name = tree_name(trace, node);
        paths[i] = path_of(paths[node->parent], node->kind, name);
        int64_t *row =
            TA_PARTIAL_ROW(out, ta_key_int(node->depth), ta_key_int((int64_t)paths[node->parent]),
                           ta_key_int(node->kind), ta_key_text(name));
        ta_sum(&row[CALLS], node->calls);
        ta_sum(&row[HOST], node->host_ns);
        ta_sum(&row[DEVICE], node->device_ns);
        ta_most(&row[FOLDED], node->folded);
    }
    const bool done = paths;
    free(paths);
    return done;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const size_t kept = ta_whole_size(ta_ctx_option(ctx, NODES)) * KEPT_PER_SHOWN;
    struct tree tree = {0}, modules = {0};
    bool done = tree_grow(&tree, trace) && tree_of_modules(&tree, &modules);
    if (done && (modules.n > 2 || (modules.n == 2 && modules.at[1].kind == NODE_MODULE))) {
        done = modules_add_up(&modules, trace, out[PARTIAL_CLASSES]);
        tree_fold(&modules, kept);
        done = done && !modules.failed && put_tree(&modules, trace, out[PARTIAL_MODULES]);
    }
    if (done) {
        tree_fold(&tree, kept);
        done = !tree.failed && put_tree(&tree, trace, out[PARTIAL_CALLS]);
    }
    tree_free(&tree);
    tree_free(&modules);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot build the call tree");
}

/* ---- finish ---------------------------------------------------------------------------------- */

struct listing {
    const struct ta_partial *merged;
    const struct tree *tree;
    struct ta_table_builder *rows;
    int64_t *numbers; /* of the rows, by node */
    int64_t n;
};

static struct ta_cell host_cell(const struct listing *l, const struct node *node, int64_t ns)
{
    const bool is_host = node->kind < NODE_KERNEL || node->kind >= NODE_OUTSIDE;
    return l->tree->totals[0].host_ns > 0 && is_host ? ta_int(ns) : ta_null();
}

static struct ta_cell device_cell(const struct listing *l, int64_t ns)
{
    return l->tree->totals[0].device_ns > 0 ? ta_int(ns) : ta_null();
}

static bool list_all(struct listing *l)
{
    struct tree_links links;
    l->numbers = calloc(l->tree->n + 1, sizeof *l->numbers);
    const bool done = tree_link(l->tree, true, &links) && l->numbers;
    for (uint32_t i = done ? links.first[0] : 0; i;) {
        const struct node *node = &l->tree->at[i];
        const struct totals *totals = &l->tree->totals[i];
        const int64_t *row = ta_partial_at(l->merged, node->name);
        const struct ta_slice name =
            node->kind == NODE_OTHER ? TA_LIT("(other)") : ta_partial_text(l->merged, row, NAME);
        l->numbers[i] = ++l->n;
        ta_add_row(
            l->rows,
            (const struct ta_cell[TA_LENGTH(tree_columns)]){
                [TREE_NODE] = ta_int(l->n),
                [TREE_PARENT] = node->parent ? ta_int(l->numbers[node->parent]) : ta_null(),
                [TREE_DEPTH] = ta_int((int64_t)node->depth - 1),
                [TREE_NAME] = ta_text(name),
                [TREE_KIND] = ta_text(ta_slice_of(node_kind_name(node->kind))),
                [TREE_CALLS] = ta_int(node->calls),
                [TREE_HOST] = host_cell(l, node, totals->host_ns),
                [TREE_HOST_SELF] = host_cell(l, node, node->host_ns),
                [TREE_DEVICE] = device_cell(l, totals->device_ns),
                [TREE_DEVICE_SELF] = device_cell(l, node->device_ns),
                [TREE_FOLDED] = node->kind == NODE_OTHER ? ta_int(node->folded) : ta_null()});
        if (links.first[i]) {
            i = links.first[i];
            continue;
        }
        while (i && !links.next[i])
            i = l->tree->at[i].parent;
        i = links.next[i];
    }
    tree_links_free(&links);
    free(l->numbers);
    return done;
}

/* A table and its charts. */
struct view {
    size_t partial;
    const struct ta_table_def *table;
    const struct ta_chart_def *host, *device;
};

static bool add_tree(struct ta_ctx *ctx, const struct view *view,
                     const struct ta_partial *const *merged, struct ta_section_builder *out)
{
    const struct ta_partial *rows = merged[view->partial];
    struct tree tree = {0};
    /* The tree of all ranks; the name of a node is the number of its row. */
    struct ta_map nodes = {0}; /* by path */
    bool done = tree_start(&tree);
    for (size_t i = 0; done && i < ta_partial_rows(rows); i++) {
        const int64_t *row = ta_partial_at(rows, i);
        const uint64_t callers = (uint64_t)row[CALLERS];
        const uint64_t *parent = ta_map_find(&nodes, callers);
        const uint32_t number = tree_child(&tree, parent ? (uint32_t)*parent : 0,
                                           (enum node_kind)row[KIND], (uint32_t)i);
        struct node *node = &tree.at[number];
        node->calls = row[CALLS];
        node->host_ns = row[HOST];
        node->device_ns = row[DEVICE];
        node->folded = row[FOLDED];
        const uint64_t path = path_of(callers, row[KIND], ta_partial_text(rows, row, NAME));
        done = ta_map_at(&nodes, path, number) && !tree.failed;
    }
    ta_map_free(&nodes);
    if (done)
        tree_fold(&tree, ta_whole_size(ta_ctx_option(ctx, NODES)));
    done = done && !tree.failed;
    if (done) {
        struct listing listing = {.merged = rows, .tree = &tree, .rows = ta_rows(out, view->table)};
        done = list_all(&listing);
        if (tree.totals[0].host_ns > 0)
            ta_draw(out, view->table, view->host);
        if (tree.totals[0].device_ns > 0)
            ta_draw(out, view->table, view->device);
    }
    tree_free(&tree);
    return done;
}

static const struct view views[] = {
    {PARTIAL_CALLS, &call_tree, &host_chart, &device_chart},
    {PARTIAL_MODULES, &module_tree, &module_host_chart, &module_device_chart},
};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    bool done = add_tree(ctx, &views[0], merged, out) && add_tree(ctx, &views[1], merged, out);
    const struct ta_partial *classes = merged[PARTIAL_CLASSES];
    int64_t device_ns = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[PARTIAL_CALLS]); i++)
        device_ns = ta_add_sat(device_ns, ta_partial_at(merged[PARTIAL_CALLS], i)[DEVICE]);
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        const bool on_device = device_ns > 0;
        TA_ROW(out,
               by_module, [MODULE_CLASS] = ta_text(ta_partial_text(classes, row, MODULE_CLASS)),
               [MODULE_INSTANCES] = ta_int(row[MODULE_INSTANCES]),
               [MODULE_CALLS] = ta_int(row[MODULE_CALLS]), [MODULE_HOST] = ta_int(row[MODULE_HOST]),
               [MODULE_HOST_SELF] = ta_int(row[MODULE_HOST_SELF]),
               [MODULE_DEVICE] = on_device ? ta_int(row[MODULE_DEVICE]) : ta_null(),
               [MODULE_DEVICE_SELF] = on_device ? ta_int(row[MODULE_DEVICE_SELF]) : ta_null(),
               [MODULE_DEVICE_SHARE] = ta_share(row[MODULE_DEVICE], device_ns));
    }
    ta_order_rows(out, &by_module, &by_module_columns[device_ns > 0 ? MODULE_DEVICE : MODULE_HOST],
                  TA_DESCENDING);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot lay out the call tree");
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {
    {PARTIAL_CALLS, KIND, NODE_KINDS}, {PARTIAL_MODULES, KIND, NODE_KINDS}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&call_tree, &module_tree, &by_module, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "call_tree",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, call_tree, &ops, .title = "Call tree",
    .summary = "Time by call path and by module: ops.call_tree, ops.module_tree, ops.by_module",
    .version = "1", .options = options);
