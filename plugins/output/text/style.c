/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colors, headings and paragraphs on a terminal. */
#include "report/unit.h"
#include "text.h"

/* Longer lines of prose are hard to read on any terminal. */
enum { PROSE_MAX = 100 };

void text_style(const struct page *page, enum text_style style)
{
    static const char *const codes[] = {
        [TEXT_BOLD] = "\x1b[1m",  [TEXT_DIM] = "\x1b[2m",    [TEXT_GOOD] = "\x1b[32m",
        [TEXT_WARN] = "\x1b[33m", [TEXT_BAD] = "\x1b[1;31m",
    };
    if (page->options->color && codes[style])
        ta_puts(page->out, codes[style]);
}

void text_reset(const struct page *page)
{
    if (page->options->color)
        ta_puts(page->out, "\x1b[0m");
}

void text_heading(const struct page *page, const char *title)
{
    ta_putc(page->out, '\n');
    text_style(page, TEXT_BOLD);
    ta_put_terminal(page->out, ta_slice_of(title), page->width, 0);
    text_reset(page);
    ta_putc(page->out, '\n');
}

void text_blanks(const struct page *page, size_t n)
{
    for (; n; n--)
        ta_putc(page->out, ' ');
}

/* The next word; a number keeps its unit. */
static struct ta_slice next_word(const char *text)
{
    struct ta_slice word = {text, strcspn(text, " ")};
    if (word.len == 0 || word.ptr[word.len - 1] < '0' || word.ptr[word.len - 1] > '9' ||
        text[word.len] != ' ')
        return word;
    const struct ta_slice next = {text + word.len + 1, strcspn(text + word.len + 1, " ")};
    struct ta_slice bare = next;
    while (bare.len && strchr(".,;:)", bare.ptr[bare.len - 1]))
        bare.len--;
    if (ta_unit_is_symbol(bare))
        word.len += 1 + next.len;
    return word;
}

void text_wrap(const struct page *page, const char *text, size_t indent)
{
    const size_t end = page->width < PROSE_MAX ? page->width : PROSE_MAX;
    const size_t room = end > indent + 10 ? end - indent : 10;
    size_t used = 0;
    for (;;) {
        text += strspn(text, " ");
        const struct ta_slice word = next_word(text);
        if (word.len == 0)
            break;
        const size_t full = ta_terminal_width(word), columns = full < room ? full : room;
        if (used && used + 1 + columns > room) {
            ta_putc(page->out, '\n');
            text_blanks(page, indent);
            used = 0;
        } else if (used) {
            ta_putc(page->out, ' ');
            used++;
        }
        ta_put_terminal(page->out, word, room, 0);
        used += columns;
        text += word.len;
    }
    ta_putc(page->out, '\n');
}

void text_sentence(const struct page *page, const char *text, size_t indent, enum text_style style)
{
    if (!text || !*text)
        return;
    text_blanks(page, indent);
    text_style(page, style);
    text_wrap(page, text, indent);
    if (style != TEXT_PLAIN)
        text_reset(page);
}
