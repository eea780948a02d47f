/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launches.replays: the graphs that were replayed, and the captures with the operators that
 * launched their kernels. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

enum { RANK, GRAPH, NODES, CAPTURE, REASON, REPLAYS, KERNELS, MAPPED, DEVICE, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},       [GRAPH] = {"graph", TA_FIELD_TEXT},
    [NODES] = {"nodes", TA_FIELD_INT},      [CAPTURE] = {"capture", TA_FIELD_TEXT},
    [REASON] = {"reason", TA_FIELD_TEXT},   [REPLAYS] = {"replays", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},  [MAPPED] = {"mapped", TA_FIELD_SUM},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"graphs", fields, FIELDS}, {0}};

enum {
    REPLAYS_RANK,
    REPLAYS_GRAPH,
    REPLAYS_NODES,
    REPLAYS_REPLAYS,
    REPLAYS_KERNELS,
    REPLAYS_DEVICE,
    REPLAYS_CAPTURE,
    REPLAYS_MAPPED,
    REPLAYS_NOTE
};
static const struct ta_column replays_columns[] = {
    [REPLAYS_RANK] = TA_RANK_COLUMN,
    [REPLAYS_GRAPH] = {"graph", "Graph", TA_TEXT,
                       .doc = "Range of the program around the capture; empty if there is none"},
    [REPLAYS_NODES] = {"nodes", "Nodes", TA_COUNT,
                       .doc = "Kernels, copies and memory sets per replay"},
    [REPLAYS_REPLAYS] = {"replays", "Replays", TA_COUNT, .doc = "Launches of the graph"},
    [REPLAYS_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels in all replays"},
    [REPLAYS_DEVICE] = {"device_ns", "Device time", TA_NS,
                        .doc = "Sum of the durations of all activities in the replays"},
    [REPLAYS_CAPTURE] = {"capture", "Capture", TA_TEXT,
                         .doc = "File in which the graph was captured: the trace itself, or a map"},
    [REPLAYS_MAPPED] = {"mapped_kernels", "With operator", TA_COUNT, .better = TA_HIGHER,
                        .doc = "Kernels whose operator is known from the capture"},
    [REPLAYS_NOTE] = {"note", "Note", TA_TEXT,
                      .doc = "Why the capture is unknown or incomplete, or that only part of the "
                             "kernels was recorded"},
};

static const struct ta_table_def replays = {
    "launches.replays", "Replayed graphs", TA_COLUMNS(replays_columns),
    .doc =
        "One row per rank and replayed graph, if captures are known: from the trace itself or from "
        "a map. A capture has the operators, modules, ranges and shapes around each launch; the "
        "kernels of its replays get them, in `ops.device_time`, `ops.by_shape`, `ops.by_module`, "
        "`kernels.by_op`, `kernels.by_phase`, `roofline.by_op` and everywhere else that work is "
        "grouped by operator. Host times and calls stay as recorded.\n\nA graph is matched with "
        "the capture that has the same number of nodes of the same kinds in the same order, and of "
        "the same names if calls name their kernels. If several match, the nearest run decides: "
        "same process, then folder, then rank. If several of one run match, it is the one whose "
        "range has a number of the ranges around the launch (`capture_8`, `step[DECODE bs=8]`), "
        "otherwise the one at the same position by size. If still undecided but with the same "
        "operators, shapes that differ are left out.\n\nKernels of parallel branches have no order "
        "if nodes have no numbers. Kernels with the same name get the operator, module and shapes "
        "that all nodes of that name share. For a partially recorded replay, the numbers of nodes, "
        "or the order of a completely recorded replay, show which part it is.\n\nKernels of graphs "
        "that the program marked (`torch.cuda.graph_annotations`) get the mark as their operator "
        "if no capture is known.",
    .order = {&replays_columns[REPLAYS_DEVICE], TA_DESCENDING}};

static const struct ta_scalar_def mapped_share = {
    "replays_mapped_share", "Replayed kernels with operator", TA_UNIT_RATIO, TA_HIGHER,
    .doc = "Kernels of replayed graphs whose operator is known from a capture, divided by all "
           "kernels of replayed graphs; empty without captures"};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_replayed_graphs graphs = ta_trace_replayed(trace);
    for (size_t i = 0; i < graphs.n; i++) {
        const struct ta_replayed *graph = &graphs.at[i];
        const char *own = ta_trace_file(trace).path;
        const char *file = !graph->file ? "" : *graph->file ? graph->file : own ? own : "";
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_key_text(graph->name),
                           ta_key_int(graph->nodes), ta_key_text(ta_slice_of(file)),
                           ta_key_text(ta_slice_of(graph->reason ? graph->reason : "")));
        ta_sum(&row[REPLAYS], graph->replays);
        ta_sum(&row[KERNELS], graph->kernels);
        ta_sum(&row[MAPPED], graph->mapped);
        ta_sum(&row[DEVICE], graph->device_ns);
    }
    return TA_OK;
}

static struct ta_cell text_or_null(struct ta_slice text)
{
    return text.len ? ta_text(text) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0, mapped = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        all = ta_add_sat(all, row[KERNELS]);
        mapped = ta_add_sat(mapped, row[MAPPED]);
        TA_ROW(out, replays, [REPLAYS_RANK] = ta_int(row[RANK]),
               [REPLAYS_GRAPH] = text_or_null(ta_partial_text(merged[0], row, GRAPH)),
               [REPLAYS_NODES] = ta_int(row[NODES]), [REPLAYS_REPLAYS] = ta_int(row[REPLAYS]),
               [REPLAYS_KERNELS] = ta_int(row[KERNELS]), [REPLAYS_DEVICE] = ta_int(row[DEVICE]),
               [REPLAYS_CAPTURE] = text_or_null(ta_partial_text(merged[0], row, CAPTURE)),
               [REPLAYS_MAPPED] = ta_int(row[MAPPED]),
               [REPLAYS_NOTE] = text_or_null(ta_partial_text(merged[0], row, REASON)));
    }
    if (all)
        ta_set_scalar(out, &mapped_share, ta_share(mapped, all));
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&replays, NULL};

/* The names that programs mark the kernels of their graphs with; normalizing makes operators of
 * them. */
static const char *const args[] = {"name", NULL};

static const struct ta_analysis_ops ops = {.needs_args = args,
                                           .section = "launches",
                                           .place = 2,
                                           .scalars = &mapped_share,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, replays, &ops, .title = "Replayed graphs",
          .summary = "Operators of replayed graphs, from their captures: launches.replays",
          .version = "1");
