/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashes of what calls are, field by field. */
#ifndef COLLECTIVES_MIX_H
#define COLLECTIVES_MIX_H

#include <traceanalyze/base.h>

static inline uint64_t coll_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint64_t coll_mix_text(uint64_t hash, struct ta_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = coll_mix(hash, (unsigned char)text.ptr[i]);
    return coll_mix(hash, text.len);
}

#endif
