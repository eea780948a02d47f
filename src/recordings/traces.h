/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is decided of traces, step by step. */
#ifndef TA_RECORDINGS_TRACES_H
#define TA_RECORDINGS_TRACES_H

#include "discover/names.h"
#include "recordings/recordings.h"

/* Numbers in names below are counted by a program; others are times, such as torch's. */
enum { TA_COUNTED_MOST = 1000000000 };

struct trace {
    size_t file;
    const struct ta_ingested *facts;
    struct ta_file_name name;
    int64_t rank;       /* as content or name say, or TA_MISSING */
    int64_t start, end; /* since 1970, or TA_MISSING */
    bool aside;         /* it counts in no time: it is set aside for the run of `partner` */
    const struct trace *partner;
    size_t owner;     /* the dump that names the trace as its own, or SIZE_MAX */
    size_t witnessed; /* number of the run that a report of another profiler says, or SIZE_MAX */
    size_t family;    /* place of the first trace with the same name but for ranks and numbers */
    size_t run;       /* number of the run */
    size_t number;    /* of the recording in it */
};

struct witness;

struct deciding {
    struct ta_recordings *recordings;
    const struct ta_ingestion *ingestion;
    struct trace *traces; /* in the order of their names */
    size_t n;
    struct witness *witnesses;       /* in the order of time */
    size_t n_witnesses, n_witnessed; /* and the runs that they are of */
    size_t *run_of;                  /* number of a run, by what it is among theirs */
    bool is_given;                   /* the user named several inputs, which are one run */
};

/* Which runs reports of other profilers are of, and traces next to them (witnesses.c); which traces
 * are of one run, and with which reports (runs.c); what the runs are called (run_names.c); which
 * traces of a run are of one recording (rounds.c).  False without memory. */
bool find_witnesses(struct deciding *d) TA_MUST_CHECK;
bool find_runs(struct deciding *d) TA_MUST_CHECK;
bool name_runs(struct deciding *d) TA_MUST_CHECK;
bool find_recordings(struct deciding *d) TA_MUST_CHECK;

/* Gives each dump to the run that it was written by (dumps.c). */
bool place_dumps(struct deciding *d) TA_MUST_CHECK;

/* Most launches of a capture are taken down by it and reach no device; none replays the graph. */
static inline bool is_capture(const struct trace *trace)
{
    const struct ta_traits *traits = &trace->facts->traits;
    return traits->captures > 0 && traits->instantiations > 0 && traits->graph_launches == 0 &&
           2 * traits->activities <= traits->launches;
}

/* Sections of one program, which are its figures together, and files that were merged into one
 * summary before. */
static inline bool are_inseparable(const struct trace *a, const struct trace *b)
{
    const struct ta_summary_file *summary = a->facts->source->summary;
    return (a->owner != SIZE_MAX && a->owner == b->owner) ||
           (summary && summary == b->facts->source->summary);
}

/* Whether both have dates, and one ends before the other begins. */
static inline bool are_apart(const struct trace *a, const struct trace *b)
{
    return a->start != TA_MISSING && b->start != TA_MISSING &&
           (a->end <= b->start || b->end <= a->start);
}

#endif
