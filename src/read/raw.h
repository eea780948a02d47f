/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a file as they lie on disk, buffered. */
#ifndef TA_READ_RAW_H
#define TA_READ_RAW_H

#include "traceanalyze/base.h"

#include <stdatomic.h>

enum {
    TA_RAW_KEPT = 8, /* bytes before the present ones that stay, for codecs that take too many */
    TA_RAW_BUFFER = 256 * 1024
};

struct ta_raw {
    int fd;
    unsigned char *buffer;
    size_t at, end;    /* unread part of the buffer; at >= TA_RAW_KEPT after a fill */
    uint64_t consumed; /* bytes taken by the codec */
    int64_t start;     /* place of the descriptor when it was opened, -1 when it has none */
    uint64_t size;     /* bytes from there on, 0 when nobody knows */
    bool eof;
    int error; /* errno of a failed read, 0 otherwise */
    const atomic_int *canceled;
};

/* Takes the descriptor over, whatever it returns.  Reading ends early once *canceled is set.
 * False without memory. */
bool ta_raw_open(struct ta_raw *raw, int fd, const atomic_int *canceled);
void ta_raw_close(struct ta_raw *raw);

/* Refills an empty buffer; false at the end of the file, after an error or when canceled: then
 * the buffer stays as it is. */
bool ta_raw_fill(struct ta_raw *raw);

/* Reads after what the buffer holds to another place; 0 at the end, after an error or when
 * canceled.  The caller counts what it consumes. */
size_t ta_raw_read(struct ta_raw *raw, void *out, size_t max);

/* Goes on reading at an offset of the file; false when it cannot (a pipe). */
bool ta_raw_seek(struct ta_raw *raw, uint64_t offset);

static inline bool ta_raw_can_seek(const struct ta_raw *raw)
{
    return raw->start >= 0;
}

#endif
