/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report while it is being made. */
#ifndef TA_RECOMMEND_LINE_H
#define TA_RECOMMEND_LINE_H

#include "traceanalyze/result.h"

struct line {
    struct ta_arena *arena; /* of the report */
    char text[1024];
    size_t n;
};

/* Adds a sentence.  Sentences are separated by a blank; what does not fit is cut. */
void say(struct line *line, const char *format, ...) TA_PRINTF(2, 3);

/* The next two say the figure that tells most of an input without times of devices, stages or
 * steps, where nothing has been said yet.  Of requests, loops, layers and call stacks: nothing
 * without them. */
void say_times(struct line *line, const struct ta_report *report);
/* Of all else, such as sums over ranks, caches or models; without any figure, why there is none, as
 * far as the data quality tells. */
void say_figures(struct line *line, const struct ta_report *report);

#endif
