/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explains most of a change: what its first line names. */
#ifndef TA_COMPARE_CAUSE_H
#define TA_COMPARE_CAUSE_H

#include "compare/compare.h"

/* A term of the windows of both sides. */
struct diff_bar {
    struct ta_slice kind, name; /* name: empty for what the report does not list */
    int64_t calls[TA_DIFF_SIDES], ns[TA_DIFF_SIDES];
};

struct ta_slice diff_bar_name(struct diff *diff, const struct diff_bar *bar);

/* The kind of terms that are kernels but not communication. */
extern const struct ta_slice diff_compute;
/* Kinds of work (classes.c): small kernels that a compiler fuses, and what it makes of them. */
extern const struct ta_slice diff_fusible, diff_fused;
/* The kind of a cause whose times are sums over ranks. */
extern const struct ta_slice diff_all_ranks;

/* Finds it among the terms of the longest windows, the lengths of which are noted. */
void diff_find_cause(struct diff *diff, const struct diff_bar *bars, size_t n);
/* Of hosts of several ranks no window is made of terms: it is the operator that changed most by
 * itself. */
void diff_find_host_cause(struct diff *diff, bool is_slower);

#endif
