/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a merged trace takes of the traces, by the options, and how their clocks are aligned. */
#ifndef TA_RUN_MERGE_H
#define TA_RUN_MERGE_H

#include "merge/merge.h"
#include "run/run.h"

/* Whole numbers from `first` to `last`. */
struct ta_span {
    int64_t first, last;
};

/* The options as values. */
struct ta_merge_choice {
    struct ta_span *ranks; /* --rank; none: all */
    size_t n_ranks;
    struct ta_span steps;    /* --steps; TA_MISSING: all */
    int64_t from_ns, to_ns;  /* --time-range, since the start of the run; TA_MISSING: all */
    char *names;             /* of --drop-category, cut into pieces */
    const char **categories; /* ends with NULL */
};

/* TA_ERR_USAGE for options that make no sense. */
enum ta_status ta_merge_choose(struct ta_run *run, struct ta_merge_choice *choice) TA_MUST_CHECK;
/* Frees it, unless NULL, with its memory. */
void ta_merge_choice_free(struct ta_merge_choice *choice);

bool ta_merge_takes_rank(const struct ta_merge_choice *choice, int64_t rank);

/* Sets the clocks of the traces, which come in the order of the survey; what was done goes to
 * merge->alignment.  TA_ERR_INPUT when what --align asks for cannot be had. */
enum ta_status ta_merge_align(struct ta_run *run, const struct ta_survey *survey,
                              struct ta_merge *merge) TA_MUST_CHECK;

/* Sets what is wanted of each trace, by --time-range and by the steps that were found. */
enum ta_status ta_merge_limit(struct ta_run *run, const struct ta_merge_choice *choice,
                              const struct ta_survey *survey, struct ta_merge *merge) TA_MUST_CHECK;

#endif
