/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output buffering and compression; never a time stamp, so equal text gives equal files. */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>

enum {
    GZIP_WINDOW = 15 + 16, /* largest window; + 16 asks zlib for a gzip header, mtime 0 */
    GZIP_MEMORY = 8,
};

static void fail(struct sink *sink, int error)
{
    if (sink->error == 0)
        sink->error = error != 0 ? error : EIO;
}

static void write_bytes(struct sink *sink, const void *bytes, size_t length)
{
    if (sink->error == 0 && fwrite(bytes, 1, length, sink->file) != length)
        fail(sink, errno);
}

static void write_packed(struct sink *sink, int mode)
{
    sink->deflate.next_in = (unsigned char *)sink->text;
    sink->deflate.avail_in = (uInt)sink->used;
    do {
        sink->deflate.next_out = sink->packed;
        sink->deflate.avail_out = SINK_CAPACITY;
        if (deflate(&sink->deflate, mode) == Z_STREAM_ERROR)
            fail(sink, EIO);
        write_bytes(sink, sink->packed, SINK_CAPACITY - sink->deflate.avail_out);
    } while (sink->deflate.avail_out == 0);
}

void sink_flush(struct sink *sink)
{
    sink->bytes += sink->used;
    if (sink->packed != NULL)
        write_packed(sink, Z_NO_FLUSH);
    else
        write_bytes(sink, sink->text, sink->used);
    sink->used = 0;
}

static bool start_gzip(struct sink *sink, int level)
{
    sink->packed = malloc(SINK_CAPACITY);
    if (sink->packed == NULL)
        return false;
    if (deflateInit2(&sink->deflate, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return true;
    free(sink->packed);
    sink->packed = NULL;
    return false;
}

bool sink_open(struct sink *sink, const char *path, int gzip_level)
{
    *sink = (struct sink){.text = malloc(SINK_CAPACITY)};
    if (sink->text == NULL || (gzip_level != 0 && !start_gzip(sink, gzip_level))) {
        fail(sink, ENOMEM);
    } else {
        sink->file = fopen(path, "wb");
        if (sink->file == NULL)
            fail(sink, errno);
    }
    return sink->error == 0;
}

bool sink_close(struct sink *sink)
{
    if (sink->file != NULL) {
        sink_flush(sink);
        if (sink->packed != NULL)
            write_packed(sink, Z_FINISH);
        if (fclose(sink->file) != 0)
            fail(sink, errno);
    }
    if (sink->packed != NULL)
        deflateEnd(&sink->deflate);
    free(sink->packed);
    free(sink->text);
    sink->file = NULL;
    sink->packed = NULL;
    sink->text = NULL;
    return sink->error == 0;
}

void sink_integer(struct sink *sink, int64_t value)
{
    sink_fixed(sink, value, 0);
}

void sink_fixed(struct sink *sink, int64_t value, int places)
{
    char digits[32];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    for (int written = 0; written <= places || rest != 0; written++) {
        if (written == places && places != 0)
            *--at = '.';
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (value < 0)
        *--at = '-';
    sink_put(sink, at, (size_t)(digits + sizeof digits - at));
}
