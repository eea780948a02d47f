/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory there is, and how much of it this process uses. */
#ifndef TA_BASE_MEMORY_H
#define TA_BASE_MEMORY_H

#include "traceanalyze/base.h"

/* What may be used without asking: three quarters of the smaller of the memory of the machine and
 * the limit of the control group, or half of the address space if that is less; UINT64_MAX when
 * none of them is known. */
uint64_t ta_memory_preset(void);

/* The least limit of the control groups named in `groups`, the text of /proc/self/cgroup, and of
 * those above them, below the folder `root`; version 1 or 2.  UINT64_MAX when there is none. */
uint64_t ta_memory_of_groups(const char *root, const char *groups);

/* The address space that the process may take, by `ulimit -v` or `ulimit -d`: what is reserved
 * counts there, used or not.  UINT64_MAX without a limit. */
uint64_t ta_memory_space(void);

/* Memory in use now that no file backs; 0 when unknown. */
uint64_t ta_memory_used(void);

#endif
