/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a stream and what is around them.  ISA-L deflates where the build has it: it is
 * three to ten times as fast as zlib and leaves a twentieth more. */
#include "base/deflate.h"

#include "base/share.h"

#include <stdlib.h>
#include <zlib.h>

#ifdef TA_HAVE_ISAL
#include <isa-l.h>
#endif

/* ---- one part -------------------------------------------------------------------------------- */

static bool with_zlib(struct ta_slice bytes, bool is_last, struct ta_deflated *packed)
{
    /* Where zlib's levels stop paying for columns of varints: 8 MB of them take 0.1 % less at level
     * 6, and nearly twice the time.  Events of traces would take a fifth less, and more than twice
     * the time. */
    enum { LEVEL = 3, MARK_BETWEEN_PARTS = 16 };
    z_stream stream = {0};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const uLong room = deflateBound(&stream, bytes.len) + MARK_BETWEEN_PARTS;
    packed->bytes = malloc(room);
    stream.next_in = (Bytef *)(uintptr_t)bytes.ptr;
    stream.avail_in = (uInt)bytes.len;
    stream.next_out = packed->bytes;
    stream.avail_out = (uInt)room;
    const int expected = is_last ? Z_STREAM_END : Z_OK;
    const bool done = packed->bytes &&
                      deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH) == expected &&
                      stream.avail_in == 0;
    packed->size = room - stream.avail_out;
    deflateEnd(&stream);
    return done;
}

#ifdef TA_HAVE_ISAL

struct isal {
    struct isal_zstream stream;
    uint8_t buffer[ISAL_DEF_LVL1_DEFAULT];
};

/* What cannot be packed takes 5 bytes per block of at most 64 KiB, but no document says so: with
 * more than 8 bytes per 16 KiB this gives up. */
static bool with_isal(struct ta_slice bytes, bool is_last, struct ta_deflated *packed)
{
    const size_t room = bytes.len + bytes.len / 2048 + 1024;
    struct isal *isal = malloc(sizeof *isal);
    packed->bytes = malloc(room);
    bool done = isal && packed->bytes;
    if (done) {
        struct isal_zstream *stream = &isal->stream;
        isal_deflate_init(stream);
        stream->level = 1; /* higher ones take off 2 %, lower ones leave a third more */
        stream->level_buf = isal->buffer;
        stream->level_buf_size = sizeof isal->buffer;
        stream->end_of_stream = is_last;
        stream->flush = is_last ? NO_FLUSH : SYNC_FLUSH;
        stream->next_in = (uint8_t *)(uintptr_t)bytes.ptr;
        stream->avail_in = (uint32_t)bytes.len;
        stream->next_out = packed->bytes;
        stream->avail_out = (uint32_t)room;
        done = isal_deflate(stream) == COMP_OK && stream->avail_in == 0 && stream->avail_out > 0;
        packed->size = stream->total_out;
    }
    free(isal);
    return done;
}

#endif

ta_deflate_part *const ta_deflate_parts[] = {
#ifdef TA_HAVE_ISAL
    with_isal,
#endif
    with_zlib,
    NULL,
};

static bool deflate_part(struct ta_slice bytes, bool is_last, struct ta_deflated *packed)
{
    for (ta_deflate_part *const *with = ta_deflate_parts; *with; with++) {
        if ((*with)(bytes, is_last, packed))
            return true;
        free(packed->bytes);
        packed->bytes = NULL;
    }
    return false;
}

/* ---- all parts of a piece of a stream -------------------------------------------------------- */

struct ta_deflater {
    struct ta_ctx *ctx;
    ta_deflate_write *write;
    void *user;
    bool is_gzip; /* or RFC 1950 */
    uLong check;  /* CRC-32 of gzip, Adler-32 of RFC 1950 */
    uint64_t length;
    size_t used;
    char *gathered; /* GATHERED_MOST bytes; NULL where all bytes are there at once */
};

enum { GATHERED_MOST = 8 * TA_DEFLATE_PART };

struct piece {
    struct ta_slice bytes;
    bool is_gzip, is_last;
    struct ta_deflated *parts;
    size_t n;
};

static struct ta_slice part_of(const struct piece *piece, size_t i)
{
    const size_t start = i * TA_DEFLATE_PART, left = piece->bytes.len - start;
    return ta_slice_part(piece->bytes, start,
                         start + (left < TA_DEFLATE_PART ? left : TA_DEFLATE_PART));
}

static enum ta_status do_part(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct piece *piece = user;
    const struct ta_slice bytes = part_of(piece, i);
    struct ta_deflated *part = &piece->parts[i];
    const Bytef *at = (const Bytef *)bytes.ptr;
    part->check = piece->is_gzip ? crc32(crc32(0, NULL, 0), at, (uInt)bytes.len)
                                 : adler32(adler32(0, NULL, 0), at, (uInt)bytes.len);
    return deflate_part(bytes, piece->is_last && i + 1 == piece->n, part)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot deflate");
}

