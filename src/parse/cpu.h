/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instruction sets that the scanner is compiled for. */
#ifndef TA_PARSE_CPU_H
#define TA_PARSE_CPU_H

#include "traceanalyze/base.h"

/* Names that --cpu takes, NULL-terminated: "auto" is the best that this processor has; "none"
 * reads by the grammar alone, without a learned layout. */
extern const char *const ta_cpu_names[];

/* Whether this build and this processor have it; true for "auto", "none" and "scalar". */
bool ta_cpu_has(const char *name);

#endif
