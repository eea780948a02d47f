/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-16 with a byte order mark, as a Windows shell redirect writes it, to UTF-8. */
#ifndef TA_READ_UTF16_H
#define TA_READ_UTF16_H

#include "traceanalyze/base.h"

struct ta_utf16 {
    enum { TA_UTF16_OFF, TA_UTF16_LITTLE, TA_UTF16_BIG } order;
    unsigned char odd; /* a byte that waits for its pair */
    bool has_odd;
    uint16_t high; /* a high surrogate that waits for its pair, or 0 */
};

/* Looks for a byte order mark; true when it is one of UTF-16. */
bool ta_utf16_detect(struct ta_utf16 *utf16, const char *head, size_t size);

static inline bool ta_utf16_active(const struct ta_utf16 *utf16)
{
    return utf16->order != TA_UTF16_OFF;
}

/* Converts `size` bytes.  `out` has room for size / 2 * 3 + 6 bytes.  Returns the number of bytes
 * written; a lone surrogate becomes a byte that is no UTF-8. */
size_t ta_utf16_convert(struct ta_utf16 *utf16, const char *in, size_t size, char *out);

/* Forgets half a character after the last one; true when there was one. */
bool ta_utf16_end(struct ta_utf16 *utf16);

#endif
