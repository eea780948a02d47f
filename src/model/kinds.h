/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many records of each phase and category a process has.
 *
 * A file may hold the processes of several ranks, which its last event may say first.  So records
 * are counted by process while they are read, and added up when it is known whose they are. */
#ifndef TA_MODEL_KINDS_H
#define TA_MODEL_KINDS_H

#include "base/vec.h"
#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

/* Phases of the trace event format, in the order of kinds counted per category. */
#define TA_PHASES "XBEiICMstfbneSTpFPNODvVRc(),"

/* Rows of the tables of a trace that came before something. */
struct ta_row_counts {
    size_t spans, edges, asyncs, counters, instants, flows;
};

/* The records of a process, by category and place of the phase in TA_PHASES. */
struct kinds_of_process {
    ta_str pid;
    struct ta_row_counts before; /* its first record */
    int64_t (*counts)[sizeof TA_PHASES];
    size_t n; /* categories that there is room for */
};

enum { KINDS_RECENT = 16 };

struct kinds {
    TA_VEC(struct kinds_of_process) list; /* the first one also has what found no room */
    struct ta_map place_of;               /* by pid, plus one */
    size_t rows;                          /* categories of all processes */
    struct {
        ta_str pid;
        uint32_t place; /* plus one; 0: none */
    } recent[KINDS_RECENT];
};

void kinds_free(struct kinds *kinds);

/* Forgets the counts and keeps the processes. */
void kinds_clear(struct kinds *kinds);

/* The counts of a process and category; NULL without memory. */
int64_t *kinds_find(struct kinds *kinds, ta_str pid, ta_cat cat);

/* The same.  Events come in turns of a few processes. */
static inline int64_t *kinds_at(struct kinds *kinds, ta_str pid, ta_cat cat)
{
    const uint32_t place = kinds->recent[pid % KINDS_RECENT].place;
    if (place && kinds->recent[pid % KINDS_RECENT].pid == pid && cat < kinds->list.at[place - 1].n)
        return kinds->list.at[place - 1].counts[cat];
    return kinds_find(kinds, pid, cat);
}

/* Records of a phase, given by its place, and a category, of all processes. */
int64_t kinds_sum(const struct kinds *kinds, ta_cat cat, size_t phase);

#endif
