/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deflate for what a product embeds, in the parts of deflate_parts.h. */
#include "render/deflate_parts.h"
#include "traceanalyze/context.h"
#include "traceanalyze/deflate.h"
#include "traceanalyze/share.h"

#include <stdlib.h>
#include <zlib.h>

enum { HEADER = 2, TRAILER = 4 };

struct part {
    struct ta_deflated packed;
    size_t n; /* bytes deflated */
    uLong adler;
};

struct deflating {
    struct ta_slice bytes;
    struct part *parts;
    size_t n;
};

static enum ta_status do_part(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct deflating *all = user;
    const size_t start = i * TA_DEFLATE_PART, left = all->bytes.len - start;
    const struct ta_slice bytes =
        ta_slice_part(all->bytes, start, start + (left < TA_DEFLATE_PART ? left : TA_DEFLATE_PART));
    struct part *part = &all->parts[i];
    part->n = bytes.len;
    part->adler = adler32(adler32(0, NULL, 0), (const Bytef *)bytes.ptr, (uInt)bytes.len);
    return ta_deflate_part(bytes, i + 1 == all->n, &part->packed)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot deflate");
}

/* The parts as one stream; false without memory. */
static bool put_together(const struct deflating *all, unsigned char **packed, size_t *size)
{
    size_t n = HEADER + TRAILER;
    for (size_t i = 0; i < all->n; i++)
        n += all->parts[i].packed.size;
    unsigned char *at = *packed = malloc(n);
    if (!at)
        return false;
    *size = n;
    uLong adler = adler32(0, NULL, 0);
    *at++ = 0x78; /* deflate with a window of 32 KiB, and a level between 2 and 5 */
    *at++ = 0x5e;
    for (size_t i = 0; i < all->n; i++) {
        memcpy(at, all->parts[i].packed.bytes, all->parts[i].packed.size);
        at += all->parts[i].packed.size;
        adler = adler32_combine(adler, all->parts[i].adler, (z_off_t)all->parts[i].n);
    }
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (unsigned char)(adler >> shift);
    return true;
}

bool ta_deflate(struct ta_ctx *ctx, struct ta_slice bytes, unsigned char **packed, size_t *size)
{
    struct deflating all = {.bytes = bytes,
                            .n = bytes.len / TA_DEFLATE_PART +
                                 (bytes.len % TA_DEFLATE_PART || !bytes.len)};
    all.parts = calloc(all.n, sizeof *all.parts);
    const bool done = all.parts && ta_share_tasks(ctx, all.n, do_part, &all) == TA_OK &&
                      put_together(&all, packed, size);
    for (size_t i = 0; all.parts && i < all.n; i++)
        free(all.parts[i].packed.bytes);
    free(all.parts);
    return done;
}
