/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small pieces of text: escaped words, values with units, counts, long names. */
#include "html.h"

#include "lib/markup.h"
#include "report/short_name.h"

#include <ctype.h>

void html_put(const struct page *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ta_put_markup(page->out, ta_put_html, format, args);
    va_end(args);
}

static void put_code(struct ta_file *out, struct ta_slice name)
{
    ta_puts(out, "<code>");
    ta_put_html(out, name);
    ta_puts(out, "</code>");
}

/* The length of a unit at the begin of a text; 0 for another word. */
static size_t unit_length(struct ta_slice text)
{
    static const char *const units[] = {"ns",  "µs",  "ms",  "s",   "min", "h", "%",  "B",  "KiB",
                                        "MiB", "GiB", "TiB", "MHz", "GHz", "W", "°C", "kJ", "J"};
    for (size_t i = 0; i < TA_LENGTH(units); i++) {
        const size_t n = strlen(units[i]);
        if (ta_slice_starts(text, units[i]) &&
            (text.len == n || !isalpha((unsigned char)text.ptr[n])))
            return n;
    }
    return 0;
}

/* No line ends between a number and its unit. */
static void put_words(struct ta_file *out, struct ta_slice text)
{
    size_t done = 0;
    for (size_t i = 1; i + 1 < text.len; i++) {
        const size_t unit = text.ptr[i] == ' ' && isdigit((unsigned char)text.ptr[i - 1])
                                ? unit_length(ta_slice_part(text, i + 1, text.len))
                                : 0;
        size_t first = i;
        while (unit && first > done && text.ptr[first - 1] != ' ' && text.ptr[first - 1] != '(')
            first--;
        if (!unit)
            continue;
        ta_put_html(out, ta_slice_part(text, done, first));
        done = i + 1 + unit;
        ta_puts(out, "<span class=\"whole\">");
        ta_put_html(out, ta_slice_part(text, first, done));
        ta_puts(out, "</span>");
    }
    ta_put_html(out, ta_slice_part(text, done, text.len));
}

void html_prose(const struct page *page, const char *text)
{
    ta_put_prose(page->out, put_words, put_code, text);
}

void html_value(const struct page *page, const struct ta_cell *cell, enum ta_unit unit)
{
    char buffer[TA_UNIT_TEXT_MAX];
    ta_put_html(page->out, ta_cell_text(cell, unit, buffer));
}

void html_number(const struct page *page, uint64_t n)
{
    const struct ta_cell cell = ta_int(n > INT64_MAX ? INT64_MAX : (int64_t)n);
    html_value(page, &cell, TA_UNIT_COUNT);
}

void html_count(const struct page *page, uint64_t n, const char *one, const char *many)
{
    html_number(page, n);
    html_put(page, " %s", n == 1 ? one : many);
}

/* Names up to NAME_WHOLE bytes are never cut; of longer ones the last third stays visible, at most
 * NAME_TAIL bytes: the style sheet would cut more than 45 % of what is seen. */
#define ELLIPSIS "\xe2\x80\xa6"
enum { NAME_WHOLE = 20, NAME_TAIL = 8 };

size_t html_name_split(struct ta_slice name)
{
    if (name.len <= NAME_WHOLE)
        return name.len;
    const size_t third = name.len / 3, ellipsis = sizeof ELLIPSIS - 1;
    size_t split = name.len - (third < NAME_TAIL ? third : NAME_TAIL);
    while (split > 0 && ((unsigned char)name.ptr[split] & 0xc0) == 0x80)
        split--;
    /* A name that was shortened before has its ellipsis in the first run, whose own covers it. */
    if (memcmp(ta_slice_at(name, split), ELLIPSIS, ellipsis) == 0)
        split += ellipsis;
    return split;
}

struct ta_slice html_said(struct ta_arena *arena, struct ta_slice name)
{
    return ta_said_name(arena, name);
}

static void put_runs(const struct page *page, struct ta_slice name, size_t split)
{
    ta_puts(page->out, "<span>");
    ta_put_html(page->out, (struct ta_slice){name.ptr, split});
    ta_puts(page->out, "</span><span>");
    ta_put_html(page->out, ta_slice_from(name, split));
    ta_puts(page->out, "</span>");
}

void html_said_name(const struct page *page, struct ta_slice name)
{
    struct ta_arena arena = {0};
    const struct ta_slice said = html_said(&arena, name);
    if (ta_slice_equal(said, name)) {
        html_name(page, name);
    } else {
        const size_t split = html_name_split(said);
        ta_puts(page->out, "<span class=\"name\" title=\"");
        ta_put_html(page->out, name);
        ta_puts(page->out, "\">");
        if (split == said.len)
            ta_put_html(page->out, said);
        else
            put_runs(page, said, split);
        ta_puts(page->out, "</span>");
    }
    ta_arena_free(&arena);
}

/* A long name is written as two runs of text, so that the style sheet can cut it in the middle:
 * the first run shrinks and ends in an ellipsis, the second keeps its width. */
void html_name(const struct page *page, struct ta_slice name)
{
    const size_t split = html_name_split(name);
    if (split == name.len) {
        ta_put_html(page->out, name);
        return;
    }
    ta_puts(page->out, "<span class=\"name\">");
    put_runs(page, name, split);
    ta_puts(page->out, "</span>");
}
