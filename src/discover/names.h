/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the path of a file says of its place in a run: names are the weaker witness, and where the
 * content says nothing the only one. */
#ifndef TA_NAMES_H
#define TA_NAMES_H

#include "traceanalyze/base.h"

/* What a number in a path counts. */
enum ta_ordinal { TA_ORDINAL_NONE, TA_ORDINAL_ITERATION, TA_ORDINAL_CYCLE };

struct ta_file_name {
    const char *family; /* the path without ranks, numbers of recordings and endings: what files of
                           one run have in common; from the arena */
    int64_t rank;       /* of "rank3", or of the parts that SGLang names: "TP-3"; TA_MISSING */
    int64_t pipeline, tensor; /* of "PP-1" and "TP-3", from which a rank follows when all files are
                                 known; TA_MISSING */
    int64_t worker;           /* of torch's "worker3", or TA_MISSING */
    enum ta_ordinal counts;
    int64_t ordinal; /* of "iteration_2", or the time that torch puts into names; TA_MISSING */
    bool is_warm_up;
    bool is_front_end; /* of a server: it hands out work to ranks, and is none */
};

/* Takes a path apart; false without memory.  `process` is the id of the process that the content
 * names, or TA_MISSING: torch's names begin with the host and that, and what a host is called says
 * nothing of the recording. */
bool ta_file_name_read(struct ta_arena *arena, const char *path, int64_t process,
                       struct ta_file_name *name) TA_MUST_CHECK;

#endif
