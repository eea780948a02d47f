/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which events of a trace are wanted: by time and by category. */
#ifndef TA_MERGE_SELECT_H
#define TA_MERGE_SELECT_H

#include "merge/event.h"

enum merge_fate { MERGE_KEEP, MERGE_OUT_OF_RANGE, MERGE_OF_CATEGORY, MERGE_LOST };

/* What became of the begins that are open on a thread, the innermost last. */
struct merge_stack {
    TA_VEC(uint8_t) begins; /* enum merge_fate */
};

/* Of one trace. */
struct merge_selection {
    const char *const *categories; /* to leave out, ends with NULL; or NULL */
    const struct ta_clock_shift *clock;
    int64_t from_ns, to_ns;     /* on the clock of the run; TA_MISSING: all times */
    bool chooses;               /* not all are wanted */
    uint8_t known[MERGE_KNOWN]; /* by ta_token.known of a category: 1 is wanted, 2 is not */
    struct ta_strings texts;    /* threads and asynchronous spans */
    struct ta_map threads;      /* to stacks */
    TA_VEC(struct merge_stack) stacks;
    struct ta_map asyncs; /* begins that were kept and have no end yet */
    bool failed;          /* out of memory */
};

/* False without memory. */
bool merge_selection_init(struct merge_selection *selection, const struct ta_merge *merge,
                          const struct ta_merge_trace *trace, size_t limit) TA_MUST_CHECK;
void merge_selection_free(struct merge_selection *selection);

/* What is to become of the record that ta_json_next() gave, with its time, TA_MISSING when it has
 * none. */
enum merge_fate merge_select(struct merge_selection *selection, struct ta_json *json,
                             int64_t *ts_ns);

#endif
