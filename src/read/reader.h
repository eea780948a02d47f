/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files as streams of inflated UTF-8 bytes.
 *
 *     file descriptor → gzip or plain (codec) → limits → UTF-16 to UTF-8 → ta_reader_read()
 */
#ifndef TA_READ_READER_H
#define TA_READ_READER_H

#include "traceanalyze/input.h"

/* Opens a regular file, or reads `fd` when path is NULL (fd is then taken over).  NULL after
 * ta_fail() when it cannot be opened or is no regular file, pipe or character device with data.
 * Accounts go to `quality`, which must outlive the reader. */
struct ta_reader *ta_reader_open(struct ta_ctx *ctx, const char *path, int fd,
                                 struct ta_quality *quality);
void ta_reader_close(struct ta_reader *reader);

/* The first bytes, without consuming them. */
struct ta_probe ta_reader_probe(struct ta_reader *reader);

/* Bytes taken from the file and given out so far. */
uint64_t ta_reader_bytes(const struct ta_reader *reader);
uint64_t ta_reader_raw_bytes(const struct ta_reader *reader);

#endif
