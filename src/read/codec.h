/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the bytes of a file become the bytes of its content: one interface for all codecs. */
#ifndef TA_READ_CODEC_H
#define TA_READ_CODEC_H

#include "read/inflate.h"
#include "read/raw.h"
#include "traceanalyze/quality.h"

struct ta_codec {
    const char *name;
    bool (*recognize)(const unsigned char *head, size_t size);
    void *(*open)(const struct ta_inflater *inflater);
    /* Up to `max` bytes of content; 0 at the end.  Sets *early when the stream ended without its
     * end mark. */
    size_t (*read)(void *state, struct ta_raw *raw, struct ta_quality *quality, char *out,
                   size_t max, bool *early);
    void (*close)(void *state);
};

extern const struct ta_codec ta_codec_plain;
extern const struct ta_codec ta_codec_gzip;

#endif
