/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inflaters of this build. */
#include "read/inflate.h"

#ifdef TA_HAVE_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

const struct ta_inflater *const ta_inflaters[] = {
#ifdef TA_HAVE_ISAL
    &ta_inflater_isal,
#endif
    &ta_inflater_zlib,
    NULL,
};

const struct ta_inflater *ta_inflater_find(const char *name)
{
    if (!name || strcmp(name, "auto") == 0)
        return ta_inflaters[0];
    for (const struct ta_inflater *const *i = ta_inflaters; *i; i++)
        if (strcmp((*i)->name, name) == 0)
            return *i;
    return NULL;
}

uint32_t ta_inflate_crc(uint32_t before, const unsigned char *bytes, size_t size)
{
#ifdef TA_HAVE_ISAL
    return crc32_gzip_refl(before, bytes, size);
#else
    return (uint32_t)crc32_z(before, bytes, size);
#endif
}
