/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overview.picture: one picture of the run, as segments on lanes.  Each kind of run has a file that
 * draws it; the table in picture.c chooses. */
#ifndef TA_PICTURE_H
#define TA_PICTURE_H

#include <traceanalyze/analysis.h>

/* What an instant of a device goes to, in the order in which one that several cover is given out;
 * then what only lanes have. */
enum picture_class {
    PICTURE_GEMM,
    PICTURE_ATTENTION,
    PICTURE_CONV,
    PICTURE_POINTWISE,
    PICTURE_KERNEL,
    PICTURE_COMM,
    PICTURE_COPY,
    PICTURE_WORK, /* how many of them are work of a device */
    PICTURE_LAUNCH = PICTURE_WORK,
    PICTURE_SYNC,
    PICTURE_INPUT,
    PICTURE_COMPUTATION,
    PICTURE_ALLOCATION,
    PICTURE_SETUP,
    PICTURE_HOST,
    PICTURE_QUEUED,
    PICTURE_BEFORE,  /* the first work of the device */
    PICTURE_EARLIER, /* work that was launched before the recording may still run */
    PICTURE_AFTER,   /* its last work */
    PICTURE_UNKNOWN, /* idle time whose cause was not recorded, beside causes that were */
    PICTURE_UNSEEN,  /* the same in a recording that lacks work of the device */
    PICTURE_IDLE,
    PICTURE_COMPUTE,  /* all of a rank's, whatever computes */
    PICTURE_WAIT,     /* for other ranks */
    PICTURE_OPERATOR, /* computes on the host */
    PICTURE_LOADING,
    PICTURE_REST, /* of the host's time */
    PICTURE_PHASE,
    PICTURE_STAGE, /* of a session: those with most time each, then the others together */
    PICTURE_STAGE_REST = PICTURE_STAGE + 6,
    PICTURE_SESSION, /* of a rank, as a whole */
    PICTURE_OTHER,   /* of a session, what no stage has */
    PICTURE_CLASSES
};

/* Values of the column `class`, with how charts show them; index: enum picture_class. */
extern const struct ta_kind picture_kinds[];

/* Partials. */
enum { PICTURE_STRETCHES, PICTURE_TIMES };
enum { STRETCH_RANK, STRETCH_INDEX, STRETCH_LENGTH, STRETCH_PHASE, STRETCH_STEP, STRETCH_FIELDS };
enum { TIME_RANK, TIME_DEVICE, TIME_INDEX, TIME_CLASS, TIME_NS, TIME_FIELDS };

/* A stretch of a program's window: a phase of a diffusion, a step of one, or neither. */
struct picture_stretch {
    int64_t start, end;
    int64_t phase; /* enum ta_generation_phase; TA_MISSING: of none */
    int64_t step;  /* its number from 1 on; TA_MISSING: it is no step */
};

struct picture_stretches {
    struct picture_stretch *at;
    size_t n;
};

/* The window of the program as stretches without gaps; free `at`.  False without memory. */
TA_MUST_CHECK bool picture_stretches_find(const struct ta_trace *trace,
                                          struct picture_stretches *out);

/* Adds the time of each class of work in each stretch, for each device, and idle time before,
 * between and after it. */
void picture_sweep(const struct ta_trace *trace, const struct picture_stretches *stretches,
                   struct ta_partial *times);

/* Adds the time of each cause of idle time between the first and the last work of each device: part
 * of its PICTURE_IDLE.  False without memory. */
TA_MUST_CHECK bool picture_causes(const struct ta_trace *trace,
                                  const struct picture_stretches *stretches,
                                  struct ta_partial *times);

/* What pictures are drawn from: columns of other tables, see picture.c. */
enum {
    BOUND_NAME,
    BOUND_TOTAL,
    PART_RANK,
    PART_DEVICE,
    PART_WINDOW,
    PART_COMPUTE,
    PART_HIDDEN,
    PART_COMM,
    PART_COPY,
    PART_OTHER,
    WAIT_RANK,
    WAIT_NS,
    IDLE_OWNER,
    IDLE_NS,
    EDGE_EDGE,
    EDGE_CAUSE,
    EDGE_NS,
    TRUST,
    DAMAGE,
    DAMAGE_SHARE,
    STAGE_RANK,
    STAGE_NAME,
    STAGE_TIME,
    STAGE_SHARE,
    STAGE_SHARE_OF,
    DERIVED_RANK,
    DERIVED_NAME,
    DERIVED_TIME,
    DERIVED_SHARE,
    DERIVED_SHARE_OF,
    HOST_RANK,
    HOST_CLASS,
    HOST_TIME,
    FIGURE_RANK,
    FIGURE_GROUP,
    FIGURE_NAME,
    FIGURE_VALUE,
    LIMIT_RANK,
    LIMIT_DEVICE,
    LIMIT_NAME,
    LIMIT_SHARE,
    SAMPLE_RANK,
    SAMPLE_DEVICE,
    SAMPLE_TIME,
    SAMPLE_CLOCK,
    SAMPLE_HEAT,
    SAMPLE_POWER,
    SAMPLE_MEMORY,
    SAMPLE_CAPPED,
    SAMPLE_SLOWED,
    LEVELS_BYTES,
    PICTURE_READS
};

/* The picture while it is drawn. */
struct picture {
    const struct ta_partial *stretches, *times;
    const struct ta_refs *in;
    struct ta_section_builder *out;
    int64_t *n;   /* segments so far */
    bool *failed; /* set without memory */
};

/* Adds a segment; `label` may be NULL.  Segments without length are left out. */
void picture_add(const struct picture *to, const char *lane, int64_t start, int64_t length,
                 enum picture_class class, const char *label);

/* Adds `times` from `start` on in order of size, work first and what lies before the first and
 * after the last work at the ends, each named with its share of `whole`; returns the end. */
int64_t picture_add_classes(const struct picture *to, const char *lane, int64_t start,
                            const int64_t times[PICTURE_CLASSES], int64_t whole);

/* What idle time of a part of run.bound is; PICTURE_UNKNOWN for a part that is work, or says
 * nothing. */
enum picture_class picture_class_of_part(struct ta_slice part);

/* Adds to `parts`, by class, idle time of a part of run.bound; nothing of a part that is work. */
void picture_add_part(int64_t parts[PICTURE_CLASSES], struct ta_slice part, int64_t ns);

/* Gives the PICTURE_IDLE of `times` to these parts, as far as it goes, and the rest to
 * PICTURE_UNKNOWN; without parts it stays. */
void picture_share_idle_time(int64_t times[PICTURE_CLASSES], const int64_t parts[PICTURE_CLASSES]);

/* Each draws one kind of run, and says whether it is such a one. */
bool picture_of_ranks(const struct picture *picture);
bool picture_of_diffusion(const struct picture *picture);
bool picture_of_device(const struct picture *picture);
bool picture_of_host(const struct picture *picture);
bool picture_of_stages(const struct picture *picture);
bool picture_of_sessions(const struct picture *picture);

/* This one has a table and a chart of its own. */
extern const struct ta_table_def picture_telemetry;
bool picture_of_telemetry(const struct picture *picture);

#endif
