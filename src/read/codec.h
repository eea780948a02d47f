/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the bytes of a file become the bytes of its content: one interface for all codecs. */
#ifndef TA_READ_CODEC_H
#define TA_READ_CODEC_H

#include "traceanalyze/quality.h"

/* Bytes of the file as it lies on disk, buffered. */
struct ta_raw {
    int fd;
    unsigned char *buffer;
    size_t at, end;    /* unread part of the buffer */
    uint64_t consumed; /* bytes taken by the codec */
    bool eof;
    int error; /* errno of a failed read, 0 otherwise */
};

enum { TA_RAW_BUFFER = 256 * 1024 };

/* Refills an empty buffer; false at the end of the file or after an error. */
bool ta_raw_fill(struct ta_raw *raw);

struct ta_codec {
    const char *name;
    bool (*recognize)(const unsigned char *head, size_t size);
    void *(*open)(void);
    /* Up to `max` bytes of content; 0 at the end.  Sets *early when the stream ended without its
     * end mark. */
    size_t (*read)(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                   size_t max, bool *early);
    void (*close)(void *state);
};

extern const struct ta_codec ta_codec_plain;
extern const struct ta_codec ta_codec_gzip;

#endif
