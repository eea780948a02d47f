/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How ranks divide the work, in a few words, for the line that says what was run:
 * "sequence parallel", "sequence parallel by 4 and CFG parallel by 2". */
#ifndef TA_LIB_SCHEME_H
#define TA_LIB_SCHEME_H

#include <traceanalyze/table.h>

enum { TA_SCHEME_TEXT_MAX = 256 };

/* "" of one rank, and where neither the program says it nor what a diffusion exchanges. */
const char *ta_scheme_say(char text[TA_SCHEME_TEXT_MAX], const struct ta_report *report);

#endif
