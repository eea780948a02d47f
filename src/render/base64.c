/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base64: three bytes as four letters, looked up by halves in a table. */
#include "base/write/pieces.h"
#include "render/base64.h"
#include "traceanalyze/output.h"

/* Bytes of a piece and of a line, which are whole groups of three. */
enum { GROUP = 3, LETTERS = 4, HALF_BITS = 12, PIECE = GROUP << 16, LINE = GROUP << 10 };

struct base64 {
    const unsigned char *bytes;
    size_t n;
    char pairs[1 << HALF_BITS][2];
};

static inline void put_group(const struct base64 *base64, unsigned group, char *to)
{
    const char *first = base64->pairs[group >> HALF_BITS];
    const char *second = base64->pairs[group & ((1 << HALF_BITS) - 1)];
    to[0] = first[0];
    to[1] = first[1];
    to[2] = second[0];
    to[3] = second[1];
}

/* Writes the letters of `n` bytes and returns how many. */
static size_t encode(const struct base64 *base64, const unsigned char *bytes, size_t n, char *to)
{
    char *const start = to;
    for (; n >= GROUP; n -= GROUP, bytes += GROUP, to += LETTERS)
        put_group(base64, (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2], to);
    if (n > 0) {
        put_group(base64, (unsigned)bytes[0] << 16 | (n > 1 ? (unsigned)bytes[1] << 8 : 0), to);
        memcpy(to + n + 1, "==", GROUP - n);
        to += LETTERS;
    }
    return (size_t)(to - start);
}

static enum ta_status put_piece(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user)
{
    const struct base64 *base64 = user;
    const size_t start = i * PIECE, left = base64->n - start;
    const size_t end = start + (left < PIECE ? left : PIECE);
    char line[LINE / GROUP * LETTERS];
    (void)ctx;
    for (size_t at = start; at < end; at += LINE) {
        const size_t n = end - at < LINE ? end - at : LINE;
        ta_put(out, (struct ta_slice){line, encode(base64, base64->bytes + at, n, line)});
    }
    return TA_OK;
}

enum ta_status ta_put_base64(struct ta_ctx *ctx, struct ta_file *out, const void *bytes, size_t n)
{
    struct base64 base64 = {.bytes = bytes, .n = n};
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < 1 << HALF_BITS; i++) {
        base64.pairs[i][0] = letters[i >> 6];
        base64.pairs[i][1] = letters[i & 63];
    }
    return ta_put_pieces(ctx, out, (n + PIECE - 1) / PIECE, put_piece, &base64);
}
