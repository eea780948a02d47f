/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams of RFC 1951 in parts.  Parts of a fixed size are deflated each by itself, on all threads
 * that are free, and stand one behind the other: the bytes do not depend on who made which part. */
#ifndef TA_RENDER_DEFLATE_PARTS_H
#define TA_RENDER_DEFLATE_PARTS_H

#include "traceanalyze/base.h"

enum { TA_DEFLATE_PART = 1 << 20 };

/* What came of one part; to free(). */
struct ta_deflated {
    unsigned char *bytes;
    size_t size;
};

/* Deflates a part without header and trailer; all but the last one end at a whole byte.  False
 * without memory. */
bool ta_deflate_part(struct ta_slice bytes, bool is_last, struct ta_deflated *packed);
/* The same with zlib, which ta_deflate_part() takes where there is nothing faster. */
bool ta_deflate_part_zlib(struct ta_slice bytes, bool is_last, struct ta_deflated *packed);

/* ---- gzip ---------------------------------------------------------------------------------- */

struct ta_ctx;
struct ta_gzip;

/* Takes packed bytes. */
typedef void ta_gzip_write(void *user, struct ta_slice packed);

/* Starts a stream of RFC 1952 whose header holds `comment`.  Several parts are gathered and packed
 * on the helpers of `ctx`, which must outlive the stream.  NULL without memory. */
struct ta_gzip *ta_gzip_new(struct ta_ctx *ctx, const char *comment, ta_gzip_write *write,
                            void *user);
/* Both are false without memory; what was written then is no whole stream. */
bool ta_gzip_put(struct ta_gzip *gzip, struct ta_slice bytes) TA_MUST_CHECK;
bool ta_gzip_end(struct ta_gzip *gzip) TA_MUST_CHECK;
void ta_gzip_free(struct ta_gzip *gzip);

#endif
