/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inflating with zlib: everywhere, and strict. */
#include "read/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

static void *open_zlib(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, -MAX_WBITS) == Z_OK)
        return z;
    free(z);
    return NULL;
}

static void reset(void *state)
{
    inflateReset(state);
}

static void close_zlib(void *state)
{
    inflateEnd(state);
    free(state);
}

static unsigned size_of(const unsigned char *start, const unsigned char *end)
{
    const size_t size = (size_t)(end - start);
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

static enum ta_inflate_result run(void *state, struct ta_inflate_io *io, const char **error)
{
    z_stream *z = state;
    z->next_in = (unsigned char *)io->in; /* zlib was built without const */
    z->avail_in = size_of(io->in, io->in_end);
    z->next_out = io->out;
    z->avail_out = size_of(io->out, io->out_end);
    const int result = inflate(z, Z_NO_FLUSH);
    io->in = z->next_in;
    io->out = z->next_out;
    if (result == Z_OK || result == Z_BUF_ERROR)
        return TA_INFLATE_MORE;
    if (result == Z_STREAM_END)
        return TA_INFLATE_END;
    *error = z->msg ? z->msg : result == Z_MEM_ERROR ? "out of memory" : "invalid stream";
    return TA_INFLATE_BAD;
}

const struct ta_inflater ta_inflater_zlib = {"zlib", true, open_zlib, reset, run, close_zlib};
