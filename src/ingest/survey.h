/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces a run has read, and their steps and how their clocks differ, for those who read them
 * again. */
#ifndef TA_SURVEY_H
#define TA_SURVEY_H

#include "ingest/ingest.h"
#include "ranks/ranks.h"
#include "ranks/steps.h"
#include "traceanalyze/base.h"

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

/* The traces of a run, by rank, then by path; zero-initialize, but for what is needed. */
struct ta_survey {
    bool needs_clocks, needs_steps; /* `members` and `steps` are wanted */
    struct ta_arena arena;
    struct ta_surveyed *at;
    size_t n;
    const struct ta_rank_member *members; /* by rank; their clocks are compared */
    size_t n_members;
    const struct ta_step *steps; /* by rank, without labels */
    size_t n_steps;
};

/* Fill in a survey when ranks are decided; false without memory. */
bool ta_survey_take(struct ta_survey *survey, const struct ta_ingestion *ingestion) TA_MUST_CHECK;
bool ta_survey_take_clocks(struct ta_survey *survey, const struct ta_rank_member *members,
                           size_t n) TA_MUST_CHECK;
bool ta_survey_take_steps(struct ta_survey *survey, const struct ta_step *steps,
                          size_t n) TA_MUST_CHECK;

#endif
