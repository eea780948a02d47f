/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of options: from the text of a command line or a configuration into a field, and back. */
#ifndef TA_BASE_VALUE_H
#define TA_BASE_VALUE_H

#include "traceanalyze/run.h"

/* What a TA_VALUE_TEXTS is stored in. */
struct ta_texts {
    const char **items;
    size_t n;
};

/* What a TA_VALUE_EXTENT is stored in. */
struct ta_extent {
    double width, height;
};

/* Stores a value in the field of its option, which has the type that enum ta_value_type names; NULL
 * for an option without one.  Texts are kept, not copied.  TA_ERR_USAGE says what was expected. */
enum ta_status ta_value_store(struct ta_ctx *ctx, const struct ta_run_option *option, void *field,
                              const char *text) TA_MUST_CHECK;

/* Adds a text to a list. */
enum ta_status ta_texts_add(struct ta_ctx *ctx, struct ta_texts *texts,
                            const char *text) TA_MUST_CHECK;

/* The value as ta_value_store() takes it; NULL for a list, and for what is not set. */
enum { TA_VALUE_TEXT_MAX = 64 };
const char *ta_value_text(const struct ta_run_option *option, const void *field,
                          char text[TA_VALUE_TEXT_MAX]);

#endif
