/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept of a file once it is read, before the other files are known. */
#ifndef TA_SUMMARY_INGESTED_H
#define TA_SUMMARY_INGESTED_H

#include "base/quality.h"
#include "discover/discover.h"
#include "analyze/summary/text.h"
#include "model/traits.h"

struct ta_captures;

/* What of a file counts in a report (src/recordings). */
enum ta_file_part {
    TA_PART_ALL,   /* it is of the run */
    TA_PART_ASIDE, /* nothing: it says more about the run, such as the capture of its graph */
    TA_PART_NONE   /* nothing: it is another recording, with a report of its own */
};

struct ta_timeline_part;

/* Of the ranks of a file. */
struct ta_timeline_parts {
    struct ta_timeline_part **at;
    size_t n, max;
};

/* Kernels of graphs that a file replays, by the file in which these were captured. */
struct ta_replayed_file {
    const char *captured; /* empty: the same file; NULL: not known */
    int64_t kernels;
    int64_t mapped;     /* of which the operator is known */
    const char *reason; /* why not all of them are, or NULL; a constant */
};

/* What became of one file. */
struct ta_ingested {
    const struct ta_source *source;
    const char *format;  /* id of the input plugin, NULL when refused */
    const char *refusal; /* why it was refused; from the arena of the ingestion */
    struct ta_quality quality;
    bool is_product;  /* refused because it is one of ours in a folder of traces: nothing is lost */
    bool is_other;    /* refused because it is whole and something else than a recording */
    bool is_document; /* likewise: JSON */
    bool is_stray;    /* likewise, in a folder and named as no recording is: nothing is lost */
    bool truncated;
    uint64_t bytes, raw_bytes;
    uint64_t events, kept, repaired, dropped, bytes_skipped;
    int64_t first_ts, last_ts;
    int64_t rank, world_size; /* from content, or TA_MISSING */
    struct ta_traits traits;
    int64_t base_ns;          /* what ta_trace_base_ns() said */
    int64_t origin;           /* what ta_trace_origin() said */
    bool is_mapped;           /* a dump whose records are in the partials already: of a summary */
    bool is_dump;             /* records of another profiler, no events */
    bool is_console;          /* TA_EXACT_CONSOLE */
    const char *set;          /* of ta_builder_set_copy(), or NULL; from the arena */
    const int64_t *row_ranks; /* that rows name, ascending; from the arena */
    size_t n_row_ranks;
    bool all_rows;         /* name their rank */
    struct ta_trace *dump; /* of a dump, until ta_reconcile(); NULL when it holds no records */
    struct ta_replayed_file *replayed; /* by the file of the capture, or NULL; from the arena */
    size_t n_replayed;
    struct ta_timeline_parts timelines; /* of its ranks, until ta_ingestion_timeline(); or none */
    struct ta_captures *captures;       /* of a file that is read for those alone, or NULL */
    /* Decided when all files are read (ta_account_ranks()). */
    struct ta_text packed; /* its summary, when ta_run_options.summaries asks for it */
    enum ta_file_part part;
    int64_t final_rank;
    enum ta_rank_source rank_source;
    const char *vendor;
    const char **devices;  /* ends with NULL; from the arena */
    const char **products; /* files that the dump names as its own, likewise */
};

/* Of a file of which nothing is known. */
extern const struct ta_ingested ta_ingested_empty;

/* Whether it counts as lost when it is refused. */
static inline bool ta_ingested_is_missed(const struct ta_ingested *file)
{
    return file->source->expected && !file->is_product && !file->is_stray;
}

/* Whether its partials are merged with others as it is read. */
static inline bool ta_ingested_is_merged(const struct ta_ingested *file)
{
    return !file->refusal && !file->is_dump && !file->source->combines;
}

/* Forgets what is known of a file but where it is; the reason must live as long as the ingestion.
 */
void ta_ingested_refuse(struct ta_ingested *file, const char *refusal);

#endif
