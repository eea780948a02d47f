/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of built-in plugins, made from builtin.c.in. */
#ifndef TA_PLUGIN_BUILTIN_H
#define TA_PLUGIN_BUILTIN_H

#include "traceanalyze/plugin.h"

/* Ends with NULL. */
extern const struct ta_plugin *const ta_builtins[];

#endif
