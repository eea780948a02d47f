/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of all ranks as one file.
 *
 * Nothing is built of an event: its text goes from file to file, and only values in it that mean
 * something else among the events of other ranks are written anew (event.c).  Traces follow one
 * another in the file, so one is open at a time, and memory does not grow with their size. */
#ifndef TA_MERGE_H
#define TA_MERGE_H

#include "base/clock.h"
#include "traceanalyze/base.h"
#include "traceanalyze/output.h"

/* One trace, and what of it is wanted. */
struct ta_merge_trace {
    const char *path;            /* to open */
    const char *shown;           /* for people */
    uint64_t events;             /* that a look at it has found: fewer are an error */
    int64_t rank;                /* TA_MISSING: it holds several, and is the only one */
    bool shares_rank;            /* another trace is of the same rank */
    struct ta_clock_shift clock; /* from the clock of the file to the run's clock */
    int64_t uncertainty_ns;      /* of the clock, TA_MISSING when it is not known */
    int64_t from_ns, to_ns; /* what is wanted, [from, to) on the clock of the run; both TA_MISSING:
                               everything */
    struct ta_merge_counts {
        uint64_t kept;
        uint64_t out_of_range, of_category; /* left out as asked */
        uint64_t lost;                      /* could not be read, or have no time */
    } counts;                               /* what became of its events; set */
};

struct ta_merge {
    struct ta_merge_trace *traces; /* in the order of the file */
    size_t n;
    int64_t base_ns;               /* what the clock of the run counts from, or TA_MISSING */
    const char *alignment;         /* how the clocks were aligned, for programs */
    const char *const *categories; /* to leave out, ends with NULL, whatever the case of letters */
    const char *version;           /* of the program */
    void (*progress)(void *user, size_t traces_done); /* called now and then, or NULL */
    void *progress_user;
};

/* Is in every file that is written here, see ta_sink_open(). */
#define TA_MERGE_SIGNATURE "traceanalyze.merge/1"

/* One Chrome trace with the events of all: process ids and ids of events made unique, times on the
 * clock of the run. */
enum ta_status ta_merge_chrome(struct ta_ctx *ctx, const struct ta_merge *merge,
                               struct ta_file *out) TA_MUST_CHECK;

/* A tar with a trace per file as it is, but for what is left out and for drift, after a manifest
 * that gives Perfetto the machine and the clock of each. TA_ERR_OUTPUT when `out` is a pipe. */
enum ta_status ta_merge_archive(struct ta_ctx *ctx, const struct ta_merge *merge,
                                struct ta_file *out) TA_MUST_CHECK;

#endif
