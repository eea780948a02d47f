/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a text and cells of a line. */
#ifndef TA_PARSE_TEXT_LINES_H
#define TA_PARSE_TEXT_LINES_H

#include "traceanalyze/document.h"

/* Splits a text into the cells of a CSV row (RFC 4180; a quoted cell, which may come after blanks,
 * may hold separators and line breaks), in place of `cells`.  Returns how many there are, at most
 * `most`; texts point into the line or into `buffer`, which holds cells with quotes in them.  A
 * buffer of the length of the line is always large enough; cells are cut where it ends. */
size_t ta_csv_split(struct ta_slice line, char separator, struct ta_slice *cells, size_t most,
                    char *buffer, size_t size);

/* Whether a line ends in a cell whose quote is open, so that the next one may belong to it;
 * `quoted`: whether it begins in one. */
bool ta_csv_ends_quoted(struct ta_slice line, char separator, bool quoted);

/* Takes the next line from a text in memory, without its end.  Lines end with a line feed, with or
 * without a carriage return before it; of a text without any line feed with a carriage return. */
struct ta_slice ta_text_line(struct ta_slice *text);

#endif
