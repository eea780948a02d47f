/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finding on a first screen, next to a verdict that may have said its title already. */
#ifndef TA_LIB_SHORT_FINDING_H
#define TA_LIB_SHORT_FINDING_H

#include <traceanalyze/report.h>

enum { TA_SENTENCE_MAX = 1024 };

struct ta_short_finding {
    const char *title;  /* its own; "The finding above" where the verdict begins so */
    const char *advice; /* NULL for nothing */
};

void ta_finding_shorten(struct ta_short_finding *out, const struct ta_report *report,
                        const struct ta_finding *finding);

/* The first sentence of a text that has several, else the text; `rest`: what follows it, or NULL.
 */
const char *ta_first_sentence(const char *text, char buffer[TA_SENTENCE_MAX], const char **rest);

#endif
