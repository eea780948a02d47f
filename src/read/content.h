/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The content of a file, inflated and within the limits of the run; one thread at a time. */
#ifndef TA_READ_CONTENT_H
#define TA_READ_CONTENT_H

#include "read/codec.h"
#include "traceanalyze/base.h"

/* What is known of a file when it has been read up to some place. */
struct ta_content_facts {
    uint64_t bytes;    /* taken from the file */
    uint64_t inflated; /* bytes that left the codec */
    double share;      /* of the file that this is, 0 … 1; 0 when its size is not known */
    bool ended;        /* no content follows */
    bool early;        /* it ended before its own end mark: cut, corrupt, or stopped by a limit */
};

struct ta_content {
    struct ta_raw raw;
    const struct ta_codec *codec;
    void *state;
    struct ta_quality *quality; /* where accounts go; may be changed between calls */
    struct ta_content_facts facts;
    uint64_t limit_ratio, limit_expanded;
    uint64_t told; /* bytes of the file that the progress knows of */
    atomic_uint_fast64_t *progress;
};

/* Takes the descriptor over, whatever it returns. */
enum ta_status ta_content_open(struct ta_ctx *ctx, struct ta_content *content, int fd,
                               struct ta_quality *quality) TA_MUST_CHECK;
void ta_content_close(struct ta_content *content);

/* Up to `max` bytes, 0 at the end. */
size_t ta_content_read(struct ta_content *content, char *out, size_t max);

#endif
