/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a run, before any is read: found, compared, and those in summaries listed. */
#ifndef TA_INPUTS_H
#define TA_INPUTS_H

#include "discover/discover.h"
#include "ingest/inputs/options.h"
#include "analyze/summary/summary.h"

/* A summary among the inputs.  Its files take its place among the sources. */
struct ta_summary_file {
    const char *path, *shown;
    uint64_t size;
    struct ta_summary_head head;
    size_t *index_of; /* by file of the summary: its place among the sources */
};

struct ta_inputs {
    struct ta_sources sources;
    struct ta_quality job; /* what was noticed about all files */
    TA_VEC(struct ta_summary_file *) summaries;
    TA_VEC(struct ta_source) reports; /* written before, of parts of the run */
    const char *title; /* that all summaries agree on, when there is nothing else; or NULL */
};

/* TA_ERR_INPUT when an operand does not exist or there is no file.  Whatever it returns,
 * ta_inputs_free() ends it. */
enum ta_status ta_inputs_find(struct ta_ctx *ctx, const struct ta_run_options *options,
                              struct ta_inputs *inputs) TA_MUST_CHECK;
void ta_inputs_free(struct ta_inputs *inputs);

#endif
