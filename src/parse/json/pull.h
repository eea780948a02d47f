/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading JSON in memory by pulling the values that are expected, one after the other.
 *
 * Summaries are large and of a known shape: no tree is made of them. The first thing that is not as
 * expected is kept with its place, and nothing is read from there on: loops end by themselves, and
 * callers look at `problem` once. The grammar is the one of scan.h; what other readers repair is a
 * problem here. */
#ifndef TA_PARSE_PULL_H
#define TA_PARSE_PULL_H

#include "parse/json/scan.h"
#include "traceanalyze/base.h"

enum { PULL_DEPTH = 1024 };

struct ta_pull {
    struct scan scan; /* its p is the place */
    const char *start;
    struct ta_arena *arena; /* of strings with escapes */
    const char *problem;    /* what is wrong at the place, or NULL */
    bool fresh;             /* an array or object was just opened */
    uint64_t stack[PULL_DEPTH / 64];
};

/* The text has to stay. */
struct ta_pull ta_pull_of(struct ta_slice text, struct ta_arena *arena);

/* Says what is wrong here; the first one stays.  Always false. */
bool ta_pull_fail(struct ta_pull *pull, const char *problem);

/* Takes the `[` or `{`; then ta_pull_item() before each element, until it is false after the
 * closing bracket. */
bool ta_pull_open(struct ta_pull *pull, char bracket);
bool ta_pull_item(struct ta_pull *pull, char closing);
/* ta_pull_item() of an object: takes the key as well. */
bool ta_pull_member(struct ta_pull *pull, struct ta_slice *key);

/* Takes `null` when it comes next. */
bool ta_pull_null(struct ta_pull *pull);
/* An integer; TA_MISSING for null. */
int64_t ta_pull_int(struct ta_pull *pull);
/* An integer within bounds, or null where `or_missing`. */
int64_t ta_pull_within(struct ta_pull *pull, int64_t least, int64_t most, bool or_missing);
/* UINT64_MAX for null. */
uint64_t ta_pull_uint(struct ta_pull *pull);
/* A number of 128 bits in a string. */
unsigned __int128 ta_pull_wide(struct ta_pull *pull);
/* NaN for null. */
double ta_pull_real(struct ta_pull *pull);
bool ta_pull_bool(struct ta_pull *pull);
/* A string, or the bytes of {"hex": "…"}: in the text, or in the arena. */
struct ta_slice ta_pull_string(struct ta_pull *pull);
/* A copy in the arena that ends with NUL; NULL for null. */
const char *ta_pull_copy(struct ta_pull *pull);
/* Whether nothing but blanks is left. */
bool ta_pull_at_end(struct ta_pull *pull);
/* Passes over a value of any kind. */
void ta_pull_skip(struct ta_pull *pull);

#endif
