/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes of all traces: a number for each that no other one has, names that say whose they are,
 * and their order. */
#ifndef TA_MERGE_PROCESSES_H
#define TA_MERGE_PROCESSES_H

#include "model/strings.h"
#include "traceanalyze/base.h"
#include "traceanalyze/output.h"

struct merge_process {
    int64_t number;
    char *name;         /* the last one that the trace gives it, or NULL */
    int64_t sort_index; /* the rank of the trace, or TA_MISSING */
};

/* Processes of one trace after the other; zero-initialize. */
struct merge_processes {
    size_t limit;                      /* processes of a trace at most */
    struct ta_strings texts;           /* their ids as written */
    bool has_texts;                    /* `texts` was made */
    TA_VEC(struct merge_process) list; /* by id in `texts`, less one */
    struct ta_map taken;               /* numbers that some trace uses */
    int64_t next;                      /* the next one to give */
    int64_t n_named;                   /* of all traces before */
    bool is_full, failed;              /* beyond the limit; out of memory */
};

void merge_processes_free(struct merge_processes *processes);

/* The process of the present trace with this id as written, "" without one; those beyond the limit
 * are the first one.  NULL without memory. */
struct merge_process *merge_processes_at(struct merge_processes *processes, struct ta_slice text);

/* Keeps a copy of a name. */
void merge_process_rename(struct merge_processes *processes, struct merge_process *process,
                          struct ta_slice name);

/* Writes names and order of the processes of the present trace as metadata events, each after
 * `*separator`, which then becomes the separator of the events that follow; forgets the processes.
 * Returns the number of events. */
size_t merge_processes_end(struct merge_processes *processes, const char *owner,
                           struct ta_file *out, const char **separator);

#endif
