/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict reader of JSON in memory that pulls the values it expects, one after the other.
 *
 * Summaries are large and of a known shape: no tree is made of them.  The first thing that is not
 * as expected is kept with its place, and nothing is read from there on: loops end by themselves,
 * and callers look at `problem` once. */
#ifndef TA_SUMMARY_SCAN_H
#define TA_SUMMARY_SCAN_H

#include "traceanalyze/arena.h"

struct ta_scan {
    const char *start, *at, *end;
    struct ta_arena *arena; /* of strings with escapes */
    const char *problem;    /* what is wrong at `at`, or NULL */
    bool fresh;             /* an array or object was just opened */
};

static inline struct ta_scan ta_scan_of(struct ta_slice text, struct ta_arena *arena)
{
    return (struct ta_scan){text.ptr, text.ptr, ta_slice_end(text), arena, NULL, false};
}

/* Says what is wrong here; the first one stays.  Always false. */
bool ta_scan_fail(struct ta_scan *scan, const char *problem);

/* Takes the `[` or `{`; then ta_scan_item() before each element, until it is false behind the
 * closing bracket. */
bool ta_scan_open(struct ta_scan *scan, char bracket);
bool ta_scan_item(struct ta_scan *scan, char closing);
/* ta_scan_item() of an object: takes the key as well. */
bool ta_scan_member(struct ta_scan *scan, struct ta_slice *key);

/* Takes `null` when it comes next. */
bool ta_scan_null(struct ta_scan *scan);
/* An integer; TA_MISSING for null. */
int64_t ta_scan_int(struct ta_scan *scan);
/* An integer within bounds, or null where `or_missing`. */
int64_t ta_scan_within(struct ta_scan *scan, int64_t least, int64_t most, bool or_missing);
/* UINT64_MAX for null. */
uint64_t ta_scan_uint(struct ta_scan *scan);
/* Of ta_text_wide(). */
unsigned __int128 ta_scan_wide(struct ta_scan *scan);
/* NaN for null. */
double ta_scan_real(struct ta_scan *scan);
bool ta_scan_bool(struct ta_scan *scan);
/* Of ta_text_string(): in the text, or in the arena. */
struct ta_slice ta_scan_string(struct ta_scan *scan);
/* A copy in the arena that ends with NUL; NULL for null. */
const char *ta_scan_copy(struct ta_scan *scan);
/* Whether nothing but blanks is left. */
bool ta_scan_at_end(struct ta_scan *scan);
/* Passes over a value of any kind. */
void ta_scan_skip(struct ta_scan *scan);

#endif
