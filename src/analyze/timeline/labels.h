/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The labels of one trace while it is packed: what its slices are called, once each. */
#ifndef TA_TIMELINE_LABELS_H
#define TA_TIMELINE_LABELS_H

#include "analyze/timeline/timeline.h"
#include "base/vec.h"
#include "traceanalyze/base.h"

struct trace_label {
    ta_str name, shapes;
    uint32_t args; /* number of a set of arguments; 0: none */
    ta_cat cat;
};

/* An argument of spans that are read by row. */
struct arg_cursor {
    struct ta_args args;
    size_t at; /* place in args of the span at hand */
};

/* Whether a span has the argument. */
static inline bool arg_is_at(struct arg_cursor *cursor, ta_row row)
{
    while (cursor->at < cursor->args.n && cursor->args.row[cursor->at] < row)
        cursor->at++;
    return cursor->at < cursor->args.n && cursor->args.row[cursor->at] == row;
}

/* Arguments of a slice; a text is an id of the trace. */
struct ta_arg_set {
    int64_t value[TA_TIMELINE_ARGS];
    enum { ARG_NONE, ARG_NUMBER, ARG_TEXT } kind[TA_TIMELINE_ARGS];
};

struct ta_labels {
    const struct ta_trace *trace;
    TA_VEC(struct trace_label) list;
    uint32_t *latest;     /* by name: one more than the label it had last; 0: none yet */
    struct ta_map pairs;  /* name and category → number of the pair */
    struct ta_map shaped; /* pair and shapes → number of both */
    struct ta_map at;     /* that and arguments → label */
    struct arg_cursor args[TA_TIMELINE_ARGS];
    TA_VEC(struct ta_arg_set) sets; /* number 1 comes first */
    struct ta_map grown;            /* set, argument and value → the set with it */
    struct ta_map values[2];        /* numbers; texts → their numbers */
    bool failed;
};

bool ta_labels_init(struct ta_labels *labels, const struct ta_trace *trace);
void ta_labels_free(struct ta_labels *labels);

uint32_t ta_labels_find(struct ta_labels *labels, struct trace_label wanted);

/* A set of arguments with one more; sets are numbered once. */
uint32_t ta_labels_grow(struct ta_labels *labels, uint32_t set, int arg);

/* The arguments of a span; spans come by row. */
static inline uint32_t ta_labels_args(struct ta_labels *labels, ta_row row)
{
    uint32_t set = 0;
    for (int i = 0; i < TA_TIMELINE_ARGS; i++)
        if (arg_is_at(&labels->args[i], row))
            set = ta_labels_grow(labels, set, i);
    return set;
}

/* The label of a slice; most slices have the label that their name had before. */
static inline uint32_t ta_labels_of(struct ta_labels *labels, ta_str name, ta_cat cat,
                                    ta_str shapes, uint32_t args)
{
    const uint32_t latest = labels->latest[name];
    if (latest) {
        const struct trace_label *label = &labels->list.at[latest - 1];
        if (label->cat == cat && label->shapes == shapes && label->args == args)
            return latest - 1;
    }
    return ta_labels_find(labels, (struct trace_label){name, shapes, args, cat});
}

/* Puts a text into the pool, cut where it is long; false without memory. */
bool ta_labels_intern(struct ta_timeline_pool *pool, struct ta_slice text, ta_str *id);

/* One more label of a part whose labels are settled; false without memory. */
bool ta_labels_add(struct ta_timeline_part *part, struct ta_part_label label);

/* Puts the texts into the pool and the labels into the part; false without memory. */
bool ta_labels_settle(struct ta_labels *labels, struct ta_timeline_pool *pool,
                      struct ta_timeline_part *part);

#endif
