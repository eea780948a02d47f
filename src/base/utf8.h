/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef TA_BASE_UTF8_H
#define TA_BASE_UTF8_H

#include "traceanalyze/base.h"

/* Writes a code point as 1 to 4 bytes and returns how many. */
size_t ta_utf8_encode(uint32_t code, char *out);

/* Length of the valid sequence at `text`, 0 when it is none. */
size_t ta_utf8_length(const char *text, size_t size);

/* Length of the longest valid prefix. */
size_t ta_utf8_valid(const char *text, size_t size);

/* Code point of a valid sequence of `length` bytes. */
uint32_t ta_utf8_decode(const char *text, size_t length);

#endif
