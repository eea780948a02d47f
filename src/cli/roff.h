/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of the program as roff, for the macro package "man".
 *
 * The texts are plain, as --help prints them:
 *
 *     Lines side by side are a paragraph; an empty line ends it.
 *       term  A line indented by two is a term, up to two blanks or its end,
 *           and what is indented deeper is about it.
 *     - a point of a list, on one or several lines
 *     | stays as it is, such as an example
 *
 * Within a line, `literals` stand in backticks; options, pages such as traceanalyze(1), and the
 * arguments of options in capitals are found by their form. */
#ifndef TA_CLI_ROFF_H
#define TA_CLI_ROFF_H

#include "traceanalyze/output.h"

/* Paragraphs, terms and points. */
void ta_roff_blocks(struct ta_file *out, struct ta_slice text);

/* A part of a line of prose; a `.` at its start is none of roff. */
void ta_roff_prose(struct ta_file *out, struct ta_slice text);

/* A literal in bold. */
void ta_roff_literal(struct ta_file *out, struct ta_slice text);

/* A line as it is, within .EX and .EE. */
void ta_roff_verbatim(struct ta_file *out, struct ta_slice line);

/* How a command or the value of an option is written, such as "auto|FILE": words in capitals stand
 * for something, others are literal. */
void ta_roff_syntax(struct ta_file *out, const char *text);

/* A help text, half a sentence, as a sentence. */
void ta_roff_sentence(struct ta_file *out, const char *text);

#endif
