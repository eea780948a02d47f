/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the devices of a trace were at work. */
#ifndef TA_MODEL_BUSY_H
#define TA_MODEL_BUSY_H

#include "traceanalyze/model.h"

/* The times of all device activities of a frozen trace, of all devices together, united; found once
 * and kept with it; from any thread.  NULL without memory.  O(n log n) of the activities, O(n)
 * where few run side by side. */
const struct ta_intervals *ta_trace_busy(const struct ta_trace *trace);

#endif
