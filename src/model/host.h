/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a span of a host thread does, by its category and name. */
#ifndef TA_MODEL_HOST_H
#define TA_MODEL_HOST_H

#include "traceanalyze/model.h"

/* `event_class` and `category` of the span's category. */
enum ta_host_work ta_host_classify(enum ta_event_class event_class, struct ta_slice category,
                                   struct ta_slice name);

/* Whether a host thread waits for a device in a frame, as profilers of the host alone name it:
 *
 *     Tensor.cpu, synchronize (/usr/lib/torch/cuda/__init__.py:1219)     VizTracer
 *     synchronize (torch/cuda/__init__.py:1219)                          py-spy
 *     torch/cuda/__init__.py(1219): synchronize, aten::item              torch
 *     cudaStreamSynchronize (libcudart.so.12)                            frames of libraries
 *
 * Calls of the runtime are told by the same table as those in traces. */
bool ta_host_frame_waits(struct ta_slice frame);

/* Whether a host thread waits in a frame for another thread, a queue, a pipe or the clock. */
bool ta_host_frame_idles(struct ta_slice frame);

#endif
