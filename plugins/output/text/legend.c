/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Legends: what each sign of a picture or of bars says. */
#include "text.h"

enum { BETWEEN = 3 };

/* Moves to where the next entry begins, which takes so many columns. */
static void begin(struct text_legend *legend, size_t columns)
{
    const struct page *page = legend->page;
    if (legend->used && legend->used + BETWEEN + columns > page->width) {
        ta_putc(page->out, '\n');
        legend->used = 0;
    }
    const size_t before = legend->used ? BETWEEN : TEXT_INDENT;
    text_blanks(page, before);
    legend->used += before + columns;
}

void text_legend_add(struct text_legend *legend, enum ta_ink ink, const char *glyph,
                     struct ta_slice label)
{
    enum { SIGN = 2 }; /* and the blank after it */
    const struct page *page = legend->page;
    const size_t room = page->width > TEXT_INDENT + SIGN ? page->width - TEXT_INDENT - SIGN : 1;
    const size_t width = ta_terminal_width(label);
    begin(legend, SIGN + (width < room ? width : room));
    text_ink(page, ink);
    ta_puts(page->out, glyph);
    text_reset(page);
    ta_putc(page->out, ' ');
    ta_put_terminal(page->out, label, room, 0);
}

void text_legend_end(const struct text_legend *legend)
{
    ta_putc(legend->page->out, '\n');
}
