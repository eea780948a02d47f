/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels and functions at a length that fits a sentence.  What is returned lives as long
 * as the arena or the name; its text is NULL when memory ran out. */
#ifndef TA_RESULT_SHORT_NAME_H
#define TA_RESULT_SHORT_NAME_H

#include "traceanalyze/arena.h"

/* Bytes from a bracket of arguments or of a template at `at` to behind the one that closes it, all
 * that is left where none does; 0 when none opens there. */
size_t ta_bracket_length(struct ta_slice name, size_t at);

/* The name without the type that is returned, arguments, and arguments of templates. */
struct ta_slice ta_bare_name(struct ta_arena *arena, struct ta_slice name);

/* At most `most` bytes and "…": frames of Python without their folders, functions without
 * arguments, code that a compiler wrote without the hash that names its file. */
struct ta_slice ta_short_name(struct ta_arena *arena, struct ta_slice name, size_t most);

#endif
