/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries as gzip in memory.  Saved ones are read like any other file, within the limits of input
 * (read/reader.h); what is unpacked here is our own. */
#include "analyze/summary/summary.h"

#include "base/context.h"

#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16 }; /* to zlib's number of window bits: a gzip stream */

enum ta_status ta_summary_pack(struct ta_ctx *ctx, struct ta_slice text, struct ta_text *packed)
{
    enum { MEMORY = 8, UNIX = 3 };
    Bytef comment[] = TA_SUMMARY_COMMENT;
    z_stream stream = {0};
    gz_header header = {.os = UNIX, .comment = comment};
    bool done = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
                             Z_DEFAULT_STRATEGY) == Z_OK;
    const uLong room = done ? deflateBound(&stream, text.len) : 0;
    char *bytes = done ? malloc(room) : NULL;
    done = done && bytes && deflateSetHeader(&stream, &header) == Z_OK && text.len <= UINT32_MAX;
    if (done) {
        stream.next_in = (Bytef *)(uintptr_t)text.ptr;
        stream.avail_in = (uInt)text.len;
        stream.next_out = (Bytef *)bytes;
        stream.avail_out = (uInt)room;
        done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        packed->bytes.at = bytes;
        packed->bytes.n = packed->bytes.max = room - stream.avail_out;
    }
    deflateEnd(&stream);
    if (done)
        return TA_OK;
    free(bytes);
    *packed = (struct ta_text){.failed = true};
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot pack a summary: bytes=%zu", text.len);
}

enum ta_status ta_summary_unpack(struct ta_ctx *ctx, struct ta_slice packed, struct ta_text *text)
{
    enum { SIZE_BYTES = 4 };
    z_stream stream = {0};
    uint32_t size = 0;
    bool done = packed.len > SIZE_BYTES && inflateInit2(&stream, MAX_WBITS + GZIP) == Z_OK;
    for (size_t i = 1; done && i <= SIZE_BYTES; i++) /* the file ends with it */
        size = size << 8 | (unsigned char)packed.ptr[packed.len - i];
    char *bytes = done ? malloc(size ? size : 1) : NULL;
    if (bytes) {
        stream.next_in = (Bytef *)(uintptr_t)packed.ptr;
        stream.avail_in = (uInt)packed.len;
        stream.next_out = (Bytef *)bytes;
        stream.avail_out = size;
        done = inflate(&stream, Z_FINISH) == Z_STREAM_END;
        text->bytes.at = bytes;
        text->bytes.n = text->bytes.max = size;
    }
    inflateEnd(&stream);
    if (done && bytes)
        return TA_OK;
    free(bytes);
    *text = (struct ta_text){.failed = true};
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot unpack a summary: bytes=%zu", packed.len);
}
