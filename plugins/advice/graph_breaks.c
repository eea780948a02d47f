/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled code in many pieces: between them the host runs guards, bytecode and operators of its
 * own, while the device has nothing to do.  A model whose blocks are compiled one by one calls one
 * function many times, which is no break. */
#include "lib/pieces.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD, PIECES };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in which the GPU is idle between compiled graphs, from which "
                   "the rule fires"},
    [PIECES] = {"pieces", TA_OPTION_NUMBER, PIECES_LEAST, 2, 1e6, TA_OPTION_PLAIN,
                "Calls of compiled code in a step from which they count as pieces of one function"},
    TA_OPTIONS_END,
};

enum {
    COMPILED,
    RANK = COMPILED + PIECES_RANK,
    CALLS = COMPILED + PIECES_CALLS,
    PER_STEP = COMPILED + PIECES_PER_STEP,
    IDLE = COMPILED + PIECES_IDLE,
    LOOKUP = COMPILED + PIECES_READ,
    BETWEEN,
    WINDOW,
    OP,
    OP_CALLS,
    OP_TIME
};

static const struct ta_ref reads[] = {
    PIECES_READS(COMPILED),
    [LOOKUP] = {"compile.by_rank", "lookup_ns"},
    [BETWEEN] = {"compile.by_rank", "between_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [OP] = {"compile.between", "op"},
    [OP_CALLS] = {"compile.between", "calls"},
    [OP_TIME] = {"compile.between", "total_ns"},
};

/* "5 pieces per step", "120 pieces". */
static const char *pieces_of(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const double per_step = ta_ref_number(in, PER_STEP, row, 0);
    return per_step >= 1.5
               ? ta_advice_printf(advice, "%s pieces per step",
                                  ta_advice_number(advice, round(per_step), TA_UNIT_COUNT))
               : ta_advice_printf(
                     advice, "%s pieces",
                     ta_advice_number(advice, ta_ref_number(in, CALLS, row, 0), TA_UNIT_COUNT));
}

static const char *why(const struct ta_refs *in, struct ta_advice *advice, size_t row,
                       const struct ta_place *idle)
{
    static const struct ta_look look = {.cells = OP_TIME};
    const double lookup = ta_ref_number(in, LOOKUP, row, 0);
    struct ta_place op;
    const char *checks = lookup > 0.1 * idle->value
                             ? ta_advice_printf(advice, "Guards are checked for %s%s",
                                                ta_advice_number(advice, lookup, TA_UNIT_NS),
                                                ta_ref_rows(in, OP) ? "; " : ".")
                             : "";
    if (!ta_look_worst(in, &look, &op))
        return *checks ? checks : NULL;
    return ta_advice_printf(
        advice, "%s%s between the graphs %s: %s in %s %s.", checks,
        ta_place_text(advice, in, &op, OP),
        *checks ? "takes most of the rest" : "takes most of the host's time",
        ta_advice_number(advice, op.value, TA_UNIT_NS),
        ta_advice_number(advice, ta_ref_number(in, OP_CALLS, op.row, 0), TA_UNIT_COUNT),
        ta_ref_number(in, OP_CALLS, op.row, 0) == 1 ? "call" : "calls");
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place worst = {.table = NULL};
    double most = threshold;
    for (size_t row = 0; row < ta_ref_rows(in, IDLE); row++) {
        const struct ta_place idle = ta_place_at(in, IDLE, row);
        const double window = ta_look_most(in, &windows, ta_ref_integer(in, RANK, row));
        if (!idle.table || !ta_is_in_pieces(in, COMPILED, row, ta_ctx_option(ctx, PIECES)) ||
            window <= 0 || idle.value / window <= most)
            continue;
        most = idle.value / window;
        worst = idle;
    }
    if (!worst.table)
        return TA_OK;
    const struct ta_place between = ta_place_beside(in, &worst, BETWEEN);
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&between)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "compiled-pieces",
            .rule = "graph_breaks",
            .title = ta_advice_printf(
                advice,
                "Graph breaks split the compiled code into %s%s: the GPU is idle between them "
                "for %s of the run (%s)",
                pieces_of(in, advice, worst.row), ta_place_owner(advice, in->report, &worst),
                ta_advice_number(advice, most, TA_UNIT_RATIO),
                ta_advice_number(advice, worst.value, TA_UNIT_NS)),
            .why = why(in, advice, worst.row, &worst),
            .advice = "TORCH_LOGS=graph_breaks names each line that breaks the graph, and "
                      "torch.compile(fullgraph=True) makes it an error: change these lines (no "
                      ".item(), printing or branches on values of tensors) or move them out.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(0.75 * worst.value),
            .saving_high_ns = ta_whole(fmin(1.7 * worst.value, between.value + worst.value)),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "idle between compiled graphs > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, graph_breaks, &ops, .title = "Graph breaks",
          .summary = "Fires when the GPU is idle between the pieces of compiled code",
          .version = "1", .options = options);
