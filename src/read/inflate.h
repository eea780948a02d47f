/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inflating raw deflate streams (RFC 1951) with one of several libraries.
 *
 * What lies around a stream (the members of a gzip file) is the business of gzip.c. */
#ifndef TA_READ_INFLATE_H
#define TA_READ_INFLATE_H

#include "traceanalyze/base.h"

/* What one call reads and writes; the call moves both places forward.  At the end of a stream and
 * at damage `in` moves to the first byte that does not belong to what was inflated: an inflater
 * may have taken up to TA_INFLATE_HELD bytes more by an earlier call, so those before the first
 * `in` must still be there. */
struct ta_inflate_io {
    const unsigned char *in, *in_end;
    unsigned char *out, *out_end;
};

enum { TA_INFLATE_HELD = 8 };

enum ta_inflate_result {
    TA_INFLATE_MORE, /* needs input, or room for output */
    TA_INFLATE_END,  /* the stream has ended */
    TA_INFLATE_BAD   /* damage; all that came before it has been written */
};

struct ta_inflater {
    const char *name;
    /* Its word counts: it takes no stream that breaks the rules. */
    bool strict;
    void *(*open)(void);
    void (*reset)(void *state); /* for another stream */
    /* Sets *error to what is wrong when it returns TA_INFLATE_BAD.  There must be room for output.
     * Call it without input, too: output may be held back. */
    enum ta_inflate_result (*run)(void *state, struct ta_inflate_io *io, const char **error);
    void (*close)(void *state);
};

extern const struct ta_inflater ta_inflater_zlib;
#ifdef TA_HAVE_ISAL
extern const struct ta_inflater ta_inflater_isal;
#endif

/* All that this build has, the fastest first; ends with NULL. */
extern const struct ta_inflater *const ta_inflaters[];

/* By name; NULL and "auto" mean the fastest.  NULL when this build has none of that name. */
const struct ta_inflater *ta_inflater_find(const char *name);

/* The checksum of gzip (RFC 1952, CRC-32) over some more bytes; `before` starts with 0.  Whoever
 * inflates, the fastest library of this build checks: zlib's own takes a fifth of its inflating. */
uint32_t ta_inflate_crc(uint32_t before, const unsigned char *bytes, size_t size);

#endif
