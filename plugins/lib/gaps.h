/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps that stand out in the idle time of a device, so that one looks there first. */
#ifndef TA_LIB_GAPS_H
#define TA_LIB_GAPS_H

#include <traceanalyze/rule.h>

/* What is read for them: a rule that asks for gaps has these in its list of references, from an
 * enumerator of its own on, as GAPS_READS(GAPS). */
enum { GAPS_DURATION, GAPS_CAUSE, GAPS_NEXT, GAPS_WINDOW };

#define GAPS_READS(first)                                                                          \
    [(first) + GAPS_DURATION] = {"gpu_idle.longest", "dur_ns"},                                    \
               [(first) + GAPS_CAUSE] = {"gpu_idle.longest", "cause"},                             \
               [(first) + GAPS_NEXT] = {"gpu_idle.longest", "next"},                               \
               [(first) + GAPS_WINDOW] = {"gpu_time.program", "window_ns"}

/* Gaps of a device before the same activity, each a large part of its window. */
struct ta_gaps {
    struct ta_place longest; /* no table when none stand out */
    size_t n;
    double total, shortest;
};

/* Which gaps a finding on idle time is about: of one device, with one of the causes. */
struct ta_gaps_asked {
    size_t reads;           /* the first of the references */
    struct ta_place device; /* a cell of a row with its rank and device */
    double time;            /* of the finding */
    const char *const *causes;
    size_t n_causes;
};

/* Those that stand out: before the activity that has most of such time before it, when they make up
 * a tenth of the time of the finding. */
struct ta_gaps ta_gaps_find(const struct ta_refs *in, const struct ta_gaps_asked *asked);

/* A sentence, with a space after it: "4 gaps of 14.4 ms to 16.8 ms before attn_fwd are the longest
 * (60.3 ms together). "; "" when none stand out. */
const char *ta_gaps_sentence(const struct ta_refs *in, struct ta_advice *advice,
                             const struct ta_gaps_asked *asked, const struct ta_gaps *gaps);

#endif
