/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rule speaks of the time before the first work of a device: each piece has one finding. */
#ifndef TA_LIB_EDGES_H
#define TA_LIB_EDGES_H

#include <traceanalyze/rule.h>

/* Whether the host computes for so much of the time before the first work that all of it is one
 * phase: Python that calls what computes, and hands its results on. */
static inline bool ta_edge_computes(double computing_ns, double before_ns)
{
    return computing_ns >= 0.4 * before_ns;
}

/* Whether the model is loaded at a place, not the data. */
static inline bool ta_edge_loads_weights(const char *place)
{
    static const char *const words[] = {"safetensors",     "torch/serialization.py",
                                        "load_state_dict", "from_pretrained",
                                        "load_checkpoint", NULL};
    return ta_slice_has_any(ta_slice_of(place), words);
}

#endif
