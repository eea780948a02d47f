/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call trees: all calls that have the same callers are one node.  Node 0 is the root; a parent
 * comes before its children, so that one forward pass hands something down and one backward pass
 * adds it up. */
#ifndef CALL_TREE_TREE_H
#define CALL_TREE_TREE_H

#include <traceanalyze/analysis.h>

/* What a node is.  The order is not visible in any output. */
enum node_kind {
    NODE_ROOT,
    NODE_THREAD,
    NODE_PYTHON,
    NODE_MODULE,
    NODE_ANNOTATION,
    NODE_OPERATOR,
    NODE_CALL, /* of the runtime or driver */
    NODE_HOST, /* any other host span */
    NODE_KERNEL,
    NODE_COPY,
    NODE_SET,
    NODE_UNLINKED, /* activities without a known launch */
    NODE_OUTSIDE,  /* in a tree of modules: time in no module */
    NODE_OTHER,    /* the smallest subtrees of its parent; has no children */
    NODE_KINDS
};

/* The word of a kind in tables: "python", "operator"; a constant. */
const char *node_kind_name(enum node_kind kind);

/* For an activity, host_ns is 0 and device_ns its duration.  Small, because growing a tree
 * visits one node per span. */
struct node {
    uint32_t parent;
    uint32_t name; /* a number for the name, chosen by the code that grows the tree */
    uint32_t next; /* its successor the last time, a guess for the next time */
    enum node_kind kind : 8;
    uint32_t depth : 24; /* 0 for the root */
    int64_t calls;
    int64_t host_ns, device_ns; /* without the children */
    int64_t folded;             /* for an "other", the number of nodes in it */
};

/* Times of a node with its children. */
struct totals {
    int64_t host_ns, device_ns;
};

/* Zero-initialize, free with tree_free(). */
struct tree {
    struct node *at;
    struct totals *totals; /* of each node, once added up */
    size_t n, max;
    struct ta_map children; /* node number by parent, name and kind */
    bool failed;            /* out of memory: it is incomplete */
};

/* Maximum number of nodes; beyond, all new children of a node are one "other". */
enum { TREE_MOST = 1 << 20 };

/* Makes the root of an empty tree. */
bool tree_start(struct tree *tree);
void tree_free(struct tree *tree);

/* The child of a node, added when it is new; 0 when memory ran out. */
uint32_t tree_child(struct tree *tree, uint32_t parent, enum node_kind kind, uint32_t name);

/* Computes the totals from the nodes' own times; without memory the tree has failed. */
void tree_add_up(struct tree *tree);

/* Keeps the `most` nodes with the largest shares of host or device time, and joins the other
 * children of each node into one.  All sums stay.  The tree must be added up. */
void tree_fold(struct tree *tree, size_t most);

/* Links to walk a tree, callers before callees: first child and next sibling of each node, 0 for
 * none. */
struct tree_links {
    uint32_t *first, *next;
};

/* Siblings are in the order in which they were added, or the heaviest first and an "other" last.
 * False when memory ran out; free both with tree_links_free() in any case. */
bool tree_link(const struct tree *tree, bool heaviest_first, struct tree_links *links);
void tree_links_free(struct tree_links *links);

/* ---- from a trace (grow.c) ------------------------------------------------------------------- */

/* Adds the host spans of a trace, with its activities below their launches.  Names of nodes are
 * strings of the trace. */
bool tree_grow(struct tree *tree, const struct ta_trace *trace);

/* The name of a node in a table: steps without number, threads and objects without id. */
struct ta_slice tree_name(const struct ta_trace *trace, const struct node *node);

/* ---- modules (modules.c) --------------------------------------------------------------------- */

/* The same tree reduced to modules: what happens in a module but in no inner one is its own. */
bool tree_of_modules(const struct tree *tree, struct tree *modules);

/* Sums by class of modules ("Linear" of "nn.Module: Linear_12") into a partial. */
enum {
    MODULE_CLASS,
    MODULE_INSTANCES,
    MODULE_CALLS,
    MODULE_HOST,
    MODULE_HOST_SELF,
    MODULE_DEVICE,
    MODULE_DEVICE_SELF,
    MODULE_FIELDS
};
bool modules_add_up(const struct tree *modules, const struct ta_trace *trace,
                    struct ta_partial *out);

#endif
