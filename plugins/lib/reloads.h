/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time in which a model is loaded again, which has a finding of its own: model_loading.c. */
#ifndef TA_LIB_RELOADS_H
#define TA_LIB_RELOADS_H

#include "lib/owners.h"

enum { RELOADS_RANK, RELOADS_TOTAL, RELOADS_READ };

#define RELOADS_READS(first)                                                                       \
    [(first) + RELOADS_RANK] = {"models.reloaded", "rank"},                                        \
               [(first) + RELOADS_TOTAL] = {"models.reloaded", "total_ns"}

/* Whether most of the time is spent so, whatever else the loading overlaps: what the window has no
 * other room for. */
static inline bool ta_owned_reloads(const struct ta_refs *in, size_t first, size_t owners,
                                    const struct ta_owned *owned)
{
    static const double most = 0.5;
    for (size_t row = 0; row < ta_ref_rows(in, first + RELOADS_TOTAL); row++)
        if (ta_ref_rank(in, first + RELOADS_RANK, row) ==
                ta_ref_rank(in, owners + OWNERS_WINDOW, owned->window.row) &&
            ta_ref_number(in, first + RELOADS_TOTAL, row, 0) + owned->ns - owned->window.value >
                most * owned->ns)
            return true;
    return false;
}

#endif
