/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time by its owner, for rules: which device loses most by it, and where in the program. */
#ifndef TA_LIB_OWNERS_H
#define TA_LIB_OWNERS_H

#include <traceanalyze/rule.h>

/* What is read for it: a rule that asks for owners has these in its list of references, from an
 * enumerator of its own on, as OWNERS_READS(OWNERS). */
enum {
    OWNERS_OWNER,
    OWNERS_TOTAL,
    OWNERS_LATER,
    OWNERS_WINDOW,
    OWNERS_SITE_OWNER,
    OWNERS_SITE_FUNCTION,
    OWNERS_SITE,
    OWNERS_SITE_WAITS,
    OWNERS_SITE_TOTAL,
    OWNERS_TRUST,
    OWNERS_READ
};

#define OWNERS_READS(first)                                                                        \
    [(first) + OWNERS_OWNER] = {"gpu_idle.by_owner", "owner"},                                     \
               [(first) + OWNERS_TOTAL] = {"gpu_idle.by_owner", "total_ns"},                       \
               [(first) + OWNERS_LATER] = {"gpu_idle.by_owner", "later_ns"},                       \
               [(first) + OWNERS_WINDOW] = {"gpu_time.program", "window_ns"},                      \
               [(first) + OWNERS_SITE_OWNER] = {"gpu_idle.owner_sites", "owner"},                  \
               [(first) + OWNERS_SITE_FUNCTION] = {"gpu_idle.owner_sites", "function"},            \
               [(first) + OWNERS_SITE] = {"gpu_idle.owner_sites", "site"},                         \
               [(first) + OWNERS_SITE_WAITS] = {"gpu_idle.owner_sites", "waits"},                  \
               [(first) + OWNERS_SITE_TOTAL] = {"gpu_idle.owner_sites", "total_ns"},               \
               [(first) + OWNERS_TRUST] = {.scalar = "trust_score"}

/* Which idle time a finding is about. */
struct ta_owners_asked {
    size_t reads; /* the first of the references */
    const char *const *owners;
    size_t n_owners;
};

/* Idle time of a device, of the owners that are asked for. */
struct ta_owned {
    struct ta_place place;  /* the largest part of it; no table without any */
    struct ta_place window; /* of the program, for the device */
    struct ta_place run;    /* the longest of these windows: recordings of ranks differ in length */
    double ns, later;       /* in all; of it, after calls that wait */
    double share;           /* of the run */
};

/* Of the device that loses most.  What the looks in `extra`
 * find in its rows counts as well.  Nothing of a recording that is trusted less than
 * TA_TRUST_LEAST: of it nobody knows why a device was idle. */
struct ta_owned ta_owned_worst(const struct ta_refs *in, struct ta_advice *advice,
                               const struct ta_owners_asked *asked, const struct ta_look *extra,
                               size_t n_extra);

/* Where a device lost the time: the function with most of it, and there the place.  Ranges that
 * differ in the number at their end are one: "denoise_step_*". */
struct ta_owned_where {
    const char *function, *site; /* "" where they are not known; equal where no function is */
    double share;                /* of the function, of all that is asked for */
    double site_share;           /* of the place in it alone */
    double site_all;             /* of the place, wherever it is called from */
    int64_t site_waits;          /* likewise */
};

/* `window`: the row of the device, as in struct ta_owned. */
struct ta_owned_where ta_owned_where(const struct ta_refs *in, struct ta_advice *advice,
                                     const struct ta_owners_asked *asked,
                                     const struct ta_place *window);

/* Whether a row of the places is one of this device. */
bool ta_owned_is_site(const struct ta_refs *in, const struct ta_owners_asked *asked,
                      const struct ta_place *window, size_t row);

/* "sampler.py(88): step has 71 % of it (31 ms), aten::add alone 40 %."; NULL where no place has a
 * tenth.  `ns`: all of it. */
const char *ta_owned_sentence(struct ta_advice *advice, const struct ta_owned_where *where,
                              double ns);

/* What comes after "the GPU": " of rank 3", or " 1" for a device, where there are several in the
 * table of the place; else "". */
const char *ta_owned_of(struct ta_advice *advice, const struct ta_place *place);

/* "for 26.0 % of the run (1.85 ms)". */
const char *ta_owned_part(struct ta_advice *advice, const struct ta_owned *owned);

/* ", which leaves the GPU of rank 3 idle for 26.0 % of the run (1.85 ms)", after the cause: it may
 * be idle for other causes, too. */
const char *ta_owned_cost(struct ta_advice *advice, const struct ta_owned *owned);

#endif
