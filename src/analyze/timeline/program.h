/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program does, above the lanes of a file. */
#ifndef TA_TIMELINE_PROGRAM_H
#define TA_TIMELINE_PROGRAM_H

#include "analyze/timeline/timeline.h"

/* Fills in `program` of the part's file, whose labels are settled; false without memory. */
TA_MUST_CHECK bool ta_timeline_pack_program(struct ta_timeline_part *part,
                                            struct ta_timeline_pool *pool,
                                            const struct ta_trace *trace);

#endif
