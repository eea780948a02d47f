/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files as streams of inflated UTF-8 bytes.
 *
 *     file descriptor → raw → codec → limits → UTF-16 to UTF-8 → ta_reader_read()
 *                       └──── content.c ───┘ on a thread of its own when reading ahead
 */
#ifndef TA_READ_READER_H
#define TA_READ_READER_H

#include "traceanalyze/input.h"

struct ta_part;

/* Bytes after a view on the stream that can be read and are zero, so that a scanner may load whole
 * vectors without looking at the end: two of the largest, 64 bytes each. */
enum { TA_PADDING = 128 };

/* Opens a regular file, or reads `fd` when path is NULL (fd is then taken over). NULL after
 * ta_fail() when it cannot be opened or is no regular file, pipe or character device with data.
 * Accounts go to `quality` and times to the context's; both must outlive the reader. */
struct ta_reader *ta_reader_open(struct ta_ctx *ctx, const char *path, int fd,
                                 struct ta_quality *quality);
/* Reads what a thread is given of a stream (relay.h), whose part this stays from call to call of
 * ta_relay_begin().  NULL without memory. */
struct ta_reader *ta_reader_of_part(struct ta_part *part, size_t block, struct ta_quality *quality);
void ta_reader_close(struct ta_reader *reader);

bool ta_reader_is_utf8(const struct ta_reader *reader); /* and was not transcoded */
bool ta_reader_is_packed(const struct ta_reader *reader);

/* From here on accounts go there. */
void ta_reader_account_to(struct ta_reader *reader, struct ta_quality *quality);

/* How many bytes to ask for at a time, as the run says (struct ta_shared), or as is best. */
size_t ta_reader_block(const struct ta_reader *reader);

/* Has a thread of its own inflate from here on, up to four such blocks ahead.  What is read, and
 * what is accounted for it, stays the same.  Without effect where it is of no use: a file that is
 * not compressed or has been read, a pipe, no thread to be had. */
void ta_reader_read_ahead(struct ta_reader *reader);

/* ta_reader_read() without a copy, for callers that scan in place and keep the last `n_kept`
 * bytes: lends a block with these put before it and TA_PADDING zeros after it.  Sets *bytes to
 * the first of them, and returns how many bytes follow them; 0 is the end, where nothing changes.
 * The block is the caller's until the next call, to which bytes of it may be given as those to
 * keep.  Only when ta_reader_lends() says so, which it does while a thread reads ahead, or of a
 * part, and few bytes are kept. */
bool ta_reader_lends(struct ta_reader *reader, size_t n_kept);
size_t ta_reader_lend(struct ta_reader *reader, const char *kept, size_t n_kept, char **bytes);

/* Says that bytes at the end were read and cannot be used, as what comes before them is broken:
 * the file counts as cut there. */
void ta_reader_leave(struct ta_reader *reader, uint64_t bytes);
uint64_t ta_reader_left(const struct ta_reader *reader);

/* Bytes taken from the file and given out so far. */
uint64_t ta_reader_bytes(const struct ta_reader *reader);
uint64_t ta_reader_raw_bytes(const struct ta_reader *reader);

/* Which share of the file that is, 0 … 1, at an address that stays; 0 when nobody knows: of a pipe,
 * or a part. */
const double *ta_reader_share(const struct ta_reader *reader);

/* For a look at a file that is read again later: what was taken from it so far does not count for
 * the progress.  Not while another thread reads ahead. */
void ta_reader_uncount(struct ta_reader *reader);

#endif
