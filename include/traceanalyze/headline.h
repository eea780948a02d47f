/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report, sentence by sentence: what a headline plugin is.
 *
 * Sentences have levels.  The title of the worst finding and the first sentence of the first level
 * on which anything is said are the headline; where one of them covers the finding, the first two
 * sentences are.  Others are not shown, so what they say has to be a figure or a finding too. */
#ifndef TRACEANALYZE_HEADLINE_H
#define TRACEANALYZE_HEADLINE_H

#include "plugin.h"
#include "report.h"
#include "table.h"

TA_BEGIN_DECLS

/* The line while it is made. */
struct ta_line;

/* Adds a sentence.  A blank separates it from the one before; what does not fit is cut. */
TA_API void ta_say(struct ta_line *line, const char *format, ...) TA_PRINTF(2, 3);
/* Adds words to the sentence before. */
TA_API void ta_say_on(struct ta_line *line, const char *format, ...) TA_PRINTF(2, 3);

/* Whether nothing has been said yet. */
TA_API bool ta_line_is_empty(const struct ta_line *line);

/* A name shortened to fit a sentence, of `most` bytes; it lives as long as the report. */
TA_API struct ta_slice ta_line_name(struct ta_line *line, struct ta_slice name, size_t most);

/* Whether the report has a finding with advice, be it a hint alone. */
TA_API bool ta_line_has_advice(const struct ta_line *line);

/* Says that a sentence has the subject of the worst finding, whose title need not follow. */
TA_API void ta_line_covers_finding(struct ta_line *line);

/* Adds a scalar of the report to the first screen; without room for it nothing happens. */
TA_API void ta_line_add_figure(struct ta_line *line, const char *id);

enum ta_headline_level {
    TA_HEADLINE_RECORDING, /* that the recording is of no run */
    TA_HEADLINE_DEVICES,   /* how busy devices were */
    TA_HEADLINE_PROGRESS,  /* how fast it went, and which stage took most of the time */
    TA_HEADLINE_WORK,      /* which operators, loops, layers; memory */
    TA_HEADLINE_USE,       /* how much devices were used, as sampled */
    TA_HEADLINE_FIGURES,   /* any other figure, or why there is none */
    TA_HEADLINE_ADDED,     /* said at the end, whatever else is said: what was asked for */
    TA_HEADLINE_LEVELS
};

struct ta_headline_ops {
    enum ta_headline_level level;
    unsigned place; /* in its level: 1 speaks before 2; equal ones in the order of ids */

    /* Says its sentence if the report has its figures.  `worst` is the first finding, or NULL. */
    void (*say)(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst);

    /* Says nothing where a sentence before it has spoken. */
    bool alone;

    const struct ta_ref *reads; /* TA_READS() */
    size_t n_reads;
};

TA_END_DECLS

#endif
