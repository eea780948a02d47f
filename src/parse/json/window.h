/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A moving view on the bytes of a reader: what is being scanned stays, what was used makes room.
 *
 * After `end` lie TA_PADDING zeros whenever the window can be scanned: whole vectors may be
 * loaded from any place up to `end`, and zero is no byte of a value. */
#ifndef TA_PARSE_WINDOW_H
#define TA_PARSE_WINDOW_H

#include "read/reader.h"

struct window {
    struct ta_reader *reader;
    char *buffer; /* the own one, or a block lent by the reader */
    char *own;
    size_t capacity, most; /* bytes of the own one now, and at the largest; TA_PADDING follow */
    size_t block;          /* bytes to ask for at a time */
    size_t at, end;        /* next byte to scan, end of what was read */
    uint64_t base;         /* offset of buffer[0] in the stream */
    bool ended;            /* no bytes follow `end` */
    bool failed;           /* out of memory */
};

/* `most` bounds the bytes that one value may need.  False without memory. */
bool window_init(struct window *window, struct ta_reader *reader, size_t most);
void window_free(struct window *window);

/* Begins anew with a reader whose first byte is at offset `base` of the stream. */
void window_restart(struct window *window, struct ta_reader *reader, uint64_t base);

/* Reads more after `end`, keeping the bytes from `at`; pointers into the buffer are void
 * afterwards.  False at the end of the stream, when `most` is reached, or without memory. */
bool window_more(struct window *window);

static inline uint64_t window_offset(const struct window *window, const char *place)
{
    return window->base + (uint64_t)(place - window->buffer);
}

static inline const char *window_at(const struct window *window)
{
    return window->buffer + window->at;
}

#endif
