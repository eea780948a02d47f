/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts with {names} in them that someone fills in. */
#include "base/template.h"

static size_t name_length(const char *brace)
{
    const size_t n = strspn(brace + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n && brace[n + 1] == '}' ? n : 0;
}

bool ta_template_next(const char **rest, struct ta_piece *piece)
{
    const char *at = *rest;
    if (!*at)
        return false;
    const size_t name = *at == '{' ? name_length(at) : 0;
    if (name) {
        *piece = (struct ta_piece){{at + 1, name}, true};
        *rest = at + name + 2;
    } else if (*at == '{') {
        *piece = (struct ta_piece){{at, 1}, false};
        *rest = at + (at[1] == '{' ? 2 : 1);
    } else {
        const size_t plain = strcspn(at, "{");
        *piece = (struct ta_piece){{at, plain}, false};
        *rest = at + plain;
    }
    return true;
}
