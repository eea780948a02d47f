/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are not compressed, and the raw buffer that all codecs read from. */
#include "read/codec.h"

#include <errno.h>
#include <unistd.h>

bool ta_raw_fill(struct ta_raw *raw)
{
    if (raw->eof || raw->error)
        return false;
    ssize_t got;
    do {
        got = read(raw->fd, raw->buffer, TA_RAW_BUFFER);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        raw->error = errno;
    raw->eof = got == 0;
    raw->at = 0;
    raw->end = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static bool recognize(const unsigned char *head, size_t size)
{
    (void)head;
    (void)size;
    return true;
}

static void *open_plain(void)
{
    static char no_state;
    return &no_state;
}

static size_t read_plain(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                         size_t max, bool *early)
{
    (void)state;
    (void)quality;
    if (raw->at == raw->end && !ta_raw_fill(raw)) {
        *early = raw->error != 0;
        return 0;
    }
    size_t n = raw->end - raw->at < max ? raw->end - raw->at : max;
    memcpy(out, raw->buffer + raw->at, n);
    raw->at += n;
    raw->consumed += n;
    return n;
}

static void close_plain(void *state)
{
    (void)state;
}

const struct ta_codec ta_codec_plain = {"plain", recognize, open_plain, read_plain, close_plain};
