/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run as one call: paths in, a frozen report out.  Start reading at pipeline.c. */
#ifndef TA_PIPELINE_H
#define TA_PIPELINE_H

#include "traceanalyze/arena.h"
#include "traceanalyze/result.h"

struct ta_ctx;
struct ta_registry;
struct ta_team;
struct ta_wanted;

/* Called now and then while files are read, from any thread but never twice at a time. */
typedef void ta_progress(void *user, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                         size_t files_all);

/* A trace that was read, for those who read it again. */
struct ta_surveyed {
    const char *path;   /* to open; NULL for standard input */
    const char *shown;  /* below INPUT; of a file its name */
    const char *format; /* id of the input plugin */
    uint64_t bytes;     /* on disk */
    uint64_t events;    /* that could be used */
    int64_t rank;
    int64_t base_ns;           /* of its clock, or TA_MISSING */
    int64_t origin_ns;         /* earliest start of a span */
    int64_t first_ns, last_ns; /* times of events, TA_MISSING without any */
};

/* The traces of a run, by rank, then by path; zero-initialize. */
struct ta_survey {
    struct ta_arena arena;
    struct ta_surveyed *at;
    size_t n;
};

struct ta_run_options {
    const char *const *inputs; /* files, folders, globs, "-" */
    size_t n_inputs;
    unsigned jobs;          /* threads; 0 is one per core */
    uint64_t memory_limit;  /* bytes; 0 is three quarters of what there is, which columns stay below
                               but which does not end the run */
    const char *tmpdir;     /* folder for columns beyond the limit; NULL is $TMPDIR, /var/tmp */
    const char *rank_regex; /* POSIX ERE, its first group is the rank; NULL is the default */
    int64_t world_size;     /* expected, TA_MISSING takes the traces' word */
    bool partial;           /* ranks may be missing: that is no notice of data quality */
    const char *input;      /* id of the input plugin to use, NULL decides by content */
    const char *hardware;   /* name of a device, or a file of them; NULL takes the traces' word */
    const char *title;      /* NULL is made from the input's name */
    const struct ta_wanted *wanted; /* analyses that run; NULL: all */
    bool timeline;                  /* make ta_report_timeline() */
    bool summaries;      /* each file leaves a summary behind (ta_ingested.packed) and nothing in
                            the partials; `title` and `version` go into it */
    const char *version; /* of the program */
    ta_progress *progress;
    void *progress_user;
    bool reports; /* join reports that were written before, of parts of the run (join.h) */
    struct ta_survey *survey; /* to fill, or NULL; its arena is the caller's to free */
    struct ta_team *team;     /* processes that read the files together, or NULL; with `version` */
};

/* discover → read → parse → normalize → analyze → recommend.  On TA_OK the caller owns
 * *report; on failure the chain of causes is in ctx.  TA_ERR_INPUT when nothing was usable.  Of a
 * team only the first process gets a report, all others NULL. */
enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options,
                               struct ta_report **report) TA_MUST_CHECK;

/* The same of several runs that are to be compared, one per input, with reports[] in their order,
 * which is all NULL before.  Files of different runs are read at the same time where a run has
 * fewer than there are threads.  Whatever it returns, what is in reports[] is the caller's. */
enum ta_status ta_pipeline_run_each(struct ta_ctx *ctx, const struct ta_registry *registry,
                                    const struct ta_run_options *options,
                                    struct ta_report **reports) TA_MUST_CHECK;

#endif
