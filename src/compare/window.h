/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows as sums of terms.
 *
 * The window of a device is its busy time plus its idle time; the busy time is the sum of what each
 * name takes of it, the idle time is the sum of its causes. All of them are integers, so the terms
 * of a window add up to it to the nanosecond. In a run without devices the window of a rank is its
 * session, or else the sum of its stages; its terms are the stages that are in no other, and the
 * rest. Without stages, too, it is the recording of the only rank, and its terms are the own times
 * of operators and calls; what threads do at once counts for each, so that the rest may be
 * negative. */
#ifndef TA_COMPARE_WINDOW_H
#define TA_COMPARE_WINDOW_H

#include "compare/compare.h"

/* One term of a window. */
struct diff_term {
    struct ta_slice kind; /* class of activities, "idle", "stage", "rest" */
    struct ta_slice name; /* empty for what the report does not list */
    int64_t calls, ns;
};

enum diff_window_kind { DIFF_OF_DEVICE, DIFF_OF_STAGES, DIFF_OF_HOST };

struct diff_window {
    enum diff_window_kind kind;
    int64_t rank, device; /* TA_MISSING: not known, or no device */
    int64_t length_ns, explained_ns;
    struct diff_term *terms; /* by kind and name, each once */
    size_t n_terms;
    struct diff_term *classes; /* of a device the same by kinds of work (classes.c); else none */
    size_t n_classes;
};

struct diff_windows {
    struct diff_window *at; /* in the order of the report */
    size_t n, longest;
};

/* The windows of the shown run of a side, none when nothing has one; false without memory. */
bool diff_windows_read(struct diff *diff, int side, struct diff_windows *windows);

/* What kind of work a kernel is of, coarse enough for fusion to stay within few of them. */
enum diff_family_id {
    DIFF_FAMILY_GEMM,
    DIFF_FAMILY_ATTENTION,
    DIFF_FAMILY_CONV,
    DIFF_FAMILY_FUSIBLE, /* what a compiler makes one kernel of */
    DIFF_FAMILY_FUSED,   /* what it makes */
    DIFF_FAMILY_OTHER,
    DIFF_FAMILIES
};
struct diff_family {
    enum diff_family_id id;
    const char *title;
};
struct diff_family diff_family_of(struct ta_slice kernel);
/* What a term is called among the kinds of work: "communication", "idle, launches come late". */
struct ta_slice diff_class_of(struct ta_slice kind, struct ta_slice name);

/* Order of terms by kind and name, for qsort() and bsearch(). */
int diff_term_order(const void *left, const void *right);

#endif
