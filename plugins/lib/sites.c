/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/sites.h"

#include <stdlib.h>

enum { NEAR_LINES = 5 };

struct ta_site ta_site_parse(struct ta_slice text)
{
    struct ta_site site = {.function = text};
    size_t colon = text.len, open = text.len;
    for (size_t i = text.len; i-- > 1 && open == text.len;) {
        if (text.ptr[i] == ':' && colon == text.len)
            colon = i;
        if (text.ptr[i] == '(' && text.ptr[i - 1] == ' ')
            open = i;
    }
    if (open == text.len || colon == text.len || text.ptr[text.len - 1] != ')')
        return site;
    for (size_t i = colon + 1; i + 1 < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        site.line = site.line < 1000000 ? site.line * 10 + (text.ptr[i] - '0') : site.line;
    site.function = (struct ta_slice){text.ptr, open - 1};
    site.path = ta_slice_part(text, open + 1, colon);
    return site;
}

struct ta_slice ta_site_short_path(struct ta_slice path)
{
    int slashes = 0;
    for (size_t i = path.len; i-- > 0;)
        if ((path.ptr[i] == '/' || path.ptr[i] == '\\') && ++slashes == 2)
            return ta_slice_from(path, i + 1);
    return path;
}

bool ta_site_is_near(const struct ta_site *a, const struct ta_site *b)
{
    return a->path.len && ta_slice_equal(a->path, b->path) &&
           ta_slice_equal(a->function, b->function) && labs(a->line - b->line) <= NEAR_LINES;
}

enum ta_site_kind ta_site_kind(struct ta_slice path)
{
    static const struct {
        const char *word;
        enum ta_site_kind kind;
    } kinds[] = {{"optim", TA_SITE_OPTIMIZER}, {"kv_cache", TA_SITE_KV_CACHE}};
    for (size_t i = 0; i < TA_LENGTH(kinds); i++)
        if (ta_slice_has_word(path, kinds[i].word))
            return kinds[i].kind;
    return TA_SITE_OTHER;
}
