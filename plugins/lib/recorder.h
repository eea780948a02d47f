/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the idle time of a device the profiler explains, so that no finding promises to save it.
 */
#ifndef TA_LIB_RECORDER_H
#define TA_LIB_RECORDER_H

#include "recommend/rule.h"

#include <traceanalyze/rule.h>

/* What a rule reads for it, from an enumerator of its own on, as RECORDER_READS(RECORDER). */
enum { RECORDER_KIND, RECORDER_NS, RECORDER_MOST };

#define RECORDER_READS(first)                                                                      \
    [(first) + RECORDER_KIND] = {"recording.explained", "kind"},                                   \
               [(first) + RECORDER_NS] = {"recording.explained", "explained_ns"},                  \
               [(first) + RECORDER_MOST] = {"recording.explained", "high_ns"}

/* Of a kind of idle time: as estimated, and at most; zero where nothing is explained. */
struct ta_recorded {
    int64_t ns, most_ns;
};

/* `device`: a cell of a row with its rank and device.  `part`: what of this kind of idle time the
 * finding is about, 0…1. */
static inline struct ta_recorded ta_recorder_of(const struct ta_refs *in, size_t first,
                                                const char *kind, const struct ta_place *device,
                                                double part)
{
    const struct ta_look estimate = {.cells = first + RECORDER_NS,
                                     .where = {{first + RECORDER_KIND, kind}}};
    const struct ta_look most = {.cells = first + RECORDER_MOST,
                                 .where = {{first + RECORDER_KIND, kind}}};
    struct ta_place ns, at_most;
    if (!ta_look_same(in, &estimate, device, &ns) || !ta_look_same(in, &most, device, &at_most))
        return (struct ta_recorded){.ns = 0};
    return (struct ta_recorded){ta_whole(part * ns.value), ta_whole(part * at_most.value)};
}

#endif
