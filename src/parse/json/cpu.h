/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instruction sets that the scanner is compiled for. */
#ifndef TA_PARSE_CPU_H
#define TA_PARSE_CPU_H

#include "traceanalyze/base.h"

/* Whether this build and this processor have an instruction set, as --cpu names it.  "auto" is the
 * best there is, "none" reads by the grammar alone, without a learned layout; "scalar" is always
 * there. */
bool ta_cpu_has(const char *name);

#endif
