/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels and functions at a length that fits a sentence.  What is returned lives as long
 * as the arena or the name; its text is NULL when memory ran out. */
#ifndef TA_REPORT_SHORT_NAME_H
#define TA_REPORT_SHORT_NAME_H

#include "traceanalyze/base.h"

/* At most `most` bytes and "…": frames of Python without their folders, call sites of memory as
 * "folder/file.py:12 (function)", code that a compiler wrote
 * without the hash that names its file, functions as ta_kernel_brief() has them, and without the
 * arguments of their templates where that is still too long. */
struct ta_slice ta_short_name(struct ta_arena *arena, struct ta_slice name, size_t most);

/* The same uncut, as every output shows a name; the name itself without memory. */
struct ta_slice ta_said_name(struct ta_arena *arena, struct ta_slice name);

/* What is left of such a name where a table has little room: it without the arguments of its
 * template, unless they alone say what it does. */
struct ta_slice ta_bare_name(struct ta_slice said);

#endif
