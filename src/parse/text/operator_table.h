/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that torch's key_averages().table() prints, wherever it is: alone, in a log, in
 * comments, as Markdown.
 *
 * A line is read by its words, not by its places: torch writes headings and values that are wider
 * than their columns, and whatever follows those in a line is shifted.  The headings say which
 * values follow each other; what is in front of the first value is the name. */
#ifndef TA_PARSE_TEXT_OPERATOR_TABLE_H
#define TA_PARSE_TEXT_OPERATOR_TABLE_H

#include "traceanalyze/input.h"
#include "traceanalyze/dump.h"

/* What a line is to the tables of a text. */
enum ta_operator_line {
    TA_OPERATOR_LINE_OTHER, /* nothing */
    TA_OPERATOR_LINE_HEADS, /* begins a table */
    TA_OPERATOR_LINE_ROW,
    TA_OPERATOR_LINE_PART,  /* a ruler, a call site in a line of its own */
    TA_OPERATOR_LINE_TOTAL, /* "Self CPU time total: …" below a table */
    TA_OPERATOR_LINE_BAD    /* is among the rows and is none */
};

/* Collects the rows of the tables of a text. */
struct ta_operator_tables;

/* `rank` is the rank of all rows, or TA_MISSING.  NULL after ta_fail() without memory. */
struct ta_operator_tables *ta_operator_tables_new(struct ta_ctx *ctx, struct ta_builder *builder,
                                                  int64_t rank);
void ta_operator_tables_free(struct ta_operator_tables *tables);

/* Takes the next line.  Without memory it fails as ta_operator_tables_add() says. */
enum ta_operator_line ta_operator_tables_take(struct ta_operator_tables *tables,
                                              struct ta_slice line);

/* Whether the next line may be a row. */
bool ta_operator_tables_is_open(const struct ta_operator_tables *tables);

/* Adds all rows to the builder, at the end of the text.  Tables with equal totals are of one
 * recording, printed in several orders: a name that an earlier one has is not added again.  After
 * the rows of each recording comes one with `is_total`: its totals, as far as they were printed.
 * Device times are missing where no row has any: there was no device. */
enum ta_status ta_operator_tables_add(struct ta_operator_tables *tables) TA_MUST_CHECK;

/* "Self CPU time total" of the last table; TA_MISSING without one. */
int64_t ta_operator_tables_cpu_ns(const struct ta_operator_tables *tables);

/* The set of copies (ta_builder_set_copy()) of a recording whose self times on the host sum up to
 * this: the time as torch prints it, three decimals of the largest unit that fits. */
enum { TA_OPERATOR_SET_SIZE = 64 };
struct ta_slice ta_operator_set(char text[TA_OPERATOR_SET_SIZE], int64_t self_cpu_ns);

#endif
