/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what is kept of the files of one recording to its report. */
#ifndef TA_STAGES_H
#define TA_STAGES_H

#include "traceanalyze/base.h"

struct ta_ingestion;
struct ta_plan;
struct ta_quality;
struct ta_recordings;
struct ta_registry;
struct ta_report;
struct ta_run_options;

struct ta_stages_input {
    const struct ta_registry *registry;
    const struct ta_plan *plan;
    const struct ta_run_options *options;
    struct ta_ingestion *ingestion;
    struct ta_quality *job; /* what was noticed about all files */
    const struct ta_recordings *recordings;
    size_t run; /* that it is of; SIZE_MAX: of all files, however many runs they are */
};

/* A frozen report, which the caller frees. */
enum ta_status ta_stages_run(struct ta_ctx *ctx, const struct ta_stages_input *input,
                             struct ta_report **report) TA_MUST_CHECK;

#endif
