/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-16 to UTF-8, across any block borders. */
#include "read/utf16.h"

#include "base/utf8.h"

/* UTF-8 never holds it: who reads the text makes U+FFFD of it, and counts it with its place. */
enum { NO_CHARACTER = 0xff };

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
        *out++ = (char)NO_CHARACTER;
    utf16->high = is_high ? unit : 0;
    if (is_high)
        return out;
    if (is_low) {
        *out++ = (char)NO_CHARACTER;
        return out;
    }
    return out + ta_utf8_encode(unit, out);
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
    return (size_t)(out - start);
}

bool ta_utf16_end(struct ta_utf16 *utf16)
{
    const bool is_cut = utf16->high || utf16->has_odd;
    utf16->high = 0;
    utf16->has_odd = false;
    return is_cut;
}
