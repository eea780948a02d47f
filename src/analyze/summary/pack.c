/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries as gzip in memory.  Saved ones are read like any other file, within the limits of input
 * (read/reader.h); what is unpacked here is our own. */
#include "analyze/summary/summary.h"

#include "base/context.h"
#include "base/deflate.h"

#include <stdlib.h>
#include <zlib.h>

enum ta_status ta_summary_pack(struct ta_ctx *ctx, struct ta_slice text, struct ta_text *packed)
{
    unsigned char *bytes;
    size_t size;
    if (!ta_gzip(ctx, TA_SUMMARY_COMMENT, text, &bytes, &size)) {
        *packed = (struct ta_text){.failed = true};
        return ta_cause(ctx, TA_ERR_NOMEM, "Cannot pack a summary: bytes=%zu", text.len);
    }
    packed->bytes.at = (char *)bytes;
    packed->bytes.n = packed->bytes.max = size;
    return TA_OK;
}

enum ta_status ta_summary_unpack(struct ta_ctx *ctx, struct ta_slice packed, struct ta_text *text)
{
    enum {
        GZIP = 16, /* added to zlib's number of window bits: a gzip stream */
        SIZE_BYTES = 4
    };
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
