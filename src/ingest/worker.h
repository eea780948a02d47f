/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread of an ingestion: it takes files, one at a time, from their bytes to partials. */
#ifndef TA_WORKER_H
#define TA_WORKER_H

#include "base/context.h"
#include "ingest/ingest.h"
#include "ingest/planner.h"

/* A run whose files are read: what the workers share. */
struct ta_job {
    const struct ta_registry *registry;
    const struct ta_run_options *options;
    const struct ta_plan *plan;
    const struct ta_plan *reading; /* the same, with more arguments where maps are given */
    struct ta_ingested *files;     /* one per source; the placeholder of a rank is the index */
    size_t n_files;
    struct ta_ingestion *ingestion;
    const bool *only;                       /* by file: whether it is read; NULL: all are */
    bool takes_captures;                    /* and nothing else */
    const struct ta_capture_list *captures; /* of graphs that files may replay, or NULL */
    struct ta_planner *planner;             /* of all runs that are read together */
    struct ta_timeline_pool *pool;          /* NULL: no timeline is wanted */
    int64_t timeline_share;                 /* slices of one file */
};

struct ta_worker {
    struct ta_ctx ctx;
    /* Of the run that the file is of: */
    const struct ta_job *job;
    struct ta_arena *arena; /* of the ingestion: what is said of its files */
    struct ta_partial_set *partials;
    uint64_t memory; /* that the last trace took at its largest, 0 when there was none */
};

/* Reads a file, normalizes and maps it; `helpers` more threads may be used if they are free.  What
 * is wrong with the file goes into its accounts and is no failure. */
enum ta_status ta_worker_read(struct ta_worker *w, struct ta_ingested *file,
                              size_t helpers) TA_MUST_CHECK;

#endif
