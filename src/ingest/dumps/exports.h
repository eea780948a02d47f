/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that is exported several times counts once. */
#ifndef TA_EXPORTS_H
#define TA_EXPORTS_H

#include "ingest/dumps/copies.h"

/* Drops the records of files whose profiler exports all that it recorded so far
 * (ta_builder_set_growing()) where a file of the same folder and rank holds their stages and more,
 * and says so.  False without memory. */
bool ta_drop_earlier_exports(struct ta_kept *files, size_t n,
                             struct ta_quality *quality) TA_MUST_CHECK;

#endif
