/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip (RFC 1952) over raw inflate: several members, padding, and damage with its place.
 *
 * Our own loop instead of gzread(), which hides trailing bytes and cut streams.
 *
 * A member that does not come out right is inflated again by the strict inflater, from its start
 * and without handing out anything twice.  So a damaged file gives the same content and the same
 * findings whatever inflater this build has, and the fast path stays free of checks.
 *
 * An inflater that is not strict goes on after some damage and stumbles later.  How much of what
 * it makes of that is handed out must not depend on how much is asked for at a time: its output is
 * handed out in whole quanta of QUANTUM bytes, counted from the start of the member, and of one in
 * which it stumbles nothing is. */
#include "read/codec.h"

#include "base/quality.h"

#include <inttypes.h>
#include <stdlib.h>

enum { QUANTUM = 64 * 1024 };

enum part { HEADER, BODY, TRAILER, FINISHED };

/* Of a member header: the only method there is, and the flags. */
enum { DEFLATE = 8 };
enum { HCRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, RESERVED = 0xe0 };

struct gzip {
    const struct ta_inflater *inflater;
    void *inflating; /* state of the inflater */
    enum part part;
    bool first; /* no member has been completed */
    /* Of the present member: */
    uint64_t body;        /* where in the file its compressed data begin */
    uint64_t given;       /* bytes of content handed out */
    uint64_t again;       /* bytes still to be inflated that were handed out before */
    uint32_t crc, length; /* of what was inflated */
    /* A quantum that less was asked for than it has: */
    size_t held_at, held_end;
    char held[QUANTUM];
};

static bool recognize(const unsigned char *head, size_t size)
{
    return size >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static void *open_gzip(const struct ta_inflater *inflater)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->inflater = inflater;
    gzip->inflating = inflater->open();
    gzip->first = true;
    if (gzip->inflating)
        return gzip;
    free(gzip);
    return NULL;
}

