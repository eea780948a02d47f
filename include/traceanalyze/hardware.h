/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device can do at most, by what the trace says of it.  The figures are those of
 * src/hardware/devices.yaml and of --hardware; a device that is in neither has none. */
#ifndef TRACEANALYZE_HARDWARE_H
#define TRACEANALYZE_HARDWARE_H

#include "base.h"
#include "model.h"

TA_BEGIN_DECLS

/* Which unit, and the type of its inputs. */
enum ta_peak {
    TA_PEAK_FP64, /* vector unit */
    TA_PEAK_FP64_MATRIX,
    TA_PEAK_FP32, /* vector unit */
    TA_PEAK_FP32_MATRIX,
    TA_PEAK_TF32, /* matrix unit, as all that follow */
    TA_PEAK_FP16,
    TA_PEAK_BF16,
    TA_PEAK_FP8,
    TA_PEAK_INT8,
    TA_PEAK_FP4,
    TA_PEAK_COUNT
};

struct ta_hardware {
    const char *name, *source;
    double flop_per_s[TA_PEAK_COUNT]; /* dense; 0: not stated */
    double bytes_per_s;               /* of the memory; 0: not stated */
    double host_bytes_per_s;          /* of the link to the host, one direction; 0: not stated */
    double peer_bytes_per_s;          /* of that to another device */
};

/* The peaks of a device.  NULL when they are not known; *why is then a constant that says what is
 * missing, as the end of a sentence. */
TA_API const struct ta_hardware *ta_ctx_hardware(const struct ta_ctx *ctx,
                                                 const struct ta_device *device, const char **why);

TA_END_DECLS

#endif
