/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is missing in a recording, by health.damage. */
#ifndef TA_LIB_DAMAGE_H
#define TA_LIB_DAMAGE_H

#include <traceanalyze/table.h>

/* Whether the devices did more than was recorded of them; references to the columns `damage` and
 * `share`. */
static inline bool ta_lacks_work(const struct ta_refs *in, size_t damage, size_t share)
{
    const double much = 0.02;
    for (size_t i = 0; i < ta_ref_rows(in, damage); i++) {
        const struct ta_slice name = ta_ref_text(in, damage, i);
        if (!ta_slice_equal(name, TA_LIT("overlong")) &&
            !ta_slice_equal(name, TA_LIT("out of order")) && ta_ref_number(in, share, i, 0) > much)
            return true;
    }
    return false;
}

#endif
