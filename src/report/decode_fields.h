/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of JSON objects as fields of a report.  The first failure stays: after it every call
 * gives a value that does no harm, so that a structure is read in one go and checked once. */
#ifndef TA_REPORT_DECODE_FIELDS_H
#define TA_REPORT_DECODE_FIELDS_H

#include "traceanalyze/base.h"
#include "traceanalyze/document.h"
#include "traceanalyze/report.h"

struct ta_declarations;

struct decode {
    struct ta_ctx *ctx;
    struct ta_arena *arena; /* of the report: texts live as long as it */
    const struct ta_declarations *declared;
    enum ta_status status;
};

/* Refuses the document, unless it was refused before. */
void decode_fail(struct decode *in, const char *format, ...) TA_PRINTF(2, 3);
void decode_no_memory(struct decode *in);
/* Zeroed memory of the report; NULL when `in` has failed. */
void *decode_alloc(struct decode *in, size_t size);

/* A member that has to be there, and an array. */
const json_t *decode_member(struct decode *in, const json_t *object, const char *key);
const json_t *decode_array(struct decode *in, const json_t *object, const char *key);

/* A text, which holds no NUL; "" on failure.  An id consists of letters, digits and ".", "_", "-",
 * so it can name a file. */
const char *decode_text(struct decode *in, const json_t *object, const char *key);
const char *decode_text_or_null(struct decode *in, const json_t *object, const char *key);
const char *decode_id(struct decode *in, const json_t *object, const char *key);
/* The number of a word, by its name among `n`; 0 on failure. */
int decode_word(struct decode *in, const json_t *object, const char *key, int n,
                const char *(*name)(int word));
/* TA_MISSING stands for null. */
int64_t decode_integer_or_null(struct decode *in, const json_t *object, const char *key);
uint64_t decode_count(struct decode *in, const json_t *object, const char *key);
double decode_number(struct decode *in, const json_t *object, const char *key, double least,
                     double most);
/* Null, text, integer, number or boolean; the text lives as long as the document. */
struct ta_cell decode_cell(struct decode *in, const json_t *value);

/* A text for messages; "?" when it is none. */
const char *decode_show(const json_t *value);

/* Adds the charts of a table, which may only name columns of it (decode_chart.c). */
void decode_charts(struct decode *in, struct ta_table_builder *table,
                   const struct ta_column *columns, size_t n_columns, const json_t *chart);

/* Reads the member "data_quality" (decode_accounts.c). */
struct ta_report;
void decode_accounts(struct decode *in, struct ta_report *report, const json_t *accounts);

#endif
