/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of what was read, for those who pass it on: as it is in the file where that is JSON,
 * else made so by what the scanner repairs. */
#ifndef TA_PARSE_CLEAN_H
#define TA_PARSE_CLEAN_H

#include "traceanalyze/document.h"

/* Where repaired text is kept; zero-initialize. */
struct ta_clean {
    char *at;
    size_t n, max;
    char *decoded; /* a string */
    size_t decoded_max;
    bool failed; /* out of memory */
};

void ta_clean_free(struct ta_clean *clean);

/* The record that ta_json_next() gave, valid JSON from brace to brace, until the next call.  The
 * tokens of the record lie in it afterwards.  False without memory. */
bool ta_clean_record(struct ta_json *json, struct ta_clean *clean,
                     struct ta_slice *text) TA_MUST_CHECK;

/* Appends the text of a value to what `clean` holds, strings with their quotes; comments and white
 * space are left out.  False without memory. */
bool ta_clean_value(struct ta_json *json, const struct ta_token *value,
                    struct ta_clean *clean) TA_MUST_CHECK;

#endif
