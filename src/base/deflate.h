/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that is deflated: a gzip file as it is written, a summary, and what a page embeds.
 *
 * Parts of a fixed size are deflated each by itself, on all threads that are free, and follow one
 * another in one stream: the bytes depend on the library of the build, but not on the number of
 * threads. */
#ifndef TA_BASE_DEFLATE_H
#define TA_BASE_DEFLATE_H

#include "traceanalyze/base.h"

/* The bytes as a stream of RFC 1950, by ISA-L where the build has it and by zlib elsewhere: what
 * comes out depends on the library, but not on the number of threads.  The caller frees *packed.
 * False without memory, after ta_fail(). */
bool ta_deflate(struct ta_ctx *ctx, struct ta_slice bytes, unsigned char **packed,
                size_t *size) TA_MUST_CHECK;

struct ta_deflater;

/* Takes packed bytes. */
typedef void ta_deflate_write(void *user, struct ta_slice packed);

/* Starts a stream of RFC 1952 whose header holds `comment`, but no date and no name.  Several parts
 * are gathered and packed on the helpers of `ctx`, which must outlive the stream.  NULL without
 * memory. */
struct ta_deflater *ta_deflater_new(struct ta_ctx *ctx, const char *comment,
                                    ta_deflate_write *write, void *user);
/* Both are false without memory; what was written then is no whole stream. */
bool ta_deflater_put(struct ta_deflater *deflater, struct ta_slice bytes) TA_MUST_CHECK;
bool ta_deflater_end(struct ta_deflater *deflater) TA_MUST_CHECK;
void ta_deflater_free(struct ta_deflater *deflater);

/* All bytes as such a stream in memory.  The caller frees *packed.  False without memory, after
 * ta_fail(). */
bool ta_gzip(struct ta_ctx *ctx, const char *comment, struct ta_slice bytes, unsigned char **packed,
             size_t *size) TA_MUST_CHECK;

/* ---- one part, for tests ------------------------------------------------------------------- */

enum { TA_DEFLATE_PART = 1 << 20 };

struct ta_deflated {
    unsigned char *bytes; /* to free() */
    size_t size;
    unsigned long check; /* the checksum of what was deflated */
};

/* Deflates a part without header and trailer; all but the last one end at a whole byte.  False
 * without memory, or where the result is unusually large; packed->bytes is to be freed then, too.
 */
typedef bool ta_deflate_part(struct ta_slice bytes, bool is_last, struct ta_deflated *packed);

/* By each library of this build, the fastest first; ends with NULL.  The last one can all. */
extern ta_deflate_part *const ta_deflate_parts[];

#endif
