/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the sums of `nsys stats`, which its tables as text and as CSV share. */
#ifndef TA_PLUGIN_NSYS_H
#define TA_PLUGIN_NSYS_H

#include <traceanalyze/base.h>

enum nsys_column { NSYS_TOTAL, NSYS_CALLS, NSYS_NAME, NSYS_COLUMNS };

/* Names that each goes by, of old and new versions. */
#define NSYS_TIMES(name) name " (ns)|" name " (us)|" name " (ms)|" name " (s)|" name
#define NSYS_DEVICE                                                                                \
    {                                                                                              \
        [NSYS_TOTAL] = NSYS_TIMES("Total Time"), [NSYS_CALLS] = "Instances|Count|Operations",      \
        [NSYS_NAME] = "Name|Kernel Name|Operation",                                                \
    }
#define NSYS_HOST                                                                                  \
    {                                                                                              \
        [NSYS_TOTAL] = NSYS_TIMES("Total Time"), [NSYS_CALLS] = "Num Calls|Calls|Instances",       \
        [NSYS_NAME] = "Name|Range",                                                                \
    }
/* Copied bytes instead of times. */
#define NSYS_SIZES                                                                                 \
    {                                                                                              \
        [NSYS_TOTAL] = "Total (MB)", [NSYS_CALLS] = "Count|Operations",                            \
        [NSYS_NAME] = "Operation|Name",                                                            \
    }
/* What is not read of them. */
#define NSYS_OTHERS                                                                                \
    "Time (%)|Time(%)|Style|Category|Average|Median|Minimum|Maximum|" NSYS_TIMES(                  \
        "Avg") "|" NSYS_TIMES("Med") "|" NSYS_TIMES("Min") "|" NSYS_TIMES("Max") "|" NSYS_TIMES(   \
        "StdDev")

/* Digits by which a time is shifted to ns: the unit, chosen with --timeunit, is in the heading. */
static inline int nsys_shift(struct ta_slice heading)
{
    return ta_slice_ends(heading, "(us)")   ? 3
           : ta_slice_ends(heading, "(ms)") ? 6
           : ta_slice_ends(heading, "(s)")  ? 9
                                            : 0;
}

#endif
