/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving view on a reader. */
#include "parse/window.h"

#include <stdlib.h>

/* Large enough to make block borders rare, small enough to stay in the second-level cache. */
enum { BLOCK = 512 * 1024 };

bool window_init(struct window *window, struct ta_reader *reader, size_t most)
{
    *window = (struct window){.reader = reader, .capacity = 2 * BLOCK, .most = most + BLOCK};
    window->buffer = malloc(window->capacity);
    return window->buffer != NULL;
}

void window_free(struct window *window)
{
    free(window->buffer);
}

static bool make_room(struct window *window)
{
    const size_t kept = window->end - window->at;
    if (window->at > 0) {
        memmove(window->buffer, window->buffer + window->at, kept);
        window->base += window->at;
        window->at = 0;
        window->end = kept;
    }
    if (window->capacity - kept >= BLOCK)
        return true;
    if (window->capacity >= window->most)
        return window->capacity > kept;
    size_t wanted = window->capacity * 2 < window->most ? window->capacity * 2 : window->most;
    char *grown = realloc(window->buffer, wanted);
    if (!grown) {
        window->failed = true;
        return false;
    }
    window->buffer = grown;
    window->capacity = wanted;
    return true;
}

bool window_more(struct window *window)
{
    if (window->ended || window->failed || !make_room(window))
        return false;
    const size_t room = window->capacity - window->end;
    size_t got =
        ta_reader_read(window->reader, window->buffer + window->end, room < BLOCK ? room : BLOCK);
    window->end += got;
    window->ended = got == 0;
    return got > 0;
}
