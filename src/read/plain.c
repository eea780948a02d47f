/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are not compressed. */
#include "read/codec.h"

static bool recognize(const unsigned char *head, size_t size)
{
    (void)head;
    (void)size;
    return true;
}

static void *open_plain(const struct ta_inflater *inflater)
{
    return (void *)(uintptr_t)inflater; /* any pointer: there is no state */
}

static size_t read_plain(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                         size_t max, bool *early)
{
    (void)state;
    (void)quality;
    if (raw->at == raw->end && max >= TA_RAW_BUFFER) {
        /* Past the buffer, which would only be one more copy. */
        const size_t got = ta_raw_read(raw, out, max);
        *early = got == 0 && !raw->eof;
        raw->consumed += got;
        return got;
    }
    if (raw->at == raw->end && !ta_raw_fill(raw)) {
        *early = !raw->eof;
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
