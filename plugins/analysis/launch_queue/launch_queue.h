/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partials of the queues between host and devices, and who fills them. */
#ifndef TA_LAUNCH_QUEUE_LAUNCH_QUEUE_H
#define TA_LAUNCH_QUEUE_LAUNCH_QUEUE_H

#include <traceanalyze/analysis.h>

/* The partials of the analysis, in order, and their fields. */
enum { QUEUE_DEVICES, QUEUE_STREAMS, QUEUE_OVER_TIME, QUEUE_DELAYS };
enum { DEVICE_RANK, DEVICE_DEVICE, DEVICE_FIGURES, STREAM_STREAM = DEVICE_FIGURES, STREAM_FIGURES };
/* Fields of a queue after the keys of its partial. */
enum {
    FIGURE_LAUNCHES,
    FIGURE_WINDOW,
    FIGURE_AREA, /* depth × ns */
    FIGURE_MOST,
    FIGURE_EMPTY,
    FIGURE_FULL,
    FIGURE_LATE,
    FIGURE_DELAY,
    FIGURE_BARE, /* delays of launches for which the device had nothing else to do */
    FIGURES
};
enum { BIN_RANK, BIN_DEVICE, BIN_PART, BIN_START, BIN_LENGTH, BIN_AREA, BIN_MOST, BIN_FIELDS };
enum { DELAY_WHAT, DELAY_TIMES, DELAY_FIELDS };

/* sweep.c: fills all partials for a trace. */
enum ta_status launch_queue_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                struct ta_partial *const *out) TA_MUST_CHECK;

#endif
