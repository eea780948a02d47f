/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that belong to an earlier session than the one their file is about. */
#ifndef TA_SESSIONS_H
#define TA_SESSIONS_H

#include "ingest/dumps/copies.h"

/* A profiler that samples in the background may write the samples of earlier sessions of its
 * process again, into a file that does not say when its session began.  Drops them where another
 * file of the folder, set and rank says so.  False without memory. */
bool ta_drop_earlier_samples(struct ta_kept *files, size_t n,
                             struct ta_quality *quality) TA_MUST_CHECK;

/* When the first session of a file began; TA_MISSING when it names none or not when. */
int64_t ta_session_start(const struct ta_dump *dump);

#endif
