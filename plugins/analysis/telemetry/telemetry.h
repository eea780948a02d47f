/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples as the parts of this analysis hand them on: files → series → tables. */
#ifndef TA_TELEMETRY_H
#define TA_TELEMETRY_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

/* Fields of the partial: the samples of a file that are of one rank, device and signal.
 *
 * Up to EXACT_MOST of them are kept, packed into a text.  FILE_KEY is TA_MISSING for those with
 * stamps then, so that equal series of several files are one.  Of more samples there are sums, a
 * distribution, and means over equal spans of time in the text. */
enum {
    RANK,
    DEVICE,
    SIGNAL,
    FILE_KEY,
    READINGS, /* struct reading: in the order of the file, means by time */
    COUNT,    /* from here on: of more than EXACT_MOST samples only */
    LEAST,    /* ta_real_cell(), as the next three */
    MOST,
    SUM,
    JOULES,
    COVERED,
    FIRST,
    LAST,
    STAMPED, /* 1: by a clock, so that files can be compared */
    VALUES,  /* in signals[].steps */
    ORIGIN,  /* local time of the samples' time 0, as in struct ta_sample, of any number of them */
    FIELDS
};

/* What is read of other analyses. */
enum {
    DIFFUSION_RANK,
    DIFFUSION_FRAMES,
    STEP_START,
    STEP_TIME,
    STEP_PART,
    TRACE_RANK,
    TRACE_DEVICE
};

/* Fields of the other partials: the sessions of a rank, and its blocks. */
enum { SESSION_RANK, SESSION_NS, SESSION_FIELDS };
enum { BLOCK_RANK, BLOCK_FILE, BLOCK_ORDER, BLOCK_END, BLOCK_NS, BLOCK_FRAMES, BLOCK_FIELDS };
extern const struct ta_field telemetry_session_fields[SESSION_FIELDS];
extern const struct ta_field telemetry_block_fields[BLOCK_FIELDS];

/* Fields of the partial of when runs were: by the clock of a trace, or of a log without a zone. */
enum { RUN_ZONE, RUN_ORIGIN, RUN_FIRST, RUN_LAST, RUN_FIELDS };
enum { RUN_UTC, RUN_LOCAL };
extern const struct ta_field telemetry_run_fields[RUN_FIELDS];

/* As many values are enough for exact quantiles; a span is as wide as it takes for that many. */
enum { EXACT_MOST = 65536, SPANS = 2048 };

/* A sample of a series, or the mean of several. */
struct reading {
    int64_t time;
    double value;
};

struct signal_info {
    bool of_gpu;
    double steps; /* of a distribution in one unit: 0.4 % of what matters, or less */
};
extern const struct signal_info telemetry_signals[TA_SIGNAL_COUNT];

/* Readings by time. */
struct readings {
    const struct reading *at;
    size_t n;
};

/* What is known of many samples together. */
struct summary {
    int64_t n, first_ns, last_ns, covered_ns; /* covered: by intervals that count */
    double least, most, sum, joules;
};

/* The samples of a rank, device and signal. */
struct series {
    int64_t rank, device;
    enum ta_signal signal;
    size_t first, end;           /* readings of `all`, by time: exact ones */
    size_t first_mean, end_mean; /* means that stand for more, by time in each file */
    size_t first_row, end_row;   /* of the partial */
    struct summary summary;      /* of the samples that the means are over */
    size_t outside;              /* samples that are not of the run */
    bool used, is_dated;
};

/* When the run was, on the axis of the readings.  Readings with a local time are since `origin`;
 * all others begin at 0 or are since 1970. */
struct window {
    int64_t origin;
    bool known, is_trace; /* else what follows says nothing, and all readings count */
    int64_t zone_ns;
    int64_t begin;    /* where the times of the trace begin */
    int64_t from, to; /* first and last work */
    int64_t span_ns;
};

struct all {
    struct reading *readings;
    size_t n_readings;
    struct series *at; /* by rank, device, signal; no device first */
    size_t n;
    const struct ta_partial *partial, *sessions, *blocks, *runs;
    bool *dropped;            /* rows of the partial: their samples are in another file too */
    struct reading *unpacked; /* of the rows of the partial, one after the other */
    size_t *row_first;        /* where a row's begin; one more than there are rows */
    struct window window;
};

/* ---- samples.c ------------------------------------------------------------------------------ */

enum ta_status telemetry_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                             struct ta_partial *const *out);
/* Makes the series; false without memory. */
bool telemetry_find_series(struct all *all);
/* The readings of a row of the partial, in the order of the file. */
const struct reading *telemetry_row_readings(const struct all *all, size_t row, size_t *n);
/* The end of the series of the rank and device of series number `first`. */
size_t telemetry_device_end(const struct all *all, size_t first);

/* ---- owners.c ------------------------------------------------------------------------------- */

/* Gives series of devices the rank that the device works for, where one process sampled the devices
 * of several ranks and their traces tell which is whose. */
void telemetry_find_owners(struct all *all, const struct ta_refs *in);

/* ---- window.c ------------------------------------------------------------------------------- */

/* False without memory. */
bool telemetry_map_run(const struct ta_trace *trace, struct ta_partial *runs);
void telemetry_find_window(struct all *all);
extern const struct ta_table_def telemetry_window;
void telemetry_add_window(struct ta_section_builder *out, const struct all *all);

/* ---- files.c -------------------------------------------------------------------------------- */

/* Drops the rows of files whose samples another file has, too. */
void telemetry_drop_twins(struct all *all);

/* ---- energy.c ------------------------------------------------------------------------------- */

/* Sums over readings by time; `steps` has room for them.  Gaps of more than three median intervals
 * do not count in the energy. */
struct summary telemetry_sum_up(struct readings readings, double *steps);
/* Adds the second to the first. */
void telemetry_join(struct summary *into, const struct summary *more);
extern const struct ta_table_def telemetry_energy;
void telemetry_add_energy(struct ta_section_builder *out, const struct all *all,
                          const struct ta_refs *in, double *scratch);

/* ---- coverage.c ----------------------------------------------------------------------------- */

void telemetry_map_sessions(const struct ta_trace *trace, struct ta_partial *sessions,
                            struct ta_partial *blocks);
/* The share of its sessions that samples of a rank cover where they are of a part only; else, and
 * where it is not known, NAN. */
double telemetry_covered_share(const struct all *all, const struct series *series,
                               const struct summary *sums);
/* Frames of the blocks of a rank that were made between two moments, a block in part by its time;
 * NAN where a block does not tell. */
double telemetry_frames_between(const struct all *all, int64_t rank, int64_t from, int64_t to);

/* ---- sampling.c ----------------------------------------------------------------------------- */

/* Of series of which all samples were kept. */
extern const struct ta_table_def telemetry_sampling;
void telemetry_add_sampling(struct ta_section_builder *out, const struct all *all, double *scratch);

/* ---- limits.c ------------------------------------------------------------------------------- */

extern const struct ta_table_def telemetry_limits;
/* Sorts the means of series by time; false without memory. */
bool telemetry_add_limits(struct ta_section_builder *out, const struct all *all,
                          const struct ta_refs *in);

/* ---- disks.c -------------------------------------------------------------------------------- */

extern const struct ta_table_def telemetry_disks;
/* False without memory. */
bool telemetry_add_disks(struct ta_section_builder *out, const struct all *all);

/* ---- timeline.c ----------------------------------------------------------------------------- */

extern const struct ta_table_def telemetry_timeline;
bool telemetry_add_timeline(struct ta_section_builder *out, const struct all *all, int64_t *times);

#endif
