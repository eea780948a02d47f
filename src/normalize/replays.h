/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that map replays share: the replays of a trace, and what is known of their graphs.
 *
 * The order in which things are done, and why, is in replays.c. */
#ifndef TA_NORMALIZE_REPLAYS_H
#define TA_NORMALIZE_REPLAYS_H

#include "model/builder.h"
#include "model/capture.h"

/* In place of a node: it is not known which one ran. */
#define NO_NODE UINT32_MAX

/* Replays with the same kernels, as far as names and shapes of launches go: of one graph. */
struct replay_kind {
    size_t first, n;   /* what the first of them ran: places in the order of the mapping */
    size_t replays;    /* how many there are, */
    size_t at_edges;   /* and how many of these are the first or the last one of the trace */
    uint64_t elements; /* a hash of its kernels in any order */
    bool branches;     /* its kernels run side by side, or on several streams */
    bool numbered;     /* its nodes have numbers, which tell their order */
    double size;       /* threads of all kernels */
    const struct capture *capture; /* of its graph; NULL: not known */
    uint32_t *nodes;               /* of the capture, in the order of the replay, or NO_NODE */
    bool shapes;                   /* the capture has its shapes, not only its operators */
    bool is_part;                  /* of its kernels only a part was recorded */
    const char *reason;            /* why not all is known; a constant */
    size_t told;                   /* place among what is told of graphs, from 1 */
};

/* One replay. */
struct replay {
    size_t first, n;
    uint32_t kind;
};

/* A captured graph, and how near the run is in which it was captured. */
struct near_graph {
    const struct capture *graph;
    uint64_t nearness;
};

struct mapping {
    struct ta_trace *trace;
    TA_VEC(struct near_graph) graphs; /* that were captured, the nearest first */
    const struct arg_column *grid, *block, *node_id, *stream;
    TA_VEC(size_t) order; /* activities of graph launches, replay by replay */
    TA_VEC(struct replay) replays;
    TA_VEC(struct replay_kind) kinds;
    TA_VEC(struct capture *) reduced; /* copies of captures that hold less */
    ta_cat annotation;
    bool failed;
};

static inline const struct ta_activity *activity_at(const struct mapping *m, size_t place)
{
    return &m->trace->activities.at[m->order.at[place]];
}

static inline ta_str kernel_name_at(const struct mapping *m, size_t place)
{
    return m->trace->spans.name[activity_at(m, place)->span];
}

/* The value of an argument of a span, 0 without one. */
int64_t replay_arg(const struct arg_column *column, ta_row row);
/* The product of the numbers in a text such as "[8, 48, 1]". */
double product_of_numbers(struct ta_slice text);
/* Whether a call launches a graph. */
bool is_graph_launch(struct ta_slice name);

/* Lists the replays of the trace, and what kinds there are of them (replay_kinds.c). */
bool find_replays(struct mapping *m);

/* Whether two activities are launches of the same kernel, as far as the trace says. */
bool is_same_launch(const struct mapping *m, size_t place, size_t other);

/* ---- which node of a capture is which kernel (replay_nodes.c) ---------------------------------
 */

/* Whether node `node` may be what ran at `place`. */
bool node_fits(const struct mapping *m, size_t place, const struct capture_node *node);
/* Whether the calls of a capture name all their kernels. */
bool names_all_kernels(const struct capture *capture);
/* Whether most products were launched by operators that have one: graphs with as many nodes by
 * chance have not. */
bool is_likely(const struct mapping *m, const struct replay_kind *kind,
               const struct capture *capture, const uint32_t *nodes);
/* Pairs all of a replay with all nodes of a capture; false when the capture is of another graph.
 * Where there is no order it is by name (settle_names()). */
bool pair_whole(struct mapping *m, const struct replay_kind *kind, const struct capture *capture,
                uint32_t *nodes);
/* Pairs kernels with nodes of their name, the first with the first; false when one has none. */
bool pair_by_name(struct mapping *m, const struct replay_kind *kind, const struct capture *capture,
                  uint32_t *nodes);
/* Of nodes that were paired by name, and have no order, keeps what is true of all of the name. */
bool settle_names(struct mapping *m, struct replay_kind *kind);
/* Whether a kind was paired by name. */
bool has_no_order(const struct replay_kind *kind);

/* ---- which capture (replay_captures.c) ---------------------------------------------------------
 */

enum { CHOICES_MOST = 64 };

/* Captures of which one is to be chosen. */
struct choice {
    const struct capture *of[CHOICES_MOST];
    size_t n;
};

/* Leaves those whose name has a number that the ranges around the launch have, among numbers that
 * not all of them share; all of them when that is of none. */
void narrow_by_numbers(const struct mapping *m, const struct replay_kind *kind,
                       struct choice *choice);
/* Finds the captures of graphs whose kernels were recorded whole. */
bool find_captures_of_replays(struct mapping *m);

/* ---- replays of which a part was recorded (replay_parts.c) --------------------------------------
 */

bool find_parts(struct mapping *m);

/* ---- what captures have in common (capture_likeness.c) ------------------------------------------
 */

enum likeness { UNLIKE, SAME_OPERATORS, ALIKE };

/* Compares what is around two nodes: operators and, where both captures have them, modules, ranges
 * and arguments. */
enum likeness compare_nodes(const struct capture *a, uint32_t node, const struct capture *b,
                            uint32_t other);
/* The least likeness of the nodes of two captures, one by one. */
enum likeness compare_captures(const struct capture *a, const struct capture *b);
/* Whether two rows have the same texts for arguments. */
bool has_same_args(const struct capture *a, const struct capture_row *row, const struct capture *b,
                   const struct capture_row *other);

/* ---- operators for kernels (replay_rows.c, replay_marks.c) --------------------------------------
 */

/* Puts the rows of each capture after the spans of the trace, once for each replay. */
bool add_captured_rows(struct mapping *m);
/* Where no capture is known, the marks of the program become operators. */
bool add_marks(struct mapping *m);

/* What texts and categories of captures are in the trace. */
struct adding {
    struct mapping *m;
    struct ta_map texts; /* by address */
    struct ta_map cats;  /* by class and text of the category */
    uint32_t track;
};

/* Makes room for so many spans in all; false without memory. */
bool make_room_for_rows(struct ta_trace *trace, size_t n);
/* Adds row `from` of a capture, whose first row is row `first` of the trace. */
void add_row_of_capture(struct adding *adding, const struct capture_row *from, ta_row first,
                        ta_row launch);
/* Once all rows were added; frees what is in `adding`. */
bool close_added_rows(struct adding *adding);

#endif
