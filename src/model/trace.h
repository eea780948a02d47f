/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a trace: columns that the builder fills, normalize/ orders and links, and trace.c
 * shows as views. */
#ifndef TA_MODEL_TRACE_H
#define TA_MODEL_TRACE_H

#include "base/store.h"
#include "model/arg_column.h"
#include "model/counter_list.h"
#include "model/damage.h"
#include "model/dump.h"
#include "model/fact.h"
#include "model/strings.h"
#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

/* No span is longer: 2^56 ns are 2.3 years.  Longer ones come from unset or wrapped end times;
 * with the bound no sum of a start and a duration can overflow. */
#define TA_SPAN_LONGEST (INT64_C(1) << 56)
/* Start times lie within these bounds (the years 1826 to 2113), so that ends lie within ± 2^62 ns
 * and the difference of any two times fits int64. */
#define TA_TS_LARGEST ((INT64_C(1) << 62) - TA_SPAN_LONGEST)

struct span_columns {
    size_t n, max;
    int64_t *ts, *dur, *self;
    ta_str *name;
    ta_cat *cat;
    uint32_t *track;
    ta_row *parent;
    uint16_t *depth;
    uint8_t *work;
};

struct counter_columns {
    size_t n, max;
    int64_t *ts;
    double *value;
    uint32_t *place; /* of the series, until samples of one stand together */
    struct counter_list series;
};

struct instant_columns {
    size_t n, max;
    int64_t *ts;
    ta_str *name;
    ta_cat *cat;
    uint32_t *track;
};

struct flow_columns {
    size_t n, max;
    int64_t *ts;
    ta_str *name, *id;
    uint32_t *track;
    char *phase;
};

struct async_columns {
    size_t n, max;
    int64_t *ts, *dur;
    ta_str *name, *id;
    ta_cat *cat;
};

struct ta_trace {
    struct ta_store store; /* of all columns, and of activities */
    struct ta_arena arena;
    struct ta_strings strings;
    struct ta_trace_view view;    /* tables in it are set when the trace is frozen */
    struct ta_device_units units; /* -1 where devices differ */
    TA_VEC(struct ta_device) devices;
    TA_VEC(struct ta_category) categories;
    TA_VEC(struct ta_track) tracks;
    TA_VEC(struct ta_kind_count) kinds;
    TA_VEC(struct ta_activity) activities;
    TA_VEC(struct ta_kernel) kernels;
    TA_VEC(struct ta_replayed) replayed;
    struct span_columns spans;
    struct counter_columns counters;
    struct instant_columns instants;
    struct flow_columns flows;
    struct async_columns asyncs;
    struct ta_damage damage;
    struct arg_column *args;
    size_t n_args;
    struct ta_dump dump;
    const char *step_marker; /* of the user: names of ranges that are steps, or NULL; borrowed */
    struct ta_facts *facts;  /* found when someone asks for them */
};

void ta_trace_free(struct ta_trace *trace);

/* Sets the tables of the view: the trace is frozen. */
void ta_trace_show(struct ta_trace *trace);

/* The column of an argument key, or NULL. */
struct arg_column *ta_trace_arg_column(struct ta_trace *trace, const char *key);

#endif
