/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashes of what calls are, field by field. */
#ifndef TA_RANKS_MIX_H
#define TA_RANKS_MIX_H

#include "traceanalyze/base.h"

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint64_t mix_text(uint64_t hash, struct ta_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = mix(hash, (unsigned char)text.ptr[i]);
    return mix(hash, text.len);
}

#endif
