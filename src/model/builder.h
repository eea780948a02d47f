/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that is being written: its columns, and what is needed only until it is frozen. */
#ifndef TA_MODEL_BUILDER_H
#define TA_MODEL_BUILDER_H

#include "base/quality.h"
#include "model/kinds.h"
#include "model/trace.h"
#include "traceanalyze/base.h"
#include "traceanalyze/document.h"
#include "traceanalyze/input.h"

/* Categories beyond these share the last one, which is named in the accounts. */
enum { CATEGORIES_MAX = 4096 };

/* A begin or end that waits for its partner (normalize/pair.c). */
struct pair_edge {
    int64_t ts;
    uint64_t offset;
    uint32_t order; /* place among all edges of the file */
    uint32_t track;
    ta_row row; /* of the begin's span; TA_NO_ROW for an end */
    ta_str name, id;
    ta_cat cat;
};

enum { RECENT_CATEGORIES = 16 };

struct recent_category {
    ta_str name;
    ta_cat cat;
    bool known;
};

/* A text that an argument with a range had, and whether its numbers are within. */
enum { RECENT_RANGED = 512 };

struct recent_ranged {
    ta_str text; /* TA_STR_ABSENT: none yet */
    enum ta_range range;
    bool fits;
};

/* Events with the time stamp 0, which is none where all others lie elsewhere. */
struct ta_zero_times {
    uint64_t spans, others; /* spans that begin at it; instants, flows and samples */
    uint64_t first, last;   /* byte offsets of these spans */
};

struct ta_rank_rows;

struct ta_builder {
    struct ta_trace *trace;
    struct ta_quality *quality;
    uint32_t needs; /* TA_NEED_… of the enabled analyses */
    const struct ta_slice *keys;
    size_t n_keys;
    size_t n_passing; /* the first of the keys: nobody asks for them once launches are linked */
    uint64_t sampled; /* a bit for each key of which a sample is kept (samples_op_args) */
    struct {
        int64_t least, most; /* of the numbers that need no look, all without a range */
        enum ta_range range;
    } range_of[TA_RECORD_ARGS]; /* by key */
    struct recent_ranged recent_ranged[RECENT_RANGED];
    const double *share;   /* of the input that was read so far, 0 when not known; NULL: never */
    uint8_t phase_at[128]; /* by letter: place in TA_PHASES plus one; 0: no phase */
    struct ta_map track_of, category_of, process_names, process_labels;
    struct recent_category recent[RECENT_CATEGORIES];
    uint64_t last_track_key;
    uint32_t last_track;
    TA_VEC(struct pair_edge) edges;       /* B and E */
    TA_VEC(struct pair_edge) async_edges; /* b and e */
    TA_VEC(const char *) devices;
    TA_VEC(const char *) products; /* names of files */
    struct kinds kinds;
    size_t n_marked; /* processes of them whose first record was noted */
    uint64_t kept, repaired, dropped, bytes_skipped, events;
    uint64_t timed;            /* spans */
    struct ta_zero_times zero; /* which the bounds of times leave out */
    int64_t first_ts, last_ts;
    int64_t rank, world_size; /* TA_MISSING when the file does not say */
    TA_VEC(struct ta_rank_rows)
    parts;                  /* ranks, when the file says that it holds several (rank_rows.h) */
    bool kernels_elsewhere; /* another file has them, with more facts */
    int64_t *track_device;  /* by track: as the name of its process says; NULL: none does */
    bool *shares_stream;    /* by track: several contexts number their streams alike */
    const char *vendor;     /* "CUDA", "ROCm", "MTIA"; NULL without runtime calls */
    const struct ta_capture_list *captures; /* of graphs that the trace may replay, or NULL */
    const char *path;                       /* of its file among theirs, or NULL */
    int64_t path_rank;                      /* as the path says it, where the content does not */
    bool truncated;
};

/* False without memory. */
bool ta_builder_init(struct ta_builder *builder, struct ta_quality *quality, uint32_t needs,
                     const struct ta_slice *keys, size_t n_keys, size_t names_limit);
void ta_builder_free(struct ta_builder *builder); /* and the trace, unless it was taken */

/* Index of the track of a pid and tid; UINT32_MAX without memory. */
uint32_t ta_builder_track(struct ta_builder *builder, ta_str pid, ta_str tid);

/* How many rows there are. */
struct ta_row_counts ta_builder_rows(const struct ta_builder *builder);

/* Puts a row of a dump after the rows of its table, as it is. False without memory. */
bool ta_dump_push(struct ta_builder *builder, enum ta_dump_table table,
                  const void *row) TA_MUST_CHECK;
bool ta_dump_push_sample(struct ta_builder *builder, const struct ta_sample *sample) TA_MUST_CHECK;

#endif
