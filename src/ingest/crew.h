/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of an ingestion, which take the files of one run, or of several that are compared,
 * from one list: none has to wait until another run is read to its end. */
#ifndef TA_CREW_H
#define TA_CREW_H

#include "ingest/budget.h"
#include "ingest/worker.h"

#include <pthread.h>

/* A file, and its run. */
struct ta_file_task {
    size_t job;
    size_t file;
    uint64_t content; /* bytes that it is likely to inflate to */
    size_t helpers;   /* threads besides the worker's, if they are free */
};

struct ta_crew {
    const struct ta_run_options *options; /* of all runs: threads, memory, progress */
    struct ta_job *jobs;                  /* one per run */
    size_t n_jobs;
    struct ta_file_task *tasks; /* by falling size, so that the last to finish is a small one */
    size_t n;
    struct ta_planner planner;
    uint64_t bytes_all, bytes_before; /* to read; read before, by other crews */
    struct ta_member *members;
    atomic_size_t next, done;
    atomic_bool stop; /* a worker failed */
    struct ta_budget budget;
    uint64_t too_much; /* memory that was in use when it was more than allowed, 0: never */
    pthread_mutex_t lock;
    pthread_cond_t left; /* a worker has no more to do */
    size_t working;
};

/* Does all tasks.  `arenas` of each job has one for every worker of the planner; what its files
 * leave comes to the piles of its ingestion. */
enum ta_status ta_crew_run(struct ta_ctx *ctx, struct ta_crew *crew) TA_MUST_CHECK;

#endif
