/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks a file holds.
 *
 * Most files hold one.  Files that somebody merged hold several: the program's own merges say so,
 * other tools put the rank into the names of processes or in front of their numbers, and some put
 * the events of all ranks one after the other and change nothing.  Then each process that launches
 * work on a device of its own is a rank; a process that drives several devices is one. */
#ifndef TA_NORMALIZE_FILE_RANKS_H
#define TA_NORMALIZE_FILE_RANKS_H

#include "model/rank_rows.h"

struct ta_file_ranks {
    struct ta_division division;
    struct ta_stretch *stretches;
    uint32_t *of_track, *of_row, *of_process;
    ta_str *pids, *names;
};

/* Lists the ranks as parts of the builder and says which rows are whose, for
 * ta_builder_take_part().  Of a file of one rank there are no parts.  False without memory. */
bool ta_find_file_ranks(struct ta_builder *builder, struct ta_file_ranks *ranks) TA_MUST_CHECK;
void ta_file_ranks_free(struct ta_file_ranks *ranks);

/* ---- rank_label.c ---------------------------------------------------------------------------- */

/* How a text names a rank: by its number, or by its places in the groups that share the model. */
struct ta_rank_label {
    int64_t rank; /* TA_MISSING when it has places alone */
    int64_t
        places[4]; /* in groups of data, expert, pipeline and tensor parallelism; or TA_MISSING */
    size_t end;    /* of the label in the text */
};

/* Looks for "rank 3", "rank_3", "[Rank3]", or for "[TP00-PP01]" as SGLang writes it.  False when
 * the text names no rank. */
bool ta_rank_label(struct ta_slice text, struct ta_rank_label *label);

/* By rank, else by places. */
int ta_rank_label_compare(const struct ta_rank_label *a, const struct ta_rank_label *b);

/* ---- device_owners.c ------------------------------------------------------------------------- */

/* A process of the file. */
struct ta_file_process {
    ta_str pid, name;
    int64_t n_calls, n_activities,
        n_records; /* of the host, of devices, of any kind but metadata */
    bool is_labeled;
    struct ta_rank_label label;
    int64_t device; /* of its activities, or TA_MISSING */
    uint32_t owner; /* the process that launched them, UINT32_MAX: none */
    bool is_shared; /* several processes did: each activity has its own owner */
    bool owns;      /* it launched some */
    uint32_t group; /* of processes that may be a rank; UINT32_MAX: of none */
    uint32_t part;  /* as the file says itself; UINT32_MAX: it does not */
};

/* Finds for each process with activities of a device the one that launched them, by the ids of
 * their launches, which other processes may have as well.  `of_row` gets the owners of
 * activities of shared processes, and stays NULL when none is shared; the caller frees it.  False
 * without memory. */
bool ta_find_device_owners(const struct ta_builder *builder, struct ta_file_process *processes,
                           size_t n, const uint32_t *process_of_track,
                           uint32_t **of_row) TA_MUST_CHECK;

#endif
