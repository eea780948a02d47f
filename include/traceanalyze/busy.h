/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the devices of a trace were at work. */
#ifndef TRACEANALYZE_BUSY_H
#define TRACEANALYZE_BUSY_H

#include "interval.h"
#include "model.h"

TA_BEGIN_DECLS

/* The times of all device activities of a frozen trace, of all devices together, united; found once
 * and kept with it; from any thread.  NULL without memory.  O(n log n) of the activities, O(n)
 * where few run side by side. */
TA_API const struct ta_intervals *ta_trace_busy(const struct ta_trace *trace);

TA_END_DECLS

#endif
