/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges that torch.compile puts around each call of what it compiled: "Torch-Compiled Region:
 * F/C".  F numbers the functions (what follows a graph break is one more), C counts how often the
 * function was compiled before.  Older versions write no numbers; compiled autograd puts "!A/"
 * before them. */
#ifndef TA_LIB_REGIONS_H
#define TA_LIB_REGIONS_H

#include <traceanalyze/model.h>

#define TA_REGION_MARK "Torch-Compiled Region"

struct ta_region_id {
    int64_t frame, code; /* both TA_MISSING where the name does not say them */
};

#define TA_NO_REGION_ID ((struct ta_region_id){TA_MISSING, TA_MISSING})

static inline bool ta_region_number(struct ta_slice *text, int64_t *number)
{
    size_t n = 0;
    *number = 0;
    while (n < text->len && n < 9 && text->ptr[n] >= '0' && text->ptr[n] <= '9')
        *number = *number * 10 + (text->ptr[n++] - '0');
    *text = ta_slice_from(*text, n);
    return n > 0;
}

/* `name` begins with TA_REGION_MARK. */
static inline struct ta_region_id ta_region_id(struct ta_slice name)
{
    struct ta_region_id id;
    struct ta_slice rest = ta_slice_from(name, sizeof TA_REGION_MARK - 1);
    if (!ta_slice_starts(rest, ": "))
        return TA_NO_REGION_ID;
    rest = ta_slice_from(rest, 2);
    if (ta_slice_starts(rest, "!")) {
        rest = ta_slice_from(rest, 1);
        if (!ta_region_number(&rest, &id.frame) || !ta_slice_starts(rest, "/"))
            return TA_NO_REGION_ID;
        rest = ta_slice_from(rest, 1);
    }
    if (!ta_region_number(&rest, &id.frame) || !ta_slice_starts(rest, "/"))
        return TA_NO_REGION_ID;
    rest = ta_slice_from(rest, 1);
    return ta_region_number(&rest, &id.code) ? id : TA_NO_REGION_ID;
}

#endif
