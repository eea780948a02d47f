/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of a dump that have a place in time, as spans for the timeline. */
#ifndef TA_DUMP_EVENTS_H
#define TA_DUMP_EVENTS_H

#include "model/trace.h"

/* A trace with the sessions, blocks and denoising steps of a dump, on the clock since 1970; *events
 * stays NULL where none of them says when it was.  Its origin is not after the first sample of the
 * dump.  The caller frees it. */
enum ta_status ta_dump_events(struct ta_ctx *ctx, const struct ta_trace *dump,
                              struct ta_trace **events) TA_MUST_CHECK;

#endif
