/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of files, as they are shown. */
#ifndef TA_BASE_PATH_H
#define TA_BASE_PATH_H

#include "traceanalyze/base.h"

/* How many bytes of their folders two paths have in common. */
static inline size_t ta_path_common(const char *a, const char *b)
{
    size_t n = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            n = i + 1;
    return n;
}

#endif
