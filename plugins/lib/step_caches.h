/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which caches answer denoising steps, by their names. */
#ifndef TA_LIB_STEP_CACHES_H
#define TA_LIB_STEP_CACHES_H

#include <traceanalyze/base.h>

/* TeaCache, EasyCache, the cache of the first block …; any case. */
static inline bool ta_is_step_cache(struct ta_slice name)
{
    static const char *const words[] = {"teacache",   "magcache",    "easycache",   "lazycache",
                                        "fbcache",    "first_block", "first block", "step cache",
                                        "step_cache", "dbcache",     "deepcache",   "taylorseer",
                                        NULL};
    return ta_slice_has_any(name, words);
}

#endif
