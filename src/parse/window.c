/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving view on a reader. */
#include "parse/window.h"

#include "read/reader.h"

#include <stdlib.h>

/* Large enough to make block borders rare, small enough to stay in the second-level cache. */
enum { BLOCK = 512 * 1024 };

bool window_init(struct window *window, struct ta_reader *reader, size_t most)
{
    *window = (struct window){.reader = reader, .capacity = 2 * BLOCK, .most = most + BLOCK};
    window->buffer = window->own = malloc(window->capacity);
    return window->own != NULL;
}

void window_free(struct window *window)
{
    free(window->own);
}

static bool make_room(struct window *window)
{
    const size_t kept = window->end - window->at;
    /* A block that was lent is smaller than the own buffer. */
    if (window->at > 0 || window->buffer != window->own) {
        memmove(window->own, window_at(window), kept);
        window->buffer = window->own;
        window->base += window->at;
        window->at = 0;
        window->end = kept;
    }
    if (window->capacity - kept >= BLOCK)
        return true;
    if (window->capacity >= window->most)
        return window->capacity > kept;
    size_t wanted = window->capacity * 2 < window->most ? window->capacity * 2 : window->most;
    char *grown = realloc(window->own, wanted);
    if (!grown) {
        window->failed = true;
        return false;
    }
    window->buffer = window->own = grown;
    window->capacity = wanted;
    return true;
}

/* Moves the view to a block of the reader itself. */
static size_t borrow_more(struct window *window)
{
    const size_t kept = window->end - window->at;
    size_t got = ta_reader_lend(window->reader, window_at(window), kept, &window->buffer);
    if (got) {
        window->base += window->at;
        window->at = 0;
        window->end = kept + got;
    }
    return got;
}

static size_t copy_more(struct window *window)
{
    const size_t room = window->capacity - window->end;
    size_t got =
        ta_reader_read(window->reader, window->buffer + window->end, room < BLOCK ? room : BLOCK);
    window->end += got;
    return got;
}

bool window_more(struct window *window)
{
    if (window->ended || window->failed)
        return false;
    size_t got;
    if (ta_reader_lends(window->reader, window->end - window->at))
        got = borrow_more(window);
    else if (make_room(window))
        got = copy_more(window);
    else
        return false;
    window->ended = got == 0;
    return got > 0;
}
