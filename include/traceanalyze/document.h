/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small files as a whole: a JSON document as a jansson tree, a text as lines and cells.
 *
 * Numbers of a document keep their text, so that seconds become nanoseconds without a double in
 * between.  What Python writes that is no JSON (NaN, Infinity, -Infinity) reads as null and is
 * accounted for as bad-number. */
#ifndef TRACEANALYZE_DOCUMENT_H
#define TRACEANALYZE_DOCUMENT_H

#include "builder.h"
#include "input.h"

#include <jansson.h>

TA_BEGIN_DECLS

/* ---- JSON -------------------------------------------------------------------------------- */

/* Reads a document, an object or an array of at most 256 MiB; json_decref() ends it.  NULL after
 * ta_fail() with TA_ERR_INPUT when it is no JSON (the message names the byte offset) or too large,
 * TA_ERR_NOMEM without memory.
 *
 * Of a document that is cut what comes before is given: members and elements that were whole, in
 * objects and arrays that are closed; an unfinished element of an array is left out.  A syntax
 * error costs the innermost element of an array that it is in, or else the innermost member, and
 * what follows is read on where it can be told where that begins.  Repeated keys: the last one
 * wins.  Texts are valid UTF-8 and may hold NUL.  All of this is accounted for, elements that are
 * left out as records of `builder` that were dropped (NULL: they are not counted).
 *
 * EVERY NUMBER IS A STRING TO JANSSON (its text behind a byte that no text has): look at numbers
 * and texts with the functions below, not with json_integer_value() or json_string_value(), whose
 * address ta_document_is_text() makes safe. */
TA_API json_t *ta_document_read(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder);

/* The byte before the text of a number. */
#define TA_DOCUMENT_NUMBER '\xff'

static inline bool ta_document_is_number(const json_t *value)
{
    return json_is_string(value) && json_string_value(value)[0] == TA_DOCUMENT_NUMBER;
}

static inline bool ta_document_is_text(const json_t *value)
{
    return json_is_string(value) && json_string_value(value)[0] != TA_DOCUMENT_NUMBER;
}

/* The value of a number, or of a text that is one ("3", "tensor(0.75)" is none), times 10^shift,
 * rounded with halves away from zero; TA_MISSING for all else and beyond the range of int64. */
TA_API int64_t ta_document_decimal(const json_t *value, int shift);
/* MiB to bytes: times 2^20, rounded in the same way. */
TA_API int64_t ta_document_mib(const json_t *value);
/* The nearest double; NAN for what is no number. */
TA_API double ta_document_double(const json_t *value);
/* A whole number ("3", 3, 3.0); TA_MISSING for all else. */
TA_API int64_t ta_document_integer(const json_t *value);
/* The text of a string; a number as written, true, false; empty with a NULL address for others. */
TA_API struct ta_slice ta_document_text(const json_t *value);
/* A short text for any value, as for tags: the text, or compact JSON; cut at 200 bytes. */
TA_API struct ta_slice ta_document_show(const json_t *value, char *buffer, size_t size);

/* The same conversions of a text, blanks around it left out. */
TA_API int64_t ta_text_decimal(struct ta_slice text, int shift);
TA_API int64_t ta_text_mib(struct ta_slice text);
TA_API double ta_text_double(struct ta_slice text);
TA_API int64_t ta_text_integer(struct ta_slice text);

/* ---- lines and cells --------------------------------------------------------------------- */

/* Lines of a text, one at a time, without their ends (LF, CRLF) and the colors of a console, valid
 * UTF-8 without NUL.  Lines longer than 1 MiB are cut and accounted for as too-long. */
struct ta_lines {
    struct ta_slice line; /* until the next call */
    uint64_t offset;      /* of its first byte */
    struct ta_lines_state *state;
};

/* NULL after ta_fail() without memory. */
TA_API struct ta_lines *ta_lines_new(struct ta_ctx *ctx, struct ta_reader *reader);
TA_API void ta_lines_free(struct ta_lines *lines);
/* False at the end. */
TA_API bool ta_lines_next(struct ta_lines *lines);

/* Splits a line into the cells of a CSV row (RFC 4180; a quoted cell may hold what looks like a
 * separator, but no line break), in place of `cells`.  Returns how many there are, at most `most`;
 * texts point into the line or into `buffer`, which holds cells with quotes in them.  A buffer of
 * the length of the line is always large enough; cells are cut where it ends. */
TA_API size_t ta_csv_split(struct ta_slice line, char separator, struct ta_slice *cells,
                           size_t most, char *buffer, size_t size);

/* Without blanks at both ends. */
TA_API struct ta_slice ta_text_trim(struct ta_slice text);

/* Takes the next line from a text in memory, without its end.  Lines end with a line feed, with or
 * without a carriage return before it; of a text without any line feed with a carriage return. */
TA_API struct ta_slice ta_text_line(struct ta_slice *text);

TA_END_DECLS

#endif
