/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ids that connect events of one trace, made different from the ids of all other traces. */
#ifndef TA_MERGE_IDS_H
#define TA_MERGE_IDS_H

#include "model/strings.h"

/* The ids of one trace after the other; zero-initialize. */
struct merge_ids {
    int64_t position;      /* of the present trace */
    size_t limit;          /* ids of a trace that are no small numbers, at most */
    struct ta_strings odd; /* those */
    bool has_odd;          /* `odd` was made */
    int64_t n_odd;         /* of all traces before */
    bool is_full, failed;  /* beyond the limit; out of memory */
};

/* Forgets the ids of the trace before. */
void merge_ids_next(struct merge_ids *ids, int64_t position);
void merge_ids_free(struct merge_ids *ids);

/* The number that replaces an id of the present trace, below 2^53 so that readers which take
 * numbers for doubles distinguish all of them. False when it stays as written: it is empty, or one
 * too many. */
bool merge_ids_number(struct merge_ids *ids, struct ta_slice text, int64_t *number);

/* A number of at most so many digits, without sign or leading zeros, as counters are written. */
bool merge_is_number(struct ta_slice text, size_t most, int64_t *number);

#endif
