/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finding on a first screen, next to a verdict that may have said its title already. */
#ifndef TA_LIB_SHORT_FINDING_H
#define TA_LIB_SHORT_FINDING_H

#include <traceanalyze/report.h>

enum { TA_SENTENCE_MAX = 1024 };

/* A finding with whose title the verdict begins is not said again: the beginning of its title
 * serves, or the name of its rule. */
struct ta_short_finding {
    const char *title;          /* its own, or "Rank 2 is the straggler" */
    const char *advice;         /* NULL for nothing */
    char name[TA_SENTENCE_MAX]; /* of which the title may be made: copy no such struct */
};

void ta_finding_shorten(struct ta_short_finding *out, const struct ta_report *report,
                        const struct ta_finding *finding);

/* The first sentence of a text that has several, else the text; `rest`: what follows it, or NULL.
 */
const char *ta_first_sentence(const char *text, char buffer[TA_SENTENCE_MAX], const char **rest);

/* The length of as many first sentences of a text as have up to `most` bytes; one that is shorter
 * than half of that, such as what to do first, is followed by the next, however long. */
size_t ta_sentences_within(const char *text, size_t most);

#endif
