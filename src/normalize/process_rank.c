/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rank that processes have in their names: VizTracer has no other place for it. */
#include "normalize/normalize.h"

#include <strings.h>

/* "rank 3", "rank_3", "Rank-3" and nothing after; TA_MISSING for all else. */
static int64_t rank_in(struct ta_slice name)
{
    enum { DIGITS = 6 };
    const struct ta_slice word = TA_LIT("rank");
    if (name.len <= word.len || strncasecmp(name.ptr, word.ptr, word.len) != 0)
        return TA_MISSING;
    size_t i = word.len + (memchr(" _-", name.ptr[word.len], 3) != NULL);
    if (i == name.len || name.len - i > DIGITS)
        return TA_MISSING;
    int64_t rank = 0;
    for (; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return TA_MISSING;
        rank = 10 * rank + (name.ptr[i] - '0');
    }
    return rank;
}

int64_t ta_rank_of_processes(const struct ta_trace *trace)
{
    int64_t rank = TA_MISSING;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        const ta_str name = trace->tracks.at[t].process_name;
        const int64_t named =
            name == TA_STR_ABSENT ? TA_MISSING : rank_in(ta_trace_text(trace, name));
        if (named == TA_MISSING)
            continue;
        if (rank != TA_MISSING && rank != named) /* a file of several ranks is of none */
            return TA_MISSING;
        rank = named;
    }
    return rank;
}
