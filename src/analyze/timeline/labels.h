/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The labels of one trace while it is packed: what its slices are called, once each. */
#ifndef TA_TIMELINE_LABELS_H
#define TA_TIMELINE_LABELS_H

#include "analyze/timeline/timeline.h"
#include "base/vec.h"
#include "traceanalyze/base.h"

struct trace_label {
    ta_str name, shapes;
    ta_cat cat;
};

struct ta_labels {
    const struct ta_trace *trace;
    TA_VEC(struct trace_label) list;
    uint32_t *latest;    /* by name: one more than the label it had last; 0: none yet */
    struct ta_map pairs; /* name and category → number of the pair */
    struct ta_map at;    /* pair and shapes → label */
    bool failed;
};

bool ta_labels_init(struct ta_labels *labels, const struct ta_trace *trace);
void ta_labels_free(struct ta_labels *labels);

uint32_t ta_labels_find(struct ta_labels *labels, struct trace_label wanted);

/* The label of a slice; most slices have the label that their name had before. */
static inline uint32_t ta_labels_of(struct ta_labels *labels, ta_str name, ta_cat cat,
                                    ta_str shapes)
{
    const uint32_t latest = labels->latest[name];
    if (latest) {
        const struct trace_label *label = &labels->list.at[latest - 1];
        if (label->cat == cat && label->shapes == shapes)
            return latest - 1;
    }
    return ta_labels_find(labels, (struct trace_label){name, shapes, cat});
}

/* Puts a text into the pool, cut where it is long; false without memory. */
bool ta_labels_intern(struct ta_timeline_pool *pool, struct ta_slice text, ta_str *id);

/* One more label of a part whose labels are settled; false without memory. */
bool ta_labels_add(struct ta_timeline_part *part, struct ta_part_label label);

/* Puts the texts into the pool and the labels into the part; false without memory. */
bool ta_labels_settle(struct ta_labels *labels, struct ta_timeline_pool *pool,
                      struct ta_timeline_part *part);

#endif
