/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is asked for: its inputs, and how to read them. */
#ifndef TA_RUN_OPTIONS_H
#define TA_RUN_OPTIONS_H

#include "traceanalyze/run.h"

struct ta_survey;
struct ta_team;

struct ta_run_options {
    const char *const *inputs; /* files, folders, globs, "-" */
    size_t n_inputs;
    unsigned jobs;          /* threads; 0 is one per core */
    uint64_t memory_limit;  /* bytes; 0 is three quarters of what there is, which columns stay below
                               but which does not end the run */
    const char *tmpdir;     /* folder for columns beyond the limit; NULL is $TMPDIR, /var/tmp */
    const char *rank_regex; /* POSIX ERE, its first group is the rank; NULL is the default */
    const char *step_marker; /* POSIX ERE on names of ranges that are steps; NULL: none */
    int64_t world_size;      /* expected, TA_MISSING takes the traces' word */
    bool partial;            /* ranks may be missing: that is no notice of data quality */
    const char *input;       /* id of the input plugin to use, NULL decides by content */
    const char *hardware;    /* name of a device, or a file of them; NULL takes the traces' word */
    const char *price;       /* of a GPU per hour, such as "2.50USD"; NULL: not known */
    const char *run;         /* name of the run, or recording, to report on; NULL: all */
    const char *const *run_of; /* of several inputs to compare: by input; NULL: `run` of all */
    bool together;             /* all files are one recording, whatever they look like */
    const char *const *maps;   /* traces with captures of the graphs that the inputs replay */
    size_t n_maps;
    const char *title; /* NULL is made from the input's name */
    bool only_reads;   /* reads and accounts, runs no analysis */
    bool timeline;     /* make ta_report_timeline() */
    bool summaries; /* each file yields a summary (ta_ingested.packed) and nothing in the partials;
                       `title` and `version` go into it */
    const char *version; /* of the program */
    ta_progress *progress;
    void *progress_user;
    bool reports; /* join reports that were written before, of parts of the run (join.h) */
    struct ta_survey *survey; /* to fill, or NULL; its arena is the caller's to free */
    struct ta_team *team;     /* processes that read the files together, or NULL; with `version` */
};

#endif
