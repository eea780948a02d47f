/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of replayed graphs get the operators that launched them when the graph was captured.
 *
 *   replay_kinds.c     lists the replays, and which of them are of one graph;
 *   replay_captures.c  finds the capture of each graph, with
 *   replay_nodes.c     which pairs kernels and nodes, and
 *   capture_likeness.c which says whether captures differ;
 *   replay_parts.c     does that for replays of which only a part was recorded;
 *   replay_rows.c      adds operators, modules and ranges of the captures to the trace;
 *   replay_marks.c     makes operators of marks where no capture is known. */
#include "normalize/replays.h"

#include "base/path.h"
#include "model/traits.h"
#include "normalize/normalize.h"

#include <stdlib.h>

/* ---- captures, the nearest first ------------------------------------------------------------- */

/* What of a trace is compared with captures. */
struct origin {
    const char *path; /* NULL: of no file among others */
    int64_t process, rank;
};

/* 2: the same; 1: not known of one; 0: another. */
static uint64_t sameness(int64_t a, int64_t b)
{
    return a == TA_MISSING || b == TA_MISSING ? 1 : a == b ? 2 : 0;
}

/* Numbers of processes and ranks repeat from run to run, and containers often have the same ones:
 * the process comes before the folder, and the rank after it. */
static uint64_t nearness(const struct origin *origin, const struct ta_captures *captures,
                         const char *path)
{
    const uint64_t common = origin->path && path ? ta_path_common(origin->path, path) : 0;
    return sameness(origin->process, captures->process) << 34 |
           (common < UINT32_MAX ? common : UINT32_MAX) << 2 |
           sameness(origin->rank, captures->rank);
}

static bool list_captures(struct mapping *m, const struct origin *origin,
                          const struct ta_captures *captures)
{
    for (size_t i = 0; i < captures->graphs.n; i++) {
        const struct capture *graph = &captures->graphs.at[i];
        const char *path = graph->file ? graph->file : origin->path; /* of the trace itself */
        const struct near_graph near = {graph, nearness(origin, captures, path)};
        if (!ta_vec_push(&m->graphs, near))
            return false;
    }
    return true;
}

/* Captures of one file stay in their order. */
static int by_nearness(const void *left, const void *right)
{
    const struct near_graph *a = left, *b = right;
    if (a->nearness != b->nearness)
        return a->nearness > b->nearness ? -1 : 1;
    const int order =
        strcmp(a->graph->file ? a->graph->file : "", b->graph->file ? b->graph->file : "");
    return order ? order : a->graph < b->graph ? -1 : a->graph > b->graph;
}

static bool list_all_captures(struct mapping *m, const struct ta_builder *builder,
                              const struct ta_captures *own)
{
    struct origin origin = {builder->path, own->process, builder->rank};
    if (origin.path && origin.rank == TA_MISSING)
        origin.rank = builder->path_rank;
    bool done = list_captures(m, &origin, own);
    for (size_t i = 0; builder->captures && i < builder->captures->n; i++)
        done = done && list_captures(m, &origin, builder->captures->at[i]);
    if (m->graphs.n)
        qsort(m->graphs.at, m->graphs.n, sizeof *m->graphs.at, by_nearness);
    return done;
}

/* ---- what is told of graphs ------------------------------------------------------------------ */

static struct ta_replayed describe_graph(struct ta_trace *trace, const struct replay_kind *kind)
{
    struct ta_replayed graph = {.nodes = (int64_t)kind->n, .reason = kind->reason};
    if (!kind->capture)
        return graph;
    const char *name = ta_arena_copy(&trace->arena, kind->capture->name);
    graph.nodes = (int64_t)kind->capture->nodes.n;
    graph.name = (struct ta_slice){name ? name : "", name ? kind->capture->name.len : 0};
    graph.file =
        ta_arena_copy(&trace->arena, ta_slice_of(kind->capture->file ? kind->capture->file : ""));
    graph.shapes = kind->shapes;
    return graph;
}

static bool tell(struct mapping *m)
{
    struct ta_trace *trace = m->trace;
    for (size_t r = 0; r < m->replays.n; r++) {
        const struct replay *replay = &m->replays.at[r];
        struct replay_kind *kind = &m->kinds.at[replay->kind];
        if (kind->told == 0) {
            if (!ta_vec_push(&trace->replayed, describe_graph(trace, kind)))
                return false;
            kind->told = trace->replayed.n;
        }
        struct ta_replayed *graph = &trace->replayed.at[kind->told - 1];
        graph->replays++;
        for (size_t i = 0; i < replay->n; i++) {
            const struct ta_activity *a = activity_at(m, replay->first + i);
            const bool is_kernel = a->kernel != TA_NO_KERNEL;
            graph->kernels += is_kernel;
            graph->mapped += is_kernel && kind->capture && kind->nodes[i] != NO_NODE;
            graph->device_ns = ta_add_sat(graph->device_ns, trace->spans.dur[a->span]);
        }
    }
    return !trace->arena.failed;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static ta_cat annotation_of(const struct ta_trace *trace)
{
    for (size_t i = 0; i < trace->categories.n; i++)
        if (trace->categories.at[i].name != TA_STR_ABSENT &&
            ta_slice_equal(ta_trace_text(trace, trace->categories.at[i].name),
                           TA_LIT("user_annotation")))
            return (ta_cat)i;
    return UINT16_MAX;
}

static void free_mapping(struct mapping *m)
{
    for (size_t k = 0; k < m->kinds.n; k++)
        free(m->kinds.at[k].nodes);
    for (size_t i = 0; i < m->reduced.n; i++) {
        free(m->reduced.at[i]->rows.at);
        free(m->reduced.at[i]->nodes.at);
        free(m->reduced.at[i]);
    }
    free(m->kinds.at);
    free(m->reduced.at);
    free(m->replays.at);
    free(m->order.at);
    free(m->graphs.at);
}

bool ta_map_replays(const struct ta_builder *builder, const struct ta_captures *own)
{
    struct ta_trace *trace = builder->trace;
    struct mapping m = {.trace = trace,
                        .grid = ta_trace_arg_column(trace, "grid"),
                        .block = ta_trace_arg_column(trace, "block"),
                        .node_id = ta_trace_arg_column(trace, "graph node id"),
                        .stream = ta_trace_arg_column(trace, "original_stream"),
                        .annotation = annotation_of(trace)};
    bool done = list_all_captures(&m, builder, own);
    if (done && m.graphs.n)
        done = find_replays(&m) && find_captures_of_replays(&m) && find_parts(&m) &&
               add_captured_rows(&m) && tell(&m);
    done = done && add_marks(&m) && !m.failed;
    free_mapping(&m);
    return done;
}
