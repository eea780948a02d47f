/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that reads and inflates a file ahead of the one that parses it. */
#ifndef TA_READ_AHEAD_H
#define TA_READ_AHEAD_H

#include "base/stopwatch.h"
#include "read/content.h"

struct ta_ahead;

/* Starts the thread, which fills blocks of `block` bytes; until ta_ahead_close() the content
 * belongs to it.  NULL when there is no memory or no thread for it: then nothing has changed. */
struct ta_ahead *ta_ahead_start(struct ta_content *content, size_t block);

/* Up to `max` bytes, 0 at the end.  What was found while a stretch was inflated goes to
 * `quality` and *facts when its first byte is taken, so nothing is told of what nobody asked
 * for. */
size_t ta_ahead_read(struct ta_ahead *ahead, struct ta_quality *quality,
                     struct ta_content_facts *facts, char *out, size_t max);

/* Instead of ta_ahead_read(): lends the next block as it lies, with `n_kept` bytes put before
 * it, TA_AHEAD_KEPT at most, which may lie in the block lent before.  Sets *bytes to the first
 * of these and returns the size of what follows them; 0 at the end, where nothing changes.
 * TA_PADDING zeros follow the last byte. */
size_t ta_ahead_lend(struct ta_ahead *ahead, struct ta_quality *quality,
                     struct ta_content_facts *facts, const char *kept, size_t n_kept, char **bytes);

enum { TA_AHEAD_KEPT = 64 * 1024 };

/* Ends the thread, at the end of the content or before, and adds what it spent on inflating. */
void ta_ahead_close(struct ta_ahead *ahead, struct ta_lap *spent);

#endif
