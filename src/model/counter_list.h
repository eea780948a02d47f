/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The series of counters that samples belong to: they are few, and samples of them come in turn. */
#ifndef TA_MODEL_COUNTER_LIST_H
#define TA_MODEL_COUNTER_LIST_H

#include "base/vec.h"
#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

struct counter_list {
    TA_VEC(struct ta_counter_series) list; /* in the order in which they came */
    struct ta_map by_counter;              /* track and name: a number from 0 on */
    struct ta_map by_series;               /* that number and the series: its place in the list */
    size_t next;                           /* the one after that which was asked for last */
};

void counter_list_free(struct counter_list *all);

/* The place of a series, which gets one when it is new; UINT32_MAX without memory. */
uint32_t counter_list_at(struct counter_list *all, uint32_t track, ta_str name, ta_str series);

#endif
