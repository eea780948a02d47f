/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving view on a reader. */
#include "parse/json/window.h"

#include <stdlib.h>

/* Room beyond the largest value, for the text around it. Not the block, so that what fits does not
 * depend on it. */
enum { BEYOND = 512 * 1024 };

bool window_init(struct window *window, struct ta_reader *reader, size_t most)
{
    const size_t block = ta_reader_block(reader);
    const size_t limit = most < SIZE_MAX / 2 ? most + BEYOND : SIZE_MAX / 2;
    *window = (struct window){.reader = reader,
                              .capacity = block < limit / 2 ? 2 * block : limit,
                              .most = limit,
                              .block = block};
    window->buffer = window->own = malloc(window->capacity + TA_PADDING);
    if (window->own)
        memset(window->own, 0, TA_PADDING);
    return window->own != NULL;
}

void window_restart(struct window *window, struct ta_reader *reader, uint64_t base)
{
    window->reader = reader;
    window->buffer = window->own;
    window->at = window->end = 0;
    window->base = base;
    window->ended = window->failed = false;
    memset(window->own, 0, TA_PADDING);
}

void window_free(struct window *window)
{
    free(window->own);
}

/* Makes the own buffer large enough for `kept` bytes and a block, as far as `most` allows. */
static bool grow(struct window *window, size_t kept)
{
    size_t wanted = window->capacity;
    while (wanted < window->most && (wanted < kept || wanted - kept < window->block))
        wanted = wanted < window->most / 2 ? 2 * wanted : window->most;
    if (wanted == window->capacity)
        return true;
    const bool is_own = window->buffer == window->own;
    char *grown = realloc(window->own, wanted + TA_PADDING);
    window->failed = !grown;
    if (!grown)
        return false;
    window->own = grown;
    window->capacity = wanted;
    if (is_own)
        window->buffer = grown;
    return true;
}

/* Moves what is kept to the front of the own buffer; false when nothing more fits. */
static bool make_room(struct window *window)
{
    const size_t kept = window->end - window->at;
    if (kept >= window->most || !grow(window, kept))
        return false;
    if (window->at > 0 || window->buffer != window->own) {
        memmove(window->own, window_at(window), kept);
        window->buffer = window->own;
        window->base += window->at;
        window->at = 0;
        window->end = kept;
    }
    return true;
}

bool window_more(struct window *window)
{
    if (window->ended || window->failed)
        return false;
    const size_t kept = window->end - window->at;
    size_t got;
    if (ta_reader_lends(window->reader, kept)) {
        /* Moves the view to a block of the reader itself. */
        got = ta_reader_lend(window->reader, window_at(window), kept, &window->buffer);
        if (got) {
            window->base += window->at;
            window->at = 0;
            window->end = kept + got;
        }
    } else if (make_room(window)) {
        const size_t room = window->capacity - window->end;
        got = ta_reader_read(window->reader, window->buffer + window->end,
                             room < window->block ? room : window->block);
        window->end += got;
        memset(window->buffer + window->end, 0, TA_PADDING);
    } else {
        return false;
    }
    window->ended = got == 0;
    return got > 0;
}
