/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file as a stream of inflated UTF-8 bytes, within the limits of the run. */
#include "read/reader.h"

#include "base/context.h"
#include "base/quality.h"
#include "read/codec.h"
#include "read/utf16.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A ratio of expanded to compressed bytes says nothing about the start of a file. */
#define RATIO_FROM (UINT64_C(64) << 20)

struct ta_reader {
    struct ta_raw raw;
    const struct ta_codec *codec;
    void *state;
    struct ta_quality *quality;
    struct ta_utf16 utf16;
    uint64_t limit_ratio, limit_expanded;
    uint64_t inflated; /* bytes that left the codec */
    uint64_t told;     /* bytes of the file that the progress knows of */
    atomic_uint_fast64_t *progress;
    bool ended, early;
    char *head; /* the probe: first bytes, given out before the rest; then UTF-16 as UTF-8 */
    size_t head_at, head_end;
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

/* Bytes of content after the limits: the codec's output until one is reached. */
static size_t read_content(struct ta_reader *reader, char *out, size_t max)
{
    if (reader->ended)
        return 0;
    const char *reached = NULL;
    if (reader->inflated >= reader->limit_expanded)
        reached = "expanded";
    else if (reader->codec != &ta_codec_plain && reader->inflated > RATIO_FROM &&
             reader->inflated / reader->limit_ratio > reader->raw.consumed)
        reached = "ratio";
    if (reached) {
        ta_quality_add(
            reader->quality, TA_Q_LIMIT, reader->inflated,
            "Reading stopped at the limit \"%s\" (--limit %s=…), at byte offset %" PRIu64, reached,
            reached, reader->inflated);
        reader->ended = reader->early = true;
        return 0;
    }
    bool early = false;
    size_t got =
        reader->codec->read(reader->state, &reader->raw, reader->quality, out, max, &early);
    if (got == 0)
        reader->ended = true;
    reader->early |= early;
    reader->inflated += got;
    atomic_fetch_add_explicit(reader->progress, reader->raw.consumed - reader->told,
                              memory_order_relaxed);
    reader->told = reader->raw.consumed;
    if (reader->raw.error && got == 0)
        ta_quality_add(reader->quality, TA_Q_TRUNCATED, reader->inflated,
                       "Reading failed at byte offset %" PRIu64 " of the file: %s",
                       reader->raw.consumed, strerror(reader->raw.error));
    return got;
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
}

/* Removes a byte order mark, or starts to transcode when it is one of UTF-16. */
static void read_mark(struct ta_reader *reader)
{
    char *head = reader->head;
    size_t size = reader->head_end;
    if (size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        reader->head_at = 3;
        return;
    }
    if (!ta_utf16_detect(&reader->utf16, head, size))
        return;
    ta_quality_add(reader->quality, TA_Q_UTF16, 0, "The file is UTF-16 and was read as such");
    char *text = malloc(TA_PROBE_SIZE / 2 * 3 + 16);
    if (!text) {
        reader->ended = reader->early = true;
        return;
    }
    reader->head_end = ta_utf16_convert(&reader->utf16, head + 2, size - 2, text);
    reader->head = text;
    free(head);
}

static enum ta_status open_stream(struct ta_ctx *ctx, struct ta_reader *reader, const char *path)
{
    reader->raw.buffer = malloc(TA_RAW_BUFFER);
    reader->head = malloc(TA_PROBE_SIZE);
    if (!reader->raw.buffer || !reader->head)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the buffers of a file");
    enum ta_status status = check_kind(ctx, reader->raw.fd, path);
    if (status != TA_OK)
        return status;
    ta_raw_fill(&reader->raw);
    reader->codec = ta_codec_gzip.recognize(reader->raw.buffer, reader->raw.end) ? &ta_codec_gzip
                                                                                 : &ta_codec_plain;
    reader->state = reader->codec->open();
    if (!reader->state)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a decoder");
    while (reader->head_end < TA_PROBE_SIZE) {
        size_t got =
            read_content(reader, reader->head + reader->head_end, TA_PROBE_SIZE - reader->head_end);
        if (got == 0)
            break;
        reader->head_end += got;
    }
    read_mark(reader);
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
    struct ta_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a reader");
        close(fd);
        return NULL;
    }
    reader->raw.fd = fd;
    reader->quality = quality;
    reader->progress = &ctx->shared->read;
    reader->limit_ratio = ta_ctx_limit(ctx, TA_LIMIT_RATIO);
    reader->limit_expanded = ta_ctx_limit(ctx, TA_LIMIT_EXPANDED);
    if (open_stream(ctx, reader, path) != TA_OK) {
        ta_reader_close(reader);
        return NULL;
    }
    return reader;
}

void ta_reader_close(struct ta_reader *reader)
{
    if (!reader)
        return;
    if (reader->state)
        reader->codec->close(reader->state);
    close(reader->raw.fd);
    free(reader->raw.buffer);
    free(reader->head);
    free(reader);
}

struct ta_probe ta_reader_probe(struct ta_reader *reader)
{
    return (struct ta_probe){
        .head = {reader->head + reader->head_at, reader->head_end - reader->head_at},
        .whole = reader->ended,
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

bool ta_reader_ended_early(const struct ta_reader *reader)
{
    return reader->early;
}

struct ta_quality *ta_reader_quality(struct ta_reader *reader)
{
    return reader->quality;
}

uint64_t ta_reader_bytes(const struct ta_reader *reader)
{
    return reader->raw.consumed;
}

uint64_t ta_reader_raw_bytes(const struct ta_reader *reader)
{
    return reader->inflated;
}
