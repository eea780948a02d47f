/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file as a stream of inflated UTF-8 bytes, within the limits of the run. */
#include "read/reader.h"

#include "base/context.h"
#include "base/quality.h"
#include "read/ahead.h"
#include "read/content.h"
#include "read/page.h"
#include "read/relay.h"
#include "read/utf16.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough to make block borders rare, small enough to stay in the second-level cache. */
enum { BLOCK = 512 * 1024 };

struct ta_reader {
    struct ta_content content;
    size_t block;                  /* bytes to ask for at a time */
    struct ta_lap *inflating;      /* where the time of a thread that reads ahead is added */
    struct ta_ahead *ahead;        /* who owns the content, or NULL */
    struct ta_part *part;          /* what is read instead of content, or NULL */
    struct ta_content_facts facts; /* at the place up to which was read */
    struct ta_quality *quality;
    const struct ta_log_formats *log_formats; /* for the probe */
    struct ta_utf16 utf16;
    struct ta_page page;
    char *head; /* the probe: first bytes, given out before the rest; then UTF-16 as UTF-8 */
    size_t head_at, head_end;
    uint64_t left; /* bytes, see ta_reader_leave() */
};

/* What a path must be to be read: everything else would block, or never end. */
static enum ta_status check_kind(struct ta_ctx *ctx, int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ta_fail(ctx, TA_ERR_INPUT, "Cannot examine the file: %s", strerror(errno));
    if (path && !S_ISREG(st.st_mode))
        return ta_fail(ctx, TA_ERR_INPUT, "Not a regular file but %s: path=\"%s\"",
                       S_ISDIR(st.st_mode)    ? "a folder"
                       : S_ISFIFO(st.st_mode) ? "a named pipe"
                       : S_ISSOCK(st.st_mode) ? "a socket"
                                              : "a device",
                       path);
    return TA_OK;
}

static size_t read_bytes(struct ta_reader *reader, char *out, size_t max)
{
    if (reader->part)
        return ta_part_read(reader->part, reader->quality, out, max);
    if (reader->ahead)
        return ta_ahead_read(reader->ahead, reader->quality, &reader->facts, out, max);
    const size_t got = ta_content_read(&reader->content, out, max);
    reader->facts = reader->content.facts;
    return got;
}

/* The same, of a page that holds an object only the object. */
static size_t read_content(struct ta_reader *reader, char *out, size_t max)
{
    if (reader->page.done)
        return 0;
    return ta_page_take(&reader->page, out, read_bytes(reader, out, max));
}

/* Transcodes the next bytes into the buffer of the probe, which is used up: a caller may ask for
 * less than one character. */
static void refill_text(struct ta_reader *reader)
{
    char wide[4096];
    size_t got;
    reader->head_at = 0;
    do {
        got = read_content(reader, wide, sizeof wide);
        reader->head_end = ta_utf16_convert(&reader->utf16, wide, got, reader->head);
    } while (got && reader->head_end == 0);
    if (got == 0 && ta_utf16_end(&reader->utf16))
        ta_quality_add(reader->quality, TA_Q_TEXT_ENCODING, TA_NO_OFFSET,
                       "The file ends in the middle of a character of UTF-16");
}

/* Removes a byte order mark, or starts to transcode when it is one of UTF-16.  False without
 * memory. */
static bool read_mark(struct ta_reader *reader)
{
    char *head = reader->head;
    size_t size = reader->head_end;
    if (size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        reader->head_at = 3;
        return true;
    }
    if (!ta_utf16_detect(&reader->utf16, head, size))
        return true;
    ta_quality_add(reader->quality, TA_Q_UTF16, 0, "The file is UTF-16 and was read as such");
    char *text = malloc(TA_PROBE_SIZE / 2 * 3 + 16);
    if (!text)
        return false;
    reader->head_end = ta_utf16_convert(&reader->utf16, head + 2, size - 2, text);
    reader->head = text;
    free(head);
    return true;
}

/* Reads on until the buffer of the probe is full. */
static void fill_head(struct ta_reader *reader)
{
    size_t got;
    do {
        got =
            read_content(reader, reader->head + reader->head_end, TA_PROBE_SIZE - reader->head_end);
        reader->head_end += got;
    } while (got && reader->head_end < TA_PROBE_SIZE);
}

/* Goes on to the object in a web page; a page without one stays what its first bytes are.  False
 * without memory. */
static bool read_page(struct ta_reader *reader)
{
    const struct ta_slice head = ta_reader_probe(reader).head;
    const enum ta_page_kind kind =
        ta_utf16_active(&reader->utf16) ? TA_PAGE_NONE : ta_page_is(head);
    if (kind == TA_PAGE_NONE)
        return true;
    char *bytes = malloc(TA_PROBE_SIZE);
    if (!bytes)
        return false;
    size_t n = head.len, keep = 0;
    uint64_t passed = reader->head_at; /* bytes of the page before those in the buffer */
    memcpy(bytes, head.ptr, n);
    for (;;) {
        const char *found = ta_page_find(kind, (struct ta_slice){bytes, n}, &keep);
        if (found) {
            /* Makes `found`, which is in the buffer, the first byte of the stream. */
            const uint64_t place = passed + (uint64_t)(found - bytes);
            n -= (size_t)(found - bytes);
            memmove(bytes, found, n);
            reader->page.active = true;
            free(reader->head);
            reader->head = bytes;
            reader->head_at = 0;
            reader->head_end = ta_page_take(&reader->page, bytes, n);
            fill_head(reader);
            ta_quality_add(reader->quality, TA_Q_EMBEDDED, TA_NO_OFFSET,
                           "The %s stands in a web page, from its byte offset %" PRIu64
                           " on; other byte offsets count from there",
                           kind == TA_PAGE_REPORT ? "report" : "trace", place);
            return true;
        }
        passed += n - keep;
        memmove(bytes, bytes + n - keep, keep);
        const size_t got = read_bytes(reader, bytes + keep, TA_PROBE_SIZE - keep);
        if (got == 0)
            break;
        n = keep + got;
    }
    free(bytes);
    return true;
}

