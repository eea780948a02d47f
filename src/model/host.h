/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a span of a host thread does, by its category and name. */
#ifndef TA_MODEL_HOST_H
#define TA_MODEL_HOST_H

#include "traceanalyze/model.h"

/* `event_class` and `category` of the span's category. */
enum ta_host_work ta_host_classify(enum ta_event_class event_class, struct ta_slice category,
                                   struct ta_slice name);

#endif
