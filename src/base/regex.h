/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Extended regular expressions of POSIX, for expressions that nobody has vetted: a configuration in
 * the working folder may hold them.
 *
 * regcomp() of the C library copies what is repeated, so that twenty bytes of nested repeats take
 * gigabytes, and regexec() builds sets of states that grow with the text.  Here an expression has
 * at most TA_REGEX_MOST instructions, and a search follows all ways to match at once (Thompson
 * 1968, Pike 1987): its time is bounded by their number times the length of the text, and it
 * allocates nothing.
 *
 * Of several matches the leftmost counts, and of these the longest, as in POSIX; of several ways to
 * reach it the one that takes earlier alternatives and repeats more often.  Texts are bytes, as in
 * the C locale.  Back-references are no regular expressions, and refused. */
#ifndef TA_BASE_REGEX_H
#define TA_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of an expression, instructions that it becomes, and groups within groups. */
enum { TA_REGEX_LONGEST = 1024, TA_REGEX_MOST = 512, TA_REGEX_DEPTH = 32 };

struct ta_regex;

/* Why a text is no usable expression, and at which byte; empty: out of memory. */
struct ta_regex_error {
    char text[192];
};

/* An expression with a group at least; NULL with *error filled in when the text is none, else the
 * caller owns the result. */
struct ta_regex *ta_regex_new(const char *text, struct ta_regex_error *error);
void ta_regex_free(struct ta_regex *regex);

/* Bytes [start, end) of a text; both are SIZE_MAX where nothing was matched. */
struct ta_regex_part {
    size_t start, end;
};

/* Searches a text; of a match `group` is what the first group matched last.  One search at a time:
 * the expression holds what it needs for that. */
bool ta_regex_search(struct ta_regex *regex, const char *text, struct ta_regex_part *group);

#endif
