/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether each tensor gets its memory from the driver and gives it back, as where PyTorch's cache
 * is off: that is no set-up, whatever steps are marked. */
#ifndef TA_LIB_UNCACHED_H
#define TA_LIB_UNCACHED_H

#include <traceanalyze/rule.h>

/* What a rule reads for it, from an enumerator of its own on. */
enum { UNCACHED_RANK, UNCACHED_WHAT, UNCACHED_CALL, UNCACHED_CALLS, UNCACHED_READ };

#define UNCACHED_READS(first)                                                                      \
    [(first) + UNCACHED_RANK] = {"interruptions.by_call", "rank"},                                 \
               [(first) + UNCACHED_WHAT] = {"interruptions.by_call", "what"},                      \
               [(first) + UNCACHED_CALL] = {"interruptions.by_call", "call"},                      \
               [(first) + UNCACHED_CALLS] = {"interruptions.by_call", "calls"}

/* From so many allocations on, most of which are taken back, no cache is at work. */
enum { UNCACHED_LEAST = 100 };

/* Calls of a rank that give memory out, or take it back; pinned memory has other names. */
static inline double ta_uncached_calls(const struct ta_refs *in, size_t first, int64_t rank,
                                       bool is_free)
{
    double calls = 0;
    for (size_t i = 0; i < ta_ref_rows(in, first + UNCACHED_WHAT); i++)
        if (ta_ref_integer(in, first + UNCACHED_RANK, i) == rank &&
            ta_ref_reads(in, first + UNCACHED_WHAT, i, "allocation") &&
            ta_slice_has_word(ta_ref_text(in, first + UNCACHED_CALL, i), "Free") == is_free)
            calls += ta_ref_number(in, first + UNCACHED_CALLS, i, 0);
    return calls;
}

static inline bool ta_uncached(const struct ta_refs *in, size_t first, int64_t rank)
{
    const double given = ta_uncached_calls(in, first, rank, false);
    return given >= UNCACHED_LEAST && ta_uncached_calls(in, first, rank, true) >= given / 2;
}

#endif
