/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules on snapshots of memory share: what they read, by rank and order of recording. */
#ifndef TA_ADVICE_MEMORY_H
#define TA_ADVICE_MEMORY_H

#include <traceanalyze/rule.h>

#include <math.h>

enum { SNAPSHOT_RANK, SNAPSHOT_DEVICE, SNAPSHOT_LABEL, SNAPSHOT_BYTES };

static const struct ta_ref reads[] = {
    [SNAPSHOT_RANK] = {"memory.snapshots", "rank"},
    [SNAPSHOT_DEVICE] = {"memory.snapshots", "device"},
    [SNAPSHOT_LABEL] = {"memory.snapshots", "label"},
    [SNAPSHOT_BYTES] = {"memory.snapshots", "allocated_bytes"},
};

static inline double snapshot_bytes(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, SNAPSHOT_BYTES, row, NAN);
}

/* Whether two snapshots are of the same rank and device, as far as they say it. */
static inline bool snapshot_same_device(const struct ta_refs *in, size_t a, size_t b)
{
    return ta_ref_integer(in, SNAPSHOT_RANK, a) == ta_ref_integer(in, SNAPSHOT_RANK, b) &&
           ta_ref_integer(in, SNAPSHOT_DEVICE, a) == ta_ref_integer(in, SNAPSHOT_DEVICE, b);
}

#endif
