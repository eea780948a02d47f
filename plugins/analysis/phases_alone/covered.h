/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of each of many windows the stretches of a rank cover, for all windows at once: of
 * thousands of ranks every stage against every stretch of all others takes four times as long. */
#ifndef TA_PHASES_ALONE_COVERED_H
#define TA_PHASES_ALONE_COVERED_H

#include <traceanalyze/base.h>

struct window {
    int64_t start, end;
    size_t of; /* what it is a window of; the caller's */
    uint64_t covered;
};

struct windows {
    struct window *at; /* by start */
    size_t *by_end;    /* their places */
    size_t n;
};

/* Stretches that may overlap each other: what two cover counts twice. */
struct stretches {
    int64_t *starts, *ends;
    size_t n;
};

/* Of windows that are added already. */
TA_MUST_CHECK bool windows_order(struct windows *windows);
void windows_free(struct windows *windows);

/* Sets what each is covered; orders the stretches for it. */
void windows_cover(struct windows *windows, struct stretches *stretches);

#endif
