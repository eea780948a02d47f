/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading all files of a run on several threads: read → parse → normalize → map, one trace in
 * memory at a time per worker. */
#ifndef TA_INGEST_H
#define TA_INGEST_H

#include "analyze/analyze.h"
#include "discover/discover.h"
#include "ingest/inputs/options.h"
#include "analyze/summary/ingested.h"
#include "analyze/timeline/timeline.h"

struct ta_capture_list;

struct ta_ingestion {
    struct ta_ingested *files; /* one per source, in its order */
    size_t n_files;
    /* What files leave, apart by pile until it is decided which of them are one recording
     * (piles.h); then `partials`, merged.  The placeholder of a rank is the file's index. */
    struct ta_partial_set **piles; /* NULL where nothing of a pile was read */
    size_t *pile_of;               /* by file */
    size_t n_piles;
    bool is_one; /* all files are taken for one recording */
    struct ta_partial_set *partials;
    struct ta_timeline_pool *pool; /* NULL: no timeline is wanted */
    struct ta_timeline *timeline;  /* of the report, once it has one */
    struct ta_arena *arenas;       /* one per worker */
    size_t n_workers;
};

/* The files of one run, and what is kept of them. */
struct ta_ingest_run {
    const struct ta_run_options *options;
    const struct ta_sources *sources;
    struct ta_ingestion *ingestion; /* to fill */
    bool captures;                  /* take the captures of graphs alone */
};

/* Reads the files of several runs together, with the threads and the memory that the options of the
 * first allow.  Each run has its own piles; whatever it returns, ta_ingestion_free() ends each.
 */
enum ta_status ta_ingest_all(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const struct ta_plan *plan, const struct ta_ingest_run *runs,
                             size_t n_runs) TA_MUST_CHECK;

/* The same without --map, and with the captures of graphs that files may replay, or NULL, for which
 * `reading` keeps more arguments than `plan`. */
enum ta_status ta_ingest_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_plan *plan, const struct ta_plan *reading,
                              const struct ta_ingest_run *runs, size_t n_runs,
                              const struct ta_capture_list *captures) TA_MUST_CHECK;

/* Reads those files of a run `again` that replay graphs, with the files that hold the `captures` of
 * these graphs; what they left before is replaced.  Files that share a pile with them are read
 * again, too, and are marked. */
enum ta_status ta_ingest_mapped(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_plan *plan, const struct ta_ingest_run *run,
                                const bool *captures, bool *again) TA_MUST_CHECK;

/* Reads the files of a run that are marked `again` into the piles that they are of now; what they
 * left in others before is dropped, with all that is in these. */
enum ta_status ta_ingest_again(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_plan *plan, const struct ta_ingest_run *run,
                               const bool *again) TA_MUST_CHECK;

/* ta_ingest_all() of one run, whose piles become one.  Reads every source but duplicates.  Bad
 * files are accounted for; it fails without memory, by a plugin, or when interrupted. */
enum ta_status ta_ingest(struct ta_ctx *ctx, const struct ta_registry *registry,
                         const struct ta_run_options *options, const struct ta_plan *plan,
                         const struct ta_sources *sources,
                         struct ta_ingestion *ingestion) TA_MUST_CHECK;

/* Merges the piles of the files that `counts` says, all for NULL, into `partials`. */
enum ta_status ta_ingestion_unite(struct ta_ctx *ctx, const struct ta_plan *plan,
                                  const bool *counts, struct ta_ingestion *ingestion) TA_MUST_CHECK;

/* Gives the report the timeline of all files, when one is wanted.  Ranks are decided. */
enum ta_status ta_ingestion_timeline(struct ta_ctx *ctx, struct ta_ingestion *ingestion,
                                     struct ta_report *report) TA_MUST_CHECK;
void ta_ingestion_free(struct ta_ingestion *ingestion);
void ta_timeline_parts_free(struct ta_timeline_parts *parts);

/* Threads of a run: as many as --jobs says, else one per core; fewer where the address space is
 * limited to less than they need. */
size_t ta_thread_count(const struct ta_run_options *options);

#endif
