/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of documents and cells in other units, and for people. */
#ifndef TA_BASE_CONVERT_H
#define TA_BASE_CONVERT_H

#include "traceanalyze/document.h"

/* MiB to bytes: times 2^20, rounded in the same way. */
int64_t ta_document_mib(const json_t *value);

int64_t ta_text_mib(struct ta_slice text);

/* A short text for any value, as for tags: the text, or compact JSON; cut at 200 bytes. */
struct ta_slice ta_document_show(const json_t *value, char *buffer, size_t size);

#endif
