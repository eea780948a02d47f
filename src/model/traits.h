/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the bytes of one file say about what it is, before other files are known: a run, the capture
 * of a graph, a process that only its host recorded.  What that makes of it among the files of a
 * folder is decided in src/recordings. */
#ifndef TA_MODEL_TRAITS_H
#define TA_MODEL_TRAITS_H

#include "traceanalyze/model.h"

struct ta_traits {
    int64_t captures;       /* captures of a stream that began */
    int64_t instantiations; /* graphs that were made ready to be launched */
    int64_t graph_launches;
    int64_t launches;   /* calls that launch a kernel, or are taken down by a capture */
    int64_t activities; /* of devices */
    int64_t process;    /* id of the process, of the first thread that ran operators or called
                           the runtime; TA_MISSING without one */
};

/* The id of the process that ran it, or TA_MISSING. */
int64_t ta_trace_process(const struct ta_trace *trace);

/* The traits of a frozen trace; false without memory.  O(names), and the spans once where nobody
 * has counted them by name before. */
TA_MUST_CHECK bool ta_traits_find(const struct ta_trace *trace, struct ta_traits *traits);

#endif
