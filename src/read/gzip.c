/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip (RFC 1952) over zlib's raw inflate: several members, padding, and damage with its place.
 *
 * Our own loop instead of gzread(), which hides trailing bytes and cut streams. */
#include "read/codec.h"

#include "base/quality.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum part { HEADER, BODY, TRAILER, FINISHED };

struct gzip {
    z_stream z;
    enum part part;
    bool first; /* no member has been completed */
    uint32_t crc, length;
};

static bool recognize(const unsigned char *head, size_t size)
{
    return size >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static void *open_gzip(void)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    if (inflateInit2(&gzip->z, -MAX_WBITS) != Z_OK) {
        free(gzip);
        return NULL;
    }
    gzip->first = true;
    return gzip;
}

static void close_gzip(void *state)
{
    struct gzip *gzip = state;
    inflateEnd(&gzip->z);
    free(gzip);
}

static int next_byte(struct ta_raw *raw)
{
    if (raw->at == raw->end && !ta_raw_fill(raw))
        return -1;
    raw->consumed++;
    return raw->buffer[raw->at++];
}

static bool skip(struct ta_raw *raw, unsigned count)
{
    while (count--)
        if (next_byte(raw) < 0)
            return false;
    return true;
}

static bool skip_text(struct ta_raw *raw)
{
    int byte;
    do {
        byte = next_byte(raw);
    } while (byte > 0);
    return byte == 0;
}

/* The rest of a member header behind its two magic bytes; false when the file ends in it. */
static bool skip_header(struct ta_raw *raw)
{
    enum { HCRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };
    int method = next_byte(raw), flags = next_byte(raw);
    if (method < 0 || flags < 0 || !skip(raw, 6))
        return false;
    if (flags & EXTRA) {
        int low = next_byte(raw), high = next_byte(raw);
        if (low < 0 || high < 0 || !skip(raw, (unsigned)(low | high << 8)))
            return false;
    }
    if (flags & NAME && !skip_text(raw))
        return false;
    if (flags & COMMENT && !skip_text(raw))
        return false;
    return !(flags & HCRC) || skip(raw, 2);
}

/* Damage has a place in the compressed file only: what the content would be is not known. */
#define account(quality, code, file_offset, ...)                                                   \
    ta_quality_add_severity((quality), (code), ta_quality_severity(code), TA_NO_OFFSET,            \
                            (file_offset), __VA_ARGS__)

static enum part cut(struct ta_quality *quality, const struct ta_raw *raw, const char *where,
                     bool *early)
{
    account(quality, TA_Q_GZIP_TRUNCATED, raw->consumed,
            "The compressed file ends in %s, at its byte offset %" PRIu64, where, raw->consumed);
    *early = true;
    return FINISHED;
}

/* Between members: another one, zero padding, or bytes that are not gzip. */
static enum part next_member(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality,
                             bool *early)
{
    uint64_t start = raw->consumed;
    int byte = next_byte(raw);
    while (byte == 0 && !gzip->first)
        byte = next_byte(raw);
    if (byte < 0)
        return FINISHED;
    if (byte != 0x1f || next_byte(raw) != 0x8b) {
        account(quality, TA_Q_GZIP_TRAILING, start,
                "Bytes that are not gzip follow the last member, at byte offset %" PRIu64
                " of the compressed file",
                start);
        return FINISHED;
    }
    if (!skip_header(raw))
        return cut(quality, raw, "a member header", early);
    inflateReset(&gzip->z);
    gzip->crc = (uint32_t)crc32(0, NULL, 0);
    gzip->length = 0;
    return BODY;
}

static enum part check_trailer(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality,
                               bool *early)
{
    uint32_t word[2] = {0};
    for (unsigned i = 0; i < 8; i++) {
        int byte = next_byte(raw);
        if (byte < 0)
            return cut(quality, raw, "the trailer of a member", early);
        word[i / 4] |= (uint32_t)byte << (i % 4 * 8);
    }
    gzip->first = false;
    if (word[0] != gzip->crc || word[1] != gzip->length)
        account(quality, TA_Q_GZIP_CHECKSUM, raw->consumed,
                "The %s of a gzip member does not match, before byte offset %" PRIu64
                " of the compressed file",
                word[0] != gzip->crc ? "checksum" : "length", raw->consumed);
    return HEADER;
}

static size_t inflate_some(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality,
                           char *out, size_t max, bool *early)
{
    z_stream *z = &gzip->z;
    z->next_out = (unsigned char *)out;
    z->avail_out = max > UINT_MAX ? UINT_MAX : (unsigned)max;
    const unsigned room = z->avail_out;
    while (gzip->part == BODY && z->avail_out == room) {
        if (raw->at == raw->end && !ta_raw_fill(raw)) {
            gzip->part = cut(quality, raw, "compressed data", early);
            break;
        }
        z->next_in = raw->buffer + raw->at;
        z->avail_in = (unsigned)(raw->end - raw->at);
        int result = inflate(z, Z_NO_FLUSH);
        size_t used = raw->end - raw->at - z->avail_in;
        raw->at += used;
        raw->consumed += used;
        if (result == Z_STREAM_END) {
            gzip->part = TRAILER;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            account(quality, TA_Q_GZIP_CORRUPT, raw->consumed,
                    "Corrupt compressed data at byte offset %" PRIu64 " of the compressed file: %s",
                    raw->consumed, z->msg ? z->msg : "invalid stream");
            *early = true;
            gzip->part = FINISHED;
        }
    }
    const size_t got = room - z->avail_out;
    gzip->crc = (uint32_t)crc32_z(gzip->crc, (const unsigned char *)out, got);
    gzip->length += (uint32_t)got;
    return got;
}

static size_t read_gzip(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                        size_t max, bool *early)
{
    struct gzip *gzip = state;
    size_t got = 0;
    while (got == 0 && gzip->part != FINISHED) {
        if (gzip->part == HEADER)
            gzip->part = next_member(gzip, raw, quality, early);
        if (gzip->part == BODY)
            got = inflate_some(gzip, raw, quality, out, max, early);
        if (gzip->part == TRAILER)
            gzip->part = check_trailer(gzip, raw, quality, early);
    }
    return got;
}

const struct ta_codec ta_codec_gzip = {"gzip", recognize, open_gzip, read_gzip, close_gzip};
