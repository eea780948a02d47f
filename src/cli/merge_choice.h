/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `merge` takes of the traces, by its options, and where their clocks stand. */
#ifndef TA_CLI_MERGE_CHOICE_H
#define TA_CLI_MERGE_CHOICE_H

#include "cli/cli.h"
#include "ingest/survey.h"
#include "merge/merge.h"

/* How clocks are aligned; the words of --align in options.c stand in this order. */
enum ta_align { TA_ALIGN_AUTO, TA_ALIGN_COLLECTIVES, TA_ALIGN_CLOCK, TA_ALIGN_NONE };

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
enum ta_status ta_merge_choose(struct ta_cli *cli, struct ta_merge_choice *choice) TA_MUST_CHECK;
void ta_merge_choice_free(struct ta_merge_choice *choice);

bool ta_merge_takes_rank(const struct ta_merge_choice *choice, int64_t rank);

/* Sets the clocks of the traces, which stand in the order of `surveyed`; what was done goes to
 * merge->alignment.  TA_ERR_INPUT when what --align asks for cannot be had. */
enum ta_status ta_merge_align(struct ta_cli *cli, const struct ta_surveyed *surveyed,
                              const struct ta_report *report, struct ta_merge *merge) TA_MUST_CHECK;

/* Sets what is wanted of each trace, by --time-range and by the steps in the report. */
enum ta_status ta_merge_limit(struct ta_cli *cli, const struct ta_merge_choice *choice,
                              const struct ta_surveyed *surveyed, const struct ta_report *report,
                              struct ta_merge *merge) TA_MUST_CHECK;

#endif
