/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters of a trace for its timeline. */
#ifndef TA_TIMELINE_SAMPLES_H
#define TA_TIMELINE_SAMPLES_H

#include "timeline/timeline.h"

/* False without memory. */
bool ta_timeline_pack_samples(struct ta_timeline_part *part, const struct ta_trace *trace);

#endif
