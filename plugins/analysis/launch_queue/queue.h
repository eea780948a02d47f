/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many launches wait or run on a device, from moment to moment, and how long each took to
 * begin.
 *
 * A launch is in the queue from the start of its call to the end of its last activity on a stream:
 * a graph of a hundred kernels is one. */
#ifndef LAUNCH_QUEUE_QUEUE_H
#define LAUNCH_QUEUE_QUEUE_H

#include <traceanalyze/analysis.h>

enum {
    QUEUE_BINS = 100,            /* stretches of equal length that a window is looked at in */
    QUEUE_BIN_ROWS_MOST = 50000, /* rows of them, about: of more devices they are longer */
    QUEUE_FULL = 1000,           /* above it the driver soon makes the host wait */
    QUEUE_LATE_NS = 100000, /* a launch that takes longer, while the device idles, is an outlier */
};

/* The partials of the analysis, in order, and their fields. */
enum { QUEUE_DEVICES, QUEUE_STREAMS, QUEUE_OVER_TIME, QUEUE_DELAYS };
enum { DEVICE_RANK, DEVICE_DEVICE, DEVICE_FIGURES, STREAM_STREAM = DEVICE_FIGURES, STREAM_FIGURES };
/* What is known of a queue, behind the keys of its partial. */
enum {
    FIGURE_LAUNCHES,
    FIGURE_WINDOW,
    FIGURE_AREA, /* depth × ns */
    FIGURE_MOST,
    FIGURE_EMPTY,
    FIGURE_FULL,
    FIGURE_LATE,
    FIGURE_DELAY,
    FIGURE_BARE, /* the delays of those at whose launch the device had nothing to do */
    FIGURES
};
enum { BIN_RANK, BIN_DEVICE, BIN_PART, BIN_START, BIN_LENGTH, BIN_AREA, BIN_MOST, BIN_FIELDS };
enum { DELAY_WHAT, DELAY_TIMES, DELAY_FIELDS };

/* Follows the queues of the devices of a trace. */
enum ta_status queue_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                         struct ta_partial *const *out);

#endif
