/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading text formats: a JSON document as a jansson tree, a text as lines, and JSON records of any
 * number as a stream. */
#ifndef TRACEANALYZE_DOCUMENT_H
#define TRACEANALYZE_DOCUMENT_H

#include "input.h"

#include <jansson.h>

TA_BEGIN_DECLS

/* ==== small files as a whole ================================================================= */

/* Numbers of a document keep their text, so that seconds become nanoseconds without a double in
 * between.  What Python writes that is no JSON (NaN, Infinity, -Infinity) reads as null and is
 * accounted for as bad-number. */

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

/* The text of a string; a number as written, true, false; empty with a NULL address for others. */
TA_API struct ta_slice ta_document_text(const json_t *value);

/* The value of a text that is a number ("3", "tensor(0.75)" is none), blanks around it left out,
 * times 10^shift, rounded with halves away from zero; TA_MISSING for all else and beyond the range
 * of int64. */
TA_API int64_t ta_text_decimal(struct ta_slice text, int shift);
/* The nearest double; NAN for what is no number. */
TA_API double ta_text_double(struct ta_slice text);
/* A whole number ("3", 3, 3.0); TA_MISSING for all else. */
TA_API int64_t ta_text_integer(struct ta_slice text);

/* The same of a value that is a number or a text. */
static inline int64_t ta_document_decimal(const json_t *value, int shift)
{
    return ta_text_decimal(ta_document_text(value), shift);
}

static inline double ta_document_double(const json_t *value)
{
    return ta_text_double(ta_document_text(value));
}

static inline int64_t ta_document_integer(const json_t *value)
{
    return ta_text_integer(ta_document_text(value));
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Lines of a text, one at a time, without their ends (LF, CRLF) and the colors of a console, valid
 * UTF-8 without NUL.  Lines longer than 1 MiB are cut and accounted for as too-long. */
struct ta_lines {
    struct ta_slice line; /* until the next call */
    uint64_t offset;      /* of its first byte */
    struct ta_lines_state *state;
    bool is_cut; /* it has no end: it is the last one, and may be cut anywhere, or too long */
};

/* NULL after ta_fail() without memory. */
TA_API struct ta_lines *ta_lines_new(struct ta_ctx *ctx, struct ta_reader *reader);
TA_API void ta_lines_free(struct ta_lines *lines);
/* False at the end. */
TA_API bool ta_lines_next(struct ta_lines *lines);

/* Without blanks at both ends. */
TA_API struct ta_slice ta_text_trim(struct ta_slice text);

/* ==== records as a stream ===================================================================== */

/* Streaming reader of JSON records: an array of objects in a document, one record at a time, in
 * bounded memory, without a tree.
 *
 * It reads the output of killed jobs and careless writers: after a syntax error it resumes at the
 * next object that parses whole and has the mark key; everything skipped or repaired is accounted
 * for with its byte offset (reliability: codes truncated, unterminated-array, syntax, comma,
 * comment, text-*, bad-number, duplicate-key, too-deep, too-long, multiple-documents,
 * trailing-text, not-an-event). */

enum ta_token_type {
    TA_TOKEN_ABSENT,
    TA_TOKEN_STRING, /* text without its quotes, escapes not yet decoded */
    TA_TOKEN_NUMBER, /* decimal text as written */
    TA_TOKEN_TRUE,
    TA_TOKEN_FALSE,
    TA_TOKEN_NULL,
    TA_TOKEN_BAD, /* NaN, inf, N/A …: not JSON, kept as "unknown" */
    TA_TOKEN_OBJECT,
    TA_TOKEN_ARRAY
};

/* A value in the window of the reader; valid until the next call of ta_json_next().  At least 16
 * bytes can be read from `ptr`, whatever the length. */
struct ta_token {
    const char *ptr;
    uint32_t len;
    uint8_t type;  /* enum ta_token_type */
    uint8_t plain; /* a string that needs no decoding */
    uint8_t whole; /* of a number without exponent: digits before the point; 0: not known */
    uint8_t known; /* the same for all strings and numbers of this text from this reader that have
                      one: what was made of the text may be kept under it; 0: none */
};

#define TA_RECORD_FIELDS 16
#define TA_RECORD_ARGS 64

/* Which keys of a record are wanted. */
struct ta_record_schema {
    const char *array;                   /* key of the array in a document that is an object */
    const char *other_array;             /* of a second one, or NULL */
    uint8_t mark;                        /* field that makes an object a record */
    const char *field[TA_RECORD_FIELDS]; /* key of each field, NULL-terminated */
    uint8_t nested;                      /* field whose members are looked into */
    const struct ta_slice *nested_keys;  /* the wanted ones */
    size_t n_nested_keys;                /* at most TA_RECORD_ARGS */
};

struct ta_record {
    uint64_t offset, end; /* in the decompressed stream */
    bool repaired;        /* an account of severity notice or worse was made for it */
    struct ta_token field[TA_RECORD_FIELDS];
    struct ta_token nested[TA_RECORD_ARGS]; /* by position in nested_keys */
    uint64_t has_nested;                    /* bit i: nested[i] is not absent */
    uint16_t has_field;                     /* bit i: field[i] is not absent */
};

/* A member of the top-level object next to the array, of at most 1 MiB. */
struct ta_member {
    uint64_t offset;
    struct ta_token key, value; /* objects and arrays with their brackets */
};

enum ta_json_item {
    TA_JSON_RECORD,  /* `record` is valid */
    TA_JSON_MEMBER,  /* `member` is valid */
    TA_JSON_DROPPED, /* a record was lost; it is accounted for, but for its count */
    TA_JSON_END
};

struct ta_json {
    struct ta_record record;
    struct ta_member member;
    /* Set when the end is reached. */
    bool saw_array;    /* at least one array of records was opened */
    bool saw_document; /* at least an opening bracket was read */
    bool truncated;    /* the input ended inside a document */
    bool unclosed;     /* it ended in an array that is the document, between its members */
    uint64_t bytes_skipped;
    struct ta_json_state *state;
};

/* `schema` must outlive the reader.  NULL when out of memory. */
TA_API struct ta_json *ta_json_new(struct ta_ctx *ctx, struct ta_reader *reader,
                                   const struct ta_record_schema *schema);
TA_API void ta_json_free(struct ta_json *json);

/* Reads on to the next item.  TA_ERR_NOMEM or TA_ERR_CANCELED are the only failures. */
TA_API enum ta_status ta_json_next(struct ta_ctx *ctx, struct ta_json *json,
                                   enum ta_json_item *item) TA_MUST_CHECK;

/* The text of a string token, escapes decoded and made valid UTF-8; of other scalars their text
 * as written.  The result lives until the next call. */
TA_API struct ta_slice ta_json_text(struct ta_json *json, const struct ta_token *token);

/* ---- numbers --------------------------------------------------------------------------- */

enum ta_decimal { TA_DECIMAL_OK, TA_DECIMAL_NOT_A_NUMBER, TA_DECIMAL_OUT_OF_RANGE };

/* The number of a token that is one or the text of one, × 10^shift as int64, halves away from zero,
 * exactly: never through a double.  shift 3 turns µs into ns. */
TA_API enum ta_decimal ta_token_decimal(const struct ta_token *token, int shift, int64_t *value);

/* Whole numbers only, "12" or "-3", also as a string token: false for all else. */
TA_API bool ta_token_integer(const struct ta_token *token, int64_t *value);

/* Nearest double of a number token; false for all else. */
TA_API bool ta_token_double(const struct ta_token *token, double *value);

TA_END_DECLS

#endif
