/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a text that nobody reads, wherever that is found out. */
#ifndef TA_BASE_REFUSALS_H
#define TA_BASE_REFUSALS_H

#define TA_NO_FIGURES                                                                              \
    "text without a figure that is known, such as a bar of progress, a stage with its time or an " \
    "error of memory.  Record with torch.profiler, or give the whole output of the program"

#endif
