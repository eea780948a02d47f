/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One set of records that several files hold counts once, in its most exact form. */
#ifndef TA_COPIES_H
#define TA_COPIES_H

#include "base/quality.h"
#include "model/trace.h"

/* The records of one file. */
struct ta_kept {
    struct ta_trace *trace;
    const char *shown;
    int64_t rank;    /* that of the file; TA_MISSING: of none */
    bool rank_known; /* not by default */
};

/* Drops rows that another of the files, given in order of their names, has more exactly, and says
 * so.  False without memory. */
bool ta_drop_copies(struct ta_kept *files, size_t n, struct ta_quality *quality) TA_MUST_CHECK;

#endif
