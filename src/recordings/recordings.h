/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each file is, once all are read: files → recordings → runs, with the reason of each (ADR
 * 37).
 *
 * A recording is what all processes of a run recorded over one stretch of time, a file per process.
 * A run has one, or several with pauses between them: iterations of a benchmark, cycles of a
 * profiler's schedule, a warm-up.  Figures are of one recording; nothing ever spans two. */
#ifndef TA_RECORDINGS_H
#define TA_RECORDINGS_H

#include "ingest/ingest.h"

enum ta_recording_kind {
    TA_RECORDING_RUN,       /* the only one of its run */
    TA_RECORDING_ITERATION, /* one of several, numbered by the program */
    TA_RECORDING_CYCLE,     /* one of several, by time */
    TA_RECORDING_WARM_UP,
    TA_RECORDING_CAPTURE, /* of a graph that another recording of the process replays */
    TA_RECORDING_HOST,    /* without device work, where another recording has it */
    TA_RECORDING_REPEAT,  /* of what other files hold, which count */
    TA_RECORDING_DUMP,    /* of another profiler, of the run */
    TA_RECORDING_COPY,    /* of the content of other files */
    TA_RECORDING_NONE     /* not read */
};

/* What a file is taken for. */
struct ta_recorded_file {
    enum ta_recording_kind kind;
    size_t recording; /* that it counts in, or is set aside for; SIZE_MAX: none */
    bool counts;      /* it does */
    int64_t start_ns; /* since 1970, or TA_MISSING */
    size_t map_of;    /* of a capture: a file of its process in the run; SIZE_MAX: none */
    const char *why;  /* a sentence */
};

/* Files that count together. */
struct ta_recording {
    enum ta_recording_kind kind;
    const char *name; /* as --run takes it */
    size_t run;
    int64_t number;           /* as the program counts, or the place by time, from 0 */
    int64_t start_ns, end_ns; /* since 1970, or TA_MISSING */
    size_t n_files;           /* traces and dumps that count */
    bool is_chosen;           /* the figures of its run are of this one */
};

struct ta_recorded_run {
    const char *name;
    size_t first, n; /* its recordings, in the order of time */
    size_t chosen;   /* the last whole one that is no warm-up */
};

struct ta_recordings {
    struct ta_arena arena;
    struct ta_recorded_file *files; /* one per source */
    size_t n_files;
    struct ta_recording *at;
    size_t n;
    struct ta_recorded_run *runs;
    size_t n_runs;
};

/* Decides what the files of an ingestion are; whatever it returns, ta_recordings_free() ends it.
 * `rank_regex` as in the options of a run. */
enum ta_status ta_recordings_decide(struct ta_ctx *ctx, const struct ta_run_options *options,
                                    const struct ta_ingestion *ingestion,
                                    struct ta_recordings *recordings) TA_MUST_CHECK;
void ta_recordings_free(struct ta_recordings *recordings);

/* Marks files that are whole and no recordings, and are not named as one: nothing is lost where
 * they are not read.  False without memory. */
bool ta_recordings_find_strays(struct ta_recordings *recordings,
                               struct ta_ingestion *ingestion) TA_MUST_CHECK;

/* The recording that a text given with --run names: "flux_cp", "iteration_1", or
 * "flux_cp/iteration_1"; the one of its run that is chosen for a run; SIZE_MAX when none is. */
size_t ta_recording_find(const struct ta_recordings *recordings, const char *name);

/* That nothing has this name, with the names that there are: TA_ERR_USAGE. */
enum ta_status ta_recordings_lack(struct ta_ctx *ctx, const struct ta_recordings *recordings,
                                  const char *name) TA_MUST_CHECK;

/* Kernels of replays in files of a run that count (SIZE_MAX: of all runs), and how many of them
 * have their operators from another file that captured the graph: `file`, or any for NULL. */
struct ta_mapped_kernels {
    int64_t all, mapped;
    const char *reason; /* why most of the others are not, or NULL; a constant */
};
struct ta_mapped_kernels ta_recordings_mapped(const struct ta_recordings *recordings,
                                              const struct ta_ingestion *ingestion, size_t run,
                                              const char *file);

/* Whether every file that was read is simply a rank, or a dump, of one run. */
bool ta_recordings_are_plain(const struct ta_recordings *recordings,
                             const struct ta_ingestion *ingestion);

/* A word for the kind, such as "graph_capture". */
const char *ta_recording_kind_name(enum ta_recording_kind kind);

#endif
