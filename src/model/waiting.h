/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that do nothing but wait: monitors, readers of queues and pipes, workers without work.
 * Their time is nobody's cost. */
#ifndef TA_MODEL_WAITING_H
#define TA_MODEL_WAITING_H

#include "traceanalyze/model.h"

/* By track, whether it is such a thread; malloc'd, NULL without memory. */
bool *ta_trace_waiting_threads(const struct ta_trace *trace) TA_MUST_CHECK;

#endif
