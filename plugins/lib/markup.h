/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markup with texts in it, so that a line of a product is a line of code. */
#ifndef TA_LIB_MARKUP_H
#define TA_LIB_MARKUP_H

#include <stdarg.h>
#include <traceanalyze/output.h>

/* Writes a text so that nothing in it is markup: ta_put_html() and the like. */
typedef void ta_escape(struct ta_file *out, struct ta_slice text);

/* Writes `format` as it is, with each %s an escaped text; NULL is the empty one.  Numbers are %d,
 * %zu and %ld, which is an int64_t. */
void ta_put_markup(struct ta_file *out, ta_escape *escape, const char *format, va_list args);

/* Writes a sentence of the report, in which names of code stand between backticks; a backtick
 * without its pair is a letter like others. */
void ta_put_prose(struct ta_file *out, ta_escape *text, ta_escape *code, const char *sentence);

/* Such a sentence as Markdown, its names as code spans. */
void ta_put_markdown_prose(struct ta_file *out, const char *sentence);

/* Markdown of which each %s is text. */
void ta_put_markdown_f(struct ta_file *out, const char *format, ...) TA_PRINTF(2, 3);

#endif
