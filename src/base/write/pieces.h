/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file written in pieces, by the threads that are free. */
#ifndef TA_BASE_WRITE_PIECES_H
#define TA_BASE_WRITE_PIECES_H

#include "traceanalyze/base.h"

struct ta_file;

/* Writes piece `i` of a file to `out`, with the context of its thread. */
typedef enum ta_status ta_piece(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user);

/* Writes `n` pieces to `out` in their order.  With helpers several are written at the same time,
 * and kept in memory until those before them are in place.  After a failure no more are begun. */
enum ta_status ta_put_pieces(struct ta_ctx *ctx, struct ta_file *out, size_t n, ta_piece *put,
                             void *user) TA_MUST_CHECK;

#endif
