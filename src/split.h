/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading one plain file on several threads, each from another place of it, with the result that
 * one thread would give; parse/part.h says how the parts find together. */
#ifndef TA_SPLIT_H
#define TA_SPLIT_H

#include "analyze/analyze.h"
#include "base/context.h"
#include "model/builder.h"
#include "traceanalyze/input.h"

enum { TA_SPLIT_MOST = 64 }; /* parts of one file at most */

/* A file, and where its parts begin. */
struct ta_split_plan {
    int fd; /* of a regular file; its place does not matter */
    bool in_object;
    size_t n_cuts; /* parts but the first; 0: the file is not one to split */
    uint64_t cuts[TA_SPLIT_MOST - 1];
};

/* Looks at the beginning of the file, and for an opening brace at or behind each of `n` rising
 * places.  None are found in a file that is compressed, not UTF-8, or no JSON from its first byte
 * on. */
struct ta_split_plan ta_split_plan(int fd, const uint64_t *places, size_t n);

/* What reading in parts gave. */
struct ta_split {
    struct ta_builder builder; /* as of one reading, but for its accounts; the caller frees it */
    struct ta_quality quality;
    uint64_t bytes, raw_bytes; /* as ta_reader_bytes() and ta_reader_raw_bytes() say at the end */
    bool early;                /* as ta_reader_ended_early() says */
    size_t n_used;             /* parts that fit together, the first one too */
};

/* Reads with a thread per part besides the calling one.  True when `split` holds the whole file;
 * its builder and quality are the caller's then.  False when there is nothing: after ta_fail() with
 * *status set, or with TA_OK when the file must be read in one go, because a part cannot tell what
 * it would have found there or there is no means to read in parts. */
bool ta_split_read(struct ta_ctx *ctx, const struct ta_input_ops *input, const struct ta_plan *plan,
                   const struct ta_split_plan *cuts, struct ta_split *split,
                   enum ta_status *status);

#endif
