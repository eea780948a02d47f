/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which operator of the backward pass belongs to which of the forward pass. */
#ifndef TA_MODEL_BACKWARD_H
#define TA_MODEL_BACKWARD_H

#include "traceanalyze/model.h"

/* Two operators, by their rows: torch draws an arrow (a flow named "fwdbwd") from the start of the
 * one to the start of the other. */
struct ta_backward_link {
    ta_row forward, backward;
    ta_row node; /* the function around `backward` that evaluates it and adds its gradients up; else
                    `backward` itself */
};

#define TA_NODE_START "autograd::engine::evaluate_function: "

/* Whether an operator evaluates a node of the backward pass: what follows is the node's name. */
static inline bool ta_is_backward_node(struct ta_slice name)
{
    const size_t n = sizeof TA_NODE_START - 1;
    return name.len > n && ta_slice_starts(name, TA_NODE_START);
}

/* Whether a flow is such an arrow, by its name. */
static inline bool ta_is_backward_flow(struct ta_slice name)
{
    return ta_slice_equal(name, TA_LIT("fwdbwd"));
}

struct ta_backward_links {
    size_t n;
    const struct ta_backward_link *at; /* in the order in which the file ends the arrows */
    size_t n_loose;                    /* arrows without an operator at one of their ends */
};

/* Of a frozen trace, whose analyses have set TA_NEED_BACKWARD or TA_NEED_FLOWS; found once and kept
 * with it; from any thread.  NULL without memory. */
const struct ta_backward_links *ta_trace_backward(const struct ta_trace *trace);

#endif
