/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of which nothing is known yet, or any more. */
#include "analyze/summary/ingested.h"

#include "model/trace.h"

const struct ta_ingested ta_ingested_empty = {.first_ts = TA_MISSING,
                                              .last_ts = TA_MISSING,
                                              .rank = TA_MISSING,
                                              .world_size = TA_MISSING,
                                              .base_ns = TA_MISSING,
                                              .traits = {.process = TA_MISSING},
                                              .final_rank = TA_MISSING,
                                              .rank_source = TA_RANK_NONE};

void ta_ingested_refuse(struct ta_ingested *file, const char *refusal)
{
    const struct ta_source *source = file->source;
    ta_quality_free(&file->quality);
    ta_trace_free(file->dump);
    *file = ta_ingested_empty;
    file->source = source;
    file->refusal = refusal;
}
