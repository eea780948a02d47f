/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in XML. */
#include "base/write/escape.h"
#include "traceanalyze/output.h"

/* U+FFFE and U+FFFF, which UTF-8 can say and XML 1.0 forbids; control characters are shown. */
static bool is_forbidden(struct ta_slice shown)
{
    return shown.len == 3 && memcmp(shown.ptr, "\xef\xbf", 2) == 0 &&
           (unsigned char)shown.ptr[2] >= 0xbe;
}

void ta_put_xml(struct ta_file *out, struct ta_slice text)
{
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = ta_next_visible(&text, step);
        if (shown.len == 1 && memchr("&<>\"'", shown.ptr[0], 5))
            ta_putf(out, "&#%d;", shown.ptr[0]);
        else if (!is_forbidden(shown))
            ta_put(out, shown);
    }
}