/* Packs and writes some more of a stream; false after ta_fail(). */
static bool pack(struct ta_deflater *d, struct ta_slice bytes, bool is_last)
{
    struct piece piece = {.bytes = bytes,
                          .is_gzip = d->is_gzip,
                          .is_last = is_last,
                          .n = bytes.len / TA_DEFLATE_PART +
                               (bytes.len % TA_DEFLATE_PART || !bytes.len)};
    piece.parts = calloc(piece.n, sizeof *piece.parts);
    if (!piece.parts)
        return ta_fail(d->ctx, TA_ERR_NOMEM, "Cannot deflate") == TA_OK;
    const bool done = ta_share_out(d->ctx, TA_STAGE_RENDER, piece.n, do_part, &piece) == TA_OK;
    for (size_t i = 0; i < piece.n; i++) {
        const struct ta_deflated *part = &piece.parts[i];
        const z_off_t n = (z_off_t)part_of(&piece, i).len;
        if (done)
            d->write(d->user, (struct ta_slice){(const char *)part->bytes, part->size});
        d->check = d->is_gzip ? crc32_combine(d->check, part->check, n)
                              : adler32_combine(d->check, part->check, n);
        free(part->bytes);
    }
    free(piece.parts);
    d->length += bytes.len;
    return done;
}

/* ---- gzip (RFC 1952) ------------------------------------------------------------------------- */

static void put_header(struct ta_deflater *d, const char *comment)
{
    enum { FLAG_COMMENT = 0x10, UNKNOWN_SYSTEM = 0xff };
    static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, FLAG_COMMENT,  0, 0,
                                           0,    0,    0,          UNKNOWN_SYSTEM};
    d->is_gzip = true;
    d->check = crc32(0, NULL, 0);
    d->write(d->user, (struct ta_slice){(const char *)header, sizeof header});
    d->write(d->user, (struct ta_slice){comment, strlen(comment) + 1});
}

static void put_trailer(struct ta_deflater *d)
{
    char trailer[8];
    for (unsigned i = 0; i < 4; i++) {
        trailer[i] = (char)(d->check >> 8 * i);
        trailer[4 + i] = (char)(d->length >> 8 * i);
    }
    d->write(d->user, (struct ta_slice){trailer, sizeof trailer});
}

struct ta_deflater *ta_deflater_new(struct ta_ctx *ctx, const char *comment,
                                    ta_deflate_write *write, void *user)
{
    struct ta_deflater *d = malloc(sizeof *d + GATHERED_MOST);
    if (!d)
        return NULL;
    *d =
        (struct ta_deflater){.ctx = ctx, .write = write, .user = user, .gathered = (char *)(d + 1)};
    put_header(d, comment);
    return d;
}

bool ta_deflater_put(struct ta_deflater *d, struct ta_slice bytes)
{
    while (bytes.len) {
        const size_t room = GATHERED_MOST - d->used;
        const size_t n = bytes.len < room ? bytes.len : room;
        memcpy(d->gathered + d->used, bytes.ptr, n);
        d->used += n;
        bytes = ta_slice_from(bytes, n);
        if (n < room)
            continue;
        d->used = 0;
        if (!pack(d, (struct ta_slice){d->gathered, GATHERED_MOST}, false))
            return false;
    }
    return true;
}

bool ta_deflater_end(struct ta_deflater *d)
{
    if (!pack(d, (struct ta_slice){d->gathered, d->used}, true))
        return false;
    put_trailer(d);
    return true;
}

void ta_deflater_free(struct ta_deflater *d)
{
    free(d);
}

/* ---- all at once, in memory ------------------------------------------------------------------ */

struct memory {
    unsigned char *at;
    size_t n, max;
    bool failed;
};

static void append(void *user, struct ta_slice bytes)
{
    struct memory *memory = user;
    if (memory->max - memory->n < bytes.len) {
        const size_t max = memory->n + memory->n / 2 + bytes.len;
        unsigned char *grown = memory->failed ? NULL : realloc(memory->at, max);
        if (!grown) {
            memory->failed = true;
            return;
        }
        memory->at = grown;
        memory->max = max;
    }
    if (bytes.len)
        memcpy(memory->at + memory->n, bytes.ptr, bytes.len);
    memory->n += bytes.len;
}

/* Gives what was written; false after ta_fail(). */
static bool hand_over(struct ta_ctx *ctx, struct memory *memory, bool done, unsigned char **packed,
                      size_t *size)
{
    if (done && memory->failed)
        done = ta_fail(ctx, TA_ERR_NOMEM, "Cannot deflate") == TA_OK;
    if (!done) {
        free(memory->at);
        return false;
    }
    *packed = memory->at;
    *size = memory->n;
    return true;
}

bool ta_gzip(struct ta_ctx *ctx, const char *comment, struct ta_slice bytes, unsigned char **packed,
             size_t *size)
{
    struct memory memory = {0};
    struct ta_deflater gzip = {.ctx = ctx, .write = append, .user = &memory};
    put_header(&gzip, comment);
    const bool done = pack(&gzip, bytes, true);
    put_trailer(&gzip);
    return hand_over(ctx, &memory, done, packed, size);
}

bool ta_deflate(struct ta_ctx *ctx, struct ta_slice bytes, unsigned char **packed, size_t *size)
{
    struct memory memory = {0};
    struct ta_deflater zlib = {
        .ctx = ctx, .write = append, .user = &memory, .check = adler32(0, NULL, 0)};
    append(&memory, TA_LIT("\x78\x5e")); /* a window of 32 KiB, and a level between 2 and 5 */
    const bool done = pack(&zlib, bytes, true);
    char trailer[4];
    for (unsigned i = 0; i < 4; i++)
        trailer[i] = (char)(zlib.check >> (24 - 8 * i));
    append(&memory, (struct ta_slice){trailer, sizeof trailer});
    return hand_over(ctx, &memory, done, packed, size);
}
