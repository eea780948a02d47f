/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What numbers of a profiler can be.  A number beyond was never measured: its field was not set, or
 * was written or damaged wrongly.  It counts as missing, and is accounted for as bad-number where
 * it is read, so that no analysis has to doubt what it finds. */
#ifndef TRACEANALYZE_RANGE_H
#define TRACEANALYZE_RANGE_H

#include "base.h"

TA_BEGIN_DECLS

enum ta_range {
    TA_RANGE_RANK,
    TA_RANGE_WORLD_SIZE, /* ranks of a run, or of a group of them */
    TA_RANGE_DEVICE,     /* -1 is none, as Kineto writes it */
    TA_RANGE_UNITS,      /* multiprocessors, or threads of one */
    TA_RANGE_PERCENT,
    TA_RANGE_RATIO,
    TA_RANGE_LOAD,     /* ratio of a host that may count its cores one by one */
    TA_RANGE_GRID,     /* blocks of a launch, along one axis */
    TA_RANGE_BLOCK,    /* threads of a block, along one axis */
    TA_RANGE_PER_UNIT, /* blocks or warps of a launch for each multiprocessor */
    TA_RANGE_CELSIUS,
    TA_RANGE_WATT,
    TA_RANGE_HERTZ,
    TA_RANGE_BYTES,
    TA_RANGE_ELEMENTS,
    TA_RANGE_TIME_NS, /* since 1970, or of a clock of its own */
    TA_RANGE_FIGURE,  /* whatever a profiler worked out */
    TA_RANGE_COUNT,
    TA_RANGE_ANY = TA_RANGE_COUNT
};

/* What has the range, "A rank"; the ends, which are in it. */
TA_API const char *ta_range_what(enum ta_range range);
TA_API int64_t ta_range_least(enum ta_range range);
TA_API int64_t ta_range_most(enum ta_range range);

/* Whether a number is in the range; NAN is not. */
TA_API bool ta_range_has(enum ta_range range, int64_t value);
TA_API bool ta_range_has_real(enum ta_range range, double value);
/* Whether all numbers in a text are, "[4, 106, 1]" or "50.5"; so are none. */
TA_API bool ta_range_has_all(enum ta_range range, struct ta_slice text);

/* The range of an argument of events by its key; TA_RANGE_ANY where any value may be. */
TA_API enum ta_range ta_range_of_arg(struct ta_slice key);

TA_END_DECLS

#endif
