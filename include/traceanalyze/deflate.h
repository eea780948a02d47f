/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compressing what a product embeds. */
#ifndef TRACEANALYZE_DEFLATE_H
#define TRACEANALYZE_DEFLATE_H

#include "status.h"

TA_BEGIN_DECLS

/* The bytes as a stream of RFC 1950, by ISA-L where the build has it and by zlib elsewhere: what
 * comes out depends on the library, but not on the number of threads.  The caller frees *packed.
 * False without memory, after ta_fail(). */
TA_API bool ta_deflate(struct ta_ctx *ctx, struct ta_slice bytes, unsigned char **packed,
                       size_t *size) TA_MUST_CHECK;

TA_END_DECLS

#endif
