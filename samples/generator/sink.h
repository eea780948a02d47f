/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A buffered output file, plain or gzip, with the number formatting that the writer needs. */
#ifndef GENERATOR_SINK_H
#define GENERATOR_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { SINK_CAPACITY = 1 << 18 };

/*
 * An error sticks: later writes are dropped, and sink_close() reports it.
 * bytes counts the text before compression.
 */
struct sink {
    FILE *file;
    char *text;
    unsigned char *packed; /* NULL when the output is plain */
    z_stream deflate;
    size_t used;
    uint64_t bytes;
    int error; /* an errno value; 0 while all is well */
};

/* gzip_level 0 = plain text.  False when the file cannot be made; sink->error then says why. */
bool sink_open(struct sink *sink, const char *path, int gzip_level);

/* Writes what is buffered, closes, frees; false when anything was lost since sink_open(). */
bool sink_close(struct sink *sink);

void sink_flush(struct sink *sink);

/* length must be below SINK_CAPACITY. */
static inline void sink_put(struct sink *sink, const char *text, size_t length)
{
    if (length > SINK_CAPACITY - sink->used)
        sink_flush(sink);
    memcpy(sink->text + sink->used, text, length);
    sink->used += length;
}

static inline void sink_text(struct sink *sink, const char *text)
{
    sink_put(sink, text, strlen(text));
}

void sink_integer(struct sink *sink, int64_t value);

/* value / 10^places with exactly that many places, e.g. ns as µs with three. */
void sink_fixed(struct sink *sink, int64_t value, int places);

#endif
