/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of telemetry, packed: a day of them at one per second and device is millions, most of
 * which repeat the rank, device and time of the one before and are whole numbers of their unit. */
#ifndef TA_MODEL_SAMPLES_H
#define TA_MODEL_SAMPLES_H

#include "traceanalyze/dump.h"

/* Most bytes that one sample takes. */
enum { TA_SAMPLE_BYTES_MAX = 2 + 4 * 10 };

/* Writes the sample after `last`, which becomes it; returns how many bytes it took.  The first
 * one is written after TA_SAMPLE_FIRST. */
size_t ta_sample_pack(unsigned char *at, struct ta_sample *last, const struct ta_sample *sample);

#define TA_SAMPLE_FIRST                                                                            \
    (struct ta_sample)                                                                             \
    {                                                                                              \
        .rank = TA_MISSING, .device = TA_MISSING                                                   \
    }

#endif
