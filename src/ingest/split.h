/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading one file on several threads, plain or packed, with the result that one thread would
 * give; read/relay.h says how they share the stream. */
#ifndef TA_SPLIT_H
#define TA_SPLIT_H

#include "analyze/analyze.h"
#include "base/context.h"
#include "model/builder.h"
#include "traceanalyze/input.h"

enum { TA_SPLIT_MOST = 64 }; /* threads for one file at most */

/* What they have read. */
struct ta_split {
    struct ta_builder builder; /* as of one reading, but for its accounts; the caller frees it */
    struct ta_quality quality;
    uint64_t bytes, raw_bytes; /* as ta_reader_bytes() and ta_reader_raw_bytes() say at the end */
    bool early;                /* as ta_reader_ended_early() says */
    size_t n_parts, n_passed;  /* parts that were read, and how many of them in vain */
};

/* Reads what `source` gives with this thread and the helpers of its context; the source stays the
 * caller's, and can be read no more.  True when `split` holds all of it; its builder and quality
 * are the caller's then.  False when there is nothing: after ta_fail() with *status set, or with
 * TA_OK when the file must be read in one go, because a part cannot tell what it would have found
 * there, or because it is no file to read in parts. */
bool ta_split_read(struct ta_ctx *ctx, struct ta_reader *source, const struct ta_input_ops *input,
                   const struct ta_plan *plan, struct ta_split *split, enum ta_status *status);

#endif