static void close_gzip(void *state)
{
    struct gzip *gzip = state;
    gzip->inflater->close(gzip->inflating);
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

/* Damage has a place in the compressed file only: what the content would be is not known. */
#define account(quality, code, file_offset, ...)                                                   \
    ta_quality_add_severity((quality), (code), ta_quality_info(code)->severity, TA_NO_OFFSET,      \
                            (file_offset), __VA_ARGS__)

static enum part cut(struct ta_quality *quality, const struct ta_raw *raw, const char *where,
                     bool *early)
{
    account(quality, TA_Q_GZIP_TRUNCATED, raw->consumed,
            "The compressed file ends in %s, at its byte offset %" PRIu64, where, raw->consumed);
    *early = true;
    return FINISHED;
}

/* Notes a header byte, the last one read, that RFC 1952 gives no meaning. */
static enum part refuse_header(struct ta_quality *quality, const struct ta_raw *raw,
                               const char *field, int byte, const char *expected, bool *early)
{
    const uint64_t offset = raw->consumed - 1;
    account(quality, TA_Q_GZIP_CORRUPT, offset,
            "Corrupt gzip header at byte offset %" PRIu64
            " of the compressed file: %s 0x%02x, expected %s",
            offset, field, (unsigned)byte, expected);
    *early = true;
    return FINISHED;
}

/* The fields that the flags of a member announce; false when the file ends in them. */
static bool skip_fields(struct ta_raw *raw, int flags)
{
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

/* The rest of a member header after its two magic bytes: BODY when it is whole. */
static enum part read_header(struct ta_raw *raw, struct ta_quality *quality, bool *early)
{
    const int method = next_byte(raw);
    if (method >= 0 && method != DEFLATE)
        return refuse_header(quality, raw, "compression method", method, "0x08 (deflate)", early);
    const int flags = next_byte(raw);
    if (flags >= 0 && flags & RESERVED)
        return refuse_header(quality, raw, "flags", flags, "bits 5 to 7 to be 0", early);
    /* After them: time, level and system. */
    const bool is_whole = method >= 0 && flags >= 0 && skip(raw, 6) && skip_fields(raw, flags);
    return is_whole ? BODY : cut(quality, raw, "a member header", early);
}

static enum part start_body(struct gzip *gzip, uint64_t offset)
{
    gzip->inflater->reset(gzip->inflating);
    gzip->body = offset;
    gzip->crc = gzip->length = 0;
    return BODY;
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
    if (read_header(raw, quality, early) != BODY)
        return FINISHED;
    gzip->given = 0;
    return start_body(gzip, raw->consumed);
}

/* Goes back to the start of a member that did not come out right, once, with the strict inflater.
 * False when that has been done or cannot be: then the damage is as it was seen. */
static bool start_again(struct gzip *gzip, struct ta_raw *raw)
{
    if (gzip->inflater->strict || !ta_raw_can_seek(raw))
        return false;
    void *inflating = ta_inflater_zlib.open();
    if (!inflating || !ta_raw_seek(raw, gzip->body)) {
        if (inflating)
            ta_inflater_zlib.close(inflating);
        return false;
    }
    gzip->inflater->close(gzip->inflating);
    gzip->inflater = &ta_inflater_zlib;
    gzip->inflating = inflating;
    gzip->again = gzip->given;
    gzip->part = start_body(gzip, gzip->body);
    return true;
}

/* The result is BODY when the member is to be inflated again. */
static enum part check_trailer(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality,
                               bool *early)
{
    uint32_t word[2] = {0};
    for (unsigned i = 0; i < 8; i++) {
        int byte = next_byte(raw);
        if (byte < 0)
            return start_again(gzip, raw) ? BODY
                                          : cut(quality, raw, "the trailer of a member", early);
        word[i / 4] |= (uint32_t)byte << (i % 4 * 8);
    }
    gzip->first = false;
    if (word[0] == gzip->crc && word[1] == gzip->length)
        return HEADER;
    if (start_again(gzip, raw))
        return BODY;
    account(quality, TA_Q_GZIP_CHECKSUM, raw->consumed,
            "The %s of a gzip member does not match, before byte offset %" PRIu64
            " of the compressed file",
            word[0] != gzip->crc ? "checksum" : "length", raw->consumed);
    return HEADER;
}

static enum part corrupt(struct ta_quality *quality, const struct ta_raw *raw, const char *error,
                         bool *early)
{
    account(quality, TA_Q_GZIP_CORRUPT, raw->consumed,
            "Corrupt compressed data at byte offset %" PRIu64 " of the compressed file: %s",
            raw->consumed, error);
    *early = true;
    return FINISHED;
}

/* One call of the inflater on what the buffer holds. */
static enum ta_inflate_result run_inflater(struct gzip *gzip, struct ta_raw *raw,
                                           struct ta_inflate_io *io, const char **error)
{
    io->in = raw->buffer + raw->at;
    io->in_end = raw->buffer + raw->end;
    const enum ta_inflate_result result = gzip->inflater->run(gzip->inflating, io, error);
    const size_t at = (size_t)(io->in - raw->buffer);
    raw->consumed += (uint64_t)at - raw->at; /* may be less than before, by what was held */
    raw->at = at;
    return result;
}

static size_t inflate_some(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality,
                           char *out, size_t max, bool *early)
{
    unsigned char *const start = (unsigned char *)out;
    struct ta_inflate_io io = {.out = start, .out_end = start + max};
    /* In one go: all of a quantum, or something when the inflater is strict. */
    while (gzip->part == BODY && (gzip->inflater->strict ? io.out == start : io.out < io.out_end)) {
        const char *error = NULL;
        const unsigned char *const before = io.out;
        const bool ended = raw->at == raw->end && !ta_raw_fill(raw);
        const enum ta_inflate_result result = run_inflater(gzip, raw, &io, &error);
        const bool is_cut = result == TA_INFLATE_MORE && ended && io.out == before;
        if (result == TA_INFLATE_END)
            gzip->part = TRAILER;
        else if ((is_cut || result == TA_INFLATE_BAD) && start_again(gzip, raw))
            io.out = start;
        else if (is_cut)
            gzip->part = cut(quality, raw, "compressed data", early);
        else if (result == TA_INFLATE_BAD)
            gzip->part = corrupt(quality, raw, error, early);
    }
    /* Counts what was inflated; returns how much of it is new. */
    const size_t size = (size_t)(io.out - start);
    gzip->crc = ta_inflate_crc(gzip->crc, (const unsigned char *)out, size);
    gzip->length += (uint32_t)size;
    const size_t old = gzip->again < size ? (size_t)gzip->again : size;
    gzip->again -= old;
    if (old)
        memmove(out, out + old, size - old);
    return size - old;
}

static size_t read_on(struct gzip *gzip, struct ta_raw *raw, struct ta_quality *quality, char *out,
                      size_t max, bool *early)
{
    size_t got = 0;
    while (got == 0 && gzip->part != FINISHED) {
        if (gzip->part == HEADER)
            gzip->part = next_member(gzip, raw, quality, early);
        if (gzip->part == BODY)
            got = inflate_some(gzip, raw, quality, out, max, early);
        /* At once, while the last bytes of the member can still be taken back. */
        if (gzip->part == TRAILER) {
            gzip->part = check_trailer(gzip, raw, quality, early);
            if (gzip->part == BODY)
                got = 0;
        }
    }
    gzip->given += got;
    return got;
}

static size_t read_gzip(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                        size_t max, bool *early)
{
    struct gzip *gzip = state;
    if (gzip->held_at == gzip->held_end && (gzip->inflater->strict || max >= QUANTUM))
        return read_on(gzip, raw, quality, out, gzip->inflater->strict ? max : QUANTUM, early);
    if (gzip->held_at == gzip->held_end) {
        gzip->held_at = 0;
        gzip->held_end = read_on(gzip, raw, quality, gzip->held, QUANTUM, early);
    }
    const size_t left = gzip->held_end - gzip->held_at, n = left < max ? left : max;
    memcpy(out, gzip->held + gzip->held_at, n);
    gzip->held_at += n;
    return n;
}

const struct ta_codec ta_codec_gzip = {"gzip", recognize, open_gzip, read_gzip, close_gzip};
