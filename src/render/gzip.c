/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip streams made of parts. */
#include "render/deflate_parts.h"

#include "base/share.h"

#include <stdlib.h>
#include <zlib.h>

enum { PARTS = 8 };

struct ta_gzip {
    struct ta_ctx *ctx;
    ta_gzip_write *write;
    void *user;
    bool ends; /* the last gathered part is the last of the stream */
    size_t used, n_parts;
    uLong crc;
    uint64_t length;
    struct ta_deflated packed[PARTS];
    char gathered[PARTS * TA_DEFLATE_PART];
};

static void put_header(struct ta_gzip *gzip, const char *comment)
{
    enum { FLAG_COMMENT = 0x10, UNKNOWN_SYSTEM = 0xff };
    static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, FLAG_COMMENT,  0, 0,
                                           0,    0,    0,          UNKNOWN_SYSTEM};
    gzip->write(gzip->user, (struct ta_slice){(const char *)header, sizeof header});
    gzip->write(gzip->user, (struct ta_slice){comment, strlen(comment) + 1});
}

struct ta_gzip *ta_gzip_new(struct ta_ctx *ctx, const char *comment, ta_gzip_write *write,
                            void *user)
{
    struct ta_gzip *gzip = malloc(sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->ctx = ctx;
    gzip->write = write;
    gzip->user = user;
    gzip->ends = false;
    gzip->used = 0;
    gzip->crc = crc32(0, NULL, 0);
    gzip->length = 0;
    memset(gzip->packed, 0, sizeof gzip->packed);
    put_header(gzip, comment);
    return gzip;
}

static enum ta_status do_part(struct ta_ctx *ctx, size_t i, void *user)
{
    struct ta_gzip *gzip = user;
    const size_t start = i * TA_DEFLATE_PART, left = gzip->used - start;
    const struct ta_slice bytes = {gzip->gathered + start,
                                   left < TA_DEFLATE_PART ? left : TA_DEFLATE_PART};
    return ta_deflate_part(bytes, gzip->ends && i + 1 == gzip->n_parts, &gzip->packed[i])
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot deflate");
}

/* Packs and writes what was gathered. */
static bool pack_gathered(struct ta_gzip *gzip)
{
    gzip->n_parts = gzip->used / TA_DEFLATE_PART + (gzip->used % TA_DEFLATE_PART || !gzip->used);
    const bool done =
        ta_share_out(gzip->ctx, TA_STAGE_RENDER, gzip->n_parts, do_part, gzip) == TA_OK;
    for (size_t i = 0; i < gzip->n_parts; i++) {
        struct ta_deflated *packed = &gzip->packed[i];
        if (done)
            gzip->write(gzip->user, (struct ta_slice){(const char *)packed->bytes, packed->size});
        free(packed->bytes);
        *packed = (struct ta_deflated){0};
    }
    gzip->crc = crc32(gzip->crc, (const Bytef *)gzip->gathered, (uInt)gzip->used);
    gzip->length += gzip->used;
    gzip->used = 0;
    return done;
}

bool ta_gzip_put(struct ta_gzip *gzip, struct ta_slice bytes)
{
    while (bytes.len) {
        const size_t room = sizeof gzip->gathered - gzip->used;
        const size_t n = bytes.len < room ? bytes.len : room;
        memcpy(gzip->gathered + gzip->used, bytes.ptr, n);
        gzip->used += n;
        bytes = ta_slice_from(bytes, n);
        if (n == room && !pack_gathered(gzip))
            return false;
    }
    return true;
}

bool ta_gzip_end(struct ta_gzip *gzip)
{
    gzip->ends = true;
    if (!pack_gathered(gzip))
        return false;
    char trailer[8];
    for (unsigned i = 0; i < 4; i++) {
        trailer[i] = (char)(gzip->crc >> 8 * i);
        trailer[4 + i] = (char)(gzip->length >> 8 * i);
    }
    gzip->write(gzip->user, (struct ta_slice){trailer, sizeof trailer});
    return true;
}

void ta_gzip_free(struct ta_gzip *gzip)
{
    free(gzip);
}
