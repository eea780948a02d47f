/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of JSON objects as fields of a report.
 *
 * The members of a structure are one list (shape.c), by which codec.c writes them and decode.c
 * reads them.  When reading, the first failure stays: after it every call gives a value that does
 * no harm, so that a structure is read in one go and checked once. */
#ifndef TA_REPORT_FIELDS_H
#define TA_REPORT_FIELDS_H

#include "traceanalyze/base.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/document.h"
#include "traceanalyze/output.h"
#include "traceanalyze/report.h"

/* ---- lists --------------------------------------------------------------------------------- */

enum field_kind {
    FIELD_TEXT,
    FIELD_ID, /* letters, digits and ".", "_", "-", so it can name a file */
    FIELD_TEXT_OR_NULL,
    FIELD_COLUMN, /* the key of a column of the table, or null; the last of the texts */
    FIELD_WORD,   /* an enumerator, by its name */
    FIELD_CELL,
    FIELD_SHARE,   /* a double from 0 to 1 */
    FIELD_INTEGER, /* an int64_t; TA_MISSING is null */
    FIELD_COUNT,   /* a uint64_t */
    FIELD_OFFSET,  /* the same; TA_NO_OFFSET is null */
    FIELD_FLAG     /* a bool */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    unsigned n_words; /* of a word */
    const char *(*word)(unsigned word);
    const char *lead; /* the text before it; NULL: ", " */
    bool is_optional; /* left out when it says nothing */
};

struct fields {
    const struct field *at;
    size_t n;
};

/* shape.c */
extern const struct fields shape_scalar, shape_column, shape_evidence;
extern const struct fields shape_finding, shape_finding_words; /* before its evidence, and after */
extern const struct fields shape_saving_of_run;
extern const struct fields shape_chart, shape_chart_x, shape_chart_rest, shape_series, shape_kind,
    shape_roof;
extern const struct fields shape_quality, shape_totals, shape_file;

/* ---- writing ------------------------------------------------------------------------------- */

struct writer {
    struct ta_file *out;
    bool in_script;  /* the text will stand inside <script> */
    size_t max_rows; /* of each table; 0 is all */
};

static inline void put_text(const struct writer *w, const char *text)
{
    if (text)
        ta_put_json(w->out, ta_slice_of(text), w->in_script);
    else
        ta_puts(w->out, "null");
}

/* `lead` holds the separator before the key. */
static inline void put_key(const struct writer *w, const char *lead, const char *key)
{
    ta_puts(w->out, lead);
    ta_putc(w->out, '"');
    ta_puts(w->out, key);
    ta_puts(w->out, "\": ");
}

static inline void put_text_field(const struct writer *w, const char *lead, const char *key,
                                  const char *text)
{
    put_key(w, lead, key);
    put_text(w, text);
}

static inline void put_cell(const struct writer *w, struct ta_cell cell)
{
    ta_put_json_cell(w->out, &cell, w->in_script);
}

/* Writes the members of a structure; `lead` is the text before the first. */
void fields_put(const struct writer *w, const char *lead, const struct fields *fields,
                const void *from);

/* What a table is drawn as, and the charts after it (codec_chart.c); NULL is null. */
void codec_put_chart(const struct writer *w, const struct ta_chart *chart);

/* ---- reading ------------------------------------------------------------------------------- */

struct ta_declarations;

struct decode {
    struct ta_ctx *ctx;
    struct ta_arena *arena; /* of the report: texts live as long as it */
    const struct ta_declarations *declared;
    enum ta_status status;
    struct ta_column *columns; /* of the table at hand */
    size_t n_columns;
};

/* Reads the members of a structure, which is zero before. */
void fields_read(struct decode *in, const struct fields *fields, const json_t *object, void *to);

/* Refuses the document, unless it was refused before. */
void decode_fail(struct decode *in, const char *format, ...) TA_PRINTF(2, 3);
void decode_no_memory(struct decode *in);
/* Zeroed memory of the report; NULL when `in` has failed. */
void *decode_alloc(struct decode *in, size_t size);

/* A member that has to be there, and an array. */
const json_t *decode_member(struct decode *in, const json_t *object, const char *key);
const json_t *decode_array(struct decode *in, const json_t *object, const char *key);

/* A text, which holds no NUL; "" on failure. */
const char *decode_text(struct decode *in, const json_t *object, const char *key);
const char *decode_text_or_null(struct decode *in, const json_t *object, const char *key);
const char *decode_id(struct decode *in, const json_t *object, const char *key);
/* The number of a word, by its name among `n`; 0 on failure. */
unsigned decode_word(struct decode *in, const json_t *object, const char *key, unsigned n,
                     const char *(*name)(unsigned word));
/* TA_MISSING means null. */
int64_t decode_integer_or_null(struct decode *in, const json_t *object, const char *key);
uint64_t decode_count(struct decode *in, const json_t *object, const char *key);
/* Null, text, integer, number or boolean; the text lives as long as the document. */
struct ta_cell decode_cell(struct decode *in, const json_t *value);

/* The column of the table at hand with a key, or NULL. */
const struct ta_column *decode_find_column(const struct decode *in, const char *key);

/* A text for messages; "?" when it is none. */
const char *decode_show(const json_t *value);

/* Adds the charts of the table at hand, which may only name columns of it (decode_chart.c). */
void decode_charts(struct decode *in, struct ta_table_builder *table, const json_t *chart);

#endif
