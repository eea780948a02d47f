/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of built-in plugins, made from builtin.c.in. */
#ifndef TA_PLUGIN_BUILTIN_H
#define TA_PLUGIN_BUILTIN_H

#include "traceanalyze/plugin.h"
#include "traceanalyze/table.h"

/* Ends with NULL. */
extern const struct ta_plugin *const ta_builtins[];

/* What a part of the program that is no plugin declares of tables: which it makes, and which
 * columns it reads. */
struct ta_part {
    const char *name;
    const struct ta_table_def *const *tables; /* ends with NULL, or NULL */
    const struct ta_ref *reads;
    size_t n_reads;
    const struct ta_scalar_def *scalars;
    size_t n_scalars;
};

/* Lists of those parts, each of which ends with NULL, as does the list of lists. */
extern const struct ta_part *const *const ta_parts[];

#endif