static enum ta_status read_head(struct ta_ctx *ctx, struct ta_reader *reader)
{
    reader->head = malloc(TA_PROBE_SIZE);
    if (!reader->head)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the buffers of a file");
    fill_head(reader);
    if (!read_mark(reader) || !read_page(reader))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the buffers of a file");
    return TA_OK;
}

struct ta_reader *ta_reader_open(struct ta_ctx *ctx, const char *path, int fd,
                                 struct ta_quality *quality)
{
    /* Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever. */
    if (path)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        ta_fail(ctx, TA_ERR_INPUT, "Cannot open the file: %s", strerror(errno));
        return NULL;
    }
    struct ta_reader *reader = NULL;
    if (check_kind(ctx, fd, path) == TA_OK) {
        reader = calloc(1, sizeof *reader);
        if (!reader)
            ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a reader");
    }
    if (!reader) {
        close(fd);
        return NULL;
    }
    reader->quality = quality;
    reader->log_formats = ctx->shared->log_formats;
    reader->inflating = &ctx->times.stages[TA_STAGE_INFLATE];
    reader->block = ctx->shared->block ? ctx->shared->block : BLOCK;
    if (ta_content_open(ctx, &reader->content, fd, quality) != TA_OK ||
        read_head(ctx, reader) != TA_OK) {
        ta_reader_close(reader);
        return NULL;
    }
    return reader;
}

struct ta_reader *ta_reader_of_part(struct ta_part *part, size_t block, struct ta_quality *quality)
{
    struct ta_reader *reader = calloc(1, sizeof *reader);
    if (reader)
        *reader = (struct ta_reader){.part = part, .block = block, .quality = quality};
    return reader;
}

void ta_reader_close(struct ta_reader *reader)
{
    if (!reader)
        return;
    ta_ahead_close(reader->ahead, reader->inflating);
    if (!reader->part)
        ta_content_close(&reader->content);
    free(reader->head);
    free(reader);
}

void ta_reader_read_ahead(struct ta_reader *reader)
{
    if (!reader->facts.ended && !reader->ahead && reader->content.codec != &ta_codec_plain &&
        ta_raw_can_seek(&reader->content.raw))
        reader->ahead = ta_ahead_start(&reader->content, reader->block);
}

size_t ta_reader_block(const struct ta_reader *reader)
{
    return reader->block;
}

struct ta_probe ta_reader_probe(struct ta_reader *reader)
{
    return (struct ta_probe){
        .head = {reader->head + reader->head_at, reader->head_end - reader->head_at},
        .whole = reader->facts.ended || reader->page.done,
        .log_formats = reader->log_formats,
    };
}

size_t ta_reader_read(struct ta_reader *reader, char *buffer, size_t max)
{
    if (reader->head_at == reader->head_end && ta_utf16_active(&reader->utf16))
        refill_text(reader);
    else if (reader->head_at == reader->head_end)
        return read_content(reader, buffer, max);
    size_t left = reader->head_end - reader->head_at;
    size_t n = left < max ? left : max;
    memcpy(buffer, reader->head + reader->head_at, n);
    reader->head_at += n;
    return n;
}

bool ta_reader_is_utf8(const struct ta_reader *reader)
{
    return !ta_utf16_active(&reader->utf16);
}

bool ta_reader_is_packed(const struct ta_reader *reader)
{
    return reader->content.codec != &ta_codec_plain;
}

void ta_reader_account_to(struct ta_reader *reader, struct ta_quality *quality)
{
    reader->quality = reader->content.quality = quality;
}

bool ta_reader_lends(struct ta_reader *reader, size_t n_kept)
{
    if (reader->part)
        return n_kept <= TA_PART_KEPT && ta_part_lends(reader->part, reader->quality);
    return reader->ahead && reader->head_at == reader->head_end && !reader->page.active &&
           !ta_utf16_active(&reader->utf16) && n_kept <= TA_AHEAD_KEPT;
}

size_t ta_reader_lend(struct ta_reader *reader, const char *kept, size_t n_kept, char **bytes)
{
    if (reader->part)
        return ta_part_lend(reader->part, kept, n_kept, bytes);
    return ta_ahead_lend(reader->ahead, reader->quality, &reader->facts, kept, n_kept, bytes);
}

void ta_reader_leave(struct ta_reader *reader, uint64_t bytes)
{
    reader->left += bytes;
}

uint64_t ta_reader_left(const struct ta_reader *reader)
{
    return reader->left;
}

bool ta_reader_ended_early(const struct ta_reader *reader)
{
    return reader->facts.early;
}

struct ta_quality *ta_reader_quality(struct ta_reader *reader)
{
    return reader->quality;
}

uint64_t ta_reader_bytes(const struct ta_reader *reader)
{
    return reader->facts.bytes;
}

uint64_t ta_reader_raw_bytes(const struct ta_reader *reader)
{
    return reader->facts.inflated;
}

const double *ta_reader_share(const struct ta_reader *reader)
{
    return &reader->facts.share;
}

void ta_reader_uncount(struct ta_reader *reader)
{
    atomic_fetch_sub_explicit(reader->content.progress, reader->content.told, memory_order_relaxed);
    reader->content.told = 0;
}
