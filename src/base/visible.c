/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from input made safe for terminals and logs. */
#include "base/visible.h"

#include "base/utf8.h"

/* Marks that change the order in which a terminal shows its neighbors. */
static bool is_bidi_control(uint32_t c)
{
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

static void put_hex(char *out, unsigned value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
}

size_t ta_visible_step(struct ta_slice *text, char out[TA_VISIBLE_STEP_MAX])
{
    size_t used = ta_utf8_length(text->ptr, text->len), written;
    uint32_t c = used ? ta_utf8_decode(text->ptr, used) : 0;

    out[0] = '\\';
    if (used == 0 || c < 0x20 || c == 0x7f) {
        used = 1;
        out[1] = 'x';
        put_hex(out + 2, (unsigned char)text->ptr[0], 2);
        written = 4;
    } else if ((c >= 0x80 && c < 0xa0) || is_bidi_control(c)) {
        out[1] = 'u';
        put_hex(out + 2, c, 4);
        written = 6;
    } else {
        written = used;
        memcpy(out, text->ptr, used);
    }
    text->ptr += used;
    text->len -= used;
    return written;
}

size_t ta_visible(char *out, size_t max, struct ta_slice text)
{
    size_t n = 0;
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        size_t more = ta_visible_step(&text, step);
        if (n + more >= max)
            break;
        memcpy(out + n, step, more);
        n += more;
    }
    if (max)
        out[n] = '\0';
    return n;
}
