/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From paths to the list of files to read, and from what the files say to ranks. */
#ifndef TA_DISCOVER_H
#define TA_DISCOVER_H

#include "base/quality.h"
#include "base/vec.h"
#include "traceanalyze/base.h"

#include <sys/stat.h>

/* A file that may hold a trace.  What it is, its bytes tell later. */
struct ta_source {
    const char *path;                /* to open; NULL for standard input */
    const char *shown;               /* below INPUT; of a file its name */
    const char *refusal;             /* why it cannot be read, or NULL */
    const char *damage;              /* why it is no summary although it begins like one, or is left
                                        out for another reason; or NULL */
    const char *copy_of;             /* `shown` of an earlier file with the same content, or NULL */
    const char *combines;            /* `shown` of files whose events it holds, or NULL */
    struct ta_summary_file *summary; /* the summary that it is a file of (inputs.h), or NULL … */
    size_t member;                   /* … and which one */
    bool is_elsewhere;               /* another process reads it (team.h) */
    bool is_named;                   /* by the user or a glob, and not found in a folder */
    bool expected; /* named by the user, or with a name that traces have: a failure is said aloud */
    bool is_below; /* found in a folder, not named by the user */
    bool is_ours;  /* begins as what traceanalyze writes; see ta_describe_ours() */
    dev_t device;
    ino_t inode;
    int64_t mtime_s;
    uint64_t size;
};

struct ta_sources {
    struct ta_arena arena;
    TA_VEC(struct ta_source) list; /* ordered by the bytes of `shown` */
    struct ta_quality *quality;    /* of the job: what was skipped */
};

/* Walks files, folders (recursively, directory links not followed), globs and "-".  Every
 * (device, inode) counts once.  TA_ERR_INPUT when an operand does not exist or nothing is
 * found. */
enum ta_status ta_discover(struct ta_ctx *ctx, const char *const *inputs, size_t n_inputs,
                           struct ta_sources *sources) TA_MUST_CHECK;
/* Orders sources by their names and distinguishes the ones that clash. False without memory. */
bool ta_sources_order(struct ta_sources *sources) TA_MUST_CHECK;
void ta_sources_free(struct ta_sources *sources);

/* Finds files with the same content, such as rank0.json and rank0.json.gz: index of the first in
 * original[i], or i itself. Only files whose sizes agree are compared. Dumps whose paths name
 * different ranks are of different ranks: few rounded figures may well be equal, unlike the events
 * of a trace. `pattern` is --rank-regex or NULL. */
enum ta_status ta_find_duplicates(struct ta_ctx *ctx, const struct ta_sources *sources,
                                  const char *pattern, size_t *original) TA_MUST_CHECK;

/* Finds traces that hold what other sources hold together, as VizTracer combines processes, and
 * says so in their `combines`. */
enum ta_status ta_find_combined(struct ta_ctx *ctx, struct ta_sources *sources) TA_MUST_CHECK;

/* Refuses pages that a profiler wrote of a report next to them.  Sources are in order. */
void ta_leave_out_pages(struct ta_ctx *ctx, struct ta_sources *sources);

/* What the first bytes of an unreadable file look like: "an HTML page", "a zip archive". */
const char *ta_describe(struct ta_slice head);

/* The same of a format that is known for sure, and what to record or give instead; or NULL. */
const char *ta_describe_format(struct ta_slice head);

/* Which product of ours it is that is no input, by its first bytes, or NULL. In a folder a merged
 * trace is none either: the traces that it was made of are next to it. Nor are views of a report
 * there, such as folded stacks, that some input plugin would read. */
const char *ta_describe_product(struct ta_slice head, bool in_folder);

/* Whether the file starts like an output of this program that people or other services read. */
bool ta_describe_ours(struct ta_slice head);

/* ---- ranks --------------------------------------------------------------------------------- */

/* What is known of one file when all are read: a trace, or a dump of another profiler. */
struct ta_rank_claim {
    const char *shown;
    int64_t content;    /* distributedInfo.rank, or TA_MISSING */
    int64_t world_size; /* or TA_MISSING */
    const char *vendor; /* or NULL */
    bool is_dump;
    bool is_console;          /* a copy that may stand above the folder of what it copies */
    const char *set;          /* what files it is a copy of have in common, or NULL */
    const char **products;    /* names of files that a dump says are its own, ends with NULL */
    const int64_t *row_ranks; /* that rows of the dump name themselves, ascending */
    size_t n_row_ranks;
    bool all_rows; /* no row leaves its rank to the file */
    int64_t rank;  /* decided; TA_MISSING for a table of several ranks */
    enum ta_rank_source source;
};

/* The folder of a file for finding its copies: rank_0/a.json and rank_1/a.json have one. */
struct ta_slice ta_copy_folder(const char *shown);
/* Whether the dump of a path names a file as its own: `products` ends with NULL, or is NULL. */
bool ta_is_product(const char *dump, const char *const *products, const char *shown);
/* Whether `folder` is `above` or lies below it. */
bool ta_folder_is_below(struct ta_slice folder, struct ta_slice above);

/* Refuses an unusable --rank-regex before anything is read; `pattern` may be NULL. */
enum ta_status ta_check_rank_pattern(struct ta_ctx *ctx, const char *pattern) TA_MUST_CHECK;

/* The rank that a path names: by `pattern`, which is --rank-regex or NULL, else by the default one;
 * TA_MISSING when it names none.  False without memory. */
bool ta_rank_in_path(const char *shown, const char *pattern, int64_t *rank) TA_MUST_CHECK;

/* Decides the ranks of files given in order of their names, and accounts for every contradiction.
 * `pattern` is --rank-regex or NULL; `partial` says that ranks may be missing; `world_size` is
 * --world-size or TA_MISSING, and becomes the world size of the traces. */
enum ta_status ta_decide_ranks(struct ta_ctx *ctx, struct ta_quality *quality, const char *pattern,
                               bool partial, int64_t *world_size, struct ta_rank_claim *claims,
                               size_t n) TA_MUST_CHECK;

/* Notes the ranks below `world_size` that are not among the `n`, which ascend, as ranges: "2, 5–7".
 * `on_purpose`: that is no notice. */
void ta_check_missing_ranks(struct ta_quality *quality, int64_t world_size, const int64_t *ranks,
                            size_t n, bool on_purpose);

#endif
