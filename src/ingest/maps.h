/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps: traces that are read for the captures of graphs in them, before those that replay them. */
#ifndef TA_MAPS_H
#define TA_MAPS_H

#include "ingest/ingest.h"
#include "ingest/inputs/inputs.h"
#include "model/capture.h"

/* Zero-initialize, free with ta_maps_free(). */
struct ta_maps {
    struct ta_inputs inputs;
    struct ta_ingestion ingestion;
    const struct ta_captures **at;
    struct ta_capture_list list;
    size_t n_graphs;     /* that were captured */
    struct ta_plan plan; /* of the run, with the arguments from which nodes are known */
};

/* Reads the traces at these paths.  TA_ERR_INPUT when one cannot be read. */
enum ta_status ta_maps_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                            const struct ta_plan *plan, const struct ta_run_options *options,
                            const char *const *paths, size_t n, struct ta_maps *maps) TA_MUST_CHECK;

/* Names the files of the captures as the sources of a run are shown. */
void ta_maps_rename(struct ta_maps *maps, const struct ta_sources *sources);

void ta_maps_free(struct ta_maps *maps);

#endif
