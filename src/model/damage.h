/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the times of a file cannot be believed, as reading it found: facts of one trace. */
#ifndef TA_MODEL_DAMAGE_H
#define TA_MODEL_DAMAGE_H

#include "base/vec.h"
#include "traceanalyze/model.h"

/* A point in time, and how many calls without a time lie in stretches up to it. */
struct ta_untimed {
    int64_t time, calls;
};

struct ta_damage {
    int64_t spans, untimed; /* all of the file; those that were written without a time */
    /* Where stretches of the host begin and end in which calls have no time; by time. */
    TA_VEC(struct ta_untimed) begins;
    TA_VEC(struct ta_untimed) ends;
    struct ta_intervals unknown;    /* when activities without a time may have run; united */
    struct ta_intervals disordered; /* the same of those that are out of order */
    int64_t raw_ns, kept_ns;        /* Σ of device activities as recorded, and as used */
    int64_t n_overlong;             /* activities that were cut */
    int64_t n_disordered;           /* that start after what was launched later */
};

/* Of a frozen trace. */
const struct ta_damage *ta_trace_damage(const struct ta_trace *trace);

/* How many calls without a time may lie in [from, to). */
int64_t ta_damage_calls(const struct ta_damage *damage, int64_t from, int64_t to);

/* Adds a time in which an activity without a time may have run, or one that is out of order. */
void ta_damage_add_unknown(struct ta_damage *damage, int64_t from, int64_t to);
void ta_damage_add_disordered(struct ta_damage *damage, int64_t from, int64_t to);

/* Puts what was collected in order; false without memory. */
bool ta_damage_settle(struct ta_damage *damage);

void ta_damage_free(struct ta_damage *damage);

#endif
