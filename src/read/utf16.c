/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-16 to UTF-8, across any block borders. */
#include "read/utf16.h"

#include "base/utf8.h"

enum { REPLACEMENT = 0xfffd };

bool ta_utf16_detect(struct ta_utf16 *utf16, const char *head, size_t size)
{
    if (size >= 2 && memcmp(head, "\xff\xfe", 2) == 0)
        utf16->order = TA_UTF16_LITTLE;
    else if (size >= 2 && memcmp(head, "\xfe\xff", 2) == 0)
        utf16->order = TA_UTF16_BIG;
    return ta_utf16_active(utf16);
}

static char *put_unit(struct ta_utf16 *utf16, uint16_t unit, char *out)
{
    bool is_high = unit >= 0xd800 && unit <= 0xdbff, is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (utf16->high && is_low) {
        out += ta_utf8_encode(
            0x10000 + ((uint32_t)(utf16->high - 0xd800) << 10) + (uint32_t)(unit - 0xdc00), out);
        utf16->high = 0;
        return out;
    }
    if (utf16->high)
        out += ta_utf8_encode(REPLACEMENT, out);
    utf16->high = is_high ? unit : 0;
    if (is_high)
        return out;
    return out + ta_utf8_encode(is_low ? REPLACEMENT : unit, out);
}

size_t ta_utf16_convert(struct ta_utf16 *utf16, const char *in, size_t size, char *out)
{
    char *const start = out;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)in[i];
        if (!utf16->has_odd) {
            utf16->odd = byte;
            utf16->has_odd = true;
            continue;
        }
        utf16->has_odd = false;
        unsigned low = utf16->order == TA_UTF16_LITTLE ? utf16->odd : byte;
        unsigned high = utf16->order == TA_UTF16_LITTLE ? byte : utf16->odd;
        out = put_unit(utf16, (uint16_t)(high << 8 | low), out);
    }
    if (size == 0 && (utf16->high || utf16->has_odd)) {
        out += ta_utf8_encode(REPLACEMENT, out);
        utf16->high = 0;
        utf16->has_odd = false;
    }
    return (size_t)(out - start);
}
