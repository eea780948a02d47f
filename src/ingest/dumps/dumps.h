/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of reconciling dumps (ingest/dumps/reconcile.h): which records count, and which have a
 * place in time. */
#ifndef TA_DUMPS_H
#define TA_DUMPS_H

#include "base/quality.h"
#include "model/trace.h"

/* The records of one file. */
struct ta_kept {
    struct ta_trace *trace;
    const char *shown;
    int64_t rank;    /* the file's rank; TA_MISSING: none */
    bool rank_known; /* not by default */
};

/* ---- files, given in order of their names; what is dropped is said; false without memory ------
 */

/* One set of records that several files hold counts once: drops rows that another of the files has
 * more exactly. */
bool ta_drop_copies(struct ta_kept *files, size_t n, struct ta_quality *quality) TA_MUST_CHECK;

/* A run that is exported several times counts once: drops the records of files whose profiler
 * exports all that it recorded so far (ta_builder_set_growing()) where a file of the same folder
 * and rank holds their stages and more. */
bool ta_drop_earlier_exports(struct ta_kept *files, size_t n,
                             struct ta_quality *quality) TA_MUST_CHECK;

/* Whether a profiler exports into such a file all that it recorded so far, and whether one of two
 * such exports holds the stages of the other, as of the same run. */
bool ta_is_export(const struct ta_trace *trace);
bool ta_exports_repeat(const struct ta_trace *a, const struct ta_trace *b);

/* A profiler that samples in the background may write the samples of earlier sessions of its
 * process again, into a file that does not say when its session began.  Drops them where another
 * file of the folder, set and rank says so. */
bool ta_drop_earlier_samples(struct ta_kept *files, size_t n,
                             struct ta_quality *quality) TA_MUST_CHECK;

/* ---- one file -------------------------------------------------------------------------------- */

/* When the first session of a file began; TA_MISSING when it names none or not when. */
int64_t ta_session_start(const struct ta_dump *dump);

/* A trace with the sessions, blocks and denoising steps of a dump, on the clock since 1970; *events
 * stays NULL where none of them says when it was.  Its origin is not after the first sample of the
 * dump.  The caller frees it. */
enum ta_status ta_dump_events(struct ta_ctx *ctx, const struct ta_trace *dump,
                              struct ta_trace **events) TA_MUST_CHECK;

#endif
