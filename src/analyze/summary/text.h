/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON written into memory. */
#ifndef TA_SUMMARY_TEXT_H
#define TA_SUMMARY_TEXT_H

#include "base/vec.h"

/* The comment in the header of a saved summary, which distinguishes it from other gzip files. */
#define TA_SUMMARY_COMMENT "traceanalyze.summary/1"

/* Zero-initialize to start; free(at) to end.  A failed allocation is remembered. */
struct ta_text {
    TA_VEC(char) bytes;
    bool failed;
};

static inline struct ta_slice ta_text_slice(const struct ta_text *text)
{
    return (struct ta_slice){text->bytes.at, text->bytes.n};
}

void ta_text_put(struct ta_text *text, struct ta_slice bytes);
void ta_text_puts(struct ta_text *text, const char *bytes);
void ta_text_putc(struct ta_text *text, char byte);

/* A comma, unless what comes next is the first of its array or object. */
void ta_text_comma(struct ta_text *text);
/* The comma, a key of ours and the colon. */
void ta_text_key(struct ta_text *text, const char *key);

/* null for TA_MISSING. */
void ta_text_int(struct ta_text *text, int64_t value);
/* null for UINT64_MAX, which means "nowhere". */
void ta_text_uint(struct ta_text *text, uint64_t value);
/* A number of 128 bits, as a string: few readers of JSON have room for it. */
void ta_text_wide(struct ta_text *text, unsigned __int128 value);
/* The shortest number that reads as the same double; null for NaN. */
void ta_text_real(struct ta_text *text, double value);
void ta_text_bool(struct ta_text *text, bool value);
/* A string; {"hex": "…"} where the bytes are no UTF-8, as paths and packed values need not be. */
void ta_text_string(struct ta_text *text, struct ta_slice string);
/* null for NULL. */
void ta_text_string_or_null(struct ta_text *text, const char *string);

#endif
