/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making a timeline: each trace yields a part, the parts become one. */
#ifndef TA_TIMELINE_TIMELINE_H
#define TA_TIMELINE_TIMELINE_H

#include "model/strings.h"
#include "traceanalyze/base.h"
#include "traceanalyze/model.h"
#include "traceanalyze/timeline.h"

#include <pthread.h>

/* Slices that a run keeps: about 64 MiB of them.  A page shows far fewer. */
#define TA_TIMELINE_SLICES (INT64_C(8) << 20)
/* And a file at least, however many files there are. */
#define TA_TIMELINE_SLICES_LEAST 2048
/* Samples that a counter keeps before it is thinned. */
#define TA_TIMELINE_SAMPLES 8192

/* The texts of all labels of a run, once each.  Ids depend on the order in which threads come and
 * never reach a product. */
struct ta_timeline_pool {
    size_t n_shares; /* timelines that have it, or will, besides the first */
    pthread_mutex_t lock;
    struct ta_strings texts;
};

struct ta_timeline_pool *ta_timeline_pool_new(void);
/* The same pool for one more timeline; it goes with the last of them. */
struct ta_timeline_pool *ta_timeline_pool_share(struct ta_timeline_pool *pool);
void ta_timeline_pool_free(struct ta_timeline_pool *pool);

/* A label as ids of the pool; TA_STR_ABSENT where a text was not recorded. */
struct ta_part_label {
    ta_str name, category, shapes, args[TA_TIMELINE_ARGS];
    enum ta_slice_kind kind;
};

/* What one file yields; its rank and path are not known yet. */
struct ta_timeline_part {
    struct ta_arena arena;
    struct ta_timeline_file file;
    struct ta_part_label *labels; /* malloc'd */
    size_t n_labels;
    int64_t origin_ns; /* time 0 of the part in ns since 1970, or TA_MISSING */
    bool is_dump;      /* its times are on the wall clock of its host */
};

/* Packs a trace with at most `most` slices; the shortest are left out first. Samples of devices
 * come from `samples`, which is the same trace, or the dump that the spans are made of and has none
 * before them. NULL after ta_fail(). */
struct ta_timeline_part *ta_timeline_pack(struct ta_ctx *ctx, struct ta_timeline_pool *pool,
                                          const struct ta_trace *trace,
                                          const struct ta_trace *samples,
                                          int64_t most) TA_MUST_CHECK;
void ta_timeline_part_free(struct ta_timeline_part *part);

/* Slices that a file may keep when there are `files`; the same for every number of threads. */
int64_t ta_timeline_share(size_t files);

/* One timeline of parts that are in their order; it takes over the parts and the pool, and frees
 * them on failure too.  NULL after ta_fail(). */
struct ta_timeline *ta_timeline_join(struct ta_ctx *ctx, struct ta_timeline_pool *pool,
                                     struct ta_timeline_part **parts, size_t n) TA_MUST_CHECK;
/* The files of a timeline that was joined, whose offsets may still be set. */
struct ta_timeline_file *ta_timeline_files(struct ta_timeline *timeline);
void ta_timeline_free(struct ta_timeline *timeline);

#endif
