/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters of a trace for its timeline. */
#ifndef TA_TIMELINE_SAMPLES_H
#define TA_TIMELINE_SAMPLES_H

#include "analyze/timeline/timeline.h"

/* Whether a dump says what was sampled when: by devices, the host, or torch at labelled moments. */
bool ta_timeline_has_samples(const struct ta_trace *dump);
/* The earliest of these times on a clock with a date; INT64_MAX without any. */
int64_t ta_timeline_first_sample(const struct ta_trace *dump);

/* False without memory. */
bool ta_timeline_pack_samples(struct ta_timeline_part *part, const struct ta_trace *trace);

#endif
