/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One stream read by several threads in turn, with the result of reading it in one go.
 *
 *     ├──────── part 0 ────────┤├──────── part 1 ────────┤├──── part 2 …
 *     {"traceEvents": [ {…}, {…}, … {…}, {…}, {…}, … {…}, {…}, {…}, …
 *     ├──────── block 0 ─────────┤    │               cut ▲   │
 *                            cut ▲ ├──────── block 1 ─────────┤
 *
 * One thread at a time has the turn: it fills a block with the next bytes of the stream, looks near
 * their end for an object that could be a record, and hands the turn over. There, at the cut, the
 * next part begins; what was filled after it goes to both. Then it parses its own part, still in
 * the cache, while others fill and parse theirs.
 *
 * Whoever reads a part but the first one guesses that at its start the walk is between two records
 * of the one array. The part before comes to that place at last, and only then is the guess right
 * or wrong: right when it is exactly there, in the state that was assumed. Then everything after
 * goes as if it had read it itself, and it stops. Otherwise it passes: it takes over the block of
 * the next part, which is in vain, and reads on to the start of the one after.
 *
 * Parts stand in a queue in the order of the stream. The first one is sure to be right: all before
 * it have come to its start. Only it may pass others, read beyond its own block, and hand in its
 * result; so a block stays until nobody can need it, and memory is bounded by the number of
 * threads, whatever the stream holds. A block without a cut is not handed over: its part goes on
 * with the next one. */
#ifndef TA_READ_RELAY_H
#define TA_READ_RELAY_H

#include "base/stopwatch.h"
#include "read/reader.h"

#include <pthread.h>

struct ta_relay;
struct ta_relay_block;
struct ta_json;

/* What one thread reads of a stream at a time.  A whole stream is a part without a relay. */
struct ta_part {
    uint64_t start;  /* offset of its first byte; 0: the beginning, with nothing guessed */
    bool in_object;  /* guess: the array is a member of an object */
    uint64_t border; /* where the next part begins; UINT64_MAX: none does */
    /* Of the walk. */
    bool taken;             /* it was made over this part */
    bool reached;           /* it ended at the border, as the next part has guessed */
    bool unsure;            /* what was found depends on what lies before the start */
    uint64_t attempts;      /* bytes scanned by failed attempts to resume */
    struct ta_json *parked; /* what the next part of this thread goes on with */
    /* Finds the last object in `bytes` that could be a record; 0 without one. */
    size_t (*find)(struct ta_json *json, const char *bytes, size_t n);
    struct ta_json *json;
    /* Of the relay; guarded by its lock unless said otherwise. */
    struct ta_relay *relay;
    struct ta_part *next;            /* in the queue */
    bool passed;                     /* the part before read on beyond its start */
    struct ta_relay_block *block;    /* the present one */
    struct ta_relay_block *before;   /* of the thread: the one before, until its end was kept */
    struct ta_relay_block *followed; /* blocks of parts that were passed, to be read next */
    bool in_vain;                    /* of the thread: its block was filled for another part */
    uint64_t given;                  /* of the thread: end of the bytes that it was given */
    double share;          /* of the thread: of the stream, up to the end of what it filled */
    struct ta_lap filling; /* of the thread: what it spent on that */
};

/* A relay of `n` threads over what `source` reads from here on, which stays the caller's, in blocks
 * of `size` bytes, of which there are TA_RELAY_SPARE more than threads.  NULL without memory, or
 * when the stream is not one to read in parts: not UTF-8, or no JSON from its first byte on. */
struct ta_relay *ta_relay_new(struct ta_reader *source, size_t n, size_t size);
void ta_relay_free(struct ta_relay *relay);

enum { TA_RELAY_SPARE = 2 };

/* Waits for the turn.  True when there is a part to be read, by what ta_reader_of_part() gives;
 * false when the stream has ended or all is over. */
bool ta_relay_begin(struct ta_relay *relay, struct ta_part *part);

/* The part was read: waits until it is the first one.  False when nobody wants it. */
bool ta_relay_await(struct ta_part *part);

/* The result of the first part was handed in; the next one is the first then. */
void ta_relay_end(struct ta_part *part);

/* Ends all; nobody waits any more. */
void ta_relay_close(struct ta_relay *relay);

/* The walk is at or after the border: at the start of the next part? `as_guessed` says that it is
 * there in the state that was assumed. True when reading this part ends here. */
bool ta_part_at_border(struct ta_part *part, uint64_t place, bool as_guessed);

static inline uint64_t ta_part_border(const struct ta_part *part)
{
    return part->border;
}

/* ---- for the reader of a part ---------------------------------------------------------------- */

/* As ta_reader_lends(), ta_reader_lend() and ta_reader_read(); accounts go to `quality`. */
bool ta_part_lends(struct ta_part *part, struct ta_quality *quality);
size_t ta_part_lend(struct ta_part *part, const char *kept, size_t n_kept, char **bytes);
size_t ta_part_read(struct ta_part *part, struct ta_quality *quality, char *out, size_t max);

enum { TA_PART_KEPT = 64 * 1024 };

#endif
